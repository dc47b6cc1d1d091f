"""What Azure is told of graphics drivers, disks, images and network interfaces of a machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.karpenter.launch.images import image_definition_of
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
        ("/subscriptions/s", ""),
        ("/elsewhere/a/b/c/d/e", ""),
        ("text", ""),
        ("", ""),
    ],
)
def test_the_definition_in_the_id_of_an_image(image: str, definition: str) -> None:
    assert image_definition_of(image) == definition
