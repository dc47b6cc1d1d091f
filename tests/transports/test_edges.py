"""Edges of what travels: the longest URL, the last header, statuses without a body, tokens that are none, files of a certificate."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from fakeazure.arm.json_text import read
from fakeazure.beginning import SUBSCRIPTION, TENANT
from fakeazure.mock import mock_azure
from fakeazure.timing import INSTANT
from fakeazure.transports.bearer import sign
from fakeazure.transports.limits import Limits
from fakeazure.transports.live import Pump, WallClock
from fakeazure.transports.metadata import ALIASES
from fakeazure.transports.pki import PkiError, make_pki
from fakeazure.transports.server import HttpServer
from fakeazure.transports.status_page import render
from fakeazure.transports.wire import Front, Reply
from tests.cloud.driver import CATALOGUE, Driver
from tests.transports.guarded import GUARD, SECRET, TOKEN
from tests.transports.test_instance_metadata import EVENTS, Asking
from tests.transports.test_limits import HEAD, PATH, answer
from tests.transports.test_page import tables
from tests.transports.test_tokens import CLAIMS, ask, front, signed

SMALL = Limits(url_bytes=200, headers=10, body_bytes=2 * 1024 * 1024, first_byte=2.0, idle=0.4, head=2.0, body=2.0)


@pytest.mark.parametrize(("length", "status"), [(200, 200), (201, 414)])
def test_the_longest_url(length: int, status: int) -> None:
    url = f"{PATH}&x="
    url += "a" * (length - len(url))
    with HttpServer(Front(Driver().cloud, guard=GUARD, limits=SMALL), limits=SMALL) as server:
        assert answer(server, f"GET {url} HTTP/1.1\r\n{HEAD}\r\n".encode())[0] == status


def test_a_url_that_does_not_end_is_refused_before_it_does() -> None:
    with HttpServer(Front(Driver().cloud, guard=GUARD, limits=SMALL), limits=SMALL) as server:
        status, body, _ = answer(server, b"GET /" + b"a" * 100, b"b" * 5000)
    assert (status, body["error"]["code"]) == (414, "RequestUriTooLong")


@pytest.mark.parametrize(("more", "status"), [(8, 200), (9, 431)])
def test_the_most_headers(more: int, status: int) -> None:
    with HttpServer(Front(Driver().cloud, guard=GUARD, limits=SMALL), limits=SMALL) as server:
        sent = f"GET {PATH} HTTP/1.1\r\n{HEAD}" + "X: a\r\n" * more + "\r\n"
        assert answer(server, sent.encode())[0] == status


def test_a_body_that_is_too_large_is_told_the_limit_in_mib() -> None:
    with HttpServer(Front(Driver().cloud, guard=GUARD, limits=SMALL), limits=SMALL) as server:
        sent = f"PUT {PATH} HTTP/1.1\r\n{HEAD}Content-Length: {SMALL.body_bytes + 1}\r\n\r\n"
        status, body, _ = answer(server, sent.encode())
    assert status == 413
    assert "of 2 MB." in body["error"]["message"]


@pytest.mark.parametrize(("count", "status"), [(199, 200), (200, 400)])
def test_a_query_has_two_hundred_fields_at_most(count: int, status: int) -> None:
    target = f"{PATH}&{'&'.join(f'a{number}=b' for number in range(count))}"
    reply = Front(Driver().cloud, guard=GUARD).handle(
        "GET", target, {"Authorization": f"Bearer {TOKEN}"}, b"", origin="http://x"
    )
    assert reply.status == status


@pytest.mark.parametrize("value", ["", "text/html", "text/html,application/xhtml+xml"])
def test_the_page_is_for_browsers(value: str) -> None:
    reply = Front(Driver().cloud, guard=GUARD).handle("GET", "/", {"Accept": value}, b"", origin="http://x")
    assert ("html" in reply.headers["Content-Type"]) is bool(value)
    assert reply.status == (200 if value else 401)


@pytest.mark.parametrize(
    ("header", "fault"), [("Dropped 5", ("Dropped", 5.0)), ("Dropped", ("Dropped", 0.0)), ("", ("", 0.0))]
)
def test_what_becomes_of_a_reply(header: str, fault: tuple[str, float]) -> None:
    assert Reply(200, {"x-fakeazure-fault": header} if header else {}, b"").fault == fault


@pytest.mark.parametrize(
    "token",
    [
        "only.two",
        ".".join(sign(CLAIMS, TENANT, SECRET).split(".")[:2]),
        sign(CLAIMS, TENANT, SECRET) + ".more",
        sign(CLAIMS, TENANT, SECRET) + "é",
        "W10.e30.x",  # a header that is a list
        sign(CLAIMS, TENANT, SECRET).split(".")[0] + ".eyJ0aWQiOiJcdWQ4MDAifQ.x",  # a tenant of half a character
        "e30.W10.x",  # claims that are a list
        "MQ.e30.x",
    ],
)
def test_what_is_no_token(token: str) -> None:
    reply = ask(front(), f"Bearer {token}")
    assert (reply.status, reply.headers["x-ms-error-code"]) == (401, "InvalidAuthenticationToken")


@pytest.mark.parametrize(
    ("expiry", "code"),
    [
        (0, "ExpiredAuthenticationToken"),
        (-1, "InvalidAuthenticationToken"),
        (99_999_999_999, None),
        (100_000_000_000, "InvalidAuthenticationToken"),
        (True, "InvalidAuthenticationToken"),
    ],
)
def test_moments_that_a_token_may_end_at(expiry: object, code: str | None) -> None:
    assert ask(front(), signed(exp=expiry)).headers.get("x-ms-error-code") == code


def test_depth_is_that_of_the_deepest_wherever_it_is() -> None:
    raw = b'{"a":[],"b":[],"c":[[1]],"d":[]}'
    assert read(raw, 3) == {"a": [], "b": [], "c": [[1]], "d": []}
    with pytest.raises(ValueError, match="MaxDepth of 2"):
        read(raw, 2)


def test_the_longest_whole_number() -> None:
    for number in (2**63 - 1, -(2**63)):
        assert read(b'{"a":%d}' % number, 3) == {"a": number}
    for number in (2**63, -(2**63) - 1, 10**40):
        with pytest.raises(ValueError, match="too large or small for an Int64"):
            read(b'{"a":%d}' % number, 3)


def test_the_page_tells_faults_failures_and_operations() -> None:
    fault = {"what": "InternalServerError", "where": {"resource": "networkInterfaces", "method": "GET"}}
    dry = [{"size": "Standard_D2s_v5", "zone": "1", "vms": 0}]
    driver = Driver({"faults": [fault], "capacity": dry})
    driver.put_vm("a", zone="1")
    driver.put_vm("b", zone="2")
    driver.cloud.advance(60)
    driver.call("GET", driver.nic_path("a"))
    driver.get_vm("gone")
    text = render(driver.cloud).decode()
    found = tables(text)
    assert [row[5] for row in found["Calls"][:3]] == ["", "InternalServerError", ""]
    bad = [row.split("<td")[1:] for row in text.split("<tr class=bad>")[1:]]
    assert [cells[0].partition(">")[2].partition("<")[0] for cells in bad][:1] == ["a"]
    assert [row[4] for row in found["Virtual machines"]] == ["Failed", "Succeeded"]
    counts = dict(row for row in found["Operations that are served"])
    assert int(counts["Microsoft.Compute"]) > int(counts["Microsoft.ManagedIdentity"]) > 1
    assert "more</p>" not in text.partition("Virtual machines")[2].partition("<h2>")[0]


def test_a_call_of_status_400_is_bad() -> None:
    driver = Driver()
    driver.put_nic("a")
    driver.call("PUT", driver.nic_path("b"), {"location": "eastus", "properties": 5})
    text = render(driver.cloud).decode()
    assert [row[3] for row in tables(text)["Calls"]] == ["400", "201"]
    assert text.count("<tr class=bad>") == 1


def test_paths_of_ninety_letters_are_whole() -> None:
    driver = Driver()
    lengths = [90 - len("Microsoft.Network/networkInterfaces/") + more for more in (0, 1)]
    for length in lengths:
        driver.call("GET", driver.nic_path("n" * length))
    cut, whole = (row[2] for row in tables(render(driver.cloud).decode())["Calls"])
    assert (len(whole), "…" in whole, len(cut), "…" in cut) == (90, False, 90, True)


def test_only_posts_take_and_restore_snapshots() -> None:
    asking = Asking()
    front_ = asking.front

    def asked(method: str, path: str, raw: bytes = b"") -> Reply:
        headers = {"Authorization": f"Bearer {front_.guard.secret}"}
        return front_.handle(method, f"/_fakeazure/{path}", headers, raw, origin="http://x")

    taken = asked("POST", "snapshot")
    assert (taken.status, taken.headers["Content-Type"]) == (200, "application/octet-stream")
    assert asked("POST", "restore", taken.body).status == 204
    for method, path in (("GET", "snapshot"), ("GET", "restore"), ("POST", "nothing")):
        reply = asked(method, path)
        assert (reply.status, json.loads(reply.body)["error"]["code"]) == (404, "NotFound")


def test_the_console_has_a_log_and_a_picture() -> None:
    asking = Asking()
    asking.driver.put_vm("aks-a", diagnosticsProfile={"bootDiagnostics": {"enabled": True}})
    path = f"{asking.driver.vm_path('aks-a')}/retrieveBootDiagnosticsData"
    body = asking.driver.call("POST", path, None, "2025-04-01").body
    assert body is not None
    found = {}
    for name in ("serialConsoleLogBlobUri", "consoleScreenshotBlobUri"):
        target = "/" + body[name].partition("://")[2].partition("/")[2]
        reply = asking.front.handle("GET", target, {}, b"", origin="http://x")
        found[name] = reply.status, reply.headers["Content-Type"].partition(";")[0]
        gone = asking.front.handle("GET", target.replace("aks-a", "aks-b"), {}, b"", origin="http://x")
        assert gone.status == 404
        network = target.replace("Microsoft.Compute/virtualMachines", "Microsoft.Network/networkInterfaces")
        assert asking.front.handle("GET", network, {}, b"", origin="http://x").status == 404
        other = target.replace("serial.log", "other.log").replace("screenshot.bmp", "other.bmp")
        assert asking.front.handle("GET", other, {}, b"", origin="http://x").status == 404
    assert found == {"serialConsoleLogBlobUri": (200, "text/plain"), "consoleScreenshotBlobUri": (200, "image/bmp")}


def test_aliases_are_told() -> None:
    reply = Front(Driver().cloud, guard=GUARD).handle("GET", ALIASES, {}, b"", origin="http://x")
    assert (reply.status, reply.headers["Content-Type"].partition(";")[0]) == (200, "application/json")


def test_events_that_are_nested_too_deep_are_not_read() -> None:
    asking = Asking()
    asking.driver.put_vm("aks-a")

    def told(depth: int) -> object:
        nested: Any = 1
        for _ in range(depth - 1):
            nested = [nested]
        body = {"StartRequests": [{"EventId": "x"}], "more": nested}
        return asking.ask(f"/metadata/scheduledevents?{EVENTS}", "POST", body)[1]

    assert told(8) == {"error": "Bad request. EventId is not known"}
    assert told(9) == {"error": "Bad request. Could not parse request body"}


def test_nothing_is_attested_where_nothing_can_be_signed(monkeypatch: pytest.MonkeyPatch) -> None:
    asking = Asking()
    asking.driver.put_vm("aks-a")

    def fails(content: bytes) -> bytes:
        raise PkiError("no openssl here")

    monkeypatch.setattr(asking.front._signer, "sign", fails)
    status, body = asking.ask("/metadata/attested/document?api-version=2021-02-01")
    assert (status, "no openssl here" in json.dumps(body)) == (503, True)


@pytest.fixture
def openssl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program `openssl` that is whatever a test writes."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    program = folder / "openssl"
    program.touch(mode=0o755)
    return program


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("echo first >&2; echo last >&2; exit 1", "openssl req failed: last"),
        ("exit 1", "openssl req failed: no message"),
    ],
)
def test_why_there_is_no_certificate(script: str, said: str, openssl: Path, tmp_path: Path) -> None:
    openssl.write_text(f"#!/bin/sh\n{script}\n")
    with pytest.raises(PkiError) as failed:
        make_pki(tmp_path / "a" / "b")
    assert str(failed.value) == said


def test_files_of_a_certificate(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    made = make_pki(folder)
    assert [oct(path.stat().st_mode & 0o777) for path in (made.key, folder / "ca.key")] == ["0o600", "0o600"]
    before = made.certificate.read_bytes()
    assert make_pki(folder).certificate.read_bytes() == before
    assert sorted(path.name for path in folder.iterdir()) == ["ca.key", "ca.pem", "server.key", "server.pem"]


@pytest.mark.parametrize("name", ["ca.key", "ca.pem", "server.key", "server.pem"])
def test_keys_and_certificates_of_somebody_else_stay_as_they_are(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("mine")
    with pytest.raises(PkiError, match=rf"{name} is there without \w+\.\w+, and is not written over: remove it,"):
        make_pki(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == "mine"


def test_a_pump_is_over_when_it_is_left() -> None:
    clock = WallClock()
    before = set(threading.enumerate())
    with Pump(Front(Driver(clock=clock).cloud, guard=GUARD), clock):
        [thread] = set(threading.enumerate()) - before
        assert thread.is_alive()
    assert not thread.is_alive()


def test_a_token_of_the_mock_is_good_for_an_hour() -> None:
    with mock_azure(catalogue=CATALOGUE) as azure:
        token = azure.token()
        now = azure._entered().front.tokens.now()
        assert 3590 <= token.expires_on - now <= 3600
        answered = azure.cloud.request("GET", f"/subscriptions/{SUBSCRIPTION}", query={"api-version": "2022-12-01"})
        assert answered.status == 200


def test_ten_calls_are_listed_and_no_more() -> None:
    driver = Driver(timing=INSTANT)
    for count, ending in ((10, None), (11, "  and 1 more")):
        for number in range(count - len(driver.cloud.calls)):
            driver.call("GET", driver.nic_path(f"n{number}"))
        with pytest.raises(AssertionError) as failed:
            driver.cloud.calls.never()
        lines = str(failed.value).splitlines()[1:]
        assert (len(lines) - (ending is not None), lines[-1] if ending else None) == (10, ending)
