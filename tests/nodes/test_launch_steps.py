"""A NodeClaim's launch as its controller takes it: when Azure is asked, what is waited for, and what becomes of refusals."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any
from unittest.mock import MagicMock

import pytest

from harness.engine.clock import Clock, nanoseconds
from harness.engine.engine import DONE, ReconcileError, Result, Wait
from harness.engine.names import ProviderId
from harness.karpenter.launch.failures.errors import FailureKind, LaunchError, LaunchPanic
from harness.karpenter.lifecycle.instance_provider import Instance, InstanceNotFound
from harness.karpenter.lifecycle.nodeclaims.controller import NodeClaimLifecycle
from harness.karpenter.lifecycle.nodeclaims.draft import Draft
from harness.karpenter.lifecycle.nodeclaims.initialization import obstacle_of
from harness.karpenter.lifecycle.nodeclaims.liveness import Liveness
from harness.karpenter.lifecycle.nodeclaims.pace import Pace
from harness.karpenter.lifecycle.nodeclaims.registration import Registration
from harness.karpenter.releases.core_release import CoreRelease
from harness.kube.api.objects import condition, finalizers_of, name_of
from harness.kube.api.status import ApiError
from harness.testing import node, nodeclaim
from tests.corridor.still import Still, going

START = "2026-01-01T00:00:00Z"
FINALIZER = "karpenter.sh/termination"
MACHINE = Instance(
    "m",
    ProviderId("azure:///m"),
    {"topology.kubernetes.io/zone": "z", "team": "azure's"},
    annotations={"note": "azure's"},
    image_id="image",
    capacity={"cpu": "2"},
    allocatable={"cpu": "1900m"},
)


class Launching:
    """A NodeClaim that is to be launched; each call of Azure does the next of `answers`: a pause, a machine or an error."""

    def __init__(self, *answers: Any, pace: Pace | None = None) -> None:
        claim = nodeclaim(name="c")
        claim["metadata"] |= {"creationTimestamp": START, "generation": 1, "finalizers": [FINALIZER]}
        claim["metadata"] |= {"labels": {"team": "own"}, "annotations": {"note": "own"}}
        self.still, self.clock, self.provider = Still(claim), Clock(), MagicMock()
        self.answers = iter(answers)
        self.asked: list[float] = []
        self.provider.create.side_effect = self._create
        core = CoreRelease(version="1.14.0")
        self.lifecycle = NodeClaimLifecycle(
            self.still, self.still, self.still.sink, self.clock, self.provider, core, pace or Pace()
        )

    def _create(self, claim: Any) -> Iterator[float]:
        for answer in self.answers:
            self.asked.append(self.clock.seconds)
            if isinstance(answer, Exception):
                raise answer
            if isinstance(answer, Instance):
                return answer
            yield answer
        raise AssertionError("nothing is answered any more")

    def look(self, at: float) -> Result:
        self.clock.advance_to(nanoseconds(at))
        return self.lifecycle.reconcile("c")

    @property
    def claim(self) -> Any:
        return self.still.get("NodeClaim", "c")

    def launched(self) -> tuple[str, str, str] | None:
        found = condition(self.claim, "Launched")
        return (found["status"], found["reason"], found["message"]) if found is not None else None


def under_way(seconds: float) -> Result:
    """What blocks everything else about the NodeClaim, and does not end the back-off of earlier failures."""
    return Result(seconds, busy=seconds, under_way=True)


def test_a_launch_is_asked_for_resumed_and_written_down_after_its_answer() -> None:
    way = Launching(5.0, MACHINE)
    assert way.look(0) == under_way(0.1)
    assert (way.look(0.05), way.asked) == (under_way(0.05), [])
    assert (way.look(0.1), way.asked) == (under_way(5.0), [0.1])
    assert (way.look(4.1), way.asked) == (under_way(1.0), [0.1])
    assert (way.look(5.1), way.asked) == (under_way(0.025), [0.1, 5.1])
    assert way.still.written == []
    assert way.look(5.125) == Result(900 - 5.125, Wait.ALARM, busy=1.0)  # until it has to be registered
    assert way.launched() == ("True", "Launched", "")
    assert way.claim["status"]["providerID"] == "azure:///m"
    status = way.claim["status"]
    assert (status["capacity"], status["allocatable"]) == ({"cpu": "2"}, {"cpu": "1900m"})
    assert way.provider.create.call_count == 1


def test_a_nodeclaims_own_labels_win_and_the_providers_annotations() -> None:
    """Core …/lifecycle/launch.go PopulateNodeClaimDetails."""
    way = Launching(MACHINE, pace=Pace(request=0.0, answer=0.0))
    way.look(0)
    metadata = way.claim["metadata"]
    assert metadata["labels"] == {"team": "own", "topology.kubernetes.io/zone": "z"}
    assert metadata["annotations"] == {"note": "azure's"}
    assert way.claim["status"]["imageID"] == "image"


@pytest.mark.parametrize("deleted", [0.05, 0.1, 3.0, 5.11])
def test_a_nodeclaim_that_is_deleted_during_its_launch_goes_after_it(deleted: float) -> None:
    """The controller is in the middle of it: only then it sees that the object goes, and deletes the machine that it has made."""
    way = Launching(5.0, MACHINE)
    moments = [0, 0.1, 5.1, 5.125]
    for moment in moments:
        if moment >= deleted and "deletionTimestamp" not in way.claim["metadata"]:
            going(way.claim, START)
        way.look(moment)
        assert not way.provider.delete.called
    assert way.claim["status"]["providerID"] == "azure:///m"
    assert way.look(6.2) == Result(5.0)
    assert name_of(way.provider.delete.call_args.args[0]) == "c"
    way.provider.delete.side_effect = InstanceNotFound("gone")
    assert way.look(11.2) == DONE
    assert finalizers_of(way.claim) == ()


def test_a_nodeclaim_that_is_deleted_before_its_launch_makes_no_machine() -> None:
    way = Launching()
    going(way.claim, START)
    assert way.look(0) == DONE
    assert (finalizers_of(way.claim), way.provider.create.called, way.provider.delete.called) == ((), False, False)


def test_a_refused_launch_is_tried_again_without_the_first_pause() -> None:
    """Measured: refused calls are 1.025 s apart, of which 1 s is the back-off of the controller."""
    way = Launching(LaunchError("no"), LaunchError.create("no", "Why", "so"), MACHINE)
    way.look(0)
    assert way.look(0.1) == under_way(0.025)
    with pytest.raises(ReconcileError, match="launching nodeclaim, no"):
        way.look(0.125)
    assert way.launched() == ("Unknown", "LaunchFailed", "no")
    assert way.look(1.125) == under_way(0.025)
    with pytest.raises(ReconcileError, match="launching nodeclaim, creating nodeclaim, no"):
        way.look(1.15)
    assert way.launched() == ("Unknown", "Why", "so")
    assert way.look(3.15) == under_way(0.025)
    way.look(3.175)
    assert (way.launched(), way.asked) == (("True", "Launched", ""), [0.1, 1.125, 3.15])


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (LaunchError.capacity("none left"), True),
        (LaunchError.nodeclass_not_ready("not yet"), False),
    ],
)
def test_a_launch_that_cannot_be_is_given_up(error: LaunchError, told: bool) -> None:
    """Core …/lifecycle/launch.go launchNodeClaim: the NodeClaim is deleted; its Event tells of capacity only."""
    way = Launching(error, pace=Pace(request=0.0, answer=0.0))
    way.look(0)
    assert ("delete", "NodeClaim", "c") in way.still.verbs
    assert [reason for reason, _ in way.still.events()] == (["InsufficientCapacityError"] if told else [])
    assert way.launched() == ("Unknown", "AwaitingReconciliation", "object is awaiting reconciliation")


def given_up(refusal: ApiError) -> None:
    """Gives a launch up whose NodeClaim cannot be deleted."""
    way = Launching(LaunchError("", FailureKind.CAPACITY), pace=Pace(request=0.0, answer=0.0))
    draft = Draft(way.claim, START)
    launch = way.lifecycle._launch
    assert launch.waits(draft, way.lifecycle.pace) == 0
    way.still.refusing = refusal
    assert launch.step(draft) is None


def test_a_nodeclaim_that_is_gone_already_is_given_up_all_the_same() -> None:
    """Core …/lifecycle/launch.go: client.IgnoreNotFound."""
    given_up(ApiError(404, "NotFound", "not there"))
    with pytest.raises(ApiError, match="etcd"):
        given_up(ApiError(500, "InternalError", "etcd is away"))


def test_a_panic_of_the_provider_is_an_error_of_this_look() -> None:
    way = Launching(LaunchPanic("nil map"), MACHINE, pace=Pace(request=0.0, answer=0.0))
    with pytest.raises(ReconcileError, match="nil map"):
        way.look(0)
    assert not way.lifecycle._launch.under_way(way.claim)
    way.look(1)
    assert way.launched() == ("True", "Launched", "")


@pytest.mark.parametrize(
    ("ref", "launches"),
    [
        ({"group": "karpenter.azure.com", "kind": "AKSNodeClass"}, True),
        ({"group": "karpenter.k8s.aws", "kind": "AKSNodeClass"}, False),
        ({"group": "karpenter.azure.com", "kind": "EC2NodeClass"}, False),
        (None, False),
    ],
)
def test_only_nodeclaims_of_an_aksnodeclass_are_ours(ref: dict[str, str] | None, launches: bool) -> None:
    """Core pkg/utils/nodeclaim IsManaged: group and kind of the NodeClass are those that the provider supports."""
    way = Launching(MACHINE, pace=Pace(request=0.0, answer=0.0))
    way.claim["spec"]["nodeClassRef"] = ref
    way.look(0)
    assert bool(way.asked) is launches
    assert bool(way.still.written) is launches


@pytest.mark.parametrize(
    ("error", "rule", "message"),
    [
        (LaunchError.capacity("none left"), "insufficient-capacity", "insufficient capacity, none left"),
        (LaunchError.create("no", "Why", "so"), "Why", "so"),
        (LaunchError("no"), "LaunchFailed", "no"),
    ],
)
def test_a_refused_launch_is_told_in_the_words_of_its_condition_else_of_the_error(
    error: LaunchError, rule: str, message: str
) -> None:
    way = Launching(error, pace=Pace(request=0.0, answer=0.0))
    with suppress(ReconcileError):
        way.look(0)
    ((told,),) = (call.args[0] for call in way.still.sink.rejected.call_args_list)
    assert (told.object, told.rule, told.message, told.text) == ("NodeClaim/c", rule, message, str(error))


@pytest.mark.parametrize(
    ("launched", "release", "left"),
    [
        (False, {}, 300),
        (True, {}, 900),
        (False, {"launch_timeout": False}, 900),
    ],
)
def test_a_nodeclaim_is_given_up_when_its_time_is_over(launched: bool, release: dict[str, bool], left: int) -> None:
    """Core …/lifecycle/liveness.go: 5 min until the launch, 15 until the registration, to the second; before core 1.7 15 for both."""
    claim = nodeclaim(name="c")
    claim["metadata"]["creationTimestamp"] = "2026-01-01T00:01:40Z"
    draft, clock, still, health = Draft(claim, START), Clock(), Still(claim), MagicMock()
    if launched:
        draft.conditions.set_true("Launched")
    core = CoreRelease(version="1.14.0", **release)
    liveness = Liveness(clock, still, still.sink, health, core)
    for moment in (0, left - 1, left - 0.25):
        clock.advance_to(nanoseconds(100 + moment))
        assert liveness.step(draft) == left - moment
    assert still.written == []
    clock.advance_to(nanoseconds(100 + left))
    assert liveness.step(draft) is None
    assert still.verbs == [("delete", "NodeClaim", "c")]
    assert health.failed.call_args.kwargs == {"launching": left == 300}
    still.refusing = ApiError(404, "NotFound", "not there")
    assert liveness.step(draft) is None


def test_a_registered_nodeclaim_is_not_given_up() -> None:
    claim = nodeclaim(name="c")
    claim["metadata"]["creationTimestamp"] = START
    draft, clock, still = Draft(claim, START), Clock(), Still(claim)
    draft.conditions.set_true("Registered")
    clock.advance_to(nanoseconds(9999))
    assert Liveness(clock, still, still.sink, MagicMock(), CoreRelease(version="1.14.0")).step(draft) is None
    assert still.written == []


UNREGISTERED = {"key": "karpenter.sh/unregistered", "effect": "NoExecute"}


@pytest.mark.parametrize("initialization", [0.0, 3.0])
def test_the_node_is_registered_and_initialized_as_soon_as_the_controller_notices(initialization: float) -> None:
    """Nothing waits while there is no Node, or one that is not ready; what is noticed is done after the step's own time (Pace)."""
    way = Launching(MACHINE, pace=Pace(request=0.0, answer=0.0, registration=0.2, initialization=initialization))
    health = way.lifecycle.health = MagicMock()
    assert way.look(0) == Result(900, Wait.ALARM, busy=1.0)
    assert way.look(10) == Result(890, Wait.ALARM)
    made = node("n", providerID="azure:///m", taints=[UNREGISTERED])
    made["metadata"] |= {"uid": "n", "resourceVersion": "1"}
    made["status"]["conditions"][0]["status"] = "False"
    way.still.objects.append(made)
    assert (way.look(20), way.look(20.1)) == (under_way(0.2), under_way(0.1))
    assert way.look(20.2) == Result(None, Wait.ALARM, busy=1.0)
    registered, initialized = (condition(way.claim, kind) for kind in ("Registered", "Initialized"))
    assert registered is not None
    assert initialized is not None
    assert (registered["status"], initialized["reason"]) == ("True", "NodeNotReady")
    assert way.look(25) == Result(None, Wait.ALARM)
    way.still.patch("Node", "n", {"status": {"conditions": [{"type": "Ready", "status": "True"}]}})
    if initialization:
        assert (way.look(30), way.look(31)) == (under_way(3.0), under_way(2.0))
        way.still.patch("Node", "n", {"status": {"conditions": [{"type": "Ready", "status": "False"}]}})
        assert way.look(32) == Result(None, Wait.ALARM)
        way.still.patch("Node", "n", {"status": {"conditions": [{"type": "Ready", "status": "True"}]}})
        assert way.look(40) == under_way(3.0)  # its time begins anew
    assert way.look(43) == Result(None, Wait.ALARM, busy=1.0)
    initialized = condition(way.claim, "Initialized")
    assert initialized is not None
    assert initialized["status"] == "True"
    written = len(way.still.written)
    assert (way.look(50), len(way.still.written)) == (DONE, written)
    way.still.patch("NodeClaim", "c", {"metadata": {"generation": 2}})
    assert way.look(60) == Result(None, Wait.ALARM, busy=1.0)  # each condition is of that generation now
    assert {each["observedGeneration"] for each in way.claim["status"]["conditions"]} == {2}
    assert health.succeeded.call_count == 1


