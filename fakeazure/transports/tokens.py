"""Tokens that every client can get: managed identity (App Service, Cloud Shell, IMDS), Entra and ADFS authorities, AKS's gallery.

Any client id and secret is taken; what is asked for is checked: the tenant, the resource.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qsl

from fakeazure.arm.messages import Response
from fakeazure.guids import guid_of
from fakeazure.transports.bearer import LIFETIME, claims_of, sign

GALLERY_PATH = "/sig-access-token"
_IDENTITY_PATHS = ("/msi/token", "/oauth2/token", "/metadata/identity/oauth2/token")
_GUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


class Tokens:
    """The token endpoints of one tenant."""

    def __init__(self, tenant: str, now: Callable[[], float]) -> None:
        """Issue tokens of `tenant` that live a day from `now`, seconds since the epoch on the clients' clock."""
        self._tenant = tenant
        self.now = now
        self.lifetime = LIFETIME
        """How many seconds the tokens live that are given out from now on."""

    def answer(
        self,
        method: str,
        path: str,
        query: Mapping[str, str],
        headers: Mapping[str, str],
        raw: bytes,
        origin: str,
    ) -> Response | None:
        """The answer to a request for a token or for metadata about tokens; None for any other request."""
        lowered = path.lower().rstrip("/")
        if lowered in _IDENTITY_PATHS:
            return self._identity(method, query, headers, raw)
        if lowered == GALLERY_PATH:
            return self._gallery(query)
        if lowered.endswith("/.well-known/openid-configuration"):
            return self._configuration(path, origin)
        if lowered == "/common/discovery/instance":
            return self._discovery(query, origin)
        if lowered.startswith("/common/userrealm/"):
            return Response(200, body={"ver": "1.0", "account_type": "Unknown", "cloud_instance_name": "FakeAzure"})
        if method == "POST" and lowered.endswith(("/oauth2/v2.0/token", "/oauth2/token")):
            return self._token(path, dict(_form(raw)))
        return None

    def token(
        self, audience: str = "https://management.azure.com", client: str = "", lifetime: int | None = None
    ) -> str:
        """A signed JWT for `audience`."""
        seconds = self.lifetime if lifetime is None else lifetime
        return sign(
            claims_of(self._tenant, audience=audience, client=client, now=self.now(), lifetime=seconds), self._tenant
        )

    def _token(self, path: str, form: Mapping[str, str]) -> Response:
        tenant = path.strip("/").split("/")[0]
        if self._foreign(tenant):
            return _no_tenant("invalid_request", tenant)
        if not form.get("client_id"):
            return _refused(
                "invalid_request", "AADSTS900144: The request body must contain the following parameter: 'client_id'."
            )
        audience = form.get("resource") or _audience(form.get("scope", ""))
        if not audience:
            return _refused(
                "invalid_request", "AADSTS900144: The request body must contain the following parameter: 'scope'."
            )
        body: dict[str, Any] = {"token_type": "Bearer", "expires_in": self.lifetime, "ext_expires_in": self.lifetime}
        if "resource" in form:  # the older endpoint tells more, as text
            now = int(self.now())
            body |= {"expires_on": str(now + self.lifetime), "not_before": str(now), "resource": audience}
        return Response(200, body={**body, "access_token": self.token(audience, form["client_id"])})

    def _foreign(self, tenant: str) -> bool:
        """Whether a tenant is asked for that is not here; names and aliases (`common`, `adfs`) mean the one that is."""
        return _GUID.fullmatch(tenant) is not None and tenant.lower() != self._tenant.lower()

    def _identity(self, method: str, query: Mapping[str, str], headers: Mapping[str, str], raw: bytes) -> Response:
        given = dict(query)
        if method == "POST":  # Cloud Shell
            given |= dict(_form(raw))
        if "x-identity-header" not in headers and headers.get("metadata", "").lower() != "true":
            return _refused("invalid_request", "Required metadata header not specified")
        resource = given.get("resource", "")
        if not resource:
            return _refused("invalid_resource", "resource is missing")
        now = int(self.now())
        return Response(
            200,
            body={
                "access_token": self.token(resource, given.get("client_id", "")),
                "expires_on": str(now + self.lifetime),
                "expires_in": str(self.lifetime),
                "not_before": str(now),
                "resource": resource,
                "token_type": "Bearer",
                "client_id": given.get("client_id") or guid_of("client"),
            },
        )

    def _gallery(self, query: Mapping[str, str]) -> Response:
        """The server that a controller run by AKS asks for a second token, for AKS's own gallery (kaz pkg/auth AuxiliaryTokenPolicy)."""
        scope = query.get("scope", "")
        if not scope:
            return Response(400, body={"error": "invalid_scope", "error_description": "scope is missing"})
        expires = datetime.fromtimestamp(int(self.now()) + self.lifetime, UTC).isoformat()
        token = self.token(scope.removesuffix("/.default"))
        return Response(200, body={"Token": token, "ExpiresOn": expires, "RefreshOn": expires})

    def _configuration(self, path: str, origin: str) -> Response:
        tenant = path.strip("/").split("/")[0]
        if self._foreign(tenant):
            return _no_tenant("invalid_tenant", tenant)
        adfs = tenant.lower() == "adfs"
        base = f"{origin}/{tenant}/oauth2/{'' if adfs else 'v2.0/'}"
        return Response(
            200,
            body={
                "issuer": f"{origin}/{tenant}" + ("" if adfs else "/v2.0"),
                "authorization_endpoint": f"{base}authorize",
                "token_endpoint": f"{base}token",
                "device_authorization_endpoint": f"{base}devicecode",
                "token_endpoint_auth_methods_supported": ["client_secret_post"],
                "response_types_supported": ["code", "id_token", "token"],
                "tenant_region_scope": None,
            },
        )

    def _discovery(self, query: Mapping[str, str], origin: str) -> Response:
        host = origin.partition("://")[2]
        endpoint = query.get("authorization_endpoint", f"{origin}/common/oauth2/v2.0/authorize")
        tenant = endpoint.partition("://")[2].partition("/")[2].partition("/")[0]
        return Response(
            200,
            body={
                "tenant_discovery_endpoint": f"{origin}/{tenant}/v2.0/.well-known/openid-configuration",
                "api-version": "1.1",
                "metadata": [{"preferred_network": host, "preferred_cache": host, "aliases": [host]}],
            },
        )


def _form(raw: bytes) -> list[tuple[str, str]]:
    try:
        return parse_qsl(raw.decode("utf-8", "replace"), max_num_fields=100)
    except ValueError:
        return []


def _audience(scope: str) -> str:
    """The resource in `RESOURCE/.default offline_access openid`."""
    return next((word.removesuffix("/.default") for word in scope.split() if word.endswith("/.default")), "")


def _refused(code: str, text: str) -> Response:
    return Response(400, body={"error": code, "error_description": text})


def _no_tenant(code: str, tenant: str) -> Response:
    return _refused(
        code,
        f"AADSTS90002: Tenant '{tenant}' not found. Check to make sure you have the correct tenant ID and are signing into the "
        "correct cloud. Check with your subscription administrator, this may happen if there are no active subscriptions for the tenant.",
    )
