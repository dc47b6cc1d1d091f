"""How long a pod that is deleted stays: its containers end by themselves, or are killed when the grace period is over.

Source: kubernetes pkg/kubelet/kuberuntime/kuberuntime_container.go (killContainer).
"""

from __future__ import annotations

import pytest

from harness.engine.ports import ADMIN
from harness.nodes.timing import Timing
from harness.testing import nodeclass, nodepool, pod
from harness.world import World


@pytest.mark.parametrize(
    ("takes", "grace", "stays"), [(10, 30, 10), (10, 10, 10), (10, 5, 5), (10, 1, 1), (10, 0, 0), (1, 1, 1)]
)
def test_a_pod_stays_until_it_ends_and_no_longer_than_its_grace_period(takes: int, grace: int, stays: int) -> None:
    world = World(timing=Timing(pod_stop=takes))
    world.apply(nodeclass(), nodepool(), pod("p"))
    world.settle()
    world.cluster.writer(ADMIN).delete("Pod", "p", namespace="default", grace_period_seconds=grace)
    seconds = 0
    world.advance(0.5)
    while world.get("Pod", "p") is not None:
        world.advance(1)
        seconds += 1
    assert seconds == stays


def test_a_grace_period_that_becomes_shorter_ends_the_pod_sooner() -> None:
    """Source: kubernetes pkg/kubelet/pod_workers.go (calculateEffectiveGracePeriod, gracePeriodShortened)."""
    world = World(timing=Timing(pod_stop=100))
    world.apply(nodeclass(), nodepool(), pod("p"))
    world.settle()
    admin = world.cluster.writer(ADMIN)
    admin.delete("Pod", "p", namespace="default", grace_period_seconds=300)
    world.advance(10)
    admin.delete("Pod", "p", namespace="default", grace_period_seconds=20)
    world.advance(19)
    assert world.get("Pod", "p") is not None
    world.advance(1)
    assert world.get("Pod", "p") is None
