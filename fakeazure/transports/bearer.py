"""Bearer tokens as ARM judges them: form, signature, expiry, issuer, audience, each with Azure's own words.

A token is a JWT that is signed with a key of its tenant and of the cloud's secret: nobody makes one who does not know that.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from fakeazure.arm.errors import Failure
from fakeazure.arm.texts import failure
from fakeazure.guids import guid_of

LIFETIME = 24 * 3600
SKEW = 300
"""Seconds by which the clocks of client and service may differ."""
_KNOWN = 1000
"""So many tokens are kept."""
_HEADER = {"alg": "HS256", "typ": "JWT", "kid": "fakeazure"}


def _encoded(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


def _signature(tenant: str, secret: str, text: str) -> str:
    key = hashlib.sha256(f"fakeazure/{tenant.lower()}/{secret}".encode("utf-8", "replace")).digest()
    return _encoded(hmac.new(key, text.encode(), hashlib.sha256).digest())


def sign(claims: Mapping[str, Any], tenant: str, secret: str) -> str:
    """The JWT with these claims, issued by `tenant` of the cloud with this secret."""
    parts = (json.dumps(part, separators=(",", ":")).encode() for part in (_HEADER, claims))
    text = ".".join(_encoded(part) for part in parts)
    return f"{text}.{_signature(tenant, secret, text)}"


def claims_of(tenant: str, *, audience: str, client: str, now: float, lifetime: int = LIFETIME) -> dict[str, Any]:
    """The claims of a token that is issued `now`, seconds since the epoch."""
    issued = int(now)
    return {
        "aud": audience,
        "iss": issuer(tenant),
        "iat": issued,
        "nbf": issued,
        "exp": issued + lifetime,
        "appid": client or guid_of("client"),
        "oid": guid_of(f"object{client}"),
        "sub": guid_of(f"object{client}"),
        "tid": tenant,
        "ver": "1.0",
    }


def issuer(tenant: str) -> str:
    """Return a tenant's name of itself in its tokens."""
    return f"https://sts.windows.net/{tenant}/"


class Judge:
    """Judges `Authorization` headers for one tenant. A token that was read once is known again, so a client's second call is cheap."""

    def __init__(self, tenant: str, secret: str, *, any_tenant: bool = False) -> None:
        """Let in tokens of `tenant`, of the cloud with this secret; of every tenant with `any_tenant`."""
        self._tenant = tenant
        self._any_tenant = any_tenant
        self._secret = secret
        self._known: dict[str, Mapping[str, Any]] = {}

    def problem(self, authorization: str | None, *, audiences: tuple[str, ...], now: float) -> Failure | None:
        """Return the reason why a request with this header is refused, None if it is accepted. `now` in seconds since the epoch."""
        if not authorization:
            return failure("AuthenticationFailed")
        claims = self._known.get(authorization)
        if claims is None:
            scheme, _, token = authorization.strip().partition(" ")
            if scheme.lower() != "bearer" or not token.strip():
                return failure("AuthenticationFailedInvalidHeader")
            claims = _claims(token.strip(), self._secret)
            if claims is None:
                return failure("InvalidAuthenticationToken")
            if len(self._known) >= _KNOWN:
                self._known.clear()
            self._known[authorization] = claims
        return self._judge(claims, audiences, now)

    def _judge(self, claims: Mapping[str, Any], audiences: tuple[str, ...], now: float) -> Failure | None:
        expiry, start, tenant = _moment(claims.get("exp")), _moment(claims.get("nbf")), str(claims.get("tid"))
        if expiry is None or start is None or start > now + SKEW:
            return failure("InvalidAuthenticationToken")
        if expiry <= now - SKEW:
            return failure("ExpiredAuthenticationToken", expiry=_written(expiry), now=_written(now))
        foreign = tenant.lower() != self._tenant.lower() and not self._any_tenant
        if foreign or claims.get("iss") != issuer(tenant):
            own = issuer(self._tenant)
            return failure("InvalidAuthenticationTokenTenant", issuer=claims.get("iss"), own=own, tenant=self._tenant)
        audience = str(claims.get("aud", ""))
        if audience.rstrip("/") not in audiences:
            allowed = ",".join(f"'{name}/','{name}'" for name in audiences)
            return failure("InvalidAuthenticationTokenAudience", audience=audience, allowed=allowed)
        return None


def _claims(token: str, secret: str) -> Mapping[str, Any] | None:
    """The claims of a well-formed token whose signature is that of the tenant that it names."""
    parts = token.split(".")
    if len(parts) != 3 or not token.isascii():
        return None
    try:
        header, claims = (json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))) for part in parts[:2])
    except (ValueError, binascii.Error, RecursionError):
        return None
    if not isinstance(claims, dict) or not isinstance(header, dict) or header.get("alg") != _HEADER["alg"]:
        return None
    wanted = _signature(str(claims.get("tid", "")), secret, ".".join(parts[:2]))
    return claims if hmac.compare_digest(wanted, parts[2]) else None


def _moment(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e11:
        return None
    return float(value)


def _written(moment: float) -> str:
    """`11/22/2026 1:04:06 PM`."""
    then = datetime.fromtimestamp(moment, UTC)
    hour = then.hour % 12 or 12
    return f"{then.month}/{then.day}/{then.year} {hour}:{then.minute:02d}:{then.second:02d} {'PM' if then.hour >= 12 else 'AM'}"
