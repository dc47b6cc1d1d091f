"""A Node whose kubelet has gone silent: when the node controller finds it, and its pods, which it marks as no longer ready.

Source: kubernetes pkg/controller/nodelifecycle/node_lifecycle_controller.go (monitorNodeHealth), pkg/controller/util/node/
controller_utils.go (MarkPodsNotReady). A kubelet that reports itself not ready marks its pods itself, if at all.
"""

from __future__ import annotations

from harness.engine.ports import Sink, View, Writer
from harness.kube.api.objects import Object, condition_is, conditions_of, name_of, namespace_of
from harness.kube.api.status import ignoring
from harness.kube.api.versions import Version

__all__ = ["grace_period", "mark_pods"]

_SOURCE = "node-controller"
_LONGER_SINCE = (1, 32)


def grace_period(version: Version) -> float:
    """Return the seconds after which a silent Node is Unknown, by default.

    Source: kubernetes pkg/controller/nodelifecycle/config/v1alpha1/defaults.go (NodeMonitorGracePeriod; 40 s before
    kubernetes/kubernetes#126287).
    """
    return 50.0 if version.reaches(_LONGER_SINCE) else 40.0


def mark_pods(node: Object, view: View, writer: Writer, sink: Sink, now: str) -> None:
    """Write that the pods of a Node are not ready, from `now` on, and publish the events about it."""
    name = name_of(node)
    text = f"Node {name} status is now: NodeNotReady"
    sink.event(node, "Normal", "NodeNotReady", text, source=_SOURCE, dedupe_seconds=0)
    for pod in view.indexed("pods-by-node", name):
        if not condition_is(pod, "Ready"):
            continue
        marked = [
            {**present, "status": "False", "lastTransitionTime": now} if present["type"] == "Ready" else present
            for present in conditions_of(pod)
        ]
        status = {"status": {"conditions": marked}}
        with ignoring(404):
            writer.patch("Pod", name_of(pod), status, namespace=namespace_of(pod), subresource="status")
            sink.event(pod, "Warning", "NodeNotReady", "Node is not ready", source=_SOURCE, dedupe_seconds=0)
