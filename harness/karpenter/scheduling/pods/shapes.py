"""A pod as the scheduler sees it. Pods that agree in it share one shape, and with it every answer found so far.

Relaxation leads from a shape to the next, weaker one.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from harness.karpenter.releases.scheduling import ClaimsIn
from harness.karpenter.requirement import IN, Requirement, requirement_from_api
from harness.karpenter.scheduling.algebra import Algebra, RequirementSet
from harness.karpenter.scheduling.pods.preferences import Preferences, Relaxation
from harness.karpenter.scheduling.snapshot import IGNORE
from harness.kube.api.fingerprint import fingerprint
from harness.kube.api.objects import Object, labels_of, namespace_of, spec_of
from harness.kube.api.resources import ResourceList
from harness.kube.scheduling.pods import HostPort, affinity_terms, host_ports, requests_for_pods

if TYPE_CHECKING:
    from harness.karpenter.scheduling.topology.cluster_group import ClusterGroup
    from harness.karpenter.scheduling.topology.group import TopologyGroup
    from harness.karpenter.scheduling.topology.node_filter import Alternatives
    from harness.karpenter.scheduling.topology.own_groups import OwnGroups


class PodShape:
    """One relaxation step of equal pods.

    ``size`` is CPU and memory, negative, in billionths: the same object for all shapes of a size, so that it is quickly compared.
    ``requirements`` include the heaviest preferred node affinity term, ``strict`` do not. ``amounts`` are requests in billionths.
    ``groups`` are the topology groups that constrain the pod and ``anti`` those in which it repels others; both are filled when the
    step is first reached. ``deferred``: the pod's volumes could not be looked up, which leaves its topology out until an attempt has
    failed. ``repeats``: how often matchLabelKeys have been written into the pod's selectors, which happens anew with each look at its
    topology (``repeating``: whether there are any). ``fit`` numbers what decides, apart from topology, whether a node has room.
    ``cluster_groups`` are the groups of running pods, by kind and id of the constraint. ``identity`` stands for namespace and labels.
    ``before`` is the shape that ``step`` led from; ``own`` and ``steps`` are what it leaves of the pod's groups, ``gone`` the group
    that it took away, ``alternatives`` the nodes that its spread constraints count. ``volume_problem`` says why ``volume_claims`` is
    None. ``plain``: nothing but ``fit`` decides, as long as no other pod repels it, and there is nothing to give up.
    """

    __slots__ = (
        "again",
        "alternatives",
        "amounts",
        "anti",
        "before",
        "claims_resources",
        "cluster_groups",
        "counted",
        "deferred",
        "dropped",
        "failed_at",
        "failed_steps",
        "failure",
        "fit",
        "gone",
        "groups",
        "host_ports",
        "identity",
        "labels",
        "namespace",
        "node_selector",
        "own",
        "plain",
        "pod",
        "preferences",
        "reached",
        "relaxation",
        "repeating",
        "repeats",
        "requests",
        "required_anti",
        "required_pods",
        "requirements",
        "size",
        "step",
        "steps",
        "strict",
        "volume_claims",
        "volume_problem",
        "volumes",
    )

    def __init__(self, pod: Object, preferences: Preferences) -> None:
        self.pod, self.preferences = pod, preferences
        self.namespace, self.labels = namespace_of(pod), labels_of(pod)
        self.identity = fingerprint((self.namespace, self.labels))
        self.node_selector: Mapping[str, str] = spec_of(pod).get("nodeSelector") or {}
        self.required_pods = tuple(affinity_terms(pod, "podAffinity", "required"))
        self.required_anti = tuple(affinity_terms(pod, "podAntiAffinity", "required"))
        self.repeating = any(constraint.get("matchLabelKeys") for constraint in preferences.spread)
        self.requests: ResourceList = {}
        self.amounts: tuple[tuple[str, int], ...] = ()
        self.size = (0, 0)
        self.host_ports: tuple[HostPort, ...] = ()
        self.requirements: RequirementSet
        self.strict: RequirementSet
        self.volumes: tuple[RequirementSet, ...] = ()
        self.volume_claims: dict[str, set[str]] | None = {}
        self.volume_problem = ""
        self.claims_resources = self.deferred = self.plain = False
        self.fit = -1
        self.cluster_groups: dict[tuple[str, int, int], ClusterGroup] = {}
        self._begin()

    def _begin(self) -> None:
        """Resets the results that the scheduler caches with the shape."""
        self.groups: tuple[TopologyGroup, ...] = ()
        self.anti: tuple[TopologyGroup, ...] = ()
        self.counted: tuple[int, Sequence[TopologyGroup], tuple[TopologyGroup, ...]] | None = None
        self.own: OwnGroups | None = None
        self.steps = 0
        self.gone: TopologyGroup | None = None
        self.alternatives: Alternatives | None = None
        self.before: PodShape | None = None
        self.step: Relaxation | None = None
        self.reached = False
        self.repeats = 1
        self.again: PodShape | None = None
        self.relaxation: PodShape | None = None
        self.dropped: str | None = None
        self.failed_at = -1
        self.failed_steps = 0
        self.failure: Any = None

    def fresh(self) -> PodShape:
        """A copy of the shape for another simulation, without cached results."""
        made = object.__new__(PodShape)
        for field in _OF_THE_POD:
            setattr(made, field, getattr(self, field))
        made._begin()
        made.preferences, made.deferred = self.preferences, self.deferred
        return made

    def like(self, preferences: Preferences) -> PodShape:
        """The shape of the same pod with other preferences, without cached results."""
        made = object.__new__(PodShape)
        for field in _OF_THE_POD:
            setattr(made, field, getattr(self, field))
        made._begin()
        made.preferences, made.deferred, made.repeats = preferences, False, self.repeats + 1
        before = self.preferences
        if preferences.required_nodes is not before.required_nodes or preferences.tolerations is not before.tolerations:
            made.cluster_groups = {}  # these two are part of a group
        return made


_OF_THE_POD = (
    "amounts",
    "claims_resources",
    "cluster_groups",
    "fit",
    "host_ports",
    "identity",
    "labels",
    "namespace",
    "node_selector",
    "plain",
    "pod",
    "repeating",
    "requests",
    "required_anti",
    "required_pods",
    "requirements",
    "size",
    "strict",
    "volume_claims",
    "volume_problem",
    "volumes",
)


class ShapeCatalog:
    """Makes shapes, each once.

    ``volumes_of(pod)`` gives (requirement alternatives, claims by driver, why not), the first two None when they cannot be found out.
    ``comparing``: tolerations may compare numbers.
    """

    def __init__(
        self,
        algebra: Algebra,
        preference_policy: str,
        tolerate_preferences: bool,
        volumes_of: Callable[[Object], tuple[tuple[RequirementSet, ...] | None, dict[str, set[str]] | None, str]],
        claims_in: ClaimsIn,
        *,
        comparing: bool = True,
    ) -> None:
        self._algebra = algebra
        self._ignored = preference_policy == IGNORE
        self._tolerate_preferences = tolerate_preferences
        self._volumes_of = volumes_of
        self._claims_in = claims_in
        self._comparing = comparing
        self._shapes: dict[Hashable, PodShape] = {}
        self._fits: dict[Hashable, int] = {}
        self._sizes: dict[tuple[int, int], tuple[int, int]] = {}

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
            shape = self._shapes[key] = PodShape(
                pod, Preferences.of(pod, ignored=self._ignored, comparing=self._comparing)
            )
            shape.requests = requests_for_pods((pod,))
            shape.amounts = tuple(sorted((name, quantity.nano) for name, quantity in shape.requests.items()))
            size = _size(shape.requests)
            shape.size = self._sizes.setdefault(size, size)
            shape.host_ports = host_ports(pod)
            shape.claims_resources = self._claims_in.found(pod)
            if claims:
                alternatives, shape.volume_claims, shape.volume_problem = self._volumes_of(pod)
                shape.deferred, shape.volumes = alternatives is None, alternatives or ()
            self._complete(shape)
            shape.plain = not (claims or shape.claims_resources or shape.host_ports or _chooses(shape))
        return shape

    def relaxed(self, shape: PodShape) -> PodShape | None:
        """The next weaker shape, or None."""
        if shape.relaxation is None:
            step = shape.preferences.relaxed(tolerate_preferences=self._tolerate_preferences)
            if step is None:
                return None
            weaker = shape.like(step.preferences)
            weaker.before, weaker.step = shape, step
            if step.constraint is None:  # else nodes are asked the same, topology apart
                self._complete(weaker)
            shape.relaxation, shape.dropped = weaker, step.text
        return shape.relaxation

    def next_attempt(self, shape: PodShape) -> PodShape:
        """The shape of the pod when it is tried again, where the repetition of its matchLabelKeys makes a difference."""
        if not shape.repeating:
            return shape
        if shape.again is None:
            shape.again = shape.like(shape.preferences)
            shape.again.again = shape  # even numbers of repetitions are alike, and so are odd ones
        return shape.again

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
            tuple(alternative.id for alternative in shape.volumes),
            fingerprint(preferences.tolerations),
            shape.host_ports,
            shape.amounts,
            tuple((d, tuple(sorted(c))) for d, c in sorted((shape.volume_claims or {}).items())),
            shape.volume_claims is None,
        )
        shape.fit = self._fits.setdefault(identity, len(self._fits))

    def _expressions(self, term: Object) -> list[Requirement]:
        return [
            requirement_from_api(expression, vocabulary=self._algebra.vocabulary)
            for expression in term.get("matchExpressions") or ()
        ]


def _size(requests: ResourceList) -> tuple[int, int]:
    cpu, memory = requests.get("cpu"), requests.get("memory")
    return -(cpu.nano if cpu else 0), -(memory.nano if memory else 0)


def _chooses(shape: PodShape) -> bool:
    """Return whether the pod prefers something, or has terms to choose from, or looks at where other pods are."""
    wishes = shape.preferences
    return bool(
        shape.required_pods
        or shape.required_anti
        or wishes.preferred_nodes
        or wishes.preferred_pods
        or wishes.preferred_anti
        or wishes.spread
        or len(wishes.required_nodes) > 1
    )


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
