"""What a pod may take: k8s.io/component-helpers resource.PodLimits."""

from __future__ import annotations

from typing import Any

import pytest

from harness.kube.scheduling.pods import pod_limits


def container(cpu: str | None = None, **fields: Any) -> dict[str, Any]:
    return {"name": "c", "resources": {"limits": {"cpu": cpu}} if cpu is not None else {}, **fields}


@pytest.mark.parametrize(
    ("spec", "limits"),
    [
        ({"containers": [container("1"), container("2")]}, {"cpu": "3"}),
        ({"containers": [container("1")], "initContainers": [container("2")]}, {"cpu": "2"}),
        ({"containers": [container("1")], "initContainers": [container("2", restartPolicy="Always")]}, {"cpu": "3"}),
        (
            {"containers": [container("1")], "resources": {"limits": {"cpu": "4", "example.com/card": "1"}}},
            {"cpu": "4"},
        ),
        ({"containers": [container("1")], "overhead": {"cpu": "250m"}}, {"cpu": "1250m"}),
        ({"containers": [container("1")], "overhead": {"cpu": "250m", "memory": "1Gi"}}, {"cpu": "1250m"}),
        ({"containers": [container("0")], "overhead": {"cpu": "250m"}}, {"cpu": "0"}),
        ({"containers": [container()], "overhead": {"cpu": "250m"}}, {}),
        (
            {"containers": [container()], "resources": {"limits": {"cpu": "2"}}, "overhead": {"cpu": "250m"}},
            {"cpu": "2250m"},
        ),
    ],
)
def test_overhead_is_added_to_what_is_limited(spec: dict[str, Any], limits: dict[str, str]) -> None:
    assert {name: str(amount) for name, amount in pod_limits({"spec": spec}).items()} == limits
