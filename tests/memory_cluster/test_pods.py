"""Pods: scheduling, binding, eviction with budgets, graceful deletion, and the workloads that make them."""

from typing import Any

import pytest

from harness import testing
from harness.engine.ports import SCHEDULER, Identity
from harness.kube.api.objects import condition
from harness.kube.api.status import ApiError
from tests.memory_cluster.running import run_pods

Object = dict[str, Any]


def pod(name: str = "p", cpu: str = "1", labels: dict[str, str] | None = None, **spec: Any) -> Object:
    return testing.pod(name, cpu, "", labels=labels, **spec)


def node(name: str = "n", cpu: str = "4", labels: dict[str, str] | None = None, **spec: Any) -> Object:
    return testing.node(name, cpu, "8Gi", pods="3", labels=labels, **spec)


def placed(cluster: Any, name: str = "p") -> str | None:
    return cluster.view.get("Pod", name, "default")["spec"].get("nodeName")


def why(cluster: Any, name: str = "p") -> str:
    found = condition(cluster.view.get("Pod", name, "default"), "PodScheduled")
    assert found is not None
    assert found["status"] == "False"
    assert found["reason"] == "Unschedulable"
    return found["message"]


def apply(cluster: Any, *objects: Object) -> None:
    for obj in objects:
        cluster.admin.create(obj)
    cluster.settle()


def test_without_nodes(cluster):
    apply(cluster, pod())
    assert why(cluster) == "no nodes available to schedule pods"


def test_a_ready_node_takes_the_pod(cluster):
    apply(cluster, pod(), node())
    assert placed(cluster) == "n"


def test_binding_leaves_the_status_as_it_is(cluster):
    """Source: kubernetes pkg/registry/core/pod/storage/storage.go (setPodNodeAndMetadata)."""
    apply(cluster, pod())
    ours = {"type": "example.com/Ours", "status": "True"}
    status = {"conditions": [*cluster.view.get("Pod", "p", "default")["status"]["conditions"], ours]}
    cluster.admin.patch("Pod", "p", {"status": status}, namespace="default", subresource="status")
    apply(cluster, node())
    bound = cluster.view.get("Pod", "p", "default")["status"]
    assert bound["phase"] == "Pending"
    assert [(each["type"], each["status"]) for each in bound["conditions"]] == [
        ("PodScheduled", "True"),
        ("example.com/Ours", "True"),
    ]


def test_pods_with_volumes_are_judged_one_by_one(cluster):
    claims = [{"name": "v", "persistentVolumeClaim": {"claimName": "missing"}}]
    apply(cluster, pod("a", volumes=claims), pod("b", volumes=[{"name": "v", "emptyDir": {}}]), node())
    assert 'persistentvolumeclaim "missing" not found' in why(cluster, "a")
    assert placed(cluster, "b") == "n"


def test_what_one_pod_was_refused_an_equal_one_gets_once_another_has_been_bound(cluster):
    term = {"labelSelector": {"matchLabels": {"app": "db"}}, "topologyKey": "kubernetes.io/hostname"}
    near_db = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    apply(cluster, pod("a", affinity=near_db), pod("b", affinity=near_db), pod("db", labels={"app": "db"}))
    apply(cluster, pod("c", affinity=near_db), node())  # one round: a and b are refused, db and then c bound
    assert placed(cluster, "db") == placed(cluster, "c") == "n"
    assert placed(cluster, "a") == "n"  # tried again after that
    assert "1 Too many pods" in why(cluster, "b")


FAILURES = [
    ({"cpu": "5"}, {}, "1 Insufficient cpu", True),
    ({"nodeSelector": {"a": "b"}}, {}, "1 node(s) didn't match Pod's node affinity/selector", True),
    (
        {},
        {"taints": [{"key": "k", "value": "v", "effect": "NoSchedule"}]},
        "1 node(s) had untolerated taint(s)",
        True,
    ),
    ({}, {"unschedulable": True}, "1 node(s) were unschedulable", True),
]


@pytest.mark.parametrize(("of_pod", "of_node", "reason", "helpless"), FAILURES)
def test_the_sentence_of_an_unschedulable_pod(cluster, of_pod, of_node, reason, helpless):
    apply(cluster, node(**of_node), pod(**of_pod))
    help_ = "Preemption is not helpful for scheduling" if helpless else "No preemption victims found for incoming pod"
    assert why(cluster) == (
        f"0/1 nodes are available: {reason}. no new claims to deallocate, "
        f"preemption: 0/1 nodes are available: 1 {help_}."
    )


