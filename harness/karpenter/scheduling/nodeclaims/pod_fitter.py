"""Pods that join a NodeClaim in the making, and the requirements and instance types that are left then.

Core ``pkg/controllers/provisioning/scheduling/nodeclaim.go``.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from harness.karpenter.releases.scheduling import SchedulingRules
from harness.karpenter.requirement import Requirement
from harness.karpenter.requirements import Conflicts, KeyConflict
from harness.karpenter.scheduling.algebra import Algebra, RequirementSet
from harness.karpenter.scheduling.nodeclaims.inflight import Fit, InflightNodeClaim, port_conflict
from harness.karpenter.scheduling.nodeclaims.reservations import Reservations
from harness.karpenter.scheduling.nodeclaims.templates import DaemonGroup, Template
from harness.karpenter.scheduling.pods.shapes import PodShape
from harness.karpenter.scheduling.reasons.instance_types import MinValuesUnmet, NoInstanceType, largest, smallest
from harness.karpenter.scheduling.reasons.pods import (
    Reason,
    RequirementsIncompatible,
    ReservationsTaken,
    TaintsNotTolerated,
    VolumeLimitExceeded,
)
from harness.karpenter.scheduling.topology.topology import Topology
from harness.kube.api.labels import HOSTNAME
from harness.kube.api.objects import Object
from harness.kube.api.resources import ResourceList
from harness.kube.scheduling.pods import HostPort
from harness.kube.scheduling.taints import untolerated

__all__ = ["PodFitter"]


class PodFitter:
    """Tries pods on NodeClaims. Nothing here changes a NodeClaim but :meth:`join`."""

    def __init__(
        self, algebra: Algebra, topology: Topology, rules: SchedulingRules, reservations: Reservations | None
    ) -> None:
        self._algebra, self._topology, self._rules = algebra, topology, rules
        self._reservations = reservations
        self._types: dict[tuple[int, int], int] = {}
        self._hostless: dict[int, RequirementSet] = {}
        self._tolerated: dict[tuple[int, int], bool] = {}

    def permanent(self, nodeclaim: InflightNodeClaim, shape: PodShape) -> Fit | None:
        """The fit without regard to topology. Once it is None it stays None, since NodeClaims only narrow; but see :meth:`lacks_key`."""
        base = self._base(nodeclaim, shape)
        if base is None:
            return None
        for volumes in shape.volumes or (None,):
            here = base if volumes is None else self._meet(base, nodeclaim.host, volumes)
            if here is not None and (mask := self._mask(nodeclaim, shape, here)):
                fit = self._reserving(nodeclaim, here, mask)
                if isinstance(fit, Fit):
                    return fit
        return None

    def lacks_key(self, nodeclaim: InflightNodeClaim, shape: PodShape) -> bool:
        """Return whether the pod asks for a key that the NodeClaim does not have yet; another pod can still bring it along."""
        here, well_known = nodeclaim.requirements.items, self._algebra.well_known
        return any(
            key not in here and key not in well_known and key != HOSTNAME and not requirement.tolerates_absence
            for requirements in (shape.requirements, *shape.volumes)
            for key, requirement in requirements.items.items()
        )

    def fit(self, nodeclaim: InflightNodeClaim, shape: PodShape) -> Fit | None:
        """The fit, with the pod's topology constraints."""
        base = self._base(nodeclaim, shape)
        if base is None:
            return None
        for volumes in shape.volumes or (None,):
            here = base if volumes is None else self._meet(base, nodeclaim.host, volumes)
            if here is None:
                continue
            narrowed = self._topology.narrow(shape, here, nodeclaim.host)
            if isinstance(narrowed, RequirementSet) and (mask := self._mask(nodeclaim, shape, narrowed)):
                fit = self._reserving(nodeclaim, narrowed, mask)
                if isinstance(fit, Fit):
                    return fit
        return None

    def _reserving(self, nodeclaim: InflightNodeClaim, requirements: RequirementSet, mask: int) -> Fit | Reason:
        """The fit with the reservations that the NodeClaim would hold."""
        if self._reservations is None:
            return Fit(requirements, mask)
        (host,) = nodeclaim.host.values
        wanted = self._reservations.wanted(host, nodeclaim.reserved, nodeclaim.template.index, requirements, mask)
        return wanted if isinstance(wanted, ReservationsTaken) else Fit(requirements, mask, wanted)

    def _base(self, nodeclaim: InflightNodeClaim, shape: PodShape) -> RequirementSet | None:
        if nodeclaim.template.taints:
            key = (id(nodeclaim.template), id(shape))
            tolerated = self._tolerated.get(key)
            if tolerated is None:
                tolerated = not untolerated(nodeclaim.template.taints, shape.preferences.tolerations)
                self._tolerated[key] = tolerated
            if not tolerated:
                return None
        asks_ports = shape.host_ports and not self._rules.daemons_by_instance_type
        if asks_ports and port_conflict(shape, self._bound(nodeclaim)) is not None:
            return None
        return self._meet(nodeclaim.requirements, nodeclaim.host, shape.requirements)

    def _bound(self, nodeclaim: InflightNodeClaim) -> Iterable[HostPort]:
        """Host ports that count where DaemonSets are the same on all instance types."""
        ours = nodeclaim.template.shared_ports if self._rules.host_ports_shared else nodeclaim.host_ports
        return (*nodeclaim.template.groups[0].host_ports, *ours)

    def _meet(self, here: RequirementSet, host: Requirement, incoming: RequirementSet) -> RequirementSet | None:
        on_host = incoming.items.get(HOSTNAME)
        if on_host is not None:
            if not host.has_intersection(on_host):
                return None
            incoming = self._without_host(incoming)
        return self._algebra.met(here, incoming)

    def _without_host(self, requirements: RequirementSet) -> RequirementSet:
        hostless = self._hostless.get(requirements.id)
        if hostless is None:
            hostless = self._algebra.set_of(r for k, r in requirements.items.items() if k != HOSTNAME)
            self._hostless[requirements.id] = hostless
        return hostless

    def _mask(self, nodeclaim: InflightNodeClaim, shape: PodShape, requirements: RequirementSet) -> int:
        template = nodeclaim.template
        mask = self._attaching(nodeclaim, shape)
        if requirements is not nodeclaim.requirements:
            mask &= self.types_for(template, requirements)
        if not mask:
            return 0
        index, amounts = template.index, nodeclaim.amounts
        groups = template.groups
        if len(groups) == 1 and not groups[0].amounts and not shape.host_ports:
            for name, amount in shape.amounts:
                mask &= index.fits(name, amount + amounts.get(name, 0))
        else:
            mask = self._mask_by_group(nodeclaim, shape, mask)
        if requirements.has_min_values and mask and template.unmet_min_values(requirements, mask):
            return 0
        return mask

    def _attaching(self, nodeclaim: InflightNodeClaim, shape: PodShape) -> int:
        """The NodeClaim's types whose nodes can attach the pod's volumes beside those of its pods."""
        mask = nodeclaim.mask
        if self._rules.attach_limits and shape.volume_claims:
            for driver, claims in _together(nodeclaim.volumes, shape.volume_claims).items():
                mask &= nodeclaim.template.index.attaching(driver, len(claims))
        return mask

    def _mask_by_group(self, nodeclaim: InflightNodeClaim, shape: PodShape, mask: int) -> int:
        result = 0
        for group in nodeclaim.template.groups:
            if mask & group.mask and self._ports_free(nodeclaim, group, shape):
                result |= mask & group.mask & self._room(nodeclaim, group, shape)
        return result

    def _ports_free(self, nodeclaim: InflightNodeClaim, group: DaemonGroup, shape: PodShape) -> bool:
        if not self._rules.daemons_by_instance_type:
            return True  # asked before
        return not shape.host_ports or port_conflict(shape, (*group.host_ports, *nodeclaim.host_ports)) is None

    def _room(self, nodeclaim: InflightNodeClaim, group: DaemonGroup, shape: PodShape) -> int:
        index = nodeclaim.template.index
        mask = index.full
        totals = dict(group.amounts)
        for name, amount in nodeclaim.amounts.items():
            totals[name] = totals.get(name, 0) + amount
        for name, amount in shape.amounts:
            totals[name] = totals.get(name, 0) + amount
        for name, amount in totals.items():
            mask &= index.fits(name, amount)
        return mask

    def types_for(self, template: Template, requirements: RequirementSet) -> int:
        """The template's types that neither contradict the requirements nor lack an available offering for them."""
        key = (id(template), requirements.id)
        mask = self._types.get(key)
        if mask is None:
            items = requirements.items
            mask = template.index.compatible_with_all(items) & template.index.offered(items)[0]
            self._types[key] = mask
        return mask

    # new NodeClaims: the same questions, with the reason for a no

    def start(self, nodeclaim: InflightNodeClaim, shape: PodShape, relax_min_values: bool) -> Fit | Reason:
        """The fit of the first pod of a NodeClaim, or why it has none. ``relax_min_values`` lowers minValues that cannot be met."""
        template = nodeclaim.template
        taints = untolerated(template.taints, shape.preferences.tolerations)
        if taints:
            return TaintsNotTolerated(taints, self._rules.plain_errors)
        attaching = self._attaching(nodeclaim, shape)
        if not attaching:
            return self._not_attachable(nodeclaim, shape)
        nodeclaim.mask = attaching
        asks_ports = shape.host_ports and not self._rules.daemons_by_instance_type
        if asks_ports and (conflict := port_conflict(shape, self._bound(nodeclaim))) is not None:
            return replace(conflict, plain=self._rules.plain_errors)
        base = self._meet(nodeclaim.requirements, nodeclaim.host, shape.requirements)
        if base is None:
            return self._incompatible(
                "incompatible requirements", nodeclaim, nodeclaim.requirements, shape.requirements
            )
        reason: Reason | None = None
        for volumes in shape.volumes or (None,):
            here = base if volumes is None else self._meet(base, nodeclaim.host, volumes)
            if here is None:
                assert volumes is not None
                reason = self._incompatible("incompatible volume requirements", nodeclaim, base, volumes)
                continue
            narrowed = self._topology.narrow(shape, here, nodeclaim.host, new=True)
            if not isinstance(narrowed, RequirementSet):
                reason = narrowed
                continue
            fit = self._start_with(nodeclaim, shape, narrowed, relax_min_values)
            if isinstance(fit, Fit):
                return fit
            reason = fit
        assert reason is not None
        return reason

    def _not_attachable(self, nodeclaim: InflightNodeClaim, shape: PodShape) -> VolumeLimitExceeded:
        """The driver of which every type takes fewer volumes; none where one driver's types are not the other's."""
        index = nodeclaim.template.index
        for driver, claims in (shape.volume_claims or {}).items():
            if not index.attaching(driver, len(claims)) & nodeclaim.mask:
                most = index.most_attached(driver, nodeclaim.mask)
                return VolumeLimitExceeded(driver, len(claims), most, new=True)
        return VolumeLimitExceeded("", 0, 0, new=True)

    def _incompatible(
        self, subject: str, nodeclaim: InflightNodeClaim, here: RequirementSet, incoming: RequirementSet
    ) -> RequirementsIncompatible:
        full = {**here.items, HOSTNAME: nodeclaim.host}
        conflict = self._algebra.conflict(full, incoming.items)
        return RequirementsIncompatible(
            subject, conflict or Conflicts((KeyConflict(HOSTNAME, nodeclaim.host, nodeclaim.host),))
        )

    def _start_with(
        self, nodeclaim: InflightNodeClaim, shape: PodShape, requirements: RequirementSet, relax_min_values: bool
    ) -> Fit | Reason:
        template = nodeclaim.template
        nodeclaim.judged = requirements
        mask = nodeclaim.mask & self.types_for(template, requirements)
        if mask:
            mask = self._mask_by_group(nodeclaim, shape, mask)
        unmet = template.unmet_min_values(requirements, mask)
        if unmet and relax_min_values:
            lowered = {
                key: Requirement(r.key, r.complement, r.values, r.gte, r.lte, unmet[key], r.exclusive)
                for key, r in requirements.items.items()
                if key in unmet
            }
            nodeclaim.min_values_relaxed = True
            return self._reserving(nodeclaim, self._algebra.set_of({**requirements.items, **lowered}.values()), mask)
        if mask and not unmet:
            return self._reserving(nodeclaim, requirements, mask)
        return self._no_instance_type(
            nodeclaim, shape, requirements, MinValuesUnmet(unmet, self._rules.min_values_text) if unmet else None
        )

    def _no_instance_type(
        self,
        nodeclaim: InflightNodeClaim,
        shape: PodShape,
        requirements: RequirementSet,
        min_values: MinValuesUnmet | None,
    ) -> NoInstanceType:
        template = nodeclaim.template
        index, items = template.index, requirements.items
        compatible, offered = index.compatible_with_all(items), index.offered(items)[0]
        met = [False] * 6
        daemons: tuple[ResourceList, ResourceList] = ({}, {})
        for group in template.groups:
            if not self._ports_free(nodeclaim, group, shape):
                continue
            if group.overhead:
                least, most = daemons
                daemons = (
                    (smallest(least, group.overhead), largest(most, group.overhead))
                    if most
                    else (group.overhead, group.overhead)
                )
            types = nodeclaim.mask & group.mask
            room = self._room(nodeclaim, group, shape) & index.zero_fits & types
            if self._rules.fits_needs_offering:
                room &= offered
            fine, sold = compatible & types, offered & types
            for position, mask in enumerate(
                (fine, room, sold, fine & room & ~sold, fine & sold & ~room, room & sold & ~fine)
            ):
                met[position] = met[position] or bool(mask)
        return NoInstanceType(
            met[0],
            met[1],
            met[2],
            met[3],
            met[4],
            met[5],
            str(self._algebra.public(items)),
            shape.requests,
            daemons,
            min_values,
        )

    def join(self, nodeclaim: InflightNodeClaim, shape: PodShape, pod: Object, fit: Fit) -> None:
        """Put the pod on the NodeClaim."""
        nodeclaim.pods.append(pod)
        nodeclaim.shapes.append(shape)
        nodeclaim.requirements, nodeclaim.mask = fit.requirements, fit.mask
        nodeclaim.version += 1
        amounts = nodeclaim.amounts
        for name, amount in shape.amounts:
            amounts[name] = amounts.get(name, 0) + amount
        nodeclaim.host_ports.extend(shape.host_ports)
        if shape.volume_claims:
            nodeclaim.volumes = _together(nodeclaim.volumes, shape.volume_claims)
        nodeclaim.template.shared_ports.extend(shape.host_ports)
        host = next(iter(nodeclaim.host.values))
        if self._reservations is not None:
            self._reservations.reserve(host, fit.reserved)
            self._reservations.release(host, nodeclaim.reserved - fit.reserved)
            nodeclaim.reserved = fit.reserved
        if not self._rules.hosts_registered_first:
            self._topology.register_host(host)
        self._topology.record(shape, nodeclaim.template.taints, fit.requirements, nodeclaim.host, nodeclaim.bit)


def _together(held: Mapping[str, set[str]], more: Mapping[str, set[str]]) -> dict[str, set[str]]:
    return {driver: held.get(driver, set()) | more.get(driver, set()) for driver in {**held, **more}}
