"""A cluster to try pods on: asks one pass of the provisioner, then lets the Nodes come and the pods run, as core's tests do.

Whom it asks is not its business: the same trial is made with this project's scheduler and with the real one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.scheduling.upstream.cloud import HOST, ZONE, allocatable, catalog

__all__ = ["Ask", "Plan", "Trial"]

Json = dict[str, Any]
Ask = Callable[[Json], Any]
"""Asks a request of the protocol and returns the answer."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The answer to one pass; pods go by their names."""

    answer: Json
    placed: Mapping[str, str]
    """Node by pod, also of Nodes that are yet to come."""

    @property
    def claims(self) -> list[Json]:
        """The new NodeClaims."""
        return list(self.answer["nodeclaims"])

    def groups(self) -> list[list[str]]:
        """Pods of each new NodeClaim, sorted."""
        return sorted(sorted(_short(name) for name in claim["pods"]) for claim in self.claims)

    def existing(self) -> dict[str, list[str]]:
        """Pods by the Node that was there before, sorted."""
        return {node: sorted(_short(name) for name in names) for node, names in self.answer["existing"].items()}

    def error(self, name: str) -> str:
        """Why the pod goes nowhere; empty when it does go somewhere."""
        full = f"default/{name}"
        return str(self.answer["errors"].get(full) or self.answer["ignored"].get(full) or "")

    def claim_of(self, name: str) -> Json:
        """The new NodeClaim of a pod."""
        return next(claim for claim in self.claims if f"default/{name}" in claim["pods"])

    def sizes(self, name: str) -> list[str]:
        """Sizes that the pod's new NodeClaim may become, the cheapest first."""
        return list(self.claim_of(name)["instance_types"])

    def requirement(self, name: str, key: str) -> Json:
        """What the NodeClaim of a pod, as it is created, requires of a key."""
        return next(each for each in self.claim_of(name)["nodeclaim"]["requirements"] if each["key"] == key)


