"""What is sent to Azure is what the real controller sent (recorded bodies of release 1.14.0)."""

import base64
import re
from collections.abc import Callable
from typing import Any

import pytest

from harness.karpenter.launch import MachinePlan, VmPlan
from harness.karpenter.launch.bodies.names import machine_name, provider_id
from harness.karpenter.launch.bodies.tags import in_place_update_hash
from harness.karpenter.launch.failures.errors import LaunchPanic
from tests.launch.conftest import GROUP, SUBSCRIPTION, nodeclaim, recorded_bodies

Launcher = Callable[..., Any]


def recorded_claim(name: str) -> dict[str, Any]:
    claim = nodeclaim(
        name,
        {"team": "alpha", "example.com/tier": "gold"},
        size=["Standard_D2as_v6"],
        zone=["southcentralus-2", "southcentralus-3"],
        capacity_type=["on-demand"],
    )
    claim["spec"]["taints"] = [{"key": "example.com/dedicated", "value": "x", "effect": "NoSchedule"}]
    claim["spec"]["startupTaints"] = [{"key": "example.com/starting", "value": "true", "effect": "NoSchedule"}]
    return claim


def variables(custom_data: str) -> dict[str, str]:
    lines = base64.b64decode(custom_data).decode().splitlines()
    return {name: value.strip('"') for name, equals, value in (line.partition("=") for line in lines) if equals}


def test_virtual_machine(launch: Launcher) -> None:
    made = launch(recorded_claim("aks-default-gx6s5".removeprefix("aks-")), prefer_zone="southcentralus-2")
    assert isinstance(made, VmPlan)
    body = made.vm
    custom_data = body["properties"]["osProfile"].pop("customData")
    assert body == recorded_bodies()["vm"]
    got, want = variables(custom_data), recorded_bodies()["variables"]
    for name, value in want.items():
        if name in ("KUBELET_FLAGS", "KUBELET_NODE_LABELS"):
            separator = " " if name == "KUBELET_FLAGS" else ","
            assert sorted(got[name].split(separator)) == sorted(value.split(separator))
        else:
            assert got[name] == value, name


def test_network_interface_and_extensions(launch: Launcher) -> None:
    made = launch(recorded_claim("default-gx6s5"))
    assert made.nic["properties"]["enableAcceleratedNetworking"] is True
    (configuration,) = made.nic["properties"]["ipConfigurations"]
    assert configuration["properties"]["subnet"]["id"].endswith("/virtualNetworks/aks-vnet-12345678/subnets/aks-subnet")
    assert "networkSecurityGroup" not in made.nic["properties"]


def test_extensions(launch: Launcher) -> None:
    """Kaz pkg/providers/instance/vminstance.go, getAKSIdentifyingExtension and getCSExtension."""
    made = launch(recorded_claim("default-gx6s5"))
    shared = {
        "location": "southcentralus",
        "tags": made.vm["tags"],
        "type": "Microsoft.Compute/virtualMachines/extensions",
    }
    assert made.billing_extension == {
        **shared,
        "name": "computeAksLinuxBilling",
        "properties": {
            "autoUpgradeMinorVersion": True,
            "publisher": "Microsoft.AKS",
            "settings": {},
            "type": "Compute.AKS.Linux.Billing",
            "typeHandlerVersion": "1.0",
        },
    }
    assert made.custom_script_extension("run") == {
        **shared,
        "name": "cse-agent-karpenter",
        "properties": {
            "autoUpgradeMinorVersion": True,
            "protectedSettings": {"commandToExecute": "run"},
            "publisher": "Microsoft.Azure.Extensions",
            "settings": {},
            "type": "CustomScript",
            "typeHandlerVersion": "2.0",
        },
    }


def test_azure_cni_without_overlay_takes_an_address_per_pod(launch: Launcher) -> None:
    made = launch(recorded_claim("default-gx6s5"), network_plugin_mode="", spec={"maxPods": 12})
    assert len(made.nic["properties"]["ipConfigurations"]) == 12
    assert "KUBELET_NODE_LABELS" in base64.b64decode(made.vm["properties"]["osProfile"]["customData"]).decode()
    assert "kubernetes.azure.com/azure-cni-overlay" not in made.labels.values()


