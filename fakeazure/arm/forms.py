"""The JSON forms of the parts of ARM's documents, for requests and snapshots alike: one table, so that a saved world can be restored.

The envelope is that of Azure's common types (azure-rest-api-specs, common-types/resource-management/v5, types.json and
managedidentity.json); the parts of `properties` are those of Microsoft.Compute, .Network and .ContainerService that this cloud reads.
A name stands for all types only where it has one form in all models of their SDKs; `tests/clients/model_forms.py` asks those.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

from lazyrecords import dataclass


@dataclass(frozen=True, slots=True)
class Form:
    """A form that a value must have; `words` complete \"must be\"."""

    words: str
    fits: Callable[[Any], bool]


Place: TypeAlias = tuple[str | int, ...]
"""The keys and indices that lead to a part of a document."""


def _all(values: Any, form: type) -> bool:
    return isinstance(values, list | tuple) and all(isinstance(value, form) for value in values)


_DECIMAL = re.compile(r"[+-]?[0-9]{1,400}(\.[0-9]{1,400})?([eE][+-]?[0-9]{1,4})?")


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return False
    if isinstance(value, str) and _DECIMAL.fullmatch(value) is None:
        return False
    try:
        return math.isfinite(float(value))
    except OverflowError:
        return False


TEXT = Form("a string", lambda value: isinstance(value, str))
NUMBER = Form("a number", _is_number)
WHOLE = Form("a whole number", lambda value: isinstance(value, int) and not isinstance(value, bool))
FLAG = Form(
    "a boolean",
    lambda value: isinstance(value, bool) or (isinstance(value, str) and value.lower() in ("true", "false")),
)
OBJECT = Form("an object", lambda value: isinstance(value, Mapping))
OBJECTS = Form("a list of objects", lambda value: _all(value, Mapping))
TEXTS = Form("a list of strings", lambda value: _all(value, str))
PAIRS = Form(
    "an object of strings",
    lambda value: isinstance(value, Mapping) and all(isinstance(text, str) for text in value.values()),
)
IDENTITIES = Form(
    "an object of objects",
    lambda value: (
        isinstance(value, Mapping) and all(inner is None or isinstance(inner, Mapping) for inner in value.values())
    ),
)

ENVELOPE: Mapping[str, Form] = MappingProxyType(
    {
        **dict.fromkeys(("id", "name", "type", "location", "kind", "managedBy", "etag"), TEXT),
        **dict.fromkeys(("properties", "sku", "plan", "identity", "extendedLocation", "systemData"), OBJECT),
        **dict.fromkeys(("zones", "managedByExtended"), TEXTS),
        "tags": PAIRS,
    }
)
"""Parts of every resource → their form."""
_WITHIN: Mapping[str, Mapping[str, Form]] = MappingProxyType(
    {
        "sku": {**dict.fromkeys(("name", "tier", "size", "family"), TEXT), "capacity": NUMBER},
        "plan": dict.fromkeys(("name", "publisher", "product", "promotionCode", "version"), TEXT),
        "extendedLocation": dict.fromkeys(("name", "type"), TEXT),
        "identity": {
            **dict.fromkeys(("type", "principalId", "tenantId"), TEXT),
            "userAssignedIdentities": IDENTITIES,
        },
    }
)
"""Parts of the envelope → the form of each name in them."""

