"""pytest plugin of the one run that tries all changes: it collects once, notes what each test runs, and tries each change in a fork."""

from __future__ import annotations

import json
import os
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.mutants.jobs import TIMED_OUT, Job, done, may_compute
from tests.mutants.noticed import Noticed
from tests.mutants.originals import FOLDER, Originals
from tests.mutants.switch import NOTED, ON, SWITCH

FILE_SECONDS = 1800.0
"""A file of tests that takes longer than this by the clock without any change is not asked."""
_NONE = -1
"""Number of no change."""


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """A test, its CPU seconds without any change, and how many of the changed places it runs."""

    item: pytest.Item
    seconds: float
    places: int

    @property
    def name(self) -> str:
        """pytest's name of the test."""
        return self.item.nodeid

    @property
    def file(self) -> str:
        """The file that it stands in."""
        return self.name.split("::")[0]


@dataclass(frozen=True, slots=True)
class Course:
    """Tests in turn with one change, or with none to see that they pass in this very order."""

    change: int
    tests: tuple[Asked, ...]
    number: int


class Session:
    """Runs the tests of a pytest session again and again, and writes what it finds as lines of JSON."""

    def __init__(self, folder: Path, places: Sequence[tuple[str, str]], workers: int, most: float) -> None:
        self._folder = folder
        self._most = most
        self._places = places
        self._workers = workers
        self._failed: set[str] = set()
        self._noticed = Noticed()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        at_import = frozenset(SWITCH.run)
        reached = self._reached(session.items, at_import)
        self._say(collected=len(session.items))
        for change in range(len(self._places)):
            if not reached[change]:
                self._say(change=change, killed=False, tests=[], early=change in at_import)
        originals = Originals(Path.cwd(), self._folder / FOLDER)
        for change, tests, code, by in self._fates(session, originals, reached):
            names = [test.name for test in tests]
            self._say(
                change=change, killed=code != 0, hung=code == TIMED_OUT, by=by, tests=names, early=change in at_import
            )
        return True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._failed.add(report.nodeid)

    def _say(self, **said: object) -> None:
        with (self._folder / "said.jsonl").open("a", encoding="utf-8") as told:
            told.write(json.dumps(said) + "\n")

    def _reached(self, items: Sequence[pytest.Item], early: Collection[int]) -> dict[int, tuple[Asked, ...]]:
        """Tests that run the place of each change without failing, in the order to ask them.

        What has run before the first test may be kept since: about such a place those of the whole file are asked.
        """
        files: dict[str, list[pytest.Item]] = defaultdict(list)
        for item in items:
            files[item.nodeid.split("::")[0]].append(item)
        parts = list(files.values())
        jobs = deque(Job(number, self._noting(number, part), FILE_SECONDS) for number, part in enumerate(parts))
        found: dict[int, list[Asked]] = defaultdict(list)
        failed: list[str] = []
        for job, code in done(jobs, self._workers):
            noted = self._folder / f"noted-{job.number}.json"
            if code or not noted.exists():
                failed.append(f"all of {parts[job.number][0].nodeid.split('::')[0]} (exit code {code})")
                continue
            for item, (seconds, fails, changes) in zip(parts[job.number], json.loads(noted.read_text()), strict=True):
                if fails:
                    failed.append(item.nodeid)
                asked = Asked(item, seconds, len(changes))
                for change in () if fails else changes:
                    found[change].append(asked)
        self._say(failed=failed)
        of_file: dict[str, dict[str, Asked]] = defaultdict(dict)
        for change, tests in found.items():
            of_file[self._places[change][0]] |= {test.name: test for test in tests}
        for change in early:
            found[change] = [*of_file[self._places[change][0]].values()]
        return defaultdict(tuple, {change: ranked(tests) for change, tests in found.items()})

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

    def _fates(
        self, session: pytest.Session, originals: Originals, reached: dict[int, tuple[Asked, ...]]
    ) -> Iterator[tuple[int, tuple[Asked, ...], int, str | None]]:
        """Each change, the tests that were asked, 0 if none noticed it or else an exit code, and the test that noticed.

        A test that fails in the same place of the same course without the change has noticed nothing: the others are
        asked again without it.
        """
        courses: list[Course] = []
        jobs: deque[Job] = deque()
        failing: dict[int, tuple[Course, int]] = {}

        def begin(change: int, tests: tuple[Asked, ...]) -> Course:
            courses.append(Course(change, tests, len(courses)))
            return courses[-1]

        for change, tests in sorted(reached.items()):
            if tests:
                jobs.append(self._job(session, originals, begin(change, tests)))
        for job, code in done(jobs, self._workers):
            course = courses[job.number]
            if course.change == _NONE:
                noticing, code_then = failing.pop(job.number)
                if not code:
                    by = course.tests[-1].name
                    self._noticed.count(*self._places[noticing.change], by)
                    yield noticing.change, self._begun(noticing), code_then, by
                    continue
                culprit = self._begun(course)[-1]
                self._say(failed=[culprit.name])
                if others := tuple(test for test in noticing.tests if test is not culprit):
                    jobs.append(self._job(session, originals, begin(noticing.change, others)))
                else:
                    yield noticing.change, (), 0, None
            elif code:
                control = begin(_NONE, self._begun(course))
                failing[control.number] = course, code
                jobs.appendleft(self._job(session, originals, control))
            else:
                yield course.change, self._begun(course), 0, None

    def _job(self, session: pytest.Session, originals: Originals, course: Course) -> Job:
        def work() -> int:
            tests = course.tests
            if course.change != _NONE:
                originals.change(*self._places[course.change])
                tests = self._asked(course)
            SWITCH.on = course.change
            os.environ[ON] = str(course.change)
            places = {test: place for place, test in enumerate(course.tests)}
            following = [*(test.item for test in tests[1:]), None]
            for test, then in zip(tests, following, strict=True):
                with self._file(course).open("a") as begun:
                    begun.write(f"{places[test]}\n")
                may_compute(5 + 10 * test.seconds)
                self._run(test.item, then)
                if self._failed:
                    may_compute(60)
                    session._setupstate.teardown_exact(None)  # what the tests left set up
                    return 1
            return 0

        longest = max(test.seconds for test in course.tests)
        return Job(course.number, work, 600 + 60 * (self._most + longest))

    def _asked(self, course: Course) -> tuple[Asked, ...]:
        """Tests of so many CPU seconds: for half of them those that noticed other changes, then those that rank first."""
        place = self._places[course.change]
        half = self._most / 2
        quick = [test for test in course.tests if test.seconds <= half]
        likely = tuple(within(self._noticed.likely(*place, quick), half))
        others = (test for test in course.tests if test not in likely)
        return self._noticed.in_order(*place, within((*likely, *others), self._most))

    def _file(self, course: Course) -> Path:
        return self._folder / f"course-{course.number}"

    def _begun(self, course: Course) -> tuple[Asked, ...]:
        """The tests of a course that have begun, in the order in which they did."""
        return tuple(course.tests[int(place)] for place in self._file(course).read_text().split())

    def _run(self, item: pytest.Item, following: pytest.Item | None) -> None:
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)


def ranked(tests: Iterable[Asked]) -> tuple[Asked, ...]:
    """Tests in the order to ask them.

    First come tests that are quick and run few of the changed places: such a test is about this place, where one that
    runs most of them looks at something else. The n-th of a file counts as n times as costly, so that other files get
    their turn.
    """
    asked: Counter[str] = Counter()
    found = []
    for test in sorted(tests, key=lambda test: (_cost(test), test.name)):
        asked[test.file] += 1
        found.append((_cost(test) * asked[test.file], test.name, test))
    return tuple(test for _, _, test in sorted(found, key=lambda one: one[:2]))


def within(tests: Iterable[Asked], most: float) -> Iterator[Asked]:
    """The first tests, until they take so many CPU seconds; one in any case."""
    total = 0.0
    for test in tests:
        if total and total + test.seconds > most:
            return
        total += test.seconds
        yield test


def _cost(test: Asked) -> float:
    return (0.05 + test.seconds) * test.places


def pytest_configure(config: pytest.Config) -> None:
    asked = json.loads(Path(os.environ["MUTANTS"]).read_text())
    session = Session(Path(asked["folder"]), asked["places"], asked["workers"], asked["most"])
    config.pluginmanager.register(session, "mutants")
