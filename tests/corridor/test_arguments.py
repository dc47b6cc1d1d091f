"""Arguments of a cloud and of a world that cannot be such: one line that names each."""

from __future__ import annotations

from typing import Any

import pytest

from fakeazure.catalog.errors import UnknownRegion
from fakeazure.cloud import FakeAzure
from fakeazure.timers import ManualClock
from fakeazure.timing import INSTANT
from harness.karpenter.releases import UnknownRelease
from harness.nodes.timing import NEVER, Timing
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
    ({"kubernetes": "1.34.x"}, "kubernetes must be a version such as '1.34.2', not '1.34.x'"),
    ({"kubernetes": "1.34.2-\x1b[2J"}, "kubernetes must be a version such as '1.34.2', not '1.34.2-\\x1b[2J'"),
    ({"network": {"networkPlugin": 5}}, "network: networkPlugin must be a text, not 5"),
    ({"network": {"ipFamilies": "IPv6"}}, "network: ipFamilies must be a list of texts, not 'IPv6'"),
    ({"subnet_prefix": "10.0.0.1/16"}, "subnet_prefix must be the prefix of a network"),
    ({"subnet_prefix": "10.224.0.0"}, "subnet_prefix must be the prefix of a network"),
    ({"subnet_prefix": "10.224.0.0/255.255.0.0"}, "subnet_prefix must be the prefix of a network"),
    ({"vnet_guid": 5}, "vnet_guid must be a text, not 5"),
    ({"throttle": 5}, "throttle must be a mapping or None, not 5"),
    ({"throttle": {"read": 1}}, "throttle: 'read' is not known; did you mean 'reads'?"),
    ({"throttle": {"reads": 1}}, "throttle: reads must be a Bucket, not 1"),
    ({"retry_after": -5}, "retry_after must be a whole number from 0 or None, not -5"),
    ({"page_size": 0}, "page_size must be a whole number from 1 or None, not 0"),
    ({"sku_regions": "eastus"}, "sku_regions must be a list of names of regions or None, not 'eastus'"),
    ({"base_url": "nonsense"}, "base_url must be a URL of http or https without user and query, not 'nonsense'"),
    ({"base_url": "ftp://x"}, "base_url must be a URL of http or https"),
    ({"base_url": "https:///x"}, "base_url must be a URL of http or https"),
    ({"base_url": "https://x:y"}, "base_url must be a URL of http or https"),
    ({"base_url": "https://x:99999"}, "base_url must be a URL of http or https"),
    ({"base_url": "https://[x"}, "base_url must be a URL of http or https"),
    ({"base_url": "https://x/?a=b"}, "base_url must be a URL of http or https"),
    ({"base_url": "https://x\r\ny"}, "base_url must be a URL of http or https"),
    ({"journal": 5}, "journal must be a Journal or None, not 5"),
    ({"region": "x" * 1000, "page_size": "y" * 1000}, "page_size must be a whole number from 1 or None, not 'yyy"),
)
OF_WORLDS: tuple[tuple[dict[str, Any], str], ...] = (
    ({"karpenter": 1.14}, "karpenter must be a release such as '1.14.0', not 1.14"),
    ({"crds": 5}, "crds must be a release or CRDs or None, not 5"),
    ({"kubernetes": "nonsense"}, "kubernetes must be a version such as '1.34.2' or None, not 'nonsense'"),
    ({"kubernetes": "1.34.x"}, "kubernetes must be a version such as '1.34.2' or None, not '1.34.x'"),
    ({"kubernetes": "1"}, "kubernetes must be a version such as '1.34.2' or None, not '1'"),
    ({"region": 5}, "region must be the name of a region or None, not 5"),
    ({"provision_mode": "x"}, "provision_mode must be one of aksscriptless, bootstrappingclient, aksmachineapi, "),
    ({"options": 5}, "options must be a mapping or None, not 5"),
    ({"options": {"cluster_nam": "c"}}, "options: 'cluster_nam' is not known; did you mean 'cluster_name'?"),
    (
        {"options": {"vm_memory_overhead_percent": "x"}},
        "vm_memory_overhead_percent must be a finite number from 0, not 'x'",
    ),
    (
        {"options": {"vm_memory_overhead_percent": -1}},
        "vm_memory_overhead_percent must be a finite number from 0, not -1",
    ),
    ({"options": {"batch_max_seconds": float("inf")}}, "batch_max_seconds must be a finite number from 0, not inf"),
    ({"options": {"feature_gates": 5}}, "options: feature_gates must be a mapping, not 5"),
    ({"options": {"additional_tags": {"a": 5}}}, "options: additional_tags must be a mapping of texts, not {'a': 5}"),
    ({"options": {"network_plugin": 5}}, "options: network_plugin must be a text, not 5"),
    ({"options": {"provision_mode": 5}}, "options: provision_mode must be a text, not 5"),
    ({"options": {"use_sig": "true"}}, "options: use_sig must be true or false, not 'true'"),
    ({"options": {"node_identities": "x"}}, "options: node_identities must be a list of texts, not 'x'"),
    ({"azure": []}, "azure must be a mapping or None, not []"),
    ({"loads": 5}, "loads must be a mapping or None, not 5"),
    ({"seed": 1.5}, "seed must be a whole number, not 1.5"),
    ({"caches": 5}, "caches must be Caches or None, not 5"),
    ({"timing": INSTANT}, "timing must be a Timing of harness.nodes or None"),
    ({"cloud_timing": 5}, "cloud_timing must be a Timing of fakeazure or None, not 5"),
    ({"times": {"boots": 1}}, "times: 'boots' is not known; did you mean 'boot'?"),
    ({"times": {"boot": "x"}}, "times: boot must be seconds from 0, not 'x'"),
    ({"times": {"boot": None}}, "times: boot must be seconds from 0, not None"),
    ({"times": {"boot": 10**400}}, "times: boot must be seconds from 0, not 1000"),
    ({"times": {"boot": 10**5000}}, "times: boot must be seconds from 0, not a number too long to show"),
    ({"times": {"device_plugin": "x"}}, "times: device_plugin must be seconds from 0 or None, not 'x'"),
    ({"times": {"pod_start": NEVER}}, "times: pod_start must be finite seconds from 0, not inf"),
    ({"times": {"registration": NEVER}}, "times: registration must be finite seconds from 0, not inf"),
    ({"timing": Timing(pod_start=NEVER)}, "timing: pod_start must be finite seconds from 0, not inf"),
    ({"storage_classes": "x"}, "storage_classes must be true or false, not 'x'"),
    ({"recorded": 5}, "recorded must be true or false, not 5"),
    ({"attempt_seconds": -1}, "attempt_seconds must be finite seconds from 0, not -1"),
    ({"attempt_seconds": float("inf")}, "attempt_seconds must be finite seconds from 0, not inf"),
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


def test_what_does_not_exist_is_named_with_what_has_a_wrong_form() -> None:
    with pytest.raises(ValueError) as raised:
        World(region="eastuss", karpenter="0.0.1", seed="x", azure={"faults": [{"whaat": 1}]})  # type: ignore[arg-type]
    message = str(raised.value)
    assert message.startswith("World: seed must be a whole number, not 'x'; ")
    for words in ("unknown release '0.0.1'", "unknown region 'eastuss'", "azure.faults.0: unknown field 'whaat'"):
        assert words in message
    with pytest.raises(ValueError, match=r"^World: unknown release '0.0.1'.*; unknown region 'eastuss'"):
        World(region="eastuss", karpenter="0.0.1")


def test_what_alone_does_not_exist_has_an_error_of_its_own() -> None:
    with pytest.raises(UnknownRelease):
        World(karpenter="0.0.1")
    with pytest.raises(UnknownRegion):
        World(region="eastuss")


def test_a_wrong_setting_of_the_autoscaler_is_named_once() -> None:
    wrong: Any = {"skip-nodes-with-system-pods": False}
    assert refusal(World, {"cluster_autoscaler": wrong}).count("skip-nodes-with-system-pods") == 1


@pytest.mark.parametrize(
    "name", ["boot", "ready", "cloud_node_manager", "device_plugin", "pod_stop", "job_pod", "eviction_notice"]
)
def test_some_things_of_a_machine_may_never_happen(name: str) -> None:
    World(times={name: NEVER})


@pytest.mark.parametrize(
    ("url", "base"),
    [
        ("https://localhost/", "https://localhost"),
        ("http://localhost:8080/arm", "http://localhost:8080/arm"),
        ("http://[::1]:8080", "http://[::1]:8080"),
        ("HTTPS://management.azure.com", "HTTPS://management.azure.com"),
    ],
)
def test_links_begin_with_the_url_of_arm(url: str, base: str) -> None:
    azure = FakeAzure(base_url=url, page_size=1)
    path = f"/subscriptions/{azure.state.settings.subscription}/providers/Microsoft.Compute/skus"
    answer = azure.request("GET", path, query={"api-version": "2021-07-01"})
    assert answer.body is not None
    assert answer.body["nextLink"].startswith(f"{base}{path}?")


def test_regions_of_sizes_exist() -> None:
    with pytest.raises(ValueError, match="unknown region 'eastuss'; did you mean 'eastus'"):
        FakeAzure(sku_regions=["eastus", "eastuss"])


def test_every_argument_is_judged() -> None:
    """No argument that is added later goes by unseen."""
    import inspect

    for kind, cases, taken in ((FakeAzure, OF_CLOUDS, {"kubelet_client_id"}), (World, OF_WORLDS, set[str]())):
        judged = {name for arguments, _ in cases for name in arguments}
        assert set(inspect.signature(kind).parameters) - judged == taken
