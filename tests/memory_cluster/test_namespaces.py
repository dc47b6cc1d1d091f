"""What holds a namespace: its own finalizers. Source: kubernetes pkg/registry/core/namespace/strategy.go."""

from typing import Any

import pytest

from harness.engine.ports import CONTROLLER_MANAGER
from tests.memory_cluster.conftest import Cluster


def namespace(*finalizers: str) -> dict[str, Any]:
    spec = {"spec": {"finalizers": list(finalizers)}} if finalizers else {}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}, **spec}


@pytest.mark.parametrize(
    ("asked", "stored"),
    [
        ([], ["kubernetes"]),
        (["kubernetes"], ["kubernetes"]),
        (["example.com/a"], ["example.com/a", "kubernetes"]),
        (["kubernetes", "example.com/a"], ["kubernetes", "example.com/a"]),
    ],
)
def test_a_new_namespace_is_always_held_by_kubernetes(cluster: Cluster, asked: list[str], stored: list[str]) -> None:
    assert cluster.admin.create(namespace(*asked))["spec"]["finalizers"] == stored


def test_only_the_subresource_changes_what_holds_a_namespace(cluster: Cluster) -> None:
    made = cluster.admin.create(namespace("example.com/a"))
    assert cluster.admin.update({**made, "spec": {"finalizers": []}}) == made
    assert cluster.admin.patch("Namespace", "shop", {"spec": None}) == made
    left = cluster.writer(CONTROLLER_MANAGER).update(
        {**made, "metadata": {"name": "shop", "labels": {"a": "b"}}, "spec": {"finalizers": ["example.com/a"]}},
        subresource="finalize",
    )
    assert (left["spec"]["finalizers"], left["metadata"]["labels"]) == (["example.com/a"], made["metadata"]["labels"])
    none = cluster.writer(CONTROLLER_MANAGER).update({**left, "spec": {}}, subresource="finalize")
    assert none["spec"]["finalizers"] == []
