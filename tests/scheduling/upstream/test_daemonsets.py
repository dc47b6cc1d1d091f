"""Room for DaemonSets. Source: core pkg/controllers/provisioning/suite_test.go, Daemonsets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.scheduling.upstream.cloud import SIZE, TYPE, ZONE
from tests.scheduling.upstream.objects import affinity, daemonset, need, nodepool, pod, port, taint
from tests.scheduling.upstream.trial import Trial

NewTrial = Callable[..., Trial]
Json = dict[str, Any]

TWO = {"cpu": "2", "memory": "2Gi"}
ONE = {"cpu": "1", "memory": "1Gi"}
HUGE = {"cpu": "10000", "memory": "10000Gi"}
SMALL, DEFAULT = "small-instance-type", "default-instance-type"
BAR = nodepool(labels={"foo": "bar"})
EITHER = affinity(terms=[[need("foo", "In", "voo")], [need("foo", "In", "bar")]])


def init(**resources: Json) -> list[Json]:
    return [{"name": "i", "resources": resources}]


COUNTED: list[tuple[str, Json, list[Json], Json, str]] = [
    # upstream's name, NodePool, DaemonSets, pod, size of the Node (empty: the pod stays pending); without the DaemonSet it is the small one
    ("should account for daemonsets", nodepool(), [daemonset(requests=TWO)], pod(requests=ONE), DEFAULT),
    (
        "should account for daemonset hostports",
        nodepool(),
        [daemonset(requests=TWO, ports=[port(8080)])],
        pod(requests=ONE, ports=[port(8080)]),
        "",
    ),
    (
        "should account for daemonsets (with startup taint)",
        nodepool(startup=[taint("foo.com/taint")]),
        [daemonset(requests=TWO)],
        pod(requests=ONE),
        DEFAULT,
    ),
    ("should not schedule if daemonset overhead is too large", nodepool(), [daemonset(requests=HUGE)], pod(), ""),
    (
        "should not schedule if resource requests are not defined and limits (requests) are too large",
        nodepool(),
        [daemonset(limits=HUGE, requests={"cpu": "1"})],
        pod(),
        "",
    ),
    (
        "should schedule based on the max resource requests of containers and initContainers",
        nodepool(),
        [
            daemonset(
                requests={"cpu": "1", "memory": "1Gi"}, initContainers=init(requests={"cpu": "3", "memory": "3Gi"})
            )
        ],
        pod(),
        DEFAULT,
    ),
    (
        "should not schedule if combined max resources are too large for any node",
        nodepool(),
        [daemonset(requests=ONE, initContainers=init(requests={"cpu": "1", "memory": "10000Gi"}))],
        pod(),
        "",
    ),
    (
        "should not schedule if initContainer resources are too large",
        nodepool(),
        [daemonset(initContainers=init(requests=HUGE))],
        pod(),
        "",
    ),
    (
        "should be able to schedule pods if resource requests and limits are not defined",
        nodepool(),
        [daemonset()],
        pod(),
        SMALL,
    ),
    (
        "should ignore daemonsets without matching tolerations",
        nodepool(taints=[taint("foo", "bar")]),
        [daemonset(requests=TWO)],
        pod(requests=ONE, tolerations=[{"operator": "Exists"}]),
        SMALL,
    ),
    (
        "should ignore daemonsets with an invalid selector",
        nodepool(),
        [daemonset(requests=TWO, nodeSelector={"node": "invalid"})],
        pod(requests=ONE),
        SMALL,
    ),
    (
        "should ignore daemonsets when no instance types meet the daemonset requirements",
        nodepool(),
        [daemonset(requests=TWO, needs=[need(TYPE, "In", "non-existent-instance-type")])],
        pod(requests=ONE),
        SMALL,
    ),
    (
        "should account for daemonsets with a custom label nodeSelector that matches the nodepool",
        nodepool(labels={"purpose": "monitoring"}),
        [daemonset(requests=TWO, nodeSelector={"purpose": "monitoring"})],
        pod(requests=ONE),
        DEFAULT,
    ),
    (
        "should filter out daemonsets based on instance type requirements",
        nodepool(),
        [
            daemonset("small", requests={"cpu": "1"}, needs=[need(SIZE, "In", "small")]),
            daemonset("large", requests={"cpu": "10"}, needs=[need(SIZE, "In", "large")]),
        ],
        pod(requests=ONE),
        DEFAULT,
    ),
    (
        "should account daemonsets with NotIn operator and unspecified key",
        nodepool(),
        [daemonset(requests=TWO, needs=[need("foo", "NotIn", "bar")])],
        pod(requests=ONE, needs=[need(ZONE, "In", "test-zone-2")]),
        DEFAULT,
    ),
    (
        "should consider a daemonset schedulable with multiple node affinity terms",
        BAR,
        [daemonset(requests=TWO, affinity=EITHER)],
        pod(requests=ONE),
        DEFAULT,
    ),
    (
        "should consider a daemonset schedulable with an incompatible node affinity preference",
        nodepool(),
        [daemonset(requests=TWO, prefers=[need("node", "In", "invalid")])],
        pod(requests=ONE),
        DEFAULT,
    ),
    (
        "should consider a daemonset schedulable with a PreferNoSchedule taint",
        nodepool(taints=[taint("test", effect="PreferNoSchedule")]),
        [daemonset(requests=TWO)],
        pod(requests=ONE),
        DEFAULT,
    ),
    (
        "should not account for daemonset hostports when daemonset would not schedule on selected node",
        nodepool(),
        [
            daemonset(
                "large",
                requests={"cpu": "4", "memory": "4Gi"},
                needs=[need(SIZE, "In", "large")],
                ports=[port(8080)],
            ),
            daemonset("small", requests=TWO, needs=[need(SIZE, "In", "small")], ports=[port(8081)]),
        ],
        pod(requests=ONE, needs=[need(SIZE, "In", "small")], ports=[port(8080)]),
        DEFAULT,
    ),
]


@pytest.mark.parametrize(("pool", "daemons", "waiting", "size"), [pytest.param(*row[1:], id=row[0]) for row in COUNTED])
def test_overhead(trial: NewTrial, pool: Json, daemons: list[Json], waiting: Json, size: str) -> None:
    cluster = trial(pool, objects={"daemonsets": daemons})
    cluster.provision(waiting)
    assert cluster.scheduled("pod") is bool(size)
    assert not size or cluster.labels("pod")[TYPE] == size
    alone = trial(pool)
    alone.provision(waiting)
    assert alone.labels("pod")[TYPE] == SMALL


@pytest.mark.parametrize(
    ("count", "requests"),
    [
        pytest.param(
            1,
            {"cpu": "2", "memory": "2Mi", "pods": "2"},
            id="should create a nodeclaim with resource requests with daemon overhead",
        ),
        pytest.param(
            2,
            {"cpu": "3", "memory": "3Mi", "pods": "3"},
            id="should not double-count daemon overhead when multiple pods are scheduled to the same nodeclaim",
        ),
    ],
)
def test_requests_of_a_nodeclaim(trial: NewTrial, count: int, requests: Json) -> None:
    amount = {"cpu": "1", "memory": "1Mi"}
    cluster = trial(objects={"daemonsets": [daemonset(requests=amount)]})
    (claim,) = cluster.provision(*(pod(f"pod-{n}", requests=amount) for n in range(count))).claims
    assert claim["nodeclaim"]["spec"]["resources"]["requests"] == requests
