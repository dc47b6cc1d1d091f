"""What makes kube-scheduler look at waiting pods again, and where it puts them.

Source: kubernetes pkg/scheduler/eventhandlers.go, pkg/scheduler/framework/events.go (PodSchedulingPropertiesChange),
pkg/scheduler/backend/queue/scheduling_queue.go (AssignedPodAdded, isPodUpdated), pkg/scheduler/schedule_one.go (selectHost, bind).
"""

from __future__ import annotations

from typing import Any

import pytest

from harness.clusters.memory.writer import MemoryWriter
from harness.engine.ports import ADMIN
from harness.kube.api.status import ApiError
from harness.testing import node, pod
from harness.world import World


def world(*objects: Any, seed: int = 0) -> World:
    made = World(seed=seed)
    made.apply(*objects)
    made.settle()
    return made


def place(of: World, name: str) -> str | None:
    found = of.get("Pod", name)
    assert found is not None
    place: str | None = found["spec"].get("nodeName")
    return place


def spread(name: str) -> dict[str, Any]:
    constraint = {
        "maxSkew": 1,
        "topologyKey": "kubernetes.io/hostname",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }
    return pod(name, "1", labels={"app": "web"}, topologySpreadConstraints=[constraint])


def test_a_pod_finds_its_place_when_the_domain_that_was_too_empty_is_gone() -> None:
    hosts = [node(name, cpu, labels={"kubernetes.io/hostname": name}) for name, cpu in (("large", "4"), ("tiny", "0"))]
    of = world(*hosts, spread("one"))
    of.apply(spread("two"))
    of.settle()
    assert (place(of, "one"), place(of, "two")) == ("large", None)
    of.cluster.writer(ADMIN).delete("Node", "tiny")
    of.settle()
    assert place(of, "two") == "large"


def test_a_pod_finds_its_place_when_the_node_offers_more() -> None:
    of = world(node("small", "1"), pod("p", "2"))
    assert place(of, "p") is None
    status = {"status": {"allocatable": {"cpu": "4"}, "capacity": {"cpu": "4"}}}
    of.cluster.writer(ADMIN).patch("Node", "small", status, subresource="status")
    of.settle()
    assert place(of, "p") == "small"


def test_the_room_that_was_made_for_a_pod_is_free_when_it_goes() -> None:
    classes = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 9}
    held = pod("victim", "2")
    held["metadata"]["finalizers"] = ["example.com/hold"]
    of = world(node("n", "3"), classes, held)
    assert place(of, "victim") == "n"
    of.apply(pod("urgent", "3", priorityClassName="high"))
    of.settle()
    urgent = of.get("Pod", "urgent")
    assert urgent is not None
    assert urgent["status"]["nominatedNodeName"] == "n"
    of.apply(pod("small", "1"))
    of.settle()
    assert place(of, "small") is None
    of.cluster.writer(ADMIN).delete("Pod", "urgent", namespace="default")
    of.settle()
    assert place(of, "small") == "n"


def test_equal_nodes_are_drawn_from() -> None:
    assert {place(world(node("a"), node("b"), pod("p"), seed=seed), "p") for seed in range(8)} == {"a", "b"}


def test_a_pod_that_asks_for_less_leaves_room() -> None:
    of = world(node("n", "4"), pod("p", "3"))
    found = of.get("Pod", "p")
    assert found is not None
    containers = [{**each, "resources": {"requests": {"cpu": "1"}}} for each in found["spec"]["containers"]]
    of.cluster.writer(ADMIN).patch(
        "Pod", "p", {"spec": {"containers": containers}}, namespace="default", subresource="resize"
    )
    of.apply(pod("q", "3"))
    of.settle()
    assert place(of, "q") == "n"


