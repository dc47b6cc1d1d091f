"""What init containers, sidecars, pods as a whole and pods of DaemonSets ask for. Source: core provisioning/suite_test.go."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.scheduling.upstream.cloud import TYPE, instance_type
from tests.scheduling.upstream.objects import daemonset, need, nodepool, pod
from tests.scheduling.upstream.trial import Trial

NewTrial = Callable[..., Trial]
Json = dict[str, Any]

SIZES = [
    instance_type(f"cpu-{cpu}", cpu=str(cpu), memory=f"{memory}Gi")
    for cpu, memory in ((2, 2), (10, 4), (11, 5), (12, 6))
]
"""One that is a bit too small for each pod, one that is right, one that is a bit too large."""


def container(cpu: str, memory: str, *, sidecar: bool = False) -> Json:
    """An init container; a sidecar is one that goes on."""
    amounts = {"cpu": cpu, "memory": memory}
    more = {"restartPolicy": "Always"} if sidecar else {}
    return {"name": f"i-{cpu}", "resources": {"requests": amounts, "limits": amounts}, **more}


SIDECAR = container("4900m", "2900Mi", sidecar=True)


@pytest.mark.parametrize(
    ("waiting", "size"),
    [
        pytest.param(
            pod(limits={"cpu": "6", "memory": "2Gi"}, initContainers=[container("10", "4Gi"), SIDECAR]),
            "cpu-11",
            id="should schedule based on the max resource requests of containers and initContainers with sidecar containers "
            "when initcontainer comes first",
        ),
        pytest.param(
            pod(limits={"cpu": "6", "memory": "2Gi"}, initContainers=[SIDECAR, container("5", "1Gi")]),
            "cpu-11",
            id="should schedule based on the max resource requests of containers and initContainers with sidecar containers "
            "when sidecar container comes first and init container resources are smaller than container resources",
        ),
        pytest.param(
            pod(limits={"cpu": "5", "memory": "1Gi"}, initContainers=[SIDECAR, container("6", "2Gi")]),
            "cpu-11",
            id="should schedule based on the max resource requests of containers and initContainers with sidecar containers "
            "when sidecar container comes first and init container resources are bigger than container resources",
        ),
        pytest.param(
            pod(
                limits={"cpu": "5", "memory": "1Gi"},
                initContainers=[container("6", "2Gi"), container("4", "2Gi", sidecar=True)],
                resources={"limits": {"cpu": "10", "memory": "4Gi"}, "requests": {"cpu": "9900m", "memory": "3900Mi"}},
            ),
            "cpu-10",
            id="should schedule based on the pod level resources requests",
        ),
    ],
)
def test_what_a_pod_needs(trial: NewTrial, waiting: Json, size: str) -> None:
    cluster = trial(types=SIZES)
    cluster.provision(waiting)
    assert cluster.labels("pod")[TYPE] == size


def of_daemonset(**fields: Any) -> Json:
    """A pod of the DaemonSet that waits for its Node."""
    made = pod("daemon-pod", owner={"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "daemon"}, **fields)
    return {**made, "status": {"phase": "Pending", "conditions": [{"type": "Ready", "status": "False"}]}}


LARGE, TWO, ONE = {"cpu": "4", "memory": "4Gi"}, {"cpu": "2", "memory": "2Gi"}, {"cpu": "1", "memory": "1Gi"}


@pytest.mark.parametrize(
    ("pool", "daemon", "its", "waiting"),
    [
        pytest.param(
            nodepool(),
            daemonset(requests=LARGE),
            of_daemonset(requests=TWO),
            pod(requests=ONE),
            id="should account for overhead using daemonset pod spec instead of daemonset spec",
        ),
        pytest.param(
            nodepool(labels={"foo": "bar"}),
            daemonset(requests=LARGE, needs=[need("foo", "In", "bar")]),
            of_daemonset(requests=TWO, needs=[need("metadata.name", "In", "node-name")]),
            pod(requests=ONE, nodeSelector={"foo": "bar"}),
            id="should remove daemonset node hostname affinity when considering daemonset schedulability",
        ),
    ],
)
def test_pods_of_daemonsets(trial: NewTrial, pool: Json, daemon: Json, its: Json, waiting: Json) -> None:
    """The pod that there is counts, not the template; something may have changed it on its way."""
    cluster = trial(pool, objects={"daemonsets": [daemon]})
    cluster.pods["default/daemon-pod"] = its
    cluster.provision(waiting)
    assert cluster.labels("pod")[TYPE] == "default-instance-type"
