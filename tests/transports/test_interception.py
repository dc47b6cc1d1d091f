"""Which clients a mock answers, what it keeps from leaving, and that nothing of it stays."""

from __future__ import annotations

import asyncio
import http.client
import os
import socket
import threading
import urllib.request
from collections.abc import Callable
from typing import Any
from urllib.error import HTTPError

import pytest

from fakeazure import mock_azure
from fakeazure.mock import MockAzure
from fakeazure.transports.interception.names import host_name, is_azure
from fakeazure.transports.interception.process import ACTIVE, patches_of
from tests.cloud.driver import CATALOGUE

HOST = "management.azure.com"
URL = f"https://{HOST}/subscriptions?api-version=2022-12-01"
OTHER = "http://192.0.2.1/"  # of TEST-NET-1, which leads nowhere
Get = Callable[[str, dict[str, str]], int]


def by_http_client(url: str, headers: dict[str, str]) -> int:
    scheme, _, rest = url.partition("://")
    host, _, path = rest.partition("/")
    kind = http.client.HTTPSConnection if scheme == "https" else http.client.HTTPConnection
    connection = kind(host, timeout=5)
    try:
        for _ in range(2):  # the same connection serves again
            connection.request("GET", f"/{path}", headers=headers)
            answer = connection.getresponse()
            answer.read()
        return answer.status
    finally:
        connection.close()


def by_urllib(url: str, headers: dict[str, str]) -> int:
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=5) as answer:
            answer.read()
            return int(answer.status)
    except HTTPError as error:
        with error:
            return error.code


def by_urllib3(url: str, headers: dict[str, str]) -> int:
    urllib3 = pytest.importorskip("urllib3")
    with urllib3.PoolManager() as pool:
        return int(pool.request("GET", url, headers=headers, retries=False).status)


def by_requests(url: str, headers: dict[str, str]) -> int:
    requests = pytest.importorskip("requests")
    with requests.Session() as session:
        session.get(url, headers=headers)
        return int(session.get(url, headers=headers).status_code)


def by_httpx(url: str, headers: dict[str, str]) -> int:
    httpx = pytest.importorskip("httpx", reason="httpx is not installed")
    with httpx.Client() as client:
        return int(client.get(url, headers=headers).status_code)


def by_async_httpx(url: str, headers: dict[str, str]) -> int:
    httpx = pytest.importorskip("httpx", reason="httpx is not installed")

    async def get() -> int:
        async with httpx.AsyncClient() as client:
            return int((await client.get(url, headers=headers)).status_code)

    return asyncio.run(get())


def by_aiohttp(url: str, headers: dict[str, str]) -> int:
    aiohttp = pytest.importorskip("aiohttp", reason="aiohttp is not installed")

    async def get() -> int:
        async with aiohttp.ClientSession() as session:
            for _ in range(2):
                async with session.get(url, headers=headers) as answer:
                    await answer.read()
            return int(answer.status)

    return asyncio.run(get())


CLIENTS = [by_http_client, by_urllib, by_urllib3, by_requests, by_httpx, by_async_httpx, by_aiohttp]


@pytest.fixture
def azure() -> Any:
    with mock_azure(catalogue=CATALOGUE) as world:
        yield world


def bearer(azure: MockAzure) -> dict[str, str]:
    return {"Authorization": f"Bearer {azure.token().token}"}


@pytest.mark.parametrize("get", CLIENTS)
def test_every_client_reaches_the_world(azure: MockAzure, get: Get) -> None:
    assert get(URL, bearer(azure)) == 200
    assert len(azure.calls) > 0


@pytest.mark.parametrize("get", CLIENTS)
def test_no_client_reaches_somebody_else(azure: MockAzure, get: Get) -> None:
    with pytest.raises(Exception, match=r"192\.0\.2\.1' is not Azure's, and mock_azure\(\) lets nothing out"):
        get(OTHER, {})
    assert len(azure.calls) == 0


@pytest.mark.parametrize("get", CLIENTS)
def test_what_of_azure_is_not_emulated_says_so(azure: MockAzure, get: Get) -> None:
    assert get("https://graph.microsoft.com/v1.0/me", {}) == 501


@pytest.mark.parametrize("get", CLIENTS)
def test_an_answer_that_is_lost_is_an_error_of_the_client(get: Get) -> None:
    for fault in ("Dropped", "Truncated"):
        faults = [{"what": fault, "where": {"resource": "subscriptions", "method": "GET"}}]
        if get is by_aiohttp and fault == "Dropped":
            faults *= 2  # aiohttp itself asks again, once, after no answer
        with mock_azure(catalogue=CATALOGUE, azure={"faults": faults}) as azure:
            with pytest.raises(Exception, match=r"(?i)declared fault|incomplete|IncompleteRead|not completed"):
                get(URL, bearer(azure))
            assert not azure.cloud.unfired()
            assert get(URL, bearer(azure)) == 200


def test_a_body_arrives_whole_from_every_way_to_send_it(azure: MockAzure) -> None:
    url = f"/subscriptions/{azure.subscription}/resourceGroups/new?api-version=2021-04-01"
    content = b'{"location": "eastus", "tags": {"long": "' + b"x" * 200 + b'"}}'
    headers = {**bearer(azure), "Content-Type": "application/json"}
    connection = http.client.HTTPSConnection(HOST)
    for body in (content, iter([content[:20], content[20:]])):
        connection.request("PUT", url, body, headers)
        assert b"x" * 200 in connection.getresponse().read()
    azure.calls.where(method="PUT", resource="resourceGroups", accepted=True).times(2)


