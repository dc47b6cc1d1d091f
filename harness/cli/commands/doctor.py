"""`harness doctor`: what is installed, what is missing for what, and how old the recorded data are."""

from __future__ import annotations

import argparse
import platform
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

from harness.cli.output import add_format, print_json
from lazyrecords import dataclass
from plainlines import print_line, printable

__all__ = ["add_arguments", "run"]

_EXTRAS = {
    "pytest": (("pytest",), "scenario files as tests"),
    "crds": (("cel_expr_python", "re2", "jsonschema"), "CRD files of your own (--crds DIR)"),
    "clusters": (("testcontainers", "docker", "kubernetes"), "a live cluster (--context), apiserver and kind"),
    "sweep": (("distributed", "pyarrow"), "sweeps on a Dask cluster, and Parquet"),
    "progress": (("rich",), "a bar for runs on a terminal, and the film of harness watch"),
    "completion": (("shtab",), "completion in shells"),
}
"""Extra of the package → the modules that it brings, and what they are for."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked for: whether it is there, and what is said of it."""

    subject: str
    there: bool
    text: str


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `harness doctor`."""
    add_format(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the findings; 0, since nothing of it is needed for scenarios in memory."""
    parts = {"installed": [*_installed()], "extras": [*_extras()], "environment": [*_environment()], "data": [*_data()]}
    if arguments.format == "json":
        print_json(
            {
                part: [
                    {"subject": finding.subject, "there": finding.there, "text": finding.text} for finding in findings
                ]
                for part, findings in parts.items()
            }
        )
        return 0
    for part, findings in parts.items():
        print_line(part)
        for row in findings:
            print_line(f"  {'ok' if row.there else '--'}  {row.subject:20} {printable(row.text)}")
    return 0


def _installed() -> Iterator[Finding]:
    from harness import __version__

    yield Finding("harness", True, f"{__version__} in {Path(__file__).parents[2]}")
    yield Finding(
        "python", True, f"{platform.python_version()} in {sys.prefix}, {platform.system()} {platform.machine()}"
    )


def _extras() -> Iterator[Finding]:
    """Each extra of the package, with the modules of it that are missing."""
    for extra, (modules, purpose) in _EXTRAS.items():
        missing = [name for name in modules if find_spec(name) is None]
        command = f"; pip install 'karpenter-azure-harness[{extra}]' brings {', '.join(missing)}"
        yield Finding(extra, not missing, purpose + (command if missing else ""))


def _environment() -> Iterator[Finding]:
    """Yield the needs of clusters and of the real controller on this machine."""
    from harness.clusters.apiserver.cluster import assets
    from harness.clusters.control_plane.pki import MissingTool
    from harness.clusters.kind.cluster import docker_available
    from harness.world.real.binaries import BinariesWrong, binaries

    def controllers() -> str:
        by_release = binaries()
        if not by_release:
            raise BinariesWrong("HARNESS_KARPENTER is not set: it names the controller, or RELEASE=PATH,RELEASE=PATH")
        return ", ".join(f"{release} at {path}" for release, path in by_release.items())

    def daemon() -> str:
        docker_available()
        return "a Docker daemon answers"

    checks: dict[str, tuple[str, Callable[[], str]]] = {
        "cluster apiserver": ("a real API server and scheduler", lambda: str(assets())),
        "cluster kind": ("nodes with a real kubelet", daemon),
        "real controller": ("--karpenter simulated,real", controllers),
    }
    for subject, (purpose, check) in checks.items():
        try:
            yield Finding(subject, True, f"{purpose}: {check()}")
        except (MissingTool, BinariesWrong) as error:
            yield Finding(subject, False, f"{purpose}: {error}")


def _data() -> Iterator[Finding]:
    """Yield the age of recorded data, and the releases."""
    from harness.karpenter.releases import ALL_PROVIDER_RELEASES, DEFAULT_RELEASE
    from harness.world.recorded_days import recorded_days

    for subject, day in recorded_days().items():
        yield Finding(subject, True, f"of {day}{'; your own: fakeazure refresh' if subject == 'sizes' else ''}")
    first, last = ALL_PROVIDER_RELEASES[0], ALL_PROVIDER_RELEASES[-1]
    yield Finding("karpenter", True, f"releases {first} to {last}, {DEFAULT_RELEASE} by default")
