"""Who may talk to a served cloud: its own names, no page of another site, and changes only with its secret."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import quote

import pytest

from fakeazure.beginning import TENANT
from fakeazure.cli import run
from fakeazure.commands.controller_environment import controller_variables
from fakeazure.transports.guard import Guard, exposure, new_secret
from fakeazure.transports.in_process import InProcess
from fakeazure.transports.server import HttpServer
from fakeazure.transports.wire import Front, Reply
from tests.cloud.driver import Driver
from tests.transports.guarded import GUARD, SECRET, TOKEN

ARM = "/subscriptions?api-version=2022-12-01"
IMDS = "/metadata/versions"
LOGIN = f"/{TENANT}/.well-known/openid-configuration"
PRICES = "/api/retail/prices"
VM_METADATA = "/_fakeazure/vms/aks-a/metadata/versions"
ALIASES = "/_fakeazure/image-aliases.json"
AZURE = (ARM, IMDS, LOGIN, PRICES, "/metadata/endpoints", VM_METADATA, ALIASES)
OWN = ("/_fakeazure/journal", "/_fakeazure/nothing", "/%5Ffakeazure/journal", "/_FAKEAZURE/journal", "/")
HEADERS = {"Authorization": f"Bearer {TOKEN}", "Metadata": "true", "Accept": "text/html"}


@cache
def front(guard: Guard) -> Front:
    return Front(Driver().cloud, guard=guard)


def ask(
    path: str, method: str = "GET", headers: Mapping[str, str] | None = None, *, guard: Guard = GUARD, here: str = ""
) -> Reply:
    return front(guard).handle(method, path, {**HEADERS, **(headers or {})}, b"", origin="http://127.0.0.1", here=here)


def status(path: str, method: str = "GET", headers: Mapping[str, str] | None = None) -> int:
    return ask(path, method, headers).status


@pytest.mark.parametrize("path", [*AZURE, *OWN])
@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "evil.example:8080"},
        {"Host": "127.0.0.1.evil.example"},
        {"Host": "localhost.evil.example"},
        {"Host": "10.0.0.1"},
        {"Host": "[2001:db8::1]:80"},
        {"Host": "localhost", "Origin": "https://evil.example"},
        {"Host": "localhost", "Origin": "https://localhost.evil.example"},
        {"Host": "localhost", "Origin": "null"},
        {"Host": "localhost", "Origin": "file://localhost"},
        {"Host": "localhost", "Origin": "http://["},
        {"Host": "localhost", "Origin": ""},
        {"Host": "localhost", "Origin": "http://localhost, http://evil.example"},
        {"Host": "localhost", "Sec-Fetch-Site": "cross-site"},
        {"Host": "localhost", "Sec-Fetch-Site": "Cross-Site "},
    ],
    ids=str,
)
def test_a_page_of_another_site_is_refused(path: str, headers: Mapping[str, str]) -> None:
    reply = ask(path, headers=headers)
    assert (reply.status, json.loads(reply.body)["error"]["code"]) == (403, "Forbidden")


@pytest.mark.parametrize("path", [*AZURE, "/_fakeazure/journal", "/"])
@pytest.mark.parametrize(
    "headers",
    [
        {},  # HTTP/1.0, or a client in the same process
        {"Host": ""},
        {"Host": "localhost"},
        {"Host": "LOCALHOST.:8080"},
        {"Host": "cloud.localhost:8080"},
        {"Host": "127.0.0.1:8080"},
        {"Host": "127.3.2.1"},
        {"Host": "[::1]:8080"},
        {"Host": "localhost:8080", "Origin": "http://localhost:8080", "Sec-Fetch-Site": "same-origin"},
        {"Host": "localhost:8080", "Sec-Fetch-Site": "none"},
    ],
    ids=str,
)
def test_its_own_names_are_let_in(path: str, headers: Mapping[str, str]) -> None:
    assert status(path, headers=headers) == 200


@pytest.mark.parametrize(
    "host",
    [
        "management.azure.com",
        "management.azure.com:443",
        "LOGIN.microsoftonline.com",
        "prices.azure.com",
        "169.254.169.254",
    ],
)
def test_names_of_azure_lead_to_what_azure_has_and_never_to_the_own_paths(host: str) -> None:
    assert {path: status(path, headers={"Host": host}) for path in AZURE} == dict.fromkeys(AZURE, 200)
    assert {path: status(path, headers={"Host": host}) for path in OWN} == dict.fromkeys(OWN, 403)
    reset = {"Host": host, "Authorization": f"Bearer {SECRET}"}
    assert status("/_fakeazure/reset", "POST", reset) == 403


def test_the_host_of_an_absolute_url_counts_too() -> None:
    assert status("http://evil.example/_fakeazure/journal", headers={"Host": "localhost"}) == 403
    assert status("http://localhost:8080/_fakeazure/journal", headers={"Host": "evil.example"}) == 403
    assert status("http://localhost:8080/_fakeazure/journal", headers={"Host": "localhost"}) == 200


def test_names_that_are_given_are_let_in() -> None:
    guard = Guard(SECRET, frozenset({"cloud.example", "0.0.0.0"}))
    for path in (ARM, "/_fakeazure/journal", "/"):
        for headers in ({"Host": "Cloud.Example:8080"}, {"Host": "localhost", "Origin": "https://cloud.example"}):
            assert ask(path, headers=headers, guard=guard).status == 200
        assert ask(path, headers={"Host": "other.example"}, guard=guard).status == 403


def test_the_address_that_a_connection_came_to_is_a_name_of_the_cloud() -> None:
    """A container reaches a cloud that listens on all addresses by one of the machine's."""
    for path in (ARM, "/_fakeazure/journal", "/"):
        assert ask(path, headers={"Host": "172.18.0.1:8080"}, here="172.18.0.1").status == 200
        assert ask(path, headers={"Host": "172.18.0.1:8080"}, here="172.18.0.2").status == 403


