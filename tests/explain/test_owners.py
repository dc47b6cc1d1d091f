"""Under which name people know what made a pod."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from harness.kube.api.owners import workload_of
from harness.testing import pod


@pytest.mark.parametrize(
    ("kind", "name", "labels", "workload"),
    [
        ("ReplicaSet", "web-5d8f", {"pod-template-hash": "5d8f"}, "Deployment/web"),
        ("ReplicaSet", "web-5d8f", {}, "ReplicaSet/web-5d8f"),
        ("ReplicaSet", "web-5d8f", {"pod-template-hash": "9c7b"}, "ReplicaSet/web-5d8f"),
        ("StatefulSet", "db-5d8f", {"pod-template-hash": "5d8f"}, "StatefulSet/db-5d8f"),
        ("Job", "once", {}, "Job/once"),
        ("", "", {}, "Pod/web"),
    ],
)
def test_what_made_a_pod(kind: str, name: str, labels: Mapping[str, str], workload: str) -> None:
    """A Deployment names its ReplicaSets after itself and the hash that is a label of their pods (pkg/controller/deployment/sync.go)."""
    made: dict[str, Any] = pod(labels=labels)
    if kind:
        made["metadata"]["ownerReferences"] = [{"kind": kind, "name": name, "controller": True}]
    assert str(workload_of(made)) == workload
