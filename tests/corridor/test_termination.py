"""A Node's way out, one look at a time (core pkg/controllers/node/termination/controller.go)."""

from __future__ import annotations

from typing import Any
from unittest.mock import MagicMock

import pytest

from harness.engine.clock import SECOND, Clock, nanoseconds, render
from harness.engine.engine import DONE, ReconcileError, Result, Wait
from harness.engine.ports import Change, ChangeType
from harness.karpenter.lifecycle.instance_provider import CloudProviderError, InstanceNotFound
from harness.karpenter.lifecycle.nodes.drain import Evictions
from harness.karpenter.lifecycle.nodes.termination import NodeTermination
from harness.karpenter.releases.core_release import CoreRelease
from harness.kube.api.objects import condition, finalizers_of, labels_of, spec_of
from harness.testing import node, nodeclaim, pod
from tests.corridor.still import Still, going

START = "2026-01-01T00:00:00Z"
FINALIZER = "karpenter.sh/termination"
DEADLINE = "karpenter.sh/nodeclaim-termination-timestamp"
BALANCERS = "node.kubernetes.io/exclude-from-external-load-balancers"
TAINT = {"key": "karpenter.sh/disrupted", "effect": "NoSchedule"}
POLL, SOON = Result(1.0, Wait.POLL), Result(1.0)
BEFORE_STEPS: dict[str, Any] = {"terminates_in_steps": False, "min_drain_seconds": 0.0, "eviction_queue_deletes": False}


class Going:
    """A Node that is being deleted, with its NodeClaim; `deadline` in seconds, `release` are flags."""

    def __init__(
        self, *objects: Any, ready: bool = True, deadline: int | None = None, claimed: bool = True, **release: Any
    ) -> None:
        self.clock = Clock()
        machine = going(node("n", providerID="azure:///n", labels={"karpenter.sh/nodepool": "default"}), START)
        machine["metadata"]["finalizers"] = [FINALIZER]
        machine["status"]["conditions"][0]["status"] = "True" if ready else "Unknown"
        claim = going(nodeclaim(name="c"), START)
        claim["status"] = {"providerID": "azure:///n"}
        claim["metadata"]["annotations"] = {} if deadline is None else {DEADLINE: render(deadline * SECOND)}
        self.still = Still(machine, *([claim] if claimed else []), *objects)
        self.engine, self.provider = MagicMock(clock=self.clock, revision=1), MagicMock()
        core = CoreRelease(version="1.14.0", **{"eviction_queue_deletes": False, **release})
        self.evictions = Evictions(self.engine, self.still, self.still, self.still.sink, core)
        self.controller = NodeTermination(
            self.engine, self.still, self.still, self.still.sink, self.clock, self.provider, self.evictions, core
        )

    def look(self, at: float | None = None) -> Result:
        """One look, at so many seconds."""
        if at is not None:
            self.clock.advance_to(nanoseconds(at))
        return self.controller.reconcile("n")

    @property
    def machine(self) -> Any:
        return self.still.get("Node", "n")

    def said(self, kind: str) -> tuple[str, str] | None:
        claim = self.still.get("NodeClaim", "c")
        found = condition(claim, kind) if claim is not None else None
        return (found["status"], found["reason"]) if found is not None else None

    @property
    def released(self) -> bool:
        return FINALIZER not in finalizers_of(self.machine)


def kept(name: str = "p", **spec: Any) -> Any:
    """A pod on the Node that a drain waits for."""
    made = pod(name, nodeName="n", **spec)
    made["metadata"]["annotations"] = {"karpenter.sh/do-not-disrupt": "true"}
    made["status"] = {"phase": "Running"}
    return made


def test_a_node_is_drained_for_five_seconds_then_its_machine_goes_and_then_the_node() -> None:
    way = Going()
    way.machine["metadata"]["finalizers"] = ["first", FINALIZER]
    assert [way.look(each) for each in (100, 101, 104.9)] == [SOON] * 3
    assert (way.said("Drained"), way.said("VolumesDetached")) == (("Unknown", "Draining"), None)
    assert not way.provider.delete.called
    assert way.look(105) == Result(5.0)
    assert (way.said("Drained"), way.said("VolumesDetached")) == (("True", "Drained"), ("True", "VolumesDetached"))
    assert way.said("InstanceTerminating") == ("True", "InstanceTerminating")
    assert not way.released
    way.provider.delete.side_effect = InstanceNotFound("gone")
    assert way.look(110) == DONE
    assert finalizers_of(way.machine) == ["first"]


def test_before_core_1_6_nothing_is_told_of_the_steps() -> None:
    way = Going(**BEFORE_STEPS)
    assert way.look() == Result(5.0)
    assert (way.said("Drained"), way.said("VolumesDetached")) == (None, None)
    assert way.said("InstanceTerminating") == ("True", "InstanceTerminating")


def test_between_core_1_6_and_1_10_a_drain_takes_no_time() -> None:
    way = Going(kept(), min_drain_seconds=0.0)
    assert way.look() == POLL
    assert way.said("Drained") == ("Unknown", "Draining")
    way.still.objects.pop()
    way.engine.revision += 1
    assert way.look() == Result(5.0)
    assert way.said("Drained") == ("True", "Drained")


