"""Files that commands write: never over what they read, whole or as they were, and the message names the file."""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from fakeazure.cli import run as fakeazure
from harness.cli import main
from tests.cli.command import POOL, call

CLASS = "apiVersion: karpenter.azure.com/v1beta1\nkind: AKSNodeClass\nmetadata: {name: default}\nspec: {}\n"
POD = (
    "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n"
    "  containers: [{name: c, image: x, resources: {requests: {cpu: 1}}}]\n"
)
OBJECTS = f"{POOL}---\n{CLASS}---\n{POD}"
SCENARIO = "scenario: s\ngiven: {manifests: [in.yaml]}\nthen:\n- pods: {pending: 0}\n"
PLAN = "scenario: s\ngiven: {manifests: [in.yaml]}\nmatrix: {region: [eastus, westeurope]}\n"


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files of a user, a trace and a table of a sweep; tests take a copy."""
    folder = tmp_path_factory.mktemp("written")
    (folder / "in.yaml").write_text(OBJECTS)
    (folder / "scn.yaml").write_text(SCENARIO)
    (folder / "plan.yaml").write_text(PLAN)
    (folder / "folder").mkdir()
    (folder / "folder" / "pools.yaml").write_text(OBJECTS)
    with contextlib.chdir(folder):
        assert main(["simulate", "in.yaml", "--trace", "t.jsonl"]) == 0
        assert main(["sweep", "plan.yaml", "-o", "table.csv", "-n", "1"]) == 0
    (folder / "usages.json").write_text("[]")
    return folder


@pytest.fixture
def files(written: Path, here: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    shutil.copytree(written, here, dirs_exist_ok=True)
    capsys.readouterr()
    return here


OVER = [
    # words of the command, the option, and what of it is read
    (("run", "scn.yaml"), "--junit", "scn.yaml"),
    (("run", "scn.yaml"), "--junit", "in.yaml"),
    (("run", "scn.yaml"), "--html", "scn.yaml"),
    (("simulate", "in.yaml"), "--trace", "in.yaml"),
    (("simulate", "in.yaml"), "--html", "in.yaml"),
    (("simulate", "folder"), "--html", "folder/pools.yaml"),
    (("explain", "in.yaml"), "--html", "in.yaml"),
    (("upgrade-check", "in.yaml", "--from", "1.6.5", "--to", "1.7.2"), "--html", "in.yaml"),
    (("compare", "t.jsonl", "t.jsonl"), "--html", "t.jsonl"),
    (("compare", "scn.yaml", "--region", "eastus,westus2"), "--html", "in.yaml"),
    (("sweep", "plan.yaml"), "--html", "in.yaml"),
    (("sweep", "table.csv"), "--html", "table.csv"),
    (("shrink", "scn.yaml", "--keep", "then"), "--output", "scn.yaml"),
    (("shrink", "scn.yaml", "--keep", "then"), "--output", "in.yaml"),
    (("capture", "in.yaml"), "--output", "in.yaml"),
    (("attach", "--expect", "scn.yaml"), "--environment", "scn.yaml"),
]


def linked(kind: str, read: Path) -> Path:
    """The same file under another name."""
    if kind == "path":
        return read.parent / "." / read.name
    other = read.parent.parent / f"other-{kind}" if read.parent.name == "folder" else read.parent / f"other-{kind}"
    if kind == "symbolic link":
        other.symlink_to(read)
    else:
        other.hardlink_to(read)
    return other


@pytest.mark.parametrize("kind", ["path", "symbolic link", "hard link"])
@pytest.mark.parametrize(
    ("words", "option", "read"), OVER, ids=[f"{words[0]} {option} {read}" for words, option, read in OVER]
)
def test_nothing_that_is_read_is_overwritten(
    words: Sequence[str], option: str, read: str, kind: str, files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (files / read).read_bytes()
    output = linked(kind, Path(read))
    code, out, err = call(capsys, *words, option, str(output))
    assert (code, out) == (2, "")
    assert err == f"harness {words[0]}: {option} {output}: {read} would be overwritten, which is read\n"
    assert (files / read).read_bytes() == before


def test_a_table_of_a_sweep_goes_on_and_a_new_file_in_a_folder_that_is_read_is_none_of_it(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(capsys, "sweep", "plan.yaml", "-o", "table.csv", "-n", "1")[0] == 0
    for _ in range(2):
        assert call(capsys, "simulate", "folder", "--trace", "folder/t.jsonl", "--html", "folder/page.html")[0] == 0


@pytest.mark.parametrize("words", [("run", "scn.yaml", "--junit", "r"), ("simulate", "in.yaml", "--trace", "r")])
def test_two_outputs_are_two_files(words: Sequence[str], files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = call(capsys, *words, "--html", "./r")
    assert (code, err) == (2, f"harness {words[0]}: --html r: {words[2]} writes to the same file\n")
    assert not (files / "r").exists()


@pytest.mark.parametrize("command", ["import-skus", "import-prices", "import-usages"])
@pytest.mark.parametrize("kind", ["path", "symbolic link", "hard link"])
def test_what_fakeazure_imports_stays(command: str, kind: str, files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = linked(kind, Path("usages.json"))
    region = [] if command == "import-usages" else ["--region", "eastus"]
    assert fakeazure([command, "usages.json", *region, "-o", str(output)]) == 2
    assert capsys.readouterr().err == f"fakeazure: -o {output}: usages.json would be overwritten, which is read\n"
    assert (files / "usages.json").read_text() == "[]"


def test_what_serve_reads_stays(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (files / "cloud.json").write_text("{}")
    assert fakeazure(["serve", "--state", ".", "--market", "cloud.json", "--for", "0.1"]) == 2
    assert capsys.readouterr().err == "fakeazure: --state cloud.json: cloud.json would be overwritten, which is read\n"


def test_the_description_of_another_cloud_stays(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stack = {"name": "AzureStackCloud", "resourceManagerEndpoint": "https://management.local.azurestack.external/"}
    (files / "cloud.json").write_text(json.dumps(stack))
    assert fakeazure(["serve", "--state", ".", "--for", "0.1"]) == 2
    why = "cloud.json is not of fakeazure, and is not written over: name another folder"
    assert capsys.readouterr().err == f"fakeazure: --state .: {why}\n"
    assert json.loads((files / "cloud.json").read_text()) == stack


def test_a_served_cloud_writes_over_its_own_files(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):
        assert fakeazure(["serve", "--state", "state", "--http-port", "0", "--https-port", "0", "--for", "0.1"]) == 0
    assert capsys.readouterr().err == ""


FULL = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))
sys.dont_write_bytecode = True  # Python would keep the half of a module
sys.argv[0] = "harness"
from harness.__main__ import main
sys.exit(main())
"""
WRITTEN = [
    ("run", "scn.yaml", "--junit"),
    ("run", "scn.yaml", "--html"),
    ("simulate", "in.yaml", "--trace"),
    ("simulate", "in.yaml", "--html"),
    ("capture", "in.yaml", "--output"),
]


