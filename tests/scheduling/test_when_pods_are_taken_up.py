"""The provisioner's own steps: what triggers it, what it notes of pods and machines, and when it looks again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import pytest

from harness.engine.access import Access
from harness.engine.clock import SECOND, Clock
from harness.engine.engine import DONE, Engine, Result, Wait
from harness.engine.ports import Change, ChangeType
from harness.karpenter.cloudprovider import UnevaluatedNodePool
from harness.karpenter.instancetypes import NoInstanceTypes
from harness.karpenter.lifecycle.marks import Marks
from harness.karpenter.provisioning import provisioner
from harness.karpenter.provisioning.batcher import Batcher
from harness.karpenter.provisioning.podtimes import PodTimes
from harness.karpenter.provisioning.provisioner import Provisioner
from harness.karpenter.releases.core_release import CoreRelease
from harness.karpenter.scheduling import SchedulingResults
from harness.karpenter.scheduling.nodeclaims.planned import SchedulingEvent
from harness.karpenter.scheduling.reasons.pods import ReservationsTaken
from harness.kube.api.objects import Object, uid_of
from harness.testing import node, nodeclaim, nodeclass, nodepool, pod
from tests.corridor.still import Still

UNSCHEDULABLE = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}


def pending(name: str = "p", **metadata: Any) -> Object:
    """A pod for which kube-scheduler has found no Node."""
    made = pod(name)
    made["metadata"] |= {"uid": f"uid of {name}", **metadata}
    made["status"] = {"phase": "Pending", "conditions": [UNSCHEDULABLE]}
    return made


def planned(*pods: Object) -> Any:
    """A NodeClaim that a simulation plans for these pods."""
    return SimpleNamespace(pods=pods, nodepool="default")


def noted(times: PodTimes, name: str = "p") -> tuple[int, int | None, int | None]:
    """When a pod was seen, decided about and placed."""
    found = times.by_uid[f"uid of {name}"]
    return found.seen, found.decided, found.placed


def decide(times: PodTimes, now: int, *there: Object, **results: Any) -> None:
    by_key = {f"default/{one['metadata']['name']}": one for one in there}
    times.decided(SchedulingResults(**results), by_key.get, now)


def test_a_pod_is_seen_once() -> None:
    times = PodTimes()
    times.seen(pending(), 1)
    times.seen(pending(), 2)
    assert noted(times) == (1, None, None)


RESULTS: dict[str, Callable[[Object], Mapping[str, Any]]] = {
    "error": lambda one: {"errors": {"default/p": "no room"}},
    "ignored": lambda one: {"ignored": {"default/p": "not ours"}},
    "existing": lambda one: {"existing": {"n": (one,)}},
    "planned": lambda one: {"nodeclaims": (planned(one),)},
}


@pytest.mark.parametrize(
    ("result", "placed"), [("error", False), ("ignored", False), ("existing", True), ("planned", True)]
)
def test_the_first_decision_of_any_kind_is_noted_and_since_when_there_is_a_place(result: str, placed: bool) -> None:
    """Core pkg/controllers/state/cluster.go MarkPodSchedulingDecisions: the first times stay."""
    times, one, results = PodTimes(), pending(), RESULTS[result]
    times.seen(one, 1)
    decide(times, 2, one, **results(one))
    decide(times, 3, one, **results(one))
    assert noted(times) == (1, 2, 2 if placed else None)


def test_a_pod_that_loses_its_place_has_another_one_from_then_on() -> None:
    times, one = PodTimes(), pending()
    times.seen(one, 1)
    decide(times, 2, one, existing={"n": (one,)})
    decide(times, 3, one, errors={"default/p": "no room"})
    assert noted(times) == (1, 2, None)
    decide(times, 4, one, existing={"n": (one,)})
    assert noted(times) == (1, 2, 4)


def test_pods_that_are_gone_were_never_seen_or_are_bound_already_do_not_count() -> None:
    times, one, other = PodTimes(), pending(), pending("other")
    times.seen(one, 1)
    decide(times, 2, errors={"default/p": "no room"})  # gone
    decide(times, 2, other, errors={"default/other": "no room"}, existing={"n": (other,)})
    decide(times, 2, one, existing={"n": ({**one, "spec": {"nodeName": "n"}},)})
    assert (noted(times), len(times.by_uid)) == ((1, None, None), 1)


def test_without_nodepools_all_pods_are_decided_about() -> None:
    times, one, other = PodTimes(), pending(), pending("other")
    times.seen(one, 1)
    decide(times, 2, one, errors={"default/p": "no room"})
    times.seen(other, 3)
    decide(times, 4, no_nodepools=True)
    decide(times, 5, no_nodepools=True)
    assert (noted(times), noted(times, "other")) == ((1, 2, None), (3, 4, None))


class Provisioning:
    """A provisioner alone; `results` are what its simulations come to, one after the other, the last one for ever."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *objects: Any, results: list[SchedulingResults]) -> None:
        self.still = Still(*objects)
        self.engine = Engine(Clock())
        self.marks = Marks(self.engine.clock, 10.0)
        self.types = types = MagicMock()
        types.version.return_value = 1
        types.release.core = CoreRelease(version="1.14.0")
        self.provisioner = Provisioner(
            Access(self.engine, self.still, self.still, self.still.sink),
            types,
            failures={},
            options=MagicMock(),
            batcher=Batcher(self.engine.clock),
            indexes=MagicMock(),
            memory=MagicMock(),
            marks=self.marks,
        )
        self.engine.add_controllers(self.provisioner)
        self.results = results
        self.simulated: list[float] = []
        for name, stands in {
            "solve": self._solve,
            "observed": lambda *_: MagicMock(),
            "replace": lambda snapshot, **_: snapshot,
            "usable_nodepools": lambda *_: [],
        }.items():
            monkeypatch.setattr(provisioner, name, stands)

    def _solve(self, *_: Any, **__: Any) -> SchedulingResults:
        self.simulated.append(self.engine.clock.seconds)
        return self.results.pop(0) if len(self.results) > 1 else self.results[0]

    def hear(self, obj: Object, type_: ChangeType = ChangeType.ADDED) -> None:
        self.engine.notify(Change(type_, obj, None, 1))


