"""Which label values a launch produces, from which source, on which path; the expected ones follow the real code's answers."""

from collections.abc import Callable
from typing import Any

import pytest

from harness.karpenter.launch import LaunchError, Source, populated_labels
from harness.karpenter.launch.labels.base import can_kubelet_set
from harness.karpenter.releases import provider
from tests.launch.conftest import nodeclaim

Launcher = Callable[..., Any]
PINNED: dict[str, Any] = {"example.com/pinned": ["b", "a"]}
SYSTEM_SPOT: dict[str, Any] = {"kubernetes.azure.com/scalesetpriority": ["spot"], "mode": ["system"]}
SPOT: dict[str, Any] = {"size": ["Standard_D2s_v3"], "zone": ["southcentralus-1"], "capacity_type": ["spot"]}


def history(labels: Any, key: str) -> list[tuple[str, str]]:
    return [(layer.value, str(layer.source)) for layer in labels.history(key)]


def test_a_spot_node_boots_as_regular_and_its_claim_says_spot(launch: Launcher) -> None:
    made = launch(nodeclaim(**SPOT))
    assert history(made.labels, "kubernetes.azure.com/scalesetpriority") == [("regular", "base")]
    assert history(made.labels, "karpenter.sh/do-not-sync-taints") == [("true", "base")]
    created = made.created()
    assert history(created.labels, "kubernetes.azure.com/scalesetpriority") == [("spot", "vm")]
    assert history(created.labels, "karpenter.sh/capacity-type") == [("spot", "vm")]
    synced = populated_labels(nodeclaim(**SPOT), created, provider("1.14.0"))
    assert synced.values()["kubernetes.azure.com/priority"] == "spot"
    assert "karpenter.sh/do-not-sync-taints" not in synced.values()


def test_pinned_values_reach_the_kubelet_too(launch: Launcher) -> None:
    made = launch(nodeclaim(**SPOT, **SYSTEM_SPOT))
    assert history(made.labels, "kubernetes.azure.com/scalesetpriority") == [
        ("regular", "base"),
        ("spot", "claim-requirement"),
    ]
    assert history(made.labels, "topology.kubernetes.io/zone") == [("southcentralus-1", "claim-requirement")]
    assert made.created().labels.values()["kubernetes.azure.com/mode"] == "system"


def test_equal_values_stay_with_the_first_source(launch: Launcher) -> None:
    labels = launch(nodeclaim(**SPOT)).labels
    key = "kubernetes.azure.com/cluster"
    assert history(labels, key) == [("MC_rg_c_southcentralus", "base"), ("MC_rg_c_southcentralus", "instance-type")]
    assert labels.winners()[key].source is Source.BASE


def test_what_kubelet_may_not_set_is_withheld(launch: Launcher) -> None:
    claim = nodeclaim(labels={"node-restriction.kubernetes.io/x": "q", "kubernetes.io/custom": "1"}, **SPOT)
    made = launch(claim)
    assert [(layer.key, layer.value) for layer in made.labels.withheld] == [
        ("kubernetes.io/custom", "1"),
        ("node-restriction.kubernetes.io/x", "q"),
    ]
    assert "node-restriction.kubernetes.io/x" not in made.labels.values()
    synced = populated_labels(claim, made.created(), provider("1.14.0"))
    assert history(synced, "node-restriction.kubernetes.io/x") == [("q", "nodeclaim-label")]
    assert "kubernetes.io/custom" in launch(claim, release="1.7.2").labels.values()


def test_nodepool_labels_beat_base_labels_since_1_6_6(launch: Launcher) -> None:
    claim = nodeclaim(labels={"kubernetes.azure.com/ebpf-dataplane": "none"}, **SPOT)
    assert history(launch(claim).labels, "kubernetes.azure.com/ebpf-dataplane") == [
        ("cilium", "base"),
        ("none", "nodeclaim-label"),
    ]
    assert history(launch(claim, release="1.6.5").labels, "kubernetes.azure.com/ebpf-dataplane") == [
        ("none", "nodeclaim-label"),
        ("cilium", "base"),
    ]


