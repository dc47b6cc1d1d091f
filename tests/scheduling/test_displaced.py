"""Which pods of nodes that are going away get a new place: protection by annotation and disruption budgets, as each release reads them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from harness.engine.clock import parse
from harness.karpenter.releases import provider
from harness.karpenter.releases.scheduling import rules_of
from harness.karpenter.scheduling.pods.displaced import Displaced
from tests.scheduling.workload import node, pod, run

NOW = parse("2026-01-01T00:00:00Z")
TOLERANT = {"tolerations": [{"key": "karpenter.sh/disrupted", "operator": "Exists"}]}
NEVER = {"maxUnavailable": 0}


def judged(
    release: str,
    *,
    protection: str | None = None,
    budgets: Sequence[dict[str, Any]] = (),
    ready: str = "True",
    **fields: Any,
) -> tuple[bool, list[str]]:
    """Whether a pod that has run for two hours is movable, and the reasons of the events about it."""
    made = pod("p", on="n1", labels={"app": "x"}, **fields)
    made["status"].update(startTime="2025-12-31T22:00:00Z", conditions=[{"type": "Ready", "status": ready}])
    if protection is not None:
        made["metadata"]["annotations"] = {"karpenter.sh/do-not-disrupt": protection}
    selector = {"matchLabels": {"app": "x"}}
    objects = [
        {"metadata": {"name": f"b{number}", "namespace": "default"}, "spec": {"selector": selector, **each}}
        for number, each in enumerate(budgets)
    ]
    displaced = Displaced(objects, NOW, rules_of(provider(release).core))
    return displaced.movable(made), [event.reason for event in displaced.events]


@pytest.mark.parametrize(
    ("value", "now", "before"),
    [
        ("true", (False, []), (False, [])),
        ("false", (True, ["InvalidDoNotDisruptAnnotation"]), (True, [])),
        ("-5m", (True, ["InvalidDoNotDisruptAnnotation"]), (True, [])),
        ("1h", (True, ["DoNotDisruptGracePeriodElapsed"]), (True, [])),
        ("3h", (False, ["DoNotDisruptUntil"]), (True, [])),
    ],
)
def test_protection_may_end_since_core_1_12(
    value: str, now: tuple[bool, list[str]], before: tuple[bool, list[str]]
) -> None:
    assert judged("1.14.0", protection=value) == judged("1.12.2", protection=value) == now
    assert judged("1.10.2", protection=value) == judged("1.4.0", protection=value) == before


@pytest.mark.parametrize("spec", [NEVER, {"maxUnavailable": "0%"}, {"minAvailable": "100%"}])
def test_a_budget_that_never_allows_a_disruption_keeps_a_pod(spec: dict[str, Any]) -> None:
    assert judged("1.14.0", budgets=[spec]) == (False, [])
    assert judged("1.14.0", budgets=[spec], **TOLERANT) == (True, [])  # it is not evicted, but ends with its node
    lenient = {**spec, "unhealthyPodEvictionPolicy": "AlwaysAllow"}
    assert judged("1.14.0", budgets=[lenient]) == (False, [])
    assert judged("1.14.0", budgets=[lenient], ready="False") == (True, [])


def test_several_budgets_block_since_core_1_7() -> None:
    lenient = [{"maxUnavailable": 1}, {"minAvailable": 1}]
    assert judged("1.14.0", budgets=lenient)[0] is judged("1.7.2", budgets=lenient)[0] is False
    assert judged("1.6.6", budgets=lenient)[0] is judged("1.4.0", budgets=lenient)[0] is True
    assert judged("1.6.6", budgets=[*lenient, NEVER])[0] is False


def test_a_running_pod_whose_volume_is_gone_still_takes_room() -> None:
    volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]
    claim = {"metadata": {"name": "c", "namespace": "default"}, "spec": {"volumeName": "gone"}}
    results = run([pod("r", "3", on="n1", volumes=volumes), pod("p", "2")], nodes=[node("n1", cpu="4")], pvcs=[claim])
    assert results.existing == {}
    assert len(results.nodeclaims) == 1


@pytest.mark.parametrize(
    ("release", "movable"), [("1.6.5", False), ("1.10.2", False), ("1.12.0", True), ("1.14.0", True)]
)
def test_a_protected_pod_of_a_statefulset_that_ends(release: str, movable: bool) -> None:
    """It comes again under its name, and looks for a place; up to core 1.10 not while the annotation stands."""
    made = pod("p", on="n1")
    made["metadata"] |= {
        "annotations": {"karpenter.sh/do-not-disrupt": "true"},
        "deletionTimestamp": "2025-12-31T23:59:50Z",
        "ownerReferences": [
            {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db", "uid": "u", "controller": True}
        ],
    }
    made["status"] = {"phase": "Running"}
    assert Displaced([], NOW, rules_of(provider(release).core)).movable(made) is movable


@pytest.mark.parametrize(
    ("change", "asked"),
    [
        ({}, True),
        ({"status": {"phase": "Succeeded"}}, False),
        (
            {"metadata": {"ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": "n1", "controller": True}]}},
            False,
        ),
        ({"spec": TOLERANT}, False),
        ({"metadata": {"annotations": {"karpenter.sh/do-not-disrupt": "true"}}}, False),
    ],
    ids=["evictable", "ended", "static", "tolerant", "protected"],
)
def test_budgets_are_asked_about_pods_that_are_evicted(change: dict[str, Any], asked: bool) -> None:
    """Core ``pkg/utils/pdb/pdb.go`` CanEvictPods asks about those of IsEvictable alone."""
    made = pod("p", on="n1", labels={"app": "x"})
    made = {part: {**made[part], **change.get(part, {})} for part in made}
    budgets = [
        {
            "metadata": {"name": f"b{allowed}", "namespace": "default"},
            "spec": {"selector": {"matchLabels": {"app": "x"}}},
            "status": {"disruptionsAllowed": allowed},
        }
        for allowed in (0, 1)
    ]
    rules = rules_of(provider("1.14.0").core)
    assert [*Displaced(budgets[:1], NOW, rules).budgets_against(made)] == budgets[: int(asked)]
    assert [*Displaced(budgets[1:], NOW, rules).budgets_against(made)] == []
    assert [*Displaced([], NOW, rules).budgets_against(made)] == []
