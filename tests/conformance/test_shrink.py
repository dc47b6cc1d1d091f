"""Mismatches are made small without losing their cause."""

from typing import Any

from tests.conformance.shrink import shrink, size


def test_only_what_matters_is_left() -> None:
    request = {
        "op": "schedule",
        "catalog": "small",
        "pods": [{"name": f"p{number}", "spec": {"cpu": number, "zone": "z"}} for number in range(40)],
        "nodepools": [{"name": "a"}, {"name": "b", "weight": 10}],
    }

    asked_times = 0

    def failing(asked: dict[str, Any]) -> bool:
        nonlocal asked_times
        asked_times += 1
        pods = any((pod.get("spec") or {}).get("cpu") == 17 for pod in asked.get("pods", ()))
        return pods and any("weight" in pool for pool in asked.get("nodepools", ()))

    small = shrink(request, failing)
    assert small == {
        "op": "schedule",
        "catalog": "small",
        "pods": [{"name": "p17", "spec": {"cpu": 17}}],
        "nodepools": [{"name": "b", "weight": 10}],
    }
    assert size(small) == 12
    assert asked_times < 60  # 40 pods are halved, not tried one by one


def test_parts_that_stand_in_for_each_other_are_not_both_left_out() -> None:
    small = shrink({"op": "x", "values": list(range(9))}, lambda asked: len(asked.get("values", ())) >= 2)
    assert len(small["values"]) == 2


def test_what_pins_a_launch_stays() -> None:
    requirements = [{"key": key, "values": ["v"]} for key in ("type", "zone", "capacity", "extra")]
    request = {"op": "labels", "location": "x", "nodeclaim": {"metadata": {}, "spec": {"requirements": requirements}}}
    small = shrink(request, lambda asked: True)
    assert small == {"op": "labels", "nodeclaim": {"spec": {"requirements": requirements[:3]}}}


def test_what_cannot_shrink_stays() -> None:
    request = {"op": "x", "values": [1]}
    assert shrink(request, lambda asked: False) == request
