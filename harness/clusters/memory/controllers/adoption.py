"""Adoption: a workload takes objects that it selects and nobody controls, and releases those that it does not select
any more.

Source: kubernetes pkg/controller/controller_ref_manager.go (ClaimObject).
"""

from __future__ import annotations

from harness.clusters.memory.controllers.selecting import Selecting
from harness.clusters.memory.controllers.tools import Tools
from harness.engine.ports import Change, ChangeType
from harness.kube.api.objects import (
    Object,
    controller_of,
    finalizers_of,
    finalizers_without,
    is_terminating,
    labels_of,
    name_of,
    namespace_of,
    owner_reference,
    owners_of,
    uid_of,
)
from harness.kube.api.status import ignoring
from harness.kube.scheduling.pods import is_active
from harness.kube.workloads.job_pods import FINALIZER

__all__ = ["Adoption", "may_be_claimed"]


class Adoption:
    """Adopts and releases for all kinds of workloads."""

    def __init__(self, tools: Tools, selecting: Selecting) -> None:
        self._tools = tools
        self._selecting = selecting
        self._relabelled: set[str] = set()
        """The uids of workloads one of whose dependents got other labels."""

    def suspect(self, owner: str) -> None:
        """Note that a dependent of the workload with this uid got other labels."""
        self._relabelled.add(owner)

    def claim(self, owner: Object, kind: str) -> None:
        """Bring the ownerReferences of the objects that a workload may control in step with its selector."""
        uid = uid_of(owner)
        if uid in self._relabelled:
            self._relabelled.discard(uid)
            self._release(owner, kind)
        for orphan in self._tools.orphans.orphans_of(kind, namespace_of(owner)):
            selector = self._selecting.selector(owner)
            if selector is None or not selector.matches(labels_of(orphan)) or is_terminating(orphan):
                continue
            if kind != "Pod" or is_active(orphan):
                held = {"finalizers": [*finalizers_of(orphan), FINALIZER]} if owner["kind"] == "Job" else {}
                with ignoring(404, 409):
                    self._write(orphan, {"ownerReferences": [*owners_of(orphan), owner_reference(owner)], **held})

    def _release(self, owner: Object, kind: str) -> None:
        selector = self._selecting.selector(owner)
        for owned in self._tools.controlled(owner, kind):
            if selector is not None and not selector.matches(labels_of(owned)):
                left = [reference for reference in owners_of(owned) if reference["uid"] != uid_of(owner)]
                held = finalizers_without(owned, FINALIZER)
                with ignoring(404, 409):
                    self._write(owned, {"ownerReferences": left or None, "finalizers": held})

    def _write(self, obj: Object, metadata: dict[str, object]) -> None:
        self._tools.writer.patch(obj["kind"], name_of(obj), {"metadata": metadata}, namespace=namespace_of(obj))


def may_be_claimed(change: Change) -> bool:
    """Return whether an object without a controller is new, or has other labels or owners."""
    if change.type is not ChangeType.MODIFIED or change.old is None:
        return change.type is ChangeType.ADDED
    old = change.old
    return labels_of(change.object) != labels_of(old) or controller_of(old) is not None
