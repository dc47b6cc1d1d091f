"""The inputs of one launch: the NodeClaim, its AKSNodeClass, what can be had, and who launches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.karpenter.cloudprovider import InstanceType
from harness.karpenter.instancetypes.nodeclass_settings import kubernetes_version
from harness.karpenter.instancetypes.sku import Sku
from harness.karpenter.launch.choice import Shuffle
from harness.karpenter.launch.environment import LaunchEnvironment
from harness.karpenter.launch.images import ImageFamily, image_family
from harness.karpenter.releases import ProviderOptions, ProviderRelease
from lazyrecords import dataclass

__all__ = ["Launch"]


@dataclass(frozen=True)
class Launch:
    """The inputs of one launch. ``skus`` are the region's sizes by name; ``types`` the instance types that the NodeClaim allows now."""

    nodeclaim: Mapping[str, Any]
    nodeclass: Mapping[str, Any]
    types: Sequence[InstanceType]
    skus: Mapping[str, Sku]
    options: ProviderOptions
    release: ProviderRelease
    environment: LaunchEnvironment
    shuffle: Shuffle | None = None
    created_at: str = "2026-01-01T00:00:00.00Z"

    @property
    def machines(self) -> bool:
        """Return whether nodes are AKS machines; releases that do not know the mode make virtual machines."""
        return self.options.machine_api and self.options.provision_mode in self.release.provision_modes

    @property
    def name(self) -> str:
        return str(self.nodeclaim["metadata"]["name"])

    @property
    def kubernetes(self) -> str:
        return kubernetes_version(self.nodeclass)

    @property
    def spec(self) -> Mapping[str, Any]:
        """Return the spec of the AKSNodeClass."""
        return self.nodeclass.get("spec") or {}

    @property
    def family(self) -> ImageFamily:
        return image_family(self.spec, kubernetes=self.kubernetes, release=self.release)
