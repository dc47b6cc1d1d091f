"""Controllers of one purpose, each alone: the time of pod events, the consistency of Nodes, the sweeps for garbage, expiration."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from itertools import pairwise
from typing import Any
from unittest.mock import MagicMock

import pytest

from harness.engine.clock import SECOND, Clock, render
from harness.engine.engine import DONE, Result, Wait
from harness.engine.names import NodeClaimName, ProviderId
from harness.engine.ports import Change, ChangeType
from harness.karpenter.lifecycle.instance_provider import CloudProviderError, Instance, InstanceNotFound
from harness.karpenter.lifecycle.marks import Marks
from harness.karpenter.lifecycle.nodeclaims.consistency import Consistency, shape_issues
from harness.karpenter.lifecycle.nodeclaims.expiration import Expiration
from harness.karpenter.lifecycle.nodeclaims.garbage import GarbageCollection
from harness.karpenter.lifecycle.nodeclaims.pod_events import PodEvents
from harness.karpenter.releases.core_release import CoreRelease
from harness.kube.api.objects import Object, condition
from harness.kube.api.status import ApiError
from harness.testing import node, nodeclaim, pod
from tests.corridor.still import Still, going

START = "2026-01-01T00:00:00Z"


def machine(name: str = "n", capacity: dict[str, str] | None = None, *, ready: bool = True) -> Any:
    """A Node with a provider id of its name."""
    made = node(name, providerID=f"azure:///{name}")
    made["status"]["capacity"] = capacity or {}
    made["status"]["conditions"][0]["status"] = "True" if ready else "Unknown"
    return made


def launched(name: str = "n", *conditions: str, **status: Any) -> Any:
    """A NodeClaim of the machine of this name, with these conditions True."""
    made = nodeclaim(name=name)
    found = [{"type": kind, "status": "True", "lastTransitionTime": START} for kind in conditions]
    made["status"] = {"providerID": f"azure:///{name}", "conditions": found, **status}
    return made


def changed(kind: str, controller: Any, new: Any, old: Any = None, type_: ChangeType | None = None) -> list[Hashable]:
    """The keys that a change concerns."""
    of_type = type_ or (ChangeType.ADDED if old is None else ChangeType.MODIFIED)
    keys: Iterable[Hashable] = controller.watches()[kind](Change(of_type, new, old, 1))
    return list(keys)


# pod events


def on_n(**more: Any) -> Object:
    return {**pod("p", nodeName="n"), **more}


DAEMON = {"ownerReferences": [{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "d", "uid": "d"}]}


@pytest.mark.parametrize(
    ("new", "old", "counts"),
    [
        (on_n(), None, True),
        (on_n(), pod("p"), True),
        (on_n(), on_n(), False),
        (pod("p"), None, False),
        (on_n(status={"phase": "Succeeded"}), on_n(status={"phase": "Running"}), True),
        (on_n(status={"phase": "Succeeded"}), on_n(status={"phase": "Failed"}), False),
        (on_n(status={"phase": "Running"}), on_n(status={"phase": "Pending"}), False),
        (going(pod("p", nodeName="n"), START), on_n(), True),
        (going(pod("p", nodeName="n"), START), going(pod("p", nodeName="n"), START), False),
        (on_n(metadata={"name": "p", **DAEMON}), pod("p"), False),
    ],
)
def test_a_pod_event_is_a_pod_that_is_bound_ends_or_begins_to_go(new: Object, old: Object | None, counts: bool) -> None:
    """Core pkg/controllers/nodeclaim/podevents/controller.go Register; pods of DaemonSets are none."""
    events = PodEvents(MagicMock(), MagicMock(), Clock())
    assert changed("Pod", events, new, old) == (["n"] if counts else [])


@pytest.mark.parametrize(("last", "noted"), [(None, True), (0, True), (90, True), (91, False), (100, False)])
def test_the_time_of_pod_events_is_noted_at_most_every_ten_seconds(last: int | None, noted: bool) -> None:
    """At second 100 (podevents/controller.go dedupeTimeout)."""
    status = {"lastPodEventTime": render(last * SECOND)} if last is not None else {}
    still, clock = Still(machine(), launched("n", **status)), Clock()
    clock.advance_to(100 * SECOND)
    assert PodEvents(still, still, clock).reconcile("n") == DONE
    written = [("patch", "NodeClaim", "n", {"status": {"lastPodEventTime": "2026-01-01T00:01:40Z"}})]
    assert still.written == (written if noted else [])


def test_a_nodeclaim_that_is_gone_when_a_pod_event_is_noted_is_no_error() -> None:
    still = Still(machine(), launched())
    still.refusing = ApiError(404, "NotFound", "not there")
    assert PodEvents(still, still, Clock()).reconcile("n") == DONE
    still.refusing = ApiError(500, "InternalError", "etcd is away")
    with pytest.raises(ApiError, match="etcd"):
        PodEvents(still, still, Clock()).reconcile("n")


@pytest.mark.parametrize("objects", [[], [machine()], [machine(), launched(), launched("n")]])
def test_pod_events_of_nodes_that_are_not_karpenters_are_not_noted(objects: list[Any]) -> None:
    still = Still(*objects)
    PodEvents(still, still, Clock()).reconcile("n")
    assert still.written == []


# consistency


SHAPE = {"cpu": "10", "memory": "10Gi", "nothing": "0"}


@pytest.mark.parametrize(
    ("requests", "found", "issues"),
    [
        ({"cpu": "1"}, {"cpu": "9"}, []),
        ({"cpu": "1"}, {"cpu": "8900m"}, ["expected 10 of resource cpu, but found 8900m (89.0% of expected)"]),
        ({"cpu": "0"}, {}, []),  # nobody asks for it
        ({"nothing": "1"}, {}, []),  # none is expected
        ({"unknown": "1"}, {"unknown": "1"}, []),
        ({"cpu": "1"}, {}, ["expected 10 of resource cpu, but found 0 (0.0% of expected)"]),
        (
            {"memory": "1Gi", "cpu": "1"},
            {"cpu": "1", "memory": "5Gi"},
            [
                "expected 10 of resource cpu, but found 1 (10.0% of expected)",
                "expected 10Gi of resource memory, but found 5Gi (50.0% of expected)",
            ],
        ),
    ],
)
def test_a_node_has_nine_tenths_of_what_its_nodeclaim_asks_for(
    requests: dict[str, str], found: dict[str, str], issues: list[str]
) -> None:
    """Core pkg/controllers/nodeclaim/consistency/nodeshape.go."""
    claim = launched("n", "Initialized", capacity=SHAPE)
    claim["spec"]["resources"] = {"requests": requests}
    assert list(shape_issues(claim, machine(capacity=found))) == issues
    assert list(shape_issues(launched("n", "Registered", capacity=SHAPE), machine(capacity=found))) == []
    assert list(shape_issues(going(claim, START), machine(capacity=found))) == []


def consistency(*objects: Any) -> tuple[Consistency, Still, Clock]:
    still, clock = Still(*objects), Clock()
    return Consistency(still, still, still.sink, clock, CoreRelease(version="1.14.0")), still, clock


@pytest.mark.parametrize(
    ("old", "looks"),
    [
        (launched("n", "Registered", capacity={"cpu": "1"}), False),
        (launched("n", capacity={"cpu": "1"}), False),
        (launched("n", "Registered", capacity={"cpu": "2"}), True),
        (launched("n", "Registered", "Initialized", capacity={"cpu": "1"}), True),
        (nodeclaim(name="n"), True),
        (going(launched("n", "Registered", capacity={"cpu": "1"}), START), True),
        (None, True),
    ],
)
def test_a_nodeclaim_is_looked_at_when_what_is_compared_changes(old: Any, looks: bool) -> None:
    of, _, _ = consistency()
    claim = launched("n", "Registered", capacity={"cpu": "1"})
    assert changed("NodeClaim", of, claim, old) == (["n"] if looks else [])
    assert changed("NodeClaim", of, nodeclaim(name="n"), old) == []  # without a machine


@pytest.mark.parametrize(("before", "looks"), [({"cpu": "1"}, False), ({"cpu": "2"}, True), (None, True)])
def test_a_node_is_looked_at_when_its_capacity_changes(before: dict[str, str] | None, looks: bool) -> None:
    of, _, _ = consistency(launched())
    old = machine(capacity=before) if before is not None else None
    assert changed("Node", of, machine(capacity={"cpu": "1"}), old) == (["n"] if looks else [])
    assert changed("Node", of, machine("another", capacity={"cpu": "1"}), None) == []


def small(found: str = "1") -> tuple[Consistency, Still, Clock]:
    claim = launched("n", "Initialized", capacity={"cpu": "2"})
    claim["spec"]["resources"] = {"requests": {"cpu": "1"}}
    claim["metadata"]["generation"] = 1
    return consistency(claim, machine(capacity={"cpu": found}))


def said(still: Still) -> tuple[str, str] | None:
    found = condition(still.list("NodeClaim")[0], "ConsistentStateFound")
    return (found["status"], found["reason"]) if found is not None else None


AGAIN = Result(600.0, Wait.ALARM)


def test_a_node_that_is_too_small_is_looked_at_every_ten_minutes() -> None:
    of, still, clock = small()
    assert of.reconcile("n") == AGAIN
    assert said(still) == ("False", "ConsistencyCheckFailed")
    told = ("FailedConsistencyCheck", "expected 2 of resource cpu, but found 1 (50.0% of expected)")
    assert still.events() == [told]
    clock.advance_to(599 * SECOND)
    assert of.reconcile("n") == Result(1.0, Wait.ALARM)
    assert still.events() == [told]
    clock.advance_to(600 * SECOND)
    assert of.reconcile("n") == AGAIN
    assert still.events() == [told, told]
    assert len(still.written) == 1  # the condition says so already
    still.objects[1] = machine(capacity={"cpu": "2"})
    clock.advance_to(1200 * SECOND)
    assert of.reconcile("n") == DONE
    assert said(still) == ("True", "ConsistentStateFound")


def test_looks_that_were_passed_over_keep_their_beat() -> None:
    """What changes between two looks is found by the next one: ten minutes after the last, or twice that, and so on."""
    of, still, clock = small("2")
    assert of.reconcile("n") == DONE
    still.objects[1] = machine(capacity={"cpu": "1"})
    clock.advance_to(1300 * SECOND)
    assert of.reconcile("n") == Result(500.0, Wait.ALARM)
    clock.advance_to(1800 * SECOND)
    assert of.reconcile("n") == AGAIN
    assert said(still) == ("False", "ConsistencyCheckFailed")


def test_a_look_that_comes_too_late_belongs_to_the_next_period() -> None:
    of, still, clock = small("2")
    assert (of.reconcile("n"), of.reconcile("n")) == (DONE, AGAIN)
    clock.advance_to(600 * SECOND + 1)
    assert of.reconcile("n") == Result((600 * SECOND - 1) / SECOND, Wait.ALARM)
    clock.advance_to(1200 * SECOND)
    still.objects[1] = machine(capacity={"cpu": "1"})
    assert of.reconcile("n") == AGAIN
    assert said(still) == ("False", "ConsistencyCheckFailed")


def test_a_node_that_comes_within_the_period_is_looked_at_after_it() -> None:
    """Core's first look finds no Node; one event within ten minutes is enough for a look each ten minutes from then on."""
    of, still, clock = small()
    missing = still.objects.pop()
    assert of.reconcile("n") == DONE
    still.objects.append(missing)
    clock.advance_to(60 * SECOND)
    assert of.reconcile("n") == Result(540.0, Wait.ALARM)
    clock.advance_to(1300 * SECOND)
    assert of.reconcile("n") == Result(500.0, Wait.ALARM)
    assert said(still) is None


