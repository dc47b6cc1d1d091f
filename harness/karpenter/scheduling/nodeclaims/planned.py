"""The decisions of a simulation: NodeClaims ready to be created, placements, and a reason for every pod that is left.

Core ``pkg/controllers/provisioning/scheduling/{nodeclaim,nodeclaimtemplate,scheduler}.go``.
"""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import field
from functools import cached_property
from typing import Any, NamedTuple

from harness.karpenter.cloudprovider import InstanceType
from harness.karpenter.labels.core import (
    CAPACITY_OVERLAID,
    CAPACITY_TYPE,
    MIN_VALUES_RELAXED,
    NODEPOOL_HASH,
    NODEPOOL_HASH_VERSION,
    PRICE_OVERLAID,
)
from harness.karpenter.releases.scheduling import SchedulingRules
from harness.karpenter.requirement import IN, Requirement
from harness.karpenter.requirements import Requirements
from harness.karpenter.scheduling.algebra import Algebra, RequirementSet
from harness.karpenter.scheduling.catalog import CatalogIndex
from harness.karpenter.scheduling.masks import bits
from harness.karpenter.scheduling.nodeclaims.inflight import InflightNodeClaim
from harness.karpenter.scheduling.nodeclaims.reservations import Reservations
from harness.karpenter.scheduling.nodeclaims.templates import SIMULATION_KEYS
from harness.karpenter.scheduling.reasons.instance_types import MinValuesUnmet, TruncationUnmet, smallest
from harness.karpenter.scheduling.reasons.pods import Reason
from harness.karpenter.scheduling.remembered import Memory
from harness.karpenter.scheduling.snapshot import SchedulingOptions
from harness.karpenter.validation.hashing import nodepool_hash
from harness.kube.api.labels import INSTANCE_TYPE
from harness.kube.api.objects import Object, annotations_of, copy_json, name_of, namespace_of, spec_of, uid_of
from harness.kube.api.resources import ResourceList, merge, render
from harness.kube.go.durations import parse_duration, print_duration
from lazyrecords import dataclass

_HASH_VERSION = "v3"
_TAINTS = ("taints", "startupTaints")


def pod_key(pod: Object) -> str:
    """``namespace/name``."""
    return f"{namespace_of(pod)}/{name_of(pod)}"


