"""The steps by which the instance types of a NodePool become few for a pod, filter after filter: counted by the very
masks that decide.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from harness.karpenter.cloudprovider import InstanceType
from harness.karpenter.requirement import Requirement
from harness.karpenter.requirements import Requirements
from harness.karpenter.scheduling.catalog import CatalogIndex
from harness.karpenter.scheduling.nodeclaims.inflight import port_conflict
from harness.karpenter.scheduling.nodeclaims.templates import Template
from harness.karpenter.scheduling.pods.shapes import PodShape
from harness.kube.api.quantity import Quantity
from harness.kube.api.resources import ResourceList, merge

__all__ = ["FILTERS", "Funnel", "funnel_of_nodepool", "funnel_of_pod"]

FILTERS: Mapping[str, str] = {
    "limits": "what the NodePool's limits leave",
    "volumes": "how many volumes a node can attach",
    "NodePool": "the NodePool's requirements",
    "pod": "what the pod asks for",
    "placement": "where its volumes, spread and affinity let it go",
    "host-ports": "host ports that a DaemonSet holds",
    "reserved": "more is reserved than the size has",
    "resources": "room for the pod",
    "sold-so": "what is sold in these zones with this capacity type",
    "available": "what can be had now",
}
"""Every filter in its order, and what it is about. Of these ``available`` alone is about the moment."""


@dataclass(frozen=True, slots=True)
class Funnel:
    """``left`` of the types after each filter, as masks; a type goes with the first filter that is against it.

    ``wanted`` are the requirements by which they were judged in the end.
    """

    instance_types: tuple[InstanceType, ...]
    wanted: Requirements
    left: tuple[tuple[str, int], ...]

    @property
    def types(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(instance_type.name for instance_type in self.instance_types)


def funnel_of_pod(
    template: Template,
    own: Requirements,
    together: Requirements,
    requests: ResourceList,
    limits: Mapping[str, Quantity],
    shape: PodShape,
) -> Funnel:
    """The funnel of the first pod of a new NodeClaim: ``own`` are the NodePool's requirements, ``together`` those with the pod's."""
    index = template.index
    within = index.full
    for name, remaining in limits.items():
        within &= index.within(name, remaining.nano)
    attaching = index.full
    for driver, claims in (shape.volume_claims or {}).items():
        attaching &= index.attaching(driver, len(claims))
    pools, all_items = dict(own.items()), dict(together.items())
    pods = pools if together == own else _both(pools, shape.requirements.items)
    ports, room = _room(template, requests, shape)
    steps = {
        "limits": within,
        "volumes": attaching,
        "NodePool": _if_had(index, pools),
        "pod": _if_had(index, pods),
        "placement": _if_had(index, all_items),
        "host-ports": ports,
        "reserved": index.zero_fits,
        "resources": room,
    }
    steps |= _offered(index, all_items)
    return _funnel(index, together, steps, {"NodePool", "pod", "resources", "sold-so", "available"})


def funnel_of_nodepool(template: Template, requirements: Requirements) -> Funnel:
    """The funnel of a NodePool without a pod."""
    index, items = template.index, dict(requirements.items())
    steps = {"NodePool": _if_had(index, items), "reserved": index.zero_fits, **_offered(index, items)}
    return _funnel(index, requirements, steps, {"NodePool", "sold-so", "available"})


def _funnel(index: CatalogIndex, wanted: Requirements, steps: Mapping[str, int], always: set[str]) -> Funnel:
    """The filters in their order: those that are always told, and those that take something away."""
    mask, left = index.full, []
    for name in FILTERS:
        after = mask & steps.get(name, index.full)
        if name in always or after != mask:
            left.append((name, after))
        mask = after
    return Funnel(index.types, wanted, tuple(left))


def _both(items: Mapping[str, Requirement], more: Mapping[str, Requirement]) -> dict[str, Requirement]:
    added = {
        key: items[key].intersection(requirement) if key in items else requirement for key, requirement in more.items()
    }
    return {**items, **added}


def _offered(index: CatalogIndex, items: Mapping[str, Requirement]) -> dict[str, int]:
    """Sold as wanted at all, and to be had now."""
    return {"sold-so": _sold(index, items), "available": index.compatible_with_all(items) & index.offered(items)[0]}


def _sold(index: CatalogIndex, items: Mapping[str, Requirement]) -> int:
    mask = 0
    for offering, types in index.sold:
        if index.accepts(items, offering):
            mask |= types
    return mask


def _if_had(index: CatalogIndex, items: Mapping[str, Requirement]) -> int:
    """The types that the requirements would leave if all that is sold could be had.

    What cannot be had now is missing among a type's own zones and capacity types (kaz ``instancetypes.go`` computeRequirements), so that
    requirements about these seem to contradict it.
    """
    about_offerings = index.sold_keys
    offered = {key: requirement for key, requirement in items.items() if key in about_offerings}
    rest = {key: requirement for key, requirement in items.items() if key not in about_offerings}
    return index.compatible_with_all(rest) & (index.compatible_with_all(offered) | _sold(index, offered))


def _room(template: Template, requests: ResourceList, shape: PodShape) -> tuple[int, int]:
    """The types on which no DaemonSet holds a port of the pod, and those on which it fits beside their DaemonSets."""
    index = template.index
    grouped = ports = room = 0
    for group in template.groups:
        grouped |= group.mask
        if port_conflict(shape, group.host_ports) is None:
            ports |= group.mask
        mask = group.mask
        for name, quantity in merge(requests, group.overhead).items():
            mask &= index.fits(name, quantity.nano)
        room |= mask
    others = index.full & ~grouped
    ports |= others
    for name, quantity in requests.items():
        others &= index.fits(name, quantity.nano)
    return ports, room | others