@pytest.mark.parametrize("other", ["unmanaged", "without a machine", "gone"])
def test_other_nodeclaims_are_not_looked_at(other: str) -> None:
    of, still, _ = small()
    if other == "unmanaged":
        still.objects[0]["spec"]["nodeClassRef"] = {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "x"}
    elif other == "without a machine":
        still.objects[0]["status"]["providerID"] = ""
    else:
        still.objects.pop(0)
    assert of.reconcile("n") == DONE
    assert (still.written, still.events()) == ([], [])


def test_another_nodeclaim_of_the_name_is_looked_at_anew() -> None:
    of, still, _ = small()
    of.reconcile("n")
    still.objects[0] = {**still.objects[0], "metadata": {**still.objects[0]["metadata"], "uid": "another"}}
    assert of.reconcile("n") == AGAIN
    assert len(still.events()) == 2


# garbage


class Sweeps:
    """Garbage collection alone, in a world of so many seconds, with these instances in the cloud."""

    def __init__(self, *objects: Any, instances: Iterable[Instance] = (), changes: Any = object) -> None:
        self.still, self.clock, self.provider = Still(*objects), Clock(), MagicMock()
        self.provider.list.return_value = list(instances)
        self.clock.advance_to(1000 * SECOND)
        self.of = GarbageCollection(self.still, self.still, self.still.sink, self.clock, self.provider, changes)

    def sweep(self) -> list[tuple[str, str]]:
        """Sweeps once; returns what is deleted."""
        self.still.written.clear()
        self.provider.delete_instance.reset_mock()
        assert self.of.reconcile("sweep") == Result(120.0, Wait.ALARM)
        instances = [("instance", call.args[0].name) for call in self.provider.delete_instance.call_args_list]
        return [*((kind, name) for _, kind, name in self.still.verbs), *instances]


