"""Which PodDisruptionBudget forbids an eviction. Source: kubernetes pkg/registry/core/pod/storage/eviction.go."""

from typing import Any

import pytest

from harness.clusters.memory.eviction import check_eviction
from harness.kube.api.status import ApiError

PROTECTED = {"selector": {"matchLabels": {"app": "web"}}}


def pod(ready: bool = True, **status: str) -> dict[str, Any]:
    conditions = [{"type": "Ready", "status": "True" if ready else "False"}]
    return {
        "metadata": {"name": "p", "labels": {"app": "web"}},
        "status": {"phase": "Running", "conditions": conditions, **status},
    }


def budget(healthy: int, desired: int, allowed: int = 0, policy: str | None = None) -> dict[str, Any]:
    status = {"currentHealthy": healthy, "desiredHealthy": desired, "disruptionsAllowed": allowed}
    spec = PROTECTED if policy is None else {**PROTECTED, "unhealthyPodEvictionPolicy": policy}
    return {"metadata": {"name": "b"}, "spec": spec, "status": status}


@pytest.mark.parametrize(
    ("protecting", "goes"),
    [
        (budget(healthy=1, desired=1), True),
        (budget(healthy=3, desired=2), True),
        (budget(healthy=0, desired=1), False),
        (budget(healthy=0, desired=0), False),
        (budget(healthy=1, desired=0), False),
        (budget(healthy=1, desired=2, policy="IfHealthyBudget"), False),
        (budget(healthy=2, desired=2, policy="IfHealthyBudget"), True),
        (budget(healthy=0, desired=2, policy="AlwaysAllow"), True),
        (budget(healthy=0, desired=0, policy="AlwaysAllow"), True),
    ],
)
def test_a_pod_that_is_not_ready_goes_where_enough_others_are_healthy(protecting: dict[str, Any], goes: bool) -> None:
    assert _goes(pod(ready=False), protecting) is goes
    assert not _goes(pod(ready=True), protecting)


def test_an_eviction_that_is_allowed_uses_the_budget_up_where_the_pod_counts() -> None:
    allowing = budget(healthy=2, desired=1, allowed=1)
    assert check_eviction(pod(), [allowing]) is allowing
    assert check_eviction(pod(ready=False), [allowing]) is None
    unhealthy = budget(healthy=0, desired=1, allowed=1)
    assert check_eviction(pod(ready=False), [unhealthy]) is unhealthy


@pytest.mark.parametrize("phase", ["Succeeded", "Failed", "Pending"])
def test_a_pod_that_does_not_run_needs_no_budget(phase: str) -> None:
    spent = budget(healthy=0, desired=1)
    assert check_eviction(pod(phase=phase), [spent, spent]) is None


def test_two_budgets_of_one_pod_are_an_error_of_the_server() -> None:
    allowing = budget(healthy=2, desired=1, allowed=1)
    with pytest.raises(ApiError) as refused:
        check_eviction(pod(), [allowing, allowing])
    assert refused.value.code == 500


def test_a_budget_that_was_changed_forbids_until_its_controller_has_seen_it() -> None:
    changed = budget(healthy=2, desired=1, allowed=1)
    changed["metadata"]["generation"] = 2
    assert not _goes(pod(), changed | {"status": changed["status"] | {"observedGeneration": 1}})
    assert _goes(pod(), changed | {"status": changed["status"] | {"observedGeneration": 2}})


def test_what_a_status_does_not_say_is_nought() -> None:
    with pytest.raises(ApiError) as refused:
        check_eviction(pod(), [{"metadata": {"name": "b"}, "spec": PROTECTED}])
    (cause,) = refused.value.details["causes"]
    assert cause["message"] == "The disruption budget b needs 0 healthy pods and has 0 currently"


def _goes(evicted: dict[str, Any], protecting: dict[str, Any]) -> bool:
    try:
        check_eviction(evicted, [protecting])
    except ApiError as error:
        return error.code != 429
    return True
