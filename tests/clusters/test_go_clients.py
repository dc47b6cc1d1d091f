"""The HTTP cluster under what Go clients send by themselves: protobuf bodies, Events in both APIs, bearer tokens, Leases."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from typing import Any

import pytest

from harness.clusters.http import protobuf
from harness.clusters.http.events import ClientEvents
from harness.clusters.http.server import ApiServer
from harness.clusters.memory.cluster import MemoryCluster
from harness.engine.clock import Clock
from harness.engine.engine import Engine
from harness.engine.ids import Ids
from harness.engine.ports import ADMIN, KARPENTER
from harness.engine.rng import Rng
from harness.karpenter.validation.crds import crd_set
from harness.world.recorder import Recorder

# recorded from controller 1.14.0 when it deleted a Node and evicted the pod `p`
DELETE_OPTIONS = "6b3873000a130a027631120d44656c6574654f7074696f6e7312001a002200"
EVICTION = (
    "6b3873000a150a09706f6c6963792f763112084576696374696f6e123d0a110a017012001a0022002a00320038004200122812260a24303030"
    "30303030302d303030302d343030302d383030302d3030303030303030303030331a002200"
)


class Served:
    """A memory cluster behind a socket, and the raw requests to it."""

    def __init__(self) -> None:
        engine, rng = Engine(Clock()), Rng(0)
        self.recorder = Recorder(engine.clock)
        ids = Ids(rng)
        self.memory = MemoryCluster(engine, rng, ids, self.recorder, crds=crd_set("1.14.0"), kubernetes="1.36.3")
        store = self.memory.store
        events = ClientEvents(engine.clock, ids, self.recorder, lambda: store.revision)
        self.server = ApiServer(
            store, kubernetes="1.36.3", events=events, settle=engine.settle, tokens={"karpenter": KARPENTER}
        )

    def ask(
        self, method: str, path: str, body: Any = None, *, content_type: str = "application/json", token: str = ""
    ) -> tuple[int, Any]:
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=60)
        try:
            data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
            headers = {"Content-Type": content_type, **({"Authorization": f"Bearer {token}"} if token else {})}
            connection.request(method, path, data, headers)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()


@pytest.fixture
def served() -> Iterator[Served]:
    it = Served()
    with it.server:
        yield it


def test_delete_options_and_evictions_are_read_from_protobuf() -> None:
    assert protobuf.decode(bytes.fromhex(DELETE_OPTIONS)) == {"apiVersion": "v1", "kind": "DeleteOptions"}
    eviction = protobuf.decode(bytes.fromhex(EVICTION))
    assert (eviction["apiVersion"], eviction["kind"], eviction["metadata"]["name"]) == ("policy/v1", "Eviction", "p")
    assert eviction["deleteOptions"] == {"preconditions": {"uid": "00000000-0000-4000-8000-000000000003"}}


def field(number: int, value: bytes | int) -> bytes:
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    found = b""
    while value > 0x7F:
        found += bytes([value & 0x7F | 0x80])
        value >>= 7
    return found + bytes([value])


def envelope(kind: str, raw: bytes) -> bytes:
    return b"k8s\x00" + field(1, field(1, b"v1") + field(2, kind.encode())) + field(2, raw)


def test_every_field_of_delete_options_is_read() -> None:
    raw = field(1, 300) + field(3, 1) + field(4, b"Foreground") + field(5, b"All") + field(99, b"of a later version")
    assert protobuf.decode(envelope("DeleteOptions", raw)) == {
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "gracePeriodSeconds": 300,
        "orphanDependents": True,
        "propagationPolicy": "Foreground",
        "dryRun": ["All"],
    }
    assert protobuf.decode(envelope("DeleteOptions", field(1, -1)))["gracePeriodSeconds"] == -1


def test_a_lease_is_read_with_its_times() -> None:
    moment = field(1, 1_795_353_200) + field(2, 123_456_000)
    owner = field(1, b"Node") + field(3, b"n") + field(4, b"u") + field(5, b"v1") + field(6, 1)
    meta = field(1, b"l") + field(11, field(1, b"k") + field(2, b"v")) + field(13, owner) + field(14, b"f")
    spec = field(1, b"karpenter_1") + field(2, 15) + field(4, moment) + field(5, 0)
    assert protobuf.decode(envelope("Lease", field(1, meta) + field(2, spec))) == {
        "apiVersion": "v1",
        "kind": "Lease",
        "metadata": {
            "name": "l",
            "labels": {"k": "v"},
            "ownerReferences": [{"kind": "Node", "name": "n", "uid": "u", "apiVersion": "v1", "controller": True}],
            "finalizers": ["f"],
        },
        "spec": {
            "holderIdentity": "karpenter_1",
            "leaseDurationSeconds": 15,
            "renewTime": "2026-11-22T13:13:20.123456Z",
            "leaseTransitions": 0,
        },
    }


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"{}", id="JSON under the wrong name"),
        pytest.param(bytes.fromhex(DELETE_OPTIONS)[:-1], id="cut off"),
        pytest.param(envelope("Pod", b""), id="a kind that nobody sends so"),
        pytest.param(b"k8s\x00" + b"\xff" * 12, id="a number without end"),
        pytest.param(b"k8s\x00\x0b", id="a wire type that is not used"),
    ],
)
def test_other_bytes_are_refused(served: Served, data: bytes) -> None:
    with pytest.raises(protobuf.NotProtobuf):
        protobuf.decode(data)
    code, status = served.ask("DELETE", "/api/v1/nodes/n", data, content_type=protobuf.CONTENT_TYPE)
    assert (code, status["reason"]) == (415, "UnsupportedMediaType")


def test_a_delete_with_protobuf_options_deletes(served: Served) -> None:
    served.memory.writer(ADMIN).create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}})
    options = bytes.fromhex(DELETE_OPTIONS)
    code, _ = served.ask("DELETE", "/api/v1/nodes/n", options, content_type=protobuf.CONTENT_TYPE)
    assert code == 200
    assert served.memory.store.get("Node", "n") is None


def test_an_event_is_told_and_counted_up(served: Served) -> None:
    path = "/api/v1/namespaces/default/events"
    about = {"apiVersion": "karpenter.sh/v1", "kind": "NodeClaim", "name": "c"}
    event = {
        "metadata": {"name": "c.1"},
        "involvedObject": about,
        "type": "Normal",
        "reason": "Launched",
        "message": "it is there",
        "source": {"component": "karpenter"},
        "count": 1,
    }
    code, created = served.ask("POST", path, event)
    assert (code, created["kind"], created["metadata"]["namespace"]) == (201, "Event", "default")
    assert served.ask("POST", path, event)[1]["reason"] == "AlreadyExists"
    code, patched = served.ask(
        "PATCH", f"{path}/c.1", {"count": 2}, content_type="application/strategic-merge-patch+json"
    )
    assert (code, patched["count"], patched["message"]) == (200, 2, "it is there")
    told = served.recorder.events[0]
    assert (told.object.kind, told.object.name, told.reason, told.source) == ("NodeClaim", "c", "Launched", "karpenter")
    assert served.ask("PATCH", f"{path}/other", {})[0] == 404


def test_both_apis_serve_the_same_events(served: Served) -> None:
    event = {
        "metadata": {"generateName": "p."},
        "regarding": {"kind": "Pod", "name": "p", "namespace": "default"},
        "reportingController": "karpenter",
        "type": "Warning",
        "reason": "FailedScheduling",
        "note": "no room",
    }
    assert served.ask("POST", "/apis/events.k8s.io/v1/namespaces/default/events", event)[0] == 201
    [core] = served.ask("GET", "/api/v1/events")[1]["items"]
    assert (core["involvedObject"]["name"], core["message"], core["reportingComponent"]) == (
        "p",
        "no room",
        "karpenter",
    )
    [new] = served.ask("GET", "/apis/events.k8s.io/v1/events")[1]["items"]
    assert (new["regarding"], new["note"]) == (event["regarding"], "no room")
    assert {each["name"] for each in served.ask("GET", "/apis/events.k8s.io/v1")[1]["resources"]} == {"events"}


def test_a_token_says_who_asks(served: Served) -> None:
    lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "karpenter-leader-election"}}
    path = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
    assert served.ask("POST", path, lease, token="karpenter")[0] == 201
    held = {**lease, "spec": {"holderIdentity": "somebody"}}
    assert served.ask("PUT", f"{path}/karpenter-leader-election", held)[0] == 200
    assert [entry.identity for entry in served.memory.journal if entry.key.kind == "Lease"] == [KARPENTER, ADMIN]
