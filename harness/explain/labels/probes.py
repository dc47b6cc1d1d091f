"""Label keys, found out by trying: may a pod ask for it, may a NodePool set it, is it on a Node and who wrote it.

There is no table of answers: each cell is the outcome of a real admission, a real scheduling pass, a real launch and registration in a
fresh world with the same inputs.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from importlib.resources import files
from typing import Any

from harness.clusters.provenance import Write
from harness.karpenter.labels.core import CAPACITY_TYPE
from harness.karpenter.releases import ALL_PROVIDER_RELEASES, ProviderRelease, provider
from harness.karpenter.validation.rejections import Rejection
from harness.kube.api.labels import HOSTNAME
from harness.world import World

__all__ = [
    "LabelFact",
    "LabelProbe",
    "PodFact",
    "PodOutcome",
    "PoolFact",
    "default_objects",
    "keys_of_all_releases",
    "known_keys",
    "plain_pod",
]

Object = Mapping[str, Any]

POD = "probe"
_UNKNOWN = "does not have known values"


class PodOutcome(StrEnum):
    """The fate of a pod that asks for a label which its NodePool does not set."""

    BOUND = "bound"
    NO_KNOWN_VALUES = "no-known-values"
    INCOMPATIBLE = "incompatible"
    IGNORED = "ignored"
    RUNAWAY = "runaway"
    STUCK = "stuck"


_LEAVES_NOTHING = frozenset({PodOutcome.IGNORED, PodOutcome.NO_KNOWN_VALUES, PodOutcome.INCOMPATIBLE})


@dataclass(frozen=True, slots=True)
class PodFact:
    """A pod that asks for key=value: what became of it, and Karpenter's sentence where it stays pending."""

    outcome: PodOutcome
    value: str
    message: str = ""

    @property
    def source(self) -> str:
        """Return the source of the cell."""
        return {
            PodOutcome.BOUND: "a pod with this nodeSelector was bound",
            PodOutcome.RUNAWAY: "Nodes were made for the pod again and again",
            PodOutcome.STUCK: "a Node was made for the pod, and kube-scheduler does not put it there",
        }.get(self.outcome, self.message)


@dataclass(frozen=True, slots=True)
class PoolFact:
    """A NodePool that sets key=value as a label: what refused it, if anything did."""

    value: str
    rejections: tuple[Rejection, ...] = ()

    @property
    def settable(self) -> bool:
        """Return whether every layer took it."""
        return not self.rejections

    @property
    def source(self) -> str:
        """Return the source of the cell."""
        if self.settable:
            return "taken by the API server and by Karpenter's validation"
        first = self.rejections[0]
        return f"{first.layer} {first.rule}: {first.message}"


@dataclass(frozen=True, slots=True)
class LabelFact:
    """Everything about one key; `value` is the label of a Node that nobody asked anything of, None without one."""

    key: str
    pod: PodFact
    nodepool: PoolFact
    value: str | None
    writes: tuple[Write, ...]


def known_keys(release: ProviderRelease) -> tuple[str, ...]:
    """The keys of the design document's tables and of its usage list, then what else the release knows by name."""
    text = files("harness.explain.labels").joinpath("data", "label_keys.json").read_text(encoding="utf-8")
    listed = json.loads(text)
    vocabulary = release.vocabulary
    keys_known = {
        *vocabulary.well_known,
        *vocabulary.restricted_labels,
        *vocabulary.normalized_keys,
        *vocabulary.known_values,
    }
    keys = [*listed["aks"], *listed["karpenter"], *listed["usage"]]
    return tuple(dict.fromkeys([*keys, *sorted(keys_known)]))


def keys_of_all_releases() -> frozenset[str]:
    """Return the keys of `known_keys` of any release: a key that one of them knows is no typing error under another."""
    return frozenset(key for name in ALL_PROVIDER_RELEASES for key in known_keys(provider(name)))


