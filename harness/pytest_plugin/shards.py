"""`--shard i/n`: this run's part of the tests, cut so that all parts take about as long by the durations of an earlier run."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from math import inf
from pathlib import Path

import pytest

from atomicfiles.inputs import read_input
from harness.outputs import misplaced, write_text
from harness.pytest_plugin.option_group import OptionGroup

__all__ = [
    "Durations",
    "Shard",
    "add_shard_options",
    "assigned",
    "check_shard_options",
    "parse_shard",
    "read_durations",
    "select_shard",
]

_UNKNOWN = 1.0
"""Seconds that a test counts for which nobody has timed."""

Shard = tuple[int, int]


def add_shard_options(group: OptionGroup) -> None:
    """Declare the options."""
    group.addoption("--shard", metavar="I/N", help="run only part I of N, balanced by --shard-durations")
    group.addoption(
        "--shard-durations",
        metavar="FILE",
        help="JSON of seconds by test id, as a run writes it with --write-durations: the same for all parts; without it all "
        "tests count alike",
    )
    group.addoption("--write-durations", metavar="FILE", help="write the seconds of each test, for --shard-durations")


def parse_shard(text: str) -> Shard:
    """`2/5` as numbers; a usage error for anything else."""
    found = re.fullmatch(r"([0-9]{1,9})/([0-9]{1,9})", text)
    if found is None or not 1 <= int(found[1]) <= int(found[2]):
        raise pytest.UsageError(f"--shard: {text!r} is not I/N with 1 <= I <= N")
    return int(found[1]), int(found[2])


def assigned(ids: Iterable[str], durations: Mapping[str, float], count: int) -> dict[str, int]:
    """The part, from 1, of each test: the longest first, each to the part that has least so far. The same for every caller."""
    loads = [0.0] * count
    parts: dict[str, int] = {}
    for each in sorted(ids, key=lambda each: (-durations.get(each, _UNKNOWN), each)):
        index = loads.index(min(loads))
        loads[index] += durations.get(each, _UNKNOWN)
        parts[each] = index + 1
    return parts


def read_durations(file: Path) -> dict[str, float]:
    """The seconds by test id that a run wrote; a usage error for a file that is not one of these."""
    try:
        found = json.loads(read_input(file))
    except OSError as error:
        raise pytest.UsageError(f"--shard-durations: {file}: {error.strerror}") from None
    except ValueError as error:
        raise pytest.UsageError(f"--shard-durations: {file}: not JSON: {error}") from None
    if not isinstance(found, dict):
        raise pytest.UsageError(f"--shard-durations: {file}: an object of seconds by test id is expected")
    for name, seconds in found.items():
        if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 <= seconds < inf:
            raise pytest.UsageError(f"--shard-durations: {file}: {name}: {json.dumps(seconds)} are no seconds")
    return found


def check_shard_options(config: pytest.Config) -> None:
    """A usage error where `--shard` names no part, where durations cannot be read, or not be written afterwards."""
    if config.getoption("scenarios_shard"):
        parse_shard(config.getoption("scenarios_shard"))
    if config.getoption("scenarios_shard_durations"):
        read_durations(Path(config.getoption("scenarios_shard_durations")))
    written = config.getoption("scenarios_write_durations")
    if written:
        named = (argument.partition("::")[0] for argument in config.args)
        read = [config.invocation_params.dir / name for name in named]
        durations = config.getoption("scenarios_shard_durations")
        if durations and config.getoption("scenarios_shard"):  # a part knows the seconds of its own tests only
            read.append(Path(durations))
        if what := misplaced(Path(written), read):
            raise pytest.UsageError(f"--write-durations: {written}: {what}")


def select_shard(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave in `items` what belongs to this run's part."""
    text = config.getoption("scenarios_shard")
    if not text:
        return
    number, count = parse_shard(text)
    file = config.getoption("scenarios_shard_durations")
    durations = read_durations(Path(file)) if file else {}
    parts = assigned([item.nodeid for item in items], durations, count)
    others = [item for item in items if parts[item.nodeid] != number]
    items[:] = [item for item in items if parts[item.nodeid] == number]
    config.hook.pytest_deselected(items=others)


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