@pytest.mark.parametrize("words", WRITTEN, ids=" ".join)
def test_a_full_disk_leaves_the_old_file_and_is_named(
    words: Sequence[str], files: Path, shell: Mapping[str, str]
) -> None:
    old = files / "old.out"
    old.write_text("old")
    done = subprocess.run(
        ["python", "-c", FULL, *words, "old.out"],
        cwd=files,
        env=shell,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3
    assert done.stderr == "harness: old.out: file too large\n"
    assert old.read_text() == "old"
    assert not list(files.glob(".old.out*"))


def test_standard_output_and_pipes_are_written_to(files: Path, shell: Mapping[str, str]) -> None:
    words = ["harness", "simulate", "in.yaml", "--format", "json"]
    for name in ("-", "/dev/stdout"):
        piped = subprocess.run(
            [*words, "--trace", name], cwd=files, env=shell, capture_output=True, text=True, check=True
        )
        assert piped.stdout.startswith('{"trace":')
        assert json.loads(piped.stdout[piped.stdout.index("\n{\n") :])["nodes"]
        with (files / "both.txt").open("w") as both:
            subprocess.run([*words, "--trace", name], cwd=files, env=shell, stdout=both, check=True)
        assert (files / "both.txt").read_text() == piped.stdout
    assert not (files / "-").exists()
    assert subprocess.run([*words, "--html", "/dev/null"], cwd=files, env=shell, capture_output=True, check=True).stdout
