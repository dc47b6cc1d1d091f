"""The outcome of a world, in facts that two Karpenters on the same scenario must have in common: the simulated loop and the real one.

More than harness.world.snapshot: also requests to Azure, the course of each NodeClaim, and Events. Facts that depend on chance or time
are left out: names, uids, dates, the zone where several would do (which are listed beside), the order of simultaneous events.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.clusters.provenance import WriteKind
from harness.engine.clock import nanoseconds, parse
from harness.engine.disruptions import Disruption
from harness.engine.names import zone_label
from harness.karpenter.labels.core import CAPACITY_TYPE, NODEPOOL, ON_DEMAND
from harness.karpenter.lifecycle.conditions import AWAITING, READY
from harness.karpenter.releases.scheduling import rules_of
from harness.kube.api.labels import INSTANCE_TYPE, ZONE
from harness.kube.api.objects import (
    Object,
    condition,
    conditions_of,
    controller_of,
    labels_of,
    metadata_of,
    name_of,
    spec_of,
    status_of,
)
from harness.world.naming import renamed
from harness.world.snapshot import OF_HOST, pods_of
from harness.world.world import World

__all__ = ["RETOLD", "Facts", "facts_of"]

RETOLD = "Status condition transitioned"
"""The beginning of Events that repeat conditions (operatorpkg status controller); of several in a moment the last is sent."""

_AWAITING = frozenset({AWAITING, "NodeClassReadinessUnknown"})
"""Reasons of conditions that wait for the first look at the object or at its NodeClass: whether one is seen in time is chance."""

_UNSEEN = frozenset({WriteKind.SAME, WriteKind.WITHHELD})

_PASSING = frozenset({"Registered", "Initialized"})
"""Conditions whose reason on the way is what they wait for: a look at another moment sees another reason."""

_CONFLICT = 409
_AN_INSTANT = 5.0
"""Seconds between Nodes of which either may be seen first: times of conditions are whole seconds, and machines boot side by side."""

_LISTING = frozenset({"UnhealthyDependents", "ReconcilingDependents"})
"""Reasons of Ready whose message lists conditions."""

_OF_MACHINES = frozenset({"virtualMachines", "networkInterfaces", "extensions", "machines", "disks"})


@dataclass(frozen=True, slots=True)
class Facts:
    """`found` are texts, lists and mappings, as JSON has them. `drawn` lists the chance decisions, for each NodeClaim that ever existed.

    `waves` counts the Nodes that are there and came at the same instant, one wave after the other. `lost` are NodePools of which a write of
    the status was refused for a conflict; `has_overlays`: the gate NodeOverlay is open.
    """

    found: Mapping[str, Any]
    drawn: Sequence[str]
    waves: Sequence[int] = ()
    lost: frozenset[str] = frozenset()
    has_overlays: bool = False


def facts_of(world: World, *, capacity: bool = True) -> Facts:
    """Return the facts of a world as it is now.

    Without `capacity` the host's part in a node container is left out, and the requests of NodeClaims: a kind cluster's
    own DaemonSets are part of it.
    """
    claims = _claims(world)
    if not capacity:
        claims = {name: {**claim, "requests": {}} for name, claim in claims.items()}
    machines = _machines(world, claims)
    events = _events(world)
    nodes = {name_of(node): node for node in world.list("Node")}
    per_claim: dict[str, Any] = {}
    drawn: list[str] = []
    for name, claim in claims.items():
        own = [node for node in nodes.values() if _is_of(node, name)]
        claim_facts = {
            "NodeClaim": claim,
            "Azure": machines.pop(name, []),
            "Node": [_node(world, node, capacity=capacity) for node in own],
            "Events": events.pop(("NodeClaim", name), {}),
            "Events of the Node": {
                text: seen for node in own for text, seen in events.pop(("Node", name_of(node)), {}).items()
            },
        }
        zones = _drawn_zones(claim_facts, world.region)
        drawn.append(f"{claim['labels'].get(NODEPOOL, '?')}: {', '.join(zones) or 'no zone'}")
        per_claim[name] = _without_zones(claim_facts, zones)
    facts: dict[str, Any] = {
        "NodeClaims": per_claim,
        "Nodes of others": {
            name: _node(world, node, capacity=capacity) for name, node in nodes.items() if not _is_owned(node, claims)
        },
        "Azure": machines,
        "Pods": pods_of(world),
        "Ready": {
            kind: {name_of(obj): _conditions(obj) for obj in world.list(kind)} for kind in ("NodePool", "AKSNodeClass")
        },
        "Events": {f"{kind} {name}": texts for (kind, name), texts in sorted(events.items())},
    }
    if decided := [_decision(disruption, claims) for disruption in world.disruptions]:
        facts["Disruptions"] = decided
    pools = {name: claim["labels"].get(NODEPOOL) or "?" for name, claim in claims.items()}
    waves, overlays = _waves(nodes.values()), world.options.gate("NodeOverlay")
    return Facts(renamed(facts, pools), sorted(drawn), waves, frozenset(_lost(world)), overlays)


def _lost(world: World) -> Iterator[str]:
    """Yield the names of NodePools of which a write of the status was refused, since somebody else wrote first."""
    for entry in world.journal:
        if entry.key.kind == "NodePool" and entry.error is not None and entry.error.code == _CONFLICT:
            yield entry.key.name


def _waves(nodes: Iterable[Object]) -> list[int]:
    """Return the numbers of Nodes that became Ready within a few seconds, by time."""
    moments = sorted(parse(ready["lastTransitionTime"]) for node in nodes if (ready := condition(node, READY)))
    waves: list[int] = []
    for number, moment in enumerate(moments):
        if number and moment - moments[number - 1] <= nanoseconds(_AN_INSTANT):
            waves[-1] += 1
        else:
            waves.append(1)
    return waves


def _decision(disruption: Disruption, claims: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return one decision that nodes go.

    The choice among several equal nodes is chance. The method, and savings in full, are left out: the controller does
    not log them.
    """

    def kinds(names: Iterable[str]) -> list[str]:
        of = (claims[name]["labels"] if name in claims else {} for name in names)
        return sorted(
            " ".join(labels.get(key, "?") for key in (NODEPOOL, INSTANCE_TYPE, CAPACITY_TYPE)) for labels in of
        )

    return {
        "reason": " ".join(filter(None, (disruption.reason, disruption.drift))),
        "decision": disruption.decision,
        "nodes": kinds(node.nodeclaim for node in disruption.nodes),
        "replacements": kinds(disruption.replacements),
        "taken back": disruption.problem,
    }


