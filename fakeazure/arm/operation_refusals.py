"""Refusals of single operations: row → (HTTP status, code, text), as in `refusals`."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

OPERATION_REFUSALS: Mapping[str, tuple[int, str, str]] = MappingProxyType(
    {
        "NotEmulated": (
            501,
            "NotEmulated",
            "'{operation}' is real, but fakeazure does not emulate it. What it emulates is listed by the command `fakeazure "
            "coverage` and at {page}.",
        ),
        "InvalidSubscriptionId": (
            400,
            "InvalidSubscriptionId",
            "The provided subscription identifier '{subscription}' is malformed or invalid.",
        ),
        "GeneralizeRunning": (
            409,
            "OperationNotAllowed",
            "The virtual machine '{name}' is running. Please power it off before it is marked as generalized.",
        ),  # guess
        "VMGeneralized": (
            409,
            "OperationNotAllowed",
            "Operation '{operation}' is not allowed on VM '{name}' since the VM is generalized.",
        ),
        "CaptureManaged": (
            409,
            "OperationNotAllowed",
            "Capture is only supported for VMs with blob based disks. Please use the 'Image' resource APIs to create an Image "
            "from a managed Virtual Machine.",
        ),
        "AlreadyManaged": (
            409,
            "OperationNotAllowed",
            "VM '{name}' already uses managed disks.",
        ),  # guess
        "ImageOfRunningVM": (
            400,
            "InvalidParameter",
            "The source virtual machine '{name}' of the image must be generalized.",
        ),  # guess
        "LunOutOfRange": (
            400,
            "InvalidParameter",
            "The value '{lun}' of parameter 'dataDisk.lun' is out of range. Value '{lun}' must be between '0' and '{last}' "
            "inclusive.",
        ),  # microsoft/lisa pull request 692
        "ParameterRequired": (400, "InvalidParameter", "Required parameter '{name}' is missing (null)."),
        "DiskNotAttached": (
            400,
            "InvalidParameter",
            "The disk '{name}' is not attached to the virtual machine '{vm}'.",
        ),  # guess
        "DiskHasSas": (
            409,
            "OperationNotAllowed",
            "There is an active shared access signature outstanding for disk {name}. Call EndGetAccess before attaching or "
            "deleting the disk. Learn more here: aka.ms/revokesasapi.",
        ),
        "RollingUpgradeNotFound": (
            404,
            "NotFound",
            "The virtual machine scale set '{name}' has no rolling upgrade.",
        ),  # guess
        "InterfaceNotFound": (404, "NotFound", "Resource {id} not found."),
        "AksNothingToAbort": (
            400,
            "OperationNotAllowed",
            "There is no operation of '{name}' that can be aborted.",
        ),  # guess
        "FeatureNotFound": (
            404,
            "FeatureNotFound",
            "The feature '{feature}' could not be found in the namespace '{namespace}'.",
        ),  # guess
        "LockNotFound": (404, "LockNotFound", "The lock '{name}' could not be found."),
        "ScopeLocked": (
            409,
            "ScopeLocked",
            "The scope '{scope}' cannot perform {action} operation because following scope(s) are locked: '{locked}'. Please "
            "remove the lock and try again.",
        ),
        "MoveNotAllowed": (
            409,
            "ResourceMoveNotSupported",
            "The resource '{id}' cannot be moved.",
        ),  # guess
        "MissingMoveDependents": (
            409,
            "MissingMoveDependentResources",
            "The move resources request does not contain all the dependent resources: '{id}' is used by '{user}'.",
        ),  # guess
        "PolicyAssignmentNotFound": (404, "PolicyAssignmentNotFound", "The policy assignment '{name}' is not found."),
        "InterfaceOfRunningVM": (
            400,
            "NetworkInterfaceNotAttachedToRunningVM",
            "The network interface '{name}' must be attached to a running virtual machine.",
        ),  # guess
        "PeeringToItself": (
            400,
            "VnetCannotBePeeredWithItself",
            "Cannot create virtual network peering: {id} cannot be peered with itself.",
        ),  # guess
        "TemplateSpecVersionNotFound": (
            404,
            "TemplateSpecVersionNotFound",
            "The template spec version '{id}' could not be found.",
        ),  # guess
        "RoleDefinitionWithSameNameExists": (
            409,
            "RoleDefinitionWithSameNameExists",
            "A custom role with the same name already exists in this directory. Use a different name",
        ),  # guess
        "PolicyDefinitionNotFound": (
            404,
            "PolicyDefinitionNotFound",
            "The policy definition '{name}' could not be found.",
        ),  # guess
        "PolicySetDefinitionNotFound": (
            404,
            "PolicySetDefinitionNotFound",
            "The policy set definition '{name}' could not be found.",
        ),  # guess
        "BasicAddressRetired": (
            400,
            "IPv4BasicSkuPublicIpCountLimitReached",
            "Cannot create more than 0 IPv4 Basic SKU public IP addresses for this subscription in this region.",
        ),
        "NoPrimaryConfiguration": (
            400,
            "NetworkInterfaceMustHaveOneOneIPConfigAsPrimary",
            "Network Interface {name} specifies multiple IPConfigurations but none of the IPConfigurations is specified as Primary.",
        ),  # Azure/azure-sdk-for-go#259
        "SeveralPrimaryConfigurations": (
            400,
            "NetworkInterfaceMustHaveOneOneIPConfigAsPrimary",
            "Network Interface {name} specifies multiple IPConfigurations as Primary.",
        ),  # guess: no recorded text
        "DeploymentActive": (
            409,
            "DeploymentActive",
            "Unable to edit or replace deployment '{name}': previous deployment from '{started}' is still active (expiration time is "
            "'{end}'). Please see https://aka.ms/arm-deploy for usage details.",
        ),
        "CannotCancelDeployment": (
            409,
            "DeploymentCannotBeCancelled",
            "The deployment '{name}' cannot be cancelled, because it is in the state '{state}'.",
        ),  # guess
    }
)
"""Row → HTTP status, code, text; a text that is nobody's record says `guess`."""
