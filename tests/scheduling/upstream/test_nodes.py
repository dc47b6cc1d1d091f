"""Nodes that exist, that are on their way and that go away. Source: core pkg/controllers/provisioning/scheduling/suite_test.go."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.scheduling.upstream.cloud import ARCH, GPU, HOST, OTHER_GPU, TYPE, ZONE, instance_type
from tests.scheduling.upstream.objects import affinity, daemonset, near, need, nodepool, pod, pods, port, spread, taint
from tests.scheduling.upstream.trial import Trial

NewTrial = Callable[..., Trial]
Json = dict[str, Any]

TINY = {"cpu": "10m"}
FOO = {"foo": "bar"}


def node(cluster: Trial, name: str, *, owned: bool = True, initialized: bool = True, **room: str) -> None:
    """A Node that says nothing of zone or size; `owned` ones have a NodeClaim."""
    state = {"karpenter.sh/registered": "true"} if owned else {}
    state |= {"karpenter.sh/initialized": "true"} if owned and initialized else {}
    labels = {"karpenter.azure.com/aksnodeclass": "default"} if owned else {}
    status = {"capacity": room, "allocatable": room}
    provider = f"fake:///{name}"
    if owned:
        cluster.nodeclaims[name] = {
            "metadata": {"name": name, "labels": labels},
            "spec": {"nodeClassRef": nodepool()["spec"]["template"]["spec"]["nodeClassRef"], "requirements": []},
            "status": {"providerID": provider, **status},
        }
    cluster.nodes[name] = {
        "metadata": {"name": name, "labels": {**labels, **state, HOST: name}},
        "spec": {"providerID": provider if owned else ""},
        "status": status,
    }


def several(cluster: Trial, count: int, **fields: Any) -> list[Json]:
    """NodeClaims of the usual NodePool, each with its uninitialized Node."""
    names = [f"made-{number:03}" for number in range(count)]
    for name in names:
        node(cluster, name, initialized=False, cpu="4", memory="4Gi", pods="5", **fields)
        for each in (cluster.nodes[name], cluster.nodeclaims[name]):
            each["metadata"]["labels"]["karpenter.sh/nodepool"] = "default"
    return [cluster.nodes[name] for name in names]


@pytest.mark.parametrize(
    ("first", "second", "together"),
    [
        pytest.param(
            {"requests": TINY},
            {"requests": TINY},
            True,
            id="should not launch a second node if there is an in-flight node that can support the pod",
        ),
        # 2 CPUs less 100m are there
        pytest.param(
            {"requests": {"cpu": "1001m"}},
            {"requests": {"cpu": "1"}},
            False,
            id="should launch a second node if a pod won't fit on the existingNodes node",
        ),
        pytest.param(
            {"requests": TINY},
            {"nodeSelector": {ARCH: "arm64"}},
            False,
            id="should launch a second node if a pod isn't compatible with the existingNodes node (node selector)",
        ),
        pytest.param(
            {"requests": TINY, "needs": [need(ZONE, "In", "test-zone-2")]},
            {"requests": TINY, "needs": [need(ZONE, "In", "test-zone-1", "test-zone-2")]},
            True,
            id="should not launch a second node if there is an in-flight node that can support the pod (node selectors)",
        ),
        pytest.param(
            {"requests": TINY, "needs": [need(ZONE, "In", "test-zone-2")]},
            {"requests": TINY, "needs": [need(ZONE, "In", "test-zone-1", "test-zone-3")]},
            False,
            id="should launch a second node if the zone of the first is wrong",
        ),
    ],
)
def test_a_second_pod(trial: NewTrial, first: Json, second: Json, together: bool) -> None:
    cluster = trial()
    cluster.provision(pod("first", **first))
    plan = cluster.provision(pod("second", **second))
    assert (cluster.node("first") is cluster.node("second")) is together
    assert len(plan.claims) == (0 if together else 1)


def test_a_node_that_is_gone(trial: NewTrial) -> None:
    """should launch a second node if an in-flight node is terminating"""
    cluster = trial()
    cluster.provision(pod("first", requests=TINY))
    cluster.delete_pod("first")
    cluster.nodes.clear()
    cluster.nodeclaims.clear()
    assert len(cluster.provision(pod("second", requests=TINY)).claims) == 1


def test_zones_are_filled_up(trial: NewTrial) -> None:
    """should balance pods across zones with in-flight nodes"""
    cluster = trial()
    rules = {"labels": FOO, "topologySpreadConstraints": [spread(ZONE, FOO)]}
    cluster.provision(*pods(4, "first", **rules))
    assert cluster.zones(FOO) == [1, 1, 2]
    plan = cluster.provision(*pods(5, "second", **rules))
    assert cluster.zones(FOO) == [3, 3, 3]
    assert not plan.claims


def test_new_hosts_are_preferred(trial: NewTrial) -> None:
    """should balance pods across hostnames with in-flight nodes"""
    cluster = trial()
    rules = {"labels": FOO, "topologySpreadConstraints": [spread(HOST, FOO)]}
    cluster.provision(*pods(4, "first", **rules))
    cluster.provision(*pods(5, "second", **rules))
    assert cluster.skew(HOST, FOO) == [1] * 9


NOT_READY = taint("node.kubernetes.io/not-ready", effect="NoExecute")
CUSTOM = taint("foo.com/taint", "tainted")


def emptied(cluster: Trial, taints: list[Json] | None = None, *, initialized: bool = False) -> Json:
    """A large Node whose pod is gone, with these taints if any are given."""
    cluster.provision(pod("first", requests={"cpu": "8"}))
    found = cluster.node("first")
    cluster.delete_pod("first")
    if initialized:
        cluster.initialize()
    if taints is not None:
        found["spec"]["taints"] = taints
    return found


@pytest.mark.parametrize(
    ("pool", "taints", "initialized", "taken"),
    [
        pytest.param(
            nodepool(), [], False, True, id="should assume pod will schedule to a tainted node with no taints"
        ),
        pytest.param(
            nodepool(),
            [NOT_READY],
            False,
            True,
            id="should assume pod will schedule to a node with ephemeral taint node.kubernetes.io/not-ready:NoExecute when the node is uninitialized",  # noqa: E501 - upstream's name
        ),
        pytest.param(nodepool(), [NOT_READY], True, False, id="and not when it is initialized"),
        pytest.param(nodepool(), [CUSTOM], True, False, id="should not assume pod will schedule to a tainted node"),
        pytest.param(
            nodepool(startup=[CUSTOM]),
            None,
            False,
            True,
            id="should assume pod will schedule to a tainted node with a custom startup taint",
        ),
        pytest.param(
            nodepool(startup=[CUSTOM]),
            [CUSTOM],
            True,
            False,
            id="should not assume pod will schedule to a node with startup taints after initialization",
        ),
        pytest.param(
            nodepool(),
            [
                taint("node.kubernetes.io/not-ready"),
                taint("node.kubernetes.io/unreachable"),
                taint("node.cloudprovider.kubernetes.io/uninitialized", "true"),
            ],
            True,
            False,  # upstream's "should consider a tainted NotReady node as in-flight even if initialized" does not tell its state
            id="and the same holds of what a kubelet and a cloud provider set",
        ),
    ],
)
def test_taints(trial: NewTrial, pool: Json, taints: list[Json] | None, initialized: bool, taken: bool) -> None:
    cluster = trial(pool)
    empty = emptied(cluster, taints, initialized=initialized)
    if pool["spec"]["template"]["spec"].get("startupTaints") and not initialized:
        assert CUSTOM in empty["spec"]["taints"]
    cluster.provision(pod("second"))
    assert (cluster.node("second") is empty) is taken


def daemon_pod(cluster: Trial, name: str, on: str, **fields: Any) -> None:
    """A DaemonSet's pod that runs."""
    owner = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": name}
    made = pod(f"{name}-pod", on=on, owner=owner, **fields)
    cluster.pods[f"default/{name}-pod"] = made


