"""A name in a body that becomes part of an id is judged by its provider's rule: the id stays one that can be read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.cloud.aks_machine import machine_body
from tests.cloud.changes import empty_disk, wrong
from tests.cloud.driver import MACHINES, NETWORK, Driver, error_of

NETWORK_WORDS = (
    "The name can be up to 80 characters long. It must begin with a word character, and it must end with a word character or with '_'."
    " The name may contain word characters or '.', '-', '_'."
)
COMPUTE_WORDS = r"is invalid according to its validation rule: ^[^_\W][\w-._]{0,79}(?<![-.])$."
BAD = ("a/b", "::/0", "/", "-a", "a-", "x" * 81, "a\x00b", "é", "a b", "..")
GOOD = ("a", "a_b-c.d1", "x" * 80)


def network(driver: Driver, type_: str, part: str, name: str) -> Any:
    body = {
        "location": "eastus",
        "properties": {part: [{"name": name, "properties": {"addressPrefix": "10.9.0.0/24"}}]},
    }
    if type_ == "virtualNetworks":
        body["properties"]["addressSpace"] = {"addressPrefixes": ["10.9.0.0/16"]}  # type: ignore[index]
    return driver.call("PUT", driver.path(f"Microsoft.Network/{type_}", "x"), body, NETWORK)


PARTS = (("virtualNetworks", "subnets"), ("loadBalancers", "frontendIPConfigurations"), ("loadBalancers", "probes"))


@pytest.mark.parametrize(("type_", "part"), PARTS)
def test_a_part_of_a_network_has_a_name_that_azure_takes(type_: str, part: str) -> None:
    driver = Driver()
    for name in BAD:
        status, code, message = error_of(network(driver, type_, part, name))
        assert (status, code, message) == (
            400,
            "InvalidResourceName",
            f"Resource name {name} is invalid. {NETWORK_WORDS}",
        )
        assert driver.call("GET", driver.path(f"Microsoft.Network/{type_}", "x"), None, NETWORK).status == 404
    assert [network(driver, type_, part, name).status for name in GOOD] == [201, 200, 200]


def test_rules_and_addresses_have_names_that_azure_takes() -> None:
    driver = Driver()
    rule = {"priority": 100, "direction": "Inbound", "access": "Allow", "protocol": "*"}
    body = {"location": "eastus", "properties": {"securityRules": [{"name": "a/b", "properties": rule}]}}
    answer = driver.call("PUT", driver.path("Microsoft.Network/networkSecurityGroups", "x"), body, NETWORK)
    assert error_of(answer)[1] == "InvalidResourceName"
    nic = driver.nic_body("n")
    nic["properties"]["ipConfigurations"][0]["name"] = "a/b"
    assert error_of(driver.call("PUT", driver.nic_path("n"), nic, NETWORK))[1] == "InvalidResourceName"


@pytest.mark.parametrize("disk", ["osDisk", "dataDisk"])
@pytest.mark.parametrize("name", BAD)
def test_a_disk_of_a_vm_has_a_name_that_azure_takes(disk: str, name: str) -> None:
    driver = Driver()
    driver.call("PUT", driver.nic_path("v"), driver.nic_body("v"), NETWORK)
    body = driver.vm_body("v")
    storage = body["properties"]["storageProfile"]
    if disk == "osDisk":
        storage["osDisk"] = {**storage["osDisk"], "name": name}
    else:
        storage["dataDisks"] = [{"lun": 0, "name": name, "createOption": "Empty", "diskSizeGB": 4}]
    answer = driver.call("PUT", driver.vm_path("v"), body)
    assert error_of(answer) == (400, "InvalidParameter", f"The entity name '{disk}.name' {COMPUTE_WORDS}")
    driver.cloud.advance(3600)
    assert wrong(driver.cloud) == []
    assert driver.call("PUT", driver.path("Microsoft.Compute/disks", "a_b-c.d1"), empty_disk()).status == 202


def test_a_pool_and_a_machine_have_names_that_aks_takes() -> None:
    driver = Driver()
    pools = [{"name": "a/b", "count": 1, "vmSize": "Standard_D2s_v5", "mode": "System"}]
    body = {"location": "eastus", "properties": {"dnsPrefix": "k", "agentPoolProfiles": pools}}
    path = driver.cluster_path().rpartition("/")[0] + "/k"
    status, code, message = error_of(driver.call("PUT", path, body, "2024-05-01"))
    assert (status, code) == (400, "InvalidParameter")
    assert "agentPoolProfile.name is invalid" in message
    sent = {"BatchPutMachine": json.dumps({"batchMachines": [{"machineName": "a/b"}]})}
    path = f"{driver.pool_path()}/machines/a"
    answer = driver.cloud.request("PUT", path, query={"api-version": MACHINES}, body=machine_body(), headers=sent)
    assert "machine.name is invalid" in json.dumps(answer.body)
    driver.cloud.advance(3600)
    assert wrong(driver.cloud) == []
