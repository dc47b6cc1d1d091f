"""Defaults of requests about the Azure provider: its options, the location's SKU records and prices, NodeClass defaults."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from harness.conformance.context import AnswerContext
from harness.conformance.errors import RequestError
from harness.karpenter.instancetypes import Prices, SkuBook
from harness.karpenter.releases import ProviderOptions

__all__ = ["Location", "location_of", "nodeclass_of", "options_of", "shared_book"]

# The defaults of the provider's own test options (kaz pkg/test/options.go).
_OPTIONS = ProviderOptions(
    cluster_name="test-cluster",
    cluster_endpoint="https://test-cluster",
    bootstrap_token="test-token",
    kubelet_identity_client_id="61f71907-753f-4802-a901-47361c3664f2",
    ssh_public_key="test-ssh-public-key",
    network_policy="cilium",
    vnet_guid="a519e60a-cac0-40b2-b883-084477fe6f5c",
    subnet_id="/subscriptions/12345678-1234-1234-1234-123456789012/resourceGroups/test-resourceGroup"
    "/providers/Microsoft.Network/virtualNetworks/aks-vnet-12345678/subnets/aks-subnet",
    node_resource_group="test-resourceGroup",
    dns_service_ip="",
    subscription_id="12345678-1234-1234-1234-123456789012",
)


_FAKE_IDENTITY = {"kubelet_identity_client_id": "test-kubelet-identity-client-id"}
_OLD_IDENTITY = {"kubelet_identity_client_id": "12345678-1234-1234-1234-123456789012"}
# What those test options were in the older releases that the oracle can be built for.
_OLD_OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "1.4.0": {
        "subnet_id": "/subscriptions/12345678-1234-1234-1234-123456789012/resourceGroups/sillygeese"
        "/providers/Microsoft.Network/virtualNetworks/karpentervnet/subnets/karpentersub",
    },
    "1.6.6": _OLD_IDENTITY,
}
# What their fakes use whatever the options say.
_FIXED_OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "1.4.0": _FAKE_IDENTITY,
    "1.5.5": _FAKE_IDENTITY,
    "1.6.5": _FAKE_IDENTITY,
}


@dataclass(frozen=True)
class Location:
    """A location of the data file; one that the file lacks has no sizes and no prices."""

    name: str
    skus: Sequence[Mapping[str, Any]]
    prices: Prices


def location_of(request: Mapping[str, Any], context: AnswerContext) -> Location:
    """The location that a request names, else the first one with zones. Raises RequestError when it is no text."""
    locations = (context.data or {}).get("locations") or {}
    name = request.get("location")
    if name is None:
        name = next((key for key, value in locations.items() if _zonal(value)), "")
    if not isinstance(name, str):
        raise RequestError("location is not a text")
    location: Location | None = context.parsed.get(f"location {name}")
    if location is None:
        content = locations.get(name) or {}
        prices = Prices(content.get("prices") or {}, content.get("spot_prices") or {})
        location = context.parsed[f"location {name}"] = Location(name, tuple(content.get("skus") or ()), prices)
    return location


def shared_book(context: AnswerContext) -> SkuBook:
    """The records of the data file as they were read for earlier requests."""
    book: SkuBook = context.parsed.setdefault("sku book", SkuBook())
    return book


def options_of(request: Mapping[str, Any], context: AnswerContext) -> ProviderOptions:
    """The request's ``options`` over the provider's test defaults. Raises TypeError for wrong types."""
    changes = request.get("options")
    if changes is not None and not isinstance(changes, Mapping):
        raise RequestError("options is not an object")
    version = context.release.version
    options = replace(_OPTIONS, **_OLD_OPTIONS.get(version, {})).with_json(changes)
    return replace(options, **_FIXED_OPTIONS.get(version, {}))


def nodeclass_of(request: Mapping[str, Any]) -> dict[str, Any]:
    """The request's AKSNodeClass with a name, ``osDiskSizeGB`` 128 and ``imageFamily`` Ubuntu2204 unless it has them."""
    raw = request.get("nodeclass") or {}
    if not isinstance(raw, Mapping):
        raise RequestError("nodeclass is not an object")
    metadata = dict(raw.get("metadata") or {})
    if not metadata.get("name"):
        metadata = {"name": "default"}
    spec = dict(raw.get("spec") or {})
    if spec.get("osDiskSizeGB") is None:
        spec["osDiskSizeGB"] = 128
    if spec.get("imageFamily") is None:
        spec["imageFamily"] = "Ubuntu2204"
    return {**raw, "metadata": metadata, "spec": spec}


def _zonal(location: Mapping[str, Any]) -> bool:
    return any(info.get("zones") for sku in location.get("skus") or () for info in sku.get("locationInfo") or ())
