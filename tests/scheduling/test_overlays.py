"""NodeOverlays: what they make of instance types, and which are refused; tests/conformance asks the real code about whole clusters."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest

from harness.conformance.ops.catalog import instance_types
from harness.engine.clock import Clock
from harness.engine.engine import Wait
from harness.engine.ports import Change, ChangeType
from harness.karpenter.labels.core import CAPACITY_OVERLAID, PRICE_OVERLAID
from harness.karpenter.overlays.applied import AppliedOverlays
from harness.karpenter.overlays.controller import NodeOverlays
from harness.karpenter.overlays.evaluation import Evaluation, Verdict, adjusted_price, evaluate
from harness.karpenter.releases import provider
from harness.testing import nodeclass, nodepool
from harness.world import World
from tests.scheduling import workload

RELEASE, BEFORE = provider("1.14.0"), provider("1.7.2")
SIZE, ZONE, CAPACITY_TYPE = (
    "node.kubernetes.io/instance-type",
    "topology.kubernetes.io/zone",
    "karpenter.sh/capacity-type",
)
POOL = {"metadata": {"name": "default"}, "spec": {"template": {"metadata": {"labels": {"team": "red"}}}}}
CONFLICT = Verdict("Conflict", "conflict with another overlay")


def size(name: str) -> dict[str, Any]:
    def only(key: str, *values: str) -> dict[str, Any]:
        return {"key": key, "operator": "In", "values": list(values)}

    return {
        "name": name,
        "requirements": [only(SIZE, name), only(ZONE, "1", "2"), only(CAPACITY_TYPE, "spot", "on-demand")],
        "capacity": {"cpu": "2", "memory": "8Gi", "pods": "110"},
        "overhead": {},
        "offerings": [
            {"requirements": [only(CAPACITY_TYPE, kind), only(ZONE, zone)], "price": price, "available": zone == "1"}
            for zone in ("1", "2")
            for kind, price in (("spot", 0.1), ("on-demand", 0.4))
        ],
    }


TYPES = instance_types([size("A"), size("B")], RELEASE.vocabulary)


def overlay(name: str, *requirements: tuple[str, str], **spec: Any) -> dict[str, Any]:
    wanted = [{"key": key, "operator": "In", "values": [value]} for key, value in requirements]
    return {"metadata": {"name": name}, "spec": {"requirements": wanted, **spec}}


def evaluated(*overlays: dict[str, Any], release: Any = RELEASE) -> Evaluation:
    return evaluate(overlays, [POOL], {"default": TYPES}, release)


def prices(found: Evaluation) -> dict[str, list[float]]:
    return {each.name: [one.price for one in each.offerings] for each in found.apply("default", TYPES)}


@pytest.mark.parametrize(
    ("change", "price"),
    [("0.5", 0.5), ("+0.1", 0.5), ("-0.1", 0.4 - 0.1), ("-9", 0.0), ("+50%", 0.4 * 1.5), ("-100%", 0.0), ("", 0.4)],
)
def test_a_price_with_a_change(change: str, price: float) -> None:
    assert adjusted_price(0.4, change) == price


@pytest.mark.parametrize(("change", "unpriced"), [("0.5", False), ("+0.1", True), ("-50%", True), ("", True)])
def test_only_an_amount_gives_a_size_a_price_that_had_none(change: str, unpriced: bool) -> None:
    """An amount replaces the figure that stands for an unknown price; what is added to or taken from that figure is no price."""
    types = [replace(each, offerings=tuple(replace(one, unpriced=True) for one in each.offerings)) for each in TYPES]
    found = evaluate([overlay("a", (SIZE, "A"), price=change)], [POOL], {"default": types}, RELEASE)
    assert {each.name: {one.unpriced for one in each.offerings} for each in found.apply("default", types)} == {
        "A": {unpriced},
        "B": {True},
    }


def test_offerings_are_chosen_one_by_one() -> None:
    found = evaluated(overlay("a", (SIZE, "A"), (CAPACITY_TYPE, "spot"), (ZONE, "2"), price="0.3"))
    assert prices(found) == {"A": [0.1, 0.4, 0.3, 0.4], "B": [0.1, 0.4, 0.1, 0.4]}
    changed, same = found.apply("default", TYPES)
    assert [one.price_overlaid for one in changed.offerings] == [False, False, True, False]
    assert same is TYPES[1]


def test_labels_of_the_nodepool_count_and_its_requirements_do_not() -> None:
    assert prices(evaluated(overlay("a", ("team", "red"), price="1")))["A"] == [1.0] * 4
    assert prices(evaluated(overlay("a", ("team", "blue"), price="1")))["A"] == [0.1, 0.4, 0.1, 0.4]
    assert prices(evaluated(overlay("a", ("karpenter.sh/nodepool", "default"), price="1")))["A"] == [1.0] * 4


def test_the_heavier_overlay_counts_and_of_equal_ones_the_last_by_name() -> None:
    heavy = evaluated(overlay("a", price="1", weight=2), overlay("b", price="2", weight=1))
    assert prices(heavy)["A"] == [1.0] * 4
    assert set(heavy.verdicts.values()) == {Verdict()}
    equal = evaluated(overlay("a", price="1"), overlay("b", (SIZE, "A"), price="2"))
    assert equal.verdicts == {"b": Verdict(), "a": CONFLICT}
    assert prices(equal)["B"] == [0.1, 0.4, 0.1, 0.4]


def test_capacity_is_added_and_the_heaviest_overlay_names_the_amount_since_1_10() -> None:
    overlays = (
        overlay("a", capacity={"example.com/device": "1"}, weight=2),
        overlay("b", capacity={"example.com/device": "4", "example.com/other": "1"}, weight=1),
    )
    new = evaluated(*overlays).apply("default", TYPES)[0]
    assert new.capacity_overlaid
    assert {name: str(new.allocatable[name]) for name in ("cpu", "example.com/device", "example.com/other")} == {
        "cpu": "2",
        "example.com/device": "1",
        "example.com/other": "1",
    }
    old = evaluated(*overlays, release=BEFORE).apply("default", TYPES)[0]
    assert str(old.capacity["example.com/device"]) == "4"


@pytest.mark.parametrize(
    ("size", "left"), [("A", {PRICE_OVERLAID, CAPACITY_OVERLAID}), ("B", {CAPACITY_OVERLAID}), ("C", set())]
)
def test_a_nodeclaim_says_what_overlays_did_to_the_sizes_that_it_names(size: str, left: set[str]) -> None:
    """Core ``scheduling/nodeclaimtemplate.go`` ToNodeClaim."""
    small = workload.size("A", 2)
    types = [
        replace(
            small, offerings=tuple(replace(one, price_overlaid=True) for one in small.offerings), capacity_overlaid=True
        ),
        replace(workload.size("B", 2), capacity_overlaid=True),
        workload.size("C", 2),
    ]
    (planned,) = workload.run([workload.pod("p", nodeSelector={SIZE: size})], types=types).nodeclaims
    annotations = planned.to_nodeclaim()["metadata"]["annotations"]
    assert annotations.keys() & {PRICE_OVERLAID, CAPACITY_OVERLAID} == left
    assert {annotations[name] for name in left} <= {"true"}


def test_what_no_overlay_may_say() -> None:
    found = evaluated(
        overlay("a", ("kubernetes.azure.com/sku", "x"), ("karpenter.sh/own", "x"), price="1"),
        overlay("b", capacity={"memory": "1Gi"}),
    )
    assert {name: each.reason for name, each in found.verdicts.items()} == dict.fromkeys("ab", "RuntimeValidation")
    assert found.verdicts["b"].message == "invalid capacity: memory in resource, restricted"
    assert found.verdicts["a"].message.endswith(" in requirements, restricted")
    assert found.apply("default", TYPES) is TYPES


def test_lists_keep_their_identity_and_nodepools_that_were_not_looked_at_have_none() -> None:
    found = evaluated(overlay("a", price="1"))
    assert found.apply("default", TYPES) is found.apply("default", TYPES)
    with pytest.raises(KeyError):
        found.apply("other", TYPES)


def test_what_fails_is_tried_again_after_twice_as_long_and_a_minute_at_most() -> None:
    """Core pkg/controllers/nodeoverlay/controller.go with the rate limiter of awslabs/operatorpkg reasonable: 100 ms to a minute."""
    world = World(karpenter="1.10.2", options={"feature_gates": {"NodeOverlay": "true"}})
    world.apply(nodepool(nodeclass="none"))
    world.advance(400)

    def failed() -> list[float]:
        return [line.at for line in world.log if line.controller == "nodeoverlay"]

    first = failed()
    assert [round(later - earlier, 6) for earlier, later in pairwise(first)] == [
        *(0.1 * 2**number for number in range(10)),
        *[60.0] * 4,
    ]
    world.apply(nodeclass("none"))
    world.advance(60)
    world.delete("AKSNodeClass", "none")  # after a success the first wait is the shortest again
    world.advance(2)
    again = failed()[len(first) :]
    assert [round(at - again[0], 6) for at in again] == first[:5]


@pytest.mark.parametrize("kind", ["NodeOverlay", "NodePool", "AKSNodeClass"])
@pytest.mark.parametrize(
    ("type", "before", "after", "wakes"),
    [
        (ChangeType.ADDED, None, 1, True),
        (ChangeType.MODIFIED, 1, 1, False),
        (ChangeType.MODIFIED, 1, 2, True),
        (ChangeType.DELETED, 1, 1, True),
    ],
)
def test_overlays_are_evaluated_when_a_spec_has_changed(
    kind: str, type: ChangeType, before: int | None, after: int, wakes: bool
) -> None:
    """Core pkg/controllers/nodeoverlay/controller.go, Register (GenerationChangedPredicate)."""
    controller = controlling()
    old = None if before is None else {"metadata": {"name": "a", "generation": before}}
    keys = list(controller.watches()[kind](Change(type, {"metadata": {"name": "a", "generation": after}}, old, 1)))
    assert len(keys) == wakes


def controlling(*overlays: dict[str, Any], types: Any = None, release: Any = RELEASE) -> NodeOverlays:
    """The controller over some overlays and the NodePool; ``types`` raises LookupError or returns instance types."""
    clock = Clock()
    objects = {"NodeOverlay": list(overlays), "NodePool": [POOL]}
    written: list[Any] = []
    view = SimpleNamespace(list=lambda kind: objects[kind])
    writer = SimpleNamespace(patch=lambda *said, **more: written.append((*said, more)))
    sink = SimpleNamespace(log=lambda *said, **more: None)
    access: Any = SimpleNamespace(view=view, writer=writer, sink=sink, clock=clock)
    made = NodeOverlays(access, release, types or (lambda pool: TYPES), AppliedOverlays(), lambda: written.append(None))
    made.written = written  # type: ignore[attr-defined]
    return made


def test_every_six_hours_they_are_evaluated_whatever_happens() -> None:
    result = controlling().reconcile("overlays")
    assert (result.after, result.wait) == (6 * 3600.0, Wait.ALARM)


def test_a_verdict_is_written_once() -> None:
    told = overlay("a", price="1")
    controller: Any = controlling(told)
    controller.reconcile("overlays")
    (kind, name, patch, more), evaluated = controller.written
    assert (kind, name, more, evaluated) == ("NodeOverlay", "a", {"subresource": "status"}, None)
    conditions = patch["status"]["conditions"]
    assert {each["type"]: each["status"] for each in conditions} == {"ValidationSucceeded": "True", "Ready": "True"}
    told["status"] = patch["status"]
    controller.written.clear()
    controller.reconcile("overlays")
    assert controller.written == [None]
