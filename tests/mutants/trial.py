"""A copy of the project in which changes are made and the tests that come past them are run."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from tests.mutants.originals import FOLDER
from tests.mutants.places import Mutant, switched

MOST = 120.0
"""CPU seconds of tests that are asked about a change, unless told otherwise. How busy the machine is makes no difference."""
SECONDS = 600
"""CPU seconds after which a run of tests on one change is given up."""
_STARTED = """\
import builtins

from tests.mutants.switch import original

builtins.__original__ = original
"""
"""What Python runs when a process starts, before it imports anything: changed code finds the switch among the builtins."""
_PYTEST = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "0", "--capture=sys")


class Fate(StrEnum):
    """What became of a change."""

    KILLED = "killed"
    EQUIVALENT = "equivalent"
    SURVIVED = "survived"
    UNREACHED = "unreached"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a change, the tests that were asked, and the one that noticed."""

    fate: Fate
    tests: tuple[str, ...] = ()
    by: str = ""


class Copy:
    """The tracked files of a project, in a folder of their own."""

    def __init__(self, project: Path, folder: Path) -> None:
        self.root = folder
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=project, check=True, capture_output=True, text=True)
        for name in listed.stdout.split("\0"):
            if name and (project / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(project / name, folder / name)

    def tried(
        self, changes: Sequence[Mutant], tests: Sequence[str], workers: int, most: float = MOST
    ) -> Iterator[tuple[int, Verdict]]:
        """Number and fate of each change, as they are known; about each, tests of ``most`` CPU seconds are asked.

        All changes stand in the code at once, so that tests are collected once. What has run before the first test may
        have left values that a fork keeps: such a change is tried again alone in its file, if no test noticed it.
        """
        doubted: list[tuple[int, tuple[str, ...]]] = []
        for said in self._session(changes, tests, workers, most):
            if said.get("failed"):
                print(f"not asked, since they fail without any change: {', '.join(said['failed'])}", flush=True)
            if (number := said.get("change")) is not None:
                named = tuple(said["tests"])
                if said["killed"]:
                    yield number, Verdict(Fate.KILLED, named, said["by"])
                elif said["early"] and named:
                    doubted.append((number, named))
                else:
                    yield number, Verdict(Fate.SURVIVED if named else Fate.UNREACHED, named)
        for number, named in doubted:
            yield number, self.verdict(changes[number], named)

    def verdict(self, change: Mutant, tests: Sequence[str]) -> Verdict:
        """Whether one of the tests notices the change, which stands in its file alone; who fails without it, too, does not."""
        file = self.root / change.path
        source = file.read_bytes()
        asked = [*tests]
        while asked:
            try:
                file.write_bytes(change.applied(source))
                failing = self._failing(asked)
            finally:
                file.write_bytes(source)
            if failing is None:
                return Verdict(Fate.SURVIVED, tuple(asked))
            until = asked.index(failing) + 1 if failing else len(asked)
            culprit = self._failing(asked[:until])
            if culprit is None:
                return Verdict(Fate.KILLED, tuple(asked), failing)
            asked.remove(culprit or asked[until - 1])
        return Verdict(Fate.UNREACHED)

    def _session(
        self, changes: Sequence[Mutant], tests: Sequence[str], workers: int, most: float
    ) -> Iterator[dict[str, Any]]:
        folder = self.root / ".mutants"
        folder.mkdir(exist_ok=True)
        sources = self._switched(changes)
        for file, source in sources.items():
            original = folder / FOLDER / file.relative_to(self.root)
            original.parent.mkdir(parents=True, exist_ok=True)
            original.write_bytes(source)
        places = [(change.path, change.function) for change in changes]
        asked = {"folder": str(folder), "places": places, "workers": workers, "most": most}
        (folder / "asked.json").write_text(json.dumps(asked))
        environment = {**self._environment(), "MUTANTS": str(folder / "asked.json")}
        argv = [sys.executable, *_PYTEST, "-p", "tests.mutants.session", *tests]
        try:
            with (folder / "log").open("wb") as log:
                running = subprocess.Popen(argv, cwd=self.root, env=environment, stdout=log, stderr=log)
                yield from _lines(folder / "said.jsonl", running)
        finally:
            for file, source in sources.items():
                file.write_bytes(source)
            (self.root / "sitecustomize.py").unlink()
        if running.returncode:
            raise RuntimeError(f"the tests did not run:\n{(folder / 'log').read_text(errors='replace')[-3000:]}")

    def _switched(self, changes: Sequence[Mutant]) -> Mapping[Path, bytes]:
        """Puts all changes into the files, and the switch where they find it; returns what these were."""
        (self.root / "sitecustomize.py").write_text(_STARTED)
        sources = {}
        for path in sorted({change.path for change in changes}):
            file = self.root / path
            sources[file] = file.read_bytes()
            numbered = {number: change for number, change in enumerate(changes) if change.path == path}
            file.write_bytes(switched(sources[file], numbered))
        return sources

    def _failing(self, tests: Sequence[str]) -> str | None:
        """The first test that fails, no name if none can begin or end; nothing if all pass."""
        listed = self.root / ".mutants-tests"
        listed.write_text("\n".join(tests))
        argv = [sys.executable, *_PYTEST, "-x", "-rfE", f"@{listed}"]
        done = subprocess.run(
            argv, cwd=self.root, env=self._environment(), capture_output=True, text=True, preexec_fn=_limited
        )
        if not done.returncode:
            return None
        told = [line.partition(" ")[2] for line in done.stdout.splitlines() if line.startswith(("FAILED ", "ERROR "))]
        return max((test for test in tests for line in told if line.startswith(test)), key=len, default="")

    def _environment(self) -> dict[str, str]:
        return {**os.environ, "PYTHONPATH": str(self.root), "PYTHONDONTWRITEBYTECODE": "1"}


def _limited() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))


def _lines(file: Path, running: subprocess.Popen[bytes]) -> Iterator[dict[str, Any]]:
    """The lines that a process writes into a file, until it ends."""
    file.touch()
    with file.open(encoding="utf-8") as lines:
        ended, begun = False, ""
        while not ended:
            ended = running.poll() is not None
            while line := lines.readline():
                begun += line
                if begun.endswith("\n"):
                    yield json.loads(begun)
                    begun = ""
            if not ended:
                time.sleep(0.2)
