"""Kubelets that are real: what is decided before one is started."""

from __future__ import annotations

from typing import Any

import pytest

from harness.clusters.memory.cluster import MemoryCluster
from harness.nodes.boot import BootPlan
from harness.world import World

NODECLASS = {
    "apiVersion": "karpenter.azure.com/v1beta1",
    "kind": "AKSNodeClass",
    "metadata": {"name": "default"},
    "spec": {"imageFamily": "Ubuntu2204"},
}
NODEPOOL = {
    "apiVersion": "karpenter.sh/v1",
    "kind": "NodePool",
    "metadata": {"name": "default"},
    "spec": {
        "template": {
            "spec": {
                "nodeClassRef": {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"},
                "requirements": [{"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand"]}],
            }
        }
    },
}
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "web"},
    "spec": {"containers": [{"name": "c", "image": "pause", "resources": {"requests": {"cpu": "1"}}}]},
}


@pytest.mark.parametrize(
    ("release", "kubernetes", "refused"),
    [
        ("1.4.0", "1.34.0", "--cloud-config"),
        ("1.7.2", "1.35.0", "--pod-infra-container-image"),
        ("1.7.2", "1.34.0", None),
        ("1.10.2", "1.35.0", None),
    ],
)
def test_a_kubelet_with_an_unknown_flag_is_not_started(release: str, kubernetes: str, refused: str | None) -> None:
    """A real kubelet is joined by kubeadm and would never see the flag: it would boot what cannot boot."""
    booted: list[str] = []

    class Booting(MemoryCluster):
        def __init__(self, *arguments: Any, **named: Any) -> None:
            super().__init__(*arguments, **named)
            self.boot: Any = self.booted

        def booted(self, plan: BootPlan) -> None:
            booted.append(plan.node_name)

    world = World(karpenter=release, kubernetes=kubernetes, cluster=Booting)
    world.apply(NODECLASS, NODEPOOL, POD)
    world.settle()
    errors = [line.message for line in world.log if line.controller == "kubelet" and line.level == "error"]
    assert errors == ([f"failed to parse kubelet flag: unknown flag: {refused}"] if refused else [])
    assert bool(booted) is (refused is None)