def instance(name: str, created: int | None = 0, *, deleting: bool = False) -> Instance:
    since = created * SECOND if created is not None else None
    return Instance(name, ProviderId(f"azure:///{name}"), {}, created=since, deleting=deleting)


def test_sweeps_begin_with_the_first_nodeclaim() -> None:
    of = Sweeps().of
    assert [changed("NodeClaim", of, launched(name)) for name in "ab"] == [["sweep"], []]


@pytest.mark.parametrize(
    ("objects", "gone"),
    [
        ([launched("n", "Registered")], True),
        ([launched("n", "Registered"), machine(ready=False)], True),
        ([launched("n", "Registered"), machine()], False),  # its kubelet runs
        ([launched("n", "Launched")], False),
        ([going(launched("n", "Registered"), START)], False),
    ],
)
def test_a_registered_nodeclaim_without_a_machine_goes_unless_its_node_is_ready(objects: list[Any], gone: bool) -> None:
    """Core pkg/controllers/nodeclaim/garbagecollection/controller.go."""
    others = [launched("there", "Registered"), machine("there", ready=False)]
    of = Sweeps(*objects, *others, instances=[instance("there")])
    assert of.sweep() == ([("NodeClaim", "n")] if gone else [])


@pytest.mark.parametrize(
    ("created", "deleting", "gone"), [(0, False, True), (699, False, True), (700, False, False), (0, True, False)]
)
def test_a_machine_that_no_nodeclaim_knows_goes_after_five_minutes(created: int, deleting: bool, gone: bool) -> None:
    """Of kaz instance_garbagecollection.go: older than 5 min, and not being deleted; its Node goes at once with it."""
    of = Sweeps(launched("there"), machine(), instances=[instance("there"), instance("n", created, deleting=deleting)])
    assert of.sweep() == ([("Node", "n"), ("instance", "n")] if gone else [])


