"""Tokens that every client can get: managed identity (App Service, Cloud Shell, IMDS), Entra and ADFS authorities.

The tokens are unsigned JWTs: clients look into them, nobody here checks them. Shapes: azure-api.md §1.3.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qsl

from fakeazure.arm.messages import Response
from fakeazure.guids import guid_of

LIFETIME = 24 * 3600
_IDENTITY_PATHS = ("/msi/token", "/oauth2/token", "/metadata/identity/oauth2/token")


def _part(document: Mapping[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(document).encode()).decode().rstrip("=")


class Tokens:
    """The token endpoints of one tenant."""

    def __init__(self, tenant: str, now: Callable[[], float]) -> None:
        """Issue tokens of `tenant` that live a day from `now`, seconds since the epoch."""
        self._tenant = tenant
        self._now = now

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
        if lowered.endswith("/.well-known/openid-configuration"):
            return self._configuration(path, origin)
        if lowered == "/common/discovery/instance":
            return self._discovery(query, origin)
        if method == "POST" and (lowered.endswith(("/oauth2/v2.0/token", "/oauth2/token"))):
            form = dict(parse_qsl(raw.decode("utf-8", "replace")))
            audience = form.get("resource") or form.get("scope", "").removesuffix("/.default")
            body = {"token_type": "Bearer", "expires_in": LIFETIME, "ext_expires_in": LIFETIME}
            return Response(200, body={**body, "access_token": self.token(audience, form.get("client_id", ""))})
        return None

    def token(self, audience: str, client: str = "") -> str:
        """An unsigned JWT."""
        now = int(self._now())
        claims = {
            "aud": audience,
            "iss": f"https://sts.windows.net/{self._tenant}/",
            "iat": now,
            "nbf": now,
            "exp": now + LIFETIME,
            "appid": client or guid_of("client"),
            "oid": guid_of(f"object{client}"),
            "tid": self._tenant,
        }
        return f"{_part({'alg': 'none', 'typ': 'JWT'})}.{_part(claims)}.unsigned"

    def _identity(self, method: str, query: Mapping[str, str], headers: Mapping[str, str], raw: bytes) -> Response:
        given = dict(query)
        if method == "POST":  # Cloud Shell
            given |= dict(parse_qsl(raw.decode("utf-8", "replace")))
        if "x-identity-header" not in headers and headers.get("metadata", "").lower() != "true":
            error = "Required metadata header not specified"
            return Response(400, body={"error": "invalid_request", "error_description": error})
        resource = given.get("resource", "")
        if not resource:
            return Response(400, body={"error": "invalid_resource", "error_description": "resource is missing"})
        return Response(
            200,
            body={
                "access_token": self.token(resource, given.get("client_id", "")),
                "expires_on": str(int(self._now()) + LIFETIME),
                "resource": resource,
                "token_type": "Bearer",
                "client_id": given.get("client_id") or guid_of("client"),
            },
        )

    def _configuration(self, path: str, origin: str) -> Response:
        tenant = path.strip("/").split("/")[0]
        adfs = tenant.lower() == "adfs"
        token = f"{origin}/{tenant}/oauth2/{'' if adfs else 'v2.0/'}token"
        return Response(
            200,
            body={
                "issuer": f"{origin}/{tenant}" + ("" if adfs else "/v2.0"),
                "authorization_endpoint": f"{origin}/{tenant}/oauth2/{'' if adfs else 'v2.0/'}authorize",
                "token_endpoint": token,
                "token_endpoint_auth_methods_supported": ["client_secret_post"],
                "response_types_supported": ["code", "id_token", "token"],
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
