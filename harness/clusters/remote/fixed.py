"""Changes that nobody can make here to a cluster that runs elsewhere."""

from __future__ import annotations

from harness.kube.api.objects import Key
from harness.kube.workloads.loads import Curve

__all__ = ["Fixed"]


class Fixed:
    """The changes of a cluster that only its owner can make."""

    def upgrade(self, kubernetes: str) -> None:
        """Raise LookupError: the version of a running control plane cannot be changed here."""
        raise LookupError("the control plane of this cluster cannot be upgraded")

    def put_load(self, workload: Key, curve: Curve) -> None:
        """Raise LookupError: the usage of pods on a running cluster is measured there."""
        raise LookupError(f"the load of {workload} is measured on this cluster, and cannot be given")