def test_machines_get_no_aks_labels(launch: Launcher) -> None:
    claim = nodeclaim(
        labels={"agentpool": "p", "team": "a", "beta.kubernetes.io/arch": "amd64"}, mode=["system"], **SPOT
    )
    made = launch(claim, provision_mode="aksmachineapi")
    sent = made.labels.values()
    assert made.body["properties"]["mode"] == "System"
    assert sent["team"] == "a"
    assert not [
        key
        for key in sent
        if key.startswith("kubernetes.azure.com/") or key in ("agentpool", "topology.kubernetes.io/zone")
    ]
    assert {"agentpool", "kubernetes.azure.com/mode", "kubernetes.io/arch"} <= {
        layer.key for layer in made.labels.withheld
    }
    assert "agentpool" in launch(claim, provision_mode="aksmachineapi", release="1.7.2").labels.values()


@pytest.mark.parametrize(
    ("release", "image_family", "fips", "kubernetes", "expected"),
    [
        ("1.14.0", "Ubuntu", False, "1.33.5", ("Ubuntu", "Ubuntu", "Ubuntu2204")),
        ("1.14.0", "Ubuntu", False, "1.34.0", ("Ubuntu", "Ubuntu", "Ubuntu2404")),
        ("1.14.0", "Ubuntu2204", False, "1.34.0", ("Ubuntu", "Ubuntu2204", "Ubuntu2204")),
        ("1.14.0", "AzureLinux", False, "1.31.0", ("AzureLinux", "AzureLinux", "AzureLinux2")),
        ("1.14.0", "AzureLinux", False, "1.32.0", ("AzureLinux", "AzureLinux", "AzureLinux3")),
    ],
)
def test_operating_system_labels(
    launch: Launcher, release: str, image_family: str, fips: bool, kubernetes: str, expected: tuple[str, str, str]
) -> None:
    labels = launch(
        nodeclaim(**SPOT), release=release, spec={"imageFamily": image_family}, kubernetes=kubernetes
    ).labels.values()
    names = ("os-sku", "os-sku-requested", "os-sku-effective")
    assert tuple(labels[f"kubernetes.azure.com/{name}"] for name in names) == expected


def test_fips(launch: Launcher) -> None:
    labels = launch(nodeclaim(**SPOT), spec={"fipsMode": "FIPS"}, use_sig=True).labels.values()
    assert labels["kubernetes.azure.com/fips_enabled"] == "true"
    assert labels["kubernetes.azure.com/os-sku-effective"] == "Ubuntu"
    with pytest.raises(LaunchError, match="no compatible images found for instance type Standard_D2s_v3"):
        launch(nodeclaim(**SPOT), spec={"fipsMode": "FIPS"})


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("kubernetes.io/x", False),
        ("k8s.io/x", False),
        ("node-restriction.kubernetes.io/x", False),
        ("node.kubernetes.io/x", True),
        ("a.kubelet.kubernetes.io/x", True),
        ("topology.disk.csi.azure.com/zone", True),
        ("karpenter.sh/nodepool", True),
        ("agentpool", True),
        ("kubernetes.io/arch", True),
    ],
)
def test_keys_that_kubelet_may_set(key: str, expected: bool) -> None:
    assert can_kubelet_set(key) is expected


def test_ultra_ssd_only_when_insisted_on(launch: Launcher) -> None:
    for values, enabled in ((["true"], "true"), (["true", "false"], "false")):
        made = launch(nodeclaim(ultra=values, size=["Standard_B20ms"]))
        assert made.labels.values()["karpenter.azure.com/sku-storage-ultra-ssd"] == enabled
        assert ("additionalCapabilities" in made.vm["properties"]) is (enabled == "true")