def _claims(world: World) -> dict[str, Any]:
    """Return every NodeClaim that ever existed: its last state, and its conditions one after the other.

    A condition that was never set reads as awaiting its first reconcile, whether or not that was written down; Ready
    follows from the others.
    """
    last: dict[str, Object] = {}
    course: dict[str, dict[str, list[str]]] = {}
    gone: set[str] = set()
    for change in world.view.changes(0, "NodeClaim"):
        name = name_of(change.object)
        last[name] = change.object
        for present in conditions_of(change.object):
            if present["type"] == READY or present.get("reason") in _AWAITING:
                continue
            state = _said(present)
            steps = course.setdefault(name, {}).setdefault(present["type"], [])
            if not steps or steps[-1] != state:
                if steps and present["type"] in _PASSING and steps[-1].startswith("Unknown"):
                    steps.pop()
                steps.append(state)
        if change.type == "DELETED":
            gone.add(name)
    return {
        name: {
            "labels": dict(labels_of(claim)),
            "requirements": sorted(
                _requirement(world, requirement) for requirement in spec_of(claim).get("requirements") or ()
            ),
            "requests": dict((spec_of(claim).get("resources") or {}).get("requests") or {}),
            "taints": _taints(claim),
            "conditions": course.get(name, {}),
            "image": status_of(claim).get("imageID") or "",
            "capacity": dict(status_of(claim).get("capacity") or {}),
            "allocatable": dict(status_of(claim).get("allocatable") or {}),
            "there": name not in gone,
        }
        for name, claim in last.items()
    }


def _requirement(world: World, requirement: Mapping[str, Any]) -> str:
    values = sorted(requirement.get("values") or ())
    if len(values) == rules_of(world.release.core).max_instance_types:
        # of the most expensive ones that fit in, those of one price come in the order of Go's sort
        price = {value: world.price(value, ON_DEMAND).usd or math.inf for value in values}
        values = [value for value in values if price[value] < max(price.values())]
    least = f" (at least {requirement['minValues']})" if requirement.get("minValues") else ""
    return f"{requirement['key']} {requirement['operator']} {', '.join(values)}{least}".rstrip()


