"""Every fact of a dump is in exactly one of three states, and a difference planted in any field that is compared is found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.reality.facts import facts_of
from tests.reality.dumps import asked, objects, unpacked, written

STATES = {"equal", "different", "not comparable"}


def leaves(obj: dict[str, Any]) -> Iterator[str]:
    """Yield a name for each value of a Node or a NodeClaim that says something of its machine, counted without the code under test."""
    meta = obj["metadata"]
    yield from (f"{name}.{key}" for name in ("labels", "annotations") for key in meta.get(name, {}))
    yield from (f"finalizers.{finalizer}" for finalizer in meta.get("finalizers", []))
    for side in ("spec", "status"):
        for name, value in obj.get(side, {}).items():
            if name == "conditions":
                for condition in value:
                    yield f"conditions.{condition['type']}"
                    if condition.get("reason"):
                        yield f"conditions.{condition['type']}.reason"
            elif name in ("taints", "startupTaints"):
                yield from (f"{name}.{taint['key']}:{taint['effect']}" for taint in value)
            elif name == "requirements":
                yield from (f"{name}.{part['key']}:{part['operator']}" for part in value)
            elif name == "addresses":
                yield from (f"{name}.{address['type']}" for address in value)
            elif isinstance(value, dict):
                # kubelets since 1.33 write an empty kubeProxyVersion, as Go does for a field without a value
                yield from (f"{name}.{key}" for key, part in value.items() if part != "")
            elif value:
                yield name


def test_no_fact_of_a_recorded_dump_is_lost(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = unpacked(tmp_path)
    items = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)["items"]
    there = Counter(
        (f"{item['kind']}/{item['metadata']['name']}", field)
        for item in items
        if item["kind"] in ("Node", "NodeClaim")
        for field in leaves(item)
    )
    code, facts = asked(path, capsys)
    told = Counter((fact["object"], fact["field"]) for fact in facts)
    assert there - told == Counter()
    assert max(told.values()) == 1  # one state each
    assert {fact["state"] for fact in facts} == STATES
    only_here = [fact for fact in facts if (fact["object"], fact["field"]) not in there]
    assert {fact["theirs"] for fact in only_here} == {"(absent)"}
    assert all(fact["why"] for fact in facts if fact["state"] == "not comparable")
    assert code == 1


NOT_COMPARED = {
    "Node": {
        "providerID",
        "labels.kubernetes.azure.com/cluster",
        "labels.kubernetes.azure.com/kubelet-identity-client-id",
        "labels.kubernetes.azure.com/network-subnet",
        "labels.kubernetes.azure.com/node-image-version",
        "labels.kubernetes.azure.com/nodenetwork-vnetguid",
        "labels.kubernetes.io/hostname",
        "nodeInfo.containerRuntimeVersion",
        "nodeInfo.kernelVersion",
        "nodeInfo.kubeletVersion",
        "nodeInfo.osImage",
        "annotations.karpenter.azure.com/aksnodeclass-hash",
        "annotations.karpenter.sh/nodepool-hash",
    },
    "NodeClaim": {
        "providerID",
        "nodeName",
        "imageID",
        "lastPodEventTime",
        "resources.requests",
        "conditions.Consolidatable",
        "conditions.Consolidatable.reason",
        "annotations.karpenter.azure.com/aksnodeclass-hash",
        "annotations.karpenter.sh/nodepool-hash",
        "labels.kubernetes.azure.com/cluster",
        "labels.kubernetes.azure.com/node-image-version",
    },
}
"""Fields of which another value says nothing: names, ids, moments, images of the week, history, and hashes of what was changed since."""
MAY_BE_GONE = {"labels.kubernetes.azure.com/cluster", "lastPodEventTime"}
"""Fields without which a machine is whole: not every release writes the one, and the other is a moment."""
DECIDING = {
    "labels.node.kubernetes.io/instance-type",
    "labels.topology.kubernetes.io/zone",
    "labels.karpenter.sh/capacity-type",
    "labels.karpenter.sh/nodepool",
    "labels.topology.kubernetes.io/region",
}
"""Fields that decide with which machine an object is compared; another region among the Nodes of one dump is refused."""


def other_value(field: str, value: Any) -> Any:
    """Return another value that an API server takes in this place."""
    if field.startswith(("capacity.", "allocatable.")):
        return "7"
    if field == "expireAfter":
        return "1h"
    if field == "lastPodEventTime":
        return "2026-01-01T03:00:00Z"
    if field.startswith("conditions.") and not field.endswith(".reason"):
        return "Unknown"
    return "planted" if isinstance(value, str) else {**value, "cpu": "7"}


@pytest.mark.parametrize("kind", ["Node", "NodeClaim"])
def test_a_difference_planted_in_any_field_is_found(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    items = objects()
    original = next(obj for obj in items if obj["kind"] == kind)
    original["spec"].pop("requirements", None)  # hundreds of sizes in every copy
    fields = [fact for fact in facts_of(original) if fact[0] not in DECIDING]
    planted = {}
    for number, (field, _, path) in enumerate(fields):
        if field.startswith(("finalizers.", "addresses.", "requirements.", "taints.")):
            continue  # they have no value of their own
        changed = deepcopy(original)
        changed["metadata"]["name"] = f"planted-{number}"
        parent = changed
        for step in path[:-1]:
            parent = parent[step]
        parent[path[-1]] = other_value(field, parent[path[-1]])
        planted[f"{kind}/planted-{number}"] = field
        items.append(changed)
    _, facts = asked(written(tmp_path, items), capsys)
    states = {planted[fact["object"]]: fact for fact in facts if fact["field"] == planted.get(fact["object"])}
    different = {field for field, fact in states.items() if fact["state"] == "different"}
    assert states.keys() == set(planted.values())
    assert states.keys() - different == NOT_COMPARED[kind] & states.keys()
    assert {fact["state"] for field, fact in states.items() if field in NOT_COMPARED[kind]} == {"not comparable"}
    assert all(fact["theirs"] != fact["ours"] for fact in states.values())


@pytest.mark.parametrize("kind", ["Node", "NodeClaim"])
def test_a_field_that_is_gone_is_found(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    items = objects()
    original = next(obj for obj in items if obj["kind"] == kind)
    original["spec"].pop("requirements", None)  # hundreds of sizes in every copy
    gone = {}
    for number, (field, _, path) in enumerate(facts_of(original)):
        if field in DECIDING or field.startswith(("requirements.", "resources.")):
            continue
        changed = deepcopy(original)
        changed["metadata"]["name"] = f"gone-{number}"
        parent = changed
        for step in path[:-1]:
            parent = parent[step]
        del parent[path[-1]]
        gone[f"{kind}/gone-{number}"] = field
        items.append(changed)
    _, facts = asked(written(tmp_path, items), capsys)
    states = {gone[fact["object"]]: fact["state"] for fact in facts if fact["field"] == gone.get(fact["object"])}
    assert states.keys() == set(gone.values())
    history = {field for field in states if field.startswith("conditions.Consolidatable")}
    not_different = {field for field, state in states.items() if state != "different"}
    assert not_different == history | (MAY_BE_GONE & states.keys())
    assert {states[field] for field in not_different} == {"not comparable"}
