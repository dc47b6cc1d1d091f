"""One contract for every transport: the same request gets the same answer, tokens and polling URLs work, JSON is checked."""

from __future__ import annotations

import contextlib
import http.client
import json
import shutil
import socket
import ssl
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from fakeazure.beginning import SUBSCRIPTION, TENANT
from fakeazure.cloud import FakeAzure
from fakeazure.transports.in_process import InProcess
from fakeazure.transports.pki import Pki, PkiError, make_pki
from fakeazure.transports.server import HttpServer
from fakeazure.transports.wire import Front
from tests.cloud.driver import CATALOGUE, Driver
from tests.transports.guarded import GUARD, SECRET, TOKEN

SKUS = f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Compute/skus"


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: Any


Call = Callable[..., Answer]


@dataclass(frozen=True)
class Client:
    """A transport under test: `call(method, path-or-url, body, token, headers)`."""

    driver: Driver
    origin: str
    call: Call


@pytest.fixture(scope="session")
def pki(tmp_path_factory: pytest.TempPathFactory) -> Pki:
    if shutil.which("openssl") is None:
        pytest.skip("HTTPS needs the program openssl")
    return make_pki(tmp_path_factory.mktemp("pki"))


def _urllib(origin: str, context: ssl.SSLContext | None) -> Call:
    handlers: list[urllib.request.BaseHandler] = [urllib.request.ProxyHandler({})]
    if context is not None:
        handlers.append(urllib.request.HTTPSHandler(context=context))
    opener = urllib.request.build_opener(*handlers)

    def call(
        method: str, path: str, body: Any = None, *, token: str | None = TOKEN, headers: Mapping[str, str] | None = None
    ) -> Answer:
        url = path if path.startswith("http") else origin + path
        data = body if isinstance(body, bytes) else None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(url.replace(" ", "%20"), data=data, method=method, headers=dict(headers or {}))
        if token is not None:
            request.add_header("Authorization", f"Bearer {token}")
        try:
            with opener.open(request, timeout=10) as answer:
                return _answer(answer.status, dict(answer.headers), answer.read())
        except urllib.error.HTTPError as error:
            with error:
                return _answer(error.code, dict(error.headers), error.read())

    return call


def _answer(status: int, headers: Mapping[str, str], content: bytes) -> Answer:
    return Answer(status, headers, json.loads(content) if content else None)


def _requests(origin: str) -> Call:
    import requests

    def call(
        method: str, path: str, body: Any = None, *, token: str | None = TOKEN, headers: Mapping[str, str] | None = None
    ) -> Answer:
        url = path if path.startswith("http") else origin + path
        data = body if isinstance(body, bytes) else None if body is None else json.dumps(body)
        given = dict(headers or {}) | ({"Authorization": f"Bearer {token}"} if token is not None else {})
        answer = requests.request(method, url, data=data, headers=given, timeout=10)
        return _answer(answer.status_code, answer.headers, answer.content)

    return call


@pytest.fixture(params=["in-process", "http", "https"])
def client(request: pytest.FixtureRequest) -> Iterator[Client]:
    driver = Driver(base_url="https://management.azure.com", page_size=3)
    with contextlib.ExitStack() as stack:
        if request.param == "in-process":
            stack.enter_context(InProcess(driver.cloud, front=Front(driver.cloud, guard=replace(GUARD, opened=True))))
            origin = "https://management.azure.com"
            yield Client(driver, origin, _requests(origin))
            return
        server_side = client_side = None
        if request.param == "https":
            files: Pki = request.getfixturevalue("pki")
            server_side, client_side = files.server_context(), files.client_context()
        server = stack.enter_context(HttpServer(Front(driver.cloud, guard=GUARD), context=server_side))
        yield Client(driver, server.url, _urllib(server.url, client_side))


def test_same_answer_as_the_port(client: Client) -> None:
    path = f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Compute/locations/westus/vmSizes"
    answer = client.call("GET", f"{path}?api-version=2021-07-01")
    direct = client.driver.cloud.request("GET", path, query={"api-version": "2021-07-01"})
    assert (answer.status, answer.body) == (direct.status, json.loads(json.dumps(direct.body)))
    assert answer.headers["Content-Type"] == "application/json; charset=utf-8"


