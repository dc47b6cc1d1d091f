"""Subnets that AKSNodeClasses name are there: a dump does not say what else Azure has, and their owners have them."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from harness import testing
from harness.testing import requirement
from tests.cli.command import as_json, call

_NETWORK = "/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/{}/providers/Microsoft.Network/virtualNetworks/{}"
COMPANY = _NETWORK.format("networks", "company")
MANAGED = _NETWORK.format("MC_g_c_eastus", "aks-vnet-12345678")
SUBNET = "kubernetes.azure.com/network-subnet"


def write(here: Path, *subnets: str, **options: str) -> str:
    """A pod for each NodePool, whose AKSNodeClass names a subnet; the controller's own Deployment has `options` as environment."""
    objects = []
    for number, subnet in enumerate(subnets):
        name = f"n{number}"
        objects += [
            testing.nodeclass(name, vnetSubnetID=subnet),
            testing.nodepool(requirement("karpenter.sh/capacity-type", "on-demand"), name=name, nodeclass=name),
            testing.pod(name, nodeSelector={"karpenter.sh/nodepool": name}),
        ]
    if options:
        controller = testing.deployment("karpenter")
        controller["metadata"]["namespace"] = "kube-system"
        template = controller["spec"]["template"]
        template["metadata"]["labels"]["app.kubernetes.io/name"] = "karpenter"
        image = "mcr.microsoft.com/aks/karpenter/controller:1.14.0"
        env = [{"name": name, "value": value} for name, value in options.items()]
        template["spec"]["containers"] = [{"name": "controller", "image": image, "env": env}]
        objects.append(controller)
    (here / "all.yaml").write_text(yaml.safe_dump_all(objects))
    return "all.yaml"


@pytest.mark.parametrize("release", ["1.6.5", "1.14.0"])
@pytest.mark.parametrize("mode", ["aksscriptless", "bootstrappingclient", "aksmachineapi"])
def test_a_subnet_of_ones_own(here: Path, capsys: pytest.CaptureFixture[str], release: str, mode: str) -> None:
    file = write(here, f"{COMPANY}/subnets/nodes", f"{COMPANY}/subnets/others")
    if (release, mode) == ("1.6.5", "aksmachineapi"):
        return
    found = as_json(capsys, "simulate", file, "--release", release, "--mode", mode)
    assert found["pods"] == {"bound": 2, "pending": 0}
    if mode == "aksscriptless":
        assert sorted(node["labels"][SUBNET] for node in found["nodes"]) == ["nodes", "others"]


def test_what_is_assumed_is_said(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = call(capsys, "simulate", write(here, f"{COMPANY}/subnets/nodes"))
    assert ", the cluster's network is company, as of AKSNodeClass n0\n" in out
    _, out, _ = call(
        capsys, "simulate", write(here, f"{COMPANY}/subnets/a"), "--option", f"vnet-subnet-id={COMPANY}/subnets/b"
    )
    assert "the cluster's network" not in out
    assert "1 pod bound, 0 pending" in out


@pytest.mark.parametrize(
    ("subnets", "said"),
    [
        ((f"{COMPANY}/subnets/a", f"{COMPANY}2/subnets/b"), "vnetSubnetID does not match the cluster subscription"),
        ((f"{MANAGED}/subnets/extra",), "custom subnet cannot be in the same VNet as cluster managed VNet"),
    ],
)
def test_subnets_that_the_provider_refuses(
    here: Path, capsys: pytest.CaptureFixture[str], subnets: tuple[str, ...], said: str
) -> None:
    _, out, _ = call(capsys, "explain", write(here, *subnets))
    name = f"n{len(subnets) - 1}"
    assert f"NodePool {name} is not used: NodeClassReady: SubnetsReady=False (AKSNodeClass {name}: {said}" in out
