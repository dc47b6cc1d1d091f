"""Mismatches are made small without losing their cause."""

from collections.abc import Sequence
from typing import Any

from tests.conformance.shrink import shrink, size


def test_only_what_matters_is_left() -> None:
    request = {
        "op": "schedule",
        "catalog": "small",
        "pods": [{"name": f"p{number}", "spec": {"cpu": number, "zone": "z"}} for number in range(40)],
        "nodepools": [{"name": "a"}, {"name": "b", "weight": 10}],
    }

    def failing(requests: Sequence[dict[str, Any]]) -> list[bool]:
        def holds(asked: dict[str, Any]) -> bool:
            pods = any((pod.get("spec") or {}).get("cpu") == 17 for pod in asked.get("pods", ()))
            return pods and any("weight" in pool for pool in asked.get("nodepools", ()))

        return [holds(asked) for asked in requests]

    small = shrink(request, failing)
    assert small == {
        "op": "schedule",
        "catalog": "small",
        "pods": [{"spec": {"cpu": 17}}],
        "nodepools": [{"weight": 10}],
    }
    assert size(small) == 10


def test_parts_that_stand_in_for_each_other_are_not_both_left_out() -> None:
    def failing(requests: Sequence[dict[str, Any]]) -> list[bool]:
        return [len(asked.get("values", ())) >= 2 for asked in requests]

    assert len(shrink({"op": "x", "values": list(range(9))}, failing)["values"]) == 2


def test_what_cannot_shrink_stays() -> None:
    request = {"op": "x", "values": [1]}
    assert shrink(request, lambda requests: [False] * len(requests)) == request
