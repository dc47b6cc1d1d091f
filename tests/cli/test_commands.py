"""The subcommands: what they print, and the exit codes 0 ok, 1 an expectation failed, 2 bad input."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.cli import COMMANDS, main
from harness.karpenter.releases import ALL_PROVIDER_RELEASES
from tests.cli.command import POOL, as_json, call

GOOD = "scenario: x\nthen: [{requirements: {of: Standard_D4s_v5, are: {karpenter.azure.com/sku-cpu: 4}}}]\n"
WRONG = GOOD.replace(": 4}", ": 5}")


def test_run(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "good.yaml").write_text(GOOD)
    (here / "wrong.yaml").write_text(WRONG)
    (here / "manifest.yaml").write_text(POOL)
    code, out, err = call(capsys, "run", "good.yaml")
    assert (code, err) == (0, "")
    assert out.startswith("1 passed (1 expectations) in ")
    code, out, _ = call(capsys, "run", ".", "--junit", "junit.xml", "--html", "page.html")
    assert code == 1
    assert "FAILED wrong.yaml::x" in out
    assert "wrong.yaml:2:51: then[0].requirements.are.karpenter.azure.com/sku-cpu" in out
    assert (here / "junit.xml").read_text().startswith("<?xml")
    assert "<!doctype html>" in (here / "page.html").read_text()
    code, out, _ = call(capsys, "run", ".", "-k", "good", "--format", "json")
    assert code == 0
    assert json.loads(out)["counts"] == {"passed": 1}


def test_bad_input_is_lines_and_exit_code_2(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "a.yaml").write_text("scenario: x\nthn: []\nthen: [{pods: {bnd: 1}}]\n")
    (here / "b.yaml").write_text("scenario: x\ngiven: {region: mars}\nthen: [{pods: {bound: 1}}]\n")
    code, out, err = call(capsys, "run", "a.yaml", "b.yaml", "none.yaml")
    assert (code, out) == (2, "")
    lines = err.splitlines()
    assert [line.split(": ")[0] for line in lines] == ["a.yaml:2:1", "a.yaml:3:16", "b.yaml:2:9", "none.yaml:1:1"]
    code, out, err = call(capsys, "run", "a.yaml", "--format", "json")
    assert (code, err) == (2, "")
    assert len(json.loads(out)["problems"]) == 2
    (here / "empty").mkdir()
    folder = "no scenarios found in empty (YAML files that begin with 'scenario: NAME', or lie in a folder scenarios)\n"
    assert call(capsys, "run", "empty") == (2, "", folder)
    (here / "good.yaml").write_text(GOOD)
    assert call(capsys, "run", "good.yaml", "-k", "qq") == (
        2,
        "",
        "no scenarios found whose id contains 'qq' in good.yaml\n",
    )
    assert call(capsys, "run", "good.yaml", "--html", "no/a.html") == (
        2,
        "",
        "harness run: --html no/a.html: there is no folder no\n",
    )
    assert call(capsys, "run", "good.yaml", "--junit", "empty") == (2, "", "harness run: --junit empty: is a folder\n")


def test_a_mistake_found_while_running_does_not_hide_other_cases(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    late = "scenario: late\nwhen: [{delete: [Pod/none]}]\nthen: [{pods: {bound: 0}}]\n---\n"
    (here / "a.yaml").write_text(late + WRONG)
    code, out, err = call(capsys, "run", "a.yaml")
    assert (code, err) == (2, "")
    assert "  a.yaml:2:8: when: there is no Pod/none at this point\n" in out
    assert "FAILED a.yaml::x" in out
    code, out, _ = call(capsys, "run", "a.yaml", "--format", "json")
    assert code == 2
    value = json.loads(out)
    assert (value["counts"], len(value["problems"])) == ({"failed": 1, "error": 1}, 1)


TYPOS = """
apiVersion: karpenter.azure.com/v1beta1
kind: AKSNodeClass
metadata: {name: default}
spec: {imageFamly: Ubuntu2204}
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec:
  weigth: 5
  limits: {anything/goes: 5}
  template:
    metadata: {labels: {any: thing}}
    spec:
      nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, name: default}
      requirements: [{key: karpenter.sh/capacity-type, operator: In, value: [spot]}]