@pytest.mark.parametrize(
    ("release", "mode", "passed", "withheld"),
    [
        ("1.6.5", "aksscriptless", set(), set()),
        ("1.7.2", "aksscriptless", {"example.com/pinned"}, set()),
        ("1.7.2", "aksmachineapi", {"example.com/pinned"}, set()),
        ("1.10.2", "aksscriptless", {"example.com/pinned"}, {"kubernetes.io/custom"}),
        ("1.14.0", "aksscriptless", {"example.com/pinned"}, {"kubernetes.io/custom"}),
        ("1.14.0", "aksmachineapi", {"example.com/pinned"}, {"kubernetes.io/custom"}),
    ],
)
def test_requirements_become_labels_that_kubelet_may_set(
    launch: Launcher, release: str, mode: str, passed: set[str], withheld: set[str]
) -> None:
    """Kaz vminstance.go, getLaunchTemplate: filtered by themselves in 1.7.2, with all other labels since 1.10 (launchtemplate.go)."""
    wanted: dict[str, Any] = {"example.com/pinned": ["a"], "kubernetes.io/custom": ["1"]}
    labels = launch(nodeclaim(**SPOT, **wanted), release=release, provision_mode=mode).labels
    assert labels.values().keys() & wanted.keys() == passed
    assert {layer.key for layer in labels.withheld} & wanted.keys() == withheld


def test_older_core_turns_custom_requirements_into_labels(launch: Launcher) -> None:
    claim = nodeclaim(**SPOT, **PINNED)
    old = populated_labels(claim, launch(claim, release="1.7.2").created(), provider("1.7.2"))
    assert history(old, "example.com/pinned") == [("a", "claim-requirement")]
    new = populated_labels(claim, launch(claim).created(), provider("1.14.0"))
    assert history(new, "example.com/pinned") == []


def test_annotations(launch: Launcher) -> None:
    """Hashes as the real 1.14.0 computes them for this NodeClass and these tags."""
    spec = {"imageFamily": "Ubuntu2204", "maxPods": 10, "security": {"encryptionAtHost": False}}
    annotations = (
        launch(nodeclaim(**SPOT), spec=spec, cluster_name="test-cluster", node_identities=()).created().annotations
    )
    assert annotations["karpenter.azure.com/aksnodeclass-hash"] == "5591796750607236373"
    assert annotations["karpenter.azure.com/in-place-update-hash"] == "3897900378"


POOL_TAG, SCOPE = "karpenter.sh_nodepool", "karpenter.azure.com/placement-scope"


def from_vm(created: Any) -> dict[str, str]:
    """What is read from the machine itself."""
    layers = (layer for key in created.labels.values() for layer in created.labels.history(key))
    return {layer.key: layer.value for layer in layers if layer.source is Source.VM}


@pytest.mark.parametrize(
    ("release", "place", "zone", "scope"),
    [
        ("1.14.0", {"zones": ["2"], "location": "eastus"}, "eastus-2", "zonal"),
        ("1.14.0", {"zones": [], "location": "eastus"}, "0", "regional"),
        ("1.14.0", {"zones": [], "location": ""}, "0", "regional"),
        ("1.14.0", {"zones": ["2"], "location": ""}, None, None),
        ("1.14.0", {"zones": ["1", "2"], "location": "eastus"}, None, None),
        ("1.10.2", {"zones": [], "location": "eastus"}, "", None),
    ],
)
def test_a_machine_is_where_azure_says(
    launch: Launcher, release: str, place: dict[str, Any], zone: str | None, scope: str | None
) -> None:
    """In one zone or in none; of a VM in several, or of one whose region is not told, nothing is known."""
    planned = launch(nodeclaim(), release=release)
    facts = from_vm(planned.created({**planned.vm, **place}))
    assert (facts.get("topology.kubernetes.io/zone"), facts.get(SCOPE)) == (zone, scope)


@pytest.mark.parametrize(("tags", "pool"), [({POOL_TAG: "blue"}, "blue"), ({"other": "blue"}, None)])
def test_the_nodepool_of_a_machine_is_in_its_tags(launch: Launcher, tags: dict[str, str], pool: str | None) -> None:
    planned = launch(nodeclaim())
    assert from_vm(planned.created({**planned.vm, "tags": tags})).get("karpenter.sh/nodepool") == pool
