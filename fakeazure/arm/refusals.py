"""Refusals of requests that can never work: row → (HTTP status, code, text). What a market can be short of is in `texts`.

The texts are interface, as those are. Where no recorded text was at hand the row says `guess`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

REFUSALS: Mapping[str, tuple[int, str, str]] = MappingProxyType(
    {
        "AuthenticationFailedInvalidHeader": (
            401,
            "AuthenticationFailed",
            "Authentication failed. The 'Authorization' header is provided in an invalid format.",
        ),
        "InvalidAuthenticationToken": (401, "InvalidAuthenticationToken", "The access token is invalid."),
        "ExpiredAuthenticationToken": (
            401,
            "ExpiredAuthenticationToken",
            "The access token expiry UTC time '{expiry}' is earlier than current UTC time '{now}'.",
        ),
        "InvalidAuthenticationTokenTenant": (
            401,
            "InvalidAuthenticationTokenTenant",
            "The access token is from the wrong issuer '{issuer}'. It must match the tenant '{own}' associated with "
            "this subscription. Please use the authority (URL) 'https://login.windows.net/{tenant}' to get the token."
            " Note, if the subscription is transferred to another tenant there is no impact to the services, but "
            "information about new tenant could take time to propagate (up to an hour). If you just transferred your "
            "subscription and see this error message, please try back later.",
        ),
        "InvalidAuthenticationTokenAudience": (
            401,
            "InvalidAuthenticationTokenAudience",
            "The access token has been obtained for wrong audience or resource '{audience}'. It should exactly match "
            "with one of the allowed audiences {allowed}.",
        ),
        "BadRequest": (400, "BadRequest", "The request is invalid. {reason}"),
        "RequestTimeout": (408, "RequestTimeout", "The request did not arrive within the time allowed."),
        "RequestContentTooLarge": (
            413,
            "RequestContentTooLarge",
            "Request content size exceeds the maximum size of {limit} MB.",
        ),
        "RequestUriTooLong": (414, "RequestUriTooLong", "The request URI is longer than {limit} bytes."),
        "RequestHeaderFieldsTooLarge": (
            431,
            "RequestHeaderFieldsTooLarge",
            "The request has more than {limit} bytes of headers.",
        ),
        "TransferEncodingNotSupported": (
            501,
            "TransferEncodingNotSupported",
            "No transfer encoding but 'chunked' is supported.",
        ),
        "TooManyConnections": (
            503,
            "TooManyConnections",
            "More than {limit} connections are open. Please retry later.",
        ),
        "HttpVersionNotSupported": (
            505,
            "HttpVersionNotSupported",
            "The version '{version}' of HTTP is not supported.",
        ),
        "InvalidResourceGroupLocation": (
            409,
            "InvalidResourceGroupLocation",
            "Invalid resource group location '{location}'. The Resource group already exists in location '{location}'.",
        ),
        "ResourceGroupBeingDeleted": (
            409,
            "ResourceGroupBeingDeleted",
            "The resource group '{group}' is in deprovisioning state and cannot perform this operation.",
        ),
        "MarkedForDeletion": (
            409,
            "OperationNotAllowed",
            "Operation '{operation}' is not allowed on {kind} '{name}' since the {kind} is marked for deletion. You can "
            "only retry the Delete operation (or wait for an ongoing one to complete).",
        ),
        "ScaleSetMarkedForDeletion": (
            409,
            "OperationNotAllowed",
            "Operation '{operation}' is not allowed on Virtual Machine Scale Set '{name}' since it is marked for "
            "deletion. For more information on your operations, please refer to https://aka.ms/activitylog.",
        ),
        "AksOperationInProgress": (
            409,
            "OperationNotAllowed",
            "Operation is not allowed: Another operation ({name} - Deleting) is in progress, please wait for it to "
            "finish before starting a new operation. See https://aka.ms/aks-pending-operation for more details",
        ),
        "AnotherOperationInProgress": (
            409,
            "AnotherOperationInProgress",
            "Another operation on this or dependent resource is in progress: {id} is being deleted.",
        ),  # guess: Azure's text ends in the URI of the operation
        "InstanceNotFound": (404, "NotFound", "The instances {name} were not found in the scale set."),  # guess
        "InvalidTemplate": (
            400,
            "InvalidTemplate",
            "Deployment template validation failed: '{reason}'.",
        ),
        "DeploymentNotFound": (404, "DeploymentNotFound", "Deployment '{name}' could not be found."),
        "LocationRequired": (400, "LocationRequired", "The location property is required for this definition."),
        "LocationNotAvailableForResourceType": (
            400,
            "LocationNotAvailableForResourceType",
            "The provided location '{location}' is not available for resource type '{type}'. List of available "
            "regions for the resource type is '{locations}'.",
        ),
        "LocationNotAvailableForResourceGroup": (
            400,
            "LocationNotAvailableForResourceGroup",
            "The provided location '{location}' is not available for resource group. List of available regions is "
            "'{locations}'.",
        ),
        "DiskSizeRequired": (400, "InvalidParameter", "Required parameter 'disk.diskSizeGB' is missing (null)."),
        "DiskSizeOutOfRange": (
            400,
            "InvalidParameter",
            "The value '{size}' of disk size in GB is out of range. The value must be between '1' and '{largest}', "
            "inclusive.",
        ),  # guess
        "DiskShrinkNotAllowed": (
            409,
            "OperationNotAllowed",
            "Shrinking disk '{name}' from size {before} GB to {size} GB is not allowed.",
        ),  # guess
        "DiskInUse": (409, "OperationNotAllowed", "Disk {name} is attached to VM {user}."),
        "DiskAttachedElsewhere": (
            409,
            "ConflictingUserInput",
            "Cannot attach the disk {name} to VM {vm} because it is already attached to VM {user}. A disk can be attached "
            "to only one VM at a time.",
        ),
        "DiskExists": (
            409,
            "ConflictingUserInput",
            "Disk {name} already exists in resource group {group}. Only CreateOption.Attach is supported.",
        ),
        "TooManyDataDisks": (
            409,
            "OperationNotAllowed",
            "The maximum number of data disks allowed to be attached to a VM of this size is {limit}.",
        ),
        "InvalidEntityName": (
            400,
            "InvalidParameter",
            "The entity name '{entity}' is invalid according to its validation rule: "
            "^[^_\\W][\\w-._]{{0,79}}(?<![-.])$.",
        ),  # Azure/azure-powershell issue 4706
        "InvalidResourceName": (
            400,
            "InvalidResourceName",
            "Resource name {name} is invalid. The name can be up to 80 characters long. It must begin with a word character, "
            "and it must end with a word character or with '_'. The name may contain word characters or '.', '-', '_'.",
        ),  # kubernetes-sigs/cloud-provider-azure issue 1443
        "InvalidPoolName": (
            400,
            "InvalidParameter",
            "The value of parameter agentPoolProfile.name is invalid. Please see https://aka.ms/aks-naming-rules for "
            "more details.",
        ),
        "InvalidMachineName": (
            400,
            "InvalidParameter",
            "The value of parameter machine.name is invalid.",
        ),  # guess: as Azure says of others
        "LunInUse": (400, "InvalidParameter", "A disk at LUN {lun} already exists."),
        "DiskNamedTwice": (400, "InvalidParameter", "A disk named '{name}' already exists."),
        "NoBootDiagnostics": (
            409,
            "OperationNotAllowed",
            "The boot diagnostics are not enabled on VM '{name}'.",
        ),  # guess
        "VMNotRunningToRestart": (
            409,
            "OperationNotAllowed",
            "Cannot restart VM '{name}': the VM is not running.",
        ),  # guess
        "VMNotRunningToRun": (
            409,
            "OperationNotAllowed",
            "The operation requires the VM to be running (or set to run).",
        ),
        "InvalidSshKey": (400, "InvalidParameter", "The provided public key is not a valid SSH public key."),  # guess
        "FlexibleInstance": (
            409,
            "OperationNotAllowed",
            "The instance '{name}' is a virtual machine of a flexible scale set: change the virtual machine itself.",
        ),  # guess
        "GalleryNotFound": (
            404,
            "GalleryNotFound",
            "The gallery {gallery} is not available in {location} region.",
        ),  # guess
        "ImageNotFound": (404, "NotFound", "Artifact: VMImage was not found."),
        "PlatformImageNotFound": (
            404,
            "PlatformImageNotFound",
            "The platform image '{image}' is not available. Verify that all fields in the storage profile are "
            "correct. For more details about storage profile information, please refer to "
            "https://aka.ms/storageprofile",
        ),
        "RoleDefinitionDoesNotExist": (
            400,
            "RoleDefinitionDoesNotExist",
            "The specified role definition with ID '{role}' does not exist.",
        ),
        "RoleAssignmentExists": (
            409,
            "RoleAssignmentExists",
            "The role assignment already exists. The ID of the conflicting role assignment is {name}.",
        ),
        "RoleAssignmentNotFound": (404, "RoleAssignmentNotFound", "The role assignment '{name}' is not found."),
        "FederatedCredentialExists": (
            409,
            "Conflict",
            "Issuer and subject combination already exists for this Managed Identity: '{issuer}', '{subject}'.",
        ),  # guess
        "SecurityRuleInvalidPriority": (
            400,
            "SecurityRuleInvalidPriority",
            "Security rule has invalid Priority. Value provided: {priority} Allowed range 100-4096.",
        ),
        "SecurityRuleConflict": (
            400,
            "SecurityRuleConflict",
            "Security rule {one} conflicts with rule {other}. Rules cannot have the same Priority and Direction.",
        ),
        "StandardAddressMustBeStatic": (
            400,
            "StandardSkuPublicIPAddressesMustBeStatic",
            "Standard sku publicIp {id} must have AllocationMethod set to Static.",
        ),
        "PublicIPAddressCannotBeDeleted": (
            400,
            "PublicIPAddressCannotBeDeleted",
            "Public IP address {id} can not be deleted since it is still allocated to resource {user}.",
        ),
        "InUseSubnetCannotBeDeleted": (
            400,
            "InUseSubnetCannotBeDeleted",
            "Subnet {name} is in use by {user} and cannot be deleted. In order to delete the subnet, delete all the "
            "resources within the subnet. See aka.ms/deletesubnet.",
        ),
        "K8sVersionNotSupported": (
            400,
            "K8sVersionNotSupported",
            "Managed cluster version {version} is not supported in location {location}. Please use [az aks get-"
            "versions] command to get the supported version list in this region.",
        ),  # guess
        "AksVersionChangeNotAllowed": (
            400,
            "OperationNotAllowed",
            "{change} Kubernetes version {current} to {version} is not allowed. Available upgrades: [{upgrades}]. Please see "
            "https://aka.ms/aks-supported-k8s-ver for version details.",
        ),  # as quoted in rancher/dashboard#11884 and rancher/rancher#33561
        "NodePoolAheadOfControlPlane": (
            400,
            "NodePoolMcVersionIncompatible",
            "Node pool version {version} and control plane version {control_plane} are incompatible. Minor version of node pool "
            "version {pool} is bigger than control plane version {plane}. For more information, please check "
            "https://aka.ms/version-skew-policy",
        ),  # as quoted in rancher/rancher#33426
        "NodePoolTooFarBehind": (
            400,
            "NodePoolMcVersionIncompatible",
            "Node pool version {version} and control plane version {control_plane} are incompatible. Minor version of node pool "
            "cannot be more than 2 versions less than control plane's version. Minor version of node pool is {pool} and control "
            "plane is {plane}.",
        ),  # as quoted in MicrosoftDocs/azure-dev-docs#1034
        "InvalidResourceLocation": (
            409,
            "InvalidResourceLocation",
            "The resource '{name}' already exists in location '{old}' in resource group '{group}'. A resource with the same name "
            "cannot be created in location '{location}'. Please select a new resource name.",
        ),
        "InvalidResourceGroup": (
            400,
            "InvalidResourceGroup",
            "The provided resource group name '{name}' has these invalid characters: '{characters}'. The name can only be a "
            "letter, digit, '-', '.', '(', ')' or '_'.",
        ),  # as quoted in Azure/azure-cli#14481
        "ResourceGroupNameEnd": (
            400,
            "InvalidResourceGroup",
            "The provided resource group name '{name}' cannot end with a period.",
        ),  # guess
        "ResourceGroupNameLength": (
            400,
            "InvalidResourceGroup",
            "The provided resource group name '{name}' exceeds the maximum length of 90 characters.",
        ),  # guess
        "AksPropertyChangeNotAllowed": (
            400,
            "PropertyChangeNotAllowed",
            "Changing property '{property}' is not allowed.",
        ),
        "AksInsufficientFamilyQuota": (
            400,
            "ErrCode_InsufficientVCPUQuota",
            "Insufficient vcpu quota requested {needed}, remaining {left} for family {family} for region {location}. "
            "Surge nodes would also consume vcpu quota.",
        ),
        "AksInsufficientRegionalQuota": (
            400,
            "ErrCode_InsufficientVCPUQuota",
            "Insufficient regional vcpu quota left for location {location}. left regional vcpu quota {left}, requested "
            "quota {needed}.",
        ),
        "LastSystemPool": (
            400,
            "OperationNotAllowed",
            "There has to be at least one system agent pool: '{pool}' is the last one.",
        ),  # guess
        "LinkedInvalidPropertyId": (
            400,
            "LinkedInvalidPropertyId",
            "Property id '{id}' at path '{path}' is invalid. Expect fully qualified resource Id that start with "
            "'/subscriptions/{{subscriptionId}}' or '/providers/{{resourceProviderNamespace}}/'.",
        ),
        "NoMatchingReservation": (
            409,
            "OperationNotAllowed",
            "The capacity reservation group '{group}' has no capacity reservation for VM size '{size}' in location "
            "'{location}' zone '{zone}'.",
        ),  # guess: Azure documents that it is refused, not how
        "SpotInReservation": (
            400,
            "InvalidParameter",
            "A virtual machine with priority 'Spot' cannot use a capacity reservation group.",
        ),  # guess: no recorded text
        "ReservationGroupChange": (
            409,
            "OperationNotAllowed",
            "The capacity reservation group of a virtual machine cannot be changed while it is allocated.",
        ),  # guess: no recorded text
        "ReservationInUse": (
            409,
            "OperationNotAllowed",
            "{id} cannot be deleted since it is used by {user}.",
        ),  # guess: no recorded text
    }
)
