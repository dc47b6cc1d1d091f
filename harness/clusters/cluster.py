"""The interface between a world and its cluster, and the way to one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

from harness.clusters.memory.journal import Journal
from harness.clusters.provenance import Evidence
from harness.engine.engine import Engine
from harness.engine.ids import Ids
from harness.engine.ports import Identity, Sink, View, Writer
from harness.engine.rng import Rng
from harness.karpenter.validation.admission import Crds
from harness.kube.api.objects import Key, Object
from harness.kube.workloads.loads import Curve
from harness.nodes.boot import BootPlan

__all__ = ["MEMORY", "Boot", "Cluster", "ClusterFactory", "RealMachines"]

MEMORY = "memory"
"""The name of the default cluster, which needs nothing."""

Boot = Callable[[BootPlan], None]
"""Brings up a machine whose own kubelet makes the Node. Raises harness.nodes.kubelet.FlagsRefused."""


class RealMachines(Protocol):
    """Machines with kubelets of their own, by the names of their Nodes."""

    def boot(self, plan: BootPlan) -> None:
        """Call `join`, and return when the view has the Node. Raises as `join`."""

    def join(self, plan: BootPlan) -> None:
        """Start a node whose kubelet starts as the plan says. Raises FlagsRefused, among other failures."""

    def halt(self, node: str) -> None:
        """Stop such a machine."""


class Cluster(Protocol):
    """A cluster on a world's engine: its changes reach the engine, its time is the engine's."""

    @property
    def name(self) -> str:
        """Return its name on the command line: `memory`, `kind`."""
        ...

    @property
    def view(self) -> View: ...

    @property
    def boot(self) -> Boot | None:
        """Bring up machines whose kubelets are real; None where kubelets are simulated."""
        ...

    @property
    def halt(self) -> Callable[[str], None] | None:
        """Stop a machine with a real kubelet, by the name of its Node; None where kubelets are simulated."""
        ...

    @property
    def journal(self) -> Journal:
        """Return the journal of the requested writes in this world, with their users."""
        ...

    def writer(self, identity: Identity) -> Writer:
        """A Writer in the name of this identity."""
        ...

    def provide(self, objects: Iterable[Object]) -> None:
        """Create objects that a new cluster of AKS has, where the cluster is the harness's own and lacks them."""
        ...

    def owns(self, obj: Object) -> bool:
        """Return whether kubelets and drivers of this world look after an object: on a foreign cluster only after its own."""
        ...

    def update_crds(self, crds: Crds) -> None:
        """Replace the CRDs, for later writes; stored objects stay as they are."""
        ...

    def upgrade(self, kubernetes: str) -> None:
        """Let the control plane run another version of Kubernetes. Raises LookupError where it cannot."""
        ...

    def put_load(self, workload: Key, curve: Curve) -> None:
        """Give a workload's pods this load. Raises LookupError where their usage cannot be given."""
        ...

    def evidence(self, node: str) -> Iterable[Evidence]:
        """The requests about a Node in order, as the API server saw them."""
        ...


class ClusterFactory(Protocol):
    """Makes the cluster of one world; its caller also ends it."""

    def __call__(self, engine: Engine, rng: Rng, ids: Ids, sink: Sink, *, crds: Crds, kubernetes: str) -> Cluster: ...