@pytest.mark.parametrize("proxied", [HOST, "169.254.169.254"])
def test_a_proxy_is_not_asked(azure: MockAzure, proxied: str, monkeypatch: pytest.MonkeyPatch) -> None:
    requests = pytest.importorskip("requests")
    monkeypatch.setenv("HTTP_PROXY", OTHER)
    monkeypatch.setenv("HTTPS_PROXY", OTHER)
    if proxied == HOST:
        assert requests.get(URL, headers=bearer(azure)).status_code == 200
        return
    path = "/metadata/identity/oauth2/token?api-version=2018-02-01&resource=https://management.azure.com/"
    answer = requests.get(f"http://{proxied}{path}", headers={"Metadata": "true"})
    assert answer.status_code == 200
    assert answer.json()["access_token"]


def test_a_connection_that_was_open_before_leads_to_the_world() -> None:
    ours, theirs = socket.socketpair()
    connection = http.client.HTTPConnection(HOST)
    ours.settimeout(2)  # what is not led to the world fails, and does not wait
    connection.sock = ours
    with theirs, mock_azure(catalogue=CATALOGUE) as azure:
        connection.request("GET", "/subscriptions?api-version=2022-12-01", headers=bearer(azure))
        assert connection.getresponse().status == 200
        theirs.settimeout(1)
        assert theirs.recv(100) == b""  # closed, and nothing was sent


def test_a_server_of_the_test_is_reached(azure: MockAzure) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.getsockname()[1], timeout=5)
        connection.connect()
        server.accept()[0].close()
        connection.close()


NAMES = ["management.azure.com", "LOGIN.microsoftonline.com.", "x.vault.azure.net", "a.blob.core.windows.net"]


@pytest.mark.parametrize("name", [*NAMES, "169.254.169.254"])
@pytest.mark.parametrize(
    "resolve",
    [
        lambda name: socket.getaddrinfo(name, 443),
        lambda name: socket.gethostbyname(name),
        lambda name: socket.gethostbyname_ex(name),
        lambda name: socket.create_connection((name, 443), timeout=1),
        lambda name: socket.socket().connect((name, 443)),
        lambda name: socket.socket().connect_ex((name, 443)),
        lambda name: asyncio.run(asyncio.open_connection(name, 443)),
    ],
    ids=["getaddrinfo", "gethostbyname", "gethostbyname_ex", "create_connection", "connect", "connect_ex", "asyncio"],
)
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_no_name_of_azure_is_resolved(azure: MockAzure, name: str, resolve: Callable[[str], object]) -> None:
    with pytest.raises(OSError, match=r"is Azure's, and mock_azure\(\) is on"):
        resolve(name)


@pytest.mark.parametrize("passthrough", [False, True])
def test_names_of_others_are_resolved(passthrough: bool) -> None:
    with mock_azure(catalogue=CATALOGUE, passthrough=passthrough):
        assert socket.getaddrinfo("127.0.0.1", 80)
        if passthrough:
            with pytest.raises(OSError, match="Azure's"):
                socket.getaddrinfo(HOST, 443)


def test_domains_end_at_dots() -> None:
    assert [is_azure(host_name(name)) for name in ("azure.com", "x.azure.com", b"x.azure.com", "notazure.com", "azure.com.x", None)] == [
        True, True, True, False, False, False,
    ]  # fmt: skip


def patched() -> dict[tuple[object, str], object]:
    """Every attribute that a mock replaces, as it is now."""
    return {(patch.owner, patch.name): vars(patch.owner).get(patch.name) for patch in patches_of(ACTIVE)}


@pytest.mark.parametrize("error", [None, KeyError])
def test_nothing_stays_patched(error: type[Exception] | None) -> None:
    before, environment = patched(), dict(os.environ)
    assert len(before) >= 11
    try:
        with mock_azure(catalogue=CATALOGUE) as outer, mock_azure(catalogue=CATALOGUE), outer:
            inside = patched()
            assert [name for name in before if inside[name] is before[name]] == []
            assert os.environ["AZURE_SUBSCRIPTION_ID"] == outer.subscription
            if error is not None:
                raise error
    except KeyError:
        pass
    assert patched() == before
    assert dict(os.environ) == environment
    assert ACTIVE.world() is None


def test_what_somebody_else_patched_on_top_stays_theirs(monkeypatch: pytest.MonkeyPatch) -> None:
    before = patched()
    mock = mock_azure(catalogue=CATALOGUE)
    with mock:
        beneath = http.client.HTTPConnection.connect
        monkeypatch.setattr(http.client.HTTPConnection, "connect", lambda connection: beneath(connection))
    monkeypatch.undo()
    with pytest.raises(OSError, match="refused"):  # what is left of the mock does nothing
        http.client.HTTPConnection("127.0.0.1", 1, timeout=5).connect()
    http.client.HTTPConnection.connect = before[http.client.HTTPConnection, "connect"]  # type: ignore[method-assign,assignment]


def test_nothing_stays_patched_after_many_threads() -> None:
    before = patched()
    barrier = threading.Barrier(4)

    def work() -> None:
        for _ in range(5):
            barrier.wait(10)
            with mock_azure(catalogue=CATALOGUE) as azure:
                assert by_http_client(URL, bearer(azure)) == 200

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert patched() == before


def test_links_have_the_scheme_that_the_client_used(azure: MockAzure) -> None:
    requests = pytest.importorskip("requests")
    for origin in ("https://login.microsoftonline.com", "http://login.microsoftonline.com"):
        body = requests.get(f"{origin}/common/v2.0/.well-known/openid-configuration").json()
        assert body["token_endpoint"].startswith(f"{origin}/")