NOTHING = SchedulingResults()


def test_pods_are_noted_when_they_trigger_and_nodes_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    taints = [{"key": "karpenter.sh/disrupted", "effect": "NoSchedule"}]
    one, machine, other = pending(), node("going", taints=taints), node("other")
    of = Provisioning(monkeypatch, one, machine, other, results=[NOTHING])
    of.engine.advance(5)
    assert of.provisioner.reconcile(("Node", "", "going")) == Result(10.0, Wait.POLL)
    assert of.provisioner.reconcile(("Node", "", "other")) == DONE
    assert of.provisioner.reconcile(("Pod", "default", "gone")) == DONE
    assert of.provisioner.times.by_uid == {}
    assert of.provisioner.reconcile(("Pod", "default", "p")) == Result(10.0, Wait.POLL)
    assert noted(of.provisioner.times) == (5 * SECOND, None, None)


def test_what_is_not_to_be_scheduled_triggers_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    bound = pending()
    bound["spec"]["nodeName"] = "n"
    of = Provisioning(monkeypatch, bound, node("n"), results=[NOTHING])
    for each in of.still.objects:
        of.hear(each)
    of.engine.settle()
    assert of.simulated == []


def test_a_window_of_a_second_then_a_simulation_whose_results_stand_until_something_changes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    of = Provisioning(monkeypatch, pending(), results=[NOTHING])
    of.hear(of.still.objects[0])
    of.engine.settle()
    assert of.simulated == [1]
    of.engine.advance(35)
    assert of.simulated == [1]
    of.hear(of.still.objects[0])
    of.engine.advance(30)
    assert len(of.simulated) == 2


def test_while_something_goes_time_alone_may_change_what_a_simulation_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only where do-not-disrupt may end or a tie is drawn: `momentary` results."""
    machine = node("n")
    machine["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    of = Provisioning(monkeypatch, pending(), machine, results=[SchedulingResults(momentary=True), NOTHING])
    of.hear(machine)
    of.hear(of.still.objects[0])
    of.engine.advance(25)
    assert len(of.simulated) == 2  # the second one says that no time would help
    of.engine.advance(50)
    assert len(of.simulated) == 2


def test_nothing_is_simulated_while_a_nodeclaim_has_no_machine_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Core pkg/controllers/state/cluster.go Synced: each NodeClaim needs its provider id."""
    of = Provisioning(monkeypatch, pending(), nodeclaim(), results=[NOTHING])
    coming = of.still.objects[1]
    of.hear(of.still.objects[0])
    of.hear(coming)
    of.engine.advance(5)
    assert of.simulated == []
    of.hear({**coming, "status": {"providerID": "azure:///m"}}, ChangeType.MODIFIED)
    of.engine.advance(15)
    assert len(of.simulated) == 1