CHANGES = [
    (method, path)
    for method in ("POST", "PUT", "PATCH", "DELETE", "BREW")
    for path in ("reset", "snapshot", "restore", "journal", "nothing", "console/x", "image-aliases.json")
]


@pytest.mark.parametrize(("method", "path"), CHANGES)
@pytest.mark.parametrize(
    "authorization",
    ["", "Bearer", "Bearer ", f"Bearer {SECRET}x", f"Bearer {TOKEN}", f"Basic {SECRET}", SECRET, "Bearer \udcff"],
)
def test_a_change_of_the_own_paths_needs_the_secret(method: str, path: str, authorization: str) -> None:
    reply = ask(f"/_fakeazure/{path}", method, {"Authorization": authorization})
    assert (reply.status, json.loads(reply.body)["error"]["code"]) == (401, "Unauthorized")
    assert reply.headers["WWW-Authenticate"] == 'Bearer realm="fakeazure"'
    assert SECRET not in reply.body.decode()


def test_whoever_has_the_secret_changes_them() -> None:
    assert status("/_fakeazure/reset", "POST", {"Authorization": f"bearer  {SECRET}"}) == 204
    assert status("/_fakeazure/nothing", "POST", {"Authorization": f"Bearer {SECRET}"}) == 404


def test_a_secret_is_made_for_each_cloud() -> None:
    clouds = [Front(Driver().cloud) for _ in range(2)]
    assert len({front.guard.secret for front in clouds} | {new_secret()}) == 3
    assert all(len(front.guard.secret) >= 32 for front in clouds)


def test_a_token_of_one_cloud_opens_no_other() -> None:
    other = Front(Driver().cloud)
    headers = {"Authorization": f"Bearer {other.tokens.token()}"}
    assert other.handle("GET", ARM, headers, b"", origin="http://localhost").status == 200
    reply = ask(ARM, headers=headers)
    assert (reply.status, reply.headers["x-ms-error-code"]) == (401, "InvalidAuthenticationToken")


@pytest.mark.parametrize("method", ["PUT", "POST", "DELETE", "PATCH", "HEAD", "OPTIONS"])
def test_imds_is_read_with_its_header_and_past_no_proxy(method: str) -> None:
    token = "/metadata/identity/oauth2/token?resource=https://management.azure.com&api-version=2018-02-01"
    for path in (IMDS, VM_METADATA, "/metadata/instance?api-version=2021-02-01", token):
        assert status(path, method) == 405
        assert status(path, headers={"Metadata": ""}) == 400
        assert status(path, headers={"X-Forwarded-For": "10.0.0.1"}) == 400
    assert status(token) == 200
    assert status(token, headers={"X-Identity-Header": SECRET, "X-Forwarded-For": "10.0.0.1"}) == 400


