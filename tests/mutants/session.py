"""pytest plugin of the one run that tries all changes: it collects once, notes what each test runs, and tries each change in a fork."""

from __future__ import annotations

import json
import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from tests.mutants.jobs import TIMED_OUT, Job, done
from tests.mutants.switch import NOTED, ON, SWITCH

FILE_SECONDS = 1800.0
"""A file of tests that takes longer than this without any change is not asked."""


class Session:
    """Runs the tests of a pytest session again and again, and writes what it finds as lines of JSON."""

    def __init__(self, folder: Path, changes: int, workers: int, most: float) -> None:
        self._folder = folder
        self._most = most
        self._changes = changes
        self._workers = workers
        self._failed: set[str] = set()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        at_import = sorted(SWITCH.run)
        reached = self._reached(session.items)
        self._say(collected=len(session.items), at_import=at_import)
        jobs = (self._job(session, number, reached[number]) for number in range(self._changes) if reached[number])
        for number, code in done(jobs, self._workers):
            self._say(change=number, killed=code != 0, hung=code == TIMED_OUT, tests=self._names(reached[number]))
        for number in range(self._changes):
            if not reached[number]:
                self._say(change=number, killed=False, tests=[])
        return True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._failed.add(report.nodeid)

    def _names(self, tests: Sequence[tuple[float, pytest.Item]]) -> list[str]:
        return [item.nodeid for _, item in tests]

    def _say(self, **said: object) -> None:
        with (self._folder / "said.jsonl").open("a", encoding="utf-8") as told:
            told.write(json.dumps(said) + "\n")

    def _reached(self, items: Sequence[pytest.Item]) -> dict[int, list[tuple[float, pytest.Item]]]:
        """CPU seconds and tests that run the place of each change without failing, as many as may be asked.

        First come the fastest of each file, then the second ones, and so on.
        """
        files: dict[str, list[pytest.Item]] = defaultdict(list)
        for item in items:
            files[item.nodeid.split("::")[0]].append(item)
        parts = list(files.values())
        jobs = (Job(number, self._noting(number, part), FILE_SECONDS) for number, part in enumerate(parts))
        found: dict[int, list[tuple[float, pytest.Item]]] = defaultdict(list)
        failed: list[str] = []
        for number, code in done(jobs, self._workers):
            noted = self._folder / f"noted-{number}.json"
            if code or not noted.exists():
                failed.append(f"all of {parts[number][0].nodeid.split('::')[0]} (exit code {code})")
                continue
            for item, (seconds, fails, changes) in zip(parts[number], json.loads(noted.read_text()), strict=True):
                if fails:
                    failed.append(item.nodeid)
                for change in () if fails else changes:
                    found[change].append((seconds, item))
        self._say(failed=failed)
        return defaultdict(list, {change: list(_within(tests, self._most)) for change, tests in found.items()})

    def _noting(self, number: int, items: Sequence[pytest.Item]) -> Callable[[], int]:
        def work() -> int:
            others = self._folder / f"others-{number}"
            os.environ[NOTED] = str(others)
            rows = []
            for item, following in zip(items, [*items[1:], None], strict=True):
                SWITCH.own()
                others.write_text("")
                start = sum(os.times()[:4])
                self._run(item, following)
                seconds = sum(os.times()[:4]) - start
                changes = SWITCH.run | set(map(int, others.read_text().split()))
                rows.append((seconds, item.nodeid in self._failed, sorted(changes)))
            (self._folder / f"noted-{number}.json").write_text(json.dumps(rows))
            return 0

        return work

    def _job(self, session: pytest.Session, number: int, tests: Sequence[tuple[float, pytest.Item]]) -> Job:
        items = [item for _, item in tests]

        def work() -> int:
            SWITCH.on = number
            os.environ[ON] = str(number)
            for item, following in zip(items, [*items[1:], None], strict=True):
                self._run(item, following)
                if self._failed:
                    session._setupstate.teardown_exact(None)  # what the tests left set up
                    return 1
            return 0

        return Job(number, work, 60 + 30 * sum(seconds for seconds, _ in tests))

    def _run(self, item: pytest.Item, following: pytest.Item | None) -> None:
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)


def _within(tests: Sequence[tuple[float, pytest.Item]], most: float) -> Iterator[tuple[float, pytest.Item]]:
    total = 0.0
    asked: Counter[str] = Counter()
    ranked = []
    for seconds, item in sorted(tests, key=lambda test: (test[0], test[1].nodeid)):
        file = item.nodeid.split("::")[0]
        ranked.append((asked[file], seconds, item))
        asked[file] += 1
    for _, seconds, item in sorted(ranked, key=lambda test: test[:2]):
        if total and total + seconds > most:
            return
        total += seconds
        yield seconds, item


def pytest_configure(config: pytest.Config) -> None:
    asked = json.loads(os.environ["MUTANTS"])
    config.pluginmanager.register(
        Session(Path(asked["folder"]), asked["changes"], asked["workers"], asked["most"]), "mutants"
    )