@dataclass(slots=True)
class Trial:
    """One cluster. `types` is a catalog's name or a list of sizes; `objects` more lists of the request (daemonsets, pvcs, …)."""

    ask: Ask
    pools: list[Json]
    types: str | Sequence[Json] = "usual"
    objects: dict[str, list[Json]] = field(default_factory=dict)
    options: Json = field(default_factory=dict)
    pods: dict[str, Json] = field(default_factory=dict)
    nodes: dict[str, Json] = field(default_factory=dict)
    nodeclaims: dict[str, Json] = field(default_factory=dict)
    placed: dict[str, str] = field(default_factory=dict)
    made: int = 0

    def provision(self, *pods: Json, bind: bool = True, launch: bool = True) -> Plan:
        """One pass with these pods and all that still wait; then Nodes for the NodeClaims, and the pods on them (unless told otherwise)."""
        for each in pods:
            self.pods[_key(each)] = each
        answer = self.ask(self._request())
        assert "error" not in answer, answer["error"]
        placed = {name: node for node, names in answer["existing"].items() for name in names}
        if launch:
            for claim in answer["nodeclaims"]:
                node = self._launch(claim)
                placed.update(dict.fromkeys(claim["pods"], node))
        if bind:
            for name, node in placed.items():
                moved = self.pods[name]
                self.pods[name] = {
                    **moved,
                    "spec": {**moved["spec"], "nodeName": node},
                    "status": {"phase": "Running"},
                }
        self.placed.update(placed)
        return Plan(answer, {_short(name): node for name, node in placed.items()})

    def _request(self) -> Json:
        types = {"catalog": self.types} if isinstance(self.types, str) else {"instance_types": list(self.types)}
        return {
            "op": "schedule",
            **types,
            "nodepools": self.pools,
            "pods": list(self.pods.values()),
            "nodes": list(self.nodes.values()),
            "nodeclaims": list(self.nodeclaims.values()),
            "options": self.options,
            **self.objects,
        }

    def _launch(self, claim: Json) -> str:
        """The cheapest size in the first way to buy it that the NodeClaim allows; its Node registers, and is not initialized."""
        self.made += 1
        name = f"{claim['nodepool']}-{self.made:02}"
        named = catalog(self.types) if isinstance(self.types, str) else {each["name"]: each for each in self.types}
        size = named[claim["instance_types"][0]]
        wanted = {each["key"]: each for each in claim["requirements"]}
        way = next(
            each
            for each in size["offerings"]
            if each["available"] and all(allows(wanted.get(r["key"]), r["values"][0]) for r in each["requirements"])
        )
        labels = {r["key"]: min(r["values"]) for r in size["requirements"] if r["operator"] == "In"}
        labels |= {r["key"]: r["values"][0] for r in way["requirements"]}
        created = claim["nodeclaim"]
        labels |= created["metadata"]["labels"]
        taints, startup = created["spec"].get("taints") or [], created["spec"].get("startupTaints") or []
        status = {"capacity": size["capacity"], "allocatable": allocatable(size)}
        spec = {
            "nodeClassRef": created["spec"]["nodeClassRef"],
            "requirements": created["requirements"],
            "resources": created["spec"].get("resources"),
            "taints": taints,
            "startupTaints": startup,
        }
        annotations = created["metadata"].get("annotations") or {}
        self.nodeclaims[name] = {
            "metadata": {"name": name, "labels": labels, "annotations": annotations},
            "spec": spec,
            "status": {"providerID": f"fake:///{name}", "nodeName": name, **status},
        }
        self.nodes[name] = {
            "metadata": {
                "name": name,
                "labels": {**labels, HOST: name, "karpenter.sh/registered": "true"},
                "annotations": annotations,
            },
            "spec": {"providerID": f"fake:///{name}", "taints": [*taints, *startup]},
            "status": status,
        }
        return name

    def node(self, name: str) -> Json:
        """The Node of a pod; fails when there is none."""
        assert f"default/{name}" in self.placed, f"{name} was not scheduled"
        return self.nodes[self.placed[f"default/{name}"]]

    def scheduled(self, name: str) -> bool:
        """Whether a pod has a Node."""
        return f"default/{name}" in self.placed

    def labels(self, name: str) -> dict[str, str]:
        """Labels of the Node of a pod."""
        return dict(self.node(name)["metadata"]["labels"])

    def initialize(self, *names: str) -> None:
        """The Nodes (all when none is named) become initialized and lose startup taints."""
        for name in names or list(self.nodes):
            node = self.nodes[name]
            node["metadata"]["labels"]["karpenter.sh/initialized"] = "true"
            if name in self.nodeclaims:
                node["spec"]["taints"] = list(self.nodeclaims[name]["spec"].get("taints") or ())

    def delete_pod(self, name: str) -> None:
        """The pod is gone."""
        del self.pods[f"default/{name}"]
        self.placed.pop(f"default/{name}", None)

    def drop_waiting(self) -> None:
        """Pods without a Node are deleted."""
        for name in [name for name, each in self.pods.items() if not each["spec"].get("nodeName")]:
            del self.pods[name]

    def skew(self, key: str, labels: Mapping[str, str], namespace: str = "default") -> list[int]:
        """How many running pods with these labels each domain has, sorted."""
        return sorted(self.count(key, labels, namespace).values())

    def count(self, key: str, labels: Mapping[str, str], namespace: str = "default") -> dict[str, int]:
        """Running pods with these labels by domain."""
        found: Counter[str] = Counter()
        for each in self.pods.values():
            metadata, node = each["metadata"], self.nodes.get(each["spec"].get("nodeName") or "")
            same = labels.items() <= metadata["labels"].items() and metadata["namespace"] == namespace
            if not same or node is None or metadata.get("deletionTimestamp"):
                continue
            if (each.get("status") or {}).get("phase") in ("Failed", "Succeeded"):
                continue
            domain = node["metadata"]["name"] if key == HOST else node["metadata"]["labels"].get(key)
            if domain:
                found[domain] += 1
        return dict(found)

    def zones(self, labels: Mapping[str, str]) -> list[int]:
        """Running pods by zone, sorted."""
        return self.skew(ZONE, labels)


def allows(requirement: Json | None, value: str) -> bool:
    """Whether a requirement of a NodeClaim admits a value."""
    if requirement is None or requirement["operator"] == "Exists":
        return True
    values = requirement.get("values") or []
    return {
        "In": value in values,
        "NotIn": value not in values,
        "DoesNotExist": False,
    }[requirement["operator"]]


def _short(name: str) -> str:
    return name.removeprefix("default/")


def _key(pod: Json) -> str:
    return f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