@pytest.mark.parametrize("later", [False, True])
def test_a_world_waits_for_64_further_draws_of_a_tie(monkeypatch: pytest.MonkeyPatch, later: bool) -> None:
    """Then it counts as settled, and whoever lets time pass sees more of them; a change begins anew."""
    unlucky = SchedulingResults(unlucky=True, momentary=True)
    of = Provisioning(monkeypatch, pending(), results=[unlucky])
    of.hear(of.still.objects[0])
    settled = of.engine.settle()
    assert settled.quiescent
    assert len(of.simulated) == 1 + 64
    if later:
        of.hear(of.still.objects[0])
        of.engine.settle()
        assert len(of.simulated) == 2 * (1 + 64)


def test_a_simulation_that_takes_its_time_is_told_at_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    results = SchedulingResults(errors={"default/p": "no room"}, seconds=60.0, timed_out=True)
    of = Provisioning(monkeypatch, pending(), results=[results])
    of.hear(of.still.objects[0])
    of.engine.advance(60)
    assert (of.simulated, of.still.events()) == ([1], [])
    of.engine.advance(2)
    assert of.still.events() == [("FailedScheduling", "Failed to schedule pod, no room")]
    assert noted(of.provisioner.times) == (0, 61 * SECOND, None)
    of.still.sink.log.assert_any_call("debug", "provisioner", "scheduling simulation timed out", duration="1m0s")


@pytest.mark.parametrize(
    ("objects", "machine", "text"),
    [
        (["Node"], "azure:///n", "node/n"),
        (["NodeClaim"], "azure:///c", "nodeclaim/n"),
        (["Node", "NodeClaim"], "azure:///n", "nodeclaim/c, node/n"),
        ([], None, ""),
    ],
)
def test_a_machine_that_pods_should_go_to_is_nominated(
    monkeypatch: pytest.MonkeyPatch, objects: list[str], machine: str | None, text: str
) -> None:
    """Core pkg/controllers/provisioning/scheduling/scheduler.go Results.Record: a NodeClaim without its Node, too."""
    both = len(objects) == 2
    claim = nodeclaim(name="c" if both else "n")
    claim["status"] = {"providerID": "azure:///n" if both else "azure:///c"}
    made = {"Node": node("n", providerID="azure:///n"), "NodeClaim": claim}
    one = pending()
    results = SchedulingResults(existing={"n": (one,)})
    of = Provisioning(monkeypatch, one, *(made[kind] for kind in objects), results=[results])
    of.hear(one)
    of.engine.advance(2)
    assert list(of.marks.nominated) == ([machine] if machine is not None else [])
    assert of.marks.expected_on("n") == ["default/p"]
    assert of.still.events() == [("Nominated", f"Pod should schedule on: {text}")]


def test_pods_that_cannot_be_scheduled_or_are_gone_are_expected_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other, gone = pending(), pending("other"), pending("gone")
    results = SchedulingResults(errors={"default/p": "no room"}, ignored={"default/other": "it has a strange volume"})
    of = Provisioning(monkeypatch, one, other, gone, results=[results])
    of.marks.expect("n", ["default/p", "default/other", "default/gone", "default/kept"])
    of.hear(gone, ChangeType.DELETED)
    of.hear(one)
    of.engine.advance(2)
    assert of.marks.expected_on("n") == ["default/kept"]
    assert of.still.events() == [
        ("FailedScheduling", "Failed to schedule pod, it has a strange volume"),
        ("FailedScheduling", "Failed to schedule pod, no room"),
    ]
    assert uid_of(one) in of.provisioner.times.by_uid


def test_nobody_is_told_of_pods_that_stay_away_from_karpenters_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Core pkg/controllers/provisioning/provisioner.go: their error is not recorded."""
    text = (
        "configured to not run on a Karpenter provisioned node via the karpenter.sh/nodepool DoesNotExist requirement"
    )
    of = Provisioning(monkeypatch, pending(), results=[SchedulingResults(ignored={"default/p": text})])
    of.hear(of.still.objects[0])
    of.engine.advance(2)
    assert (of.simulated, of.still.events()) == ([1], [])
    assert of.provisioner.waiting == (0, 1)


def test_a_window_ends_a_second_after_the_last_pod_and_ten_after_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Core pkg/controllers/provisioning/batcher.go; a pod that triggers again does not hold it open."""
    pods = [pending(f"p{number}") for number in range(20)]
    of = Provisioning(monkeypatch, *pods, results=[NOTHING])
    for one in pods[:2]:
        of.hear(one)
        of.engine.advance(0.5)
    of.hear(pods[0])
    of.engine.advance(4)
    assert of.simulated == [1.5]
    start = of.engine.clock.seconds
    for one in pods[2:]:
        of.hear(one)
        of.engine.advance(0.75)
    assert of.simulated[1] == start + 10


