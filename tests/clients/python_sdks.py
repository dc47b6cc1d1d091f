"""The Python SDKs of Azure against a served cloud: what of each answer is asserted. Run by tests/clients/run.py in the clients' venv."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import azure.identity
from azure.mgmt.authorization import AuthorizationManagementClient
from azure.mgmt.compute import ComputeManagementClient
from azure.mgmt.containerservice import ContainerServiceClient
from azure.mgmt.msi import ManagedServiceIdentityClient
from azure.mgmt.network import NetworkManagementClient
from azure.mgmt.resource.resources import ResourceManagementClient
from azure.mgmt.resourcegraph import ResourceGraphClient

from tests.clients import python_aks, python_compute, python_graph, python_network, python_resources, python_vms
from tests.clients.operation import Place, tell

AUDIENCE = "https://management.azure.com/.default"


@dataclass
class Context:
    """The clients, all with one credential."""

    place: Place
    credential: Any
    compute: Any
    network: Any
    aks: Any
    resource: Any
    graph: Any
    identity: Any
    authorization: Any
    kept: dict[str, Any]


def connect(place: Place) -> Context:
    """Clients as somebody would make them who has read the how-to."""
    credential = azure.identity.ManagedIdentityCredential()
    options: dict[str, Any] = {"base_url": place.url, "credential_scopes": [AUDIENCE], "polling_interval": 0.2}
    subscribed = {"credential": credential, "subscription_id": place.subscription, **options}
    return Context(
        place,
        credential,
        ComputeManagementClient(**subscribed),
        NetworkManagementClient(**subscribed),
        ContainerServiceClient(**subscribed),
        ResourceManagementClient(**subscribed),
        ResourceGraphClient(credential=credential, **options),
        ManagedServiceIdentityClient(**subscribed),
        AuthorizationManagementClient(**subscribed),
        {},
    )


if __name__ == "__main__":
    context = connect(Place.read())
    for part in (python_compute, python_network, python_vms, python_graph, python_aks, python_resources):
        tell(part.SUITE.run(context))