def test_the_identity_endpoint_asks_for_the_secret() -> None:
    path = "/msi/token?resource=https://management.azure.com&api-version=2019-08-01"
    assert status(path, headers={"X-Identity-Header": SECRET}) == 200
    assert status(path, headers={"X-Identity-Header": "x"}) == 401
    assert status(path, headers={"X-Identity-Header": ""}) == 401
    assert status(path) == 400  # with Metadata, as IMDS is asked
    assert status(path, "POST", {"X-Identity-Header": SECRET}) == 405


def test_the_server_of_auxiliary_tokens_asks_for_the_secret() -> None:
    scope = "scope=https://management.azure.com/.default"
    assert status(f"/sig-access-token/{quote(SECRET)}?{scope}") == 200
    assert status(f"/sig-access-token?{scope}") == 401
    assert status(f"/sig-access-token/x?{scope}") == 401
    assert status(f"/sig-access-token/{quote(SECRET)}?{scope}", "POST") == 405


@pytest.mark.parametrize(
    ("proof", "status", "code", "part"),
    [
        ("client_secret", 401, "invalid_client", "AADSTS7000215: Invalid client secret provided."),
        ("client_assertion", 401, "invalid_client", "AADSTS700027: "),
        ("password", 400, "invalid_grant", "AADSTS50126: "),
        ("refresh_token", 401, "invalid_client", "AADSTS7000216: "),
    ],
)
@pytest.mark.parametrize("path", [f"/{TENANT}/oauth2/v2.0/token", "/common/oauth2/token", "/adfs/oauth2/token"])
def test_the_authority_asks_for_the_secret(path: str, proof: str, status: int, code: str, part: str) -> None:
    front = Front(Driver().cloud, guard=GUARD)

    def post(secret: str) -> Reply:
        form = f"client_id=a&scope=https://management.azure.com/.default&grant_type=g&{proof}={quote(secret)}"
        return front.handle("POST", path, {}, form.encode(), origin="http://localhost")

    for wrong in ("x", "", SECRET[:-1]):
        reply = post(wrong)
        body = json.loads(reply.body)
        assert reply.status in (status, 401)
        assert body["error"] in (code, "invalid_client")
        if wrong:
            assert (reply.status, body["error"]) == (status, code)
            assert body["error_description"].startswith(part)
    assert post(SECRET).status == (200 if proof != "refresh_token" else 401)


def test_a_page_says_what_a_browser_may_do_with_it() -> None:
    headers = ask("/").headers
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    page = ask("/").body.decode()
    [style] = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    assert f"'sha256-{b64encode(sha256(style.encode()).digest()).decode()}'" in policy
    assert not re.search(r"<script|\sstyle=|\son\w+=", page)
    for path in ("/", "/_fakeazure/journal"):
        headers = ask(path).headers
        assert (headers["X-Content-Type-Options"], headers["X-Frame-Options"]) == ("nosniff", "DENY")
        assert headers["Cross-Origin-Resource-Policy"] == "same-origin"


@pytest.mark.parametrize(
    "host", ["management.azure.com", "management.azure.com:443", "MANAGEMENT.AZURE.COM", "localhost:8443"]
)
@pytest.mark.parametrize("version", ["2015-01-01", "2019-05-01", "2020-06-01", "2022-09-01"])
def test_the_real_login_is_never_named(host: str, version: str) -> None:
    front = Front(Driver().cloud, guard=GUARD)
    path = f"/metadata/endpoints?api-version={version}"
    reply = front.handle("GET", path, {"Host": host}, b"", origin=f"https://{host}")
    assert reply.status == 200
    assert "login" not in reply.body.decode().replace("loginEndpoint", "")
    assert f'"loginEndpoint": "https://{host}/"' in json.dumps(json.loads(reply.body))