def test_what_a_simulation_tells_of_objects_is_published_where_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = nodepool()
    told = [
        SchedulingEvent("NodePool", "default", "Warning", "NoCompatibleInstanceTypes", "none"),
        SchedulingEvent("Pod", "default/p", "Normal", "Other", "of a pod"),
        SchedulingEvent("Pod", "elsewhere/p", "Normal", "Other", "of nobody"),
        SchedulingEvent("NodePool", "gone", "Normal", "Other", "of nothing"),
    ]
    of = Provisioning(monkeypatch, pending(), pool, results=[SchedulingResults(events=tuple(told))])
    of.hear(of.still.objects[0])
    of.engine.advance(2)
    assert of.still.events() == [("NoCompatibleInstanceTypes", "none"), ("Other", "of a pod")]
    ((rejection,),) = (call.args[0] for call in of.still.sink.rejected.call_args_list)
    assert (rejection.object, rejection.rule, rejection.text) == (
        "NodePool/default",
        "no-compatible-instance-types",
        "none",
    )


@pytest.mark.parametrize(
    ("none", "errors", "told"), [(True, {}, True), (True, {"default/p": "no room"}, False), (False, {}, False)]
)
def test_that_there_are_no_nodepools_is_logged(
    monkeypatch: pytest.MonkeyPatch, none: bool, errors: dict[str, str], told: bool
) -> None:
    of = Provisioning(monkeypatch, pending(), results=[SchedulingResults(no_nodepools=none, errors=errors)])
    of.hear(of.still.objects[0])
    of.engine.advance(2)
    logged = [call.args[2] for call in of.still.sink.log.call_args_list]
    assert ("no dynamic nodepools found" in logged) is told


def test_a_decision_that_is_put_off_is_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    """Core pkg/controllers/provisioning/scheduling/scheduler.go Results.Record: reserved capacity may be had by the next simulation."""
    errors: Any = {"default/p": ReservationsTaken(lost=False), "default/other": "no room"}
    results = SchedulingResults(errors=errors)
    of = Provisioning(monkeypatch, pending(), pending("other"), results=[results])
    of.hear(of.still.objects[0])
    of.engine.advance(2)
    assert of.still.events() == [("FailedScheduling", "Failed to schedule pod, no room")]
    assert of.provisioner.waiting == (1, 0)
    assert of.still.sink.event.call_args.kwargs == {"dedupe_seconds": 300}  # PodFailedToScheduleEvent: once in 5 min
    put_off = [call.kwargs["Pods"] for call in of.still.sink.log.call_args_list if "Pods" in call.kwargs]
    assert put_off == ["default/p"]


@pytest.mark.parametrize("there", [True, False])
def test_instance_types_are_asked_for_each_nodepool_whose_nodeclass_is_there(
    monkeypatch: pytest.MonkeyPatch, there: bool
) -> None:
    pool = nodepool()
    of = Provisioning(monkeypatch, pool, *([nodeclass()] if there else []), results=[NOTHING])
    monkeypatch.setattr(provisioner, "usable_nodepools", lambda *_: [pool])
    of.types.for_nodepool.return_value = ["D2"]
    assert of.provisioner.instance_types() == ({"default": ["D2"]} if there else {})


@pytest.mark.parametrize("problem", [UnevaluatedNodePool("default"), NoInstanceTypes()])
def test_a_nodepool_without_instance_types_is_left_out(monkeypatch: pytest.MonkeyPatch, problem: Exception) -> None:
    pool = nodepool()
    of = Provisioning(monkeypatch, pool, nodeclass(), results=[NOTHING])
    monkeypatch.setattr(provisioner, "usable_nodepools", lambda *_: [pool])
    of.types.for_nodepool.side_effect = problem
    assert of.provisioner.instance_types() == {}
    assert of.still.sink.log.call_args.kwargs["NodePool"] == "default"


def test_each_planned_nodeclaim_is_created_once_and_its_pods_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    one = pending()
    made = SimpleNamespace(pods=(one,), nodepool="default", to_nodeclaim=None, requirements="any")
    created: list[str] = []

    def create(*_: Any, **__: Any) -> Object:
        created.append(f"c{len(created)}")
        return {**nodeclaim(name=created[-1]), "status": {"providerID": "azure:///c"}}

    monkeypatch.setattr(provisioner, "create_nodeclaim", create)
    planned_: Any = (made,)
    of = Provisioning(monkeypatch, one, results=[SchedulingResults(nodeclaims=planned_)])
    of.hear(one)
    of.engine.advance(25)
    assert created == ["c0"]
    assert of.still.events()[0] == ("Nominated", "Pod should schedule on: nodeclaim/c0")
    assert of.marks.expected_on("c0") == ["default/p"]
    for _ in range(7):
        of.hear(one)
        of.engine.advance(12)
    assert len(created) == 8
    assert len(of.engine.runaways) == 1
