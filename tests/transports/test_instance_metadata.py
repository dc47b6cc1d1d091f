"""IMDS: what a VM reads about itself."""

from __future__ import annotations

import json
import shutil
import subprocess
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest

from fakeazure.timing import INSTANT, Timing
from fakeazure.transports.wire import Front
from tests.cloud.driver import Driver

INSTANCE, EVENTS = "api-version=2021-02-01", "api-version=2020-07-01"


class Asking:
    """A front and the requests that a VM sends to its metadata service."""

    def __init__(self, **options: Any) -> None:
        self.driver = Driver(**{"timing": INSTANT, **options})
        self.front = Front(self.driver.cloud)

    def ask(self, path: str, method: str = "GET", body: Any = None, **headers: str) -> tuple[int, Any]:
        raw = b"" if body is None else json.dumps(body).encode()
        reply = self.front.handle(method, path, {"Metadata": "true", **headers}, raw, origin="http://169.254.169.254")
        content = reply.body.decode()
        return reply.status, json.loads(content) if content and "json" in reply.headers["Content-Type"] else content


@pytest.fixture
def one() -> Asking:
    """A world with one VM, `aks-a`."""
    asking = Asking()
    asking.driver.put_vm("aks-a", size="Standard_D2s_v5", zone="2")
    return asking


def test_a_vm_reads_what_it_is(one: Asking) -> None:
    status, found = one.ask(f"/metadata/instance?{INSTANCE}")
    compute, vm = found["compute"], one.driver.cloud.vm("aks-a")
    assert status == 200
    assert (compute["name"], compute["vmSize"], compute["zone"], compute["location"]) == (
        "aks-a",
        "Standard_D2s_v5",
        "2",
        "eastus",
    )
    assert compute["vmId"] == vm.document["properties"]["vmId"]
    assert compute["resourceId"] == vm.id
    assert {one["name"]: one["value"] for one in compute["tagsList"]} == dict(vm.tags)
    assert compute["customData"] == ""  # never told
    [interface] = found["network"]["interface"]
    assert interface["ipv4"]["subnet"] == [{"address": "10.224.0.0", "prefix": "16"}]
    assert interface["ipv4"]["ipAddress"][0]["privateIpAddress"].startswith("10.224.")
    assert len(interface["macAddress"]) == 12


def test_one_value_is_text_and_lists_are_numbered(one: Asking) -> None:
    assert one.ask(f"/metadata/instance/compute/location?{INSTANCE}&format=text") == (200, "eastus")
    address = f"/metadata/instance/network/interface/0/ipv4/ipAddress/0/privateIpAddress?{INSTANCE}"
    assert one.ask(address)[1].startswith("10.224.")
    assert one.ask(f"/metadata/instance?{INSTANCE}&format=text") == (200, "compute/\nnetwork/")
    assert one.ask(f"/metadata/instance/compute/shape?{INSTANCE}") == (404, {"error": "Not found"})
    status, known = one.ask("/metadata/versions")
    assert (status, known["apiVersions"][0]) == (200, "2017-03-01")


def test_what_it_refuses(one: Asking) -> None:
    missing = {"error": "Bad request. Required metadata header not specified"}
    assert one.ask(f"/metadata/instance?{INSTANCE}", Metadata="") == (400, missing)
    assert one.ask(f"/metadata/instance?{INSTANCE}", **{"X-Forwarded-For": "1.2.3.4"}) == (400, missing)
    status, found = one.ask("/metadata/instance")
    assert (status, found["newest-versions"]) == (400, ["2025-04-07", "2024-07-17", "2023-11-15"])
    assert found["error"].startswith("Bad request. api-version was not specified in the request.")
    assert one.ask("/metadata/instance?api-version=2020-02-30")[0] == 400
    assert one.ask(f"/metadata/instance?{INSTANCE}", "PUT")[0] == 405
    assert one.ask(f"/metadata/scheduledevents?{EVENTS}", "POST", {"StartRequests": [{"EventId": "x"}]})[0] == 400
    assert one.ask(f"/metadata/attested/document?{INSTANCE}&nonce=12345678901")[0] == 400


@pytest.mark.parametrize(
    "body", ["StartRequests", ["EventId"], {"StartRequests": ["x"]}, {"StartRequests": [{"Id": "x"}]}]
)
def test_events_that_are_started_have_ids(one: Asking, body: Any) -> None:
    wrong = {"error": "Bad request. Could not parse request body"}
    assert one.ask(f"/metadata/scheduledevents?{EVENTS}", "POST", body) == (400, wrong)


def test_which_vm_asks_is_in_the_path(one: Asking) -> None:
    one.driver.put_vm("aks-b")
    assert one.ask(f"/metadata/instance?{INSTANCE}")[0] == 404
    assert one.ask(f"/_fakeazure/vms/aks-b/metadata/instance/compute/name?{INSTANCE}") == (200, "aks-b")
    assert one.ask(f"/_fakeazure/vms/aks-c/metadata/instance?{INSTANCE}")[0] == 404


def test_an_eviction_is_told_and_can_be_let_begin() -> None:
    asking = Asking(timing=Timing(vm_create=0, eviction_notice=30))
    cloud = asking.driver.cloud
    asking.driver.put_vm("spot", priority="Spot")
    cloud.run_until()
    quiet = asking.ask(f"/metadata/scheduledevents?{EVENTS}")[1]
    assert quiet == {"DocumentIncarnation": 1, "Events": []}
    cloud.evict("spot")
    told = asking.ask(f"/metadata/scheduledevents?{EVENTS}")[1]
    [event] = told["Events"]
    assert (told["DocumentIncarnation"], event["EventType"], event["Resources"]) == (2, "Preempt", ["spot"])
    assert (event["NotBefore"], event["EventStatus"]) == ("Thu, 01 Jan 2026 00:00:30 GMT", "Scheduled")
    assert (event["DurationInSeconds"], event["ResourceType"]) == (-1, "VirtualMachine")  # -1: not known
    start = {"StartRequests": [{"EventId": event["EventId"]}]}
    assert asking.ask(f"/metadata/scheduledevents?{EVENTS}", "POST", start) == (200, "")
    assert cloud.vms() == []
    cloud.advance(60)  # nothing more comes of it


def test_the_attested_document_is_signed(one: Asking, tmp_path: Path) -> None:
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("the attested document needs the program openssl")
    status, found = one.ask(f"/metadata/attested/document?{INSTANCE}&nonce=42")
    assert (status, found["encoding"]) == (200, "pkcs7")
    (tmp_path / "message").write_bytes(b64decode(found["signature"]))
    command = [openssl, "cms", "-verify", "-noverify", "-inform", "DER", "-in", str(tmp_path / "message")]
    content = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    assert (content["nonce"], content["vmId"]) == ("42", one.driver.cloud.vm("aks-a").document["properties"]["vmId"])
    assert content["timeStamp"] == {"createdOn": "01/01/26 00:00:00 -0000", "expiresOn": "01/01/26 06:00:00 -0000"}
