"""The funnel says of each size which filter takes it away, and names what is really against it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from harness.karpenter.cloudprovider import InstanceType
from harness.karpenter.requirements import Requirements
from harness.karpenter.scheduling.reasons.funnel import FILTERS, Funnel
from harness.karpenter.scheduling.reasons.ledger import Ledger, PoolTried
from tests.scheduling.workload import (
    CAPACITY,
    TYPE,
    VOCABULARY,
    ZONE,
    daemonset,
    need,
    nodepool,
    pod,
    run,
    size,
    spread,
)

GOOD = size("good", 4)
PORT = {"containerPort": 80, "hostPort": 8080}


def azures(instance_type: InstanceType) -> InstanceType:
    """The size as Azure's provider makes it: with the zones and capacity types among its requirements that can be had now."""
    found: dict[str, set[str]] = {ZONE: set(), CAPACITY: set()}
    for offering in instance_type.available_offerings:
        for key, values in found.items():
            values |= offering.requirements.get(key).values
    narrowed = [need(key, "In", *values) for key, values in found.items()]
    return replace(
        instance_type,
        requirements=instance_type.requirements.add(
            *Requirements.from_node_selector(narrowed, vocabulary=VOCABULARY).values()
        ),
    )


def closed(*offerings: tuple[str, str], **fields: Any) -> InstanceType:
    return azures(size("closed", 4, unavailable=offerings, **fields))


ALL = [(zone, kind) for zone in ("z1", "z2", "z3") for kind in ("on-demand", "spot")]
SPOT = [one for one in ALL if one[1] == "spot"]


def filters(funnel: Funnel) -> dict[str, str]:
    """The filter that takes a size away, by its name; "" where none does."""
    gone, before = {}, (1 << len(funnel.types)) - 1
    for name, mask in funnel.left:
        assert name in FILTERS
        gone |= {size: name for place, size in enumerate(funnel.types) if (before & ~mask) >> place & 1}
        before = mask
    return {size: gone.get(size, "") for size in funnel.types}


CASES: dict[str, tuple[str, InstanceType, dict[str, Any], dict[str, Any], dict[str, Any]]] = {
    "a limit": ("limits", size("closed", 16), {}, {"limits": {"cpu": "10"}}, {}),
    "the NodePool's size": ("NodePool", size("closed", 4), {}, {"requirements": [need(TYPE, "In", "good")]}, {}),
    "the NodePool's zone, where it is not sold": (
        "NodePool", closed(zones=("z2",)), {}, {"requirements": [need(ZONE, "In", "z1")]}, {},
    ),
    "the NodePool's capacity type, as which it is not sold": (
        "NodePool", closed(capacity_types=("on-demand",)), {}, {"requirements": [need(CAPACITY, "In", "spot")]}, {},
    ),
    "the pod's size": ("pod", size("closed", 4), {"nodeSelector": {TYPE: "good"}}, {}, {}),
    "the pod's zone, where it is not sold": ("pod", closed(zones=("z2",)), {"nodeSelector": {ZONE: "z1"}}, {}, {}),
    "a spread's zone": (
        "placement", closed(zones=("z2",)),
        {"labels": {"app": "a"}, "topologySpreadConstraints": [spread(ZONE, "a")]},
        {"requirements": [need(ZONE, "In", "z1", "z2")]}, {},
    ),
    "a host port": (
        "host-ports", size("closed", 4), {"ports": [PORT]}, {},
        {"daemonsets": [daemonset("d", "0", ports=[PORT], nodeSelector={TYPE: "closed"})]},
    ),
    "more reserved than there is": ("reserved", size("closed", 0, memory="9Gi"), {"cpu": "0"}, {}, {}),
    "too small": ("resources", size("closed", 1), {"cpu": "2"}, {}, {}),
    "too small beside a DaemonSet": (
        "resources", size("closed", 4), {"cpu": "2"}, {},
        {"daemonsets": [daemonset("d", "2", nodeSelector={TYPE: "closed"})]},
    ),
    "each is sold, not both together": (
        "sold-so",
        replace(size("closed", 4), offerings=tuple(
            one for one in size("closed", 4).offerings if (one.zone, one.capacity_type) in (("z1", "on-demand"), ("z2", "spot"))
        )),
        {"nodeSelector": {ZONE: "z1"}}, {"requirements": [need(CAPACITY, "In", "spot")]}, {},
    ),
    "nothing of it can be had": ("available", closed(*ALL), {}, {}, {}),
    "nothing of it can be had, and the NodePool names its zone": (
        "available", closed(*ALL), {}, {"requirements": [need(ZONE, "In", "z1")]}, {},
    ),
    "its spot cannot be had, which the NodePool wants": (
        "available", closed(*SPOT), {}, {"requirements": [need(CAPACITY, "In", "spot")]}, {},
    ),
    "its spot cannot be had, which the pod wants": (
        "available", closed(*SPOT), {"nodeSelector": {CAPACITY: "spot"}}, {}, {},
    ),
    "a zone of it cannot be had, which the pod wants": (
        "available", closed(("z1", "spot"), ("z1", "on-demand")), {"nodeSelector": {ZONE: "z1"}}, {}, {},
    ),
    "one zone has no spot": (
        "available", closed(("z1", "spot")), {"nodeSelector": {ZONE: "z1"}},
        {"requirements": [need(CAPACITY, "In", "spot")]}, {},
    ),
    "it cannot be had and is not wanted either": (
        "NodePool", closed(*ALL), {}, {"requirements": [need(TYPE, "In", "good")]}, {},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_a_size_goes_by_what_is_against_it(case: str) -> None:
    expected, other, of_pod, of_pool, more = CASES[case]
    ledger = Ledger()
    run([pod("a", of_pod.pop("cpu", "1"), **of_pod)], [nodepool(**of_pool)], types=(GOOD, other), ledger=ledger, **more)
    (entry,) = (one for one in ledger.of("default/a") if isinstance(one, PoolTried))
    assert filters(entry.funnel()) == {"good": "", "closed": expected}


@pytest.mark.parametrize(
    "case", [name for name, one in CASES.items() if one[0] in ("NodePool", "reserved", "available")]
)
def test_a_nodepool_without_sizes_says_the_same(case: str) -> None:
    expected, other, of_pod, of_pool, _ = CASES[case]
    wants = [need(key, "In", value) for key, value in of_pod.get("nodeSelector", {}).items()]
    pool = nodepool(requirements=[*of_pool.get("requirements", ()), *wants])
    ledger = Ledger()
    run([pod("a", "1")], [pool], types=(other,), ledger=ledger)
    (entry,) = ledger.filtered
    assert filters(entry.funnel()) == {"closed": expected}


def test_a_volume_too_many() -> None:
    few = replace(size("closed", 4), attach_limits={"disk.csi.azure.com": 1})
    claims = [
        {"metadata": {"name": name, "namespace": "default"}, "spec": {"storageClassName": "disk"}}
        for name in ("x", "y")
    ]
    volumes = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in ("x", "y")]
    storage = {"metadata": {"name": "disk"}, "provisioner": "disk.csi.azure.com"}
    ledger = Ledger()
    run(
        [pod("a", "1", volumes=volumes)], types=(GOOD, few), ledger=ledger,
        pvcs=claims, storageclasses=[storage],
    )  # fmt: skip
    (entry,) = (one for one in ledger.of("default/a") if isinstance(one, PoolTried))
    assert filters(entry.funnel()) == {"good": "", "closed": "volumes"}


def test_every_filter_has_a_case() -> None:
    assert {one[0] for one in CASES.values()} | {"volumes"} == set(FILTERS)
