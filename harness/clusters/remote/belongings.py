"""The objects of a run of `harness attach` on the cluster, and their removal without touching anything else.

Finalizers are never taken away: their setters, Karpenter above all, have to finish first. A NodePool is deleted in the
foreground, as upstream's own end-to-end tests do (kaz test/pkg/environment/common/setup.go, CleanupObjects), so that it
shows whose its NodeClaims are until the last of them has gone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from harness.clusters.client.connection import Connection
from harness.clusters.client.paths import path_of
from harness.clusters.client.writer import RestWriter
from harness.clusters.remote.own_writer import OwnWriter, read_with
from harness.clusters.remote.ownership import RUN, Ownership, reference_of, run_of
from harness.clusters.remote.tenants import tenants
from harness.clusters.waiting import Patience
from harness.engine.ports import ADMIN, Identity
from harness.kube.api.kinds import KINDS, place_of
from harness.kube.api.objects import (
    Object,
    finalizers_of,
    is_terminating,
    metadata_of,
    name_of,
    namespace_of,
    spec_of,
    uid_of,
)
from harness.kube.api.status import ApiError, ignoring

__all__ = ["Belongings", "Leftover"]

_FAMILIES = (
    *("Deployment", "StatefulSet", "DaemonSet", "Job", "ReplicaSet", "ReplicationController"),
    *("Pod", "PersistentVolumeClaim"),
    *("NodePool", "NodeClaim", "Node"),
)
"""Kinds whose objects own others, or are owned: these belong to the run without a label of it. Owners come first."""

_AFTER_CLAIMS = frozenset({"AKSNodeClass", "Node", "Lease", "ServiceAccount"})
"""Kinds that Karpenter needs until its last NodeClaim has gone."""

_FIRST = (
    *("Deployment", "StatefulSet", "DaemonSet", "Job", "ReplicaSet", "ReplicationController"),
    *("PodDisruptionBudget", "Pod", "NodePool"),
)
"""Kinds that are deleted before others, in this order: makers before the objects that they make."""
_LAST = ("Node", "PriorityClass", "RuntimeClass", "StorageClass", "Namespace")

_KARPENTER = "karpenter"
_WORK_OF_THE_CLUSTER = re.compile(r"karpenter|^(foregroundDeletion|orphan)$|^kubernetes(\.io)?(/|$)|\.kubernetes\.io/")
"""Finalizers that Karpenter, the garbage collector and other controllers of the cluster take away in time."""


@dataclass(frozen=True)
class Leftover:
    """An object of the run that is still there, and why, where that can be seen."""

    reference: str
    reason: str = ""
    finalizers: tuple[str, ...] = ()
    guests: bool = False
    """Whether it is a namespace with objects of others."""

    @property
    def awaits_karpenter(self) -> bool:
        """Return whether it waits for a finalizer of Karpenter's."""
        return any(_KARPENTER in finalizer for finalizer in self.finalizers)

    @property
    def awaits_others(self) -> bool:
        """Return whether it waits for somebody other than Karpenter and the cluster's own controllers."""
        return self.guests or any(not _WORK_OF_THE_CLUSTER.search(finalizer) for finalizer in self.finalizers)

    def __str__(self) -> str:
        return f"{self.reference} ({self.reason})" if self.reason else self.reference


