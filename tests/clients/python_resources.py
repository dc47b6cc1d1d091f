"""azure-mgmt-resource, -authorization and -msi."""

from __future__ import annotations

import uuid
from typing import Any

from azure.core.exceptions import HttpResponseError

from tests.clients.operation import Suite

SUITE = Suite("Python SDKs")
_operation = SUITE.operation


@_operation("resource providers.list")
def _(c: Any) -> None:
    found = {provider.namespace: provider for provider in c.resource.providers.list()}
    assert found["Microsoft.Compute"].registration_state == "Registered"


@_operation("resource providers.get")
def _(c: Any) -> None:
    types = {item.resource_type: item for item in c.resource.providers.get("Microsoft.Compute").resource_types}
    assert "2025-04-01" in types["virtualMachines"].api_versions
    assert c.place.location in types["virtualMachines"].locations


@_operation("resource providers.register")
def _(c: Any) -> None:
    assert c.resource.providers.register("Microsoft.Compute").registration_state == "Registered"


@_operation("resource rg.create")
def _(c: Any) -> None:
    made = c.resource.resource_groups.create_or_update("new", {"location": c.place.location, "tags": {"a": "b"}})
    assert (made.name, made.tags, made.properties.provisioning_state) == ("new", {"a": "b"}, "Succeeded")


@_operation("resource rg.list")
def _(c: Any) -> None:
    assert "new" in {group.name for group in c.resource.resource_groups.list()}
    tagged = c.resource.resource_groups.list(filter="tagName eq 'a' and tagValue eq 'b'")
    assert [group.name for group in tagged] == ["new"]


@_operation("resource rg.check_existence")
def _(c: Any) -> None:
    assert c.resource.resource_groups.check_existence("new") is True


@_operation("resource rg.check_existence missing")
def _(c: Any) -> None:
    assert c.resource.resource_groups.check_existence("nope") is False


@_operation("resource rg.update")
def _(c: Any) -> None:
    assert c.resource.resource_groups.update("new", {"tags": {"c": "d"}}).tags == {"c": "d"}


@_operation("resource rg.delete")
def _(c: Any) -> None:
    body = {"location": c.place.location, "properties": {"addressSpace": {"addressPrefixes": ["10.9.0.0/16"]}}}
    c.network.virtual_networks.begin_create_or_update("new", "inside", body).result()
    c.resource.resource_groups.begin_delete("new").result()
    assert c.resource.resource_groups.check_existence("new") is False
    assert "inside" not in {vnet.name for vnet in c.network.virtual_networks.list_all()}


@_operation("resource resources.list")
def _(c: Any) -> None:
    found = list(c.resource.resources.list(filter="resourceType eq 'Microsoft.Network/virtualNetworks'"))
    assert {item.type for item in found} == {"Microsoft.Network/virtualNetworks"}
    assert "aks-vnet-12345678" in {item.name for item in found}


@_operation("resource resources.list_by_rg")
def _(c: Any) -> None:
    assert "kubernetes" in {item.name for item in c.resource.resources.list_by_resource_group(c.place.nodes)}


@_operation("resource resources.get_by_id")
def _(c: Any) -> None:
    id_ = c.place.id(c.place.nodes, "Microsoft.Network/virtualNetworks", "aks-vnet-12345678")
    found = c.resource.resources.get_by_id(id_, api_version="2022-01-01")
    assert (found.name, found.location) == ("aks-vnet-12345678", c.place.location)


@_operation("resource tags at scope")
def _(c: Any) -> None:
    id_ = c.place.id(c.place.nodes, "Microsoft.Network/virtualNetworks", "aks-vnet-12345678")
    made = c.resource.tags.begin_update_at_scope(
        id_, {"operation": "Merge", "properties": {"tags": {"a": "b"}}}
    ).result()
    assert made.properties.tags["a"] == "b"
    assert c.resource.tags.get_at_scope(id_).properties.tags["a"] == "b"


@_operation("authorization role_assignments.create")
def _(c: Any) -> None:
    role = f"/subscriptions/{c.place.subscription}/providers/Microsoft.Authorization/roleDefinitions/"
    role += "b24988ac-6180-42a0-ab88-20f7382dd24c"
    body = {
        "properties": {
            "roleDefinitionId": role,
            "principalId": str(uuid.UUID(int=1)),
            "principalType": "ServicePrincipal",
        }
    }
    scope = f"/subscriptions/{c.place.subscription}/resourceGroups/{c.place.nodes}"
    made = c.authorization.role_assignments.create(scope, str(uuid.UUID(int=7)), body)
    assert (made.scope, made.role_definition_id) == (scope, role)
    try:
        c.authorization.role_assignments.create(scope, str(uuid.UUID(int=8)), body)
    except HttpResponseError as error:
        assert error.error.code == "RoleAssignmentExists"
    else:
        raise AssertionError("twice")


@_operation("authorization role_definitions.list")
def _(c: Any) -> None:
    scope = f"/subscriptions/{c.place.subscription}"
    [found] = c.authorization.role_definitions.list(scope, filter="roleName eq 'Reader'")
    assert found.permissions[0].actions == ["*/read"]


@_operation("msi create")
def _(c: Any) -> None:
    made = c.identity.user_assigned_identities.create_or_update(c.place.group, "id", {"location": c.place.location})
    assert made.client_id != made.principal_id
    assert made.tenant_id == c.place.tenant


@_operation("msi federated creds list")
def _(c: Any) -> None:
    body = {
        "issuer": "https://issuer",
        "subject": "system:serviceaccount:a:b",
        "audiences": ["api://AzureADTokenExchange"],
    }
    credentials = c.identity.federated_identity_credentials
    made = credentials.create_or_update(c.place.group, "id", "fc", {"properties": body})
    assert made.subject == body["subject"]
    assert [item.name for item in credentials.list(c.place.group, "id")] == ["fc"]
