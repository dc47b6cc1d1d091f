"""Tokens that every client can get: managed identity (App Service, Cloud Shell, IMDS), Entra and ADFS authorities, AKS's gallery.

Any client id is taken. What is asked for is checked, the tenant and the resource, and what proves who asks: it has to be the cloud's
secret, as `client_secret`, `client_assertion` (the content of AZURE_FEDERATED_TOKEN_FILE), `password` or `X-IDENTITY-HEADER`. IMDS and
Cloud Shell ask for no secret, as in Azure. Texts and codes: learn.microsoft.com/entra/identity-platform/reference-error-codes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qsl

from fakeazure.arm.messages import Response
from fakeazure.guids import guid_of, is_guid
from fakeazure.transports.bearer import LIFETIME, claims_of, sign
from fakeazure.transports.guard import OPEN, Guard

GALLERY_PATH = "/sig-access-token"
"""The path of tokens for AKS's gallery; the secret follows as a part of the path."""
_APP_SERVICE = "/msi/token"
_IDENTITY_METHODS: Mapping[str, tuple[str, ...]] = {
    _APP_SERVICE: ("GET",),
    "/oauth2/token": ("GET", "POST"),
    "/metadata/identity/oauth2/token": ("GET",),
}
"""The identity endpoints of App Service, Cloud Shell and IMDS, with their methods."""
_PROOFS = {
    "client_secret": (
        401,
        "invalid_client",
        "AADSTS7000215: Invalid client secret provided. Ensure the secret being sent in the request is the client secret "
        "value, not the client secret ID, for a secret added to app '{client}'.",
    ),
    "client_assertion": (401, "invalid_client", "AADSTS700027: Client assertion failed signature validation."),
    "password": (
        400,
        "invalid_grant",
        "AADSTS50126: Error validating credentials due to invalid username or password.",
    ),
}
"""Fields that prove who asks → the answer to a wrong one: status, error, description."""