def test_vm_launch_with_polling_by_the_url_given(client: Client) -> None:
    driver = client.driver
    nic = client.call("PUT", f"{driver.nic_path('a')}?api-version=2022-01-01", driver.nic_body("a"))
    assert nic.status == 201
    answer = client.call("PUT", f"{driver.vm_path('a')}?api-version=2025-04-01", driver.vm_body("a"))
    assert answer.status == 201
    url = answer.headers["Azure-AsyncOperation"]
    assert url.startswith(f"{client.origin}/subscriptions/")
    assert client.call("GET", url).body["status"] == "InProgress"
    driver.cloud.advance(10)
    assert client.call("GET", url).body["status"] == "Succeeded"
    gone = client.call("DELETE", f"{driver.vm_path('a')}?api-version=2025-04-01&forceDeletion=true")
    assert (gone.status, gone.body) == (202, None)
    assert client.call("GET", gone.headers["Location"]).status == 202
    driver.cloud.advance(10)
    assert client.call("GET", gone.headers["Location"]).status == 204
    assert driver.cloud.journal.find(method="DELETE")[0].query["forceDeletion"] == "true"


def test_next_link_can_be_followed(client: Client) -> None:
    url, names = f"{SKUS}?api-version=2021-07-01&$filter=location%20eq%20'eastus'", []
    while url:
        body = client.call("GET", url).body
        names += [item["name"] for item in body["value"] if item["resourceType"] == "virtualMachines"]
        url = body.get("nextLink", "")
        assert not url or url.startswith(client.origin)
    assert len(names) == 7


def test_errors_keep_status_code_and_header(client: Client) -> None:
    answer = client.call("GET", f"{client.driver.vm_path('nope')}?api-version=2025-04-01")
    assert (answer.status, answer.body["error"]["code"]) == (404, "ResourceNotFound")
    assert answer.headers["x-ms-error-code"] == "ResourceNotFound"


def test_token_is_asked_for_and_can_be_had(client: Client) -> None:
    refused = client.call("GET", f"{SKUS}?api-version=2021-07-01", token=None)
    assert (refused.status, refused.body["error"]["code"]) == (401, "AuthenticationFailed")
    assert refused.headers["WWW-Authenticate"].startswith("Bearer authorization_uri=")
    query = "api-version=2019-08-01&resource=https://management.fake.test"
    blind = client.call("GET", f"/msi/token?{query}", token=None)
    assert blind.status == 400
    answer = client.call("GET", f"/msi/token?{query}", token=None, headers={"X-IDENTITY-HEADER": SECRET})
    assert (answer.status, answer.body["token_type"], answer.body["resource"]) == (
        200,
        "Bearer",
        "https://management.fake.test",
    )
    assert int(answer.body["expires_on"]) > 1_700_000_000
    assert client.call("GET", f"{SKUS}?api-version=2021-07-01", token=answer.body["access_token"]).status == 200


def test_authorities(client: Client) -> None:
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    answer = client.call("GET", "/adfs/.well-known/openid-configuration", token=None)
    assert answer.status == 200
    config = answer.body
    assert (config["token_endpoint"], config["issuer"]) == (
        f"{client.origin}/adfs/oauth2/token",
        f"{client.origin}/adfs",
    )
    answer = client.call(
        "POST",
        "/adfs/oauth2/token",
        f"client_id=a&resource=r&grant_type=client_credentials&client_secret={SECRET}".encode(),
        token=None,
        headers=form,
    )
    assert answer.body["expires_in"] > 0
    config = client.call("GET", "/some-tenant/v2.0/.well-known/openid-configuration", token=None).body
    assert config["token_endpoint"] == f"{client.origin}/some-tenant/oauth2/v2.0/token"
    keys = urlsplit(config["jwks_uri"])  # which msal-common demands (OpenIdConfigResponse)
    assert f"{keys.scheme}://{keys.netloc}" == client.origin
    answer = client.call("GET", keys.path, token=None)
    assert (answer.status, list(answer.body)) == (200, ["keys"])
    found = client.call(
        "GET", "/common/discovery/instance?authorization_endpoint=https://h/tid/oauth2/v2.0/authorize", token=None
    )
    assert found.body["tenant_discovery_endpoint"] == f"{client.origin}/tid/v2.0/.well-known/openid-configuration"