def _machines(world: World, claims: Iterable[str]) -> dict[str, list[str]]:
    """Return the requests to Azure for each NodeClaim's machine, in order: writes only."""
    requests: dict[str, list[str]] = {}
    for call in world.calls():
        if call.method in ("GET", "HEAD", "POST") or call.resource not in _OF_MACHINES:
            continue
        owner = next((name for name in claims if name in call.path), call.name)
        facts = " ".join(f"{key}={_text(value)}" for key, value in call.summary.items())
        name = call.name if call.resource == "extensions" else ""
        text = " ".join(filter(None, (call.method, call.resource, name, facts, str(call.status), call.code)))
        requests.setdefault(owner, []).append(text)
    return requests


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _node(world: World, node: Object, *, capacity: bool) -> dict[str, Any]:
    hidden = frozenset() if capacity else OF_HOST
    writes = {key: values for key, values in world.writes(name_of(node)).items() if key not in hidden}
    return {
        "labels": {key: value for key, value in labels_of(node).items() if key not in hidden},
        "writers": {
            # only the simulated loop reports labels that a sender did not have to write, or did not send
            key: [f"{write.kind} by {write.by}" for write in all_of_them if write.kind not in _UNSEEN]
            for key, all_of_them in writes.items()
        },
        "taints": _taints(node),
        "providerID": (spec_of(node).get("providerID") or "").lower(),
        "allocatable": dict(status_of(node).get("allocatable") or {}) if capacity else {},
    }


def _taints(obj: Object) -> list[str]:
    return sorted(
        f"{taint['key']}={taint.get('value') or ''}:{taint['effect']}" for taint in spec_of(obj).get("taints") or ()
    )


def _conditions(obj: Object) -> dict[str, str]:
    return {present["type"]: _said(present) for present in conditions_of(obj)}


def _said(condition: Mapping[str, Any]) -> str:
    """Status, reason and message; a reason that equals the type is left out.

    Ready names the conditions that keep it false, the latest change first (operatorpkg status/condition_set.go
    findUnhealthyDependents); of several in one second that is chance.
    """
    reason = condition.get("reason") if condition.get("reason") != condition["type"] else ""
    message = condition.get("message") or ""
    if reason in _LISTING:
        message = ", ".join(sorted(message.split(", ")))
    return " ".join(filter(None, (condition["status"], reason, message)))


def _is_of(node: Object, claim: str) -> bool:
    owners = metadata_of(node).get("ownerReferences") or ()
    return any(owner["kind"] == "NodeClaim" and owner["name"] == claim for owner in owners) or claim in name_of(node)


def _is_owned(node: Object, claims: Iterable[str]) -> bool:
    return any(_is_of(node, claim) for claim in claims)


def _events(world: World) -> dict[tuple[str, str], dict[str, str]]:
    """Karpenter's events about each object, equal ones once."""
    events: dict[tuple[str, str], dict[str, str]] = {}
    owners = {name_of(change.object): controller_of(change.object) for change in world.view.changes(0, "Pod")}
    for event in world.events:
        if event.source != "karpenter" or event.message.startswith(RETOLD):
            continue
        owner = owners.get(event.object.name) if event.object.kind == "Pod" else None
        name = event.object.name if owner is None else f"of a {owner['kind']}"
        texts = events.setdefault((event.object.kind, name), {})
        texts[f"{event.type} {event.reason}: {event.message}"] = "told"
    return events


def _drawn_zones(claim_facts: Mapping[str, Any], region: str) -> list[str]:
    """The zones that a launch tried, in order; none where its NodeClaim left it no choice."""
    pinned = [
        requirement
        for requirement in claim_facts["NodeClaim"]["requirements"]
        if requirement.startswith(f"{ZONE} In") and "," not in requirement
    ]
    if pinned:
        return []
    tried = [
        zone_label(region, number) for call in claim_facts["Azure"] for number in re.findall(r'zones=\["(\d+)"\]', call)
    ]
    label = claim_facts["NodeClaim"]["labels"].get(ZONE, "")
    return list(dict.fromkeys([*tried, *([label] if label.startswith(f"{region}-") else [])]))


def _without_zones(claim_facts: Any, zones: Sequence[str]) -> Any:
    """Return the facts without the names of drawn zones; the number of tries stays."""
    if not zones:
        return claim_facts
    region = zones[0].rpartition("-")[0]
    text = re.sub(rf"\b{re.escape(region)}-\d+\b", "ZONE", json.dumps(claim_facts))
    changed = json.loads(re.sub(r'zones=\[\\"\d+\\"\]', "zones=ZONE", text))
    requirements = changed["NodeClaim"]["requirements"]
    changed["NodeClaim"]["requirements"] = [
        requirement if not requirement.startswith(ZONE) else f"{ZONE} drawn" for requirement in requirements
    ]
    return changed