def test_a_node_without_a_nodeclaim_goes_once_it_is_drained() -> None:
    way = Going(kept(), claimed=False)
    assert way.look() == POLL
    way.still.objects.pop()
    way.engine.revision += 1
    assert way.look(1) == DONE
    assert way.released
    assert not way.provider.delete.called


@pytest.mark.parametrize("release", [{}, BEFORE_STEPS], ids=["now", "before 1.6"])
@pytest.mark.parametrize("gone", [True, False])
def test_a_silent_node_goes_at_once_where_the_cloud_knows_no_machine_of_it(gone: bool, release: dict[str, Any]) -> None:
    """Before 1.6 the cloud is asked only while pods hold up the drain."""
    way = Going(kept(), ready=False, **release)
    if gone:
        way.provider.get.side_effect = InstanceNotFound("gone")
    assert way.look() == (DONE if gone else POLL)
    assert way.released is gone
    assert way.provider.get.call_args.args == ("azure:///n",)


def test_a_node_that_is_ready_is_drained_whatever_the_cloud_says() -> None:
    way = Going(kept())
    way.provider.get.side_effect = InstanceNotFound("gone")
    assert way.look() == POLL
    assert not way.provider.get.called


def test_before_core_1_6_a_silent_node_without_pods_is_not_asked_for() -> None:
    way = Going(ready=False, **BEFORE_STEPS)
    assert way.look() == Result(5.0)
    assert not way.provider.get.called


def test_an_error_of_the_cloud_is_tried_again() -> None:
    way = Going(ready=False)
    way.provider.get.side_effect = CloudProviderError("throttled")
    with pytest.raises(ReconcileError, match="throttled"):
        way.look()


@pytest.mark.parametrize(
    ("labels", "taints", "patched"),
    [
        ({}, [], True),
        ({BALANCERS: "karpenter"}, [TAINT], False),
        ({BALANCERS: "somebody"}, [TAINT], True),
        ({}, [TAINT], True),
        ({BALANCERS: "karpenter"}, [], True),
        ({BALANCERS: "karpenter"}, [{**TAINT, "effect": "NoExecute"}], True),
    ],
)
def test_the_node_is_tainted_and_taken_from_the_balancers_unless_it_is_already(
    labels: dict[str, str], taints: list[Any], patched: bool
) -> None:
    """Of terminator.go Taint; a taint of the key with another effect is replaced."""
    way = Going(kept())
    way.machine["metadata"]["labels"].update(labels)
    way.machine["spec"]["taints"] = taints
    way.look()
    assert (("patch", "Node", "n") in way.still.verbs) is patched
    assert labels_of(way.machine)[BALANCERS] == "karpenter"
    assert spec_of(way.machine)["taints"] == [TAINT]


def test_its_nodeclaim_is_deleted_first() -> None:
    way = Going(kept())
    del way.still.objects[1]["metadata"]["deletionTimestamp"]
    way.look()
    assert way.still.verbs[0] == ("delete", "NodeClaim", "c")


@pytest.mark.parametrize("other", ["label", "finalizer", "deletion"])
def test_other_nodes_are_left_alone(other: str) -> None:
    way = Going()
    if other == "label":
        way.machine["metadata"]["labels"] = {}
    elif other == "finalizer":
        way.machine["metadata"]["finalizers"] = ["another"]
    else:
        del way.machine["metadata"]["deletionTimestamp"]
    assert (way.look(), way.still.written) == (DONE, [])


def looks(way: Going) -> int:
    """How often pods have been asked for the way out."""
    return way.still.events().count(("FailedDraining", "Failed to drain node, 1 pods are waiting to be evicted"))


def test_a_wait_that_nothing_ends_is_told_each_second_and_looked_into_after_a_change_only() -> None:
    way = Going(kept())
    asked = []
    way.still.indexed = lambda index, value, found=way.still.indexed: (asked.append(index), found(index, value))[1]
    assert (way.look(0), way.look(1)) == (POLL, POLL)
    first = len(asked)
    assert (way.look(2), len(asked), looks(way)) == (POLL, first, 3)
    way.evictions.left += 1
    assert (way.look(3), looks(way)) == (POLL, 4)
    assert len(asked) > first
    second = len(asked)
    assert (way.look(4), len(asked)) == (POLL, second)
    way.engine.revision += 1
    assert (way.look(5), looks(way)) == (POLL, 6)
    assert len(asked) > second


@pytest.mark.parametrize("why", ["silent", "for a while", "after the deadline"])
def test_a_wait_that_may_end_by_itself_is_looked_into_each_second(why: str) -> None:
    """Azure may lose a silent Node's machine, time ends a pod's protection, and a deadline was there."""
    blocking = kept()
    if why == "for a while":
        blocking["metadata"]["annotations"] = {"karpenter.sh/do-not-disrupt": "1h"}
        blocking["status"]["startTime"] = START
    way = Going(blocking, ready=why != "silent", deadline=10 if why == "after the deadline" else None)
    asked = []
    way.still.indexed = lambda index, value, found=way.still.indexed: (asked.append(index), found(index, value))[1]
    counts = [0]
    for moment in (20, 21, 22):
        assert way.look(moment) == POLL
        counts.append(len(asked))
    assert counts == sorted(set(counts))


