"""What can be read: every route that shows something, with the status that clients expect, and what the rarer ones tell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from fakeazure.beginning import SUBSCRIPTION
from fakeazure.routing import router
from fakeazure.timing import INSTANT
from tests.cloud.driver import Driver, error_of
from tests.cloud.test_deployments import put as deploy
from tests.cloud.test_deployments import template
from tests.cloud.test_scale_sets import body as scale_set

SUB = f"/subscriptions/{SUBSCRIPTION}"
COMPUTE = f"{SUB}/providers/Microsoft.Compute/locations/eastus"
GALLERY = "AKSUbuntu-38d80f77-467a-481f-a8d4-09b6d4220bd2"
PUBLISHER = "publishers/canonical/artifacttypes/vmimage/offers/ubuntu-24_04-lts/skus/server"
THERE = {
    "Microsoft.Compute/disks": "d",
    "Microsoft.Compute/virtualMachineScaleSets": "s",
    "Microsoft.Network/virtualNetworks": "aks-vnet-12345678",
    "Microsoft.Resources/deployments": "deployed",
}
"""What stands in the node resource group, by the type of its route."""
PLACES = {
    "subscription": SUBSCRIPTION,
    "group": "MC_rg_c_eastus",
    "location": "eastus",
    "vm": "aks-a",
    "nic": "aks-a",
    "instance": "0",
    "subnet": "aks-subnet",
    "namespace": "Microsoft.Compute",
    "gallery": GALLERY,
    "image": "2404gen2containerd",
    "publisher": "canonical",
    "offer": "ubuntu-24_04-lts",
    "sku": "server",
}


@pytest.fixture(scope="module")
def world() -> Driver:
    driver = Driver(timing=INSTANT)
    driver.put_vm("aks-a")
    driver.call("PUT", driver.path("Microsoft.Compute/virtualMachineScaleSets", "s"), scale_set(driver, 2))
    driver.call("POST", driver.path("Microsoft.Compute/virtualMachineScaleSets", "s") + "/osRollingUpgrade")
    driver.call(
        "PUT",
        driver.path("Microsoft.Compute/disks", "d"),
        {"location": "eastus", "properties": {"creationData": {"createOption": "Empty"}, "diskSizeGB": 30}},
    )
    deploy(driver, template(driver), "deployed")
    empty = {"location": "eastus", "properties": {"mode": "Incremental", "template": {"resources": []}}}
    driver.call("PUT", f"{SUB}/providers/Microsoft.Resources/deployments/deployed", empty)
    return driver


def asked() -> Iterator[str]:
    """The paths of all routes that can be filled in with what is there."""
    for route in router().routes:
        if route.method != "GET" or not route.versioned or route.resource == "CheckIPAddressAvailability":
            continue  # the last asks about the address in its query
        parts = {
            **PLACES,
            **({"name": THERE[one]} if (one := f"{route.namespace}/{route.type.split('/')[0]}") in THERE else {}),
        }
        try:
            yield route.pattern.format(**{**parts, "name": parts["name"]} if "{name}" in route.pattern else parts)
        except KeyError:
            continue


def shown(driver: Driver, path: str, **query: str) -> Mapping[str, Any]:
    answer = driver.call("GET", path, **query)
    assert answer.status == 200, (path, answer.body)
    assert answer.body is not None
    return answer.body


def test_everything_that_is_there_can_be_read(world: Driver) -> None:
    paths = list(dict.fromkeys(asked()))
    assert len(paths) > 80
    silent = [path for path in paths if world.call("GET", path).status >= 400]
    assert silent == []


def test_images_of_the_community_are_those_without_fips(world: Driver) -> None:
    head = f"{COMPUTE}/communityGalleries/{GALLERY}"
    assert shown(world, head)["name"] == GALLERY
    names = [item["name"] for item in shown(world, f"{head}/images")["value"]]
    assert "2404gen2containerd" in names
    assert not [name for name in names if "fips" in name.lower() or name.startswith("V3")]
    assert shown(world, f"{head}/images/2404gen2containerd")["properties"]["hyperVGeneration"] == "V2"
    versions = [item["name"] for item in shown(world, f"{head}/images/2404gen2containerd/versions")["value"]]
    for version in versions:
        assert shown(world, f"{head}/images/2404gen2containerd/versions/{version}")["name"] == version
    for wrong in (
        f"{COMPUTE}/communityGalleries/nope",
        f"{head}/images/nope",
        f"{head}/images/2404gen2containerd/versions/1.1.1",
    ):
        assert world.call("GET", wrong).status == 404


def test_versions_of_a_marketplace_image(world: Driver) -> None:
    listed = world.call("GET", f"{COMPUTE}/{PUBLISHER}/versions").array
    assert listed
    one = shown(world, f"{COMPUTE}/{PUBLISHER}/versions/{listed[-1]['name']}")
    properties = one["properties"]
    assert (one["name"], properties["replicaCount"]) == (listed[-1]["name"], 10)
    assert properties["automaticOSUpgradeProperties"] == {"automaticOSUpgradeSupported": False}
    assert properties["hyperVGeneration"] == "V2"
    assert properties["features"] == [{"name": "SecurityType", "value": "TrustedLaunchSupported"}]
    assert shown(world, f"{COMPUTE}/{PUBLISHER}/versions/latest")["name"] == listed[-1]["name"]
    for wrong in (f"{COMPUTE}/{PUBLISHER}/versions/1.1.1", f"{COMPUTE}/{PUBLISHER}x/versions"):
        assert world.call("GET", wrong).status == 404


def test_versions_that_a_pool_may_run(world: Driver) -> None:
    """learn.microsoft.com/azure/aks: at most two minor versions behind the control plane, and never ahead of it."""
    cluster = world.pool_path().rpartition("/agentPools")[0]
    now = shown(world, cluster)["properties"]["kubernetesVersion"]
    versions = shown(world, f"{cluster}/availableAgentPoolVersions")["properties"]["agentPoolVersions"]
    assert now == "1.34.2"
    assert [one["kubernetesVersion"] for one in versions] == [
        "1.32.10",
        "1.32.11",
        "1.33.6",
        "1.33.7",
        "1.34.1",
        "1.34.2",
    ]
    assert [one["kubernetesVersion"] for one in versions if one["default"]] == [now]
    assert {one["default"] for one in versions} == {True, None}
    pool = f"{cluster}/agentPools/more"
    world.call("PUT", pool, {"properties": {"vmSize": "Standard_D2s_v5", "count": 0, "orchestratorVersion": "1.34.2"}})
    profile = shown(world, f"{pool}/upgradeProfiles/default")["properties"]
    assert profile["kubernetesVersion"] == "1.34.2"
    assert [one["kubernetesVersion"] for one in profile["upgrades"]] == ["1.34.3", "1.35.0", "1.35.1"]


def test_sizes_that_a_set_can_have(world: Driver) -> None:
    (one,) = shown(world, f"{world.path('Microsoft.Compute/virtualMachineScaleSets', 's')}/skus")["value"]
    assert (one["sku"]["name"], one["capacity"]["minimum"], one["capacity"]["maximum"]) == ("Standard_D2s_v5", 0, 1000)
    assert one["capacity"]["defaultCapacity"] == 1


def test_clusters_go_off_and_on_and_take_a_body_again(world: Driver) -> None:
    cluster = world.pool_path().rpartition("/agentPools")[0]
    for action, code in (("stop", "Stopped"), ("start", "Running")):
        assert world.call("POST", f"{cluster}/{action}").status == 202
        assert shown(world, cluster)["properties"]["powerState"] == {"code": code}
    assert [one["name"] for one in shown(world, cluster.rpartition("/")[0])["value"]] == ["c"]
    assert world.call("PUT", cluster, {"location": "eastus", "properties": {}}).status == 200
    nowhere = cluster.rpartition("/")[0].replace("/rg/", "/nowhere/")
    assert error_of(world.call("GET", nowhere))[:2] == (404, "ResourceGroupNotFound")


def test_deployments_of_a_group(world: Driver) -> None:
    all_ = world.path("Microsoft.Resources/deployments")
    assert [one["name"] for one in shown(world, all_)["value"]] == ["deployed"]
    assert shown(world, all_.replace("MC_rg_c_eastus", "rg"))["value"] == []
    body = {"properties": {"mode": "incremental", "template": {"resources": []}}}
    validated = world.call("POST", f"{all_}/another/validate", body)
    assert (validated.status, world.call("GET", f"{all_}/another").status) == (200, 404)
    deploy(world, {"resources": []}, "gone")
    assert [world.call("DELETE", f"{all_}/gone").status for _ in range(2)] == [204, 204]
    assert world.call("GET", f"{all_}/gone").status == 404
