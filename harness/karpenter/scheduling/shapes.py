"""What the scheduler sees of a pod. Pods that agree in it share one shape, and with it every answer found so far.

Relaxation (core ``pkg/controllers/provisioning/scheduling/preferences.go``) leads from a shape to the next, weaker one.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, overload

from harness.karpenter.requirement import IN, Requirement, requirement_from_api
from harness.karpenter.scheduling.algebra import Algebra, RequirementSet
from harness.karpenter.scheduling.snapshot import IGNORE, ClaimsIn
from harness.kube.fingerprint import fingerprint
from harness.kube.gosort import sort_slice
from harness.kube.objects import Object, labels_of, namespace_of, spec_of
from harness.kube.pods import HostPort, affinity_terms, host_ports, requests_for_pods
from harness.kube.resources import ResourceList
from harness.kube.taints import TOLERATE_PREFERENCES, Toleration, same_toleration

if TYPE_CHECKING:
    from harness.karpenter.scheduling.topology_group import TopologyGroup

SCHEDULE_ANYWAY = "ScheduleAnyway"


@dataclass(frozen=True, slots=True)
class Preferences:
    """The parts of a pod that relaxation takes away, and the tolerations that it adds."""

    required_nodes: Sequence[Object]
    preferred_nodes: Sequence[Object]
    preferred_pods: Sequence[Object]
    preferred_anti: Sequence[Object]
    spread: tuple[Object, ...]
    tolerations: tuple[Toleration, ...]

    @classmethod
    def of(cls, pod: Object, *, ignored: bool) -> Preferences:
        spec = spec_of(pod)
        nodes = (spec.get("affinity") or {}).get("nodeAffinity") or {}
        required = (nodes.get("requiredDuringSchedulingIgnoredDuringExecution") or {}).get("nodeSelectorTerms") or ()
        preferred = list(nodes.get("preferredDuringSchedulingIgnoredDuringExecution") or ())
        if not ignored:
            sort_slice(preferred, _lightest_first)
        return cls(
            tuple(required),
            tuple(preferred),
            tuple(affinity_terms(pod, "podAffinity", "preferred")),
            tuple(affinity_terms(pod, "podAntiAffinity", "preferred")),
            tuple(spec.get("topologySpreadConstraints") or ()),
            tuple(spec.get("tolerations") or ()),
        )

    def relaxed(self, *, tolerate_preferences: bool) -> tuple[Preferences, str] | None:
        """The next weaker preferences and what was dropped, or None when nothing is left to drop."""
        if len(self.required_nodes) > 1:
            return replace(self, required_nodes=_without_first(self.required_nodes)), "required node affinity term"
        if self.preferred_pods:
            return replace(self, preferred_pods=_without_heaviest(self.preferred_pods)), "preferred pod affinity term"
        if self.preferred_anti:
            return replace(
                self, preferred_anti=_without_heaviest(self.preferred_anti)
            ), "preferred pod anti-affinity term"
        if self.preferred_nodes:
            return replace(
                self, preferred_nodes=_without_heaviest(self.preferred_nodes)
            ), "preferred node affinity term"
        for index, constraint in enumerate(self.spread):
            if constraint.get("whenUnsatisfiable") == SCHEDULE_ANYWAY:
                spread = list(self.spread)
                spread[index] = spread[-1]
                return replace(self, spread=tuple(spread[:-1])), "ScheduleAnyway topology spread constraint"
        if tolerate_preferences and not any(same_toleration(t, TOLERATE_PREFERENCES) for t in self.tolerations):
            return replace(self, tolerations=(*self.tolerations, TOLERATE_PREFERENCES)), "PreferNoSchedule taints"
        return None


class _Terms(Sequence[Object]):
    """Terms in the order in which they are dropped, the next one first; what is left shares their storage, however many steps there are."""

    __slots__ = ("_start", "_terms")

    def __init__(self, terms: tuple[Object, ...], start: int) -> None:
        self._terms, self._start = terms, start

    def __len__(self) -> int:
        return len(self._terms) - self._start

    @overload
    def __getitem__(self, index: int) -> Object: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Object]: ...
    def __getitem__(self, index: int | slice) -> Object | Sequence[Object]:
        if isinstance(index, slice):
            return self._terms[self._start :][index]
        return self._terms[self._start + index if index >= 0 else index]

    def __iter__(self) -> Iterator[Object]:
        return islice(self._terms, self._start, None)

    def rest(self) -> _Terms:
        """All but the first."""
        return _Terms(self._terms, self._start + 1)


def _lightest_first(term: Object) -> int:
    return -(term.get("weight") or 0)


def _without_heaviest(terms: Sequence[Object]) -> Sequence[Object]:
    if isinstance(terms, _Terms):
        return terms.rest()
    return _Terms(tuple(sorted(terms, key=_lightest_first)), 1)


def _without_first(terms: Sequence[Object]) -> Sequence[Object]:
    return terms.rest() if isinstance(terms, _Terms) else _Terms(tuple(terms), 1)


class PodShape:
    """One relaxation step of equal pods.

    ``requirements`` include the heaviest preferred node affinity term, ``strict`` do not. ``amounts`` are requests in billionths.
    ``groups`` are the topology groups that constrain the pod and ``anti`` those in which it repels others; both are filled
    when the step is first reached. ``deferred``: the pod's volumes could not be looked up, which leaves its topology out until an
    attempt has failed. ``repeats``: how often matchLabelKeys have been written into the pod's selectors, which happens anew with
    each look at its topology. ``spread_groups`` are the groups of spread constraints that are the same at every step, by the id
    of the constraint. ``fit`` numbers what decides, apart from topology, whether a node has room.
    """

    __slots__ = (
        "again",
        "amounts",
        "anti",
        "anti_terms",
        "claims_resources",
        "counted",
        "deferred",
        "dropped",
        "failed_at",
        "failure",
        "fit",
        "groups",
        "host_ports",
        "labels",
        "namespace",
        "node_selector",
        "pod",
        "preferences",
        "reached",
        "relaxation",
        "repeats",
        "requests",
        "required_anti",
        "required_pods",
        "requirements",
        "spread_groups",
        "strict",
        "volume_claims",
        "volumes",
    )

    def __init__(self, pod: Object, preferences: Preferences) -> None:
        self.pod, self.preferences = pod, preferences
        self.namespace, self.labels = namespace_of(pod), labels_of(pod)
        self.node_selector: Mapping[str, str] = spec_of(pod).get("nodeSelector") or {}
        self.required_pods = tuple(affinity_terms(pod, "podAffinity", "required"))
        self.required_anti = tuple(affinity_terms(pod, "podAntiAffinity", "required"))
        self.requests: ResourceList = {}
        self.amounts: tuple[tuple[str, int], ...] = ()
        self.host_ports: tuple[HostPort, ...] = ()
        self.requirements: RequirementSet
        self.strict: RequirementSet
        self.volumes: tuple[RequirementSet, ...] = ()
        self.volume_claims: dict[str, set[str]] | None = {}
        self.claims_resources = self.deferred = False
        self.fit = -1
        self.groups: tuple[TopologyGroup, ...] = ()
        self.anti: tuple[TopologyGroup, ...] = ()
        self.counted: tuple[int, tuple[TopologyGroup, ...], tuple[TopologyGroup, ...]] | None = None
        self.reached = False
        self.spread_groups: dict[int, TopologyGroup] = {}
        self.repeats = 1
        self.again: PodShape | None = None
        self.relaxation: PodShape | None = None
        self.dropped: str | None = None
        self.failed_at = -1
        self.failure: Any = None


class ShapeCatalog:
    """Makes shapes, each once.

    ``volumes_of(pod)`` gives (requirement alternatives, claims by driver), each None when it cannot be found out.
    """

    def __init__(
        self,
        algebra: Algebra,
        preference_policy: str,
        tolerate_preferences: bool,
        volumes_of: Callable[[Object], tuple[tuple[RequirementSet, ...] | None, dict[str, set[str]] | None]],
        claims_in: ClaimsIn,
    ) -> None:
        self._algebra = algebra
        self._ignored = preference_policy == IGNORE
        self._tolerate_preferences = tolerate_preferences
        self._volumes_of = volumes_of
        self._claims_in = claims_in
        self._shapes: dict[Hashable, PodShape] = {}
        self._fits: dict[Hashable, int] = {}

    def of(self, pod: Object) -> PodShape:
        """The shape of a pod before any relaxation. Raises QuantityError and ValueError for what no API server admits."""
        spec = spec_of(pod)
        volumes = spec.get("volumes") or ()
        claims = [v for v in volumes if v.get("persistentVolumeClaim") is not None or v.get("ephemeral") is not None]
        key = fingerprint(
            (
                namespace_of(pod),
                labels_of(pod),
                [spec.get(field) for field in _SPEC_FIELDS],
                claims and [claims, pod["metadata"].get("name")],
                (pod.get("status") or {}).get("containerStatuses"),
            )
        )
        shape = self._shapes.get(key)
        if shape is None:
            shape = self._shapes[key] = PodShape(pod, Preferences.of(pod, ignored=self._ignored))
            shape.requests = requests_for_pods((pod,))
            shape.amounts = tuple(sorted((name, quantity.nano) for name, quantity in shape.requests.items()))
            shape.host_ports = host_ports(pod)
            shape.claims_resources = self._claims_in.found(pod)
            if claims:
                alternatives, shape.volume_claims = self._volumes_of(pod)
                shape.deferred, shape.volumes = alternatives is None, alternatives or ()
            self._complete(shape)
        return shape

    def relaxed(self, shape: PodShape) -> PodShape | None:
        """The next weaker shape, or None."""
        if shape.relaxation is None:
            step = shape.preferences.relaxed(tolerate_preferences=self._tolerate_preferences)
            if step is None:
                return None
            weaker = self._like(shape, step[0])
            shape.relaxation, shape.dropped = weaker, step[1]
        return shape.relaxation

    def next_attempt(self, shape: PodShape) -> PodShape:
        """The shape of the pod when it is tried again, where the repetition of its matchLabelKeys makes a difference."""
        if not any(constraint.get("matchLabelKeys") for constraint in shape.preferences.spread):
            return shape
        if shape.again is None:
            shape.again = self._like(shape, shape.preferences)
            shape.again.again = shape  # even numbers of repetitions are alike, and so are odd ones
        return shape.again

    def _like(self, shape: PodShape, preferences: Preferences) -> PodShape:
        made = PodShape(shape.pod, preferences)
        for field in ("requests", "amounts", "host_ports", "claims_resources", "volumes", "volume_claims"):
            setattr(made, field, getattr(shape, field))
        made.repeats = shape.repeats + 1
        before = shape.preferences
        if preferences.required_nodes is before.required_nodes and preferences.tolerations is before.tolerations:
            made.spread_groups = shape.spread_groups  # these two are part of a group
        self._complete(made)
        return made

    def _complete(self, shape: PodShape) -> None:
        preferences, algebra = shape.preferences, self._algebra
        base = [Requirement.of(k, IN, (v,), vocabulary=algebra.vocabulary) for k, v in shape.node_selector.items()]
        required = self._expressions(preferences.required_nodes[0]) if preferences.required_nodes else []
        shape.strict = shape.requirements = algebra.set_of([*base, *required])
        if preferences.preferred_nodes and not self._ignored:
            preferred = self._expressions(preferences.preferred_nodes[0].get("preference") or {})
            shape.requirements = algebra.set_of([*base, *preferred, *required])
        identity = (
            shape.requirements.id,
            tuple(each.id for each in shape.volumes),
            fingerprint(preferences.tolerations),
            shape.host_ports,
            shape.amounts,
            tuple((d, tuple(sorted(c))) for d, c in sorted((shape.volume_claims or {}).items())),
            shape.volume_claims is None,
        )
        shape.fit = self._fits.setdefault(identity, len(self._fits))

    def _expressions(self, term: Object) -> list[Requirement]:
        return [
            requirement_from_api(each, vocabulary=self._algebra.vocabulary)
            for each in term.get("matchExpressions") or ()
        ]


_SPEC_FIELDS = (
    "containers",
    "initContainers",
    "overhead",
    "resources",
    "resourceClaims",
    "nodeSelector",
    "affinity",
    "tolerations",
    "topologySpreadConstraints",
)
