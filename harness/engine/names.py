"""Names and ids that are all texts and easily mixed up, and the value of the zone label.

The types are for the type checker: at run time each is its text.
"""

from typing import NewType

__all__ = ["NodeClaimName", "NodeName", "ProviderId", "VmId", "zone_label"]

VmId = NewType("VmId", str)
"""The ARM id of a virtual machine: `/subscriptions/S/resourceGroups/G/providers/Microsoft.Compute/virtualMachines/NAME`."""
ProviderId = NewType("ProviderId", str)
"""`spec.providerID` of a Node and `status.providerID` of a NodeClaim: `azure://` and a VM's id with its group in small letters."""
NodeClaimName = NewType("NodeClaimName", str)
"""The name of a NodeClaim. Its Node has another one, that of its virtual machine."""
NodeName = NewType("NodeName", str)
"""The name of a Node, where it stands beside another name or id. Users give a plain `str`."""


def zone_label(region: str, zone: str) -> str:
    """Return the value of a Node's zone label for an ARM zone: ``eastus`` and ``1`` give ``eastus-1``.

    kaz ``pkg/utils/zones`` (MakeAKSLabelZoneFromARMZone); cloud-provider-azure's Nodes have the same.
    """
    return f"{region.lower()}-{zone}"
