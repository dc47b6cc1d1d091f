"""How the instance types of a NodePool become few for a pod, filter after filter: counted by the very masks that decide."""

from collections.abc import Mapping
from dataclasses import dataclass

from harness.karpenter.requirements import Requirements
from harness.karpenter.scheduling.inflight import port_conflict
from harness.karpenter.scheduling.shapes import PodShape
from harness.karpenter.scheduling.templates import Template
from harness.kube.api.quantity import Quantity
from harness.kube.api.resources import ResourceList, merge

__all__ = ["Funnel", "funnel_of_nodepool", "funnel_of_pod"]


@dataclass(frozen=True, slots=True)
class Funnel:
    """``left`` of the ``types`` after each filter, as masks; a type goes with the first filter that is against it."""

    types: tuple[str, ...]
    left: tuple[tuple[str, int], ...]


def funnel_of_pod(
    template: Template,
    own: Requirements,
    together: Requirements,
    requests: ResourceList,
    limits: Mapping[str, Quantity],
    shape: PodShape,
) -> Funnel:
    """Of a pod that is the first on a new NodeClaim: ``own`` requirements of the NodePool, ``together`` with the pod's."""
    index = template.index
    mask = index.full
    for name, remaining in limits.items():
        mask &= index.within(name, remaining.nano)
    left = [("limits", mask)] if limits else []
    for name, requirements in (("NodePool", own), ("pod", together)):
        mask &= index.compatible_with_all(dict(requirements.items()))
        left.append((name, mask))
    mask &= _room(template, requests, shape)
    left.append(("resources", mask))
    mask &= index.offered(dict(together.items()))[0]
    return Funnel(_names(template), (*left, ("offerings", mask)))


def funnel_of_nodepool(template: Template, requirements: Requirements) -> Funnel:
    """Of a NodePool before any pod."""
    index, items = template.index, dict(requirements.items())
    mask = index.compatible_with_all(items)
    left = [("NodePool", mask)]
    mask &= index.zero_fits
    left.append(("resources", mask))
    return Funnel(_names(template), (*left, ("offerings", mask & index.offered(items)[0])))


def _names(template: Template) -> tuple[str, ...]:
    return tuple(each.name for each in template.index.types)


def _room(template: Template, requests: ResourceList, shape: PodShape) -> int:
    """The types on which the pod fits beside their DaemonSets."""
    index = template.index
    grouped = result = 0
    for group in template.groups:
        grouped |= group.mask
        if port_conflict(shape, group.host_ports) is None:
            mask = group.mask
            for name, quantity in merge(requests, group.overhead).items():
                mask &= index.fits(name, quantity.nano)
            result |= mask
    others = index.full & ~grouped
    for name, quantity in requests.items():
        others &= index.fits(name, quantity.nano)
    return result | others
