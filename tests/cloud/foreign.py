"""Snapshots of a foreign hand: a world with a resource of every type is saved, one value of it is changed, and either the
restore is refused in a line, or all that is served is asked of the world that comes of it.

`python -m tests.cloud.foreign --changes 40000 --seed 1` (part of `make fuzz`) tries as many; test_foreign_snapshots.py a few.
"""

from __future__ import annotations

import argparse
import copy
import gzip
import json
import random
from collections.abc import Iterator
from functools import cache
from typing import Any

from fakeazure.arm.messages import Response
from fakeazure.cloud import FakeAzure
from tests.cloud.driver import Driver
from tests.cloud.exchanges import AREAS, made
from tests.transports.wellformed import Ask, corpus, places

ABSENT = object()
VALUES: tuple[Any, ...] = (
    ABSENT, None, True, 5, -1, 10**30, 0.5, "", "x", "/", "10.0.0.0/99", "/subscriptions/x/providers/y", [], {}, ["x"], [{}], [None], [[]],
    {"a": 1}, {"a": {"a": 1}}, {"a": None}, {"id": 5},
)  # fmt: skip
NOT_EMULATED = 501
_ENDINGS = ("delete", "deleteinstances", "deletemachines", "simulateeviction", "moveresources")


def ends(ask: Ask) -> bool:
    """Whether it takes something away."""
    return ask.method == "DELETE" or ask.path.lower().rpartition("/")[2] in _ENDINGS


def whole_world() -> Driver:
    """A cloud in which everything was made that any test of an area makes, and nothing was taken away."""
    driver = Driver(retry_after=7)
    driver.put_vm("own")
    driver.cloud.advance(700)
    for path in (driver.path("Microsoft.Compute/sshPublicKeys", "own"), f"{driver.vm_path('own')}/extensions/own"):
        assert driver.call("PUT", path, {"location": "eastus"}).status < 300
    for area in AREAS:
        for call in made(area).driver.cloud.journal:
            ask = Ask(call.method, call.path, call.query, json.loads(json.dumps(call.body, default=dict)))
            if ask.method not in ("GET", "HEAD") and not ends(ask):
                driver.cloud.request(ask.method, ask.path, query=ask.query, body=ask.body)
                driver.cloud.advance(700)
    return driver


Key = tuple[Any, ...]
_PARTS = ("fields", "store", "tables")


class Saved:
    """The world as it was saved, and the places in it."""

    def __init__(self, taken: bytes) -> None:
        self.document: Any = json.loads(gzip.decompress(taken))
        self.places = [path for part in _PARTS for path in places(self.document[part], (part,)) if len(path) > 1]

    def _at(self, path: Key) -> Any:
        holder = self.document
        for key in path:
            holder = holder[key]
        return holder

    def changed(self, place: Key, value: Any) -> bytes:
        """The file with another value at a place."""
        holder, kept = self._at(place[:-1]), copy.copy(self._at(place[:-1]))
        if value is ABSENT:
            del holder[place[-1]]
        else:
            holder[place[-1]] = value
        data = gzip.compress(json.dumps(self.document).encode(), 1)
        self._at(place[:-2])[place[-2]] = kept
        return data


@cache
def saved() -> Saved:
    """The whole world, once."""
    return Saved(whole_world().cloud.snapshot())


def broken(cloud: FakeAzure) -> Iterator[str]:
    """Ask everything of a cloud, let time pass, take everything away; yield what is no answer of ARM's."""
    first = [ask for ask in corpus() if ask.method in ("GET", "HEAD", "POST") and not ends(ask)]
    then = [ask for ask in corpus() if ask.method in ("PUT", "PATCH")]
    last = [ask for ask in corpus() if ends(ask)]
    for asks, seconds in ((first, 100.0), (then, 1000.0), (last, 10_000.0)):
        for ask in asks:
            try:
                answer: Response = cloud.request(ask.method, ask.path, query=ask.query, body=copy.deepcopy(ask.body))
            except Exception as error:
                yield f"{ask.method} {ask.path}: {error!r}"
                continue
            if answer.status >= 500 and answer.status != NOT_EMULATED:
                yield f"{ask.method} {ask.path}: {answer.status} {answer.error_message}"
        try:
            cloud.advance(seconds)
        except Exception as error:
            yield f"a timer raised {error!r}"
    try:
        cloud.snapshot()
    except ValueError as error:
        yield f"it cannot be saved any more: {error}"


def tried(place: Key, value: Any) -> tuple[bool, list[str]]:
    """Whether a changed file is restored, and what then is wrong."""
    driver = Driver(retry_after=7)
    try:
        driver.cloud.restore(saved().changed(place, value))
    except ValueError as refused:
        return False, [] if len(str(refused).splitlines()) == 1 else [f"refused in several lines: {refused}"]
    return True, list(broken(driver.cloud))


def drawn(seed: int, count: int) -> Iterator[tuple[Key, Any]]:
    """Places and values, the same for a seed each time."""
    chance = random.Random(seed)
    for _ in range(count):
        yield chance.choice(saved().places), chance.choice(VALUES)


def main() -> None:
    """Try changes, and say which did harm."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--changes", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    refused, harm = 0, 0
    for place, value in drawn(options.seed, options.changes):
        restored, wrong = tried(place, value)
        refused += not restored
        harm += bool(wrong)
        for line in wrong[:3]:
            print(f"{place} = {'(absent)' if value is ABSENT else json.dumps(value)}: {line}"[:400])
    print(f"{options.changes} snapshots of a foreign hand: {refused} refused, {harm} did harm")
    raise SystemExit(harm > 0)


if __name__ == "__main__":
    main()
