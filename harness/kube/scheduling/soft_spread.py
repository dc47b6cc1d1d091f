"""Topology spread constraints of ScheduleAnyway, and the default ones of every pod with siblings.

A pod without constraints is spread over hostnames and zones, beside the pods that its Services and its ReplicaSet, StatefulSet or
ReplicationController select.
Sources: kubernetes pkg/scheduler/framework/plugins/podtopologyspread/{scoring,common,plugin}.go, plugins/helper/spread.go.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import floor, log

from harness.kube.api.labels import HOSTNAME, ZONE
from harness.kube.api.objects import Object, controller_of, labels_of, namespace_of, spec_of
from harness.kube.api.selectors import Selector, pod_selector
from harness.kube.scheduling.placement import NodeInfo
from harness.kube.scheduling.spreading import constraint_selector, selected, takes_part
from harness.kube.scheduling.volume_binding import Lookup
from lazyrecords import dataclass

__all__ = ["DEFAULTS", "Neighbours", "Place", "SoftSpread", "owner_selector", "sibling_selector"]

DEFAULTS: Sequence[tuple[str, int]] = ((HOSTNAME, 3), (ZONE, 5))
"""Key and maxSkew of the constraints of a pod that has none."""

_OWNERS: Mapping[str, str] = {"ReplicaSet": "apps/v1", "StatefulSet": "apps/v1", "ReplicationController": "v1"}
_MERGED = "ReplicationController"
"""A kind whose selector is merged with those of Services and wins over them; others are added, so that both have to hold."""


@dataclass(frozen=True, slots=True)
class SoftSpread:
    """The soft constraints of one pod, counted. Each has its key, maxSkew - 1, weight, selector, and counts by domain (not by hostname)."""

    namespace: str
    constraints: tuple[tuple[str, int, float, Selector, Mapping[str, int]], ...]
    own: bool

    @staticmethod
    def for_pod(
        pod: Object, nodes: Sequence[NodeInfo], fitting: Sequence[NodeInfo], siblings: Selector | None
    ) -> SoftSpread | None:
        """The constraints over the nodes that fit, None when there is none. `siblings` selects the pods beside which it is spread."""
        raw = spec_of(pod).get("topologySpreadConstraints")
        constraints: list[tuple[str, int, Selector, Object]] = []
        if raw:
            for constraint in raw:
                if constraint["whenUnsatisfiable"] == "ScheduleAnyway":
                    constraints.append(
                        (
                            constraint["topologyKey"],
                            int(constraint["maxSkew"]),
                            constraint_selector(constraint, pod),
                            constraint,
                        )
                    )
        elif siblings is not None:
            constraints = [(key, skew, siblings, {}) for key, skew in DEFAULTS]
        if not constraints:
            return None
        keys = [key for key, *_ in constraints] if raw else []
        judged = [info for info in fitting if all(key in info.labels for key in keys)]
        around = [info for info in nodes if all(key in info.labels for key in keys)]
        counted: list[tuple[str, int, float, Selector, Mapping[str, int]]] = []
        for key, skew, selector, source in constraints:
            counts: dict[str, int] = {}
            if key != HOSTNAME:
                counts = {info.labels.get(key, ""): 0 for info in judged}
                for info in around:
                    domain = info.labels.get(key, "")
                    if domain in counts and takes_part(source, pod, info):
                        counts[domain] += selected(selector, namespace_of(pod), info)
            weight = _weight_of(len(judged) if key == HOSTNAME else len(counts))
            counted.append((key, skew - 1, weight, selector, counts))
        return SoftSpread(namespace_of(pod), tuple(counted), bool(raw))

    def count(self, info: NodeInfo) -> int | None:
        """The pods in the node's domains, weighted, of which fewer are better; None for a node that lacks a key of the pod's own."""
        if self.own and any(key not in info.labels for key, *_ in self.constraints):
            return None
        score = 0.0
        for key, more, weight, selector, counts in self.constraints:
            if key in info.labels:
                here = selected(selector, self.namespace, info) if key == HOSTNAME else counts[info.labels[key]]
                score += here * weight + more
        return _rounded(score)


@dataclass(frozen=True, slots=True)
class Place:
    """The position of a node for a pod that is spread by default: its number of siblings, None without a hostname, and its zone."""

    here: int | None = None
    zone: str | None = None


class Neighbours:
    """The siblings of one kind of pods that has no constraints, counted by node and zone; `SoftSpread` for nodes that change one by one."""

    def __init__(self, pod: Object, siblings: Selector) -> None:
        self._pod, self._siblings, self._namespace = pod, siblings, namespace_of(pod)
        self._zones: Counter[str] = Counter()
        self._added: dict[str, tuple[str, int]] = {}

    def count(self, name: str, info: NodeInfo | None) -> Place:
        """Count a node anew, which is None when it is gone."""
        zone, before = self._added.pop(name, ("", 0))
        self._zones[zone] -= before
        if info is None:
            return Place()
        here, own = selected(self._siblings, self._namespace, info), info.labels.get(ZONE)
        if here and takes_part({}, self._pod, info):
            self._added[name] = own or "", here
            self._zones[own or ""] += here
        return Place(here if HOSTNAME in info.labels else None, own)

    def counts(self, places: Sequence[Place], fitting: int) -> list[int]:
        """Return :meth:`SoftSpread.count` for each place; `places` are all that fit, `fitting` is the number of their nodes."""
        hosts, zones = _weight_of(fitting), _weight_of(len({place.zone or "" for place in places}))
        scores: list[int] = []
        for place in places:
            score = 0.0
            if place.here is not None:
                score += place.here * hosts + (DEFAULTS[0][1] - 1)
            if place.zone is not None:
                score += self._zones[place.zone] * zones + (DEFAULTS[1][1] - 1)
            scores.append(_rounded(score))
        return scores


def _weight_of(domains: int) -> float:
    """The weight of a constraint over so many domains."""
    return log(domains + 2)


def _rounded(number: float) -> int:
    """A number that is not negative as Go's math.Round has it: a half is rounded up."""
    below = floor(number)
    return below + 1 if number - below >= 0.5 else below


def sibling_selector(pod: Object, services: Sequence[Object], find: Lookup) -> Selector | None:
    """Return the selector of the pods beside which a pod without constraints is spread; None when there is none.

    `services` are the cluster's, `find` looks for the pod's controller.
    """
    namespace, labels = namespace_of(pod), labels_of(pod)
    wanted: dict[str, str] = {}
    for service in services:
        chosen = spec_of(service).get("selector")
        if chosen is None or namespace_of(service) != namespace:
            continue
        if all(labels.get(key) == value for key, value in chosen.items()):
            wanted.update(chosen)
    owned = owner_selector(pod, find) or {}
    if (controller_of(pod) or {}).get("kind") == _MERGED:
        wanted.update(owned.get("matchLabels") or {})
        owned = {}
    conditions = list(Selector.parse({"matchLabels": wanted}).conditions)
    conditions.extend(Selector.parse(owned).conditions)
    return Selector(tuple(sorted(set(conditions)))) if conditions else None


def owner_selector(pod: Object, find: Lookup) -> Object | None:
    """The label selector of the ReplicaSet, StatefulSet or ReplicationController that controls the pod, None without one."""
    owner = controller_of(pod)
    if owner is None or _OWNERS.get(owner["kind"]) != owner.get("apiVersion"):
        return None
    controller = find(owner["kind"], owner["name"], namespace_of(pod))
    return pod_selector(controller) if controller is not None else None
