"""The layers that refused an object, or let it pass."""

from __future__ import annotations

from fnmatch import fnmatchcase

from harness.karpenter.validation.rejections import RejectionLayer, schema_layer
from harness.scenario.language.models.base import split_reference
from harness.scenario.running.reasons.failed_expectation import FailedExpectation

__all__ = ["failure_lines"]

_OF_POOLS = (RejectionLayer.NODEPOOL_RUNTIME, RejectionLayer.NODEPOOL_FILTER)
_LAYERS = {
    "NodePool": (RejectionLayer.CRD_CEL, *_OF_POOLS),
    "AKSNodeClass": (RejectionLayer.CRD_CEL,),
    "NodeOverlay": (RejectionLayer.CRD_CEL,),
    "NodeClaim": (RejectionLayer.NODECLAIM_CEL, RejectionLayer.LAUNCH),
    "Pod": (RejectionLayer.POD,),
}
"""The judges of objects of a kind, after the API server has judged their shape."""


def failure_lines(failure: FailedExpectation) -> list[str]:
    """Return the refusals of the object; for an accepted one, the layers that let it pass, and other refusals."""
    name = str(failure.body.object)
    of_it = failure.why.rejections(
        lambda reference: fnmatchcase(reference, name) or reference == name.replace("/", "/default/", 1)
    )
    if of_it:
        return of_it
    kind = split_reference(name)[0]
    release = failure.run.world.release.version
    if not failure.why.knows(name):
        return [f"nobody applied or made {name}"]
    layers = ", ".join(dict.fromkeys(str(layer) for layer in (schema_layer(kind), *_LAYERS.get(kind, ()))))
    taken = f"{name} was taken by each that judges it under {release}: {layers}"
    others = failure.why.rejections(lambda reference: not reference.startswith("NodeClaim/"))
    return [taken, *failure.why.made(name), *(f"instead, {line}" for line in others)]
