"""The surroundings of a VM's network: security groups and their rules, public addresses, NAT gateways, load balancers;
and network usages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fakeazure.arm.bodies import items, number, section, text
from fakeazure.arm.ids import ResourceId
from fakeazure.arm.messages import Document, Request, Response
from fakeazure.arm.routes import Route
from fakeazure.arm.texts import refuse
from fakeazure.guids import guid_of
from fakeazure.resources.kinds import Kind
from fakeazure.resources.names import check_network
from fakeazure.state import State

NAMESPACE = "Microsoft.Network"
_ANY = {"sourcePortRange": "*", "destinationPortRange": "*"}
_DEFAULT_RULES = (
    ("AllowVnetInBound", "Allow", "Inbound", 65000, "VirtualNetwork", "VirtualNetwork"),
    ("AllowAzureLoadBalancerInBound", "Allow", "Inbound", 65001, "AzureLoadBalancer", "*"),
    ("DenyAllInBound", "Deny", "Inbound", 65500, "*", "*"),
    ("AllowVnetOutBound", "Allow", "Outbound", 65000, "VirtualNetwork", "VirtualNetwork"),
    ("AllowInternetOutBound", "Allow", "Outbound", 65001, "*", "Internet"),
    ("DenyAllOutBound", "Deny", "Outbound", 65500, "*", "*"),
)
_LIMITS = (
    ("VirtualNetworks", "Virtual Networks", "virtualNetworks", 1000),
    ("NetworkInterfaces", "Network Interfaces", "networkInterfaces", 65536),
    ("NetworkSecurityGroups", "Network Security Groups", "networkSecurityGroups", 5000),
    ("LoadBalancers", "Load Balancers", "loadBalancers", 1000),
    ("PublicIPAddresses", "Public IP Addresses", "publicIPAddresses", 1000),
    ("StandardSkuLoadBalancers", "Load Balancers - Standard", "loadBalancers", 1000),
    ("StandardSkuPublicIpAddresses", "Public IP Addresses - Standard", "publicIPAddresses", 1000),
    ("RouteTables", "Route Tables", "routeTables", 200),
    ("NatGateways", "Nat Gateways", "natGateways", 1000),
    ("ApplicationSecurityGroups", "Application Security Groups.", "applicationSecurityGroups", 3000),
)


def _rules(state: State, id_: ResourceId, document: dict[str, Any], old: Document | None) -> None:
    """A security group: Azure's six default rules, and its own as resources of their own."""
    properties = document["properties"]
    own = [_rule(id_, "securityRules", rule) for rule in items(properties, "securityRules")]
    for rule in own:
        _check_priority(rule)
        state.store.put(id_.child("securityRules", text(rule, "name")), rule)
    own_names = {rule["name"] for rule in own}
    for entry in tuple(state.store.children(id_, "securityRules")):
        if entry.id.name not in own_names and "securityRules" in properties:
            state.store.remove(entry.id)
    defaults = [
        _rule(
            id_,
            "defaultSecurityRules",
            {
                "name": name,
                "properties": {
                    **_ANY, "protocol": "*", "access": access, "direction": direction, "priority": priority,
                    "sourceAddressPrefix": source, "destinationAddressPrefix": destination,
                },
            },
        )
        for name, access, direction, priority, source, destination in _DEFAULT_RULES
    ]  # fmt: skip
    document["properties"] = {
        **properties,
        "resourceGuid": guid_of(str(id_)),
        "securityRules": own,
        "defaultSecurityRules": defaults,
    }


def _rule(group: ResourceId, kind: str, rule: Mapping[str, Any]) -> dict[str, Any]:
    check_network(text(rule, "name"))
    id_ = group.child(kind, text(rule, "name"))
    return {
        "id": str(id_),
        "name": id_.name,
        "type": id_.type,
        "etag": f'W/"{guid_of(str(id_))}"',
        "properties": {**section(rule, "properties"), "provisioningState": "Succeeded"},
    }


def _check_priority(rule: Mapping[str, Any]) -> None:
    priority = number(section(rule, "properties"), "priority")
    if not 100 <= priority <= 4096:
        raise refuse("SecurityRuleInvalidPriority", name=rule["name"], id=rule["id"], priority=int(priority))


def _rule_of_group(state: State, id_: ResourceId, document: dict[str, Any], old: Document | None) -> None:
    """One rule: no other of its direction has its priority; the group shows it."""
    _check_priority(document)
    group = id_.parent
    if group is None:
        return
    properties = document["properties"]
    for entry in state.store.children(group, "securityRules"):
        other = entry.document["properties"]
        same = all(other.get(key) == properties.get(key) for key in ("priority", "direction"))
        if same and entry.id.key != id_.key:
            raise refuse("SecurityRuleConflict", one=id_.name, other=entry.id.name)


class _Groups(Kind):
    """Security groups, which show the rules under them as they are now."""

    __slots__ = ()

    def get(self, state: State, request: Request) -> Response:
        """Read one."""
        entry = state.found(self.id_of(state, request))
        return Response(200, body=_with_rules(state, entry.id, entry.document))

    def list(self, state: State, request: Request) -> Response:
        """All of a resource group, or of the subscription."""
        networks = (Kind.list(self, state, request).body or {})["value"]
        return Response(
            200, body={"value": [_with_rules(state, ResourceId.parse(group["id"]), group) for group in networks]}
        )


def _with_rules(state: State, id_: ResourceId, document: Document) -> Document:
    rules = [entry.document for entry in state.store.children(id_, "securityRules")]
    return {**document, "properties": {**document["properties"], "securityRules": rules}}


