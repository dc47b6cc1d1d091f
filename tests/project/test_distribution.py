"""The distribution: what a user gets who installs the wheel in a fresh environment, outside of the checkout."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import threading
import tomllib
import zipfile
from collections.abc import Iterator
from email.parser import Parser
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import harness
from tests.project.tree import ROOT
from tests.small_world import POOL, SCENARIO


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this tree, built without the network."""
    for name in ("build", "hatchling"):
        pytest.importorskip(name, reason=f"needs {name}: pip install build hatchling")
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (found,) = folder.glob("*.whl")
    return found


@pytest.mark.slow
def test_two_files_and_pytest_in_a_fresh_environment(wheel: Path, tmp_path: Path) -> None:
    python = tmp_path / "venv" / "bin" / "python"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "venv")], check=True)
    site = next((tmp_path / "venv").glob("lib/python*/site-packages"))
    with zipfile.ZipFile(wheel) as archive:  # what pip does; it is not in the environment of the tests
        archive.extractall(site)
    site.joinpath("dependencies.pth").write_text(str(Path(pytest.__file__).parents[1]))
    repository = tmp_path / "repository"
    repository.mkdir()
    (repository / "pool.yaml").write_text(POOL)
    (repository / "test_pool.yaml").write_text(SCENARIO)
    (repository / "conftest.py").write_text(
        "import harness\nassert 'site-packages' in harness.__file__, harness.__file__\n"
    )
    environment = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "", "PYTHONSAFEPATH": "1"}
    done = subprocess.run(
        [str(python), "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:benchmark"],
        cwd=repository, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"\b1 passed", done.stdout), done.stdout


@pytest.fixture
def git_server(tmp_path: Path) -> Iterator[str]:
    """The address of a server that serves this repository's commits to git."""
    bare = tmp_path / "served" / "repository.git"
    for command in (
        ["git", "clone", "--quiet", "--bare", str(ROOT), str(bare)],
        ["git", "-C", str(bare), "update-server-info"],
    ):
        if subprocess.run(command, capture_output=True, check=False).returncode:
            pytest.skip("needs git and a clone")
    handler = partial(QuietHandler, directory=str(bare.parent))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/repository.git"
        server.shutdown()
        thread.join()


class QuietHandler(SimpleHTTPRequestHandler):
    """Serves files without a line on the terminal for each."""

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.mark.slow
def test_pip_installs_it_from_a_git_repository(git_server: str, tmp_path: Path) -> None:
    target = tmp_path / "site"
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation"]
    done = subprocess.run(
        [*command, "--target", str(target), f"karpenter-azure-harness @ git+{git_server}"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    (tmp_path / "pool.yaml").write_text(POOL)
    code = "import harness, sys; print(harness.__file__); from harness.__main__ import command; sys.exit(command())"
    asked = subprocess.run(
        [sys.executable, "-c", code, "validate", "pool.yaml"], cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(target)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert asked.returncode == 0, asked.stdout + asked.stderr
    assert asked.stdout.startswith(str(target)), asked.stdout
    assert "2 objects, nothing refused" in asked.stdout


@pytest.mark.slow
def test_a_clone_runs_its_scenarios_and_makes_a_wheel(git_server: str, tmp_path: Path) -> None:
    """The environment of the tests stands for the one that `make` would fill from an index."""
    make, clone = shutil.which("make"), tmp_path / "clone"
    if make is None:
        pytest.skip("needs make")
    for name in ("build", "hatchling"):
        pytest.importorskip(name, reason=f"needs {name}: pip install build hatchling")
    subprocess.run(["git", "clone", "--quiet", git_server, str(clone)], check=True)
    here = [make, f"VENV={sys.prefix}", "--old-file", str(Path(sys.prefix) / ".installed")]
    scenarios = [*here, "scenarios", "WORKERS=0", "ARGS=-k labels-of-a-nodepool"]
    others = ("PYTEST_", "PYTHONPATH")  # the clone is to be run, not this tree
    environment = {name: value for name, value in os.environ.items() if not name.startswith(others)}
    for command, words in ((scenarios, " passed"), ([*here, "wheel"], "Successfully built")):
        done = subprocess.run(command, cwd=clone, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        assert words in done.stdout
    (built,) = (clone / "dist").glob("*.whl")
    assert built.name == f"karpenter_azure_harness-{harness.__version__}-py3-none-any.whl"


@pytest.mark.slow
def test_what_the_wheel_says_of_itself(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (each for each in archive.namelist() if each.endswith(".dist-info/METADATA"))
        metadata = Parser().parsestr(archive.read(name).decode())
        entry_points = archive.read(name.replace("METADATA", "entry_points.txt")).decode()
    assert metadata["Version"] == harness.__version__
    assert "karpenter_azure_harness = harness.pytest_entry" in entry_points
    assert "Programming Language :: Python :: 3.14" in metadata.get_all("Classifier", ())


def test_extras_and_version_agree() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert {"pytest", "crds", "clusters", "completion"} <= project["optional-dependencies"].keys()
    assert project["version"] == harness.__version__


def test_the_package_shows_what_it_offers() -> None:
    assert dir(harness) == sorted(harness.__all__)
    assert all(hasattr(harness, name) for name in harness.__all__)
