"""What a NodePool says of its last launches (core pkg/state/nodepoolhealth, …/nodeclaim/lifecycle/{liveness,registration}.go)."""

from __future__ import annotations

from typing import Any
from unittest.mock import MagicMock

import pytest

from harness.engine.clock import Clock
from harness.karpenter.lifecycle.conditions import NODECLAIM, Conditions
from harness.karpenter.lifecycle.nodepools.health import RegistrationHealth
from harness.karpenter.releases.core_release import CoreRelease
from harness.kube.api.objects import condition
from harness.kube.api.status import ApiError
from harness.testing import nodeclaim, nodepool

NOW = "2026-01-01T00:00:00Z"
KIND = "NodeRegistrationHealthy"
Outcomes = list[bool]


class Pool:
    """A NodePool, what is counted of it, and a NodeClaim of it; `owner` is the uid of the NodeClaim's owner."""

    def __init__(self, *, counts: bool = True, owner: str = "p", label: str = "default") -> None:
        self.object = nodepool()
        self.object["metadata"]["uid"] = "p"
        self.claim = nodeclaim()
        self.claim["metadata"]["labels"] = {"karpenter.sh/nodepool": label} if label else {}
        self.claim["metadata"]["ownerReferences"] = [{"kind": "NodePool", "name": "default", "uid": owner}]
        self.writes = 0
        view, self.writer = MagicMock(), MagicMock()
        view.get.side_effect = lambda kind, name: self.object if name == "default" else None
        self.writer.patch.side_effect = self._patch
        release = CoreRelease(version="1.14.0", counts_registrations=counts)
        self.health = RegistrationHealth(view, self.writer, Clock(), release)

    def _patch(self, kind: str, name: str, patch: Any, *, subresource: str) -> None:
        assert (kind, name, subresource) == ("NodePool", "default", "status")
        self.object = {**self.object, "status": patch["status"]}
        self.writes += 1

    def said(self) -> tuple[str, str, str] | None:
        found = condition(self.object, KIND)
        return (found["status"], found["reason"], found["message"]) if found is not None else None

    def say(self, status: str) -> None:
        conditions = Conditions(self.object, (), NOW)
        conditions.set(KIND, status, "Before", "")
        self.object = {**self.object, "status": {"conditions": conditions.items}}

    def fail(self, launched: str = "True", *, launching: bool = False) -> None:
        conditions = Conditions(self.claim, NODECLAIM, NOW)
        conditions.set("Launched", launched, "WhyNot", "not launched")
        self.health.failed(self.claim, conditions, launching=launching)

    def count(self, *outcomes: bool) -> Pool:
        for outcome in outcomes:
            if outcome:
                self.health.succeeded(self.claim)
            else:
                self.fail()
        return self


HEALTHY = ("True", KIND, "")
UNHEALTHY = ("False", "RegistrationFailed", "Failed to register node")


@pytest.mark.parametrize(
    ("outcomes", "said"),
    [
        ([True], HEALTHY),
        ([False], None),
        ([False, True], HEALTHY),
        ([False, False], UNHEALTHY),
        ([True, False, True, False], UNHEALTHY),
        ([False, False, True], UNHEALTHY),  # half of four
        ([False, False, True, True], UNHEALTHY),
        ([False, False, True, True, True], HEALTHY),  # the first one is forgotten
        ([False, True, True, True, False], HEALTHY),
        ([False, True, True, False], UNHEALTHY),
    ],
)
def test_two_failures_among_the_last_four_outcomes_are_too_many(
    outcomes: Outcomes, said: tuple[str, str, str] | None
) -> None:
    """Of tracker.go: a buffer of 4, and unhealthy from a half of them on, however many there are."""
    assert Pool().count(*outcomes).said() == said


def test_what_is_said_already_is_not_written_again() -> None:
    pool = Pool().count(True, True)
    assert pool.writes == 1
    pool.count(False, False)
    before, pool.object["spec"]["weight"] = pool.said(), 5
    pool.count(False)
    assert (pool.writes, pool.said()) == (2, before)


@pytest.mark.parametrize("launched", ["False", "Unknown"])
def test_what_hindered_the_launch_is_said(launched: str) -> None:
    pool = Pool()
    for _ in range(2):
        pool.fail(launched, launching=True)
    assert pool.said() == ("False", "WhyNot", "not launched")


@pytest.mark.parametrize(("status", "said"), [("True", "True"), ("False", "False"), ("Unknown", "Unknown")])
def test_what_was_said_before_a_restart_counts(status: str, said: str) -> None:
    """Of tracker.go SetStatus: one success, two failures, or nothing; a failure more makes two of the last."""
    pool = Pool()
    pool.say(status)
    pool.health.recall(pool.object, status)
    pool.count(False)
    assert (pool.said() or ("",))[0] == said
    pool.count(True)
    assert (pool.said() or ("",))[0] == ("False" if status == "False" else "True")


def test_what_was_counted_is_not_overwritten_by_what_is_said() -> None:
    pool = Pool().count(False)
    pool.health.recall(pool.object, "True")
    pool.count(False)
    assert pool.said() == UNHEALTHY


def test_a_nodepool_that_changes_begins_anew() -> None:
    """Of …/nodepool/registrationhealth: the buffer is emptied."""
    pool = Pool().count(False)
    pool.health.reset(pool.object)
    assert pool.count(False).said() is None


@pytest.mark.parametrize("others", [{"owner": "another"}, {"label": ""}, {"label": "gone"}])
def test_nodeclaims_of_others_do_not_count(others: dict[str, str]) -> None:
    assert Pool(**others).count(True, False, False).said() is None


@pytest.mark.parametrize(
    ("before", "launching", "said"),
    [
        ("Unknown", False, "False"),
        ("True", False, "True"),
        ("Unknown", True, "Unknown"),
    ],
)
def test_before_outcomes_counted_the_first_failure_did(before: str, launching: bool, said: str) -> None:
    """Of core 1.7, where only a condition that is Unknown turns, and who owns the NodeClaim does not matter."""
    pool = Pool(counts=False, owner="another")
    pool.say(before)
    pool.fail(launching=launching)
    assert (pool.said() or ("",))[0] == said
    pool.count(True)
    assert pool.said() == HEALTHY


def test_a_nodepool_that_goes_meanwhile_is_no_error() -> None:
    """Of both files: client.IgnoreNotFound; other refusals are errors."""
    pool = Pool()
    pool.writer.patch.side_effect = ApiError(404, "NotFound", "not there")
    pool.count(True, False, False)
    pool.writer.patch.side_effect = ApiError(500, "InternalError", "etcd is away")
    with pytest.raises(ApiError, match="etcd"):
        pool.count(True, True, True)
