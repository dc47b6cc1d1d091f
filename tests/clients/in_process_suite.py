"""Tests as somebody has them who uses Azure's SDKs: every credential, the `.aio` clients, httpx; run by test_in_process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import aiohttp
import httpx
import msal
import pytest
from azure.core.exceptions import HttpResponseError
from azure.identity import (
    ClientSecretCredential,
    DefaultAzureCredential,
    EnvironmentCredential,
    ManagedIdentityCredential,
    WorkloadIdentityCredential,
)
from azure.identity.aio import DefaultAzureCredential as AsyncDefaultAzureCredential
from azure.mgmt.compute import ComputeManagementClient
from azure.mgmt.compute.aio import ComputeManagementClient as AsyncComputeManagementClient

from fakeazure import mock_azure
from fakeazure.mock import MockAzure

TENANT = "72f988bf-86f1-41af-91ab-2d7cd011db47"
SUBSCRIPTION = "deadbeef-0000-0000-0000-000000000001"
SIZE = "Standard_D2s_v5"
SCOPE = "https://management.azure.com/.default"


def workload_identity(folder: Path) -> WorkloadIdentityCredential:
    file = folder / "token"
    file.write_text("eyJhbGciOiJub25lIn0.eyJzdWIiOiJzIn0.")
    return WorkloadIdentityCredential(tenant_id=TENANT, client_id="c", token_file_path=str(file))


CREDENTIALS: dict[str, Callable[[Path], Any]] = {
    "client secret": lambda folder: ClientSecretCredential(TENANT, "app", "secret"),
    "environment": lambda folder: EnvironmentCredential(),
    "managed identity": lambda folder: ManagedIdentityCredential(),
    "identity by its id": lambda folder: ManagedIdentityCredential(client_id=TENANT),
    "workload identity": workload_identity,
    "default": lambda folder: DefaultAzureCredential(),
    "default without an environment": lambda folder: DefaultAzureCredential(exclude_environment_credential=True),
}


@pytest.mark.parametrize("subscription", [None, SUBSCRIPTION])
@pytest.mark.parametrize("credential", CREDENTIALS)
def test_every_credential_works(
    fake_azure: MockAzure, credential: str, subscription: str | None, tmp_path: Path
) -> None:
    client = ComputeManagementClient(CREDENTIALS[credential](tmp_path), subscription or fake_azure.subscription)
    assert list(client.virtual_machines.list_all()) == []
    fake_azure.calls.where(method="GET", resource="virtualMachines", status=200).times(1)


def test_msal_works(fake_azure: MockAzure) -> None:
    authority = f"https://login.microsoftonline.com/{TENANT}"
    application = msal.ConfidentialClientApplication("c", authority=authority, client_credential="s")
    assert "access_token" in application.acquire_token_for_client([SCOPE])


@mock_azure()
class TestAsynchronous:
    def test_the_clients_of_aio(self, azure: MockAzure) -> None:
        async def names() -> set[str]:
            async with (
                AsyncDefaultAzureCredential() as credential,
                AsyncComputeManagementClient(credential, azure.subscription) as client,
            ):
                return {sku.name async for sku in client.resource_skus.list(filter="location eq 'eastus'")}

        assert SIZE in asyncio.run(names())

    def test_aiohttp_and_httpx(self, azure: MockAzure) -> None:
        url = "https://management.azure.com/subscriptions?api-version=2022-12-01"
        headers = {"Authorization": f"Bearer {azure.token().token}"}

        async def statuses() -> list[int]:
            async with aiohttp.ClientSession() as session, session.get(url, headers=headers) as answer:
                first = answer.status
            async with httpx.AsyncClient() as client:
                return [first, (await client.get(url, headers=headers)).status_code]

        assert asyncio.run(statuses()) == [200, 200]
        assert httpx.get(url, headers=headers).status_code == 200

    def test_the_errors_are_azures(self, azure: MockAzure) -> None:
        client = ComputeManagementClient(azure.credential(), azure.subscription)
        with pytest.raises(HttpResponseError, match="ResourceNotFound") as refused:
            client.virtual_machines.get("rg", "none")
        assert refused.value.status_code == 404
