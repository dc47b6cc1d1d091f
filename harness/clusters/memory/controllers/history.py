"""The ControllerRevisions of StatefulSets and DaemonSets as they are stored."""

from __future__ import annotations

from collections.abc import Iterable

from harness.clusters.memory.controllers.tools import Tools
from harness.engine.engine import ReconcileError
from harness.kube.api.objects import Object, name_of, namespace_of, status_of
from harness.kube.api.status import ApiError
from harness.kube.workloads.revisions import matching, new_revision, number_of, surplus

__all__ = ["History"]


class History:
    """Writes and removes the revisions of workloads."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    def revisions_of(self, owner: Object) -> list[Object]:
        """The revisions of a workload, the latest at the end."""
        return sorted(self._tools.controlled(owner, "ControllerRevision"), key=number_of)

    def present(self, owner: Object, revisions: list[Object]) -> Object:
        """The revision of the workload's present template, which is the latest from then on. Raises ReconcileError for a taken name."""
        revision = matching(owner, revisions)
        latest = number_of(revisions[-1]) if revisions else 0
        if revision is None:
            return self._new(owner, latest + 1)
        if number_of(revision) < latest:
            patch = {"revision": latest + 1}
            return self._tools.writer.patch(
                "ControllerRevision", name_of(revision), patch, namespace=namespace_of(revision)
            )
        return revision

    def _new(self, owner: Object, number: int) -> Object:
        collisions = int(status_of(owner).get("collisionCount") or 0)
        try:
            return self._tools.writer.create(new_revision(owner, number, collisions))
        except ApiError as error:
            if error.reason == "AlreadyExists":
                self._tools.set_status(owner, {"collisionCount": collisions + 1})
            raise ReconcileError(error.message) from None

    def truncate(self, owner: Object, revisions: list[Object], live: Iterable[str]) -> None:
        """Delete the revisions beyond the limit of the history."""
        for revision in surplus(owner, revisions, live):
            self._tools.delete(revision)