"""
TYPO_LINES = (
    "spec.imageFamly: unknown field 'imageFamly'; did you mean 'imageFamily'?",
    "spec.weigth: unknown field 'weigth'; did you mean 'weight'?",
    "spec.template.spec.requirements[0].value: unknown field 'value'; did you mean 'values' or 'minValues'?",
)


def test_unknown_fields_of_karpenters_resources(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The API server would drop them without a word; kubectl refuses them, as strict as it is by default."""
    header = "scenario: x\nthen: [{pods: {bound: 0}}]\n---"
    (here / "pods.yaml").write_text(TYPOS)
    (here / "x.yaml").write_text(header + TYPOS)
    (here / "wrong.yaml").write_text(header.replace("bound", "bund") + TYPOS)
    (here / "applied.yaml").write_text("scenario: x\nwhen: [{apply: [pods.yaml]}]\nthen: [{pods: {bound: 0}}]\n")
    commands = (("simulate", "pods.yaml"), ("explain", "pods.yaml"), ("run", "x.yaml"))
    for command in commands:
        code, _, err = call(capsys, *command)
        assert code == 2
        assert tuple(line.partition(": ")[2] for line in err.splitlines()) == TYPO_LINES
    # found while it runs, so the case is an error among the others
    code, out, err = call(capsys, "run", "applied.yaml")
    assert (code, err) == (2, "")
    assert tuple(line.partition(": ")[2] for line in out.splitlines()[1:-1]) == TYPO_LINES
    assert call(capsys, "simulate", "pods.yaml")[2].startswith("pods.yaml:5:8: ")
    lines = call(capsys, "run", "wrong.yaml")[2].splitlines()
    assert tuple(line.partition(": ")[2] for line in lines[1:]) == TYPO_LINES
    # whoever has CRDs of his own may have more fields, and whoever expects a refusal knows what he does
    (here / "crds").mkdir()
    expected = header.replace(
        "[{pods: {bound: 0}}]", "[{rejected: {object: NodePool/default}}, {rejected: {object: AKSNodeClass/default}}]"
    )
    (here / "x.yaml").write_text(expected + TYPOS)
    assert "unknown field" not in call(capsys, "run", "x.yaml")[2]


def test_a_node_class_that_is_refused_has_no_requirements(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = "scenario: x\nthen: [{requirements: {of: Standard_D4s_v5, nodeclass: default, absent: [a]}}]\n---"
    refused = "\napiVersion: karpenter.azure.com/v1beta1\nkind: AKSNodeClass\nmetadata: {name: default}\nspec: [a]\n"
    (here / "x.yaml").write_text(asked + refused)
    code, out, _ = call(capsys, "run", "x.yaml")
    assert code == 1
    assert "it is refused by crd-schema: spec: Invalid value" in out
    assert "Error" not in out


def test_requirements(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    value = as_json(capsys, "requirements", "--size", "Standard_D4s_v5", "--region", "eastus")
    assert value["requirements"]["karpenter.azure.com/sku-cpu"] == {"operator": "In", "values": ["4"]}
    assert value["capacity"]["cpu"] == "4"
    assert value["dropped"] is None
    assert as_json(capsys, "requirements", "--size", "Standard_DC4as_v5")["dropped"]["filter"] == "confidential"
    arm = as_json(capsys, "requirements", "--size", "Standard_D4ps_v6")
    assert arm["requirements"]["kubernetes.io/arch"]["values"] == ["arm64"]
    regional = as_json(capsys, "requirements", "--size", "Standard_D2s_v3", "--region", "westcentralus")
    assert {offering["zone"] for offering in regional["offerings"]} == {"0"}


def test_requirements_of_a_day(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """F8as_v6 is sold as spot since 2025-05-27."""
    asked = ["requirements", "--size", "Standard_F8as_v6"]
    for day, types in (("2025-05-20", {"on-demand"}), ("2025-06-02", {"on-demand", "spot"})):
        value = as_json(capsys, *asked, "--as-of", day)
        assert {offering["capacityType"] for offering in value["offerings"] if offering["available"]} == types
    assert main([*asked, "--as-of", "20250602"]) == 2
    assert capsys.readouterr().err == "harness requirements: --as-of: '20250602' is no date; write 2026-06-15\n"
    assert main(["requirements", "--size", "Standard_D4s_v7", "--as-of", "2025-06-02"]) == 2
    assert "--size: unknown size 'Standard_D4s_v7' in eastus" in capsys.readouterr().err


def test_requirements_within_a_nodepool(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "pool.yaml").write_text(POOL)
    value = as_json(capsys, "requirements", "--size", "Standard_D4s_v5", "--nodepool", "pool.yaml")
    assert value["requirements"]["karpenter.sh/capacity-type"]["values"] == ["spot"]
    assert value["requirements"]["team"]["values"] == ["blue"]
    (here / "pool.yaml").write_text(POOL.replace("blue", "'-'"))
    code, _, err = call(capsys, "requirements", "--size", "Standard_D4s_v5", "--nodepool", "pool.yaml")
    assert code == 2
    assert err.startswith("pool.yaml:7:")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (
            ("--size", "Standard_D4s_v55"),
            "--size: unknown size 'Standard_D4s_v55' in eastus; did you mean 'Standard_D4s_v5'",
        ),
        (
            ("--size", "Standard_ND96isr_H100_v5", "--region", "qatarcentral"),
            "--size: Standard_ND96isr_H100_v5 is not sold in qatarcentral; sold in australiaeast, ",
        ),
        (("--size", "D4s_v5"), "--size: unknown size 'D4s_v5' in eastus; did you mean 'Standard_D4s_v5'"),
        (("--size", "x", "--region", "eastu"), "--region: unknown region 'eastu'; did you mean 'eastus'"),
        (("--size", "x", "--release", "1.14.9"), "--release: unknown release '1.14.9'; did you mean '1.14.2'"),
    ],
)
def test_requirements_of_what_does_not_exist(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], text: str
) -> None:
    code, out, err = call(capsys, "requirements", *arguments)
    assert (code, out) == (2, "")
    assert err.startswith(f"harness requirements: {text}")


