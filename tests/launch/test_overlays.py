"""NodeOverlays in a launch: which instance types are compared, and what is said while nothing was evaluated yet."""

from __future__ import annotations

from typing import Any

import pytest

from harness.karpenter.cloudprovider import InstanceType
from harness.karpenter.launch import LaunchError, claim_requirements, overlaid_types
from harness.karpenter.launch.failures.errors import FailureKind
from harness.karpenter.overlays.evaluation import evaluate
from harness.karpenter.provider.selection import PriceOrders, best_types
from harness.karpenter.releases import ProviderRelease, provider
from harness.testing import nodeclass
from harness.world import World
from tests.launch.conftest import OPTIONS, nodeclaim, recorded_region

CHEAP, DEAR = "Standard_D2s_v3", "Standard_D4s_v3"
BEFORE, SINCE = "1.10.2", "1.12.0"
POOL = {"metadata": {"name": "default"}, "spec": {}}
DEVICE = {"example.com/device": "1"}


def overlay(size: str, **spec: Any) -> dict[str, Any]:
    wanted = [{"key": "node.kubernetes.io/instance-type", "operator": "In", "values": [size]}]
    return {"metadata": {"name": f"of-{size}"}, "spec": {"requirements": wanted, **spec}}


def listed(release: ProviderRelease) -> tuple[InstanceType, ...]:
    region, prices = recorded_region(release)
    types = region.build(options=OPTIONS, nodeclass=nodeclass(osDiskSizeGB=128), prices=prices).types
    return tuple(each for each in types if each.name in (CHEAP, DEAR))


def launched(release: ProviderRelease, claim: dict[str, Any], *overlays: dict[str, Any]) -> list[str]:
    """The sizes that a NodeClaim allows, the one that is launched first."""
    types = listed(release)
    evaluation = evaluate(overlays, [POOL], {"default": types}, release)
    found = overlaid_types(claim, types, evaluation.apply, release)
    allowed = [each.name for each in found.allowed(claim, claim_requirements(claim, release), release)]
    best = [each.name for each in best_types(claim, found, release, PriceOrders())]
    return [*best, *(each for each in allowed if each not in best)]


@pytest.mark.parametrize("version", ["1.7.2", BEFORE, SINCE, "1.14.0"])
def test_the_price_of_an_overlay_decides(version: str) -> None:
    release, claim = provider(version), nodeclaim(size=[CHEAP, DEAR], capacity_type=["on-demand"])
    assert launched(release, claim) == [CHEAP, DEAR]
    assert launched(release, claim, overlay(CHEAP, priceAdjustment="+400%")) == [DEAR, CHEAP]


def test_a_nodeclaim_of_no_nodepool_is_launched_as_if_there_were_no_overlays() -> None:
    release, claim = provider("1.14.0"), nodeclaim(size=[CHEAP, DEAR], capacity_type=["on-demand"])
    del claim["metadata"]["labels"]["karpenter.sh/nodepool"]
    assert launched(release, claim, overlay(CHEAP, priceAdjustment="+400%")) == [CHEAP, DEAR]


@pytest.mark.parametrize(("version", "sizes"), [("1.7.2", []), (BEFORE, []), (SINCE, [DEAR]), ("1.14.0", [DEAR])])
def test_capacity_that_only_an_overlay_knows_of_is_there_for_the_filter_since_1_12(
    version: str, sizes: list[str]
) -> None:
    claim = nodeclaim(size=[CHEAP, DEAR], capacity_type=["on-demand"])
    claim["spec"]["resources"] = {"requests": DEVICE}
    assert launched(provider(version), claim, overlay(DEAR, capacity=DEVICE)) == sizes


@pytest.mark.parametrize(("version", "sizes"), [(BEFORE, [CHEAP, DEAR]), (SINCE, [CHEAP])])
def test_capacity_that_an_overlay_takes_away_is_missed_since_1_12(version: str, sizes: list[str]) -> None:
    """Huge pages are taken from the memory that is allocatable."""
    claim = nodeclaim(size=[CHEAP, DEAR], capacity_type=["on-demand"])
    claim["spec"]["resources"] = {"requests": {"memory": "4Gi"}}
    assert launched(provider(version), claim, overlay(DEAR, capacity={"hugepages-2Mi": "12Gi"})) == sizes


@pytest.mark.parametrize(
    ("version", "kind", "text", "condition"),
    [
        ("1.7.2", FailureKind.OTHER, "creating instance, awaiting nodeoverlay evaluation, nodepool default", None),
        (BEFORE, FailureKind.OTHER, 'creating instance, nodepool "default" is awaiting evaluation', None),
        (
            SINCE,
            FailureKind.CREATE,
            'creating nodeclaim, resolving instance types, applying instance type overlays, nodepool "default" is awaiting evaluation',
            'applying instance type overlays, nodepool "default" is awaiting evaluation',
        ),
    ],
)
def test_nothing_is_launched_before_overlays_are_evaluated(
    version: str, kind: FailureKind, text: str, condition: str | None
) -> None:
    """Core ``pkg/controllers/nodeoverlay/store.go`` (ApplyAll), kaz ``pkg/cloudprovider/cloudprovider.go``."""
    world = World(karpenter=version, options={"feature_gates": {"NodeOverlay": "true"}})
    world.apply(nodeclass())
    world.settle()
    claim = nodeclaim(size=[CHEAP])
    claim["spec"]["nodeClassRef"] = {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"}
    with pytest.raises(LaunchError) as raised:
        list(world.karpenter.provider.create(claim))
    assert (raised.value.kind, str(raised.value)) == (kind, text)
    if condition is not None:
        assert (raised.value.condition_reason, raised.value.condition_message) == (
            "InstanceTypeResolutionFailed",
            condition,
        )
