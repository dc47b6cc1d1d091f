"""One NodePool alone in a world: which sizes it allows, and the Node of a pod that asks for nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.clusters.provenance import Write
from harness.explain.labels.probes import default_objects, plain_pod
from harness.explain.pods.causes import pending_cause, refused_nodeclaims
from harness.explain.sizes.filters import filter_text
from harness.explain.sizes.fit import Misfit, asked_by, within
from harness.karpenter.cloudprovider import DroppedSize
from harness.karpenter.instancetypes.build import InstanceTypeList, NoInstanceTypes
from harness.karpenter.instancetypes.computed import architecture_of
from harness.karpenter.labels.core import CAPACITY_TYPE
from harness.karpenter.requirements import Requirements
from harness.karpenter.validation import Rejection
from harness.kube.api.labels import INSTANCE_TYPE, ZONE
from harness.world import World

__all__ = ["Trial", "trial"]

Object = Mapping[str, Any]
_POD = "probe"


@dataclass(frozen=True, slots=True)
class Trial:
    """The result of a trial. ``rejections`` are refusals of the objects themselves; without a Node, ``sentence`` is Karpenter's."""

    rejections: tuple[Rejection, ...]
    nodeclaim_rejections: tuple[Rejection, ...] = ()
    node: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    writes: Mapping[str, tuple[Write, ...]] = field(default_factory=dict)
    price: float = 0.0
    sentence: str = ""
    allowed: frozenset[str] = frozenset()
    asked: Requirements | None = None
    sizes: InstanceTypeList = field(default_factory=lambda: InstanceTypeList((), ()))
    sold: frozenset[str] = frozenset()

    @property
    def size(self) -> str:
        """The Node's size."""
        return self.labels.get(INSTANCE_TYPE, "")

    @property
    def zone(self) -> str:
        """The Node's zone label."""
        return self.labels.get(ZONE, "")

    @property
    def capacity_type(self) -> str:
        """The Node's capacity type."""
        return self.labels.get(CAPACITY_TYPE, "")

    @property
    def architectures(self) -> frozenset[str]:
        """Return the architectures of the sizes that the NodePool allows."""
        return frozenset(architecture_of(item) for item in self.sizes.types if item.name in self.allowed)

    def writer(self, key: str) -> str:
        """Return the last writer of the label, and its source: ``written by kubelet from base``."""
        changes = [write for write in self.writes.get(key, ()) if str(write.kind) in ("set", "overwrote")]
        if not changes:
            return "writer unknown"
        last = changes[-1]
        return f"written by {last.by} from {last.from_}" if last.from_ else f"written by {last.by}"

    def why_not(self, size: str) -> str:
        """Return the reason why the NodePool does not allow a size here."""
        instance_type = self.sizes.get(size)
        if instance_type is None:
            return "not in the region's list"
        if isinstance(instance_type, DroppedSize):
            return f"dropped by {filter_text(instance_type.filter)}"
        conflict = instance_type.requirements.intersects(self.asked) if self.asked is not None else None
        if conflict is not None:
            return str(conflict).replace(size, "SIZE")
        return "no offering that the NodePool wants"


def trial(
    world: World,
    pool: Object,
    nodeclasses: Sequence[Object],
    upgrade: Callable[[World], None] | None = None,
    selector: Mapping[str, str] | None = None,
) -> Trial:
    """Stores the objects, does `upgrade`, and brings a pod that tolerates everything and, with `selector`, asks for labels."""
    default_class, _ = default_objects()
    rejections = tuple(world.apply(*(nodeclasses or (default_class,)), pool))
    if rejections:
        return Trial(rejections)
    world.settle(allow_rejections=True)
    if upgrade is not None:
        upgrade(world)
    allowed, requirements, sizes = _allowed(world, str(pool["metadata"]["name"]))
    pod = dict(plain_pod(selector))
    pod["spec"] = {**pod["spec"], "tolerations": [{"operator": "Exists"}]}
    world.apply(pod)
    settled = world.settle(allow_rejections=True)
    refused = refused_nodeclaims(world)
    name = ((world.get("Pod", _POD) or {}).get("spec") or {}).get("nodeName")
    node = world.get("Node", name) if name else None
    if node is None or name is None:
        sentence = str(settled.runaway) if settled.runaway is not None else pending_cause(world, _POD)
        return Trial((), refused, sentence=sentence, allowed=allowed, asked=requirements, sizes=sizes)
    labels = node["metadata"].get("labels") or {}
    return Trial(
        (), refused, name, labels, world.writes(name), world.cost(), allowed=allowed, asked=requirements, sizes=sizes
    )


def _allowed(world: World, name: str) -> tuple[frozenset[str], Requirements, InstanceTypeList]:
    """The sizes that meet the NodePool's requirements and have an offering for it."""
    pool = world.get("NodePool", name) or {}
    vocabulary = world.release.vocabulary
    requirements = asked_by(pool, vocabulary)
    reference = pool["spec"]["template"]["spec"]["nodeClassRef"]
    nodeclass = world.get("AKSNodeClass", reference["name"])
    if nodeclass is None:
        return frozenset(), requirements, InstanceTypeList((), ())
    try:
        sizes = world.instance_types.list(nodeclass)
    except NoInstanceTypes:
        return frozenset(), requirements, InstanceTypeList((), ())
    fitting = (
        instance_type
        for instance_type in sizes.types
        if not isinstance(within(pool, instance_type.requirements, vocabulary), Misfit)
    )
    allowed = (
        instance_type.name
        for instance_type in fitting
        if any(offer.available for offer in instance_type.compatible_offerings(requirements))
    )
    return frozenset(allowed), requirements, sizes
