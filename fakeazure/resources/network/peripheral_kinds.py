"""Parts of a network that no VM here depends on: they are kept as they are PUT, with what Azure fills in; nothing goes through them."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_network
from itertools import islice
from typing import Any

from fakeazure.arm.bodies import items, section, text
from fakeazure.arm.ids import ResourceId
from fakeazure.arm.messages import Document
from fakeazure.arm.routes import Route
from fakeazure.arm.texts import refuse
from fakeazure.guids import guid_of
from fakeazure.resources.kinds import Kind
from fakeazure.resources.network.network_kinds import NAMESPACE, public_address
from fakeazure.state import State


def _peering(state: State, id_: ResourceId, document: dict[str, Any], old: Document | None) -> None:
    """A peering: connected when the other network has one back, which then is, too."""
    properties, own = document["properties"], id_.parent or id_
    remote = text(section(properties, "remoteVirtualNetwork"), "id")
    if remote.lower() == own.key:
        raise refuse("PeeringToItself", id=own)
    network = state.store.get(remote)
    if network is None:
        raise refuse("InvalidResourceReference", reference=remote, id=id_)
    space = section(network.document["properties"], "addressSpace")
    defaults: dict[str, Any] = dict.fromkeys(
        ("allowForwardedTraffic", "allowGatewayTransit", "useRemoteGateways"), False
    )
    properties.update({"allowVirtualNetworkAccess": True, **defaults, **properties})
    properties |= {
        "peeringState": "Initiated",
        "peeringSyncLevel": "FullyInSync",
        "remoteAddressSpace": space,
        "remoteVirtualNetworkAddressSpace": space,
        "resourceGuid": guid_of(str(id_)),
    }
    for back in tuple(state.store.children(network.id, id_.types[-1])):
        if text(section(back.document["properties"], "remoteVirtualNetwork"), "id").lower() == own.key:
            properties["peeringState"] = "Connected"
            connected = {**back.document["properties"], "peeringState": "Connected"}
            state.store.put(back.id, {**back.document, "properties": connected})


def _prefix(state: State, id_: ResourceId, document: dict[str, Any], old: Document | None) -> None:
    """A prefix of public addresses, of as many as its length says."""
    document.setdefault("sku", {"name": "Standard", "tier": "Regional"})
    properties = document["properties"]
    length = properties.get("prefixLength", 28)
    if not isinstance(length, int) or not 21 <= length <= 31:
        raise refuse("InvalidRequestContent", target="prefixLength", reason="'prefixLength' must be from 21 to 31.")
    numbers = [int(part) for part in public_address(id_.key).split(".")]
    numbers[2:] = [numbers[2] & (256 - 2 ** max(0, 24 - length)), numbers[3] & (256 - 2 ** min(8, 32 - length))]
    properties |= {
        "prefixLength": length,
        "publicIPAddressVersion": properties.get("publicIPAddressVersion", "IPv4"),
        "ipPrefix": f"{'.'.join(map(str, numbers))}/{length}",
        "resourceGuid": guid_of(str(id_)),
    }


def _zone(state: State, id_: ResourceId, document: dict[str, Any], old: Document | None) -> None:
    """A DNS zone: the two records that each has."""
    private = "private" in id_.types[-1].lower()
    document["properties"] |= {
        "maxNumberOfRecordSets": 25000 if private else 10000,
        "numberOfRecordSets": 1 if private else 2,
        **(
            {}
            if private
            else {"nameServers": [f"ns{place}-01.azure-dns.com." for place in (1, 2)], "zoneType": "Public"}
        ),
    }


def _guid(state: State, id_: ResourceId, document: dict[str, Any], old: Document | None) -> None:
    document["properties"]["resourceGuid"] = guid_of(str(id_))


def _vpn_gateway(state: State, id_: ResourceId, document: dict[str, Any], old: Document | None) -> None:
    """A gateway: the number of its network as BGP counts networks, and its address in the gateway's subnet."""
    _guid(state, id_, document, old)
    properties = document["properties"]
    inner = [section(part, "properties") for part in items(properties, "ipConfigurations")]
    subnet = next((text(section(part, "subnet"), "id") for part in inner if section(part, "subnet")), "")
    entry = state.store.get(subnet) if subnet else None
    prefix = text(section(entry.document, "properties"), "addressPrefix") if entry is not None else ""
    hosts = list(islice(ip_network(prefix, strict=False).hosts(), 30)) if prefix else []
    settings = section(properties, "bgpSettings")
    properties["bgpSettings"] = {
        "asn": 65515,
        "peerWeight": 0,
        "bgpPeeringAddress": str(hosts[-1]) if hosts else "",
        **settings,
    }


PEERINGS = Kind(NAMESPACE, "virtualNetworkPeerings", parents=("virtualNetworks",), located=False, fill=_peering)
KINDS = (
    PEERINGS,
    Kind(NAMESPACE, "publicIPPrefixes", ("sku", "zones"), fill=_prefix),
    Kind(NAMESPACE, "privateDnsZones", place="global", fill=_zone, paged=True),
    Kind(NAMESPACE, "virtualNetworkLinks", parents=("privateDnsZones",), place="global", paged=True),
    Kind(NAMESPACE, "dnsZones", place="global", fill=_zone, paged=True),
    Kind(NAMESPACE, "privateEndpoints", fill=_guid),
    Kind(NAMESPACE, "applicationGateways", ("sku", "identity", "zones"), fill=_guid),
    Kind(NAMESPACE, "virtualNetworkGateways", fill=_vpn_gateway),
    Kind(NAMESPACE, "bastionHosts", ("sku", "zones")),
)


def routes() -> Iterator[Route[State]]:
    """The rows of the routing table."""
    for kind in KINDS:
        yield from kind.routes()
