"""The tests of a run: `--only-release`, `--sample` and `--shard` select them, xdist groups them for its workers.

`--only-release` leaves the cases about a release, so that a matrix of runs can divide a corpus that names its own releases. `--sample N`
draws a few cases of each release line by a seed, so that a slow cluster sees every line within minutes. `--shard i/n` cuts the tests so
that all parts take about as long by the durations of an earlier run. A worker's cluster has the CRDs of one release at a time and keeps
the machines of earlier cases, so that mixing releases costs time: groups of one release and provision mode are made by the hook that
pytest-xdist offers for this; its `xdist_group` loses its marks under pytest 9.2.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from hashlib import sha256
from math import inf
from pathlib import Path
from typing import Any

import pytest

from atomicfiles.inputs import read_input
from harness.outputs import misplaced, write_text
from harness.pytest_plugin.options import only_releases, release_override
from harness.pytest_plugin.session import runner_of

__all__ = [
    "Durations",
    "Groups",
    "Shard",
    "assigned",
    "check_shard_options",
    "parse_shard",
    "read_durations",
    "sampled",
    "scheduling",
    "select_releases",
    "select_sample",
    "select_shard",
]

_UNKNOWN = 1.0
"""Seconds that an untimed test counts."""

Shard = tuple[int, int]


def select_releases(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave in `items` the cases of these releases, and tests that are no cases. A case without a release is about the newest default."""
    wanted = only_releases(config)
    if wanted is None:
        return
    from harness.karpenter.releases import base_of

    shared = runner_of(config).shared

    def stays(item: pytest.Item) -> bool:
        case = getattr(item, "case", None)
        return case is None or base_of(shared.idle_world(case).release) in wanted

    _select(config, items, stays)


def _select(config: pytest.Config, items: list[pytest.Item], stays: Callable[[pytest.Item], bool]) -> None:
    """Leave in `items` those that stay, and report the others as deselected."""
    selected: list[pytest.Item] = []
    others: list[pytest.Item] = []
    for item in items:
        (selected if stays(item) else others).append(item)
    items[:] = selected
    config.hook.pytest_deselected(items=others)


def sampled(lines: Mapping[str, str], count: int, seed: int) -> frozenset[str]:
    """Return the drawn test ids: `count` of each line, or all where there are fewer. `lines` has the line of each id.

    The same for the same ids and seed, in whatever order they come.
    """
    drawn: set[str] = set()
    for line in sorted(set(lines.values())):
        ids = [nodeid for nodeid, of in lines.items() if of == line]
        drawn.update(sorted(ids, key=lambda nodeid: sha256(f"{seed} {nodeid}".encode()).digest())[:count])
    return frozenset(drawn)


