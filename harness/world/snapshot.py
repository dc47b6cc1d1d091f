"""The outcome of a world, in a form that can be compared with another world of the same inputs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from harness.karpenter.labels.core import NODEPOOL
from harness.kube.api.labels import ARCH, ZONE
from harness.kube.api.objects import controller_of, labels_of, name_of, namespace_of, spec_of, status_of
from harness.world.world import World

__all__ = ["OF_HOST", "differences", "pods_of", "snapshot"]

_MISSING = "(nothing)"
_OWN_CONDITIONS = ("Launched", "Registered", "Initialized")


OF_HOST = frozenset({f"beta.{ARCH}", ARCH})
"""Labels about the processor, in which the host of a real kubelet shows: one without a flag, and one that it writes over."""


def snapshot(world: World, *, capacity: bool = True) -> dict[str, Any]:
    """Return the places of pods, NodeClaims and Nodes, the writers of each label, and the refusals.

    Without `capacity` facts of a machine's size alone are left out: a node container has the host's. NodeClaims and
    Nodes go by their NodePool and a number, and where there are several their zones are counted together: names and
    zones are drawn, in the order of the pods' uids. Where some of several are gone, the zones that are left are chance,
    too.
    """
    result: dict[str, Any] = {
        "Pod": pods_of(world),
        "NodeClaim": {
            name_of(claim): {
                "labels": dict(labels_of(claim)),
                "requirements": sorted(
                    json.dumps(requirement, sort_keys=True) for requirement in spec_of(claim).get("requirements") or ()
                ),
                "conditions": {
                    condition["type"]: condition["status"]
                    for condition in status_of(claim).get("conditions") or ()
                    if condition["type"] in _OWN_CONDITIONS
                },
            }
            for claim in world.list("NodeClaim")
        },
        "Node": {
            name_of(node): {
                "labels": {key: value for key, value in labels_of(node).items() if capacity or key not in OF_HOST},
                "taints": sorted(f"{taint['key']}:{taint['effect']}" for taint in spec_of(node).get("taints") or ()),
                "providerID": spec_of(node).get("providerID"),
                "writes": {
                    key: [
                        f"{write.kind} by {write.by} from {write.from_}: {write.value}"
                        # a real kubelet writes the host's again with every report of its status (kubelet_node_status.go updateNode)
                        for write in (writes if capacity or key != ARCH else writes[:1])
                    ]
                    for key, writes in world.writes(name_of(node)).items()
                    if capacity or key not in OF_HOST - {ARCH}
                },
                **({"allocatable": dict(status_of(node).get("allocatable") or {})} if capacity else {}),
            }
            for node in world.list("Node")
        },
        # an API server lists errors in Go's map order
        "rejections": sorted(
            f"{rejection.object}: {rejection.layer}: {rejection.text}" for rejection in world.rejections
        ),
    }
    made = {write.key.name for write in world.journal if write.key.kind == "NodeClaim"}
    if len(made) > 1:
        zones = [_without_zones(result[kind]) for kind in ("NodeClaim", "Node")]
        result |= {"zones": zones} if len(result["NodeClaim"]) == len(made) else {}
    return _renamed(result)


def _without_zones(objects: dict[str, Any]) -> list[str]:
    """Take its zone out of each object, wherever a value is one. Return the zones, sorted.

    A launch draws among zones that are as good, and the order of several launches is chance where their pods are sorted
    by uid.
    """
    zones = []
    for name, facts in objects.items():
        zone = facts["labels"].get(ZONE)
        if zone and "-" in zone:  # a region without zones has numbers of fault domains
            zones.append(zone)
            objects[name] = json.loads(re.sub(rf"\b{re.escape(zone)}\b", "its zone", json.dumps(facts)))
    return sorted(zones)


def _renamed(result: dict[str, Any]) -> dict[str, Any]:
    """Return the snapshot with names that do not depend on chance, wherever a name is part of a value."""
    gone = _gone(result)
    drawn = sorted({*result["NodeClaim"], *result["Node"], *gone}, key=len, reverse=True)
    if not drawn:
        return result
    anyone = re.compile("|".join(map(re.escape, drawn)))
    ordered = sorted(gone, key=lambda name: sorted(anyone.sub("*", text) for text in gone[name]))
    names = {name: f"NodeClaim {number} of those that are gone" for number, name in enumerate(ordered, 1)}
    for kind in ("NodeClaim", "Node"):
        texts = {name: anyone.sub("*", json.dumps(facts, sort_keys=True)) for name, facts in result[kind].items()}
        count: dict[str, int] = {}
        for name in sorted(texts, key=lambda name: texts[name]):
            pool = result[kind][name]["labels"].get(NODEPOOL) or "?"
            count[pool] = count.get(pool, 0) + 1
            names[name] = f"{kind} {count[pool]} of {pool}"
    text = anyone.sub(lambda match: names[match[0]], json.dumps(result))
    renamed: dict[str, Any] = json.loads(text)
    return {**renamed, "rejections": sorted(renamed["rejections"])}


def _gone(result: Mapping[str, Any]) -> dict[str, list[str]]:
    """NodeClaims that are gone after a refusal, with their refusals."""
    refused: dict[str, list[str]] = {}
    for text in result["rejections"]:
        match = re.match(r"NodeClaim/([^:]+): ", text)
        if match is not None and match[1] not in result["NodeClaim"]:
            refused.setdefault(match[1], []).append(text)
    return refused


def pods_of(world: World) -> dict[str, Any]:
    """Return the bound pods, and the number of pods on each Node.

    kube-scheduler draws among equally good Nodes, and controllers draw the names of their pods: neither is compared.
    """
    by_name: dict[str, list[bool]] = {}
    per_node: dict[str, int] = {}
    for pod in world.view.list("Pod"):
        owner = controller_of(pod)
        name = name_of(pod) if owner is None else f"of a {owner['kind']}"
        node = spec_of(pod).get("nodeName")
        by_name.setdefault(f"{namespace_of(pod)}/{name}", []).append(bool(node))
        if node:
            per_node[node] = per_node.get(node, 0) + 1
    return {
        "bound": {name: sorted(bound_pods) for name, bound_pods in by_name.items()},
        "per Node": sorted(per_node.values()),
    }


def differences(left: Any, right: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """The places where two snapshots differ, with both values."""
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        for key in sorted({*left, *right}):
            place = f"{path}[{key}]" if path else key
            if key not in left or key not in right:
                yield place, left.get(key, _MISSING), right.get(key, _MISSING)
            else:
                yield from differences(left[key], right[key], place)
    elif _are_alike(left, right):
        for index, (mine, theirs) in enumerate(zip(left, right, strict=True)):
            yield from differences(mine, theirs, f"{path}[{index}]")
    elif left != right:
        yield path, left, right


def _are_alike(left: Any, right: Any) -> bool:
    """Return whether both are lists of as many mappings, which are compared one by one."""
    both = isinstance(left, list) and isinstance(right, list) and len(left) == len(right)
    return both and all(isinstance(item, Mapping) for item in (*left, *right))