@pytest.mark.parametrize("error", [InstanceNotFound("gone"), CloudProviderError("throttled")])
def test_the_node_of_a_machine_that_cannot_be_deleted_stays(error: Exception) -> None:
    of = Sweeps(machine(), instances=[instance("n")])
    of.provider.delete_instance.side_effect = error
    assert of.sweep() == [("instance", "n")]


@pytest.mark.parametrize("code", [404, 409])
def test_what_is_gone_or_another_when_it_is_deleted_is_no_error(code: int) -> None:
    of = Sweeps(launched("n", "Registered"))
    of.still.refusing = ApiError(code, "Refused", "no")
    assert of.sweep() == []
    of.still.refusing = ApiError(500, "InternalError", "etcd is away")
    with pytest.raises(ApiError, match="etcd"):
        of.sweep()


def test_nothing_is_swept_while_azure_cannot_be_asked() -> None:
    of = Sweeps(launched("n", "Registered"))
    of.provider.list.side_effect = CloudProviderError("throttled")
    assert of.sweep() == []
    of.provider.list.side_effect = None
    assert of.sweep() == [("NodeClaim", "n")]


def test_azure_is_asked_again_only_after_a_change_where_all_was_well() -> None:
    revision = [1]
    of = Sweeps(launched("n", "Registered"), instances=[instance("n")], changes=lambda: revision[0])
    assert (of.sweep(), of.sweep(), of.provider.list.call_count) == ([], [], 1)
    revision[0] += 1
    of.provider.list.return_value = []
    assert (of.sweep(), of.sweep()) == ([("NodeClaim", "n")], [("NodeClaim", "n")])
    assert of.provider.list.call_count == 3


