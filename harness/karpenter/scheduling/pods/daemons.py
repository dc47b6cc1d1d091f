"""The pods by which Karpenter knows what DaemonSets ask for: it looks when a DaemonSet comes, and once a minute from then on.

Until it has seen a pod it takes the template, without what admission adds; a pod that is gone speaks for its DaemonSet until another is
seen.

Core ``pkg/controllers/state/informer/daemonset.go`` (Reconcile, Register), ``pkg/controllers/state/cluster.go`` (UpdateDaemonSet).
"""

from __future__ import annotations

from collections.abc import Mapping

from harness.engine.clock import SECOND, Clock
from harness.engine.ports import Change, ChangeType
from harness.karpenter.scheduling.nodeclaims.templates import newest_daemon_pods
from harness.kube.api.objects import Object, controller_of, name_of, namespace_of, uid_of

__all__ = ["DaemonPods"]

_EVERY = 60 * SECOND

_Key = tuple[str, str]
"""Namespace and uid of a DaemonSet."""


class DaemonPods:
    """The pod of each DaemonSet at Karpenter's last look. It has to `hear` every change of DaemonSets and pods.

    No timer wakes it: it looks late, at the pods as they were at the moment of the look.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._began: dict[_Key, int] = {}
        self._looked: dict[_Key, int] = {}
        self._present: dict[_Key, dict[str, Object]] = {}
        self._known: dict[_Key, Object] = {}
        self._seen = 0

    def hear(self, change: Change) -> None:
        """Take notice of a change; of a pod after the looks that were due before it."""
        obj, gone = change.object, change.type is ChangeType.DELETED
        if obj["kind"] == "DaemonSet":
            key = namespace_of(obj), uid_of(obj)
            if gone:
                for table in (self._began, self._looked, self._known):
                    table.pop(key, None)
            elif key not in self._began:
                self._began[key] = self._clock.now
            return
        owner = controller_of(obj)
        if owner is None or owner.get("kind") != "DaemonSet":
            return
        key = namespace_of(obj), str(owner.get("uid"))
        self._look(key)
        present = self._present.setdefault(key, {})
        if not gone:
            present[name_of(obj)] = obj
        else:
            present.pop(name_of(obj), None)
            if not present:
                del self._present[key]

    def known(self) -> Mapping[_Key, Object]:
        """Return the pod of each DaemonSet that Karpenter has seen, by namespace and uid of the DaemonSet."""
        self.edition()
        return dict(self._known)

    def edition(self) -> int:
        """Return a number that is another one when a look has brought other pods."""
        for key in self._began:
            self._look(key)
        return self._seen

    def look(self) -> None:
        """Look at all DaemonSets now, as a Karpenter that has run for long."""
        for key in self._began:
            self._see(key, self._clock.now)

    def _look(self, key: _Key) -> None:
        began, now = self._began.get(key), self._clock.now
        if began is not None:
            due = began + (now - began) // _EVERY * _EVERY
            if self._looked.get(key, -1) < due:
                self._see(key, due)

    def _see(self, key: _Key, moment: int) -> None:
        self._looked[key] = moment
        newest = newest_daemon_pods(self._present.get(key, {}).values()).get(key)
        if newest is not None and newest is not self._known.get(key):
            self._known[key] = newest
            self._seen += 1