def test_aks_machine(launch: Launcher) -> None:
    made = launch(recorded_claim("default-rvw92"), provision_mode="aksmachineapi", prefer_zone="southcentralus-3")
    assert isinstance(made, MachinePlan)
    assert made.body == recorded_bodies()["machine"]
    assert made.given.machine_id == (
        f"/subscriptions/{SUBSCRIPTION}/resourceGroups/rg/providers/Microsoft.ContainerService/managedClusters/c"
        "/agentPools/kpool/machines/default-rvw92"
    )


@pytest.mark.parametrize(("release", "told"), [("1.7.2", False), ("1.10.2", False), ("1.12.0", True), ("1.14.2", True)])
def test_an_aks_machine_is_told_of_its_node_profiles(launch: Launcher, release: str, told: bool) -> None:
    """Kaz buildAKSMachineTemplate: neither LocalDNS nor artifact streaming before 1.12.0, and Preferred is decided from 1.12.1 on."""
    spec = {"localDNS": {"mode": "Preferred"}, "artifactStreaming": {"enabled": True}}
    claim = nodeclaim(size=["Standard_D4s_v3"], capacity_type=["on-demand"])
    made = launch(claim, provision_mode="aksmachineapi", release=release, spec=spec, kubernetes="1.34.0")
    properties = made.body["properties"]
    mode = "Preferred" if release == "1.12.0" else "Disabled"
    assert properties.get("localDNSProfile") == ({"mode": mode} if told else None)
    assert properties["kubernetes"].get("artifactStreamingProfile") == ({"enabled": True} if told else None)


@pytest.mark.parametrize(
    ("release", "state", "mode"),
    [
        ("1.14.0", "Enabled", "Required"),
        ("1.14.0", "Disabled", "Disabled"),
        ("1.14.0", None, "Disabled"),
        ("1.12.0", "Enabled", "Preferred"),
    ],
)
def test_whether_local_dns_is_preferred_stands_in_the_status(
    launch: Launcher, release: str, state: str | None, mode: str
) -> None:
    """Kaz pkg/apis/v1beta1/aksnodeclass.go, ResolvedLocalDNSForWire; 1.12.0 leaves it to AKS."""
    claim = nodeclaim(size=["Standard_D4s_v3"], capacity_type=["on-demand"])
    given: Any = {"release": release, "status": {"localDNSState": state} if state else {}}
    for spec, told in (({"localDNS": {"mode": "Preferred"}}, {"mode": mode}), ({}, None)):
        made = launch(claim, provision_mode="aksmachineapi", spec=spec, **given)
        assert made.body["properties"].get("localDNSProfile") == told
        booting = launch(claim, provision_mode="bootstrappingclient", spec=spec, **given)
        assert booting.provision["provisionProfile"].get("localDNSProfile") == told


@pytest.mark.parametrize(("disk_gb", "kind"), [(53, "Ephemeral"), (54, "Managed")])
def test_the_disk_of_an_aks_machine_is_ephemeral_when_it_fits(launch: Launcher, disk_gb: int, kind: str) -> None:
    claim = nodeclaim(size=["Standard_D2s_v3"], capacity_type=["on-demand"])
    made = launch(claim, provision_mode="aksmachineapi", spec={"osDiskSizeGB": disk_gb})
    system = made.body["properties"]["operatingSystem"]
    assert (system["osDiskSizeGB"], system["osDiskType"]) == (disk_gb, kind)


