"""A NodeClaim's way out (core pkg/controllers/nodeclaim/lifecycle/controller.go finalize), and the repair of Nodes (…/node/health)."""

from __future__ import annotations

from typing import Any
from unittest.mock import MagicMock

import pytest

from harness.engine.clock import SECOND, Clock, render
from harness.engine.engine import DONE, ReconcileError, Result, Wait
from harness.engine.ports import Change, ChangeType
from harness.karpenter.lifecycle.instance_provider import CloudProviderError, InstanceNotFound
from harness.karpenter.lifecycle.nodeclaims.controller import NodeClaimLifecycle
from harness.karpenter.lifecycle.nodes.repair import NodeRepair
from harness.karpenter.releases import provider
from harness.karpenter.releases.core_release import CoreRelease
from harness.kube.api.objects import annotations_of, condition, finalizers_of
from harness.kube.api.status import ApiError
from harness.testing import node, nodeclaim, nodepool
from tests.corridor.still import Still, going

START = "2026-01-01T00:00:00Z"
FINALIZER = "karpenter.sh/termination"
DEADLINE = "karpenter.sh/nodeclaim-termination-timestamp"


class Leaving:
    """A NodeClaim that is deleted a minute after the start, and its controller; `conditions` are True."""

    def __init__(
        self, *nodes: Any, conditions: tuple[str, ...] = ("Registered",), machine: str = "azure:///n", **spec: Any
    ) -> None:
        claim = going(nodeclaim(name="c"), "2026-01-01T00:01:00Z", finalizers=["first", FINALIZER])
        claim["metadata"]["creationTimestamp"] = START
        claim["spec"] |= spec
        found = [{"type": kind, "status": "True", "lastTransitionTime": START} for kind in conditions]
        claim["status"] = {"providerID": machine, "conditions": found}
        self.still, self.provider = Still(claim, *nodes), MagicMock()
        self.lifecycle = NodeClaimLifecycle(
            self.still, self.still, self.still.sink, Clock(), self.provider, CoreRelease(version="1.14.0")
        )

    def look(self) -> Result:
        return self.lifecycle.reconcile("c")

    @property
    def claim(self) -> Any:
        return self.still.get("NodeClaim", "c")


def machine(name: str) -> Any:
    return node(name, providerID="azure:///n")


def test_the_nodes_of_a_registered_nodeclaim_go_first() -> None:
    way = Leaving(machine("a"), going(machine("b"), START), node("other", providerID="azure:///other"))
    assert way.look() == DONE
    assert way.still.verbs == [("delete", "Node", "a")]
    assert not way.provider.delete.called


@pytest.mark.parametrize("nodes", [0, 1])
def test_then_its_machine_and_then_itself(nodes: int) -> None:
    """A NodeClaim that was never registered does not wait for its Node."""
    way = Leaving(*[machine("a")][:nodes], conditions=() if nodes else ("Registered",))
    assert way.look() == Result(5.0)
    found = condition(way.claim, "InstanceTerminating")
    assert found is not None
    assert found["status"] == "True"
    written = len(way.still.written)
    assert way.look() == Result(5.0)
    assert len(way.still.written) == written
    way.provider.delete.side_effect = InstanceNotFound("gone")
    assert way.look() == DONE
    assert list(finalizers_of(way.claim)) == ["first"]
    assert way.provider.delete.call_count == 3
    assert way.look() == DONE  # without the finalizer it is nobody's business
    assert way.provider.delete.call_count == 3


def test_a_nodeclaim_without_a_machine_goes_at_once() -> None:
    way = Leaving(conditions=(), machine="")
    assert way.look() == DONE
    assert (list(finalizers_of(way.claim)), way.provider.delete.called) == (["first"], False)


def test_an_error_of_the_cloud_is_tried_again() -> None:
    way = Leaving()
    way.provider.delete.side_effect = CloudProviderError("throttled")
    with pytest.raises(ReconcileError, match="throttled"):
        way.look()
    assert way.still.written == []


@pytest.mark.parametrize(
    ("grace", "before", "deadline"),
    [
        (None, None, None),
        ("5m", None, "2026-01-01T00:06:00Z"),
        ("0s", None, "2026-01-01T00:01:00Z"),
        ("5m", "2026-01-01T00:02:00Z", "2026-01-01T00:02:00Z"),
    ],
)
def test_its_deadline_is_written_once(grace: str | None, before: str | None, deadline: str | None) -> None:
    """Of ensureTerminationGracePeriodTerminationTimeAnnotation: the deletion's time and the grace period."""
    way = Leaving(**({"terminationGracePeriod": grace} if grace is not None else {}))
    if before is not None:
        way.claim["metadata"]["annotations"] = {DEADLINE: before}
    way.look()
    assert annotations_of(way.claim).get(DEADLINE) == deadline
    told = [("TerminationGracePeriodExpiring", f"All pods will be deleted by {deadline}")]
    assert way.still.events() == (told if deadline is not None and before is None else [])