def default_objects() -> tuple[Object, Object]:
    """An AKSNodeClass and an on-demand NodePool that say as little as they can."""
    nodeclass = {
        "apiVersion": "karpenter.azure.com/v1beta1",
        "kind": "AKSNodeClass",
        "metadata": {"name": "default"},
        "spec": {},
    }
    requirements = [{"key": CAPACITY_TYPE, "operator": "In", "values": ["on-demand"]}]
    reference = {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"}
    nodepool = {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": "default"},
        "spec": {
            "disruption": {"consolidateAfter": "Never"},
            "template": {"spec": {"nodeClassRef": reference, "requirements": requirements}},
        },
    }
    return nodeclass, nodepool


def plain_pod(selector: Mapping[str, str] | None = None) -> Object:
    """A pod that asks for one vCPU and, maybe, for labels."""
    container = {"name": "c", "image": "pause", "resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}
    spec: dict[str, Any] = {"containers": [container]}
    if selector:
        spec["nodeSelector"] = dict(selector)
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": POD, "namespace": "default"}, "spec": spec}


Labelled = tuple[Mapping[str, str], Mapping[str, tuple[Write, ...]]]
"""The labels of a Node, and the writes of each."""


class LabelProbe:
    """Tries keys in worlds that `new_world` makes, each with the same objects (NodePools, AKSNodeClasses).

    `look` lets a cluster elsewhere answer instead what it can answer with one Node: labels of Nodes, and refusals of NodePools.
    """

    def __init__(self, new_world: Callable[[], World], objects: Sequence[Object] = ()) -> None:
        self._new_world = new_world
        kinds = {obj.get("kind") for obj in objects}
        defaults = [obj for obj in default_objects() if obj["kind"] not in kinds]
        self.objects: tuple[Object, ...] = (*defaults, *objects)
        self._pods: dict[tuple[str, str], PodFact] = {}
        self._pools: dict[tuple[str, str], PoolFact] = {}
        self._seen: Labelled | None = None
        self._waiting: World | None = None
        """A world with the objects in which the last pod was left without a place."""

    def look(self, new_world: Callable[[], World], settable: Iterable[tuple[str, str]], *, node: bool) -> None:
        """Read the unknown pairs from one world of a cluster elsewhere: NodePools that set key=value, and (`node`) a
        Node.

        That world is used before this ends, and no longer. Raises LookupError when a plain pod gets no Node.
        """
        missing = [pair for pair in settable if pair not in self._pools]
        node = node and self._seen is None
        if not missing and not node:
            return
        world = new_world()
        for key, value in missing:
            self._pools[key, value] = self._judged(world, key, value)
        if node:
            world.apply(*self.objects)
            self._seen = _labelled(world)

    def fact(self, key: str, value: str | None = None) -> LabelFact:
        """All about one key; `value` is what to ask for and to set, a fitting one when absent."""
        chosen = self.value_of(key) if value is None else value
        labels, writes = self.node
        return LabelFact(key, self.pod(key, chosen), self.nodepool(key, chosen), labels.get(key), writes.get(key, ()))

    @property
    def node(self) -> Labelled:
        """Labels and writes of the Node of a pod that asks for nothing. Raises LookupError when the pod gets none."""
        return self._plain if self._seen is None else self._seen

    @cached_property
    def _plain(self) -> Labelled:
        return _labelled(self._world())

    def value_of(self, key: str) -> str:
        """A value that makes sense: the Node's, one that some size has, one that Karpenter knows, or any."""
        labels, _ = self._plain
        if key in labels and key != HOSTNAME:
            return labels[key]
        vocabulary = self._empty.release.vocabulary
        normal = vocabulary.normalized_keys.get(key, key)
        if normal in labels and normal != key:
            return labels[normal]
        offered = self._offered.get(normal)
        if offered is not None:
            return offered
        return min(vocabulary.known_values.get(normal, ()), default="any")

    def pod(self, key: str, value: str) -> PodFact:
        """A pod that asks for the label by nodeSelector, on NodePools that do not set it."""
        if (key, value) not in self._pods:
            self._pods[key, value] = self._pod(key, value)
        return self._pods[key, value]

    def _pod(self, key: str, value: str) -> PodFact:
        world, self._waiting = self._waiting or self._world(), None
        fact = self._tried(world, key, value)
        if fact.outcome in _LEAVES_NOTHING and not world.list("NodeClaim"):
            if world.get("Pod", POD) is not None:
                world.delete("Pod", POD)
            self._waiting = world  # all is there as before, so that the next pod needs no other world
        return fact

    def _tried(self, world: World, key: str, value: str) -> PodFact:
        before = len(world.events)
        rejections = world.apply(plain_pod({key: value}))
        if rejections:
            return PodFact(PodOutcome.IGNORED, value, rejections[0].message)
        settled = world.settle(allow_rejections=True)
        if settled.runaway is not None:
            return PodFact(PodOutcome.RUNAWAY, value)
        pod = world.get("Pod", POD) or {}
        if pod.get("spec", {}).get("nodeName"):
            return PodFact(PodOutcome.BOUND, value)
        sentence = _sentence(world, before)
        if not sentence and world.list("NodeClaim"):
            return PodFact(PodOutcome.STUCK, value)
        return PodFact(PodOutcome.NO_KNOWN_VALUES if _UNKNOWN in sentence else PodOutcome.INCOMPATIBLE, value, sentence)

    def nodepool(self, key: str, value: str) -> PoolFact:
        """The last NodePool of the objects with the label set in its template."""
        if (key, value) not in self._pools:
            self._pools[key, value] = self._judged(self._empty, key, value)
        return self._pools[key, value]

    def _judged(self, world: World, key: str, value: str) -> PoolFact:
        nodepool = next(obj for obj in reversed(self.objects) if obj.get("kind") == "NodePool")
        template = nodepool["spec"]["template"]
        metadata = {**template.get("metadata", {})}
        metadata["labels"] = {**metadata.get("labels", {}), key: value}
        spec = {**nodepool["spec"], "template": {**template, "metadata": metadata}}
        return PoolFact(value, tuple(world.dry_run({**nodepool, "spec": spec})))

    @cached_property
    def _empty(self) -> World:
        """A world that stays empty."""
        return self._new_world()

    @cached_property
    def _offered(self) -> Mapping[str, str]:
        """For each requirement key the first value that some size of the region has."""
        world = self._world()
        nodeclass = next(obj for obj in self.objects if obj.get("kind") == "AKSNodeClass")
        stored = world.get("AKSNodeClass", nodeclass["metadata"]["name"])
        values: dict[str, str] = {}
        for size in world.caches.catalogue.region(world.region).by_name:
            result = world.requirements_of(size, nodeclass=stored)
            for key, requirement in getattr(result, "requirements", {}).items():
                if key not in values and requirement.operator == "In" and requirement.values:
                    values[key] = min(requirement.values)
        return values

    def _world(self) -> World:
        world = self._new_world()
        world.apply(*self.objects)
        return world


def _labelled(world: World) -> Labelled:
    world.apply(plain_pod())
    world.settle(allow_rejections=True)
    pod = world.get("Pod", POD)
    name = (pod or {}).get("spec", {}).get("nodeName")
    node = world.get("Node", name) if name else None
    if node is None:
        sentence = _sentence(world) or "Karpenter said nothing about it"
        raise LookupError(f"a plain pod gets no Node: {sentence}")
    return node["metadata"].get("labels") or {}, world.writes(name)


def _sentence(world: World, before: int = 0) -> str:
    """Karpenter's last word on the probe's pod; the first events, so many as came `before`, were about another one."""
    events: Iterable[Any] = reversed(world.events[before:])
    for event in events:
        if event.object.kind == "Pod" and event.reason == "FailedScheduling" and event.source == "karpenter":
            text: str = event.message
            return text.removeprefix("Failed to schedule pod, ")
    return ""
