"""The autoscaler's events, in upstream's words: about pods and nodes, and about itself on the ConfigMap of its status.

Sources: autoscaler core/scaleup/orchestrator/executor.go, core/scaledown/actuation/*.go, processors/status/eventing_scale_up_processor.go,
clusterstate/utils/logging.go (the ConfigMap).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from harness.clusterautoscaler.nodegroups import Resize
from harness.clusterautoscaler.scaleup.orchestrator import ScaleUp
from harness.engine.clock import LONG_AGO, Clock, nanoseconds
from harness.engine.ports import Sink
from harness.kube.api.objects import Object, key_of, name_of

__all__ = ["Reports"]

_SOURCE = "cluster-autoscaler"
_REPEATED = nanoseconds(300)  # --record-duplicated-events
_MOST_SENT = 10_000
_STATUS: Object = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "cluster-autoscaler-status", "namespace": "kube-system"},
}


class Reports:
    """The events of one autoscaler."""

    def __init__(self, sink: Sink, clock: Clock) -> None:
        self._sink, self._clock = sink, clock
        self._sent: dict[tuple[Hashable, str, str], int] = {}

    def about(self, obj: Object, reason: str, message: str, *, warning: bool = False) -> None:
        """Send an event about an object, unless the same one went a short while ago."""
        now, key = self._clock.now, (key_of(obj), reason, message)
        if self._sent.get(key, LONG_AGO) + _REPEATED > now:
            return
        if len(self._sent) > _MOST_SENT:
            self._sent = {sent: at for sent, at in self._sent.items() if at + _REPEATED > now}
        self._sent[key] = now
        self._sink.event(obj, "Warning" if warning else "Normal", reason, message, source=_SOURCE, dedupe_seconds=0)

    def status(self, reason: str, message: str, *, warning: bool = False) -> None:
        """Send an event about the autoscaler's own work."""
        self.about(_STATUS, reason, message, warning=warning)

    def growing(self, resize: Resize) -> None:
        """Note that a group is about to grow."""
        group = resize.group
        bounds = f"size to {resize.size} instead of {group.target} (max: {group.maximum})"
        self.status("ScaledUpGroup", f"Scale-up: setting group {group.id} {bounds}")

    def grown(self, resize: Resize) -> None:
        """Note that a group grows."""
        group = resize.group
        bounds = f"size set to {resize.size} instead of {group.target} (max: {group.maximum})"
        self.status("ScaledUpGroup", f"Scale-up: group {group.id} {bounds}")

    def refused(self, group: str, problem: str) -> None:
        """Note that Azure refuses to let a group grow."""
        text = f"Scale-up failed for group {group}: {problem}"
        self.status("FailedToScaleUpGroup", text, warning=True)

    def scaled_up(self, scale_up: ScaleUp) -> None:
        """Tell the pods for which groups grow."""
        for pod in scale_up.triggered:
            self.about(pod, "TriggeredScaleUp", scale_up.message)

    def not_helped(self, scale_up: ScaleUp) -> None:
        """Tell the pods that no group helps why."""
        for unhelped in scale_up.unhelped:
            self.about(unhelped.pod, "NotTriggerScaleUp", unhelped.message)

    def emptying(self, node: str) -> None:
        """Note that an empty node goes."""
        self.status("ScaleDownEmpty", f'Scale-down: removing empty node "{node}"')

    def draining(self, node: str, utilization: str, pods: Sequence[Object]) -> None:
        """Note that a node goes whose pods find another place."""
        names = ",".join(map(name_of, pods))
        text = f"Scale-down: removing node {node}, utilization: {utilization}, pods to reschedule: {names}"
        self.status("ScaleDown", text)

    def removed(self, node: Object, *, drained: bool) -> None:
        """Note that a node is gone."""
        name = name_of(node)
        self.about(node, "ScaleDown", "nodes removed by cluster autoscaler")
        if drained:
            self.status("ScaleDown", f"Scale-down: node {name} removed with drain")
        else:
            self.status("ScaleDownEmpty", f"Scale-down: empty node {name} removed")

    def failed(self, node: Object, problem: str, *, drained: bool) -> None:
        """Note that a node stays after all."""
        first = "failed to drain and delete node" if drained else "failed to delete empty node"
        self.about(node, "ScaleDownFailed", f"{first}: {problem}", warning=True)
