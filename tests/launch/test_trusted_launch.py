"""Trusted Launch: image, security profile of the three ways to make a machine, and which sizes are left."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.karpenter.instancetypes.filters import nodeclass_filter
from harness.karpenter.instancetypes.nodeclass_settings import NodeClassSettings
from harness.karpenter.instancetypes.sku import Sku
from harness.karpenter.instancetypes.vmsize import GRAMMARS
from harness.karpenter.launch import MachinePlan, VmPlan
from harness.karpenter.launch.images import image_family
from harness.karpenter.launch.nodeclass_hash import nodeclass_hash
from harness.karpenter.releases import ProviderOptions, provider
from tests.launch.conftest import nodeclaim

Launcher = Callable[..., Any]

NEXT = provider("next")
TRUSTED = {"security": {"trustedLaunch": {"vtpm": True}}}
CLAIM = nodeclaim(size=["Standard_D2as_v6"], zone=["southcentralus-2"], capacity_type=["on-demand"])


def names(spec: dict[str, Any], *, use_sig: bool = True, kubernetes: str = "1.34.0") -> tuple[str, list[str]]:
    family = image_family(spec, kubernetes=kubernetes, release=NEXT)
    return family.name, [image.name for image in family.default_images(spec, NEXT, use_sig=use_sig)]


@pytest.mark.parametrize(
    ("spec", "family", "images"),
    [
        ({"imageFamily": "Ubuntu"}, "Ubuntu2204", ["2204gen2TLcontainerd"]),
        ({}, "Ubuntu2204", ["2204gen2TLcontainerd"]),
        ({"imageFamily": "Ubuntu2404"}, "Ubuntu2404", ["2404gen2TLcontainerd"]),
        ({"imageFamily": "AzureLinux"}, "AzureLinux3", ["V3gen2TL"]),
        ({"imageFamily": "Ubuntu", "fipsMode": "FIPS"}, "Ubuntu2204", ["2204gen2fipsTLcontainerd"]),
        # the CRD refuses this one; the code would boot images without Trusted Launch
        (
            {"imageFamily": "AzureLinux", "fipsMode": "FIPS"},
            "AzureLinux3",
            ["V3gen2fips", "V3fips", "V3gen2arm64fips"],
        ),
    ],
)
def test_images(spec: dict[str, Any], family: str, images: list[str]) -> None:
    assert names({**spec, **TRUSTED}) == (family, images)


def test_azure_linux_2_has_an_image_too() -> None:
    assert names({"imageFamily": "AzureLinux", **TRUSTED}, kubernetes="1.31.0") == ("AzureLinux2", ["V2gen2TL"])


def test_fips_images_are_in_the_managed_gallery_only() -> None:
    assert names({"fipsMode": "FIPS", **TRUSTED}, use_sig=False)[1] == []


@pytest.mark.parametrize("asked", [{"vtpm": False, "secureBoot": False}, {}, None])
def test_nothing_is_asked_for(asked: dict[str, bool] | None) -> None:
    assert names({"security": {"trustedLaunch": asked}})[0] == "Ubuntu2404"


def test_a_virtual_machine(launch: Launcher) -> None:
    spec = {"security": {"encryptionAtHost": True, "trustedLaunch": {"secureBoot": True}}}
    made = launch(CLAIM, release="next", spec=spec)
    assert isinstance(made, VmPlan)
    assert made.vm["properties"]["securityProfile"] == {
        "encryptionAtHost": True,
        "securityType": "TrustedLaunch",
        "uefiSettings": {"secureBootEnabled": True, "vTpmEnabled": False},
    }
    before = launch(CLAIM, release="1.14.0", spec=spec)
    assert isinstance(before, VmPlan)
    assert before.vm["properties"]["securityProfile"] == {"encryptionAtHost": True}


def test_a_machine_says_it_always(launch: Launcher) -> None:
    for spec, vtpm in (({}, False), (TRUSTED, True)):
        made = launch(CLAIM, release="next", spec=spec, provision_mode="aksmachineapi")
        assert isinstance(made, MachinePlan)
        security = made.body["properties"]["security"]
        assert (security["enableVTPM"], security["enableSecureBoot"]) == (vtpm, False)
    before = launch(CLAIM, release="1.14.0", spec=TRUSTED, provision_mode="aksmachineapi")
    assert isinstance(before, MachinePlan)
    assert "enableVTPM" not in before.body["properties"]["security"]


def test_the_bootstrapping_service_is_told_what_is_written(launch: Launcher) -> None:
    made = launch(CLAIM, release="next", spec=TRUSTED, provision_mode="bootstrappingclient")
    assert isinstance(made, VmPlan)
    assert made.provision is not None
    profile = made.provision["provisionProfile"]
    assert profile["securityProfile"] == {"sshAccess": 0, "enableVTPM": True}
    assert profile["distro"] == "aks-ubuntu-containerd-22.04-tl-gen2"


@pytest.mark.parametrize(
    ("capabilities", "dropped"),
    [
        ({"HyperVGenerations": "V1,V2"}, None),
        ({"HyperVGenerations": "V1"}, {"hyperv_generations": ("1",)}),
        ({"HyperVGenerations": "V2", "TrustedLaunchDisabled": "True"}, {"capability": "TrustedLaunchDisabled"}),
    ],
)
def test_sizes(capabilities: dict[str, str], dropped: dict[str, Any] | None) -> None:
    record = {
        "name": "Standard_D2s_v5",
        "size": "D2s_v5",
        "capabilities": [
            {"name": name, "value": value}
            for name, value in {"CpuArchitectureType": "x64", "vCPUs": "2", "MemoryGB": "8", **capabilities}.items()
        ],
    }
    sku = Sku(record, "eastus", GRAMMARS[NEXT.skewer])
    for spec, expected in ((TRUSTED, dropped), ({}, None)):
        found = nodeclass_filter(sku, NEXT, NodeClassSettings.of({"spec": spec}, ProviderOptions(), NEXT))
        assert (found.details if found is not None else None) == expected
        assert found is None or found.filter == "trusted-launch"


def test_it_is_part_of_the_hash() -> None:
    hashes = {
        version: nodeclass_hash({"spec": TRUSTED}, provider(version).nodeclass_hash_fields)
        for version in ("1.14.0", "next")
    }
    assert hashes["1.14.0"] == nodeclass_hash({"spec": {"security": {}}}, NEXT.nodeclass_hash_fields)
    assert hashes["next"] != hashes["1.14.0"]