def test_daemons_that_run_are_not_reckoned_twice(trial: NewTrial) -> None:
    """should track daemonset usage separately so we know how many DS resources are remaining to be scheduled"""
    cluster = trial(objects={"daemonsets": [daemonset(requests={"cpu": "1", "memory": "1Gi"})]})
    empty = emptied(cluster)
    daemon_pod(cluster, "daemon", empty["metadata"]["name"], requests={"cpu": "1", "memory": "2Gi"})
    # 16 CPUs less 100m and the one that the daemon has
    cluster.provision(pod("second", requests={"cpu": "14900m"}))
    assert cluster.node("second") is empty


def test_daemons_that_come_unexpectedly(trial: NewTrial) -> None:
    """should handle unexpected daemonset pods binding to the node"""
    selector = {"my-node-label": "value"}
    strange = daemonset("strange", nodeSelector=selector, requests={"cpu": "1", "memory": "1Gi"})
    cluster = trial(objects={"daemonsets": [strange, daemonset("small", requests={"cpu": "1m"})]})
    empty = emptied(cluster)
    empty["metadata"]["labels"].update(selector)  # nobody told Karpenter
    fields = {"nodeSelector": selector, "requests": {"cpu": "1", "memory": "2Gi"}}
    daemon_pod(cluster, "strange", empty["metadata"]["name"], **fields)
    cluster.provision(pod("second", requests={"cpu": "15500m"}))
    assert cluster.node("second") is not empty