def select_sample(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave in `items` the drawn cases; tests that are no cases of a release go."""
    drawn = sampled(
        _lines(config, items), config.getoption("scenarios_sample"), config.getoption("scenarios_sample_seed")
    )
    _select(config, items, lambda item: item.nodeid in drawn)


def _lines(config: pytest.Config, items: Iterable[pytest.Item]) -> dict[str, str]:
    from harness.karpenter.releases import base_of
    from harness.karpenter.releases.order import line_of

    shared = runner_of(config).shared
    cases = ((item.nodeid, getattr(item, "case", None)) for item in items)
    return {nodeid: line_of(base_of(shared.idle_world(case).release)) for nodeid, case in cases if case is not None}


def parse_shard(text: str) -> Shard:
    """Return `2/5` as numbers; a usage error for anything else."""
    match_ = re.fullmatch(r"([0-9]{1,9})/([0-9]{1,9})", text)
    if match_ is None or not 1 <= int(match_[1]) <= int(match_[2]):
        raise pytest.UsageError(f"--shard: {text!r} is not I/N with 1 <= I <= N")
    return int(match_[1]), int(match_[2])


def assigned(ids: Iterable[str], durations: Mapping[str, float], count: int) -> dict[str, int]:
    """Return the part, from 1, of each test: the longest first, each to the part with the least so far. The same for every caller."""
    loads = [0.0] * count
    parts: dict[str, int] = {}
    for nodeid in sorted(ids, key=lambda nodeid: (-durations.get(nodeid, _UNKNOWN), nodeid)):
        index = loads.index(min(loads))
        loads[index] += durations.get(nodeid, _UNKNOWN)
        parts[nodeid] = index + 1
    return parts


def read_durations(file: Path) -> dict[str, float]:
    """Return the seconds by test id that a run wrote; a usage error for another file."""
    try:
        durations = json.loads(read_input(file))
    except OSError as error:
        raise pytest.UsageError(f"--shard-durations: {file}: {error.strerror}") from None
    except ValueError as error:
        raise pytest.UsageError(f"--shard-durations: {file}: not JSON: {error}") from None
    if not isinstance(durations, dict):
        raise pytest.UsageError(f"--shard-durations: {file}: an object of seconds by test id is expected")
    for name, seconds in durations.items():
        if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 <= seconds < inf:
            raise pytest.UsageError(f"--shard-durations: {file}: {name}: {json.dumps(seconds)} are no seconds")
    return durations


def check_shard_options(config: pytest.Config) -> None:
    """Raise a usage error for a `--shard` that is no part, and for durations that cannot be read or written."""
    if config.getoption("scenarios_shard"):
        parse_shard(config.getoption("scenarios_shard"))
    if config.getoption("scenarios_shard_durations"):
        read_durations(Path(config.getoption("scenarios_shard_durations")))
    written = config.getoption("scenarios_write_durations")
    if written:
        named = (argument.partition("::")[0] for argument in config.args)
        read = [config.invocation_params.dir / name for name in named]
        durations = config.getoption("scenarios_shard_durations")
        if durations and config.getoption("scenarios_shard"):  # a part has the seconds of its own tests only
            read.append(Path(durations))
        if misplacement := misplaced(Path(written), read):
            raise pytest.UsageError(f"--write-durations: {written}: {misplacement}")


def select_shard(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave in `items` the tests of this run's part."""
    text = config.getoption("scenarios_shard")
    if not text:
        return
    number, count = parse_shard(text)
    file = config.getoption("scenarios_shard_durations")
    durations = read_durations(Path(file)) if file else {}
    parts = assigned([item.nodeid for item in items], durations, count)
    _select(config, items, lambda item: parts[item.nodeid] == number)


class Durations:
    """Writes the seconds of each test at the end of the run."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._seconds: dict[str, float] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add up set-up, call and tear-down."""
        self._seconds[report.nodeid] = self._seconds.get(report.nodeid, 0.0) + report.duration

    def pytest_sessionfinish(self) -> None:
        """Write the file."""
        rounded = {name: round(seconds, 3) for name, seconds in sorted(self._seconds.items())}
        write_text(self._file, json.dumps(rounded, indent=0) + "\n")


class Groups:
    """The groups of test ids. A test that is no case of a scenario file is grouped by its file."""

    def __init__(self, root: Path, release: str | None = None) -> None:
        """`release` replaces that of all cases; then files are groups, or one worker would get everything."""
        self._root = root
        self._release = release
        self._files: dict[str, Mapping[str, str]] = {}

    def group_of(self, nodeid: str) -> str:
        """Return the group of a test."""
        file, _, name = nodeid.partition("::")
        if self._release is not None:
            return file
        if file not in self._files:
            self._files[file] = self._groups(file)
        return self._files[file].get(name, file)

    def _groups(self, file: str) -> Mapping[str, str]:
        from harness.karpenter.releases import DEFAULT_RELEASE
        from harness.reading.problems import ScenarioError
        from harness.scenario.language.files import load

        if not file.endswith((".yaml", ".yml")):
            return {}
        try:
            cases = [case for scenario in load(self._root / file, file) for case in scenario.cases]
        except (ScenarioError, OSError):
            return {}
        return {
            case.name: f"{(case.given.karpenter or DEFAULT_RELEASE).removeprefix('v')} {case.given.provision_mode or ''}".strip()
            for case in cases
        }


def scheduling(config: pytest.Config, log: Any) -> Any:
    """Return pytest-xdist's scheduler of whole groups, with these groups."""
    from xdist.scheduler import LoadScopeScheduling

    groups = Groups(config.rootpath, release_override(config))

    class GroupScheduling(LoadScopeScheduling):
        """Gives a worker one group after the other."""

        def _split_scope(self, nodeid: str) -> str:
            return groups.group_of(nodeid)

    return GroupScheduling(config, log)
