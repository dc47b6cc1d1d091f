"""The AKSNodeClass behind a NodePool, for questions about sizes without one."""

from __future__ import annotations

from functools import lru_cache

from harness.engine.ports import View
from harness.karpenter.validation.admission import admit
from harness.karpenter.validation.crds import crd_set
from harness.kube.api.objects import Object

__all__ = ["nodeclass_of"]


def nodeclass_of(view: View, nodepool: Object | None, crds: str, kubernetes: str) -> Object:
    """The AKSNodeClass that the NodePool refers to, else `default`, else one with an empty spec."""
    name = "default"
    if nodepool is not None:
        reference = ((nodepool.get("spec") or {}).get("template") or {}).get("spec") or {}
        name = (reference.get("nodeClassRef") or {}).get("name") or name
    nodeclass = view.get("AKSNodeClass", name)
    if nodeclass is not None:
        return nodeclass
    return {**_empty(crds, kubernetes), "status": {"kubernetesVersion": kubernetes}}


@lru_cache(maxsize=64)
def _empty(crds: str, kubernetes: str) -> Object:
    """An AKSNodeClass with the defaults of the CRDs."""
    empty = {
        "apiVersion": "karpenter.azure.com/v1beta1",
        "kind": "AKSNodeClass",
        "metadata": {"name": "default"},
        "spec": {},
    }
    return admit(empty, crds=crd_set(crds), kubernetes=kubernetes).object