def test_an_aks_machine_is_told_of_overrides_of_its_dns(launch: Launcher) -> None:
    override = {
        "zone": ".",
        "cacheDuration": "1h",
        "serveStaleDuration": "1500ms",
        "queryLogging": "Log",
        "maxConcurrent": 5,
    }
    forever = {"zone": "cluster.local", "cacheDuration": "Never"}
    spec = {"localDNS": {"mode": "Required", "vnetDNSOverrides": [override], "kubeDNSOverrides": [forever]}}
    claim = nodeclaim(size=["Standard_D4s_v3"], capacity_type=["on-demand"])
    made = launch(claim, provision_mode="aksmachineapi", spec=spec, status={"localDNSState": "Enabled"})
    profile = made.body["properties"]["localDNSProfile"]
    assert profile["vnetDNSOverrides"] == {
        ".": {
            "queryLogging": "Log",
            "maxConcurrent": 5,
            "cacheDurationInSeconds": 3600,
            "serveStaleDurationInSeconds": 1,
        }
    }
    assert profile["kubeDNSOverrides"] == {"cluster.local": {}}


def test_bootstrapping_client(launch: Launcher) -> None:
    made = launch(recorded_claim("default-6vl6h"), provision_mode="bootstrappingclient", prefer_zone="southcentralus-3")
    want = recorded_bodies()["bootstrapping_vm"]
    custom_data = want["properties"]["osProfile"]["customData"]
    template = (
        base64.b64decode(custom_data).decode().replace("abcdef.0123456789abcdef", "{{.TokenID}}.{{.TokenSecret}}")
    )
    assert made.bootstrapped(base64.b64encode(template.encode()).decode()).vm == want
    profile = made.provision["provisionProfile"]
    assert (profile["name"], profile["mode"], profile["osSku"], profile["distro"]) == (
        "",
        2,
        1,
        "aks-ubuntu-containerd-24.04-gen2",
    )
    assert profile["nodeInitializationTaints"] == [
        "example.com/starting=true:NoSchedule",
        "karpenter.sh/unregistered:NoExecute",
    ]
    assert profile["customNodeLabels"]["karpenter.sh/do-not-sync-taints"] == "true"
    assert made.provision["provisionHelperValues"] == {"skuCPU": 2, "skuMemory": 8}


def test_spot_and_security_settings(launch: Launcher) -> None:
    claim = nodeclaim(size=["Standard_D2s_v3"], zone=["0"], capacity_type=["spot"])
    body = launch(claim, spec={"security": {"encryptionAtHost": True}}, disk_encryption_set_id="/des").vm
    assert body["zones"] == []
    properties = body["properties"]
    assert (properties["priority"], properties["evictionPolicy"], properties["billingProfile"]) == (
        "Spot",
        "Delete",
        {"maxPrice": -1},
    )
    assert properties["securityProfile"] == {"encryptionAtHost": True}
    assert properties["storageProfile"]["osDisk"]["managedDisk"] == {"diskEncryptionSet": {"id": "/des"}}


def test_ephemeral_disk_when_it_fits(launch: Launcher) -> None:
    claim = nodeclaim(size=["Standard_D2s_v3"], zone=["0"], capacity_type=["on-demand"])
    assert launch(claim, spec={"osDiskSizeGB": 53}).vm["properties"]["storageProfile"]["osDisk"][
        "diffDiskSettings"
    ] == {
        "option": "Local",
        "placement": "CacheDisk",
    }
    assert (
        "diffDiskSettings" not in launch(claim, spec={"osDiskSizeGB": 54}).vm["properties"]["storageProfile"]["osDisk"]
    )


def test_older_releases_leave_the_place_of_the_disk_to_azure(launch: Launcher) -> None:
    claim = nodeclaim(size=["Standard_D2s_v3"], zone=["southcentralus-1"], capacity_type=["on-demand"])
    for release, settings in (("1.5.1", {"option": "Local"}), ("1.5.2", {"option": "Local", "placement": "CacheDisk"})):
        made = launch(
            claim, spec={"osDiskSizeGB": 53, "imageFamily": "Ubuntu2204"}, release=release, kubernetes="1.33.0"
        )
        assert made.vm["properties"]["storageProfile"]["osDisk"]["diffDiskSettings"] == settings


