"""Many clients at once, under faults: usages, VMs, lists and Resource Graph say the same, and nothing is left at the end."""

from __future__ import annotations

import http.client
import json
import random
import threading
from typing import Any

import pytest

from fakeazure.beginning import SUBSCRIPTION
from fakeazure.timing import INSTANT
from fakeazure.transports.server import HttpServer
from fakeazure.transports.wire import Front
from tests.cloud.driver import Driver
from tests.transports.guarded import GUARD, TOKEN

FAULTS = [
    {"what": "AllocationFailed", "times": "always", "probability": 0.1},
    {"what": "AllocationFailed", "times": "always", "probability": 0.1, "at": "end"},
    {"what": "TooManyRequests", "where": {"resource": "*", "method": "*"}, "times": "always", "probability": 0.05},
    {
        "what": "InternalServerError",
        "where": {"resource": "virtualMachines", "method": "DELETE"},
        "times": "always",
        "probability": 0.1,
    },
    {"what": "Dropped", "where": {"resource": "*", "method": "*"}, "times": "always", "probability": 0.02},
    {"what": "Truncated", "where": {"resource": "*", "method": "*"}, "times": "always", "probability": 0.02},
]
CLIENTS, ROUNDS = 32, 4


class Client:
    """Asks until it has an answer that is no fault of the moment, as SDKs do."""

    def __init__(self, driver: Driver, port: int) -> None:
        self.driver, self.port = driver, port

    def call(self, method: str, path: str, version: str, body: Any = None) -> tuple[int, Any]:
        for _ in range(60):
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
            try:
                headers = {"Authorization": f"Bearer {TOKEN}"}
                connection.request(
                    method, f"{path}?api-version={version}", None if body is None else json.dumps(body), headers
                )
                answer = connection.getresponse()
                raw = answer.read()
            except (OSError, http.client.HTTPException):
                continue
            finally:
                connection.close()
            if answer.status not in (429, 500):
                return answer.status, json.loads(raw) if raw else None
        raise AssertionError(f"{method} {path} has had 60 faults in a row")

    def live(self, number: int) -> None:
        """Make VMs and take some away."""
        rng = random.Random(number)
        for step in range(ROUNDS):
            name, driver = f"vm-{number}-{step}", self.driver
            assert self.call("PUT", driver.nic_path(name), "2022-01-01", driver.nic_body(name))[0] in (200, 201)
            spot = "Spot" if rng.random() < 0.3 else "Regular"
            body = driver.vm_body(
                name, zone=rng.choice("123"), priority=spot, size=rng.choice(("Standard_D2s_v5", "Standard_D4s_v5"))
            )
            self.call("PUT", driver.vm_path(name), "2025-04-01", body)
            if rng.random() < 0.5:
                self.call("DELETE", driver.vm_path(name), "2025-04-01")


def used(driver: Driver) -> dict[str, int]:
    return {
        name: driver.cloud.market.quota.used(SUBSCRIPTION, "eastus", name)
        for name in ("cores", "lowPriorityCores", "virtualMachines")
    }


@pytest.mark.slow
def test_all_that_tells_of_vms_says_the_same() -> None:
    driver = Driver({"faults": FAULTS, "quota": {"cores": 200}}, timing=INSTANT, seed_value=5)
    with HttpServer(Front(driver.cloud, guard=GUARD)) as server:
        clients = [Client(driver, server.port) for _ in range(CLIENTS)]
        threads = [threading.Thread(target=client.live, args=(number,)) for number, client in enumerate(clients)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        one = clients[0]
        listed = one.call("GET", driver.path("Microsoft.Compute/virtualMachines"), "2025-04-01")[1]["value"]
        query = {
            "query": "Resources | where type =~ 'Microsoft.Compute/virtualMachines'",
            "subscriptions": [SUBSCRIPTION],
        }
        graph = one.call("POST", "/providers/Microsoft.ResourceGraph/resources", "2024-04-01", query)[1]["data"]
        assert (
            sorted(vm["name"] for vm in listed)
            == sorted(vm["name"] for vm in graph)
            == sorted(vm.name for vm in driver.cloud.vms())
        )
        cores = {"Standard_D2s_v5": 2, "Standard_D4s_v5": 4}
        counted = {"cores": 0, "lowPriorityCores": 0, "virtualMachines": len(listed)}
        for vm in listed:
            name = "lowPriorityCores" if vm["properties"]["priority"] == "Spot" else "cores"
            counted[name] += cores[vm["properties"]["hardwareProfile"]["vmSize"]]
        assert used(driver) == counted
        assert 20 < len(listed) < CLIENTS * ROUNDS
        assert driver.cloud.unfired() == []
        driver.cloud.market.faults.all.clear()
        for vm in listed:
            one.call("DELETE", driver.vm_path(vm["name"]), "2025-04-01")
        nics = one.call("GET", driver.path("Microsoft.Network/networkInterfaces"), "2022-01-01")[1]["value"]
        for nic in nics:
            assert one.call("DELETE", driver.nic_path(nic["name"]), "2022-01-01")[0] == 202
    fresh = Driver(timing=INSTANT)
    assert used(driver) == used(fresh)
    assert {key: free.free for key, free in driver.cloud.state.addresses.items()} == {
        key: free.free for key, free in fresh.cloud.state.addresses.items()
    }
    assert [entry.id for entry in driver.cloud.state.store.all()] == [
        entry.id for entry in fresh.cloud.state.store.all()
    ]


def test_a_journal_forgets_within_its_bounds() -> None:
    from fakeazure.journal import Journal

    driver = Driver(journal=Journal(most=100, most_bytes=100_000))
    for number in range(1000):
        driver.put_nic(f"n{number}" + "x" * 60, padding="y" * 900)
    journal = driver.cloud.journal
    assert len(journal) <= 100
    assert sum(len(json.dumps(call.body)) for call in journal) <= 100_000
    assert (journal.last, journal.forgotten + len(journal)) == (1000, 1000)
    assert [call.number for call in journal.since(998)] == [999, 1000]
    driver.put_nic("large", padding="y" * 50_000)
    assert journal.calls[-1].body is None
