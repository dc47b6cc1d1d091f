"""Managed clusters as AKS fills them in, their pools, versions and credentials."""

from __future__ import annotations

import base64
import re
from typing import Any

import pytest

from fakeazure.beginning import SUBSCRIPTION
from fakeazure.timing import INSTANT
from harness.reading.yaml_tree import compose
from harness.reading.yaml_values import kubernetes_value
from tests.cloud.aks_machine import machine_body
from tests.cloud.driver import MACHINES, Driver, error_of

CLUSTERS = "Microsoft.ContainerService/managedClusters"


def put_cluster(driver: Driver, **properties: Any) -> Any:
    pools = [{"name": "system", "count": 3}]
    body = {"location": "eastus", "properties": {"agentPoolProfiles": pools, **properties}}
    return driver.call("PUT", driver.path(CLUSTERS, "new", group="rg"), body)


def put_pool(driver: Driver, **properties: Any) -> Any:
    path = f"{driver.path(CLUSTERS, 'new', group='rg')}/agentPools/more"
    return driver.call("PUT", path, {"properties": {"count": 1, **properties}})


def test_a_new_cluster_has_what_nobody_gave() -> None:
    driver = Driver()
    body = put_cluster(driver).body
    properties = body["properties"]
    assert (properties["kubernetesVersion"], properties["currentKubernetesVersion"]) == ("1.34", "1.34.3")
    assert properties["nodeResourceGroup"] == "MC_rg_new_eastus"
    assert driver.call("HEAD", f"/subscriptions/{SUBSCRIPTION}/resourceGroups/MC_rg_new_eastus").status == 204
    assert (body["identity"]["type"], body["sku"]["tier"], properties["powerState"]["code"]) == (
        "SystemAssigned",
        "Free",
        "Running",
    )
    [pool] = properties["agentPoolProfiles"]
    assert (pool["name"], pool["mode"], pool["count"], pool["vmSize"]) == ("system", "System", 3, "Standard_D4s_v5")
    assert (pool["orchestratorVersion"], pool["currentOrchestratorVersion"]) == ("1.34", "1.34.3")
    assert properties["networkProfile"]["networkPluginMode"] == "overlay"
    assert properties["networkProfile"]["podCidrs"] == ["10.244.0.0/16"]
    assert properties["oidcIssuerProfile"] == {"enabled": False}
    assert properties["nodeProvisioningProfile"] == {"mode": "Manual", "defaultNodePools": "Auto"}


@pytest.mark.parametrize(
    ("sent", "mode", "pods", "cidr"),
    [
        ({}, "overlay", 250, "10.244.0.0/16"),
        (
            {"networkPlugin": "azure", "networkPluginMode": "overlay", "podCidr": "10.9.0.0/16"},
            "overlay",
            250,
            "10.9.0.0/16",
        ),
        ({"networkPlugin": "azure"}, None, 30, None),  # of the node's subnet
        ({"networkPlugin": "kubenet"}, None, 110, "10.244.0.0/16"),
        ({"networkPlugin": "none"}, None, 250, None),
    ],
)
def test_the_network_plugin_decides_on_pods(
    sent: dict[str, Any], mode: str | None, pods: int, cidr: str | None
) -> None:
    properties = put_cluster(Driver(), networkProfile=sent).body["properties"]
    network = properties["networkProfile"]
    assert network.get("networkPluginMode") == mode
    assert (network.get("podCidr"), network.get("podCidrs")) == (cidr, [cidr] if cidr else None)
    assert properties["agentPoolProfiles"][0]["maxPods"] == pods


def test_a_put_that_names_no_version_changes_none() -> None:
    driver = Driver()
    put_cluster(driver, kubernetesVersion="1.33.6")
    again = put_cluster(driver).body["properties"]
    assert (again["kubernetesVersion"], again["currentKubernetesVersion"]) == ("1.33.6", "1.33.6")


def test_only_the_first_pool_of_a_new_cluster_is_a_system_pool_unasked() -> None:
    driver = Driver()
    pools = [{"name": "system", "count": 3}, {"name": "second", "count": 1}]
    found = put_cluster(driver, agentPoolProfiles=pools).body["properties"]["agentPoolProfiles"]
    assert {each["name"]: each["mode"] for each in found} == {"system": "System", "second": "User"}


def test_the_group_of_nodes_has_a_name_of_80_letters_at_most() -> None:
    driver, name = Driver(), "c" * 63
    group = "g" * 20
    driver.call("PUT", f"/subscriptions/{SUBSCRIPTION}/resourceGroups/{group}", {"location": "eastus"})
    body = {"location": "eastus", "properties": {"agentPoolProfiles": [{"name": "system", "count": 3}]}}
    made = driver.call("PUT", driver.path(CLUSTERS, name, group=group), body).body
    assert made["properties"]["nodeResourceGroup"] == f"MC_{group}_{name}_eastus"[:80]