def test_a_server_is_guarded_unless_told_otherwise() -> None:
    """What is asked over a socket, as a browser would ask it."""
    front = Front(Driver().cloud)
    with HttpServer(front) as server:
        connection = HTTPConnection("127.0.0.1", server.port, timeout=5)
        for headers, expected in (
            ({"Host": "evil.example", "Origin": "http://evil.example", "Content-Type": "text/plain"}, 403),
            ({"Content-Type": "text/plain"}, 401),
            ({"Authorization": f"Bearer {front.guard.secret}"}, 204),
        ):
            connection.request("POST", "/_fakeazure/reset", body="", headers=headers)
            answer = connection.getresponse()
            assert (answer.status, answer.read() != b"") == (expected, expected != 204)
        connection.close()


class Recording(Front):
    """A front that remembers by which local address it was asked."""

    def __init__(self, front: Front) -> None:
        super().__init__(front.cloud)
        self.asked_at: list[str] = []

    def handle(
        self, method: str, url: str, headers: Mapping[str, str], raw: bytes, *, origin: str, here: str = ""
    ) -> Reply:
        self.asked_at.append(here)
        return super().handle(method, url, headers, raw, origin=origin, here=here)


def test_a_server_tells_the_address_that_it_is_reached_by() -> None:
    recording = Recording(front(GUARD))
    with HttpServer(recording) as server:
        connection = HTTPConnection("127.0.0.1", server.port, timeout=5)
        connection.request("GET", IMDS)
        assert connection.getresponse().status == 400
        connection.close()
    assert recording.asked_at == ["127.0.0.1"]


def test_in_the_process_of_its_clients_any_credential_will_do() -> None:
    requests = pytest.importorskip("requests")
    with InProcess(Driver().cloud):
        form = {"client_id": "a", "client_secret": "b", "scope": "https://management.azure.com/.default"}
        answer = requests.post("https://login.microsoftonline.com/common/oauth2/v2.0/token", data=form)
        assert answer.status_code == 200


@pytest.mark.parametrize(("host", "where"), [("0.0.0.0", "every address of this machine"), ("192.0.2.1", "192.0.2.1")])
def test_what_is_exposed_is_said(host: str, where: str) -> None:
    told = exposure(host, [8080, 8443])
    assert told is not None
    assert told.startswith(f"fakeazure: it listens on {where}, port 8080 and 8443: ")
    assert "\n" not in told


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.0.0.2", "::1"])
def test_nothing_is_exposed_on_a_loopback_address(host: str) -> None:
    assert exposure(host, [8080]) is None


def test_the_controllers_environment_has_the_secret(tmp_path: Path) -> None:
    given = controller_variables(
        Driver().cloud,
        plain="http://127.0.0.1:1",
        secure="https://127.0.0.1:2",
        secret=SECRET,
        state=tmp_path,
        mode="aksmachineapi",
        api_server="127.0.0.1:6443",
    )
    variables = dict(given)
    assert variables["IDENTITY_HEADER"] == SECRET
    assert variables["SIG_ACCESS_TOKEN_SERVER_URL"] == f"http://127.0.0.1:1/sig-access-token/{SECRET}"


def test_serve_says_what_it_exposes_and_lets_in_by_which_names(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    served: list[Front] = []

    def on_loopback(front: Front, *, host: str, port: int) -> HttpServer:
        served.append(front)
        assert host == "0.0.0.0"
        return HttpServer(front, port=port)

    monkeypatch.setattr("fakeazure.commands.serve.HttpServer", on_loopback)
    arguments = ["serve", "--http-port", "0", "--https-port", "-1", "--for", "0.1", "--host", "0.0.0.0"]
    assert run([*arguments, "--allowed-host", "Cloud.example.", "--allowed-host", "other.example"]) == 0
    out, err = capsys.readouterr()
    assert err.startswith("fakeazure: it listens on every address of this machine, port ")
    [front_] = served
    assert f"export FAKEAZURE_SECRET={front_.guard.secret}\n" in out
    assert front_.guard.names == {"0.0.0.0", "cloud.example", "other.example"}
    monkeypatch.undo()
    assert run(arguments[:-2]) == 0
    assert capsys.readouterr().err == ""
