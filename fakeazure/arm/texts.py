"""Azure's error codes with their HTTP status and text: those that a fault can be, and how any row is filled.

The texts are interface: clients match on parts of them (kaz pkg/providers/instance/offerings, azure-sdk-for-go-extensions
pkg/errors). Placeholders are filled by `failure`. Where no recorded text was at hand the row says `guess`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from fakeazure.arm.errors import ArmError, Failure
from fakeazure.arm.operation_refusals import OPERATION_REFUSALS
from fakeazure.arm.refusals import REFUSALS

_GUIDANCE = "Read more about improving likelihood of allocation success at http://aka.ms/allocation-guidance"
_SKU_HELP = "See https://aka.ms/azureskunotavailable for details."
_CONSTRAINED = (
    "Allocation failed. VM(s) with the following constraints cannot be allocated, because the condition is too "
    "restrictive. Please remove some constraints and try again. Constraints applied are:\n{constraints}"
)

TEXTS: MappingProxyType[str, tuple[int, str]] = MappingProxyType(
    {
        # ARM itself
        "AuthenticationFailed": (401, "Authentication failed. The 'Authorization' header is missing."),
        # what no resource provider sees; Azure's front end answers some of these with HTML, so the words are ours
        "MissingApiVersionParameter": (
            400,
            "The api-version query parameter (?api-version=) is required for all requests.",
        ),
        "InvalidApiVersionParameter": (
            400,
            "The api-version '{version}' is invalid. The supported versions are '{versions}'.",
        ),
        "SubscriptionNotFound": (404, "The subscription '{subscription}' could not be found."),
        "ResourceGroupNotFound": (404, "Resource group '{group}' could not be found."),
        "ResourceNotFound": (
            404,
            "The Resource '{type}/{name}' under resource group '{group}' was not found. For more details please go to "
            "https://aka.ms/ARMResourceNotFoundFix",
        ),
        "ParentResourceNotFound": (
            404,
            "Failed to perform '{action}' on resource(s) of type '{type}', because the parent resource '{parent}' could "
            "not be found.",
        ),
        "InvalidResourceNamespace": (404, "The resource namespace '{namespace}' is invalid."),
        "InvalidResourceType": (
            404,
            "The resource type could not be found in the namespace '{namespace}' for api version '{version}'.",
        ),
        "MethodNotAllowed": (405, "The requested resource does not support http method '{method}'."),
        "InvalidRequestContent": (400, "The request content was invalid and could not be deserialized: '{reason}'."),
        "InvalidFilterInQueryString": (400, "Invalid filter in query string: {reason}"),
        "NoRegisteredProviderFound": (
            400,
            "No registered resource provider found for location '{location}' and API version '{version}' for type "
            "'{type}'. The supported api-versions are '{versions}'. The supported locations are '{locations}'.",
        ),
        "MissingSubscriptionRegistration": (
            409,
            "The subscription is not registered to use namespace '{namespace}'. See https://aka.ms/rps-not-found for "
            "how to register subscriptions.",
        ),
        "TooManyRequests": (
            429,
            "The request is being throttled as the limit has been reached for operation type - {operation}. For more "
            "information, see - https://aka.ms/srpthrottlinglimits",
        ),
        "SubscriptionRequestsThrottled": (
            429,
            "Number of '{operation}' requests for subscription '{subscription}' exceeded the limit. Please try again "
            "after '{seconds}' seconds.",
        ),
        "ServiceUnavailable": (503, "The service is unavailable. Please try again later."),
        "GatewayTimeout": (504, "The gateway did not receive a response from '{namespace}' within the specified time."),
        "InternalServerError": (500, "Encountered internal server error."),
        "InternalOperationError": (500, "An internal error occurred while processing the operation."),
        "InternalExecutionError": (500, "An internal execution error occurred. Please retry later."),
        "AuthorizationFailed": (
            403,
            "The client '{client}' with object id '{client}' does not have authorization to perform action '{action}' "
            "over scope '{scope}' or the scope is invalid. If access was recently granted, please refresh your "
            "credentials.",
        ),
        "RequestDisallowedByPolicy": (403, "Resource '{name}' was disallowed by policy."),
        "PreconditionFailed": (412, "The condition specified using HTTP conditional header(s) is not met."),
        "ConditionNotMet": (412, "The condition specified using HTTP conditional header(s) is not met."),
        # Microsoft.Compute: allocation
        "SkuNotAvailable": (
            409,
            "The requested VM size for resource 'Following SKUs have failed for Capacity Restrictions: {size}' is "
            "currently not available in location '{location}'. Please try another size or deploy to a different location "
            "or different zone. " + _SKU_HELP,
        ),
        "SkuNotAvailableInZones": (
            409,
            "The requested size for resource '{id}' is currently not available in location '{location}' zones '{zone}' "
            "for subscription '{subscription}'. Please try another size or deploy to a different location or zones. "
            + _SKU_HELP,
        ),
        "ZonalAllocationFailed": (
            409,
            "Allocation failed. We do not have sufficient capacity for the requested VM size in this zone. "
            + _GUIDANCE,
        ),
        "AllocationFailed": (
            409,
            "Allocation failed. We do not have sufficient capacity for the requested VM size in this region. "
            + _GUIDANCE,
        ),
        "OverconstrainedZonalAllocationRequest": (409, _CONSTRAINED),
        "OverconstrainedAllocationRequest": (409, _CONSTRAINED),
        # Microsoft.Compute: requests that can never work
        "InvalidVmSize": (
            400,
            "The value {size} provided for the VM size is not valid. The valid sizes in the current region are: {sizes}.",
        ),
        "InvalidAvailabilityZone": (
            400,
            "The zone(s) '{zone}' for resource '{type}/{name}' is not supported. The supported zones for location "
            "'{location}' are '{zones}'",
        ),
        "AvailabilityZoneNotSupported": (
            400,
            # AKS's own; Microsoft.Compute says InvalidAvailabilityZone, in regions without zones too
            "The zone(s) '{zone}' for resource '{name}' is not supported. The supported zones for location '{location}' "
            "are '{zones}'",
        ),
        "SpotNotSupported": (  # guess: no recorded text
            400,
            "The VM size '{size}' with Priority '{priority}' is not supported.",
        ),
        "GalleryImageNotFound": (
            404,
            "The gallery image {image} is not available in {location} region. Please contact image owner to replicate "
            "to this region, or change your requested region.",
        ),
        "HypervisorGeneration": (
            400,
            "The selected VM size '{size}' cannot boot Hypervisor Generation '{generation}'. If this was a Create "
            "operation please check that the Hypervisor Generation of the Image matches the Hypervisor Generation of "
            "the selected VM Size. If this was an Update operation please select a Hypervisor Generation '{generation}' "
            "VM Size. For more information, see https://aka.ms/azuregen2vm",
        ),
        "CpuArchitecture": (
            400,
            "Cannot create a VM of size '{size}' because this VM size only supports a CPU Architecture of '{needs}', but "
            "an image or disk with CPU Architecture '{image}' was given. Please check that the CPU Architecture of the "
            "image or disk is compatible with that of the VM size.",
        ),
        "EphemeralNotSupported": (
            409,
            "Ephemeral OS disk is not supported for VM size {size}.",
        ),
        "EphemeralTooLarge": (
            409,
            "OS disk of Ephemeral VM with size greater than {limit} GB is not allowed for VM size {size} when the "
            "DiffDiskPlacement is {placement}. Please refer to https://aka.ms/Ephemeral for more details.",
        ),
        "EncryptionAtHost": (
            400,
            "The VM size '{size}' does not support 'securityProfile.encryptionAtHost'.",  # guess: shortened
        ),
        "UltraSsd": (
            400,
            "The requested VM size '{size}' does not support 'UltraSSD' in zone '{zone}' of location '{location}'.",  # guess
        ),
        "PropertyChangeNotAllowed": (409, "Changing property '{property}' is not allowed."),
        "OperationPreempted": (409, "The operation was preempted by a more recent operation."),
        # Microsoft.Authorization, Microsoft.ManagedIdentity, Microsoft.Resources
        # Microsoft.Network
        "NotFound": (404, "Resource {id} not found."),
        "InvalidResourceReference": (
            400,
            "Resource {reference} referenced by resource {id} was not found. Please make sure that the referenced "
            "resource exists, and that both resources are in the same region.",
        ),
        "SubnetIsFull": (
            400,
            "Subnet {subnet} with address prefix {prefix} does not have enough capacity for {count} IP addresses.",
        ),
        "NicInUse": (
            400,
            "Network Interface {id} is used by existing resource {user}. In order to delete the network interface, it "
            "must be dissociated from the resource. To learn more, see aka.ms/deletenic.",
        ),
        "NicReservedForAnotherVm": (
            400,
            "Nic(s) in request is reserved for another Virtual Machine for 180 seconds. Please provide another nic(s) or "
            "retry after 180 seconds. Reserved VM: {user}",
        ),
        "NetworkInterfaceInUse": (
            400,
            "Network Interface {id} is already attached to virtual machine {user}.",  # guess
        ),
        # Microsoft.ContainerService
        "MachineNotFound": (404, "The machine '{machine}' of agent pool '{pool}' was not found."),  # guess
        "AgentPoolNotFound": (
            404,
            "The agent pool '{pool}' was not found in the managed cluster '{cluster}'.",
        ),  # guess
        "NoValidMachines": (400, "Cannot find any valid machines to delete. Please check your input machine names."),
        "VMSizeNotSupported": (
            400,
            "Virtual Machine size: '{size}' is not supported for subscription {subscription} in location '{location}'. "
            "Please refer to aka.ms/aks/vm-size-selector to find supported VM sizes in location '{location}'.",
        ),
        "VMCacheSizeTooSmall": (
            400,
            "The virtual machine size {size} has a cache size of {cache} bytes, but the OS disk requires {disk} bytes. Use a VM "
            "size with larger cache or disable ephemeral OS.",
        ),
        "SpotSystemMachine": (  # guess: no recorded text
            400,
            "The machine '{machine}' of mode System cannot have the priority Spot.",
        ),
        "MachineChangeNotAllowed": (400, "Changing property '{property}' is not allowed."),
        "MissingRequiredProperty": (
            400,
            "ConvertProvisionProfile failed with error: missing field: {field} cannot be empty",
        ),
    }
)
"""Row name → (HTTP status, text). The row name is the error code, unless `_CODES` names another."""

_CODES: MappingProxyType[str, str] = MappingProxyType(
    {
        "SkuNotAvailableInZones": "SkuNotAvailable",
        "InvalidVmSize": "InvalidParameter",
        "SpotNotSupported": "InvalidParameter",
        "HypervisorGeneration": "BadRequest",
        "CpuArchitecture": "BadRequest",
        "EphemeralNotSupported": "NotSupported",
        "EphemeralTooLarge": "NotSupported",
        "EncryptionAtHost": "InvalidParameter",
        "UltraSsd": "InvalidParameter",
        "NetworkInterfaceInUse": "InvalidParameter",
        "MachineNotFound": "NotFound",
        "AgentPoolNotFound": "NotFound",
        "NoValidMachines": "InvalidParameter",
        "SpotSystemMachine": "InvalidParameter",
        "MachineChangeNotAllowed": "OperationNotAllowed",
    }
)


class _Facts(dict[str, object]):
    def __missing__(self, key: str) -> str:
        return ""


def failure(
    row: str, *, target: str | None = None, facts: Mapping[str, object] | None = None, **more: object
) -> Failure:
    """The failure of a table row, its text filled with `facts` and `more` (what is missing is empty).

    KeyError for an unknown row.
    """
    refusal = REFUSALS.get(row) or OPERATION_REFUSALS.get(row)
    if refusal is not None:
        status, code, text = refusal
    else:
        (status, text), code = TEXTS[row], _CODES.get(row, row)
    return Failure(code, text.format_map(_Facts({**(facts or {}), **more})), status, target)


def refuse(
    row: str, *, target: str | None = None, facts: Mapping[str, object] | None = None, **more: object
) -> ArmError:
    """The exception to raise for a table row."""
    return ArmError(failure(row, target=target, facts=facts, **more))
