"""A scenario names files of its own checkout: nothing beside it is read, or even looked for, unless `--allow-outside` is given."""

import os
from pathlib import Path

import pytest

from harness.cli import main
from harness.reading import checkout as module
from harness.reading.checkout import Checkout, TooManyFiles, matching
from harness.reading.problems import ScenarioError
from harness.reading.sources import manifests_from
from harness.scenario.language.files import load

POOL = """\
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec: {template: {spec: {nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, name: default}, requirements: []}}}
"""
THEN = "then: [{nodeclaims: {count: 0}}]\n"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A checkout with manifests beside the folder of its scenarios, and a secret outside."""
    (tmp_path / "secret.yaml").write_text(POOL)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "pool.yaml").write_text(POOL)
    repository = tmp_path / "repository"
    for folder in (".git", "pools/deep", "scenarios"):
        (repository / folder).mkdir(parents=True)
    (repository / "pools" / "deep" / "pool.yaml").write_text(POOL)
    return repository


def _scenario(repository: Path, header: str) -> Path:
    path = repository / "scenarios" / "s.yaml"
    path.write_text(f"scenario: s\n{header}{THEN}")
    return path


def _manifests(*names: str) -> str:
    return f"given: {{manifests: [{', '.join(repr(name) for name in names)}]}}\n"


def test_a_scenario_that_is_a_link_out_of_its_checkout_is_not_read(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (repository.parent / "theirs.yaml").write_text(f"scenario: s\nsecret: 1\n{THEN}")
    link = repository / "scenarios" / "s.yaml"
    link.symlink_to(repository.parent / "theirs.yaml")
    assert main(["run", str(link)]) == 2
    told = capsys.readouterr().err
    assert told == f"{link}:1:1: is a link that leads out of its checkout; --allow-outside permits that\n"
    assert main(["run", str(link), "--allow-outside"]) == 2
    assert "unknown key 'secret'" in capsys.readouterr().err


def test_a_link_within_the_checkout_is_a_scenario_as_any(repository: Path) -> None:
    (repository / "scenarios" / "link.yaml").symlink_to(_scenario(repository, ""))
    assert load(repository / "scenarios" / "link.yaml")[0].name == "s"


@pytest.mark.parametrize(
    "name",
    [
        "../pools/deep/pool.yaml",
        "../pools",
        "../**/*.yaml",
        "../*/*/*.yaml",
        "../pools/deep/p*.yaml",
        "../pools/../pools",
    ],
)
def test_manifests_beside_the_scenarios_are_named_as_ever(repository: Path, name: str) -> None:
    (scenario,) = load(_scenario(repository, _manifests(name)))
    assert [manifest.reference for manifest in scenario.cases[0].manifests] == ["NodePool/default"]


@pytest.mark.parametrize(
    "name",
    [
        "../../secret.yaml",
        "../../nothing.yaml",
        "../../outside",
        "../../*.yaml",
        "../../**/*.yaml",
        "/**/*.yaml",
        "/etc/passwd",
        "/etc",
        "../*/../../*.yaml",
        "../../repository/../secret.yaml",
        "../link.yaml",
        "../linked",
        "../linked/*.yaml",
        "../l*.yaml",
        "../l*/*.yaml",
        "../of-links",
        "../of-links/*.yaml",
    ],
)
def test_what_leads_out_is_refused_whether_it_is_there_or_not(
    repository: Path, name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repository)
    (repository / "link.yaml").symlink_to("../secret.yaml")
    (repository / "linked").symlink_to("../outside")
    (repository / "of-links").mkdir()
    (repository / "of-links" / "pool.yaml").symlink_to("../../secret.yaml")
    path = _scenario(repository, _manifests(name)).relative_to(repository)
    assert main(["run", str(path)]) == 2
    place = f"{path}:2:21: given.manifests[0]: "
    told = f"{place}'{name}' leads out of the checkout that the scenario is in; --allow-outside permits that\n"
    assert capsys.readouterr().err == told


@pytest.mark.parametrize(
    ("header", "place"),
    [
        ("given: {crds: ../../outside}\n", "given.crds: '../../outside'"),
        ("when: [{crds: ../../outside}]\n", "when[0].crds: '../../outside'"),
        ("when: [{apply: ../../secret.yaml}]\n", "when[0].apply[0]: '../../secret.yaml'"),
        ("when: [{apply: [/etc/hosts.json]}]\n", "when[0].apply[0]: '/etc/hosts.json'"),
        ("given: {crds: ../crds}\n", "given.crds: '../crds'"),
        ("matrix: {crds: [../../outside]}\n", "given.crds: '../../outside'"),
        ("cases: [{case: a, given: {manifests: [/etc/passwd]}}]\n", "cases[0].given.manifests[0]: '/etc/passwd'"),
    ],
)
def test_every_place_where_a_scenario_names_a_file(repository: Path, header: str, place: str) -> None:
    (repository / "crds").mkdir()
    (repository / "crds" / "pool.yaml").symlink_to("../../secret.yaml")
    with pytest.raises(ScenarioError) as found:
        load(_scenario(repository, header))
    assert f"{place} leads out of the checkout" in str(found.value)


def test_the_option_permits_it(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = _scenario(repository, _manifests("../../secret.yaml"))
    for command in (["run"], ["validate"]):
        assert main([*command, str(path)]) == 2
        assert main([*command, "--allow-outside", str(path)]) == 0
    capsys.readouterr()


def test_without_git_it_is_what_lies_below_the_working_directory(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (repository / ".git").rmdir()
    path = _scenario(repository, _manifests("../pools"))
    monkeypatch.chdir(repository)
    load(path)
    monkeypatch.chdir(repository / "pools")
    with pytest.raises(ScenarioError, match="leads out"):
        load(path)


def test_a_worktree_has_a_file_of_that_name(repository: Path) -> None:
    (repository / ".git").rmdir()
    (repository / ".git").write_text("gitdir: elsewhere\n")
    assert Checkout.around(repository / "scenarios").root == os.path.realpath(repository)


def test_a_pipe_is_no_manifest(repository: Path) -> None:
    """Reading one waits for ever."""
    os.mkfifo(repository / "pipe.yaml")
    with pytest.raises(ScenarioError, match=r"there is no file '\.\./pipe\.yaml'"):
        load(_scenario(repository, _manifests("../pipe.yaml")))
    load(_scenario(repository, _manifests("../pools", "../**/*.yaml")))


def test_a_pattern_follows_no_link_to_a_folder(repository: Path) -> None:
    """Two loops of links make more paths than anybody can walk."""
    for name in ("one", "two"):
        (repository / "pools" / name).symlink_to("..")
    assert matching(repository, "**/*.yaml") == ["pools/deep/pool.yaml"]
    assert matching(repository, "**/**/**/pool.yaml") == ["pools/deep/pool.yaml"]
    assert matching(repository, "pools/d??p/[p]*.yaml") == ["pools/deep/pool.yaml"]


def test_a_pattern_gives_up_where_there_is_too_much(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST", 3)
    with pytest.raises(TooManyFiles):
        matching(repository, "**/*.yaml")
    with pytest.raises(
        ScenarioError, match=r"given\.manifests\[0\]: '\.\./\*\*/\*\.yaml' looks at more than 50,000 files and folders"
    ):
        load(_scenario(repository, _manifests("../**/*.yaml")))


def test_no_other_mistake_makes_it_look_outside(repository: Path) -> None:
    """A mistake beside it has the rest of the header judged as well."""
    with pytest.raises(ScenarioError) as found:
        load(
            _scenario(
                repository,
                "given: {crds: ../../nowhere, region: nowhere}\nwhen: [{crds: ../../outside}]\ntags: [a b]\n",
            )
        )
    assert "no directory" not in str(found.value)


def test_the_plugin_has_the_option_too(pytester: pytest.Pytester) -> None:
    """Without git the checkout is what lies below pytest's rootdir."""
    pytester.makepyprojecttoml('[tool.pytest]\nstrict = true\naddopts = ["-p", "no:benchmark"]\n')
    pytester.makeconftest('pytest_plugins = ("harness.pytest_plugin",)\n')
    (pytester.path.parent / "outside.yaml").write_text(POOL)
    scenarios = pytester.mkdir("scenarios")
    (pytester.path / "pool.yaml").write_text(POOL)
    (scenarios / "in.yaml").write_text(f"scenario: in\n{_manifests('../pool.yaml')}{THEN}")
    (scenarios / "out.yaml").write_text(f"scenario: out\n{_manifests('../../outside.yaml')}{THEN}")
    result = pytester.runpytest("scenarios/in.yaml")
    result.assert_outcomes(passed=1)
    result = pytester.runpytest("scenarios")
    result.stdout.fnmatch_lines(["*out.yaml:2:21: given.manifests?0?: '../../outside.yaml' leads out of the checkout*"])
    result.assert_outcomes(errors=1)
    pytester.runpytest("scenarios", "--allow-outside").assert_outcomes(passed=2)


