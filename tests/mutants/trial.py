"""A copy of the project in which a change is made and the tests that reach it are run."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from enum import StrEnum
from pathlib import Path

from tests.mutants.places import Mutant
from tests.mutants.reach import Reach

FIRST = 40
"""Tests that are asked first; most changes are noticed by them."""
MOST = 600
"""Tests that are asked at most."""
SECONDS = 180.0
"""A run of tests that takes longer than this hangs in the change, which counts as noticed."""


class Fate(StrEnum):
    """What became of a change."""

    KILLED = "killed"
    EQUIVALENT = "equivalent"
    SURVIVED = "survived"
    UNREACHED = "unreached"


class Copy:
    """The tracked files of a project, in a folder of their own."""

    def __init__(self, project: Path, folder: Path) -> None:
        self.root = folder
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=project, check=True, capture_output=True, text=True)
        for name in listed.stdout.split("\0"):
            if name and (project / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(project / name, folder / name)

    def record(self, packages: Sequence[str], tests: Sequence[str]) -> Reach:
        """Runs the tests once and records which lines of the packages each of them reaches."""
        data = self.root / ".mutants" / "coverage"
        data.parent.mkdir(exist_ok=True)
        environment = {**self._environment(), "MUTANTS_FAILED": str(data.parent / "failed.json")}
        argv = ["-m", "coverage", "run", f"--data-file={data}", f"--source={','.join(packages)}"]
        argv += ["-m", "pytest", "-q", "-p", "tests.mutants.contexts", "-p", "no:cacheprovider", "-n", "0", *tests]
        done = subprocess.run([sys.executable, *argv], cwd=self.root, env=environment, capture_output=True, text=True)
        if not (data.parent / "failed.json").exists() or not data.exists():
            raise RuntimeError(f"the tests did not run:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        failed = json.loads((data.parent / "failed.json").read_text())
        if failed:
            print(f"{len(failed)} tests fail without any change and are not asked: {', '.join(failed[:5])}", flush=True)
        return Reach.read(data, self.root)

    def fate(self, mutant: Mutant, tests: Sequence[str]) -> Fate:
        """Whether one of the tests, the first ones first, notices the change."""
        if not tests:
            return Fate.UNREACHED
        file = self.root / mutant.path
        source = file.read_bytes()
        try:
            file.write_bytes(mutant.applied(source))
            asked = (tests[:FIRST], tests[FIRST:MOST])
            return Fate.KILLED if any(self._fails(part) for part in asked if part) else Fate.SURVIVED
        finally:
            file.write_bytes(source)

    def _fails(self, tests: Iterable[str]) -> bool:
        listed = self.root / ".mutants-tests"
        listed.write_text("\n".join(tests))
        argv = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-n", "0", f"@{listed}"]
        try:
            done = subprocess.run(argv, cwd=self.root, env=self._environment(), capture_output=True, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return True
        return done.returncode != 0

    def _environment(self) -> dict[str, str]:
        return {**os.environ, "PYTHONPATH": str(self.root), "PYTHONDONTWRITEBYTECODE": "1"}
