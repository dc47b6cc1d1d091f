"""The ledger of a pass says for each node, NodePool and size why it took a pod or not, and changes nothing."""

from __future__ import annotations

import pytest

from harness.karpenter.scheduling.reasons.instance_types import NoInstanceType
from harness.karpenter.scheduling.reasons.ledger import Joined, Ledger, NodeTried, PoolTried, Relaxed
from harness.karpenter.scheduling.reasons.pods import NodeFull, TaintsNotTolerated
from harness.karpenter.scheduling.reasons.verdicts import (
    BeyondLimit,
    NodePoolExcludes,
    NotOffered,
    Overcommitted,
    PodExcludes,
    TooSmall,
)
from tests.scheduling.workload import TYPE, ZONE, affinity, groups, need, node, nodepool, pod, run, size

TAINTED = nodepool("tainted", weight=9, taints=[{"key": "t", "effect": "NoSchedule"}])
GONE = [(zone, kind) for zone in ("z1", "z2", "z3") for kind in ("on-demand", "spot")]


def test_every_step_of_a_pod() -> None:
    ledger = Ledger()
    pods = [pod("a", "3"), pod("b", "1")]
    pools = [TAINTED, nodepool()]
    results = run(pods, pools, nodes=[node("n1", "2", pool="default")], ledger=ledger)
    assert groups(results) == groups(run(pods, pools, nodes=[node("n1", "2", pool="default")]))
    first, second, third = ledger.of("default/a")
    assert isinstance(first, NodeTried)
    assert first.reason == NodeFull(("cpu",))
    assert isinstance(second, PoolTried)
    assert isinstance(second.reason, TaintsNotTolerated)
    assert isinstance(third, PoolTried)
    assert (third.nodepool, third.reason) == ("default", None)
    assert [type(entry) for entry in ledger.of("default/b")] == [NodeTried]


def test_a_nodepool_without_a_size_is_told_of_before_any_pod() -> None:
    types = (size("gone", 4, unavailable=GONE), size("good", 4), size("unwanted", 4), size("void", 0))
    pools = [
        nodepool("least", requirements=[need(TYPE, "Exists", minValues=9)]),
        nodepool("none", requirements=[need(TYPE, "In", "gone", "void")]),
    ]
    ledger = Ledger()
    results = run([pod("a", "1")], pools, types=types, ledger=ledger)
    assert str(results.errors["default/a"]) == "nodepool requirements filtered out all available instance types"
    assert ledger.of("default/a") == []
    least, none = ledger.filtered if ledger.filtered[0].nodepool == "least" else reversed(ledger.filtered)
    assert none.unmet == {}
    assert {verdict.instance_type.name: [type(reason) for reason in verdict.reasons] for verdict in none.types()} == {
        "gone": [NotOffered],
        "good": [NodePoolExcludes],
        "unwanted": [NodePoolExcludes],
        "void": [Overcommitted],
    }
    assert set(least.unmet) == {TYPE}
    assert sum(verdict.kept for verdict in least.types()) == least.unmet[TYPE]


def test_reasons_of_sizes() -> None:
    types = (
        size("big", 16),
        size("gone", 4, unavailable=GONE),
        size("good", 4),
        size("other", 4, zones=("z2",)),
        size("tiny", 1),
        size("unwanted", 4),
    )
    ledger = Ledger()
    pool = nodepool(requirements=[need(TYPE, "NotIn", "unwanted")], limits={"cpu": "10"})
    run([pod("a", "2", nodeSelector={ZONE: "z1"})], [pool], types=types, ledger=ledger)
    (entry,) = ledger.of("default/a")
    assert isinstance(entry, PoolTried)
    verdicts = {verdict.instance_type.name: verdict for verdict in entry.types()}
    assert {name: [type(reason) for reason in verdict.reasons] for name, verdict in verdicts.items()} == {
        "big": [BeyondLimit],
        "gone": [NotOffered],
        "good": [],
        "other": [PodExcludes, NotOffered],
        "tiny": [TooSmall],
        "unwanted": [NodePoolExcludes],
    }
    assert entry.removed() == {
        "BeyondLimit": 1, "NotOffered": 1, "kept": 1, "PodExcludes": 1, "TooSmall": 1, "NodePoolExcludes": 1,
    }  # fmt: skip
    tiny = verdicts["tiny"].reasons[0]
    assert isinstance(tiny, TooSmall)
    assert (tiny.resource, str(tiny.requested), str(tiny.allocatable)) == ("cpu", "2", "900m")
    assert [o.usable for o in verdicts["good"].offerings] == [True, True, False, False, False, False]


@pytest.mark.parametrize(("cpu", "reasons"), [("1900m", []), ("1901m", [TooSmall])])
def test_a_size_with_just_enough_room_is_not_too_small(cpu: str, reasons: list[type]) -> None:
    ledger = Ledger()
    run([pod("a", cpu)], types=(size("one", 2),), ledger=ledger)
    (entry,) = ledger.of("default/a")
    assert isinstance(entry, PoolTried)
    assert [[type(reason) for reason in verdict.reasons] for verdict in entry.types()] == [reasons]
    assert [name for name, _ in entry.funnel().left] == ["NodePool", "pod", "resources", "sold-so", "available"]


def test_a_node_without_a_resource_has_no_room_for_the_least_of_it() -> None:
    ledger = Ledger()
    run([pod("a", requests={"ephemeral-storage": "1n"})], nodes=[node("n1")], ledger=ledger)
    assert ledger.of("default/a")[0] == NodeTried("default/a", 0, "n1", NodeFull(("ephemeral-storage",)))


def test_relaxations_and_joins() -> None:
    ledger = Ledger()
    preferred = affinity("podAffinity", ZONE, "nobody", preferred=True)
    run([pod("a", "1", **preferred), pod("b", "500m")], ledger=ledger)
    entries = ledger.of("default/a")
    assert [type(entry) for entry in entries] == [PoolTried, Relaxed, PoolTried]
    assert entries[1].step == 1
    assert isinstance(entries[1], Relaxed)
    assert entries[1].dropped == "preferred pod affinity term"
    (joined,) = ledger.of("default/b")
    assert joined == Joined("default/b", 0, 0, "default")


def test_what_failed_agrees_with_the_verdicts() -> None:
    ledger = Ledger()
    run([pod("a", "20"), pod("b", nodeSelector={ZONE: "nowhere"}), pod("c", "7")], ledger=ledger)
    for entry in ledger.entries:
        if isinstance(entry, PoolTried):
            kept = [verdict for verdict in entry.types() if verdict.kept]
            assert bool(kept) == (entry.reason is None)
            assert entry.reason is None or isinstance(entry.reason, NoInstanceType)
