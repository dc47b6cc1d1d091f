"""The time at which a pod last came to a node or left it, from which consolidateAfter counts.

Source: core pkg/controllers/nodeclaim/podevents/controller.go.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping

from harness.engine.clock import SECOND, Clock, parse
from harness.engine.engine import DONE, Result, Router
from harness.engine.ports import Change, ChangeType, View, Writer, of_types
from harness.karpenter.lifecycle.names import claim_of, is_managed
from harness.kube.api.objects import Object, is_terminating, name_of, spec_of, status_of
from harness.kube.api.status import ignoring
from harness.kube.scheduling.pods import is_daemon, is_terminal

_QUIET = 10 * SECOND


class PodEvents:
    """Keeps `status.lastPodEventTime` of NodeClaims; a key is a Node's name."""

    name = "nodeclaim.podevents"
    backoff = (0.005, 1000.0)

    def __init__(self, view: View, writer: Writer, clock: Clock) -> None:
        self._view = view
        self._writer = writer
        self._clock = clock

    def watches(self) -> Mapping[str, Router]:
        """Pods that are bound, end, or are being deleted."""
        return {"Pod": self._of_pod}

    @of_types(ChangeType.ADDED, ChangeType.MODIFIED)
    def _of_pod(self, change: Change) -> Iterable[Hashable]:
        pod, old = change.object, change.old
        node = spec_of(pod).get("nodeName")
        if not node or (old is not None and not _matters(old, pod)) or is_daemon(pod):
            return ()
        return (node,)

    def reconcile(self, key: Hashable) -> Result:
        """Note the time on the NodeClaim, at most every ten seconds."""
        node = self._view.get("Node", str(key))
        claim = claim_of(self._view, node) if node is not None else None
        if claim is None or not is_managed(claim):
            return DONE
        last = status_of(claim).get("lastPodEventTime")
        if last is not None and self._clock.now - parse(last) < _QUIET:
            return DONE
        noted = {"status": {"lastPodEventTime": self._clock.timestamp()}}
        with ignoring(404):
            self._writer.patch("NodeClaim", name_of(claim), noted, subresource="status")
        return DONE


def _matters(old: Object, new: Object) -> bool:
    """Return whether the pod was bound just now, has ended, or is being deleted."""
    bound = not spec_of(old).get("nodeName")
    ended = not is_terminal(old) and is_terminal(new)
    going = not is_terminating(old) and is_terminating(new)
    return bound or ended or going