def test_a_full_node_counts_each_reason(cluster):
    apply(cluster, node("a", cpu="1"), node("b", cpu="1"), *(pod(f"p{i}", cpu="1") for i in range(3)))
    assert {placed(cluster, "p0"), placed(cluster, "p1")} == {"a", "b"}
    assert why(cluster, "p2") == (
        "0/2 nodes are available: 2 Insufficient cpu. no new claims to deallocate, "
        "preemption: 0/2 nodes are available: 2 No preemption victims found for incoming pod."
    )


def test_host_ports_exclude_each_other(cluster):
    port = {"containers": [{"name": "c", "ports": [{"hostPort": 80, "containerPort": 80, "protocol": "TCP"}]}]}
    apply(cluster, node(), pod("p1", **port), pod("p2", **port))
    assert "1 node(s) didn't have free ports for the requested pod ports" in why(cluster, "p2")


def test_topology_spread(cluster):
    zones = [node(f"n{zone}{i}", labels={"zone": zone}) for zone in "ab" for i in range(1)]
    spread = {
        "topologySpreadConstraints": [
            {
                "maxSkew": 1,
                "topologyKey": "zone",
                "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": {"matchLabels": {"app": "x"}},
            }
        ]
    }
    apply(cluster, *zones, *(pod(f"p{i}", labels={"app": "x"}, **spread) for i in range(4)))
    assert sorted(str(placed(cluster, f"p{i}")) for i in range(4)) == ["na0", "na0", "nb0", "nb0"]


def test_anti_affinity_both_ways(cluster):
    term = {"labelSelector": {"matchLabels": {"app": "x"}}, "topologyKey": "kubernetes.io/hostname"}
    lonely = {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}
    apply(cluster, node(), pod("first", labels={"app": "x"}, **lonely))
    apply(cluster, pod("second", labels={"app": "x"}), pod("third", labels={"app": "y"}, **lonely))
    assert "1 node(s) didn't satisfy existing pods anti-affinity rules" in why(cluster, "second")
    assert "1 node(s) didn't match pod anti-affinity rules" in why(cluster, "third")


HIGH = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 1000}


def test_a_promise_stands_while_others_leave_and_falls_when_the_node_takes_nobody(cluster):
    apply(cluster, HIGH, node(cpu="2"), pod("low", cpu="2"))
    apply(cluster, pod("big", cpu="2", priorityClassName="high"))

    def promised():
        return cluster.view.get("Pod", "big", "default")["status"].get("nominatedNodeName")

    assert promised() == "n"
    assert "deletionTimestamp" in cluster.view.get("Pod", "low", "default")["metadata"]
    cluster.admin.patch("Node", "n", {"metadata": {"labels": {"looked": "at"}}})
    cluster.settle()
    assert "not eligible due to a terminating pod on the nominated node" in why(cluster, "big")
    assert promised() == "n"
    cluster.admin.patch("Node", "n", {"spec": {"unschedulable": True}})
    cluster.settle()
    assert promised() is None


def test_pods_of_a_spent_budget_are_the_last_to_leave_for_another(cluster):
    low = {**HIGH, "metadata": {"name": "middle"}, "value": 10}
    apply(cluster, HIGH, low, node("a", cpu="2"), node("b", cpu="2"))
    apply(cluster, pod("least", cpu="2", labels={"app": "x"}, nodeName="a"))
    apply(cluster, pod("more", cpu="2", priorityClassName="middle", nodeName="b"), budget(minAvailable=1))
    apply(cluster, pod("big", cpu="2", priorityClassName="high"))
    assert cluster.view.get("Pod", "big", "default")["status"]["nominatedNodeName"] == "b"
    assert "deletionTimestamp" not in cluster.view.get("Pod", "least", "default")["metadata"]