GPU = "nvidia.com/gpu"
START_UP = {"key": "team", "effect": "NoSchedule"}
NOT_READY = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}


@pytest.mark.parametrize(
    ("spec", "taints", "allocatable", "ready", "reason"),
    [
        ({}, [], {}, True, None),
        ({}, [], {}, False, "NodeNotReady"),
        ({"startupTaints": [START_UP]}, [START_UP], {}, True, "StartupTaintsExist"),
        ({"startupTaints": [START_UP]}, [{**START_UP, "effect": "NoExecute"}], {}, True, None),
        ({"taints": [START_UP]}, [START_UP], {}, True, None),
        ({}, [NOT_READY], {}, True, "KnownEphemeralTaintsExist"),
        ({"resources": {"requests": {"cpu": "1"}}}, [], {"cpu": "2"}, True, None),
        ({"resources": {"requests": {GPU: "1"}}}, [], {"cpu": "2"}, True, "ResourceNotRegistered"),
        ({"resources": {"requests": {GPU: "1"}}}, [], {GPU: "0"}, True, "ResourceNotRegistered"),
        ({"resources": {"requests": {GPU: "2"}}}, [], {GPU: "1"}, True, None),  # as soon as there is one
        ({"resources": {"requests": {GPU: "0"}}}, [], {}, True, None),
        ({"resources": {}}, [], {}, True, None),
    ],
)
def test_what_a_node_lacks_to_be_initialized(
    spec: dict[str, Any], taints: list[Any], allocatable: dict[str, str], ready: bool, reason: str | None
) -> None:
    """Core …/lifecycle/initialization.go: readiness, startup taints, ephemeral taints, requested resources, in this order."""
    claim, made = nodeclaim(), node(taints=taints)
    claim["spec"] |= spec
    made["status"]["allocatable"] = allocatable
    made["status"]["conditions"][0]["status"] = "True" if ready else "False"
    found = obstacle_of(claim, made, CoreRelease(version="1.14.0"))
    assert (found[0] if found is not None else None) == reason