@pytest.mark.parametrize("code", [404, 409, 422])
def test_a_pod_that_was_gone_or_bound_before_is_left_alone(monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    def refused(self: MemoryWriter, name: str, namespace: str, node: str) -> None:
        raise ApiError(code, "", "no")

    monkeypatch.setattr(MemoryWriter, "bind", refused)
    of = World()
    of.apply(node("n"), pod("p"))
    if code == 422:
        with pytest.raises(ApiError, match="no"):
            of.settle()
    else:
        of.settle()
    assert not [each for each in of.events if each.reason == "Scheduled"]


def scheduled(of: World, name: str) -> dict[str, Any]:
    found = of.get("Pod", name)
    assert found is not None
    (only,) = (each for each in found["status"]["conditions"] if each["type"] == "PodScheduled")
    return dict(only)


def test_a_pod_has_waited_since_it_was_first_refused() -> None:
    """Source: kubernetes pkg/api/v1/pod/util.go (UpdatePodCondition)."""
    of = world(node("a", "1"), pod("p", "2"))
    first = scheduled(of, "p")
    of.advance(60)
    of.apply(node("b", "1"))
    of.settle()
    second = scheduled(of, "p")
    assert (first["message"][:3], second["message"][:3]) == ("0/1", "0/2")
    assert second["lastTransitionTime"] == first["lastTransitionTime"]
    condition = {"type": "PodScheduled", "status": "True", "lastTransitionTime": first["lastTransitionTime"]}
    of.cluster.writer(ADMIN).patch(
        "Pod", "p", {"status": {"conditions": [condition]}}, namespace="default", subresource="status"
    )
    of.advance(60)
    now = of.clock.timestamp()
    of.apply(node("c", "1"))
    of.settle()
    assert (scheduled(of, "p")["status"], scheduled(of, "p")["lastTransitionTime"]) == ("False", now)


def with_others(kind: str, name: str = "p", **fields: Any) -> dict[str, Any]:
    """A pod that is to be on a host with a pod of the database, or is not."""
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "db"}}}
    return pod(name, affinity={kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}, **fields)


def change(of: World, name: str, patch: dict[str, Any], subresource: str = "") -> None:
    of.cluster.writer(ADMIN).patch("Pod", name, patch, namespace="default", subresource=subresource)


def test_a_pod_that_looks_for_another_finds_its_place_when_that_one_is_bound() -> None:
    of = world(node("n"), with_others("podAffinity"))
    of.apply(pod("other", labels={"app": "web"}))
    of.settle()
    assert (place(of, "other"), place(of, "p")) == ("n", None)
    of.apply(pod("db", labels={"app": "db"}))
    of.settle()
    assert (place(of, "db"), place(of, "p")) == ("n", "n")


def test_a_spread_pod_finds_its_place_when_another_is_bound_elsewhere() -> None:
    hosts = [node("a"), node("b", "1", labels={"place": "b"})]
    of = world(*hosts, pod("one", labels={"app": "web"}, nodeName="a"), pod("full", nodeName="b"))
    of.apply(spread("two"))
    of.settle()
    assert place(of, "two") is None
    of.apply(pod("three", "", "", labels={"app": "web"}, nodeSelector={"place": "b"}))
    of.settle()
    assert (place(of, "three"), place(of, "two")) == ("b", "a")


@pytest.mark.parametrize(("kind", "before", "after"), [("podAffinity", "web", "db"), ("podAntiAffinity", "db", "web")])
def test_a_pod_finds_its_place_when_the_labels_of_one_that_runs_change(kind: str, before: str, after: str) -> None:
    of = world(node("n"), pod("other", labels={"app": before}, nodeName="n"), with_others(kind))
    assert place(of, "p") is None
    change(of, "other", {"metadata": {"labels": {"app": after}}})
    of.settle()
    assert place(of, "p") == "n"


def test_a_pod_finds_its_place_when_its_own_labels_are_no_longer_those_that_another_keeps_away() -> None:
    of = world(node("n"), with_others("podAntiAffinity", "alone", nodeName="n"), pod("p", labels={"app": "db"}))
    assert place(of, "p") is None
    change(of, "p", {"metadata": {"labels": {"app": "web"}}})
    of.settle()
    assert place(of, "p") == "n"


def test_a_pod_finds_its_place_when_another_takes_less() -> None:
    of = world(node("n", "4"), pod("large", "3", nodeName="n"), pod("p", "2"))
    assert place(of, "p") is None
    containers = [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "2", "memory": "1Gi"}}}]
    change(of, "large", {"spec": {"containers": containers}}, "resize")
    of.settle()
    assert place(of, "p") == "n"


