"""The plugin that pytest finds by itself: it is there at the first scenario file, and no sooner."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from harness.pytest_entry import OPTIONS
from tests.project.tree import ROOT

SCENARIO = "scenario: nothing\ngiven: {karpenter: 1.14.0}\nthen:\n- pods: {bound: 0}\n"
MOLECULE = "dependency:\n  name: galaxy\nscenario:\n  name: default\nverifier: {name: testinfra}\n"
LOADED = """
import sys

def pytest_sessionfinish():
    loaded = sorted(name for name in sys.modules if name.partition(".")[0] in ("harness", "fakeazure"))
    open("loaded", "w").write(" ".join(loaded))
"""


def run(directory: Path, *arguments: str, **files: str) -> tuple[int, str]:
    """Exit code and output of pytest there, in a process of its own, with the entry as an installed package loads it."""
    for name, text in files.items():
        path = directory / name.replace("__", ".").replace("_in_", "/")
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    others = ("-p", "no:fakeazure", "-p", "no:cacheprovider")
    entry = ("-p", "no:karpenter_azure_harness", "-p", "harness.pytest_entry", *others)
    command = [sys.executable, "-m", "pytest", *entry, "-q", *arguments]
    done = subprocess.run(
        command, cwd=directory, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


def test_scenario_files_are_collected_without_a_conftest(tmp_path: Path) -> None:
    code, output = run(tmp_path, web__yaml=SCENARIO, molecule__yml=MOLECULE, scenarios_in_load__yaml="users: 5\n")
    assert (code, output.count("passed")) == (0, 2), output  # one case, one subtest; no other YAML is taken for one


def test_without_scenario_files_nothing_is_loaded(tmp_path: Path) -> None:
    test = "def test_a():\n    assert True\n"
    code, output = run(tmp_path, test_a__py=test, conftest__py=LOADED, values__yaml="a: 1\n", molecule__yml=MOLECULE)
    assert code == 0, output
    assert (tmp_path / "loaded").read_text().split() == ["harness", "harness.pytest_entry", "harness.sniffing"]
    (tmp_path / "values.yaml").unlink()
    (tmp_path / "molecule.yml").unlink()
    run(tmp_path)
    assert (tmp_path / "loaded").read_text().split() == ["harness", "harness.pytest_entry"]


def test_options_of_others_keep_their_names(tmp_path: Path) -> None:
    """A conftest with a `--release` of its own, and a scenario beside it."""
    conftest = (
        "def pytest_addoption(parser):\n    parser.addoption('--release', default='theirs')\n\n"
        "def pytest_sessionfinish(session):\n    open('release', 'w').write(session.config.getoption('--release'))\n"
    )
    code, output = run(tmp_path, conftest__py=conftest, web__yaml=SCENARIO)
    assert (code, (tmp_path / "release").read_text()) == (0, "theirs"), output
    code, output = run(tmp_path, "--release", "mine", "--only-release", "1.13")
    assert (code, (tmp_path / "release").read_text()) == (5, "mine"), output  # the only case is about 1.14.0
    code, output = run(tmp_path, "--scenarios-release", "1.13.1", "--only-release", "1.13")
    assert code == 0, output


def test_fixtures_and_mark_are_there(tmp_path: Path) -> None:
    test = (
        "import pytest\n\n@pytest.mark.world(region='westus2')\ndef test_a(world, azure):\n"
        "    assert world.region == 'westus2' and azure is world.cloud\n"
    )
    code, output = run(tmp_path, "--strict-markers", test_a__py=test)
    assert code == 0, output


def test_the_entry_knows_all_options(pytestconfig: pytest.Config) -> None:
    parser = pytest.Parser(_ispytest=True)
    from harness.pytest_plugin.options import add_options

    add_options(parser)
    assert {name for option in parser.getgroup("scenarios").options for name in option.names()} == OPTIONS
