"""Who is let in: ARM's own words for each token that is not good enough."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import pytest

from fakeazure.beginning import TENANT
from fakeazure.cloud import FakeAzure
from fakeazure.transports.bearer import claims_of, sign
from fakeazure.transports.wire import Front, Reply
from tests.cloud.driver import CATALOGUE
from tests.transports.guarded import GUARD, SECRET

NOW = 1_800_000_000.0
OTHER = "11111111-1111-1111-1111-111111111111"
ORIGIN = "https://127.0.0.1:8443"
PROOF = f"grant_type=client_credentials&client_secret={quote(SECRET)}"
CLAIMS = claims_of(TENANT, audience="https://management.azure.com/", client="", now=NOW)


def front(**options: Any) -> Front:
    return Front(FakeAzure(catalogue=CATALOGUE), wall=lambda: NOW, guard=GUARD, **options)


def ask(served: Front, authorization: str | None) -> Reply:
    headers = {} if authorization is None else {"Authorization": authorization}
    return served.handle("GET", "/subscriptions?api-version=2022-12-01", headers, b"", origin=ORIGIN)


def signed(**changes: Any) -> str:
    claims = {**CLAIMS, **changes}
    return f"Bearer {sign(claims, claims['tid'], SECRET)}"


def forged() -> str:
    head, _, signature = sign(CLAIMS, TENANT, SECRET).split(".")
    claims = base64.urlsafe_b64encode(json.dumps({**CLAIMS, "exp": NOW + 1e6}).encode()).decode().rstrip("=")
    return f"Bearer {head}.{claims}.{signature}"


def unsigned() -> str:
    parts = ({"alg": "none"}, dict(CLAIMS))
    encoded = (base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts)
    return f"Bearer {'.'.join(encoded)}."


@pytest.mark.parametrize(
    ("authorization", "code", "part"),
    [
        (None, "AuthenticationFailed", "The 'Authorization' header is missing."),
        ("", "AuthenticationFailed", "The 'Authorization' header is missing."),
        ("Basic eDp5", "AuthenticationFailed", "The 'Authorization' header is provided in an invalid format."),
        ("Bearer", "AuthenticationFailed", "in an invalid format."),
        ("Bearer garbage", "InvalidAuthenticationToken", "The access token is invalid."),
        ("Bearer a.b.c", "InvalidAuthenticationToken", ""),
        ("Bearer é.é.é", "InvalidAuthenticationToken", ""),
        (forged(), "InvalidAuthenticationToken", ""),
        (unsigned(), "InvalidAuthenticationToken", ""),
        (signed(nbf=NOW + 3600), "InvalidAuthenticationToken", ""),
        (signed(exp="soon"), "InvalidAuthenticationToken", ""),
        (
            signed(exp=NOW - 3600),
            "ExpiredAuthenticationToken",
            "The access token expiry UTC time '1/15/2027 7:00:00 AM' is earlier than current UTC time '1/15/2027 8:00:00 AM'.",
        ),
        (
            signed(tid=OTHER, iss=f"https://sts.windows.net/{OTHER}/"),
            "InvalidAuthenticationTokenTenant",
            f"wrong issuer 'https://sts.windows.net/{OTHER}/'. It must match the tenant 'https://sts.windows.net/{TENANT}/'",
        ),
        (
            signed(aud="https://vault.azure.net"),
            "InvalidAuthenticationTokenAudience",
            "obtained for wrong audience or resource 'https://vault.azure.net'. It should exactly match with one of the allowed",
        ),
    ],
    ids=[
        *("none", "empty", "basic", "no-token", "garbage", "three-parts", "not-ascii", "forged", "unsigned", "early"),
        *("odd-expiry", "expired", "tenant", "audience"),
    ],
)
def test_refused(authorization: str | None, code: str, part: str) -> None:
    reply = ask(front(), authorization)
    error = json.loads(reply.body)["error"]
    assert (reply.status, error["code"]) == (401, code)
    assert part in error["message"]
    assert reply.headers["WWW-Authenticate"].startswith(f'Bearer authorization_uri="{ORIGIN}/{TENANT}"')
    assert reply.headers["x-ms-error-code"] == code
    assert ask(front(authenticate=False), authorization).status == 200


@pytest.mark.parametrize(
    "audience",
    [
        "https://management.azure.com",
        "https://management.core.windows.net/",
        ORIGIN,
        f"{ORIGIN}/",
        "https://management.fake.test",
    ],
)
def test_audiences_of_clients(audience: str) -> None:
    served = front()
    assert ask(served, signed(aud=audience)).status == 200
    assert ask(served, signed(aud=audience, exp=NOW - 60)).status == 200  # clocks differ by minutes
    assert ask(served, signed(aud=audience, appid="someone else")).status == 200


def post(path: str, form: str, headers: Mapping[str, str] | None = None) -> tuple[int, Mapping[str, Any]]:
    reply = front().handle("POST", path, headers or {}, form.encode(), origin=ORIGIN)
    return reply.status, json.loads(reply.body)


def test_authority_refuses_what_nobody_could_use() -> None:
    status, body = post(f"/{OTHER}/oauth2/v2.0/token", "client_id=a&scope=https://management.azure.com//.default")
    assert (status, body["error"]) == (400, "invalid_request")
    assert body["error_description"].startswith(f"AADSTS90002: Tenant '{OTHER}' not found.")
    for form, missing in (
        ("scope=x/.default", "client_id"),
        ("client_id=a", "scope"),
        ("client_id=a&scope=openid", "scope"),
    ):
        status, body = post(f"/{TENANT}/oauth2/v2.0/token", form)
        assert (status, f"'{missing}'" in body["error_description"]) == (400, True)


@pytest.mark.parametrize("tenant", [TENANT, "common", "adfs", "contoso.onmicrosoft.com"])
def test_tokens_of_an_authority_are_good(tenant: str) -> None:
    scope = "https://management.core.windows.net//.default openid profile offline_access"
    status, body = post(f"/{tenant}/oauth2/v2.0/token", f"client_id=a&{PROOF}&scope={scope}")
    assert (status, body["expires_in"]) == (200, 86400)
    assert ask(front(), f"Bearer {body['access_token']}").status == 200


def test_many_tokens_are_not_kept_for_ever() -> None:
    served = front()
    for number in range(2500):
        assert ask(served, signed(appid=str(number))).status == 200
    assert len(served._judge._known) <= 1000


@pytest.mark.parametrize(
    ("claims", "code"),
    [
        ({"nbf": NOW + 300}, None),
        ({"nbf": NOW + 301}, "InvalidAuthenticationToken"),
        ({"exp": NOW - 299}, None),
        ({"exp": NOW - 300}, "ExpiredAuthenticationToken"),
    ],
)
def test_clocks_may_differ_by_five_minutes(claims: dict[str, Any], code: str | None) -> None:
    """ClockSkew of Microsoft's token validation: 300 seconds, either way."""
    reply = ask(front(), signed(**claims))
    assert reply.headers.get("x-ms-error-code") == code
    assert reply.status == (401 if code else 200)


def test_a_form_has_a_hundred_fields_at_most() -> None:
    fields = "&".join(f"field{number}=x" for number in range(96))
    form = f"{fields}&client_id=a&{PROOF}&scope=https://management.azure.com/.default"
    assert post(f"/{TENANT}/oauth2/v2.0/token", form)[0] == 200
    status, body = post(f"/{TENANT}/oauth2/v2.0/token", f"more=x&{form}")
    assert (status, body["error"]) == (400, "invalid_request")


@pytest.mark.parametrize(
    ("hours", "written"), [(8, "1/15/2027 12:00:00 AM"), (20, "1/14/2027 12:00:00 PM"), (19, "1/14/2027 1:00:00 PM")]
)
def test_times_are_told_with_noon_and_midnight_as_twelve(hours: int, written: str) -> None:
    message = json.loads(ask(front(), signed(exp=NOW - hours * 3600)).body)["error"]["message"]
    assert f"expiry UTC time '{written}'" in message