# repair


def sick(name: str = "n", since: int = 0, pool: str | None = "default") -> Any:
    made = node(name, providerID=f"azure:///{name}", labels={"karpenter.sh/nodepool": pool} if pool is not None else {})
    made["status"]["conditions"] = [
        {"type": "Ready", "status": "Unknown", "lastTransitionTime": render(since * SECOND)}
    ]
    return made


def of_sick(name: str = "n", pool: str | None = "default") -> Any:
    made = nodeclaim(name=name)
    made["metadata"]["labels"] = {"karpenter.sh/nodepool": pool} if pool is not None else {}
    made["status"] = {"providerID": f"azure:///{name}"}
    return made


def repair(at: int, *objects: Any, release: str = "1.14.0") -> tuple[NodeRepair, Still]:
    still, clock = Still(*objects), Clock()
    clock.advance_to(at * SECOND)
    return NodeRepair(still, still, still.sink, clock, provider(release)), still


def test_a_node_that_is_sick_for_too_long_is_replaced_and_gives_its_pods_no_time() -> None:
    of, still = repair(600, sick(), of_sick())
    assert of.reconcile("n") == DONE
    assert still.written == [
        ("patch", "NodeClaim", "n", {"metadata": {"annotations": {DEADLINE: "2026-01-01T00:10:00Z"}}}),
        ("delete", "NodeClaim", "n", None),
    ]
    (told,) = (call.args[0] for call in still.sink.disrupted.call_args_list)
    assert (told.reason, told.nodes[0].node) == ("Unhealthy", "n")


def test_a_sick_node_is_looked_at_again_when_its_time_has_come() -> None:
    of, still = repair(100, sick(), of_sick())
    assert (of.reconcile("n"), still.written) == (Result(500.0, Wait.ALARM), [])


def test_a_nodeclaim_that_goes_already_is_not_deleted_again() -> None:
    claim = going(of_sick(), START)
    claim["metadata"]["annotations"] = {DEADLINE: "2026-01-01T00:05:00Z"}
    of, still = repair(600, sick(), claim)
    assert (of.reconcile("n"), still.written) == (DONE, [])
    assert not still.sink.disrupted.called


@pytest.mark.parametrize("objects", [[], [sick()], [of_sick()], [sick(), of_sick(), {**of_sick()}]])
def test_nodes_without_their_one_nodeclaim_are_left_alone(objects: list[Any]) -> None:
    of, still = repair(600, *objects)
    assert (of.reconcile("n"), still.written) == (DONE, [])


@pytest.mark.parametrize(("code", "known"), [(404, True), (409, True), (500, False)])
def test_a_repair_that_is_refused(code: int, known: bool) -> None:
    of, still = repair(600, sick(), of_sick())
    still.refusing = ApiError(code, "Refused", "etcd is away")
    if known:
        assert of.reconcile("n") == DONE
    else:
        with pytest.raises(ReconcileError, match="etcd is away"):
            of.reconcile("n")


@pytest.mark.parametrize(
    ("pool", "others", "told", "release", "result"),
    [
        ("default", [nodepool()], "nodepool", "1.14.0", Result(300.0, Wait.ALARM)),
        ("default", [], None, "1.14.0", Result(300.0, Wait.ALARM)),  # its NodePool is gone
        (None, [], "cluster", "1.14.0", Result(300.0, Wait.ALARM)),
        ("default", [nodepool()], "nodepool", "1.6.5", DONE),
    ],
)
def test_a_repair_is_held_while_too_many_nodes_are_sick(
    pool: str | None, others: list[Any], told: str | None, release: str, result: Result
) -> None:
    """Two of two; the sentence of the cluster has core's own spelling. Up to core 1.6 nobody looks again."""
    of, still = repair(600, sick(pool=pool), sick("m", pool=pool), of_sick(pool=pool), *others, release=release)
    assert of.reconcile("n") == result
    assert still.written == []
    text = {
        "nodepool": "more than 20% nodes are unhealthy in the nodepool",
        "cluster": "more then 20% nodes are unhealthy in the cluster",
    }
    assert still.events() == ([("NodeRepairBlocked", text[told])] if told is not None else [])


@pytest.mark.parametrize(
    ("old", "woken"),
    [
        (None, True),
        (sick(), False),
        (sick(since=1), True),
        (node("n"), True),
        ({**sick(), "status": {}}, True),
        ({**sick(), "spec": {}}, False),
    ],
)
def test_a_node_is_looked_at_when_its_conditions_change(old: Any, woken: bool) -> None:
    """Of the controller's UpdateFunc: a condition comes or goes, its status or its time changes."""
    of, _ = repair(0)
    router = of.watches()["Node"]
    assert [*router(Change(ChangeType.MODIFIED, sick(), old, 1))] == (["n"] if woken else [])
    assert [*router(Change(ChangeType.DELETED, sick(), old, 1))] == []