def _address(state: State, id_: ResourceId, document: dict[str, Any], old: Document | None) -> None:
    """A public address: a static one has its address at once, one of 20.0.0.0/8 that belongs to its id.

    Basic ones, as those that name no SKU are, have been retired: none are made since March 2025, those of old worlds stay.
    """
    properties = document["properties"]
    sku = section(document, "sku")
    if old is not None and not sku:
        sku = section(old, "sku")
    basic = text(sku, "name", "Basic").lower() == "basic"
    version = text(properties, "publicIPAddressVersion", "IPv4")
    if basic and old is None and version == "IPv4":
        raise refuse("BasicAddressRetired")
    document["sku"] = {"tier": "Regional", **sku, "name": text(sku, "name", "Basic")}
    method = text(properties, "publicIPAllocationMethod", "Dynamic" if basic else "Static")
    if not basic and method == "Dynamic":
        raise refuse("StandardAddressMustBeStatic", id=id_)
    properties |= {
        "resourceGuid": guid_of(str(id_)),
        "publicIPAllocationMethod": method,
        "publicIPAddressVersion": version,
        "idleTimeoutInMinutes": properties.get("idleTimeoutInMinutes") or 4,
        "ipTags": properties.get("ipTags") or [],
    }
    if method == "Static" or properties.get("ipConfiguration"):
        properties["ipAddress"] = public_address(id_.key, version)
    if label := text(section(properties, "dnsSettings"), "domainNameLabel"):
        fqdn = f"{label}.{document['location']}.cloudapp.azure.com"
        properties["dnsSettings"] = {**section(properties, "dnsSettings"), "fqdn": fqdn}


def public_address(id_: str, version: str = "IPv4") -> str:
    """Return the public address that belongs to an id, of 20.0.0.0/8 or 2603:1030::/32."""
    digits = guid_of(f"address{id_.lower()}").replace("-", "")
    if version != "IPv4":
        return f"2603:1030:{digits[:4]}:{digits[4:8]}::{digits[8:12]}"
    numbers = [int(digits[place : place + 2], 16) for place in (0, 2, 4)]
    return f"20.{numbers[0]}.{numbers[1]}.{max(1, min(254, numbers[2]))}"


def _gateway(state: State, id_: ResourceId, document: dict[str, Any], old: Document | None) -> None:
    document.setdefault("sku", {"name": "Standard", "tier": "Regional"})
    document["properties"].setdefault("idleTimeoutInMinutes", 4)
    document["properties"]["resourceGuid"] = guid_of(str(id_))
    for address in items(document["properties"], "publicIpAddresses"):
        if state.store.get(text(address, "id")) is None:
            raise refuse("InvalidResourceReference", reference=text(address, "id"), id=id_)


PARTS = (
    "frontendIPConfigurations",
    "backendAddressPools",
    "loadBalancingRules",
    "probes",
    "inboundNatRules",
    "outboundRules",
)
"""The lists of a load balancer whose items have an id of their own."""


def _balancer(state: State, id_: ResourceId, document: dict[str, Any], old: Document | None) -> None:
    """A load balancer: each part of it has an id of its own."""
    properties = document["properties"]
    document.setdefault("sku", {"name": "Standard", "tier": "Regional"})
    for part in PARTS:
        properties[part] = [balancer_part(id_, part, item) for item in items(properties, part)]
    properties["resourceGuid"] = guid_of(str(id_))


def balancer_part(id_: ResourceId, kind: str, part: Mapping[str, Any]) -> dict[str, Any]:
    """Return a part of a load balancer as the balancer shows it, with its id."""
    check_network(text(part, "name"))
    own = id_.child(kind, text(part, "name"))
    return {**part, "id": str(own), "properties": {**section(part, "properties"), "provisioningState": "Succeeded"}}


def _unused(state: State, id_: ResourceId) -> None:
    """Refuse to delete a public address that is in use."""
    user = text(section(state.found(id_).document["properties"], "ipConfiguration"), "id")
    if user:
        raise refuse("PublicIPAddressCannotBeDeleted", id=id_, user=user)


NETWORK_SECURITY_GROUPS = _Groups(NAMESPACE, "networkSecurityGroups", fill=_rules)
SECURITY_RULES = Kind(
    NAMESPACE, "securityRules", parents=("networkSecurityGroups",), located=False, fill=_rule_of_group
)
PUBLIC_IP_ADDRESSES = Kind(NAMESPACE, "publicIPAddresses", fill=_address, check=_unused)
NAT_GATEWAYS = Kind(NAMESPACE, "natGateways", fill=_gateway)
LOAD_BALANCERS = Kind(NAMESPACE, "loadBalancers", fill=_balancer)


def _usages(state: State, request: Request) -> Response:
    location = state.check_place(request, "locations/usages")
    subscription = request.params["subscription"]
    value = [
        {
            "id": f"/subscriptions/{subscription}/providers/{NAMESPACE}/locations/{location}/usages/{name}",
            "name": {"value": name, "localizedValue": shown},
            "currentValue": sum(
                entry.document.get("location") == location
                for entry in state.store.list(f"{NAMESPACE}/{type_}", subscription=subscription)
            ),
            "limit": limit,
            "unit": "Count",
        }
        for name, shown, type_, limit in _LIMITS
    ]
    return Response(200, body={"value": value})


def routes() -> Iterator[Route[State]]:
    """The rows of the routing table."""
    for kind in (NETWORK_SECURITY_GROUPS, SECURITY_RULES, PUBLIC_IP_ADDRESSES, NAT_GATEWAYS, LOAD_BALANCERS):
        yield from kind.routes()
    yield Route("GET", f"/subscriptions/{{subscription}}/providers/{NAMESPACE}/locations/{{location}}/usages", _usages)
