"""Deprecated labels that each Node has beside those that replaced them.

Kubernetes ``pkg/controller/nodelifecycle/node_lifecycle_controller.go`` (labelReconcileInfo, reconcileNodeLabels).
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from harness.engine.engine import DONE, Result, Router
from harness.engine.ports import View, Writer, key_by_name
from harness.kube.api.labels import ARCH, BETA_ARCH, BETA_OS, OS
from harness.kube.api.objects import labels_of

__all__ = ["NodeLabels"]

_SAME: Mapping[str, str] = {OS: BETA_OS, ARCH: BETA_ARCH}


class NodeLabels:
    """Gives a Node the deprecated labels of its system and architecture; a Node without the new ones is left alone."""

    name = "node-lifecycle.labels"
    backoff = (0.005, 1000.0)

    def __init__(self, view: View, writer: Writer) -> None:
        self._view = view
        self._writer = writer

    def watches(self) -> Mapping[str, Router]:
        """Watch Nodes."""
        return {"Node": key_by_name}

    def reconcile(self, key: Hashable) -> Result:
        """Write the missing labels of one node."""
        node = self._view.get("Node", str(key))
        labels = labels_of(node) if node is not None else {}
        missing = {old: labels[new] for new, old in _SAME.items() if new in labels and labels.get(old) != labels[new]}
        if missing:
            self._writer.patch("Node", str(key), {"metadata": {"labels": missing}})
        return DONE