def test_preferred_affinity_follows_a_pod(cluster):
    nodes = [{**node(f"n{zone}", labels={"zone": zone}), "status": {}} for zone in "ab"]
    for each in nodes:
        each["status"] = testing.node("x", "40", "80Gi", pods="40")["status"]
    term = {"labelSelector": {"matchLabels": {"app": "db"}}, "topologyKey": "zone"}
    near = {
        "podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 100, "podAffinityTerm": term}]}
    }
    apply(cluster, *nodes, pod("db", labels={"app": "db"}, nodeSelector={"zone": "b"}))
    apply(cluster, *(pod(f"p{number}", affinity=near) for number in range(8)))
    assert {placed(cluster, f"p{number}") for number in range(8)} == {"nb"}


def test_a_preference_of_names_counts_and_one_of_nothing_is_for_no_node(cluster):
    def preferring(*terms):
        return {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [*terms]}}

    named = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["nb"]}]}
    roomy = testing.node("x", "40", "80Gi", pods="40")["status"]
    apply(cluster, *({**node(f"n{zone}"), "status": roomy} for zone in "ab"))
    likes = preferring({"weight": 1, "preference": named}, {"weight": 100, "preference": {}})
    apply(cluster, *(pod(f"p{number}", affinity=likes) for number in range(8)))
    assert {placed(cluster, f"p{number}") for number in range(8)} == {"nb"}


def test_affinity_follows_a_pod(cluster):
    term = {"labelSelector": {"matchLabels": {"app": "x"}}, "topologyKey": "zone"}
    follows = {"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}
    apply(cluster, node("a", labels={"zone": "1"}), node("b", labels={"zone": "2"}), node("c", labels={"zone": "2"}))
    apply(cluster, pod("lead", labels={"app": "x"}, nodeSelector={"kubernetes.io/hostname": "b"}))
    apply(cluster, pod("f1", **follows), pod("f2", **follows))
    assert {placed(cluster, "f1"), placed(cluster, "f2")} <= {"b", "c"}


def test_a_node_that_becomes_ready_loses_its_taint_and_takes_pods(cluster):
    unready = node()
    unready["status"]["conditions"] = [{"type": "Ready", "status": "False"}]
    apply(cluster, pod(), unready)
    assert placed(cluster) is None
    ready = {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}
    cluster.admin.patch("Node", "n", ready, type="strategic", subresource="status")
    cluster.settle()
    assert placed(cluster) == "n"
    assert not cluster.view.get("Node", "n")["spec"].get("taints")


def test_binding_twice_is_a_conflict(cluster):
    apply(cluster, pod(schedulerName="mine"), node())
    scheduler = cluster.writer(SCHEDULER)
    scheduler.bind("p", "default", "n")
    with pytest.raises(ApiError) as caught:
        scheduler.bind("p", "default", "other")
    assert (caught.value.code, caught.value.reason) == (409, "Conflict")
    assert condition(cluster.view.get("Pod", "p", "default"), "PodScheduled")["status"] == "True"


def budget(**spec: Any) -> Object:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "b"},
        "spec": {"selector": {"matchLabels": {"app": "x"}}, **spec},
    }


def running(cluster: Any, count: int) -> None:
    apply(cluster, node(), *(pod(f"p{i}", labels={"app": "x"}) for i in range(count)))
    status = {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}
    for i in range(count):
        cluster.admin.patch("Pod", f"p{i}", status, namespace="default", type="strategic", subresource="status")
    cluster.settle()


def test_a_spent_budget_forbids_eviction(cluster):
    running(cluster, 2)
    apply(cluster, budget(minAvailable=1))
    cluster.admin.evict("p0", "default")
    with pytest.raises(ApiError) as caught:
        cluster.admin.evict("p1", "default")
    assert (caught.value.code, caught.value.reason) == (429, "TooManyRequests")
    assert caught.value.message == "Cannot evict pod as it would violate the pod's disruption budget."
    cluster.settle()
    with pytest.raises(ApiError) as caught:
        cluster.admin.evict("p1", "default")
    (cause,) = caught.value.status["details"]["causes"]
    assert cause["message"] == "The disruption budget b needs 1 healthy pods and has 1 currently"


def test_two_budgets_on_a_pod_are_an_error(cluster):
    running(cluster, 1)
    apply(cluster, budget(minAvailable=0), {**budget(minAvailable=0), "metadata": {"name": "b2"}})
    with pytest.raises(ApiError) as caught:
        cluster.admin.evict("p0", "default")
    assert caught.value.code == 500
    assert "more than one PodDisruptionBudget" in caught.value.message


