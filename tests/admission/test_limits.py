"""LimitRanges and ResourceQuotas, in the words of their admission plugins.

Sources: kubernetes plugin/pkg/admission/limitranger/admission.go, apiserver pkg/admission/plugin/resourcequota/controller.go.
"""

from __future__ import annotations

from typing import Any

import pytest

from harness.kube.admission.limit_range import default_limit_range, limit_range_errors, with_limit_ranges
from harness.kube.admission.resource_quota import quota_error, usage_of
from harness.kube.api.kinds import KINDS
from harness.kube.api.quantity import Quantity
from harness.testing import pod


def limit_range(**item: Any) -> dict[str, Any]:
    meta = {"name": "l", "namespace": "default"}
    return default_limit_range(
        {"kind": "LimitRange", "metadata": meta, "spec": {"limits": [{"type": "Container", **item}]}}
    )


def asking(requests: dict[str, str] | None = None, limits: dict[str, str] | None = None) -> dict[str, Any]:
    made: dict[str, Any] = {**pod("p")}
    resources = {key: value for key, value in (("requests", requests), ("limits", limits)) if value is not None}
    return {**made, "spec": {"containers": [{"name": "c", "resources": resources}]}}


def amounts(requests: dict[str, str] | None = None, limits: dict[str, str] | None = None, **item: Any) -> Any:
    made = with_limit_ranges(asking(requests, limits), [limit_range(**item)])
    return made["spec"]["containers"][0]["resources"]


@pytest.mark.parametrize(
    ("asked", "item", "given"),
    [
        (
            {},
            {"default": {"cpu": "2"}, "defaultRequest": {"cpu": "1"}},
            {"limits": {"cpu": "2"}, "requests": {"cpu": "1"}},
        ),
        ({}, {"default": {"cpu": "2"}}, {"limits": {"cpu": "2"}, "requests": {"cpu": "2"}}),
        ({}, {"max": {"cpu": "3"}}, {"limits": {"cpu": "3"}, "requests": {"cpu": "3"}}),
        ({}, {"min": {"cpu": "100m"}}, {"requests": {"cpu": "100m"}}),
        ({"limits": {"cpu": "4"}}, {"default": {"cpu": "2"}}, {"limits": {"cpu": "4"}}),
        ({"requests": {"cpu": "1"}}, {"default": {"cpu": "2"}}, {"limits": {"cpu": "2"}, "requests": {"cpu": "1"}}),
        ({}, {"type": "Pod", "max": {"cpu": "3"}}, {}),
    ],
)
def test_what_a_container_gets(asked: dict[str, Any], item: dict[str, Any], given: dict[str, Any]) -> None:
    assert amounts(**asked, **item) == given


def test_an_annotation_tells_what_was_set() -> None:
    made = with_limit_ranges(
        asking(), [limit_range(default={"cpu": "2", "memory": "1Gi"}, defaultRequest={"cpu": "1"})]
    )
    assert made["metadata"]["annotations"]["kubernetes.io/limit-ranger"] == (
        "LimitRanger plugin set: cpu, memory request for container c; cpu, memory limit for container c"
    )


@pytest.mark.parametrize(
    ("asked", "item", "why"),
    [
        ({"limits": {"cpu": "4"}}, {"max": {"cpu": "3"}}, "maximum cpu usage per Container is 3, but limit is 4"),
        (
            {"requests": {"cpu": "1"}},
            {"max": {"cpu": "3"}},
            "maximum cpu usage per Container is 3.  No limit is specified",
        ),
        (
            {"requests": {"cpu": "50m"}},
            {"min": {"cpu": "100m"}},
            "minimum cpu usage per Container is 100m, but request is 50m",
        ),
        ({}, {"min": {"cpu": "100m"}}, "minimum cpu usage per Container is 100m.  No request is specified"),
        (
            {"requests": {"cpu": "1"}, "limits": {"cpu": "4"}},
            {"maxLimitRequestRatio": {"cpu": "2"}},
            "cpu max limit to request ratio per Container is 2, but provided ratio is 4.000000",
        ),
        (
            {"requests": {"cpu": "5"}},
            {"type": "Pod", "min": {"cpu": "6"}},
            "minimum cpu usage per Pod is 6, but request is 5",
        ),
        ({"requests": {"cpu": "1"}}, {"min": {"cpu": "1"}, "maxLimitRequestRatio": {}}, None),
    ],
)
def test_what_a_limit_range_refuses(asked: dict[str, Any], item: dict[str, Any], why: str | None) -> None:
    assert limit_range_errors("Pod", asking(**asked), [limit_range(**item)]) == ([why] if why else [])


def quota(**hard: str) -> dict[str, Any]:
    return {
        "kind": "ResourceQuota",
        "metadata": {"name": "q"},
        "spec": {"hard": {key.replace("_", "."): hard[key] for key in hard}},
    }


@pytest.mark.parametrize(
    ("hard", "used", "why"),
    [
        ({"pods": "2"}, {"pods": "1"}, None),
        ({"pods": "2"}, {"pods": "2"}, "exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2"),
        (
            {"requests_cpu": "1", "pods": "1"},
            {"pods": "1", "requests.cpu": "500m"},
            "exceeded quota: q, requested: pods=1,requests.cpu=1, used: pods=1,requests.cpu=500m, limited: pods=1,requests.cpu=1",
        ),
        ({"limits_memory": "1Gi"}, {}, "failed quota: q: must specify limits.memory for: c"),
        ({"configmaps": "0"}, {}, None),
    ],
)
def test_what_a_quota_refuses(hard: dict[str, str], used: dict[str, str], why: str | None) -> None:
    present = {name: Quantity.parse(amount) for name, amount in used.items()}
    assert quota_error(quota(**hard), KINDS["Pod"], asking({"cpu": "1"}), lambda: present) == why


@pytest.mark.parametrize(("priority", "refused"), [("high", True), (None, False)])
def test_a_quota_counts_what_is_in_its_scope(priority: str | None, refused: bool) -> None:
    made = quota(pods="0")
    made["spec"]["scopeSelector"] = {
        "matchExpressions": [{"scopeName": "PriorityClass", "operator": "In", "values": ["high"]}]
    }
    asked = asking({"cpu": "1"})
    asked["spec"]["priorityClassName"] = priority
    assert (quota_error(made, KINDS["Pod"], asked, dict) is not None) is refused


def test_a_pod_that_has_ended_uses_its_count_alone() -> None:
    ended = {**asking({"cpu": "1"}), "status": {"phase": "Succeeded"}}
    assert usage_of(KINDS["Pod"], ended).keys() == {"count/pods"}