@pytest.mark.parametrize(("node_", "woken"), [("going", ["n"]), ("there", []), ("gone", [])])
def test_a_pod_that_is_gone_wakes_the_way_out_of_its_node(node_: str, woken: list[str]) -> None:
    way = Going()
    if node_ == "there":
        del way.machine["metadata"]["deletionTimestamp"]
    elif node_ == "gone":
        way.still.objects.clear()
    router = way.controller.watches()["Pod"]
    assert [*router(Change(ChangeType.DELETED, pod("p", nodeName="n"), None, 1))] == woken
    assert [*router(Change(ChangeType.DELETED, pod("p"), None, 1))] == []


def test_only_nodes_that_go_are_looked_at() -> None:
    way = Going()
    router = way.controller.watches()["Node"]
    assert [*router(Change(ChangeType.MODIFIED, way.machine, None, 1))] == ["n"]
    assert [*router(Change(ChangeType.MODIFIED, node("other"), None, 1))] == []


def test_a_wait_that_a_deadline_ends_is_no_rest() -> None:
    """Until then time alone brings something about; later only what others do."""
    way = Going(kept(), deadline=100)
    assert [way.look(each) for each in (0, 99, 100)] == [SOON] * 3
    assert way.look(100.5) == POLL


def attached(volume: str | None = "v", on: str = "n") -> Any:
    source = {"persistentVolumeName": volume} if volume is not None else {"inlineVolumeSpec": {}}
    name = f"a-{volume}"
    return {"kind": "VolumeAttachment", "metadata": {"name": name}, "spec": {"nodeName": on, "source": source}}


def bound(claim: str = "data", volume: str = "v") -> Any:
    metadata = {"name": claim, "namespace": "default"}
    return {"kind": "PersistentVolumeClaim", "metadata": metadata, "spec": {"volumeName": volume}}


DETACHING = ("Unknown", "AwaitingVolumeDetachment")
DETACHED = ("True", "VolumesDetached")
STAYING: dict[str, Any] = {"tolerations": [{"operator": "Exists"}]}
MOUNTS = {"volumes": [{"name": "d", "persistentVolumeClaim": {"claimName": "data"}}]}


@pytest.mark.parametrize(
    ("objects", "said"),
    [
        ([], DETACHED),
        ([attached()], DETACHING),
        ([attached(on="another")], DETACHED),
        ([attached(None)], DETACHED),  # an inline volume has no PersistentVolume
        (
            [attached(), bound(), pod("s", nodeName="n", **STAYING, **MOUNTS)],
            DETACHED,
        ),  # of a pod that a drain leaves alone
        ([attached("w"), bound(), pod("s", nodeName="n", **STAYING, **MOUNTS)], DETACHING),
        ([attached(), bound(), pod("s", nodeName="n", **STAYING)], DETACHING),
        ([attached(), pod("s", nodeName="n", **STAYING, **MOUNTS)], DETACHING),  # its claim is gone
    ],
)
def test_the_machine_goes_once_the_volumes_of_drained_pods_are_detached(
    objects: list[Any], said: tuple[str, str]
) -> None:
    """Of filterVolumeAttachments."""
    way = Going(*objects)
    assert way.look(0) == SOON
    assert way.look(5) == (Result(5.0) if said == DETACHED else POLL)
    assert way.said("VolumesDetached") == said
    assert way.provider.delete.called is (said == DETACHED)


def test_volumes_are_waited_for_until_the_deadline_is_over() -> None:
    """Of hasTerminationGracePeriodElapsed, which asks whether it is after the deadline."""
    way = Going(attached(), deadline=20)
    assert [way.look(each) for each in (0, 5, 20)] == [SOON] * 3
    assert way.said("VolumesDetached") == DETACHING
    waiting = ("AwaitingVolumeDetachment", "Awaiting deletion of bound volumeattachments (a-v)")
    assert way.still.events().count(waiting) == 2
    assert way.look(20.5) == Result(5.0)
    assert way.said("VolumesDetached") == ("False", "TerminationGracePeriodElapsed")


def test_before_core_1_6_volumes_are_not_waited_for_at_the_deadline_itself() -> None:
    way = Going(attached(), deadline=20, **BEFORE_STEPS)
    assert [way.look(each) for each in (0, 19)] == [SOON] * 2
    assert way.look(20) == Result(5.0)
    assert [reason for reason, _ in way.still.events() if reason == "AwaitingVolumeDetachment"] == []


def test_what_waits_for_volumes_tells_so_each_second() -> None:
    way = Going(attached())
    assert [way.look(each) for each in (0, 5, 6, 7)] == [SOON, POLL, POLL, POLL]
    assert [reason for reason, _ in way.still.events()] == ["AwaitingVolumeDetachment"] * 3
