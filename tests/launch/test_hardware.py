"""What Azure is told of graphics drivers, disks, images and network interfaces of a machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.karpenter.launch import LaunchError
from harness.karpenter.launch.images import image_definition_of, node_image_version
from harness.karpenter.launch.subnets import Subnet
from harness.kube.api.labels import INSTANCE_TYPE
from harness.testing import nodeclass, nodepool, pod, requirement
from harness.world import World
from tests.launch.conftest import nodeclaim

Launcher = Callable[..., Any]
NVIDIA, PLAIN = "Standard_NC16as_T4_v3", "Standard_D2s_v3"


def sized(size: str) -> dict[str, Any]:
    return nodeclaim(size=[size], capacity_type=["on-demand"])


GPU_MODES = [({}, True), ({"gpu": {}}, True), ({"gpu": {"mode": "Driver"}}, True), ({"gpu": {"mode": "None"}}, False)]


@pytest.mark.parametrize(("spec", "installed"), GPU_MODES)
def test_aks_installs_the_driver_of_a_machine_unless_told_otherwise(
    launch: Launcher, spec: dict[str, Any], installed: bool
) -> None:
    made = launch(sized(NVIDIA), provision_mode="aksmachineapi", spec=spec)
    profile = made.body["properties"]["hardware"]["gpuProfile"]
    assert profile == {"driver": "Install" if installed else "None"}


@pytest.mark.parametrize(("spec", "installed"), GPU_MODES)
def test_so_does_its_bootstrapping_service(launch: Launcher, spec: dict[str, Any], installed: bool) -> None:
    """A T4 takes CUDA's driver, which is number 3."""
    made = launch(sized(NVIDIA), provision_mode="bootstrappingclient", spec=spec)
    assert made.provision["provisionProfile"]["gpuProfile"] == {"driverType": 3, "installGPUDriver": installed}


def test_a_size_without_graphics_has_no_driver(launch: Launcher) -> None:
    machine = launch(sized(PLAIN), provision_mode="aksmachineapi")
    assert "gpuProfile" not in machine.body["properties"]["hardware"]
    assert "gpuProfile" not in launch(sized(PLAIN), provision_mode="bootstrappingclient").provision["provisionProfile"]


@pytest.mark.parametrize(("asked", "told"), [("true", {"ultraSSDEnabled": True}), ("false", None)])
def test_ultra_disks_can_be_attached_where_they_are_asked_for(launch: Launcher, asked: str, told: Any) -> None:
    claim = nodeclaim(size=[PLAIN], capacity_type=["on-demand"], ultra=[asked])
    assert launch(claim).vm["properties"].get("additionalCapabilities") == told


def test_the_first_address_of_an_interface_is_the_primary_one(launch: Launcher) -> None:
    nic = launch(sized(PLAIN), network_plugin_mode="", spec={"maxPods": 10}).nic["properties"]
    assert [one["properties"]["primary"] for one in nic["ipConfigurations"]] == [True] + [False] * 9
    assert nic["enableIPForwarding"] is False


GALLERY = (
    "/subscriptions/s/resourceGroups/AKS-Ubuntu/providers/Microsoft.Compute/galleries/AKSUbuntu/images/{}/versions/1"
)


@pytest.mark.parametrize(
    ("image", "definition"),
    [
        (GALLERY.format("2204gen2"), "2204gen2"),
        ("/CommunityGalleries/AKSUbuntu-1/images/2204gen2/versions/1", "2204gen2"),
        ("/CommunityGalleries/AKSUbuntu-1", ""),
        ("/CommunityGalleries/AKSUbuntu-1/images", ""),
        ("/subscriptions/s", ""),
        ("/elsewhere/a/b/c/d/e", ""),
        ("text", ""),
        ("", ""),
    ],
)
def test_the_definition_in_the_id_of_an_image(image: str, definition: str) -> None:
    assert image_definition_of(image) == definition


def interface(world: World) -> dict[str, Any]:
    """What was asked of the only network interface."""
    (nic,) = [call.body for call in world.calls() if call.method == "PUT" and call.resource == "networkInterfaces"]
    assert nic is not None
    return dict(nic["properties"])


@pytest.mark.parametrize(("size", "accelerated"), [("Standard_B2ms", False), ("Standard_D2s_v5", True)])
def test_networking_is_accelerated_where_the_size_has_it(size: str, accelerated: bool) -> None:
    """Kaz pkg/providers/instance/vminstance.go, newNetworkInterfaceForVM."""
    world = World()
    world.apply(nodeclass(), nodepool(requirement(INSTANCE_TYPE, size)), pod())
    world.settle()
    assert interface(world)["enableAcceleratedNetworking"] is accelerated