_NAMES: tuple[tuple[Form, str], ...] = (
    (
        TEXT,
        "id name location provisioningState vmSize osType osSKU computerName computerNamePrefix createOption deleteOption "
        "diskId vnetSubnetID podSubnetID nodeResourceGroup kubernetesVersion currentKubernetesVersion orchestratorVersion "
        "currentOrchestratorVersion nodeImageVersion dnsPrefix fqdn hyperVGeneration principalId clientId roleDefinitionId "
        "level publicKey resourceId sourceResourceId communityGalleryImageId addressPrefix domainNameLabel "
        "orchestrationMode privateIPAddress evictionPolicy privateIPAddressVersion eTag vmId code",
    ),
    (WHOLE, "pendingInstanceCount inProgressInstanceCount successfulInstanceCount failedInstanceCount"),
    (NUMBER, "diskSizeGB osDiskSizeGB lun count maxPods maxShares platformFaultDomainCount"),
    (
        OBJECT,
        "properties hardwareProfile storageProfile osDisk imageReference managedDisk diskEncryptionSet diffDiskSettings "
        "networkProfile osProfile linuxConfiguration securityProfile uefiSettings capacityReservation capacityReservationGroup "
        "virtualMachine virtualMachineScaleSet virtualMachineProfile subnet publicIPAddress publicIPAddressConfiguration "
        "ipConfiguration dnsSettings creationData additionalCapabilities oidcIssuerProfile loadBalancerProfile "
        "identityProfile kubeletidentity localDNSProfile artifactStreamingProfile "
        "upgradePolicy powerState",
    ),
    (
        OBJECTS,
        "dataDisks networkInterfaces networkInterfaceConfigurations ipConfigurations loadBalancerBackendAddressPools "
        "agentPoolProfiles subnets securityRules defaultSecurityRules publicKeys frontendIPConfigurations backendAddressPools "
        "loadBalancingRules probes inboundNatRules outboundRules",
    ),
    (TEXTS, "zones availabilityZones addressPrefixes nodeTaints nodeInitializationTaints ipFamilies audiences"),
    (PAIRS, "nodeLabels customNodeLabels"),
)
ANYWHERE: Mapping[str, Form] = MappingProxyType({name: form for form, names in _NAMES for name in names.split()})
"""Names in `properties`, however deep, → their form."""
_DIRECTLY: Mapping[str, Form] = MappingProxyType({"tags": PAIRS, "addressSpace": OBJECT})
"""Names directly in `properties` → their form, which is another one further down in some types."""
_POLICY = {**dict.fromkeys(("displayName", "description"), TEXT), **dict.fromkeys(("metadata", "parameters"), OBJECT)}
_BY_TYPE: Mapping[str, Mapping[str, Form]] = MappingProxyType(
    {
        "microsoft.authorization/roleassignments": {"scope": TEXT},
        "microsoft.authorization/policyassignments": {**_POLICY, "policyDefinitionId": TEXT, "enforcementMode": TEXT},
        "microsoft.authorization/policydefinitions": {
            **_POLICY,
            "policyType": TEXT,
            "mode": TEXT,
            "policyRule": OBJECT,
        },
        "microsoft.authorization/policysetdefinitions": {**_POLICY, "policyType": TEXT, "policyDefinitions": OBJECTS},
        "microsoft.containerservice/managedclusters/agentpools/machines": dict.fromkeys(
            ("hardware", "kubernetes", "operatingSystem", "status"), OBJECT
        ),
        "microsoft.compute/virtualmachinescalesets/rollingupgrades": dict.fromkeys(
            ("runningStatus", "progress"), OBJECT
        ),
    }
)
"""Type that a document names → forms directly in its `properties`. Requests need not name their type: handlers read these parts."""
_FREE = frozenset(
    {
        *("tags", "nodeLabels", "customNodeLabels", "template", "parameters", "outputs", "output"),
        *("settings", "protectedSettings", "metadata", "policyRule"),
        *("podLabels", "config", "extensionConfigs", "labels", "annotations"),
    }
)
"""Parts that users fill as they like: nothing in them is judged."""


def misfit(document: Mapping[str, Any]) -> tuple[Place, Form, Any] | None:
    """Return the first part of a document that has another form: its place, the form that it must have, and its value.

    A null is as absent.
    """
    return next(_misfits(document), None)


def _misfits(document: Mapping[str, Any]) -> Iterator[tuple[Place, Form, Any]]:
    yield from _among(document, ENVELOPE, ())
    for name, forms in _WITHIN.items():
        if isinstance(part := document.get(name), Mapping):
            yield from _among(part, forms, (name,))
    properties = document.get("properties")
    if isinstance(properties, Mapping):
        of_type = _BY_TYPE.get(str(document.get("type")).lower(), {})
        yield from _among(properties, {**_DIRECTLY, **of_type}, ("properties",))
    yield from _below(properties, ("properties",))


def _among(part: Mapping[str, Any], forms: Mapping[str, Form], place: Place) -> Iterator[tuple[Place, Form, Any]]:
    for name, form in forms.items():
        value = part.get(name)
        if value is not None and not form.fits(value):
            yield (*place, name), form, value


def _below(value: Any, place: Place) -> Iterator[tuple[Place, Form, Any]]:
    if isinstance(value, Mapping):
        for name, part in value.items():
            if part is None:
                continue
            form = ANYWHERE.get(name)
            if form is not None and not form.fits(part):
                yield (*place, name), form, part
            if name not in _FREE and isinstance(part, Mapping | list | tuple):
                yield from _below(part, (*place, name))
    elif isinstance(value, list | tuple):
        for index, part in enumerate(value):
            if isinstance(part, Mapping | list | tuple):
                yield from _below(part, (*place, index))
