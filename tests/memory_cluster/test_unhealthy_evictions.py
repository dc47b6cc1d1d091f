"""Evictions of pods that are not ready: kubernetes pkg/registry/core/pod/storage/eviction.go (UnhealthyPodEvictionPolicy)."""

from __future__ import annotations

import pytest

from harness.clusters.memory.eviction import check_eviction
from harness.kube.api.objects import Object
from harness.kube.api.status import ApiError


def budget(policy: str | None, healthy: int, desired: int, allowed: int = 0) -> Object:
    spec: Object = {"selector": {"matchLabels": {"app": "web"}}}
    if policy is not None:
        spec = {**spec, "unhealthyPodEvictionPolicy": policy}
    counts = {"currentHealthy": healthy, "desiredHealthy": desired, "disruptionsAllowed": allowed}
    return {"metadata": {"name": "b", "generation": 1}, "spec": spec, "status": {**counts, "observedGeneration": 1}}


def pod(ready: bool) -> Object:
    conditions = [{"type": "Ready", "status": "True" if ready else "False"}]
    return {
        "metadata": {"name": "p", "labels": {"app": "web"}},
        "status": {"phase": "Running", "conditions": conditions},
    }


@pytest.mark.parametrize(
    ("policy", "healthy", "desired"),
    [
        (None, 3, 2),
        (None, 2, 2),
        (None, 1, 1),
        ("IfHealthyBudget", 2, 2),
        ("AlwaysAllow", 0, 2),
        ("AlwaysAllow", 0, 0),
    ],
)
def test_an_unready_pod_goes_without_using_the_budget_up(policy: str | None, healthy: int, desired: int) -> None:
    assert check_eviction(pod(False), [budget(policy, healthy, desired)]) is None


@pytest.mark.parametrize(
    ("policy", "healthy", "desired"),
    [
        (None, 1, 2),
        (None, 0, 0),  # a budget that was never counted protects too
        ("IfHealthyBudget", 1, 2),
    ],
)
def test_an_unready_pod_of_an_unhealthy_application_needs_the_budget(
    policy: str | None, healthy: int, desired: int
) -> None:
    with pytest.raises(ApiError) as caught:
        check_eviction(pod(False), [budget(policy, healthy, desired)])
    assert caught.value.code == 429
    spare = budget(policy, healthy, desired, allowed=1)
    assert check_eviction(pod(False), [spare]) is spare


@pytest.mark.parametrize("policy", [None, "IfHealthyBudget", "AlwaysAllow"])
def test_a_ready_pod_always_needs_the_budget(policy: str | None) -> None:
    with pytest.raises(ApiError) as caught:
        check_eviction(pod(True), [budget(policy, 2, 2)])
    assert caught.value.code == 429
