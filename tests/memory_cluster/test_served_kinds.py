"""Kinds on which nothing here depends are taken as an API server takes them: by their shape."""

from __future__ import annotations

from typing import Any

import pytest

from harness.kube.admission.core_types import shape_errors
from harness.kube.api.kinds import KINDS, served
from harness.kube.api.status import ApiError
from harness.scenario.language.files import load_text
from harness.scenario.running.runner import Runner
from tests.memory_cluster.conftest import Cluster

Object = dict[str, Any]
WITHOUT_SHAPES = {"APIService", "CustomResourceDefinition"}  # of other API servers than client-go's


def of_kind(kind: str, **fields: Any) -> Object:
    row = KINDS[kind]
    meta = {"name": "x", **({"namespace": "default"} if row.namespaced else {})}
    return {"apiVersion": row.api_version, "kind": kind, "metadata": meta, **fields}


SPECS: dict[str, Object] = {
    "HorizontalPodAutoscaler": {
        "spec": {"maxReplicas": 2, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "x"}}
    }
}
"""Specs that have what a kind requires whose validation is here."""
TAKEN = sorted(kind for kind, row in KINDS.items() if not row.decides)


@pytest.mark.parametrize("kind", TAKEN)
def test_a_kind_is_kept(cluster: Cluster, kind: str) -> None:
    made = cluster.admin.create(of_kind(kind, **SPECS.get(kind, {})))
    assert cluster.view.get(kind, "x", made["metadata"].get("namespace", "")) == made
    assert ("generation" in made["metadata"]) == KINDS[kind].generation
    cluster.admin.delete(kind, "x", namespace=made["metadata"].get("namespace", ""))
    assert cluster.view.list(kind) == []


@pytest.mark.parametrize("kind", sorted(set(TAKEN) - WITHOUT_SHAPES))
def test_a_field_that_does_not_exist_is_found(kind: str) -> None:
    (error,) = [error for error in shape_errors(of_kind(kind, sepc={})) if error.pointer == ("sepc",)]
    assert "metadata" in error.known


def test_a_field_of_another_type_is_found() -> None:
    rules = [{"host": "a.example.com", "http": {"paths": {"path": "/"}}}]
    found = list(shape_errors(of_kind("Ingress", spec={"rules": rules})))
    assert [error.pointer for error in found] == [("spec", "rules", 0, "http", "paths")]


def test_a_change_of_another_type_is_refused(cluster: Cluster) -> None:
    cluster.admin.create(of_kind("Ingress"))
    with pytest.raises(ApiError) as refused:
        cluster.admin.patch("Ingress", "x", {"spec": {"ingressClassName": 5}}, namespace="default")
    assert refused.value.code == 400


def test_older_versions_that_are_still_served() -> None:
    assert served("autoscaling/v1", "HorizontalPodAutoscaler") is KINDS["HorizontalPodAutoscaler"]
    assert served("autoscaling/v2beta2", "HorizontalPodAutoscaler") is None


def test_they_stand_in_scenarios() -> None:
    text = """\
scenario: an Ingress beside a pool
then: [{objects: {of: Ingress/web, count: 1}}]
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web}
spec: {ingressClassName: nginx}
"""
    (scenario,) = load_text(text, file="i.yaml")
    (case,) = scenario.cases
    assert case.notes == ("not simulated: Ingress web",)
    assert [verdict for verdict in Runner().run(case).verdicts if not verdict.holds] == []
