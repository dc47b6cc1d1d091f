"""What a transport does with an answer: written once, compressed, lost on its way; and what a served cloud says of itself."""

from __future__ import annotations

import contextlib
import gzip
import http.client
import json
import socket

import pytest

from fakeazure.market.restrictions import Restriction
from fakeazure.timing import INSTANT
from fakeazure.transports.in_process import InProcess
from fakeazure.transports.server import HttpServer
from fakeazure.transports.wire import Front, Reply
from tests.cloud.driver import Driver
from tests.transports.guarded import GUARD, SECRET, TOKEN
from tests.transports.test_contract import SKUS, _urllib


def test_large_lists_are_compressed_and_follow_the_market() -> None:
    driver = Driver()
    front = Front(driver.cloud, guard=GUARD)

    def ask(**headers: str) -> Reply:
        given = {"Authorization": f"Bearer {TOKEN}", **headers}
        return front.handle("GET", f"{SKUS}?api-version=2021-07-01", given, b"", origin="http://x")

    plain, packed = ask(), ask(**{"Accept-Encoding": "gzip, deflate"})
    assert packed.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.body) == plain.body
    assert int(packed.headers["Content-Length"]) == len(packed.body) < len(plain.body)
    assert plain.body is ask().body  # written once
    driver.cloud.market.restrictions.add(Restriction(size="Standard_D2s_v5"))
    assert json.loads(ask().body) != json.loads(plain.body)


@pytest.mark.parametrize(("what", "lost"), [("Dropped", True), ("Truncated", True), ("Slow", False)])
def test_answers_can_be_lost_on_their_way(what: str, lost: bool) -> None:
    """What was asked for happens all the same, as when a connection breaks; the next request is answered."""
    fault = {"what": what, "where": {"resource": "networkInterfaces"}, "seconds": 0.2}
    driver = Driver({"faults": [fault]})
    with HttpServer(Front(driver.cloud, guard=GUARD)) as server:
        call = _urllib(server.url, None)
        path = f"{driver.nic_path('a')}?api-version=2022-01-01"
        with pytest.raises((OSError, http.client.HTTPException)) if lost else contextlib.nullcontext():
            call("PUT", path, driver.nic_body("a"))
        assert call("GET", path).status == 200
    assert driver.cloud.unfired() == []


@pytest.mark.parametrize(("what", "begun"), [("Dropped", b""), ("Truncated", b"HTTP/1.1 200 ")])
def test_what_is_lost_is_all_or_half_of_an_answer(what: str, begun: bytes) -> None:
    driver = Driver({"faults": [{"what": what, "where": {"resource": "networkInterfaces", "method": "GET"}}]})
    with HttpServer(Front(driver.cloud, guard=GUARD)) as server:
        path = f"{driver.path('Microsoft.Network/networkInterfaces')}?api-version=2022-01-01"
        with socket.create_connection(("127.0.0.1", server.port), timeout=5) as client:
            client.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n\r\n".encode())
            client.shutdown(socket.SHUT_WR)
            received = b"".join(iter(lambda: client.recv(65536), b""))
    assert received.startswith(begun) if begun else received == b""
    head, _, body = received.partition(b"\r\n\r\n")
    assert not begun or int(head.rpartition(b" ")[2]) // 2 == len(body) > 0


def test_lost_answers_in_process() -> None:
    requests = pytest.importorskip("requests")
    driver = Driver({"faults": [{"what": "Dropped", "where": {"resource": "networkInterfaces", "method": "GET"}}]})
    url = f"https://management.azure.com{driver.path('Microsoft.Network/networkInterfaces')}?api-version=2022-01-01"
    with InProcess(driver.cloud) as mock:
        headers = {"Authorization": f"Bearer {mock.token()}"}
        with pytest.raises(requests.ConnectionError, match="declared fault"):
            requests.get(url, headers=headers)
        assert requests.get(url, headers=headers).status_code == 200


def test_worlds_are_reset_put_away_and_taken_out_over_http() -> None:
    front = Front(Driver(timing=INSTANT).cloud, guard=GUARD)

    def own(method: str, path: str, body: bytes = b"") -> Reply:
        headers = {"Authorization": f"Bearer {SECRET}"}
        return front.handle(method, f"/_fakeazure/{path}", headers, body, origin="http://x")

    driver = Driver(timing=INSTANT)
    front.cloud.request("PUT", driver.nic_path("a"), query={"api-version": "2022-01-01"}, body=driver.nic_body("a"))
    calls = json.loads(own("GET", "journal").body)["calls"]
    assert [(call["method"], call["status"]) for call in calls] == [("PUT", 201)]
    taken = own("POST", "snapshot")
    assert own("POST", "reset").status == 204
    there = {"query": {"api-version": "2022-01-01"}}
    assert front.cloud.request("GET", driver.nic_path("a"), **there).status == 404
    assert own("POST", "restore", taken.body).status == 204
    assert front.cloud.request("GET", driver.nic_path("a"), **there).status == 200
    wrong = own("POST", "restore", b"x")
    assert (wrong.status, json.loads(wrong.body)["error"]["code"]) == (409, "Conflict")


def test_page_for_a_browser() -> None:
    driver = Driver(
        {"faults": [{"what": "Dropped", "where": {"name": "<b>"}}], "capacity": [{"size": "Standard_D2s_v5", "vms": 3}]}
    )
    driver.put_vm("aks-a")
    driver.get_vm("nope")
    found = Front(driver.cloud, guard=GUARD).handle("GET", "/", {"Accept": "text/html,*/*"}, b"", origin="http://x")
    page = found.body.decode()
    assert found.headers["Content-Type"] == "text/html; charset=utf-8"
    for part in (
        "aks-a",
        "standardDSv5Family",
        "2 vms",
        "ResourceNotFound",
        "PUT virtualMachines",
        "Microsoft.Network",
        "&lt;b&gt;",
    ):
        assert part in page
    assert "<b>" not in page
    assert "<script" not in page
    plain = Front(driver.cloud, guard=GUARD).handle(
        "GET", "/", {"Authorization": f"Bearer {TOKEN}"}, b"", origin="http://x"
    )
    assert plain.status == 404
