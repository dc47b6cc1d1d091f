"""The heartbeats of kubelets, for a cluster whose kube-controller-manager listens to them: each renews its Node's Lease.

Source: kubernetes pkg/kubelet/kubelet.go (nodeLeaseRenewIntervalFraction), pkg/controller/nodelifecycle/node_lifecycle_controller.go.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping

from harness.engine.engine import DONE, Engine, Result, Router, Wait
from harness.engine.ports import Change, Identity, View, Writer
from harness.kube.api.objects import name_of, uid_of
from harness.kube.api.status import ApiError
from harness.nodes.registry import Machines

__all__ = ["NodeLeases"]

_EVERY = 10.0
_DURATION = 40
_NAMESPACE = "kube-node-lease"


class NodeLeases:
    """Renews Leases. A key is the name of a Node; its Lease is renewed every 10 s as long as its machine runs."""

    name = "node-leases"
    backoff = (1.0, 10.0)

    def __init__(
        self, engine: Engine, view: View, writer_for: Callable[[Identity], Writer], machines: Machines
    ) -> None:
        self._engine = engine
        self._view = view
        self._writer_for = writer_for
        self._machines = machines

    def watches(self) -> Mapping[str, Router]:
        """Watch Nodes."""
        return {"Node": self._keys}

    def _keys(self, change: Change) -> list[Hashable]:
        return [name_of(change.object)] if change.type == "ADDED" else []

    def reconcile(self, key: Hashable) -> Result:
        """Renew one Lease."""
        name = str(key)
        node = self._view.get("Node", name)
        if node is None or self._machines.of_node(name) is None:
            return DONE
        writer = self._writer_for(Identity.node(name))
        spec = {"holderIdentity": name, "leaseDurationSeconds": _DURATION, "renewTime": self._now()}
        try:
            writer.patch("Lease", name, {"spec": spec}, namespace=_NAMESPACE)
        except ApiError as error:
            if error.code != 404:
                raise
            owner = {"apiVersion": "v1", "kind": "Node", "name": name, "uid": uid_of(node)}
            writer.create(
                {
                    "apiVersion": "coordination.k8s.io/v1",
                    "kind": "Lease",
                    "metadata": {"name": name, "namespace": _NAMESPACE, "ownerReferences": [owner]},
                    "spec": spec,
                }
            )
        return Result(_EVERY, Wait.ALARM)

    def _now(self) -> str:
        """Return the time as MicroTime, as Leases have it."""
        return self._engine.clock.timestamp().removesuffix("Z") + ".000000Z"