class Belongings:
    """The objects of a run, read from the API server each time."""

    def __init__(self, connection: Connection, ownership: Ownership) -> None:
        self._connection = connection
        self._ownership = ownership
        self._read = read_with(connection)
        self._writer = OwnWriter(RestWriter(connection, ADMIN, foreground=("NodePool",)), connection, ownership)

    def present(self) -> list[Object]:
        """Return all objects of the run, in the order of their removal. Raises ApiError, ClusterLost."""
        listed = [obj for kind in KINDS if kind not in _FAMILIES for obj in self._listed(kind, self._ownership.run)]
        families = [obj for kind in _FAMILIES for obj in self._listed(kind)]
        by_name = {(obj["kind"], name_of(obj), namespace_of(obj)): obj for obj in families}

        def read(kind: str, name: str, namespace: str) -> Object | None:
            return by_name.get((kind, name, namespace))

        return sorted((obj for obj in (*listed, *families) if self._ownership.owns(obj, read)), key=_rank)

    def clashes(self, objects: Sequence[Object]) -> list[str]:
        """Return the objects that are on the cluster already, with the run that made them where one did."""
        clashing = []
        for obj in objects:
            kind = str(obj["kind"])
            present = self._read(kind, name_of(obj), place_of(kind, namespace_of(obj))) if name_of(obj) else None
            if present is not None:
                run = run_of(present)
                clashing.append(f"{reference_of(present)} (of run {run})" if run else reference_of(present))
        return list(dict.fromkeys(clashing))

    def remove(self, pause: Callable[[], None], *, seconds: float, idle: float | None = None) -> list[Leftover]:
        """Delete all of them and wait until they have gone, `seconds` at most. Return the leftovers.

        `pause` lets some time pass. `idle`: the seconds after which leftovers that stay as they are are not waited for
        any longer; objects that wait for others than Karpenter and the cluster are not waited for at all.
        """
        patience = Patience(seconds)
        quiet, state = Patience(idle or seconds), ""
        while True:
            left = self.present()
            if not left or patience.passed or quiet.passed:
                return [self._leftover(obj) for obj in left]
            for obj in left:
                self._delete(obj, left)
            now = str([(uid_of(obj), metadata_of(obj).get("resourceVersion")) for obj in left])
            if now != state:
                quiet, state = Patience(idle or seconds), now
            elif all(
                self._leftover(obj).awaits_others for obj in left if is_terminating(obj) or self._is_free(obj, left)
            ):
                quiet = Patience(0.0)
            pause()

    def left(self) -> list[Leftover]:
        """Return the present leftovers."""
        return [self._leftover(obj) for obj in self.present()]

    def _listed(self, kind: str, run: str = "") -> list[Object]:
        query = {"labelSelector": f"{RUN}={run}"} if run else None
        try:
            items = self._connection.request("GET", path_of(KINDS[kind]), query=query).get("items") or ()
        except ApiError as error:
            hidden = error.code == 403 and not KINDS[kind].decides  # whoever may not read them has made none
            if error.code != 404 and not hidden:  # 404: a kind that this cluster does not serve
                raise
            return []
        return [{"kind": kind, "apiVersion": KINDS[kind].api_version, **obj} for obj in items]

    def _delete(self, obj: Object, left: Sequence[Object]) -> None:
        node = spec_of(obj).get("nodeName") if obj["kind"] == "Pod" else None
        grace, writer = None, self._writer
        if node and any(other["kind"] == "Node" and name_of(other) == node for other in left):
            # nothing runs there, so there is no end to wait for, and maybe no kubelet any more that reports one
            grace, writer = (
                0,
                OwnWriter(RestWriter(self._connection, Identity.node(node)), self._connection, self._ownership),
            )
        if grace == 0 or self._may_go(obj, left):
            with ignoring(404, 409):
                writer.delete(
                    obj["kind"],
                    name_of(obj),
                    namespace=namespace_of(obj),
                    uid=uid_of(obj),
                    grace_period_seconds=grace,
                )

    def _may_go(self, obj: Object, left: Sequence[Object]) -> bool:
        if is_terminating(obj) or not self._is_free(obj, left):
            return False
        return obj["kind"] != "Namespace" or not tenants(self._connection, name_of(obj), self._ownership)

    @staticmethod
    def _is_free(obj: Object, left: Sequence[Object]) -> bool:
        """Return whether no object of the run has to go before it."""
        if obj["kind"] in _AFTER_CLAIMS:
            return not any(other["kind"] == "NodeClaim" for other in left)
        return obj["kind"] != "Namespace" or not any(namespace_of(other) == name_of(obj) for other in left)

    def _leftover(self, obj: Object) -> Leftover:
        finalizers = tuple(finalizers_of(obj))
        if is_terminating(obj):
            reason = f"waits for {', '.join(finalizers)}" if finalizers else "is being deleted"
            return Leftover(reference_of(obj), reason, finalizers)
        others = tenants(self._connection, name_of(obj), self._ownership) if obj["kind"] == "Namespace" else []
        reason = f"others have {', '.join(others)} there" if others else ""
        return Leftover(reference_of(obj), reason, guests=bool(others))


def _rank(obj: Object) -> int:
    kind = obj["kind"]
    if kind in _FIRST:
        return _FIRST.index(kind)
    return len(_FIRST) + (1 + _LAST.index(kind) if kind in _LAST else 0)