def test_a_pod_that_was_asked_to_take_less_takes_it_when_its_kubelet_has_given_it_back() -> None:
    """Source: k8s.io/component-helpers resource.PodRequests (UseStatusResources)."""
    of = world(node("n", "4"), pod("large", "3", "", nodeName="n"))
    runs = {"name": "c", "resources": {"requests": {"cpu": "3"}}, "allocatedResources": {"cpu": "3"}}
    change(of, "large", {"status": {"containerStatuses": [runs]}}, "status")
    change(
        of,
        "large",
        {"spec": {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}]}},
        "resize",
    )
    of.apply(pod("p", "2"))
    of.settle()
    assert place(of, "p") is None
    done = {"name": "c", "resources": {"requests": {"cpu": "1"}}, "allocatedResources": {"cpu": "1"}}
    change(of, "large", {"status": {"containerStatuses": [done]}}, "status")
    of.settle()
    assert place(of, "p") == "n"


def test_a_pod_is_looked_at_when_its_last_gate_is_taken_away() -> None:
    of = world(node("n"), pod("p", schedulingGates=[{"name": "example.com/a"}]))
    assert place(of, "p") is None
    change(of, "p", {"spec": {"schedulingGates": None}})
    of.settle()
    assert place(of, "p") == "n"


def test_a_pod_finds_its_place_when_a_node_gets_the_label_that_it_asks_for() -> None:
    of = world(node("n"), pod("p", nodeSelector={"team": "a"}))
    assert place(of, "p") is None
    of.cluster.writer(ADMIN).patch("Node", "n", {"metadata": {"labels": {"team": "a"}}})
    of.settle()
    assert place(of, "p") == "n"


def test_a_pod_that_was_labelled_anew_is_not_taken_for_those_that_it_was_like() -> None:
    waiting = [pod(name, labels={"app": "db"}) for name in ("one", "two")]
    of = world(node("n"), with_others("podAntiAffinity", "alone", nodeName="n"), *waiting)
    change(of, "two", {"metadata": {"labels": {"app": "web"}}})
    of.apply(node("full", "0"))  # so that both are looked at
    of.settle()
    assert (place(of, "one"), place(of, "two")) == (None, "n")


def test_a_pod_that_waits_is_left_alone_while_others_come() -> None:
    """A bound pod makes no room: kube-scheduler looks again at those only that look for others."""
    of = world(node("n", "4", "2Gi"), pod("p", "2", "4Gi"))
    first = scheduled(of, "p")["message"]
    assert "1 Insufficient memory" in first
    of.apply(pod("q", "3", ""))
    of.settle()
    of.apply(pod("r", "1", ""))
    of.settle()
    assert (place(of, "q"), place(of, "r"), scheduled(of, "p")["message"]) == ("n", "n", first)


def test_a_pod_finds_its_place_when_another_goes_or_ends() -> None:
    of = world(node("n", "4"), pod("p", "3", nodeName="n"), pod("q", "3"), pod("r", "3"))
    assert [place(of, name) for name in "qr"] == [None, None]
    of.cluster.writer(ADMIN).delete("Pod", "p", namespace="default", grace_period_seconds=0)
    of.settle()
    assert [place(of, name) for name in "qr"] == ["n", None]
    change(of, "q", {"status": {"phase": "Succeeded"}}, "status")
    of.settle()
    assert place(of, "r") == "n"


def test_what_is_known_of_a_pod_is_not_written_again() -> None:
    of = world(node("n", "1"), pod("p", "2"))
    before, events = of.cluster.view.revision, len(of.events)
    of.apply(pod("q", "2"))
    of.cluster.writer(ADMIN).patch("Node", "n", {"metadata": {"labels": {"a": "b"}}})
    of.settle()
    told = [(each.object.name, each.reason) for each in of.events[events:]]
    assert told == [("q", "FailedScheduling")]
    assert of.cluster.view.revision == before + 3  # the pod, its condition, the label