def test_bad_json_is_an_arm_error(client: Client) -> None:
    for content in (b"{", b"[1]", b'"x"', b"\xff\xfe"):
        answer = client.call("PUT", f"{client.driver.vm_path('a')}?api-version=2025-04-01", content)
        assert (answer.status, answer.body["error"]["code"]) == (400, "InvalidRequestContent")


def test_get_with_a_body(client: Client) -> None:
    """The bootstrapping client does that, and many stacks drop it."""
    names = client.driver.cloud.state.settings
    path = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/{names.resource_group}/providers/Microsoft.ContainerService"
    answer = client.call("GET", f"{path}/managedclusters/{names.cluster}/nodeBootstrapping", {"provisionProfile": {}})
    assert answer.body["error"]["code"] == "MissingRequiredProperty"


def test_a_cloud_describes_itself(client: Client) -> None:
    """By the address that the client used: a client that registers it must never be sent to Azure's login."""
    body = client.call("GET", "/metadata/endpoints?api-version=2022-09-01", token=None).body
    assert body["resourceManager"] == f"{client.origin}/"
    assert body["authentication"]["loginEndpoint"] == f"{client.origin}/"
    assert "azure.com" not in json.dumps(body).replace(client.origin, "").replace(urlsplit(client.origin).netloc, "")
    audience = body["authentication"]["audiences"][0]
    form = f"client_id=a&client_secret={SECRET}&grant_type=client_credentials&scope={audience}/.default".encode()
    token = client.call("POST", f"/{TENANT}/oauth2/v2.0/token", form, token=None).body["access_token"]
    assert client.call("GET", "/subscriptions?api-version=2022-12-01", token=token).status == 200
    [listed] = client.call("GET", "/metadata/endpoints?api-version=2019-05-01", token=None).body
    assert listed["resourceManager"] == f"{client.origin}/"
    old = client.call("GET", "/metadata/endpoints?api-version=2015-01-01", token=None).body
    assert old["authentication"]["audiences"] == body["authentication"]["audiences"]


def test_open_endpoints_need_no_token(client: Client) -> None:
    prices = client.call("GET", "/api/retail/prices?$filter=armRegionName eq 'westus'", token=None)
    assert prices.body["Count"] == 4


def test_files_that_answers_point_at_can_be_had(client: Client) -> None:
    driver = client.driver
    client.call("PUT", f"{driver.nic_path('a')}?api-version=2022-01-01", driver.nic_body("a"))
    body = driver.vm_body("a", diagnosticsProfile={"bootDiagnostics": {"enabled": True}})
    client.call("PUT", f"{driver.vm_path('a')}?api-version=2025-04-01", body)
    path = f"{driver.vm_path('a')}/retrieveBootDiagnosticsData?api-version=2025-04-01"
    url = client.call("POST", path).body["serialConsoleLogBlobUri"]
    assert url.startswith(f"{client.origin}/_fakeazure/")
    found = Front(driver.cloud, guard=GUARD).handle("GET", url, {}, b"", origin=client.origin)
    assert (found.status, b"a: starting" in found.body) == (200, True)
    aliases = client.call("GET", "/_fakeazure/image-aliases.json", token=None).body["outputs"]["aliases"]["value"]
    assert aliases["Linux"]["Ubuntu2404"]["offer"] == "ubuntu-24_04-lts"
    assert client.call("GET", "/_fakeazure/nothing", token=None).status == 404


def test_untrusted_certificate_is_no_crash(pki: Pki) -> None:
    driver = Driver()
    with HttpServer(Front(driver.cloud), context=pki.server_context()) as server:
        with pytest.raises(urllib.error.URLError):
            _urllib(server.url, ssl.create_default_context())("GET", "/metadata/endpoints")
        assert _urllib(server.url, pki.client_context())("GET", "/metadata/endpoints").status == 200