class PlannedNodeClaim:
    """A NodeClaim that should be created, with the pods it is for. What takes time to say is worked out when asked for.

    ``pods`` are in order of placement. ``requirements`` are those of the simulation, without the hostname. ``static``: it keeps up
    the number of nodes of its NodePool, and says nothing about instance types.
    """

    def __init__(
        self,
        inflight: InflightNodeClaim,
        algebra: Algebra,
        options: SchedulingOptions,
        rules: SchedulingRules,
        reservations: Reservations | None = None,
        static: bool = False,
    ) -> None:
        self._inflight, self._algebra, self._options, self._rules = inflight, algebra, options, rules
        self._requirements = inflight.requirements
        if reservations is not None:
            self._requirements = reservations.pinned(algebra, inflight.requirements, inflight.reserved)
        self.nodepool = inflight.template.name
        self.pods: tuple[Object, ...] = tuple(inflight.pods)
        self.mask = inflight.mask
        self._static = static
        self.remembered = Memory()
        """Results that depend on nothing but the NodeClaim, whichever pods are on it."""

    @property
    def index(self) -> CatalogIndex:
        """The instance types that ``mask`` and ``ordered`` are about."""
        return self._inflight.template.index

    @property
    def requirement_set(self) -> RequirementSet:
        """The requirements as the simulation has them."""
        return self._requirements

    @cached_property
    def ordered(self) -> tuple[int, ...]:
        """The instance types by price as Go has sorted them, equal ones as ``EqualPrices`` says."""
        inflight, prices = self._inflight, self.index.prices(self.accepted)
        types = [position for group in inflight.template.groups for position in bits(group.mask & inflight.mask)]
        self._options.equal_prices.sort(types, prices, self.index)
        return tuple(position for position in types if self.mask >> position & 1)

    def narrowed(self, types: Sequence[int], requirement: Requirement | None = None) -> "PlannedNodeClaim":
        """A copy with only these instance types, in this order, and, if given, one more requirement."""
        made: PlannedNodeClaim = object.__new__(PlannedNodeClaim)
        for name in ("_inflight", "_algebra", "_options", "_rules", "nodepool", "pods", "_requirements", "_static"):
            setattr(made, name, getattr(self, name))
        if requirement is not None:
            made._requirements = self._algebra.together(self._requirements, {requirement.key: requirement})
        made.mask = sum(1 << position for position in types)
        made.remembered = Memory()
        made.__dict__["ordered"] = tuple(types)
        return made

    def with_pods(self, pods: Sequence[Object]) -> "PlannedNodeClaim":
        """The same NodeClaim for other pods, which ask for the same."""
        made = copy(self)
        made.pods = tuple(pods)
        return made

    def unmet_min_values(self) -> MinValuesUnmet | None:
        """The keys whose ``minValues`` its instance types miss."""
        unmet = self._inflight.template.unmet_min_values(self._requirements, self.mask)
        return MinValuesUnmet(unmet, self._rules.min_values_text) if unmet else None

    def truncate(self) -> TruncationUnmet | None:
        """Keep only as many of the cheapest instance types as a NodeClaim may name. Return the reason if they miss ``minValues``."""
        if self.mask.bit_count() > self._rules.max_instance_types:
            template = self._inflight.template
            index, requirements = template.index, self._requirements
            accepted = index.offered(requirements.items)[1]
            rules = self._rules
            if rules.equal_prices_by_name:
                mask = index.cheapest_by_name(rules.max_instance_types, accepted, self.mask)
            else:
                masks = tuple(group.mask & self.mask for group in template.groups)
                mask = self._options.equal_prices.cheapest(rules.max_instance_types, accepted, masks, index)
            if requirements.has_min_values and not self._options.relaxes_min_values(rules):
                unmet = template.unmet_min_values(requirements, mask)
                if unmet:
                    cause = MinValuesUnmet(unmet, self._rules.min_values_text)
                    return TruncationUnmet(self.nodepool, cause, self._rules.plain_errors)
            self.mask = mask
        return None

    @cached_property
    def requirements(self) -> Requirements:
        return self._algebra.public(self._requirements.items)

    @cached_property
    def accepted(self) -> tuple[int, ...]:
        """The distinct offerings that its requirements accept."""
        return self._inflight.template.index.offered(self._requirements.items)[1]

    @cached_property
    def instance_types(self) -> tuple[InstanceType, ...]:
        """By the price of the cheapest available offering that the requirements accept, then by name."""
        index = self._inflight.template.index
        return tuple(index.types[i] for i in index.by_price(self.accepted, self.mask))

    @cached_property
    def cheapest_price(self) -> float:
        """USD per hour of the cheapest instance type."""
        prices = self._inflight.template.index.prices(self.accepted)
        return min(prices[i] for i in bits(self.mask))

    @cached_property
    def requests(self) -> ResourceList:
        """Return the requests of the pods, and at least those of the DaemonSets of the instance types that are left."""
        inflight = self._inflight
        least: ResourceList = {}
        for group in inflight.template.groups:
            if group.mask & inflight.mask:
                least = smallest(least, group.overhead) if least else group.overhead
        pods = [shape.requests for shape in inflight.shapes]
        return merge(*pods, least) if self._rules.daemons_by_instance_type else merge(least, *pods)

    def to_nodeclaim(self) -> dict[str, Any]:
        """The NodeClaim to create: instance types and capacity types named, custom labels resolved, owned by its NodePool."""
        template, algebra = self._inflight.template, self._algebra
        requirements = self._requirements if self._static else self._with_types_named()
        labels = dict(template.labels)
        if self._rules.resolves_custom_labels:
            labels.update(self._custom_labels(requirements))
        annotations = {
            **annotations_of(spec_of(template.nodepool).get("template") or {}),
            NODEPOOL_HASH: nodepool_hash(template.nodepool),
            NODEPOOL_HASH_VERSION: _HASH_VERSION,
        }
        if self._rules.min_values_relaxable and not self._static:
            annotations[MIN_VALUES_RELAXED] = "true" if template.min_values_relaxed else "false"
        # a NodeClaim of a static NodePool has no instance types, so none that a NodeOverlay changed
        overlaid = {PRICE_OVERLAID: self.index.price_overlaid, CAPACITY_OVERLAID: self.index.capacity_overlaid}
        annotations.update({name: "true" for name, types in overlaid.items() if types & self.mask})
        spec: dict[str, Any] = {
            name: [_taint(taint or {}) for taint in template.spec[name]] for name in _TAINTS if template.spec.get(name)
        }
        if template.spec.get("nodeClassRef") is not None:
            spec["nodeClassRef"] = copy_json(template.spec["nodeClassRef"])
        if template.spec.get("terminationGracePeriod") is not None:
            # This one passes through Go's own type and is printed as Go prints durations; expireAfter keeps its text.
            spec["terminationGracePeriod"] = print_duration(parse_duration(template.spec["terminationGracePeriod"]))
        public = {key: r for key, r in requirements.items.items() if key not in SIMULATION_KEYS}
        spec["requirements"] = algebra.public(public).node_selector_requirements()
        spec["resources"] = {"requests": render(self.requests)}
        spec["expireAfter"] = template.spec.get("expireAfter") or "Never"
        return {
            "apiVersion": "karpenter.sh/v1",
            "kind": "NodeClaim",
            "metadata": {
                "generateName": f"{template.name}-",
                "labels": labels,
                "annotations": annotations,
                "ownerReferences": [
                    {
                        "apiVersion": "karpenter.sh/v1",
                        "kind": "NodePool",
                        "name": template.name,
                        "uid": uid_of(template.nodepool),
                        "blockOwnerDeletion": True,
                    }
                ],
            },
            "spec": spec,
        }

    def _with_types_named(self) -> RequirementSet:
        algebra, requirements = self._algebra, self._requirements
        index = self._inflight.template.index
        vocabulary = algebra.vocabulary
        present = requirements.items.get(INSTANCE_TYPE)
        names = Requirement.of(
            INSTANCE_TYPE,
            IN,
            index.names(self.mask),
            present.min_values if present is not None else None,
            vocabulary=vocabulary,
        )
        requirements = algebra.together(requirements, {INSTANCE_TYPE: names})
        if not self._rules.names_capacity_types:
            return requirements
        capacity_types = {
            min(index.offering_requirements(position).get(CAPACITY_TYPE).values, default="")
            for position in index.offered(requirements.items)[1]
            if index.offering_types(position) & ~index.spent(position) & self.mask
        }
        if capacity_types:
            named = Requirement.of(CAPACITY_TYPE, IN, capacity_types, vocabulary=vocabulary)
            requirements = algebra.together(requirements, {CAPACITY_TYPE: named})
        return requirements

    def _custom_labels(self, requirements: RequirementSet) -> dict[str, str]:
        vocabulary = self._algebra.vocabulary
        skipped = vocabulary.well_known | vocabulary.restricted_labels | SIMULATION_KEYS
        labels = {}
        for key in sorted(requirements.items):
            if key not in skipped and (value := requirements.items[key].any(self._options.choose)):
                labels[key] = value
        return labels


