"""Whatever a body is made of, the answer is an ARM error or a success, never an exception, and a refusal leaves nothing behind."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakeazure.beginning import SUBSCRIPTION
from fakeazure.timing import INSTANT
from tests.cloud.aks_machine import PROFILE, machine_body
from tests.cloud.driver import MACHINES, NETWORK, Driver

JUNK: tuple[Any, ...] = (
    None,
    "",
    "x",
    0,
    -1,
    1e400,
    True,
    [],
    ["x"],
    [None],
    [[]],
    {},
    {"a": 1},
    {"id": []},
    "/subscriptions/x",
)

Target = Callable[[Driver], tuple[str, str, str, dict[str, Any]]]

TARGETS: Mapping[str, Target] = {
    "vm": lambda d: (
        "PUT",
        d.vm_path("a"),
        "2025-04-01",
        d.vm_body("a", additionalCapabilities={"ultraSSDEnabled": False}),
    ),
    "nic": lambda d: ("PUT", d.nic_path("b"), NETWORK, d.nic_body("b", networkSecurityGroup={"id": ""})),
    "machine": lambda d: ("PUT", f"{d.pool_path()}/machines/m", MACHINES, machine_body()),
    "delete": lambda d: ("POST", f"{d.pool_path()}/deleteMachines", MACHINES, {"machineNames": ["m"]}),
    "graph": lambda d: (
        "POST",
        "/providers/Microsoft.ResourceGraph/resources",
        "2024-04-01",
        {"query": "Resources | take 1", "options": {"$top": 1, "$skipToken": "0"}, "subscriptions": [SUBSCRIPTION]},
    ),
    "group": lambda d: (
        "PUT",
        f"/subscriptions/{SUBSCRIPTION}/resourceGroups/n",
        "2021-04-01",
        {"location": "eastus", "tags": {"a": "b"}},
    ),
    "vnet": lambda d: (
        "PUT",
        d.path("Microsoft.Network/virtualNetworks", "v"),
        NETWORK,
        {
            "location": "eastus",
            "properties": {"subnets": [{"name": "s", "properties": {"addressPrefix": "10.1.0.0/24"}}]},
        },
    ),
    "extension": lambda d: (
        "PUT",
        f"{d.vm_path('old')}/extensions/e",
        "2025-04-01",
        {"tags": {"a": "b"}, "properties": {"protectedSettings": {"commandToExecute": "x"}}},
    ),
    "bootstrapping": lambda d: (
        "GET",
        d.pool_path().rpartition("/agentPools/")[0] + "/nodeBootstrapping",
        "2025-04-01",
        {"provisionProfile": PROFILE, "provisionHelperValues": {"skuCPU": 2, "skuMemory": 8}},
    ),
}


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every path into a document."""
    if path:
        yield path
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in entries:
        yield from places(inner, (*path, key))


def prepared() -> Driver:
    driver = Driver(timing=INSTANT)
    driver.put_vm("old")
    driver.put_nic("a")
    return driver


@pytest.mark.parametrize("kind", TARGETS)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_never_an_exception(kind: str, data: st.DataObject) -> None:
    driver = prepared()
    method, path, version, body = TARGETS[kind](driver)
    broken = copy.deepcopy(body)
    for _ in range(data.draw(st.integers(1, 2))):
        where = data.draw(st.sampled_from(list(places(broken))), label="where")
        holder = broken
        for key in where[:-1]:
            holder = holder[key]
        holder[where[-1]] = copy.deepcopy(data.draw(st.sampled_from(JUNK), label="junk"))
        if not list(places(broken)):
            break
    before = [usage["currentValue"] for usage in driver.cloud.market.usages(SUBSCRIPTION, "eastus")]
    free = {key: addresses.free for key, addresses in driver.cloud.state.addresses.items()}
    answer = driver.call(method, path, broken, version)
    assert 200 <= answer.status < 600
    json.dumps(answer.body, default=dict)
    if answer.status >= 400:
        assert answer.error_code
        assert answer.status != 500
        assert [usage["currentValue"] for usage in driver.cloud.market.usages(SUBSCRIPTION, "eastus")] == before
        kept = {key: addresses.free for key, addresses in driver.cloud.state.addresses.items() if key in free}
        assert kept == free
    for name in ("a", "b", "m", "old"):  # and the world goes on
        driver.delete_vm(name)
    driver.call("GET", f"{driver.pool_path()}/machines", None, MACHINES)
