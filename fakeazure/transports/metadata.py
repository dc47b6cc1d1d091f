"""`/metadata/endpoints`: where a cloud's services are. A served cloud names itself, by the address that the client used, and is its
own authority: also a client that believes to talk to management.azure.com is never sent to the real login.

Shapes by api-version: an object of the old names (2015-01-01), a list of clouds (2019-05-01), one cloud (2020-06-01 and later), which
is what `az cloud register` asks for (azure-cli command_modules/cloud/custom.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

ALIASES = "/_fakeazure/image-aliases.json"
"""The path of the list of image aliases that az looks `--image Ubuntu2404` up in."""


def audiences(origin: str) -> tuple[str, ...]:
    """The audiences of a token for the cloud at `origin`, without trailing slash; the first is what clients are told to ask for."""
    return (
        origin,
        "https://management.azure.com",
        "https://management.core.windows.net",
        "https://management.fake.test",
    )


def endpoints(origin: str, version: str) -> Mapping[str, Any] | list[Mapping[str, Any]]:
    """The description of the cloud at `origin` (scheme and host)."""
    host = origin.partition("://")[2]
    authentication = {
        "loginEndpoint": f"{origin}/",
        "audiences": [f"{origin}/", origin],
        "tenant": "common",
        "identityProvider": "AAD",
    }
    if version.startswith("2015"):
        return {
            "galleryEndpoint": f"{origin}/",
            "graphEndpoint": f"{origin}/",
            "portalEndpoint": f"{origin}/",
            "authentication": {"loginEndpoint": f"{origin}/", "audiences": [f"{origin}/", origin]},
        }
    cloud = {
        "name": "FakeAzure",
        "portal": origin,
        "authentication": authentication,
        "media": origin,
        "graphAudience": f"{origin}/",
        "graph": f"{origin}/",
        "microsoftGraphResourceId": f"{origin}/",
        "suffixes": {"storage": host, "keyVaultDns": host, "acrLoginServer": host, "sqlServerHostname": host},
        "batch": f"{origin}/",
        "resourceManager": f"{origin}/",
        "vmImageAliasDoc": f"{origin}{ALIASES}",
        "sqlManagement": f"{origin}/",
        "gallery": f"{origin}/",
    }
    return [cloud] if version.startswith("2019") else cloud
