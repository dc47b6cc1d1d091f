"""`harness reality` tells a difference from what became of a machine, and from a machine that is not comparable at all."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.cli import main
from harness.reality.facts import State
from harness.reality.rules import compared
from harness.testing import nodeclass, nodepool, pod
from harness.world import World
from tests.reality.dumps import KINDS, asked, dump, objects, written

Change = Callable[[dict[str, Any]], None]
OTHER_HASH = "its NodePool or AKSNodeClass has another hash in the dump, or none: it was changed since"
OUT = "it is on its way out"


def of_kind(items: list[dict[str, Any]], kind: str) -> dict[str, Any]:
    return next(obj for obj in items if obj["kind"] == kind)


def not_equal(facts: list[dict[str, Any]], kind: str = "Node") -> dict[str, tuple[str, str]]:
    """Return state and reason of the fields that are not equal in every dump of the simulation."""
    usual = ("labels.example.com/", "requirements.")
    return {
        fact["field"]: (fact["state"], fact.get("why", ""))
        for fact in facts
        if fact["state"] != "equal" and fact["object"].startswith(f"{kind}/") and not fact["field"].startswith(usual)
    }


@pytest.mark.parametrize("removed", [True, False], ids=["removed", "still there"])
def test_startup_taints_are_removed_in_the_twin_too(
    removed: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    startup, lasting = {"key": "agent", "effect": "NoExecute"}, {"key": "team", "value": "a", "effect": "NoSchedule"}
    world = World(region="westeurope")
    everything = [{"operator": "Exists"}]
    world.apply(nodeclass(), nodepool(startupTaints=[startup], taints=[lasting]), pod("web", tolerations=everything))
    world.settle()
    if removed:
        node = world.list("Node")[0]
        rest = [dict(taint) for taint in node["spec"]["taints"] if taint["key"] != "agent"]
        world.kubectl.patch(node, {"spec": {"taints": rest}})
        world.settle()
    items = [json.loads(json.dumps(obj)) for kind in KINDS for obj in world.list(kind)]
    code, facts = asked(written(tmp_path, items), capsys)
    assert [fact for fact in facts if fact["state"] == "different"] == []
    assert code == 0
    states = {fact["field"]: fact["state"] for fact in facts if fact["object"].startswith("NodeClaim/")}
    assert states["conditions.Initialized"] == ("equal" if removed else "not comparable")
    assert states["startupTaints.agent:NoExecute"] == "equal"
    why = {
        fact.get("why") for fact in facts if fact["field"] in ("labels.karpenter.sh/initialized", "conditions.Ready")
    }
    assert why == ({None} if removed else {None, "a startup taint is still on its Node"})
    taint = [fact["why"] for fact in facts if fact["field"] == "taints.agent:NoExecute"]
    assert taint == ([] if removed else ["a startup taint is still on its Node"])


def test_another_startup_taint_is_a_difference(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    taint = {"key": "agent", "effect": "NoExecute"}
    _, facts = asked(dump(tmp_path, lambda claim: claim["spec"].update(startupTaints=[taint]), "NodeClaim"), capsys)
    assert not_equal(facts, "NodeClaim")["startupTaints.agent:NoExecute"] == ("different", "")


def _launching(claim: dict[str, Any]) -> None:
    for key in (
        "node.kubernetes.io/instance-type",
        "topology.kubernetes.io/zone",
        "karpenter.sh/capacity-type",
    ):
        claim["metadata"]["labels"].pop(key)
    claim["status"] = {"conditions": [{"type": "Launched", "status": "Unknown", "reason": "AwaitingReconciliation"}]}


def test_a_nodeclaim_that_is_launching_is_not_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, facts = asked(dump(tmp_path, _launching, "NodeClaim"), capsys)
    assert code == 0
    assert {(fact["state"], fact["why"]) for fact in facts if fact["object"].startswith("NodeClaim/")} == {
        ("not comparable", "it is not launched yet")
    }


@pytest.mark.parametrize(
    ("field", "theirs", "ours", "state"),
    [
        ("labels.team", "1k", "1000", State.DIFFERENT),
        ("capacity.memory", "16384Mi", "16Gi", State.EQUAL),
        ("capacity.cpu", "-1", "1", State.DIFFERENT),
        ("capacity.cpu", "-3", "-2", State.DIFFERENT),
        ("capacity.cpu", "1900m", "2", State.DIFFERENT),
        ("allocatable.cpu", "2000m", "2", State.EQUAL),
        ("capacity.cpu", "0", "0m", State.EQUAL),
        ("capacity.cpu", "0", "1", State.DIFFERENT),
        ("capacity.nvidia.com/gpu", "2", "1", State.DIFFERENT),
        ("capacity.nvidia.com/gpu", "2", None, State.INCOMPARABLE),
        ("capacity.cpu", "2", None, State.DIFFERENT),
        ("addresses.InternalIP#2", "there", None, State.INCOMPARABLE),
    ],
)
def test_only_resources_are_compared_as_quantities(field: str, theirs: str, ours: str | None, state: State) -> None:
    assert compared(field, theirs, ours, 16)[0] is state


def test_a_twin_that_does_not_come_to_rest_is_not_judged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HARNESS_LIMITS", "all-steps=20")
    code = main(["reality", str(dump(tmp_path)), "--region", "westeurope"])
    out, err = capsys.readouterr()
    assert code == 2
    assert "different in" not in out
    assert "the simulation launches no machine of it: " in err
    assert "HARNESS_LIMITS=all-steps=N in the environment raises that" in err


def _new_hash(owner: dict[str, Any]) -> None:
    for key in owner["metadata"].get("annotations", {}):
        if key.endswith("-hash"):
            owner["metadata"]["annotations"][key] = "1"


def _changed_pool(pool: dict[str, Any]) -> None:
    template = pool["spec"]["template"]
    template.setdefault("metadata", {})["labels"] = {"team": "b"}
    template["spec"]["taints"] = [{"key": "team", "effect": "NoSchedule"}]
    template["spec"]["startupTaints"] = [{"key": "agent", "effect": "NoSchedule"}]


def _changed_class(aks: dict[str, Any]) -> None:
    aks["spec"].update(maxPods=40, osDiskSizeGB=256, imageFamily="AzureLinux")


@pytest.mark.parametrize(
    ("kind", "change", "fields"),
    [
        ("NodePool", _changed_pool, {"labels.team", "taints.team:NoSchedule"}),
        (
            "AKSNodeClass",
            _changed_class,
            {
                "capacity.pods",
                "allocatable.pods",
                "capacity.ephemeral-storage",
                "allocatable.ephemeral-storage",
                "labels.kubernetes.azure.com/os-sku",
            },
        ),
    ],
)
@pytest.mark.parametrize("hashed", [True, False], ids=["another hash", "the same hash"])
def test_what_a_changed_owner_decides_is_no_difference(
    hashed: bool, kind: str, change: Change, fields: set[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    items = objects()
    change(of_kind(items, kind))
    if hashed:
        _new_hash(of_kind(items, kind))
    _, facts = asked(written(tmp_path, items), capsys)
    states = not_equal(facts)
    assert {states[field] for field in fields} == {("not comparable", OTHER_HASH) if hashed else ("different", "")}
    if hashed:
        assert [fact["field"] for fact in facts if fact["state"] == "different"] == []


def test_a_size_stays_comparable_where_the_class_was_changed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    items = objects()
    _new_hash(of_kind(items, "AKSNodeClass"))
    of_kind(items, "Node")["status"]["capacity"].update(cpu="3")
    code, facts = asked(written(tmp_path, items), capsys)
    assert (code, not_equal(facts)["capacity.cpu"]) == (1, ("different", ""))


@pytest.mark.parametrize("gate", [True, False], ids=["gate on", "gate off"])
def test_nodeoverlays_are_applied_to_the_twin(gate: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    overlay = {
        "apiVersion": "karpenter.sh/v1alpha1",
        "kind": "NodeOverlay",
        "metadata": {"name": "fuse"},
        "spec": {"requirements": [], "capacity": {"example.com/fuse": "8"}},
    }
    option = "feature-gates=NodeOverlay=true"
    world = World(region="westeurope", options={"feature_gates": {"NodeOverlay": "true"}})
    world.apply(nodeclass(), nodepool(), overlay)
    world.settle()
    world.apply(pod("web"))
    world.settle()
    items = [json.loads(json.dumps(obj)) for kind in (*KINDS, "NodeOverlay") for obj in world.list(kind)]
    path = written(tmp_path, items)
    main(["reality", str(path), "--region", "westeurope", "--format", "json", *(("--option", option) if gate else ())])
    facts = json.loads(capsys.readouterr().out)["facts"]
    states = {fact["field"]: fact["state"] for fact in facts if fact["object"].startswith("NodeClaim/")}
    assert states["capacity.example.com/fuse"] == ("equal" if gate else "not comparable")


def _silent(node: dict[str, Any]) -> None:
    for condition in node["status"]["conditions"]:
        condition.update(status="Unknown", reason="NodeStatusUnknown")


def _deleted(claim: dict[str, Any]) -> None:
    claim["metadata"]["deletionTimestamp"] = "2026-01-01T03:00:00Z"
    ready = next(condition for condition in claim["status"]["conditions"] if condition["type"] == "Ready")
    ready.update(status="False", reason="UnhealthyDependents")
    claim["status"]["conditions"] += [
        {"type": "InstanceTerminating", "status": "True", "reason": "InstanceTerminating"},
        {"type": "Drained", "status": "True", "reason": "Drained"},
    ]


def _disrupted(node: dict[str, Any]) -> None:
    node["spec"]["taints"] = [{"key": "karpenter.sh/disrupted", "effect": "NoSchedule"}]


@pytest.mark.parametrize(
    ("kind", "change", "fields", "why"),
    [
        ("Node", _silent, {"conditions.Ready", "conditions.PIDPressure.reason"}, "its kubelet has stopped reporting"),
        (
            "NodeClaim",
            _deleted,
            {"conditions.Ready", "conditions.Drained", "conditions.InstanceTerminating.reason"},
            OUT,
        ),
        ("Node", _disrupted, {"taints.karpenter.sh/disrupted:NoSchedule"}, OUT),
        (
            "NodeClaim",
            lambda claim: claim["status"].pop("lastPodEventTime"),
            {"lastPodEventTime"},
            "a moment, which is noted when a pod comes or goes",
        ),
        (
            "Node",
            lambda node: node["metadata"]["labels"].pop("kubernetes.azure.com/cluster"),
            {"labels.kubernetes.azure.com/cluster"},
            "whether it was written depends on who made the machine and when",
        ),
    ],
    ids=["silent", "deleted", "disrupted", "no pod event", "no cluster label"],
)
def test_history_is_no_difference(
    kind: str, change: Change, fields: set[str], why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, facts = asked(dump(tmp_path, change, kind), capsys)
    assert code == 0
    states = not_equal(facts, kind)
    assert {states[field] for field in fields} == {("not comparable", why)}
