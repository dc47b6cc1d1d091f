"""Arguments of a cloud and of a world that are none: one line that names each."""

from __future__ import annotations

from typing import Any

import pytest

from fakeazure.cloud import FakeAzure
from fakeazure.timers import ManualClock
from fakeazure.timing import INSTANT
from harness.world.world import World

OF_CLOUDS: tuple[tuple[dict[str, Any], str], ...] = (
    ({"region": 5}, "region must be the name of a region, not 5"),
    ({"region": None}, "region must be the name of a region, not None"),
    ({"region": ""}, "region must be the name of a region, not ''"),
    ({"catalogue": {}}, "catalogue must be a catalogue or None, not {}"),
    ({"clock": 5}, "clock must be a clock or None, not 5"),
    ({"ids": 5}, "ids must be callable or None, not 5"),
    ({"seed_value": "x"}, "seed_value must be a whole number, not 'x'"),
    ({"seed_value": True}, "seed_value must be a whole number, not True"),
    ({"azure": []}, "azure must be a mapping or None, not []"),
    ({"timing": "instant"}, "timing must be a Timing or None, not 'instant'"),
    ({"subscription": "x"}, "subscription must be a guid, not 'x'"),
    ({"any_subscription": "yes"}, "any_subscription must be true or false, not 'yes'"),
    ({"tenant": 5}, "tenant must be a guid, not 5"),
    ({"resource_group": ""}, "resource_group must be a name"),
    ({"resource_group": "x."}, "resource_group must be a name"),
    ({"cluster": "a/b"}, "cluster must be a name"),
    ({"node_resource_group": 5}, "node_resource_group must be a name"),
    ({"kubernetes": 1.34}, "kubernetes must be a version such as '1.34.2', not 1.34"),
    ({"kubernetes": "nonsense"}, "kubernetes must be a version such as '1.34.2', not 'nonsense'"),
    ({"machines_pool": "UPPER"}, "machines_pool must be a name of up to 12 small letters and digits, not 'UPPER'"),
    ({"network": "azure"}, "network must be a mapping or None, not 'azure'"),
    ({"subnet_prefix": "10.0.0.1/16"}, "subnet_prefix must be the prefix of a network"),
    ({"vnet_guid": 5}, "vnet_guid must be a text, not 5"),
    ({"throttle": 5}, "throttle must be a mapping or None, not 5"),
    ({"throttle": {"read": 1}}, "throttle: 'read' is not known; did you mean 'reads'?"),
    ({"throttle": {"reads": 1}}, "throttle: reads must be a Bucket, not 1"),
    ({"retry_after": -5}, "retry_after must be a whole number from 0 or None, not -5"),
    ({"page_size": 0}, "page_size must be a whole number from 1 or None, not 0"),
    ({"sku_regions": "eastus"}, "sku_regions must be a list of names of regions or None, not 'eastus'"),
    ({"base_url": "nonsense"}, "base_url must be a URL, not 'nonsense'"),
    ({"journal": 5}, "journal must be a Journal or None, not 5"),
    ({"region": "x" * 1000, "page_size": "y" * 1000}, "page_size must be a whole number from 1 or None, not 'yyy"),
)
OF_WORLDS: tuple[tuple[dict[str, Any], str], ...] = (
    ({"karpenter": 1.14}, "karpenter must be a release such as '1.14.0', not 1.14"),
    ({"crds": 5}, "crds must be a release or CRDs or None, not 5"),
    ({"kubernetes": "nonsense"}, "kubernetes must be a version such as '1.34.0' or None, not 'nonsense'"),
    ({"region": 5}, "region must be the name of a region or None, not 5"),
    ({"provision_mode": "x"}, "provision_mode must be one of aksscriptless, bootstrappingclient, aksmachineapi, "),
    ({"options": 5}, "options must be a mapping or None, not 5"),
    ({"options": {"cluster_nam": "c"}}, "options: 'cluster_nam' is not known; did you mean 'cluster_name'?"),
    ({"azure": []}, "azure must be a mapping or None, not []"),
    ({"loads": 5}, "loads must be a mapping or None, not 5"),
    ({"seed": 1.5}, "seed must be a whole number, not 1.5"),
    ({"caches": 5}, "caches must be Caches or None, not 5"),
    ({"timing": INSTANT}, "timing must be a Timing of harness.nodes or None"),
    ({"cloud_timing": 5}, "cloud_timing must be a Timing of fakeazure or None, not 5"),
    ({"times": {"boots": 1}}, "times: 'boots' is not known; did you mean 'boot'?"),
    ({"times": {"boot": "x"}}, "times: boot must be seconds from 0 or None, not 'x'"),
    ({"storage_classes": "x"}, "storage_classes must be true or false, not 'x'"),
    ({"recorded": 5}, "recorded must be true or false, not 5"),
    ({"attempt_seconds": -1}, "attempt_seconds must be seconds from 0, not -1"),
    ({"time_limit": float("nan")}, "time_limit must be seconds from 0, not nan"),
    ({"cluster_autoscaler": 5}, "cluster_autoscaler must be a mapping or None, not 5"),
    ({"cluster_autoscaler": {"expandr": "x"}}, "cluster_autoscaler: 'expandr' is not known; did you mean 'expander'?"),
    ({"cluster_autoscaler": {"scan-interval": "x"}}, "cluster_autoscaler: scan-interval: "),
    ({"cluster": 5}, "cluster must be a function that makes a cluster, not 5"),
    ({"clock": ManualClock()}, "clock must be a Clock or None, not "),
    ({"simulated": "x"}, "simulated must be true or false, not 'x'"),
)


@pytest.mark.parametrize(("arguments", "words"), OF_CLOUDS)
def test_an_argument_of_a_cloud_that_is_none_is_named(arguments: dict[str, Any], words: str) -> None:
    message = refusal(FakeAzure, arguments)
    assert message.startswith("FakeAzure: ")
    assert words in message


@pytest.mark.parametrize(("arguments", "words"), OF_WORLDS)
def test_an_argument_of_a_world_that_is_none_is_named(arguments: dict[str, Any], words: str) -> None:
    message = refusal(World, arguments)
    assert message.startswith("World: ")
    assert words in message


def refusal(kind: type, arguments: dict[str, Any]) -> str:
    with pytest.raises(ValueError) as raised:
        kind(**arguments)
    message = str(raised.value)
    assert len(message.splitlines()) == 1
    assert len(message) < 200
    return message


def test_all_arguments_that_are_none_are_named_at_once() -> None:
    assert refusal(FakeAzure, {"region": 5, "page_size": 0}).count(" must be ") == 2
    assert refusal(World, {"seed": "x", "recorded": 1, "times": {"a": 1, "b": 2}}).count(";") >= 3


def test_regions_of_sizes_exist() -> None:
    with pytest.raises(ValueError, match="unknown region 'eastuss'; did you mean 'eastus'"):
        FakeAzure(sku_regions=["eastus", "eastuss"])


def test_every_argument_is_judged() -> None:
    """No argument that is added later goes by unseen."""
    import inspect

    for kind, cases, taken in ((FakeAzure, OF_CLOUDS, {"kubelet_client_id"}), (World, OF_WORLDS, set[str]())):
        judged = {name for arguments, _ in cases for name in arguments}
        assert set(inspect.signature(kind).parameters) - judged == taken
