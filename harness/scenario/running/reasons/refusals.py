"""Who refused an object, or let it pass."""

from __future__ import annotations

from fnmatch import fnmatchcase

from harness.karpenter.validation.rejections import RejectionLayer, schema_layer
from harness.scenario.language.models.base import split_reference
from harness.scenario.running.reasons.asked import Asked

__all__ = ["tell"]

_OF_POOLS = (RejectionLayer.NODEPOOL_RUNTIME, RejectionLayer.NODEPOOL_FILTER)
_LAYERS = {
    "NodePool": (RejectionLayer.CRD_CEL, *_OF_POOLS),
    "AKSNodeClass": (RejectionLayer.CRD_CEL,),
    "NodeOverlay": (RejectionLayer.CRD_CEL,),
    "NodeClaim": (RejectionLayer.NODECLAIM_CEL, RejectionLayer.LAUNCH),
    "Pod": (RejectionLayer.POD,),
}
"""Who judges objects of a kind, after the API server has judged their shape."""


def tell(asked: Asked) -> list[str]:
    """What was said of the object; of one that was taken, who let it pass, and what was refused instead."""
    name = str(asked.body.object)
    of_it = asked.why.rejections(lambda one: fnmatchcase(one, name) or one == name.replace("/", "/default/", 1))
    if of_it:
        return of_it
    kind = split_reference(name)[0]
    release = asked.run.world.release.version
    if not asked.why.knows(name):
        return [f"nobody applied or made {name}"]
    layers = ", ".join(dict.fromkeys(str(one) for one in (schema_layer(kind), *_LAYERS.get(kind, ()))))
    taken = f"{name} was taken by each that judges it under {release}: {layers}"
    others = asked.why.rejections(lambda one: not one.startswith("NodeClaim/"))
    return [taken, *asked.why.made(name), *(f"instead, {line}" for line in others)]