def test_a_version_is_as_it_was_sent_beside_the_one_that_runs() -> None:
    driver = Driver()
    properties = put_cluster(driver, kubernetesVersion="1.33").body["properties"]
    assert (properties["kubernetesVersion"], properties["currentKubernetesVersion"]) == ("1.33", "1.33.7")
    [pool] = properties["agentPoolProfiles"]
    assert (pool["orchestratorVersion"], pool["currentOrchestratorVersion"]) == ("1.33", "1.33.7")
    # the same minor version again is no upgrade
    again = put_cluster(driver, kubernetesVersion="1.33").body["properties"]
    assert (again["kubernetesVersion"], again["currentKubernetesVersion"]) == ("1.33", "1.33.7")
    sent = put_pool(driver, orchestratorVersion="1.32").body["properties"]
    assert (sent["orchestratorVersion"], sent["currentOrchestratorVersion"]) == ("1.32", "1.32.11")


REFUSED = {
    "no minor version of AKS": ("", "1.2", "K8sVersionNotSupported", "version 1.2 is not supported in location eastus"),
    "no patch of AKS": ("", "9.9.9", "K8sVersionNotSupported", "version 9.9.9 is not supported"),
    "a patch that there is not": ("1.34.2", "1.34.9", "K8sVersionNotSupported", "version 1.34.9 is not supported"),
    "a minor version skipped": (
        "1.33.6",
        "1.35.0",
        "OperationNotAllowed",
        "Upgrading Kubernetes version 1.33.6 to 1.35.0 is not allowed. Available upgrades: [1.34.3 1.34.2 1.34.1 1.33.7].",
    ),
    "an older one": (
        "1.34.2",
        "1.33.7",
        "OperationNotAllowed",
        "Downgrading Kubernetes version 1.34.2 to 1.33.7 is not allowed.",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_versions_that_aks_refuses(case: str) -> None:
    before, version, code, text = REFUSED[case]
    driver = Driver()
    if before:
        assert put_cluster(driver, kubernetesVersion=before).status == 201
    status, told, message = error_of(put_cluster(driver, kubernetesVersion=version))
    assert (status, told, text in message) == (400, code, True), message


@pytest.mark.parametrize(
    ("version", "code", "text"),
    [
        (
            "1.35.0",
            "NodePoolMcVersionIncompatible",
            "Minor version of node pool version 35 is bigger than control plane version 34.",
        ),
        ("1.30.1", "K8sVersionNotSupported", "1.30.1"),
        ("1.34.9", "K8sVersionNotSupported", "1.34.9"),
    ],
)
def test_versions_of_a_pool_that_aks_refuses(version: str, code: str, text: str) -> None:
    driver = Driver()
    put_cluster(driver, kubernetesVersion="1.34.2")
    status, told, message = error_of(put_pool(driver, orchestratorVersion=version))
    assert (status, told, text in message) == (400, code, True), message


def test_a_pool_stays_behind_by_two_minor_versions_at_most() -> None:
    driver = Driver()
    put_cluster(driver, kubernetesVersion="1.35.0")
    assert put_pool(driver, orchestratorVersion="1.33.6").status == 201
    status, code, message = error_of(put_pool(driver, orchestratorVersion="1.32.10"))
    assert (status, code) == (400, "NodePoolMcVersionIncompatible")
    assert message.endswith("Minor version of node pool is 32 and control plane is 35.")


def test_an_empty_size_is_the_default_one() -> None:
    driver = Driver()
    pools = [{"name": "system", "count": 1, "vmSize": ""}]
    body = {"location": "eastus", "properties": {"agentPoolProfiles": pools}}
    made = driver.call("PUT", driver.path(CLUSTERS, "new", group="rg"), body)
    assert made.body is not None
    assert made.body["properties"]["agentPoolProfiles"][0]["vmSize"].startswith("Standard_")


def test_a_cluster_with_an_issuer_says_where_it_is() -> None:
    driver = Driver()
    profile = put_cluster(driver, oidcIssuerProfile={"enabled": True}).body["properties"]["oidcIssuerProfile"]
    assert re.fullmatch(r"https://eastus\.oic\.prod-aks\.azure\.com/[0-9a-f-]{36}/[0-9a-f-]{36}/", profile["issuerURL"])
    assert put_cluster(Driver()).body["properties"]["oidcIssuerProfile"] == {"enabled": False}


def test_tags_are_patched_and_nothing_else() -> None:
    driver = Driver()
    before = put_cluster(driver).body
    path = driver.path(CLUSTERS, "new", group="rg")
    patched = driver.call("PATCH", path, {"tags": {"a": "b"}})
    after = patched.body
    assert (patched.status, after is not None) == (200, True)
    assert (after["tags"], after["properties"]) == ({"a": "b"}, before["properties"])


def test_a_pool_goes_with_its_machines() -> None:
    driver = Driver(timing=INSTANT)
    driver.call("PUT", f"{driver.pool_path()}/machines/m", machine_body(), MACHINES)
    assert len(driver.cloud.vms()) == 1
    assert driver.call("DELETE", driver.pool_path()).status == 202
    assert driver.cloud.vms() == []
    assert error_of(driver.call("GET", driver.pool_path()))[0] == 404
    assert driver.call("DELETE", driver.pool_path()).status == 204


def test_pools_keep_their_size_and_one_system_pool_stays() -> None:
    driver = Driver()
    put_cluster(driver)
    pool = driver.path(CLUSTERS, "new", group="rg") + "/agentPools"
    assert driver.call("PUT", f"{pool}/user", {"properties": {"vmSize": "Standard_D2s_v5"}}).status == 201
    scaled = driver.call("PUT", f"{pool}/user", {"properties": {"count": 5}}).body
    assert scaled is not None
    assert (scaled["properties"]["count"], scaled["properties"]["vmSize"]) == (5, "Standard_D2s_v5")
    changed = driver.call("PUT", f"{pool}/user", {"properties": {"vmSize": "Standard_D4s_v5"}})
    assert error_of(changed)[1:] == (
        "PropertyChangeNotAllowed",
        "Changing property 'properties.vmSize' is not allowed.",
    )
    assert error_of(driver.call("DELETE", f"{pool}/system"))[1] == "OperationNotAllowed"
    assert (
        error_of(driver.call("PUT", f"{pool}/x", {"properties": {"vmSize": "Standard_Nope"}}))[1]
        == "VMSizeNotSupported"
    )


def test_the_only_pool_of_a_cluster_goes() -> None:
    driver = Driver(timing=INSTANT)
    put_cluster(driver)
    pool = driver.path(CLUSTERS, "new", group="rg") + "/agentPools/system"
    assert driver.call("DELETE", pool).status == 202
    assert driver.call("GET", pool).status == 404


def test_upgrades_go_one_minor_version_up() -> None:
    driver = Driver(kubernetes="1.33.6")
    cluster = driver.path(CLUSTERS, "c", group="rg")
    body = driver.call("GET", f"{cluster}/upgradeProfiles/default").body
    assert body is not None
    found = [item["kubernetesVersion"] for item in body["properties"]["controlPlaneProfile"]["upgrades"]]
    assert found == ["1.33.7", "1.34.1", "1.34.2", "1.34.3"]
    listed = driver.call(
        "GET", f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.ContainerService/locations/eastus/kubernetesVersions"
    )
    assert listed.body is not None
    assert [item["version"] for item in listed.body["values"] if item["isDefault"]] == ["1.34"]


def test_credentials_are_those_of_the_attached_cluster() -> None:
    driver = Driver()
    path = driver.path(CLUSTERS, "c", group="rg") + "/listClusterUserCredential"

    def config() -> str:
        body = driver.call("POST", path).body
        assert body is not None
        [found] = body["kubeconfigs"]
        assert found["name"] == "clusterUser"
        return base64.b64decode(found["value"]).decode()

    lines = config().splitlines()
    assert lines[:2] == ["apiVersion: v1", "clusters:"]  # block YAML, which scripts cut with grep
    assert {"    server: https://c-dns.hcp.eastus.azmk8s.io:443", "current-context: c", "kind: Config"} <= set(lines)
    driver.cloud.attach_kubeconfig("apiVersion: v1\n")
    assert config() == "apiVersion: v1\n"


@pytest.mark.parametrize("name", ["n", "y", "Off", "1e3", "12e5", "0o17", "0x1f", "1_000", "017", "null", "c", "e3"])
def test_kubectl_reads_the_names_in_a_kubeconfig_as_text(name: str) -> None:
    """Read as kubectl reads it: `n` is a boolean there, and 0o17 a number."""
    driver = Driver()
    pools = {"agentPoolProfiles": [{"name": "system", "count": 1}]}
    driver.call("PUT", driver.path(CLUSTERS, name, group="rg"), {"location": "eastus", "properties": pools})
    answer = driver.call("POST", driver.path(CLUSTERS, name, group="rg") + "/listClusterAdminCredential").body
    assert answer is not None
    text = base64.b64decode(answer["kubeconfigs"][0]["value"]).decode()
    tree, mistakes = compose(text, file="kubeconfig")
    config = kubernetes_value(tree)
    assert mistakes == []
    assert config["current-context"] == name
    assert [part["name"] for part in config["clusters"] + config["contexts"]] == [name, name]
    [user] = config["users"]
    assert user["name"] == f"clusterAdmin_rg_{name}" == config["contexts"][0]["context"]["user"]
    assert isinstance(user["user"]["token"], str)
    assert config["contexts"][0]["context"]["cluster"] == name


def instances(driver: Driver, pool: str) -> list[Any]:
    """The instances of a pool's scale set."""
    sets = driver.call("GET", f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Compute/virtualMachineScaleSets").body
    assert sets is not None
    [path] = [one["id"] for one in sets["value"] if one["tags"]["aks-managed-poolName"] == pool]
    return list((driver.call("GET", f"{path}/virtualMachines").body or {})["value"])


def used(driver: Driver) -> int:
    return driver.cloud.market.quota.used(SUBSCRIPTION, "eastus", "cores")


def test_a_pool_of_a_scale_set_has_its_machines() -> None:
    driver = Driver(timing=INSTANT)
    put_cluster(driver)
    pool = driver.path(CLUSTERS, "new", group="rg") + "/agentPools/user"
    given = {"vmSize": "Standard_D2s_v5", "count": 2, "availabilityZones": ["1", "2"]}
    assert (used(driver), driver.call("PUT", pool, {"properties": given}).status) == (12, 201)
    found = instances(driver, "user")
    assert [one["sku"]["name"] for one in found] == ["Standard_D2s_v5"] * 2
    assert [one["zones"] for one in found] == [["1"], ["2"]]
    assert "/resourceGroups/MC_rg_new_eastus/" in found[0]["id"]
    assert found[0]["properties"]["osProfile"]["computerName"].endswith("-vmss000000")
    assert used(driver) == 16
    driver.call("PUT", pool, {"properties": {"count": 1}})
    assert (len(instances(driver, "user")), used(driver)) == (1, 14)
    driver.call("DELETE", pool)
    assert used(driver) == 12
    driver.call("DELETE", driver.path(CLUSTERS, "new", group="rg"))
    assert used(driver) == 0


@pytest.mark.parametrize("name", ["a", "b", "c", "d", "e", "f"])
def test_the_number_in_a_scale_sets_name_has_eight_digits_and_is_the_clusters(name: str) -> None:
    driver = Driver(timing=INSTANT)
    pools = [{"name": "system", "count": 1}, {"name": "second", "count": 1}]
    body = {"location": "eastus", "properties": {"agentPoolProfiles": pools}}
    driver.call("PUT", driver.path(CLUSTERS, name, group="rg"), body)
    sets = driver.call("GET", f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Compute/virtualMachineScaleSets").body
    assert sets is not None
    named = [re.fullmatch(r"aks-(system|second)-(\d{8})-vmss", one["name"]) for one in sets["value"]]
    assert [found is not None for found in named] == [True, True]
    assert len({found[2] for found in named if found is not None}) == 1


def test_a_pool_that_the_quota_has_no_room_for_stays_as_it_was() -> None:
    driver = Driver({"quota": {"standardDSv5Family": 4}}, timing=INSTANT)
    put_cluster(driver, agentPoolProfiles=[{"name": "system", "count": 1, "vmSize": "Standard_D2s_v5"}])
    pool = driver.path(CLUSTERS, "new", group="rg") + "/agentPools/system"
    refused = error_of(driver.call("PUT", pool, {"properties": {"count": 4}}))
    assert refused[:2] == (400, "ErrCode_InsufficientVCPUQuota")
    assert refused[2].startswith(
        "Insufficient vcpu quota requested 6, remaining 2 for family standardDSv5Family for region eastus."
    )
    assert (driver.call("GET", pool).body or {})["properties"]["count"] == 1
    assert (len(instances(driver, "system")), used(driver)) == (1, 2)
    limited = Driver({"quota": {"cores": 1}})
    assert "Insufficient regional vcpu quota left for location eastus." in error_of(put_cluster(limited))[2]
    assert error_of(limited.call("GET", driver.path(CLUSTERS, "new", group="rg")))[0] == 404


@pytest.mark.parametrize(
    ("size", "gigabytes", "code"),
    [
        ("Standard_D2ds_v5", 75, None),  # its temporary disk has 75 GiB, its cache 50
        ("Standard_D2ds_v5", 76, "VMCacheSizeTooSmall"),
        ("Standard_D2s_v5", 64, "VMCacheSizeTooSmall"),
    ],
)
def test_a_pool_with_an_ephemeral_disk_needs_room_for_it(size: str, gigabytes: int, code: str | None) -> None:
    driver = Driver()
    put_cluster(driver)
    answer = put_pool(driver, vmSize=size, osDiskType="Ephemeral", osDiskSizeGB=gigabytes)
    if code is None:
        assert answer.status == 201
    else:
        assert error_of(answer)[:2] == (400, code)
        assert f"the OS disk requires {gigabytes * 1024**3} bytes" in error_of(answer)[2]