class Tokens:
    """The token endpoints of one tenant, or of all."""

    def __init__(self, tenant: str, now: Callable[[], float], guard: Guard = OPEN, *, any_tenant: bool = False) -> None:
        """Issue tokens of `tenant` that live a day from `now`, seconds since the epoch on the clients' clock.

        The secret of `guard` signs them, and is asked of whoever wants one. With `any_tenant` each tenant gets tokens of its own.
        """
        self._tenant = tenant
        self._any_tenant = any_tenant
        self._guard = guard
        self.now = now
        self.lifetime = LIFETIME
        """The lifetime in seconds of the tokens that are given out from now on."""

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
        if lowered in _IDENTITY_METHODS:
            return self._identity_refusal(method, lowered, headers) or self._identity(method, query, raw)
        if lowered == GALLERY_PATH:
            return _refused("unauthorized_client", "the secret is the last part of SIG_ACCESS_TOKEN_SERVER_URL", 401)
        if lowered.startswith(f"{GALLERY_PATH}/"):
            return self._gallery(method, path, query)
        if lowered.endswith("/.well-known/openid-configuration"):
            return self._configuration(path, origin)
        if lowered.endswith(("/discovery/v2.0/keys", "/discovery/keys")):
            return Response(
                200, body={"keys": []}
            )  # tokens are signed with the cloud's own secret, which has no public part
        if lowered == "/common/discovery/instance":
            return self._discovery(query, origin)
        if lowered.startswith("/common/userrealm/"):
            return Response(200, body={"ver": "1.0", "account_type": "Unknown", "cloud_instance_name": "FakeAzure"})
        if method == "POST" and lowered.endswith(("/oauth2/v2.0/token", "/oauth2/token")):
            return self._token(path, dict(_form(raw)))
        return None

    def token(
        self,
        audience: str = "https://management.azure.com",
        client: str = "",
        lifetime: int | None = None,
        tenant: str = "",
    ) -> str:
        """A signed JWT for `audience`, of the cloud's own tenant where no guid of one is given."""
        seconds = self.lifetime if lifetime is None else lifetime
        issuing = tenant if is_guid(tenant) else self._tenant
        claims = claims_of(issuing, audience=audience, client=client, now=self.now(), lifetime=seconds)
        return sign(claims, issuing, self._guard.secret)

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
        refused = self._unproven(form)
        if refused is not None:
            return refused
        body: dict[str, Any] = {"token_type": "Bearer", "expires_in": self.lifetime, "ext_expires_in": self.lifetime}
        if "resource" in form:  # the older endpoint tells more, as text
            now = int(self.now())
            body |= {"expires_on": str(now + self.lifetime), "not_before": str(now), "resource": audience}
        return Response(200, body={**body, "access_token": self.token(audience, form["client_id"], tenant=tenant)})

    def _foreign(self, tenant: str) -> bool:
        """Return whether a tenant is asked for that is not here; names and aliases (`common`, `adfs`) mean the one that is."""
        return not self._any_tenant and is_guid(tenant) and tenant.lower() != self._tenant.lower()

    def _unproven(self, form: Mapping[str, str]) -> Response | None:
        """Return the authority's refusal of somebody who does not prove to know the secret."""
        if self._guard.opened:
            return None
        if not form.get("grant_type"):
            return _refused(
                "invalid_request", "AADSTS900144: The request body must contain the following parameter: 'grant_type'."
            )
        proof = next((name for name in _PROOFS if form.get(name)), None)
        if proof is None:
            text = "AADSTS7000216: 'client_assertion', 'client_secret' or 'request' is required for the '{grant}' grant type."
            return _refused("invalid_client", text.format(grant=form["grant_type"][:50]), 401)
        if self._guard.knows(form[proof]):
            return None
        status, code, text = _PROOFS[proof]
        return _refused(code, text.format(client=form["client_id"][:100]), status)

    def _identity_refusal(self, method: str, path: str, headers: Mapping[str, str]) -> Response | None:
        """Return an identity endpoint's refusal of a request: its method, or the header that no page and no proxy can send."""
        if method not in _IDENTITY_METHODS[path]:
            return _refused("invalid_request", "Method not allowed", 405)
        if path != _APP_SERVICE:
            allowed = headers.get("metadata", "").lower() == "true" and "x-forwarded-for" not in headers
            return None if allowed else _refused("invalid_request", "Required metadata header not specified")
        secret = headers.get("x-identity-header")
        if secret is None:
            return _refused("invalid_request", "Required X-IDENTITY-HEADER header not specified")
        if not self._guard.knows(
            secret
        ):  # the status is App Service's (Azure/azure-sdk-for-js#11595), the words are ours
            return _refused("unauthorized_client", "X-IDENTITY-HEADER is not the value of IDENTITY_HEADER", 401)
        return None

    def _identity(self, method: str, query: Mapping[str, str], raw: bytes) -> Response:
        fields = dict(query)
        if method == "POST":  # Cloud Shell
            fields |= dict(_form(raw))
        resource = fields.get("resource", "")
        if not resource:
            return _refused("invalid_resource", "resource is missing")
        now = int(self.now())
        return Response(
            200,
            body={
                "access_token": self.token(resource, fields.get("client_id", "")),
                "expires_on": str(now + self.lifetime),
                "expires_in": str(self.lifetime),
                "not_before": str(now),
                "resource": resource,
                "token_type": "Bearer",
                "client_id": fields.get("client_id") or guid_of("client"),
            },
        )

    def _gallery(self, method: str, path: str, query: Mapping[str, str]) -> Response:
        """The server that a controller run by AKS asks for a second token, for AKS's own gallery (kaz pkg/auth AuxiliaryTokenPolicy).

        The controller can send no header there, so the secret is in the URL that it is given.
        """
        if method != "GET":
            return _refused("invalid_request", "Method not allowed", 405)
        if not self._guard.knows(path[len(GALLERY_PATH) + 1 :]):
            return _refused("unauthorized_client", "the secret in the URL is not the one of this cloud", 401)
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
                "jwks_uri": f"{origin}/{tenant}/discovery/{'' if adfs else 'v2.0/'}keys",
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


def _refused(code: str, text: str, status: int = 400) -> Response:
    return Response(status, body={"error": code, "error_description": text})


def _no_tenant(code: str, tenant: str) -> Response:
    return _refused(
        code,
        f"AADSTS90002: Tenant '{tenant}' not found. Check to make sure you have the correct tenant ID and are signing into the "
        "correct cloud. Check with your subscription administrator, this may happen if there are no active subscriptions for the tenant.",
    )
