"""Rules of generated pods about Nodes and about other pods: selectors, affinities of every operator, spread constraints."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

Object = dict[str, Any]

TEAMS = ("red", "blue")
GENERATION = "example.com/generation"
_REQUIRED, _PREFERRED = (f"{verb}DuringSchedulingIgnoredDuringExecution" for verb in ("required", "preferred"))
_ZONE, _HOSTNAME = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
_AGENTPOOL, _MODE = "kubernetes.azure.com/agentpool", "kubernetes.azure.com/mode"
_PRIORITY = "kubernetes.azure.com/scalesetpriority"


def placed(chance: random.Random, name: str, home: Object, pools: Sequence[Object], others: Sequence[str]) -> Object:
    """Return the part of a pod's spec that decides where it may be; `home` is the pool that it was written for."""
    spec: Object = {"tolerations": [{"key": "dedicated", "operator": "Exists"}]}
    if chance.random() < 0.3:
        spec["tolerations"].append({"key": _PRIORITY, "operator": "Exists"})
    if chance.random() < 0.35:
        spec["nodeSelector"] = dict([chance.choice(_selectors(chance, home))])
    affinity: Object = {}
    node: Object = {}
    if chance.random() < 0.3:
        node[_REQUIRED] = {"nodeSelectorTerms": [_term(chance, home, pools) for _ in range(chance.choice((1, 1, 2)))]}
    if chance.random() < 0.2:
        node[_PREFERRED] = [{"weight": chance.randint(1, 100), "preference": _term(chance, home, pools)}]
    if node:
        affinity["nodeAffinity"] = node
    affinity |= _towards_pods(chance, name, others)
    if affinity:
        spec["affinity"] = affinity
    if chance.random() < 0.25:
        spread = {"maxSkew": 1, "topologyKey": chance.choice((_ZONE, _ZONE, _HOSTNAME, "agentpool"))}
        unsatisfiable = {"whenUnsatisfiable": chance.choice(("DoNotSchedule", "DoNotSchedule", "ScheduleAnyway"))}
        spec["topologySpreadConstraints"] = [{**spread, **unsatisfiable, **_pods(name)}]
    return spec


def _selectors(chance: random.Random, home: Object) -> Sequence[tuple[str, str]]:
    return (
        ("agentpool", home["name"]),
        ("agentpool", home["name"]),
        ("team", chance.choice(TEAMS)),
        ("storageprofile", "managed"),
        (_MODE, "user"),
    )


def _term(chance: random.Random, home: Object, pools: Sequence[Object]) -> Object:
    drawn = [_expression(chance, home, pools) for _ in range(chance.choice((1, 1, 2)))]
    return {"matchExpressions": list({expression["key"]: expression for expression in drawn}.values())}


def _expression(chance: random.Random, home: Object, pools: Sequence[Object]) -> Object:
    operator = chance.choice(("In", "In", "In", "NotIn", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"))
    if operator in ("Gt", "Lt"):
        return {"key": GENERATION, "operator": operator, "values": [str(chance.randint(2, 5))]}
    if operator in ("Exists", "DoesNotExist"):
        keys = ("team", "agentpool", _MODE, "storageprofile", "accelerator", _PRIORITY)
        return {"key": chance.choice(keys[:4] if operator == "Exists" else (keys[0], *keys[4:])), "operator": operator}
    names = [pool["name"] for pool in pools]
    values: Mapping[str, Sequence[str]] = {
        "agentpool": [home["name"]] if operator == "In" else [chance.choice(names)],
        _AGENTPOOL: chance.sample(names, min(2, len(names))) if operator == "In" else [chance.choice(names)],
        "team": [chance.choice(TEAMS)],
        _ZONE: [f"westeurope-{number}" for number in chance.sample("123", chance.choice((1, 2)))],
        "node.kubernetes.io/instance-type": [home["vmSize"]] if operator == "In" else ["Standard_D2s_v5"],
        "kubernetes.azure.com/os-sku": ["Ubuntu" if operator == "In" else "AzureLinux"],
        _PRIORITY: ["spot"],
    }
    key = chance.choice(list(values))
    return {"key": key, "operator": operator, "values": list(values[key])}


def _towards_pods(chance: random.Random, name: str, others: Sequence[str]) -> Object:
    drawn = chance.random()
    if drawn < 0.2:
        return {"podAntiAffinity": {_REQUIRED: [{**_pods(name), "topologyKey": _HOSTNAME}]}}
    if drawn < 0.27:
        return {"podAntiAffinity": {_REQUIRED: [{**_pods(name), "topologyKey": _ZONE}]}}
    if drawn < 0.34:
        term = {**_pods(chance.choice((name, *others))), "topologyKey": chance.choice((_HOSTNAME, _ZONE, "agentpool"))}
        return {"podAntiAffinity": {_PREFERRED: [{"weight": 50, "podAffinityTerm": term}]}}
    if drawn < 0.4 and others:
        return {"podAffinity": {_REQUIRED: [{**_pods(chance.choice(others)), "topologyKey": _ZONE}]}}
    return {}


def _pods(name: str) -> Object:
    return {"labelSelector": {"matchLabels": {"app": name}}}