REGISTERED = {"karpenter.sh/registered": "true"}
NO_SYNC = {"karpenter.sh/do-not-sync-taints": "true"}
MISSING = "UnregisteredTaintMissing"


@pytest.mark.parametrize(
    ("labels", "taints", "kept", "told"),
    [
        ({}, [UNREGISTERED], [START_UP], []),
        ({}, [], [START_UP], [MISSING]),
        (REGISTERED, [], [START_UP], []),
        (NO_SYNC, [UNREGISTERED], [], []),
        ({"karpenter.sh/do-not-sync-taints": "false"}, [UNREGISTERED], [START_UP], []),
        ({}, [UNREGISTERED, START_UP], [START_UP], []),
        ({}, [UNREGISTERED, {**START_UP, "effect": "NoExecute"}], [{**START_UP, "effect": "NoExecute"}, START_UP], []),
    ],
)
def test_a_node_gets_the_taints_of_its_nodeclaim_and_loses_the_one_of_its_start(
    labels: dict[str, str], taints: list[Any], kept: list[Any], told: list[str]
) -> None:
    """Core …/lifecycle/registration.go: a Node without that taint and without the label registered came without protection."""
    claim, made = nodeclaim(name="c"), node("n", providerID="azure:///m", labels=labels, taints=taints)
    claim["spec"]["taints"] = [START_UP]
    claim["status"] = {"providerID": "azure:///m"}
    still = Still(claim, made)
    draft = Draft(claim, START)
    registration = Registration(still, still, still.sink, CoreRelease(version="1.14.0"))
    assert registration.step(draft) is True
    found = still.get("Node", "n")
    assert found is not None
    assert found["spec"].get("taints", []) == kept
    assert found["metadata"]["labels"]["karpenter.sh/registered"] == "true"
    assert [reason for reason, _ in still.events()] == told
    assert registration.step(draft) is False
    assert len(still.written) == 1


def test_nothing_is_registered_without_a_node_or_with_two() -> None:
    claim = nodeclaim(name="c")
    claim["status"] = {"providerID": "azure:///m"}
    for count, reason in ((0, "NodeNotFound"), (2, "MultipleNodesFound")):
        still = Still(claim, *(node(f"n{number}", providerID="azure:///m") for number in range(count)))
        draft = Draft(claim, START)
        assert Registration(still, still, still.sink, CoreRelease(version="1.14.0")).step(draft) is False
        found = draft.conditions.get("Registered")
        assert found is not None
        assert (found["reason"], still.written) == (reason, [])
