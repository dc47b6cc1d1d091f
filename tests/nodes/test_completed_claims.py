"""NodeClaims at the edges of their life: complete ones, those of several Nodes, those that go while they are looked at."""

from __future__ import annotations

from typing import Any
from unittest.mock import MagicMock, patch

import pytest

from harness.engine.clock import SECOND, Clock, parse
from harness.engine.engine import DONE
from harness.engine.names import ProviderId
from harness.engine.ports import ADMIN
from harness.karpenter.lifecycle.conditions import NODECLAIM, Conditions
from harness.karpenter.lifecycle.instance_provider import Instance
from harness.karpenter.lifecycle.nodeclaims.consistency import Consistency
from harness.karpenter.lifecycle.nodeclaims.draft import Draft
from harness.karpenter.lifecycle.nodeclaims.garbage import GarbageCollection
from harness.karpenter.lifecycle.nodeclaims.registration import Registration
from harness.kube.api.objects import condition, finalizers_of, name_of
from harness.kube.api.status import ApiError
from harness.testing import deployment, node, nodeclaim, nodeclass, nodepool
from harness.world import World

NOW = "2026-01-01T00:00:00Z"
MODULES = "harness.karpenter.lifecycle.nodeclaims"


def settled() -> World:
    world = World()
    world.apply(nodeclass(), nodepool(), deployment())
    world.settle()
    return world


def test_a_complete_nodeclaim_gets_its_finalizer_back() -> None:
    world = settled()
    (claim,) = world.list("NodeClaim")
    kept = list(finalizers_of(claim))
    assert kept
    world.ports.writer(ADMIN).patch("NodeClaim", name_of(claim), {"metadata": {"finalizers": None}})
    world.advance(30)
    (claim,) = world.list("NodeClaim")
    assert list(finalizers_of(claim)) == kept


def test_a_node_that_is_complete_is_initialized_as_late_as_the_pace_says() -> None:
    world = World()
    world.change_timing(initialization=20.0)
    world.apply(nodeclass(), nodepool(), deployment())
    world.settle()
    (claim,), (machine,) = world.list("NodeClaim"), world.list("Node")
    ready, initialized = condition(machine, "Ready"), condition(claim, "Initialized")
    assert ready is not None
    assert initialized is not None
    assert initialized["status"] == "True"
    assert parse(initialized["lastTransitionTime"]) - parse(ready["lastTransitionTime"]) >= 19 * SECOND


def test_a_nodeclaim_of_two_nodes_is_not_registered() -> None:
    claim = nodeclaim()
    claim["status"] = {"providerID": "azure:///one"}
    draft = Draft(claim, NOW)
    writer: Any = MagicMock()
    with patch(f"{MODULES}.registration.nodes_of", return_value=[node("a"), node("b")]):
        completed = Registration(MagicMock(), writer, MagicMock(), MagicMock()).step(draft)
    assert completed is False
    found = draft.conditions.get("Registered")
    assert found is not None
    assert (found["status"], found["reason"]) == ("False", "MultipleNodesFound")
    assert not writer.patch.called


def test_a_nodeclaim_that_goes_while_its_node_is_looked_at_is_no_error() -> None:
    claim = nodeclaim()
    claim["metadata"]["uid"] = "u"
    claim["status"] = {"providerID": "azure:///one"}
    view, writer = MagicMock(), MagicMock()
    view.get.return_value = claim
    writer.patch.side_effect = ApiError(404, "NotFound", "not there")
    with patch(f"{MODULES}.consistency.nodes_of", return_value=[node()]):
        assert Consistency(view, writer, MagicMock(), Clock(), MagicMock()).reconcile(name_of(claim)) is DONE
    assert writer.patch.called


def test_a_machine_of_unknown_age_is_as_old_as_the_world() -> None:
    view, provider, clock = MagicMock(), MagicMock(), MagicMock()
    view.list.return_value = view.indexed.return_value = []
    provider.list.return_value = [Instance("m", ProviderId("azure:///m"), {})]
    sweeps = GarbageCollection(view, MagicMock(), MagicMock(), clock, provider)
    clock.now = 300 * SECOND
    sweeps.reconcile("sweep")
    assert not provider.delete_instance.called
    clock.now += 1
    sweeps.reconcile("sweep")
    assert provider.delete_instance.called


def test_a_condition_that_turns_for_the_same_reason_is_written() -> None:
    conditions = Conditions(nodeclaim(), NODECLAIM, NOW)
    assert conditions.set("Launched", "True", "Same", "words")
    assert not conditions.set("Launched", "True", "Same", "words")
    assert conditions.set("Launched", "False", "Same", "words")
    assert conditions.status("Launched") == "False"


@pytest.mark.parametrize(
    ("label", "provider_id", "patched"),
    [
        (None, None, []),
        ("x", None, [{"metadata": {"labels": {"l": "x"}}}]),
        (None, "azure:///one", [{"status": {"providerID": "azure:///one"}}]),
        ("x", "azure:///one", [{"metadata": {"labels": {"l": "x"}}}, {"status": {"providerID": "azure:///one"}}]),
    ],
)
def test_whatever_changed_of_a_nodeclaim_counts_as_written(
    label: str | None, provider_id: str | None, patched: list[Any]
) -> None:
    """Core pkg/controllers/nodeclaim/lifecycle/controller.go: metadata and status are compared and patched each for itself."""
    claim, writer = nodeclaim(), MagicMock()
    claim["status"] = {"conditions": Conditions(claim, NODECLAIM, NOW).items}
    draft = Draft(claim, NOW)
    if label is not None:
        draft.labels["l"] = label
    if provider_id is not None:
        draft.status["providerID"] = provider_id
    assert draft.write(writer) is bool(patched)
    assert [call.args[2] for call in writer.patch.call_args_list] == patched
