"""Which size, zone and capacity type is chosen."""

from collections.abc import Callable
from typing import Any

import pytest

from harness.karpenter.launch import FailureKind, LaunchError
from tests.launch.conftest import nodeclaim

Launcher = Callable[..., Any]


def test_cheapest_first_spot_before_on_demand_zonal_before_regional(launch: Launcher) -> None:
    made = launch(nodeclaim(size=["Standard_D4s_v3", "Standard_D2s_v3"]), prefer_zone="southcentralus-2")
    assert (made.choice.instance_type.name, made.choice.capacity_type, made.choice.zone) == (
        "Standard_D2s_v3",
        "spot",
        "southcentralus-2",
    )


def test_zones_of_the_claim_bind(launch: Launcher) -> None:
    assert launch(nodeclaim(size=["Standard_D2s_v3"], zone=["0"])).choice.placement_scope == "regional"


def test_older_releases_take_the_cheapest_size_first(launch: Launcher) -> None:
    made = launch(nodeclaim(size=["Standard_D4s_v3", "Standard_D2s_v3"], capacity_type=["on-demand"]), release="1.7.2")
    assert (made.choice.instance_type.name, made.choice.capacity_type) == ("Standard_D2s_v3", "on-demand")


def test_requests_have_to_fit(launch: Launcher) -> None:
    claim = nodeclaim(size=["Standard_D2s_v3", "Standard_D4s_v3"])
    claim["spec"]["resources"] = {"requests": {"cpu": "2"}}
    assert launch(claim).choice.instance_type.name == "Standard_D4s_v3"


def test_nothing_left(launch: Launcher) -> None:
    with pytest.raises(LaunchError) as caught:
        launch(nodeclaim(size=["Standard_Nope"]))
    assert caught.value.kind is FailureKind.CAPACITY
    assert str(caught.value) == "insufficient capacity, all requested instance types were unavailable during launch"


def test_images_that_do_not_boot_the_size(launch: Launcher) -> None:
    claim = nodeclaim(size=["Standard_D16plds_v5"], capacity_type=["on-demand"])
    assert launch(claim).given.image_id.split("/")[4] == "2404gen2arm64containerd"
    with pytest.raises(LaunchError) as caught:
        launch(claim, status={"images": []})
    assert str(caught.value) == (
        "creating nodeclaim, creating instance failed, getting launch template: getting launch templates, "
        "no compatible images found for instance type Standard_D16plds_v5"
    )
    assert caught.value.kind is FailureKind.CREATE
    assert caught.value.condition_reason == "CreateInstanceFailed"
    with pytest.raises(
        LaunchError,
        match="failed to resolve VM image ID: no compatible images found for instance type Standard_D16plds_v5",
    ):
        launch(claim, status={"images": []}, provision_mode="aksmachineapi")


def test_community_images_are_not_for_machines(launch: Launcher) -> None:
    images = [{"id": "/CommunityGalleries/g/images/i/versions/1", "requirements": []}]
    with pytest.raises(LaunchError, match="CIG images are not supported yet for AKS machines"):
        launch(nodeclaim(size=["Standard_D2s_v3"]), status={"images": images}, provision_mode="aksmachineapi")


def test_malformed_subnet(launch: Launcher) -> None:
    with pytest.raises(LaunchError, match="getting launch templates, invalid vnet subnet id: /nope"):
        launch(nodeclaim(size=["Standard_D2s_v3"]), spec={"vnetSubnetID": "/nope"})


def test_machine_mode_before_there_were_machines(launch: Launcher) -> None:
    made = launch(nodeclaim(size=["Standard_D2s_v3"]), provision_mode="aksmachineapi", release="1.6.6", use_sig=True)
    assert made.vm["properties"]["hardwareProfile"]["vmSize"] == "Standard_D2s_v3"