def test_long_names_are_hashed() -> None:
    assert machine_name("default-abcde", 34) == "default-abcde"
    assert machine_name("p" * 28 + "-abcde", 34) == "p" * 28 + "-abcde"
    assert machine_name("p" * 29 + "-abcde", 34) != "p" * 29 + "-abcde"
    long = machine_name("a-very-long-nodepool-name-that-exceeds-x-abcde", 35)
    # As the real 1.7.2 hashes it.
    assert long == "a-very-long-nodepool-naddxjgw-abcde"


@pytest.mark.parametrize(("length", "start"), [(26, "n"), (27, "")])
def test_a_name_whose_end_is_long_keeps_little_of_its_nodepool(length: int, start: str) -> None:
    """Six digits and a dash stand before the end, 34 in all."""
    end = f"-{'e' * length}"
    name = machine_name(f"nodepools{end}", 34)
    assert len(name) == 34
    assert re.fullmatch(f"{start}[0-9a-z]{{6}}{end}", name)


def test_a_name_whose_end_leaves_no_room_is_a_panic() -> None:
    with pytest.raises(LaunchPanic, match=r"slice bounds out of range \[:-1\]"):
        machine_name(f"nodepools-{'e' * 28}", 34)


def test_provider_id_has_its_group_in_lower_case() -> None:
    assert provider_id(f"{GROUP}/providers/Microsoft.Compute/virtualMachines/aks-x") == (
        f"azure:///subscriptions/{SUBSCRIPTION}/resourceGroups/mc_rg_c_southcentralus/providers/Microsoft.Compute/virtualMachines/aks-x"
    )


@pytest.mark.parametrize(
    ("tags", "printed"), [({"team": "a"}, "3687714840"), ({"Größe": "5 > 4 & \u2028"}, "95647455")]
)
def test_the_hash_of_tags_is_of_what_go_writes(tags: dict[str, str], printed: str) -> None:
    """As Go's encoding/json writes them, by FNV-1a of 32 bits (kaz pkg/controllers/nodeclaim/inplaceupdate/utils.go)."""
    assert in_place_update_hash(tags, None) == printed


def test_a_script_names_the_subnet_of_the_nodeclass(launch: Launcher) -> None:
    subnet = f"{GROUP}/providers/Microsoft.Network/virtualNetworks/net/subnets/own"
    made = launch(recorded_claim("default-gx6s5"), spec={"vnetSubnetID": subnet})
    assert variables(made.vm["properties"]["osProfile"]["customData"])["SUBNET"] == "own"


@pytest.mark.parametrize(
    ("plugin", "mode", "dataplane", "told"),
    [
        ("azure", "overlay", "cilium", "none"),
        ("azure", "overlay", "azure", "none"),
        ("azure", "", "cilium", "none"),
        ("azure", "", "azure", "azure"),
        ("none", "", "", "none"),
    ],
)
def test_a_script_sets_up_the_network_unless_a_daemonset_does(
    launch: Launcher, plugin: str, mode: str, dataplane: str, told: str
) -> None:
    network = {"network_plugin": plugin, "network_plugin_mode": mode, "network_dataplane": dataplane}
    made = launch(recorded_claim("default-gx6s5"), **network)
    assert variables(made.vm["properties"]["osProfile"]["customData"])["NETWORK_PLUGIN"] == told


@pytest.mark.parametrize(
    "endpoint", ["https://c-dns-1.hcp.eastus.azmk8s.io:443", "https://c-dns-1.hcp.eastus.azmk8s.io/"]
)
def test_a_script_names_the_host_of_the_cluster(launch: Launcher, endpoint: str) -> None:
    """Kaz pkg/providers/imagefamily/bootstrap/aksbootstrap.go, which takes the host name of the endpoint."""
    made = launch(recorded_claim("default-gx6s5"), cluster_endpoint=endpoint)
    found = variables(made.vm["properties"]["osProfile"]["customData"])
    assert found["API_SERVER_NAME"] == "c-dns-1.hcp.eastus.azmk8s.io"
