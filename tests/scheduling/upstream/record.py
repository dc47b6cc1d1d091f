"""``python -m tests.scheduling.upstream.record``: makes every trial with the real Go code and writes its answers.

Needs what tests/conformance needs to build an oracle. Fails when a case's expectation does not hold for the real code, or when this
project answers differently; what was recorded is written in either case.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.build import BuildError, build
from tests.conformance.compare import reply_differences
from tests.conformance.material import write_gzip
from tests.conformance.processes import Answerer
from tests.scheduling.upstream.asking import ASKER, RECORDED, RELEASE, Ours, digest
from tests.scheduling.upstream.cloud import CATALOGS

Json = dict[str, Any]


class Recorder:
    """Asks the oracle, keeps its replies, and counts where ours differ."""

    def __init__(self, oracle: Answerer) -> None:
        self._oracle = oracle
        self._ours = Ours()
        self.replies: dict[str, Json] = {}
        self.different: list[str] = []
        self.lines: list[str] = []
        oracle.prepare([{"op": "catalog", "name": name, "instance_types": make()} for name, make in CATALOGS.items()])

    def __call__(self, request: Json) -> Any:
        want = self._oracle.ask_one(request)
        self.replies[digest(request)] = want
        for found in reply_differences(request["op"], want, self._ours.reply(request))[:4]:
            self.different.append(f"{found.path}: real {found.want!r}, ours {found.got!r}")
        assert "answer" in want, want
        return want["answer"]

    # pytest's hooks
    def pytest_configure(self, config: pytest.Config) -> None:
        config.stash[ASKER] = self

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Any:
        before = len(self.different)
        try:
            return (yield)
        finally:
            for line in self.different[before:]:
                self.lines.append(f"DIFFERENT {item.nodeid.partition('::')[2]}: {line}"[:600])

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        for line in self.lines[:30]:
            terminalreporter.write_line(line)


def main() -> int:
    """Exit codes: 0 written and all is well, 1 written and something differs, 3 no Go or no sources."""
    try:
        oracle = build(RELEASE)
    except BuildError as error:
        print(f"record: {error}", file=sys.stderr)
        return 3
    with Answerer([str(oracle.path)]) as asked:
        recorder = Recorder(asked)
        folder = Path(__file__).resolve().parent
        failed = pytest.main([*(sys.argv[1:] or [str(folder)]), "-q", "-p", "no:cacheprovider"], plugins=[recorder])
    lines = [json.dumps({"asked": name, **reply}, separators=(",", ":")) for name, reply in recorder.replies.items()]
    if len(sys.argv) == 1:
        write_gzip(RECORDED, "".join(f"{line}\n" for line in sorted(lines)))
    print(f"{len(lines)} requests recorded, {len(recorder.different)} differences")
    return int(bool(failed or recorder.different))


if __name__ == "__main__":
    sys.exit(main())
