"""Azure's own names behind a proxy on loopback: these lead to the world's Azure, all others nowhere."""

from __future__ import annotations

import http.client
import json
import socket
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest

from fakeazure import FakeAzure
from fakeazure.transports.pki import make_pki
from fakeazure.transports.server import HttpServer
from fakeazure.transports.wire import Front
from harness.world.real.forwarder import Forwarder
from tests.real.conftest import NewWorld


@pytest.fixture
def trusted(authority: Path) -> ssl.SSLContext:
    return make_pki(authority).client_context()


@pytest.fixture
def port(authority: Path) -> Iterator[int]:
    with (
        HttpServer(Front(FakeAzure()), context=make_pki(authority).server_context()) as server,
        Forwarder(server.port) as forwarder,
    ):
        yield int(forwarder.url.rpartition(":")[2])


def test_azures_price_list_is_found_under_its_own_name(port: int, trusted: ssl.SSLContext) -> None:
    client = http.client.HTTPSConnection("127.0.0.1", port, context=trusted, timeout=10)
    client.set_tunnel("prices.azure.com", 443)
    client.request("GET", "/api/retail/prices?$filter=armRegionName%20eq%20'eastus'&$top=1")
    answer = client.getresponse()
    body = json.loads(answer.read())
    client.close()
    assert (answer.status, body["Count"]) == (200, 1)


@pytest.mark.parametrize(
    "asked",
    [
        "CONNECT example.com:443 HTTP/1.1",
        "CONNECT prices.azure.com:80 HTTP/1.1",
        "CONNECT prices.azure.com.example.com:443 HTTP/1.1",
        "CONNECT 127.0.0.1:443 HTTP/1.1",
        "GET https://prices.azure.com/ HTTP/1.1",
        "nonsense",
        "x" * 20_000,
    ],
    ids=lambda text: text[:30],
)
def test_every_other_name_is_refused(port: int, asked: str) -> None:
    with socket.create_connection(("127.0.0.1", port), 10) as client:
        client.sendall(f"{asked}\r\nHost: x\r\n\r\n".encode())
        assert client.recv(100).startswith(b"HTTP/1.1 403 ")


def test_a_world_says_where_its_azure_is(idle_world: NewWorld) -> None:
    world = idle_world()
    cloud = json.loads(Path(world.environment["AZURE_ENVIRONMENT_FILEPATH"]).read_text())
    assert cloud["resourceManagerEndpoint"] == "https://management.azure.com"
    assert world.environment["HTTPS_PROXY"].startswith("http://127.0.0.1:")
    assert world.environment["NO_PROXY"] == world.environment["KUBERNETES_SERVICE_HOST"]


def test_a_served_list_has_the_row_that_the_seed_draws(idle_world: NewWorld) -> None:
    rows = set()
    for seed in range(6):
        world = idle_world(seed=seed)
        listed = [
            row.usd
            for row in world.cloud.market.price_list().rows("eastus")
            if row.size == "Standard_D4as_v5" and not row.product.endswith("Windows") and " " not in row.meter[5:]
        ]
        believed = world.instance_types.prices_in_use.on_demand["Standard_D4as_v5"]
        assert [usd for usd in listed if usd in (0.172, 0.356)] == [believed]
        rows.add(believed)
    assert rows == {0.172, 0.356}
