"""What an independent generator of cases found: each of its mismatches is a regression now, or has its reason here.

`found-by-others.jsonl`: a line for each, with the `regression` (file:line) that asks it, with the answer of an oracle whose own defects are
mended; or with the question, the answer that it was given, the paths of what `differs`, and why.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness import testing
from harness.world import World
from tests.conformance.compare import reply_differences
from tests.conformance.golden import REGRESSIONS
from tests.conformance.run import WITH_CATALOGS
from tests.conformance.test_golden import ask, context, context_with_catalogs

FOUND = [json.loads(line) for line in (Path(__file__).parent / "found-by-others.jsonl").read_text().splitlines()]


def _named(one: dict[str, Any]) -> str:
    return f"{one['release']}-{one['name']}"


def test_each_has_its_place() -> None:
    assert len(FOUND) == 39
    for one in FOUND:
        assert ("regression" in one) != ("why" in one), one["name"]


@pytest.mark.parametrize("one", [one for one in FOUND if "regression" in one], ids=_named)
def test_those_that_agree_are_regressions(one: dict[str, Any]) -> None:
    file, _, line = one["regression"].rpartition(":")
    asked = json.loads((REGRESSIONS / file).read_text().splitlines()[int(line) - 1])
    assert (asked["release"], asked["op"]) == (one["release"], one["op"])


@pytest.mark.parametrize("one", [one for one in FOUND if "input" in one], ids=_named)
def test_those_that_differ_do_so_where_it_is_said(one: dict[str, Any]) -> None:
    asked = (context_with_catalogs if one["op"] in WITH_CATALOGS else context)(one["release"])
    got = ask({**one["input"], "op": one["op"]}, asked)
    assert sorted({each.path for each in reply_differences(one["op"], one, got)}) == one["differs"]


def test_a_status_is_dropped_before_validation() -> None:
    """`create-with-status`: PrepareForCreate drops it, so that what is wrong with it is nobody's mistake."""
    world = World()
    assert world.apply({**testing.nodepool(), "status": {"resources": "many"}}) == []
    assert "resources" not in (world.list("NodePool")[0].get("status") or {})
