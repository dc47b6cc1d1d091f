"""Azure's data about running instances when Karpenter looks for drift.

Source: kaz pkg/cloudprovider/drift.go, pkg/providers/instance/{vminstance,aksmachineinstance}.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.karpenter.labels.azure import AKS_MACHINE_ID
from harness.karpenter.launch.bodies.names import resource_name
from harness.karpenter.lifecycle.instance_provider import CloudProviderError, InstanceNotFound
from harness.karpenter.provider.arm import COMPUTE, MACHINES, NETWORK, Answer, Arm
from harness.kube.api.objects import Object, annotations_of, name_of, status_of

__all__ = ["ArmInstances"]


class ArmInstances:
    """Asks Azure Resource Manager. Every call may raise CloudProviderError."""

    def __init__(self, arm: Arm) -> None:
        self._arm = arm

    def drift_action(self, machine: str) -> str:
        """The ``driftAction`` of an AKS machine, "" without one."""
        return _action(self._machine(machine).properties)

    def states(self) -> object:
        """A value that changes when Azure changes running instances by itself (the drift actions of AKS machines)."""
        if not self._arm.options.machine_api:
            return ()
        rows: Any = self._arm.call("GET", self._arm.options.machines_id, MACHINES).body.get("value") or ()
        return tuple((row.get("name"), _action(row.get("properties") or {})) for row in rows)

    def image(self, claim: Object) -> str | None:
        """The image of a NodeClaim's VM, by id, or of its AKS machine, as AKS names it; None when it does not say."""
        resource = annotations_of(claim).get(AKS_MACHINE_ID)
        if resource is not None:
            return str(self._machine(resource.rpartition("/")[2]).properties.get("nodeImageVersion") or "") or None
        name = str(status_of(claim).get("providerID") or "").rpartition("/")[2]
        path = self._arm.vm(name)
        answer = _found(self._arm.call("GET", path, COMPUTE), f'virtual machine "{name}" not found')
        profile: Any = answer.properties.get("storageProfile") or {}
        image = profile.get("imageReference") or {}
        return str(image.get("communityGalleryImageId") or image.get("id") or "") or None

    def subnet(self, claim: Object) -> str | None:
        """The subnet of the network interface of a NodeClaim's VM, "" when it has none; None without an interface."""
        name = resource_name(name_of(claim))
        answer = self._arm.call("GET", self._arm.nic(name), NETWORK)
        if answer.status == 404:
            return None
        _found(answer, "")
        configurations: Any = answer.properties.get("ipConfigurations") or ()
        subnets = (
            ((configuration.get("properties") or {}).get("subnet") or {}).get("id") for configuration in configurations
        )
        return next((str(subnet) for subnet in subnets if subnet), "")

    def _machine(self, name: str) -> Answer:
        answer = self._arm.call("GET", f"{self._arm.options.machines_id}/{name}", MACHINES)
        return _found(answer, f'getting AKS machine instance, machine "{name}" not found')


def _action(properties: Mapping[str, Any]) -> str:
    return str((properties.get("status") or {}).get("driftAction") or "")


def _found(answer: Answer, missing: str) -> Answer:
    """The answer of a successful call. Raises InstanceNotFound, CloudProviderError."""
    if answer.status == 404:
        raise InstanceNotFound(missing)
    if not answer.ok:
        raise CloudProviderError(f"getting instance, {answer.error}")
    return answer
