"""The reason why a pod has no Node, in the words of whoever stood in the way first: scheduler, admission, Azure, a controller's log."""

from __future__ import annotations

from collections.abc import Iterator

from harness.explain.pods.events import last_sentence
from harness.explain.pods.unused import unused_lines
from harness.karpenter.validation import Rejection, RejectionLayer
from harness.kube.custom_resources.admission import UNCHECKED
from harness.world import World

__all__ = ["pending_cause", "refused_nodeclaims"]


_API_SERVER = frozenset({RejectionLayer.API_SERVER, RejectionLayer.CRD_SCHEMA, RejectionLayer.NODECLAIM_CEL})


def refused_nodeclaims(world: World) -> tuple[Rejection, ...]:
    """The refusals of NodeClaims by the API server, without its remark that it stopped before its rules."""
    refused = (
        rejection
        for rejection in world.rejections
        if rejection.object.startswith("NodeClaim/") and rejection.layer in _API_SERVER
    )
    return tuple(rejection for rejection in refused if UNCHECKED not in rejection.text)


def pending_cause(world: World, pod: str, namespace: str = "default") -> str:
    """Return the reason why a pod has no Node; nothing is made up where nobody says anything."""
    return next(
        filter(None, _causes(world, pod, namespace)), "nobody says why: no event, no refusal and no line of a log"
    )


def _causes(world: World, pod: str, namespace: str) -> Iterator[str]:
    yield last_sentence(world, pod, namespace)
    for refused in refused_nodeclaims(world)[:1]:
        yield f"{refused.object} is refused: {refused.text}"
    yield from unused_lines(world)
    for failed in [rejection for rejection in world.rejections if rejection.layer == RejectionLayer.LAUNCH][-1:]:
        yield failed.text
    for call in world.refused_calls()[-1:]:
        yield f"Azure refused {call}"
    for line in reversed(world.log):
        if line.level == "error":
            yield f"{line.controller}: {line.message}" + (f", {line.values['error']}" if "error" in line.values else "")
    yield last_sentence(world, pod, namespace, source="default-scheduler")
