"""azure-mgmt-network."""

from __future__ import annotations

from typing import Any

from azure.core.exceptions import HttpResponseError, ResourceNotFoundError

from tests.clients.operation import Suite

SUITE = Suite("Python SDKs")
_operation = SUITE.operation
VNET = "aks-vnet-12345678"


@_operation("network vnets.list")
def _(c: Any) -> None:
    [vnet] = c.network.virtual_networks.list(c.place.nodes)
    assert (vnet.name, vnet.address_space.address_prefixes) == (VNET, ["10.224.0.0/12"])


@_operation("network vnet.get")
def _(c: Any) -> None:
    vnet = c.network.virtual_networks.get(c.place.nodes, VNET)
    assert [subnet.name for subnet in vnet.subnets] == ["aks-subnet"]
    assert vnet.resource_guid


@_operation("network subnet.get")
def _(c: Any) -> None:
    subnet = c.network.subnets.get(c.place.nodes, VNET, "aks-subnet")
    assert (subnet.id, subnet.address_prefix) == (c.place.subnet, "10.224.0.0/16")


@_operation("network subnets.begin_create")
def _(c: Any) -> None:
    made = c.network.subnets.begin_create_or_update(
        c.place.nodes, VNET, "extra", {"properties": {"addressPrefix": "10.225.0.0/24"}}
    ).result()
    assert (made.address_prefix, made.provisioning_state) == ("10.225.0.0/24", "Succeeded")


@_operation("network subnets.begin_delete")
def _(c: Any) -> None:
    c.network.subnets.begin_delete(c.place.nodes, VNET, "extra").result()
    assert [subnet.name for subnet in c.network.subnets.list(c.place.nodes, VNET)] == ["aks-subnet"]


@_operation("network vnets.begin_create")
def _(c: Any) -> None:
    body = {
        "location": c.place.location,
        "properties": {
            "addressSpace": {"addressPrefixes": ["10.1.0.0/16"]},
            "subnets": [{"name": "default", "properties": {"addressPrefix": "10.1.0.0/24"}}],
        },
    }
    made = c.network.virtual_networks.begin_create_or_update(c.place.group, "vnet", body).result()
    assert made.subnets[0].id.endswith("/virtualNetworks/vnet/subnets/default")


@_operation("network nsg.begin_create")
def _(c: Any) -> None:
    made = c.network.network_security_groups.begin_create_or_update(
        c.place.group, "nsg", {"location": c.place.location}
    ).result()
    assert [rule.priority for rule in made.default_security_rules] == [65000, 65001, 65500] * 2


@_operation("network nsg list")
def _(c: Any) -> None:
    assert {item.name for item in c.network.network_security_groups.list_all()} >= {"nsg", "aks-agentpool-12345678-nsg"}


@_operation("network nsg rule create")
def _(c: Any) -> None:
    rule = {
        "protocol": "Tcp", "access": "Allow", "direction": "Inbound", "priority": 300, "destinationPortRange": "22",
        "sourcePortRange": "*", "sourceAddressPrefix": "*", "destinationAddressPrefix": "*",
    }  # fmt: skip
    rules = c.network.security_rules
    made = rules.begin_create_or_update(c.place.group, "nsg", "ssh", {"properties": rule}).result()
    assert (made.priority, made.provisioning_state) == (300, "Succeeded")
    [found] = c.network.network_security_groups.get(c.place.group, "nsg").security_rules
    assert found.name == "ssh"
    try:
        rules.begin_create_or_update(c.place.group, "nsg", "again", {"properties": rule}).result()
    except HttpResponseError as error:
        assert error.error.code == "SecurityRuleConflict"
    else:
        raise AssertionError("two rules have one priority")


@_operation("network publicip.begin_create")
def _(c: Any) -> None:
    body = {
        "location": c.place.location,
        "sku": {"name": "Standard"},
        "properties": {"publicIPAllocationMethod": "Static", "dnsSettings": {"domainNameLabel": "fake"}},
    }
    made = c.network.public_ip_addresses.begin_create_or_update(c.place.group, "ip", body).result()
    assert made.ip_address.count(".") == 3
    assert made.dns_settings.fqdn == f"fake.{c.place.location}.cloudapp.azure.com"


@_operation("network lb list")
def _(c: Any) -> None:
    [balancer] = c.network.load_balancers.list(c.place.nodes)
    assert {pool.name for pool in balancer.backend_address_pools} == {"aksOutboundBackendPool", "kubernetes"}


@_operation("network usages")
def _(c: Any) -> None:
    usages = {usage.name.value: usage for usage in c.network.usages.list(c.place.location)}
    assert (usages["VirtualNetworks"].current_value, usages["PublicIPAddresses"].current_value) == (2, 1)


@_operation("network private_dns/route_tables list")
def _(c: Any) -> None:
    [table] = c.network.route_tables.list(c.place.nodes)
    assert table.name == "aks-agentpool-12345678-routetable"


@_operation("network nat gateways list")
def _(c: Any) -> None:
    address = c.place.id(c.place.group, "Microsoft.Network/publicIPAddresses", "ip")
    body = {
        "location": c.place.location,
        "sku": {"name": "Standard"},
        "properties": {"publicIpAddresses": [{"id": address}]},
    }
    c.network.nat_gateways.begin_create_or_update(c.place.group, "nat", body).result()
    [found] = c.network.nat_gateways.list(c.place.group)
    assert (found.idle_timeout_in_minutes, found.public_ip_addresses[0].id) == (4, address)


def nic_body(c: Any, **more: Any) -> dict[str, Any]:
    inner = {"subnet": {"id": c.place.subnet}, "privateIPAllocationMethod": "Dynamic"}
    properties = {"ipConfigurations": [{"name": "ip", "properties": inner}], **more}
    return {"location": c.place.location, "properties": properties}


@_operation("network nic create")
def _(c: Any) -> None:
    made = c.network.network_interfaces.begin_create_or_update(c.place.nodes, "n1", nic_body(c)).result()
    assert made.ip_configurations[0].private_ip_address.startswith("10.224.")


@_operation("network nic get")
def _(c: Any) -> None:
    found = c.network.network_interfaces.get(c.place.nodes, "n1")
    assert found.mac_address
    assert found.virtual_machine is None


@_operation("network nic update_tags")
def _(c: Any) -> None:
    found = c.network.network_interfaces.update_tags(c.place.nodes, "n1", {"tags": {"a": "b"}})
    assert found.tags == {"a": "b"}
    assert c.network.network_interfaces.get(c.place.nodes, "n1").tags == {"a": "b"}


@_operation("network nic get missing")
def _(c: Any) -> None:
    try:
        c.network.network_interfaces.get(c.place.nodes, "nope")
    except ResourceNotFoundError as error:
        assert error.error.code == "ResourceNotFound"
    else:
        raise AssertionError("it is there")