def test_certificate_is_made_once(pki: Pki) -> None:
    before = pki.certificate.read_bytes()
    assert make_pki(pki.certificate.parent).certificate.read_bytes() == before


def test_missing_openssl_is_said_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(PkiError, match="certificates need the program 'openssl', which is not on PATH"):
        make_pki(tmp_path / "pki")


def test_server_stops_clean_with_connections_open() -> None:

    driver = Driver()
    before = threading.active_count()
    server = HttpServer(Front(driver.cloud)).start()
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=5)
    connection.request("GET", "/metadata/endpoints")
    connection.getresponse().read()
    server.stop()
    connection.close()
    deadline = time.monotonic() + 5
    while threading.active_count() > before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert threading.active_count() == before
    again = HttpServer(Front(driver.cloud), port=server.port)
    again.stop()


def test_response_is_one_send_without_delay(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two sends would cost 40 ms each on a connection that is kept open."""

    driver = Driver()
    sent: list[tuple[bytes, bool]] = []
    send_all = socket.socket.sendall
    with HttpServer(Front(driver.cloud, guard=GUARD)) as server:

        def sendall(self: socket.socket, data: bytes, *more: int) -> None:
            if self.getsockname()[1] == server.port:
                delays = self.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) == 0
                sent.append((bytes(data), delays))
            send_all(self, data, *more)

        monkeypatch.setattr(socket.socket, "sendall", sendall)
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=5)
        with contextlib.closing(connection):
            bodies = []
            for _ in range(3):
                connection.request("GET", "/metadata/endpoints")
                bodies.append(connection.getresponse().read())
    assert len(sent) == 3
    for (data, delays), body in zip(sent, bodies, strict=True):
        assert data.startswith(b"HTTP/1.1 200")
        assert data.endswith(b"\r\n\r\n" + body)
        assert not delays


def test_other_hosts_are_not_azure() -> None:
    requests = pytest.importorskip("requests")

    with (
        InProcess(FakeAzure(catalogue=CATALOGUE)),
        pytest.raises(requests.ConnectionError),
    ):
        requests.get("https://example.com/", timeout=1)


def test_many_threads_share_one_world() -> None:
    driver = Driver()
    with HttpServer(Front(driver.cloud, guard=GUARD)) as server:
        call = _urllib(server.url, None)
        codes: list[int] = []

        def work(number: int) -> None:
            for step in range(5):
                path = f"{driver.nic_path(f'nic-{number}-{step}')}?api-version=2022-01-01"
                codes.append(call("PUT", path, driver.nic_body("x")).status)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert codes == [201] * 30
    assert [item.number for item in driver.cloud.journal] == list(range(1, 31))


def test_a_deployment_may_come_as_az_sends_it(client: Client) -> None:
    names = client.driver.cloud.state.settings
    path = f"/subscriptions/{SUBSCRIPTION}/resourcegroups/{names.resource_group}/providers/Microsoft.Resources/deployments/d"
    template = '{ // a file\n "contentVersion": "1.0.0.0", resources: [], \'outputs\': {}, }'
    raw = f'{{"properties": {{"mode": "Incremental", template:{template}}}}}'.encode()
    answer = client.call("PUT", f"{path}?api-version=2022-09-01", raw)
    assert (answer.status, answer.body["name"]) == (201, "d")
    elsewhere = path.replace("deployments/d", "tags/default")
    assert client.call("PUT", f"{elsewhere}?api-version=2022-09-01", raw).status == 400


def test_what_is_not_emulated_leads_to_the_list_of_what_is(client: Client) -> None:
    answer = client.call(
        "GET", f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.KeyVault/vaults?api-version=2023-07-01"
    )
    assert (answer.status, answer.body["error"]["code"]) == (501, "NotEmulated")
    page = f"{client.origin}/_fakeazure/coverage"
    assert page in answer.body["error"]["message"]
    if page.startswith("http://"):
        with urllib.request.urlopen(page, timeout=10) as found:
            assert "# What of Azure is emulated" in found.read().decode()