def test_azure_is_asked_again_while_a_machine_is_too_young_to_go() -> None:
    of = Sweeps(instances=[instance("n", 900)], changes=lambda: 1)
    assert of.sweep() == []
    of.clock.advance_to(1201 * SECOND)
    assert of.sweep() == [("instance", "n")]


# expiration


@pytest.mark.parametrize(
    ("after", "at", "result", "deleted"),
    [
        ("Never", 9999, DONE, False),
        ("60s", 59, Result(1.0, Wait.ALARM), False),
        ("60s", 60, DONE, True),
    ],
)
def test_a_nodeclaim_is_deleted_when_it_has_expired(after: str, at: int, result: Result, deleted: bool) -> None:
    """Core pkg/controllers/nodeclaim/expiration/controller.go; its pods are counted where its Node is there."""
    claim = launched()
    claim["metadata"]["creationTimestamp"] = START
    claim["spec"]["expireAfter"] = after
    still, clock = Still(claim, machine(), pod("a", nodeName="n"), pod("b", nodeName="n")), Clock()
    clock.advance_to(at * SECOND)
    assert Expiration(still, still, still.sink, clock).reconcile("n") == result
    assert still.verbs == ([("delete", "NodeClaim", "n")] if deleted else [])
    told = [call.args[0] for call in still.sink.disrupted.call_args_list]
    gone = [(each.at, each.reason, each.ended, each.nodes[0].node, each.nodes[0].pods) for each in told]
    assert gone == ([(60.0, "Expired", 60.0, "n", 2)] if deleted else [])


def test_a_nodeclaim_that_is_gone_does_not_expire() -> None:
    still = Still()
    assert Expiration(still, still, still.sink, Clock()).reconcile("n") == DONE
    assert still.written == []


# what is kept in memory about machines


@pytest.mark.parametrize(("longest_batch", "seconds"), [(10.0, 20), (3.0, 10), (5.0, 10), (60.0, 120)])
def test_a_nomination_lasts_two_batch_windows_and_at_least_ten_seconds(longest_batch: float, seconds: int) -> None:
    """Core pkg/controllers/state/cluster.go nominationWindow, statenode.go Nominated (until After now)."""
    clock = Clock()
    marks, machine_ = Marks(clock, longest_batch), ProviderId("azure:///n")
    marks.nominate(machine_)
    clock.advance_to(seconds * SECOND - 1)
    assert list(marks.nominations()) == [seconds * SECOND]
    clock.advance_to(seconds * SECOND)
    assert list(marks.nominations()) == []


def test_marks_for_deletion_are_counted_when_they_change() -> None:
    marks = Marks(Clock(), 10.0)
    a, b = NodeClaimName("a"), NodeClaimName("b")
    seen = [marks.changes]
    for change, claims in (
        (marks.mark, [a]),
        (marks.mark, [a]),
        (marks.mark, [b]),
        (marks.unmark, [a]),
        (marks.unmark, [a]),
    ):
        change(claims)
        seen.append(marks.changes)
    assert marks.deleting == {"b"}
    assert [new != old for old, new in pairwise(seen)] == [True, False, True, True, False]


def test_consolidation_looks_again_after_five_minutes() -> None:
    """Core pkg/controllers/state/cluster.go ConsolidationState."""
    clock = Clock()
    marks = Marks(clock, 10.0)
    clock.advance_to(100 * SECOND)
    marks.unsettle()
    assert marks.looks_again_at == 400 * SECOND
    clock.advance_to(400 * SECOND - 1)
    assert marks.unsettled_since() == 100 * SECOND
    clock.advance_to(400 * SECOND)
    assert marks.unsettled_since() == 400 * SECOND
    assert marks.looks_again_at == 700 * SECOND