def test_eviction_has_a_uid_precondition(cluster):
    running(cluster, 1)
    with pytest.raises(ApiError) as caught:
        cluster.admin.evict("p0", "default", uid="other")
    assert caught.value.code == 409


def test_a_running_pod_leaves_in_its_grace_period(cluster):
    running(cluster, 1)
    cluster.admin.delete("Pod", "p0", namespace="default")
    leaving = cluster.view.get("Pod", "p0", "default")
    assert leaving["metadata"]["deletionGracePeriodSeconds"] == 30
    cluster.writer(Identity.node("n")).delete("Pod", "p0", namespace="default", grace_period_seconds=0)
    assert cluster.view.get("Pod", "p0", "default") is None


def test_a_pending_pod_leaves_at_once(cluster):
    apply(cluster, pod())
    cluster.admin.delete("Pod", "p", namespace="default")
    assert cluster.view.get("Pod", "p", "default") is None


def template(**spec: Any) -> Object:
    return {
        "metadata": {"labels": {"app": "x"}},
        "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}], **spec},
    }


def workload(kind: str, api: str = "apps/v1", **spec: Any) -> Object:
    return {
        "apiVersion": api,
        "kind": kind,
        "metadata": {"name": "w"},
        "spec": {"selector": {"matchLabels": {"app": "x"}}, "template": template(), **spec},
    }


def pods(cluster: Any) -> list[str]:
    return [each["metadata"]["name"] for each in cluster.view.list("Pod")]


def test_a_deployment_keeps_its_replicas_and_its_owner_takes_them_along(cluster):
    apply(cluster, workload("Deployment", replicas=3))
    assert len(pods(cluster)) == 3
    cluster.admin.delete("Pod", pods(cluster)[0], namespace="default")
    cluster.settle()
    assert len(pods(cluster)) == 3
    cluster.admin.scale("Deployment", "w", "default", 1)
    cluster.settle()
    assert len(pods(cluster)) == 1
    cluster.admin.delete("Deployment", "w", namespace="default")
    cluster.settle()
    assert pods(cluster) == []
    assert not cluster.view.list("ReplicaSet")


def test_a_new_template_replaces_the_pods(cluster):
    run_pods(cluster)
    apply(cluster, workload("Deployment", replicas=2))
    before = set(pods(cluster))
    cluster.admin.patch("Deployment", "w", {"spec": {"template": template(priorityClassName="")}}, namespace="default")
    cluster.settle()
    assert len(pods(cluster)) == 2
    assert not before & set(pods(cluster))


def test_a_daemon_set_has_a_pod_on_each_node_that_it_tolerates(cluster):
    tainted = node("c", taints=[{"key": "k", "effect": "NoSchedule"}])
    apply(cluster, node("a"), node("b"), tainted, workload("DaemonSet"))
    assert sorted(str(each["spec"].get("nodeName")) for each in cluster.view.list("Pod")) == ["a", "b"]
    cluster.admin.delete("Node", "a")
    cluster.settle()
    assert [each["spec"].get("nodeName") for each in cluster.view.list("Pod")] == ["b"]


def test_a_stateful_set_starts_in_order(cluster):
    apply(cluster, workload("StatefulSet", replicas=2))
    assert pods(cluster) == ["w-0"]
    status = {"status": {"phase": "Running"}}
    cluster.admin.patch("Pod", "w-0", status, namespace="default", subresource="status")
    cluster.settle()
    assert pods(cluster) == ["w-0"]
    ready = {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}
    cluster.admin.patch("Pod", "w-0", ready, namespace="default", subresource="status")
    cluster.settle()
    assert pods(cluster) == ["w-0", "w-1"]


def test_a_job_has_its_parallelism(cluster):
    made = template()
    made["spec"]["restartPolicy"] = "Never"
    apply(cluster, workload("Job", api="batch/v1", parallelism=2, completions=3, template=made))
    assert len(pods(cluster)) == 2
    done = {"status": {"phase": "Succeeded"}}
    for name in pods(cluster):
        cluster.admin.patch("Pod", name, done, namespace="default", subresource="status")
    cluster.settle()
    assert len(pods(cluster)) == 3