def test_labels(capsys: pytest.CaptureFixture[str]) -> None:
    value = as_json(capsys, "labels", "kubernetes.azure.com/mode", "agentpool", "team")
    rows = {row["key"]: row for row in value["labels"]}
    mode = rows["kubernetes.azure.com/mode"]
    assert (mode["pod"]["schedulable"], mode["nodepool"]["settable"], mode["written"]["value"]) == (True, True, "user")
    assert rows["agentpool"]["nodepool"]["layer"] == "crd-cel"
    assert rows["team"]["pod"]["outcome"] == "no-known-values"
    assert rows["team"]["written"]["on_node"] is False
    assert all(row[cell]["source"] for row in rows.values() for cell in ("pod", "nodepool", "written"))


def test_keys_of_labels() -> None:
    from harness.explain.labels.probes import known_keys
    from harness.karpenter.releases import provider

    release = provider("1.14.0")
    keys = known_keys(release)
    assert len(keys) == len(set(keys))
    assert len(keys) >= 76
    assert release.vocabulary.well_known <= set(keys)


def test_defaults_and_schema(capsys: pytest.CaptureFixture[str]) -> None:
    assert as_json(capsys, "defaults")["1.14.0"]["provision_mode"] == "aksscriptless"
    assert "1.34.0" in call(capsys, "defaults", "--release", "v1.14.0")[1]
    code, _, err = call(capsys, "defaults", "--release", "2")
    assert code == 2
    assert err.startswith("harness defaults: --release: unknown release '2'")
    assert json.loads(call(capsys, "schema")[1])["definitions"]["Header"]
    assert call(capsys, "schema", "--reference")[1].startswith("# Scenario files")


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--version"])
    (line,) = capsys.readouterr().out.splitlines()
    assert caught.value.code == 0
    assert line.startswith("harness 0.")
    assert f", provider releases {ALL_PROVIDER_RELEASES[0]}, " in line
    assert line.endswith(f", {ALL_PROVIDER_RELEASES[-1]}")


def test_every_command_has_help(capsys: pytest.CaptureFixture[str]) -> None:
    for name in COMMANDS:
        with pytest.raises(SystemExit) as caught:
            main([name, "--help"])
        assert caught.value.code == 0
        assert "usage: harness" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments",
    [
        ("labels", "agentpool", "--release", "1.6.5"),
        ("labels", "explain", "agentpool", "--release", "1.6.5"),
        ("labels", "diff", "1.6.5", "1.7.2"),
        ("upgrade-check", "--from", "1.6.5", "--to", "1.7.2", "web.yaml"),
    ],
)
def test_a_mode_that_the_release_does_not_know(
    arguments: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "web.yaml").write_text(
        "{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {containers: [{name: c}]}}"
    )
    assert main([*arguments, "--mode", "aksmachineapi"]) == 2
    said = "provider 1.6.5 has no provision mode 'aksmachineapi'; it has aksscriptless, bootstrappingclient\n"
    assert capsys.readouterr().err.endswith(said)


def test_a_story_in_a_mode_goes_on_before_there_was_the_mode(capsys: pytest.CaptureFixture[str]) -> None:
    value = as_json(capsys, "labels", "explain", "agentpool", "--mode", "aksmachineapi")
    first, second, *_ = value["releases"]
    assert (first["last"], first["written"]) == ("1.6.8", "no")
    assert (second["first"], second["written"]) == ("1.7.0", "yes (kubelet (aks-rp): aksmanagedap)")