def _taint(taint: Mapping[str, Any]) -> dict[str, Any]:
    """A taint as Go serialises it: key and effect always, the rest where it is not empty."""
    written = {"key": taint.get("key") or "", "effect": taint.get("effect") or ""}
    return written | {name: taint[name] for name in ("value", "timeAdded") if taint.get(name)}


class SchedulingEvent(NamedTuple):
    """An event that the simulation publishes; ``object`` is ``name`` or ``namespace/name``, of ``kind``.

    The same event is published once in ``dedupe_seconds``. A busy hour makes hundreds of thousands, which are compared: as tuples.
    """

    kind: str
    object: str
    type: str
    reason: str
    message: str
    dedupe_seconds: float = 60.0


@dataclass(frozen=True, slots=True)
class SchedulingResults:
    """The outcome of one simulation.

    ``nodeclaims`` are in the scheduler's final order. ``existing`` maps nodes (a NodeClaim without Node goes by its own name) to
    the pods placed on them. ``errors`` says per pod (``namespace/name``) why it is not scheduled; str() of a reason is
    Karpenter's sentence. ``ignored`` are pods that Karpenter does not consider, with the sentence. ``no_nodepools``: there was
    nothing to schedule with, so that nothing was tried. ``timed_out``: the time limit came first, so that some pods were not tried.
    ``seconds`` is the virtual time that it took. ``unlucky``: some pod was left because of how a tie was drawn, so that the same
    simulation may place it another time. ``momentary``: the same objects may come to something else in another pass, since a tie was
    drawn or do-not-disrupt protects a pod for a time.
    """

    nodeclaims: tuple[PlannedNodeClaim, ...] = ()
    existing: Mapping[str, tuple[Object, ...]] = field(default_factory=dict)
    errors: Mapping[str, Reason] = field(default_factory=dict)
    ignored: Mapping[str, str] = field(default_factory=dict)
    events: tuple[SchedulingEvent, ...] = ()
    no_nodepools: bool = False
    timed_out: bool = False
    seconds: float = 0.0
    unlucky: bool = False
    momentary: bool = False
