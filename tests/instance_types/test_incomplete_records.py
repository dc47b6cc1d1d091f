"""Sizes of which Azure says little, and how many pods a node takes where its node class says nothing.

Sources: kaz pkg/cache/unavailableofferings.go (an unknown number of CPUs counts as 0), pkg/utils/utils.go (GetMaxPods),
pkg/providers/instancetype (FindMaxEphemeralSizeGBAndPlacement).
"""

from __future__ import annotations

import pytest

from harness.karpenter.instancetypes import Sku, UnavailableOfferings
from harness.karpenter.instancetypes.computed import ephemeral_label
from harness.karpenter.instancetypes.nodeclass_settings import max_pods
from harness.karpenter.instancetypes.sku import Ephemeral
from harness.karpenter.instancetypes.vmsize import GRAMMARS
from harness.karpenter.releases import Defaults, EphemeralRule, ProviderOptions

GRAMMAR = next(iter(GRAMMARS.values()))
PLACE = ("southcentralus-1", "on-demand")


def sku(**capabilities: str) -> Sku:
    told = [{"name": name, "value": value} for name, value in capabilities.items()]
    record = {"name": "Standard_D2s_v3", "size": "D2s_v3", "family": "standardDSv3Family", "capabilities": told}
    return Sku(record, "southcentralus", GRAMMAR)


@pytest.mark.parametrize(("megabytes", "disk"), [("0", None), ("1", Ephemeral(0, "ResourceDisk"))])
def test_any_resource_disk_is_a_place_for_the_system(megabytes: str, disk: Ephemeral | None) -> None:
    assert sku(MaxResourceVolumeMB=megabytes).local_disk == disk


def test_a_size_that_promises_an_ephemeral_disk_and_has_none_is_labelled_with_nought() -> None:
    promised = sku(EphemeralOSDiskSupported="True")
    assert ephemeral_label(promised, EphemeralRule.FIRST_UNLESS_LABELLED) == "0"


def test_a_size_of_unknown_cpus_is_smaller_than_any_that_is_blocked() -> None:
    marks = UnavailableOfferings(family_with_size=True)
    assert marks.mark("no quota", sku(vCPUs="1"), *PLACE, now=0) == 1
    unknown = Sku({**sku().record, "name": "Standard_D4s_v3"}, "southcentralus", GRAMMAR)
    assert marks.why(unknown, *PLACE) is None
    assert marks.mark("no quota", unknown, *PLACE, now=0) == 0
    assert marks.why(unknown, *PLACE) is not None


@pytest.mark.parametrize(
    ("plugin", "mode", "pods"),
    [("azure", "", 30), ("azure", "overlay", 250), ("none", "", 250), ("kubenet", "", 110), ("azure", "other", 110)],
)
def test_pods_by_network(plugin: str, mode: str, pods: int) -> None:
    options = ProviderOptions.of(Defaults(), network_plugin=plugin, network_plugin_mode=mode)
    assert max_pods({}, options) == pods
    assert max_pods({"maxPods": 42}, options) == 42
