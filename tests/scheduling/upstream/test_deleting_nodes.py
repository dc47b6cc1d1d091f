"""Pods of Nodes that go away. Source: core pkg/controllers/provisioning/scheduling/suite_test.go, Deleting Nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.scheduling.upstream.cloud import TYPE
from tests.scheduling.upstream.objects import pod
from tests.scheduling.upstream.trial import Trial

NewTrial = Callable[..., Trial]
Json = dict[str, Any]


def leaving(trial: NewTrial, **fields: Any) -> Trial:
    """A cluster with one pod on one Node that Karpenter has marked for deletion."""
    cluster = trial()
    cluster.provision(pod(requests={"memory": "100M"}, **fields))
    assert cluster.labels("pod")[TYPE] == "small-instance-type"
    cluster.objects["deleting"] = list(cluster.nodes)
    return cluster


def evicted(cluster: Trial) -> None:
    """The pod ends; its object stays until its container has."""
    metadata = cluster.pods["default/pod"]["metadata"]
    metadata.update(deletionTimestamp="2026-01-01T00:00:00Z", finalizers=["example.com/wait"])


def owner(kind: str) -> Json:
    return {"apiVersion": "apps/v1", "kind": kind, "name": "owner", "uid": "owner", "controller": True}


@pytest.mark.parametrize(
    ("kind", "active", "again"),
    [
        pytest.param("", True, True, id="should re-schedule pods from a deleting node when pods are active"),
        pytest.param("", False, False, id="should not re-schedule pods from a deleting node when pods are not active"),
        pytest.param(
            "DaemonSet",
            False,
            False,
            id="should not re-schedule pods from a deleting node when pods are owned by a DaemonSet",
        ),
        pytest.param("DaemonSet", True, False, id="however active they are"),
        pytest.param(
            "ReplicaSet",
            False,
            False,
            id="should not reschedule pods from a deleting node when pods are not active and they are owned by a ReplicaSet",
        ),
        pytest.param(
            "StatefulSet",
            False,
            True,
            id="should reschedule pods from a deleting node when pods are not active and they are owned by a StatefulSet",
        ),
    ],
)
def test_pods_of_nodes_that_go_away(trial: NewTrial, kind: str, active: bool, again: bool) -> None:
    cluster = leaving(trial)
    cluster.pods["default/pod"]["metadata"]["ownerReferences"] = [owner(kind)] if kind else []
    if not active:
        evicted(cluster)
    plan = cluster.provision()
    assert [claim["instance_types"][0] for claim in plan.claims] == (["small-instance-type"] if again else [])


def budget(name: str, **spec: Any) -> Json:
    return {"metadata": {"name": name}, "spec": {"selector": {"matchLabels": {"pdb-test": "value"}}, **spec}}


@pytest.mark.parametrize(
    "budgets",
    [
        pytest.param([budget("a", maxUnavailable=0)], id="0 max unavailable"),
        pytest.param([budget("a", maxUnavailable="0%")], id="0% max unavailable"),
        pytest.param([budget("a", minAvailable="100%")], id="100% min available"),
        pytest.param(
            [budget("a", minAvailable="100%"), budget("b", minAvailable="100%")], id="multiple PDBs on the same pod"
        ),
    ],
)
def test_pods_that_may_not_be_evicted(trial: NewTrial, budgets: list[Json]) -> None:
    """should not reschedule pods from a deleting node when pods are blocked due to fully blocking PDBs"""
    cluster = leaving(trial, labels={"pdb-test": "value"})
    cluster.objects["pdbs"] = budgets
    assert not cluster.provision().claims
    cluster.objects["pdbs"] = [budget("a", maxUnavailable=1)]
    assert len(cluster.provision().claims) == 1