@pytest.mark.parametrize(
    "command", ["simulate", "explain", "validate", "run", "capture", "upgrade-check --from 1.12.2 --to 1.13.1"]
)
@pytest.mark.parametrize("end", ["../../outside/pool.yaml", "../../outside/nothing.yaml"])
def test_links_in_a_named_folder_stay_in_the_checkout(
    repository: Path, command: str, end: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repository)
    (repository / "pools" / "link.yaml").symlink_to(end)
    (repository / "pools" / "inside.yaml").symlink_to("deep/pool.yaml")
    assert main([*command.split(), "pools"]) == 2
    told = capsys.readouterr().err
    assert told == "pools/link.yaml:1:1: is a link that leads out of its checkout; --allow-outside permits that\n"


def test_a_file_that_is_named_may_lead_anywhere(
    repository: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repository)
    (repository / "link.yaml").symlink_to("../outside/pool.yaml")
    (repository / "folder").symlink_to("../outside")
    assert main(["validate", "link.yaml"]) == 0
    assert main(["validate", "folder"]) == 0
    (repository / "pools" / "link.yaml").symlink_to("../../outside/pool.yaml")
    (repository / "pools" / "deep" / "pool.yaml").unlink()
    assert main(["validate", "pools", "--allow-outside"]) == 0
    capsys.readouterr()
    assert [manifest.reference for manifest in manifests_from(repository / "pools")] == ["NodePool/default"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
@pytest.mark.parametrize(
    "command",
    [
        "simulate",
        "explain",
        "validate",
        "run",
        "sweep",
        "shrink --keep then",
        "upgrade-check --from 1.12.2 --to 1.13.1",
    ],
)
def test_a_pipe_that_is_named_is_not_waited_for(
    repository: Path, command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repository)
    os.mkfifo("pods.yaml")
    assert main([*command.split(), "pods.yaml"]) == 2
    assert "is a named pipe, not a file" in capsys.readouterr().err
