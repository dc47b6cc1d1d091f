"""The distribution: what a user gets who installs the wheel in a fresh environment, outside of the checkout."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

import harness
from tests.project.tree import ROOT

MANIFESTS = """\
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, name: default}
      requirements: []
---
apiVersion: karpenter.azure.com/v1beta1
kind: AKSNodeClass
metadata: {name: default}
spec: {}
"""
SCENARIO = """\
scenario: a pod gets a node
given: {manifests: [pool.yaml]}
then: [{pods: {bound: 1}}]
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
  - {name: web, image: web, resources: {requests: {cpu: "1"}}}
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this tree, built without the network."""
    for name in ("build", "hatchling", "hatch_fancy_pypi_readme"):
        pytest.importorskip(name, reason=f"needs {name}: pip install build hatchling hatch-fancy-pypi-readme")
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
    (repository / "pool.yaml").write_text(MANIFESTS)
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


@pytest.mark.slow
def test_what_the_wheel_says_of_itself(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (each for each in archive.namelist() if each.endswith(".dist-info/METADATA"))
        metadata = Parser().parsestr(archive.read(name).decode())
        entry_points = archive.read(name.replace("METADATA", "entry_points.txt")).decode()
    assert metadata["Version"] == harness.__version__
    assert "karpenter_azure_harness = harness.pytest_entry" in entry_points
    relative = re.findall(r"\]\((?!https?://|#)[^)]+\)", str(metadata.get_payload()))
    assert not relative, relative
    pictures = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", str(metadata.get_payload()))
    assert pictures, "a picture"
    assert all(one.startswith("https://") and "/raw/" in one for one in pictures)  # a page about a file shows none
    assert "Programming Language :: Python :: 3.14" in metadata.get_all("Classifier", ())
    assert len(metadata.get_all("Project-URL", ())) >= 3


def test_extras_and_version_agree() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert {"pytest", "crds", "clusters", "completion"} <= project["optional-dependencies"].keys()
    assert project["version"] == harness.__version__


def test_the_package_shows_what_it_offers() -> None:
    assert dir(harness) == sorted(harness.__all__)
    assert all(hasattr(harness, name) for name in harness.__all__)
