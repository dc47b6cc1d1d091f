"""``python -m tests.scheduling.upstream.releases [RELEASE ...]``: asks the requests of all trials of other releases too, of both sides.

What the cases expect is core 1.14's; other releases only have to be answered as their real code does. Without names: every release
that there are sources of. Needs what tests/conformance needs to build an oracle.
"""

from __future__ import annotations

import copy
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.build import BUILDABLE, BuildError, Oracle, build, find_source
from tests.conformance.causes import short
from tests.conformance.compare import reply_differences
from tests.conformance.processes import Answerer
from tests.conformance.run import with_variants
from tests.scheduling.upstream.asking import ASKER, Ours, digest
from tests.scheduling.upstream.cloud import CATALOGS

Json = dict[str, Any]


class Collector:
    """Answers with our code, and keeps the requests with the test that asked first."""

    def __init__(self) -> None:
        self._ours = Ours()
        self._test = ""
        self.requests: dict[str, tuple[str, Json]] = {}

    def __call__(self, request: Json) -> Any:
        self.requests.setdefault(digest(request), (self._test, copy.deepcopy(request)))
        return self._ours.reply(request)["answer"]

    def pytest_configure(self, config: pytest.Config) -> None:
        config.stash[ASKER] = self

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        self._test = item.nodeid.partition("::")[2]


def differences(oracle: Oracle, requests: list[tuple[str, Json]]) -> list[str]:
    """A line for each request that the oracle answers differently, also when asked what Go's map order could have made of it."""
    ours = Ours(oracle.release)
    found = []
    with Answerer([str(oracle.path)]) as asked:
        asked.prepare([{"op": "catalog", "name": name, "instance_types": make()} for name, make in CATALOGS.items()])
        replies = asked.ask([request for _, request in requests]).replies
        for (test, request), want in zip(requests, replies, strict=True):
            got = ours.reply(request)
            if not reply_differences(request["op"], want, got):
                continue
            differs = reply_differences(request["op"], asked.ask_one(with_variants(request)), got)
            found += [f"{test}: {one.path}: real {short(one.want)}, ours {short(one.got)}" for one in differs[:1]]
    return found


def main(arguments: list[str]) -> int:
    """Exit codes: 0 identical, 1 something differs or a trial failed, 3 no Go or no sources."""
    collector = Collector()
    folder = str(Path(__file__).resolve().parent)
    if pytest.main([folder, "-q", "-p", "no:cacheprovider"], plugins=[collector]):
        return 1
    requests = list(collector.requests.values())
    different = False
    try:
        for release in arguments or [each for each in BUILDABLE if find_source(each)]:
            found = differences(build(release), requests)
            different = different or bool(found)
            print("\n  ".join([f"{release}: {len(requests) - len(found)}/{len(requests)} identical", *found[:20]]))
    except BuildError as error:
        print(f"releases: {error}", file=sys.stderr)
        return 3
    return int(different)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