@pytest.mark.parametrize(
    "arguments",
    [
        ("labels", "explain", "--release", "1.6.5", "team"),
        ("labels", "--release", "1.6.5", "explain", "team"),
        ("labels", "explain", "team", "--release", "1.6.5"),
    ],
)
def test_options_stand_anywhere(arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert as_json(capsys, *arguments)["release"] == "1.6.5"


def test_an_option_that_there_is_not_is_still_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["labels", "--relaese", "1.6.5", "team"])
    said = "harness labels: unrecognized arguments: --relaese; did you mean '--release'?\n"
    assert capsys.readouterr().err == said


@pytest.mark.parametrize("command", ["simulate", "explain"])
def test_without_a_file(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command]) == 2
    said = f"harness {command}: FILE is expected, or --context NAME for a live cluster\n"
    assert capsys.readouterr() == ("", said)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("simulte", "x.yaml"), "harness: unknown command 'simulte'; did you mean 'simulate'?"),
        (
            ("upgrade-check", "--from", "1.6", "--to", "1.7"),
            "harness upgrade-check: the following arguments are required: FILE; see harness upgrade-check --help",
        ),
        (
            ("explain", "--regoin=eastus", "-"),
            "harness explain: unrecognized arguments: --regoin=eastus; did you mean '--region'?",
        ),
    ],
)
def test_a_mistake_on_the_command_line_is_one_line(
    arguments: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(arguments)
    out, err = capsys.readouterr()
    assert (out, err) == ("", f"{said}\n")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("difff", "1.6.5", "1.7.2"), "unknown key 'difff'; did you mean 'diff'?"),
        (
            ("kubernetes.azure.com/mdoe",),
            "unknown key 'kubernetes.azure.com/mdoe'; did you mean 'kubernetes.azure.com/mode'? (--as-",
        ),
        (
            ("kubernets.azure.com/mode",),
            "unknown key 'kubernets.azure.com/mode'; did you mean 'kubernetes.azure.com/mode'? (--as-",
        ),
        (("karpenter.sh/mode",), "unknown key 'karpenter.sh/mode'; did you mean 'kubernetes.azure.com/mode'? (--as-"),
        (
            ("karpenter.azure.com/mdoe",),
            "unknown key 'karpenter.azure.com/mdoe'; did you mean 'kubernetes.azure.com/mode'? (--as-",
        ),
        (
            ("kubernetes.azure.com/zone",),
            "unknown key 'kubernetes.azure.com/zone'; did you mean 'topology.kubernetes.io/zone'? (--as-",
        ),
        (
            ("kubernetes.io/instance-type",),
            "unknown key 'kubernetes.io/instance-type'; did you mean 'node.kubernetes.io/instance-type'? (--as-",
        ),
        (("bad key!!",), "'bad key!!' is no label key: name part must consist of"),
        (("team", "a/b/c"), "'a/b/c' is no label key: a valid label key"),
    ],
)
@pytest.mark.parametrize("question", [(), ("explain",)], ids=["table", "explain"])
def test_a_label_key_with_a_typing_error(
    question: tuple[str, ...], arguments: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if question and len(arguments) > 1:
        return
    code, out, err = call(capsys, "labels", *question, *arguments)
    assert (code, out) == (2, "")
    assert err.startswith(f"harness labels{' explain' if question else ''}: {said}")


@pytest.mark.parametrize("key", ["corp.example/mode", "node.kubernetes.io/mode", "kubernetes.azure.com/sku-cpu"])
def test_keys_of_others_and_of_later_releases_are_no_typing_errors(
    key: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (row,) = as_json(capsys, "labels", key, "--release", "1.4.0")["labels"]
    assert row["key"] == key


def test_a_key_is_tried_as_it_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    (row,) = as_json(capsys, "labels", "kubernetes.azure.com/mdoe", "--as-written")["labels"]
    assert row["key"] == "kubernetes.azure.com/mdoe"


@pytest.mark.parametrize(
    "arguments",
    [
        ("labels", "team", "--release", "1.6"),
        ("labels", "explain", "team", "--release", "v1.6"),
        ("requirements", "--size", "Standard_D4s_v5", "--release", "1.6"),
    ],
)
def test_a_line_of_releases_is_its_newest(arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert as_json(capsys, *arguments)["release"] == "1.6.8"
