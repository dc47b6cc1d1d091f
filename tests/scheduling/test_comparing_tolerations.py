"""Tolerations with Lt and Gt: nothing to a Karpenter that is built with k8s.io/api before 0.35.0 (core up to 1.7)."""

from __future__ import annotations

from typing import Any

import pytest

from harness.karpenter.releases import provider
from harness.karpenter.scheduling import ClusterSnapshot, solve
from harness.kube.scheduling.taints import known_tolerations
from tests.scheduling.workload import SIZES, ZONE, nodepool, pod, spread

TAINT = {"key": "sla", "value": "950", "effect": "NoSchedule"}
GREATER = {"key": "sla", "operator": "Gt", "value": "900"}
PLAIN = {"key": "sla", "value": "950"}


def bound(release: str, toleration: dict[str, str], **spec: Any) -> bool:
    snapshot = ClusterSnapshot([nodepool(taints=[TAINT])], [pod("p", tolerations=[toleration], **spec)])
    return not solve(snapshot, {"default": SIZES}, release=provider(release)).errors


@pytest.mark.parametrize(
    ("release", "compares"), [("1.4.0", False), ("1.7.2", False), ("1.10.2", True), ("next", True)]
)
def test_numbers_are_compared_from_1_10_on(release: str, compares: bool) -> None:
    assert bound(release, GREATER) is compares
    assert bound(release, PLAIN)
    assert not bound(release, {**GREATER, "value": "950"})
    assert (
        bound(release, GREATER, topologySpreadConstraints=[spread(ZONE, "web", nodeTaintsPolicy="Honor")]) is compares
    )


@pytest.mark.parametrize(("release", "counts"), [("1.7.2", 0), ("1.10.2", 1)])
def test_a_daemonset_counts_where_its_toleration_does(release: str, counts: int) -> None:
    inside = {**pod("d")["spec"], "tolerations": [GREATER]}
    daemonset = {
        "kind": "DaemonSet",
        "metadata": {"name": "d", "namespace": "default"},
        "spec": {"template": {"spec": inside}},
    }
    snapshot = ClusterSnapshot([nodepool(taints=[TAINT])], [pod("p", tolerations=[PLAIN])], daemonsets=[daemonset])
    (claim,) = solve(snapshot, {"default": SIZES}, release=provider(release)).nodeclaims
    assert claim.to_nodeclaim()["spec"]["resources"]["requests"]["pods"] == str(1 + counts)


def test_only_comparing_tolerations_are_unknown() -> None:
    assert known_tolerations([GREATER, PLAIN], comparing=False) == [PLAIN]
    assert known_tolerations([GREATER, PLAIN], comparing=True) == [GREATER, PLAIN]