STATE = ("karpenter.sh/initialized", "karpenter.sh/registered")


def test_daemons_that_wait_for_a_state(trial: NewTrial) -> None:
    """Should properly handle DaemonSet resources with Node Affinity for `karpenter.sh/initialized` and `karpenter.sh/registered`"""
    daemons = [
        daemonset(key.partition("/")[2], needs=[need(key, "In", "true")], requests={"cpu": "1"}) for key in STATE
    ]
    cluster = trial(objects={"daemonsets": daemons})
    plan = cluster.provision(pod(requests={"cpu": "2"}))
    assert cluster.labels("pod")[TYPE] == "arm-instance-type"  # two of the four CPUs of the others would not do
    made = plan.claims[0]["nodeclaim"]
    assert not {*STATE} & ({each["key"] for each in made["requirements"]} | {*made["metadata"]["labels"]})


def test_nodes_are_filled_before_others_are_made(trial: NewTrial) -> None:
    """should pack in-flight nodes before launching new nodes"""
    cluster = trial(types=[instance_type("medium", cpu="4250m", pods="4")])
    total = 0
    for turn, count in enumerate((3, 7, 0, 1, 9, 5, 2, 8, 6, 4)):
        cluster.provision(*pods(count, f"turn-{turn}", requests={"cpu": "1"}))
        total += count
    assert sorted(cluster.skew(HOST, {}))[1:] == [4] * (len(cluster.nodes) - 1)
    assert len(cluster.nodes) == -(-total // 4)


def test_a_pod_that_is_not_bound_yet(trial: NewTrial) -> None:
    """should not launch a second node if there is an in-flight node that can support the pod (#2011)"""
    cluster = trial()
    assert len(cluster.provision(pod(requests=TINY), bind=False).claims) == 1
    assert not cluster.provision(bind=False).claims


def test_two_pods_that_are_not_bound_yet(trial: NewTrial) -> None:
    """should not bind pods to nodes"""
    cluster = trial()
    cluster.provision(pod("first", requests=TINY), bind=False)
    cluster.provision(pod("second", requests=TINY), bind=False)
    assert len(cluster.nodes) == 1


@pytest.mark.parametrize(
    "registered",
    [
        pytest.param(True, id="should order initialized nodes for scheduling uninitialized nodes"),
        pytest.param(
            False,
            id="should order initialized nodes for scheduling uninitialized nodes when all other nodes are inflight",
        ),
    ],
)
@pytest.mark.parametrize("chosen", [0, 41, 99])
def test_initialized_nodes_come_first(trial: NewTrial, registered: bool, chosen: int) -> None:
    cluster = trial()
    nodes = several(cluster, 100)
    name = nodes[chosen]["metadata"]["name"]
    cluster.initialize(name)
    if not registered:
        cluster.nodes = {name: cluster.nodes[name]}
    cluster.provision(pod())
    assert cluster.node("pod")["metadata"]["name"] == name


def test_host_ports(trial: NewTrial) -> None:
    """should schedule pods with the same host port to different nodes"""
    plan = trial().provision(*pods(2, ports=[port(8080)]))
    assert plan.groups() == [["pod-00"], ["pod-01"]]


@pytest.mark.parametrize(
    "count",
    [
        pytest.param(1, id="should schedule a pod to an existing node unowned by Karpenter"),
        pytest.param(100, id="should schedule multiple pods to an existing node unowned by Karpenter"),
    ],
)
def test_nodes_that_karpenter_did_not_make(trial: NewTrial, count: int) -> None:
    cluster = trial()
    node(cluster, "own", owned=False, cpu="10", memory="100Gi", pods="110")
    plan = cluster.provision(*pods(count, requests=TINY, limits=TINY))
    assert [*plan.existing()] == ["own"]
    assert not plan.claims


def test_a_node_that_says_nothing_of_its_zone(trial: NewTrial) -> None:
    """should consider a pod incompatible with an existing node but compatible with NodePool"""
    cluster = trial()
    cluster.pools.clear()
    node(cluster, "there", cpu="10", memory="10Gi", pods="110")
    plan = cluster.provision(pod(needs=[need(ZONE, "In", "test-zone-1")]))
    assert not cluster.scheduled("pod")
    assert not plan.claims
    cluster.pools.append(nodepool())
    assert len(cluster.provision().claims) == 1


def test_daemons_that_cannot_run_on_a_node(trial: NewTrial) -> None:
    """should not subtract daemonset overhead that is not strictly compatible with an existing node"""
    huge = daemonset(requests={"cpu": "100", "memory": "100Gi"}, needs=[need(ZONE, "In", "test-zone-1")])
    cluster = trial(objects={"daemonsets": [huge]})
    node(cluster, "there", cpu="1", memory="1Gi", pods="110")
    cluster.provision(pod("first", requests={"cpu": "1", "memory": "1Gi"}))
    assert cluster.node("first")["metadata"]["name"] == "there"
    assert not cluster.provision(pod("second", requests={"cpu": "1", "memory": "1Gi"})).claims


def test_devices_that_have_not_shown_up_yet(trial: NewTrial) -> None:
    """should handle resource zeroing of extended resources by kubelet"""
    cluster = trial()
    wants = {"cpu": "10m", GPU: "1"}
    cluster.provision(pod("first", limits=wants), bind=False)
    (made,) = cluster.nodes.values()
    made["status"] = {"capacity": {GPU: "0"}, "allocatable": {OTHER_GPU: "0"}}
    cluster.provision(pod("second", limits=wants), bind=False)
    assert len(cluster.nodes) == 1


def test_affinity_to_a_pod_that_is_not_bound_yet(trial: NewTrial) -> None:
    """should respect self pod affinity without pod binding (zone)"""
    labels = {"security": "s2"}
    cluster = trial()
    for each in pods(2, labels=labels, affinity=affinity(near=[near(ZONE, labels)])):
        cluster.provision(each, bind=False)
    assert len(cluster.nodes) == 1
