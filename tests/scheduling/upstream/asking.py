"""Asking this project's answerer, and comparing each answer with the one recorded from the real Go code.

``python -m tests.scheduling.upstream.record`` (Go and KARPENTER_SOURCES needed) makes the same trials with the real code, so that what
the cases expect holds for it too, and writes its answers to recorded.jsonl.gz. Source of the cases: core v1.14.0.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import pytest

from harness.conformance import AnswerContext, DataFile, reply
from harness.karpenter.releases import provider
from tests.conformance.causes import short
from tests.conformance.compare import reply_differences
from tests.conformance.golden import GOLDEN
from tests.scheduling.upstream.cloud import CATALOGS

__all__ = ["ASKER", "RECORDED", "RELEASE", "Asker", "Ours", "asker", "digest", "ours", "skus"]

Json = dict[str, Any]

RELEASE = "1.14.0"
RECORDED = Path(__file__).resolve().with_name("recorded.jsonl.gz")
DATA = DataFile(GOLDEN / f"v{RELEASE}" / "data.json.gz")
ASKER = pytest.StashKey["Asker"]()


class Asker(Protocol):
    """Asks a request and returns the answer."""

    def __call__(self, request: Json) -> Any: ...


def digest(request: Json) -> str:
    """Names a request by its content."""
    return hashlib.sha256(json.dumps(request, sort_keys=True).encode()).hexdigest()[:24]


def skus(location: str) -> list[Json]:
    """The SKU records of a location of the provider's fake."""
    return list(DATA["locations"][location]["skus"])


def recorded() -> dict[str, Json]:
    """Replies of the real code by the request's digest."""
    with gzip.open(RECORDED, "rt") as file:
        lines = [json.loads(line) for line in file]
    return {line.pop("asked"): line for line in lines}


class Ours:
    """This project's answerer, with the catalogs that requests name."""

    def __init__(self, release: str = RELEASE) -> None:
        self._context = AnswerContext(provider(release), DataFile(GOLDEN / f"v{release}" / "data.json.gz"))
        for name, make in CATALOGS.items():
            self.reply({"op": "catalog", "name": name, "instance_types": make()})

    def reply(self, request: Json) -> Json:
        """The reply as it comes over the wire."""
        found: Json = json.loads(json.dumps(reply(json.dumps(request).encode(), self._context)))
        found.pop("id", None)
        return found


class Checked:
    """Our answer, provided that it is the real one."""

    def __init__(self) -> None:
        self._ours = Ours()
        self._real = recorded()

    def __call__(self, request: Json) -> Any:
        want = self._real.get(digest(request))
        assert want is not None, f"not recorded from the real code: run python -m {__package__}.record"
        got = self._ours.reply(request)
        found = reply_differences(request["op"], want, got)
        assert not found, "; ".join(
            f"{each.path}: real {short(each.want)}, ours {short(each.got)}" for each in found[:4]
        )
        return got["answer"]


@cache
def ours() -> Checked:
    """The one that tests ask: catalogs are registered once."""
    return Checked()


def asker(config: pytest.Config) -> Asker:
    """The recording one while recording, else ours."""
    return config.stash.get(ASKER, None) or ours()