OWN_SUBNET = (
    "/subscriptions/00000000-1111-2222-3333-444444444444/resourceGroups/company/providers/Microsoft.Network"
    "/virtualNetworks/company/subnets/own"
)


@pytest.mark.parametrize(
    ("options", "groups"), [({}, []), ({"subnet_id": OWN_SUBNET}, ["aks-agentpool-12345678-nsg"])], ids=["AKS's", "own"]
)
def test_an_interface_in_a_subnet_of_ones_own_gets_the_security_group_of_the_cluster(
    options: dict[str, Any], groups: list[str]
) -> None:
    """AKS's own subnet has it already (kaz pkg/providers/instance/vminstance.go, newNetworkInterfaceForVM)."""
    world = World(azure={"subnets": [OWN_SUBNET]}, options=options)
    world.apply(nodeclass(), nodepool(requirement(INSTANCE_TYPE, "Standard_D2s_v5")), pod())
    world.settle()
    made = interface(world)
    (configuration,) = made["ipConfigurations"]
    pools = [each["id"] for each in configuration["properties"]["loadBalancerBackendAddressPools"]]
    assert [each.rpartition("/")[2] for each in pools] == ["aksOutboundBackendPool", "kubernetes"]
    group = made.get("networkSecurityGroup", {}).get("id", "").rpartition("/")[2]
    assert [group] * bool(group) == groups


MANAGED = "/subscriptions/s/resourceGroups/{}/providers/Microsoft.Network/virtualNetworks/{}/subnets/{}"


@pytest.mark.parametrize(
    ("group", "vnet", "name", "managed"),
    [
        ("MC_rg_c_eastus", "aks-vnet-12345678", "aks-subnet", True),
        ("mc_RG_c_eastus", "AKS-VNET-12345678", "AKS-Subnet", True),
        ("company", "aks-vnet-12345678", "aks-subnet", False),
        ("MC_rg_c_eastus", "company", "aks-subnet", False),
        ("MC_rg_c_eastus", "aks-vnet-1234567", "aks-subnet", False),
        ("MC_rg_c_eastus", "aks-vnet-123456789", "aks-subnet", False),
        ("MC_rg_c_eastus", "aks-vnet-12345678", "own", False),
    ],
)
def test_whether_aks_made_the_network_of_a_subnet(group: str, vnet: str, name: str, managed: bool) -> None:
    """Kaz pkg/utils/utils.go, IsAKSManagedVNET."""
    assert Subnet.parse(MANAGED.format(group, vnet, name)).managed_by_aks("MC_rg_c_eastus") is managed


GALLERY_IMAGE = "/subscriptions/s/resourceGroups/AKS-Ubuntu/providers/Microsoft.Compute/galleries/AKSUbuntu/images/2204gen2containerd"


@pytest.mark.parametrize(
    ("image", "named"),
    [
        (f"{GALLERY_IMAGE}/versions/2022.10.03", "AKSUbuntu-2204gen2containerd-2022.10.03"),
        (
            f"{GALLERY_IMAGE}/versions/2022.10.03-build.1",
            "AKSUbuntu-2204gen2containerd-2022.10.03-build.1",
        ),
        (
            "/SUBSCRIPTIONS/s/RESOURCEGROUPS/AKS-Ubuntu/PROVIDERS/Microsoft.Compute/GALLERIES/AKSUbuntu/IMAGES/2204/VERSIONS/1.0",
            "AKSUbuntu-2204-1.0",
        ),
    ],
)
def test_aks_names_an_image_by_gallery_definition_and_version(image: str, named: str) -> None:
    """The rows of kaz pkg/utils/image_test.go."""
    assert node_image_version(image) == named


@pytest.mark.parametrize(
    "image",
    [
        "/CommunityGalleries/myGallery/images/myImage/versions/1.0.0",
        "/subscriptions/invalid/format",
        f"{GALLERY_IMAGE}/versions/2022.10.03".removeprefix("/subscriptions/s"),
        GALLERY_IMAGE,
        f"{GALLERY_IMAGE}/versions/2022.10.03".replace("Compute", "Storage"),
        "not-a-valid-resource-id",
        "",
    ],
)
def test_other_images_have_no_name_with_aks(image: str) -> None:
    """The rows of kaz pkg/utils/image_test.go."""
    what = (
        "CIG images are not supported yet for AKS machines" if image.startswith("/C") else "incorrect SIG image ID id="
    )
    with pytest.raises(LaunchError, match=f"{what}.*{image}$"):
        node_image_version(image)
