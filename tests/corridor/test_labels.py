"""Who wrote a label of a node, with which value, and where it came from."""

import pytest

from harness.testing import nodeclass, nodepool, pod, requirement
from tests.corridor.conftest import SMALL

SPOT = requirement("karpenter.sh/capacity-type", "spot")


def test_a_spot_node_boots_as_regular_and_karpenter_corrects_it(walk):
    way = walk(nodeclass(), nodepool(SMALL, SPOT), pod("p1"))
    for key in ("kubernetes.azure.com/scalesetpriority", "kubernetes.azure.com/priority"):
        assert way.writes(key) == [("set", "kubelet", "base", "regular"), ("overwrote", "karpenter", "vm", "spot")]
        assert way.node["metadata"]["labels"][key] == "spot"


def test_a_node_restriction_label_is_withheld_from_the_kubelet_and_written_by_karpenter(walk):
    way = walk(nodeclass(), nodepool(SMALL, labels={"node-restriction.kubernetes.io/x": "q"}), pod("p1"))
    assert way.writes("node-restriction.kubernetes.io/x") == [
        ("withheld", "kubelet", "nodeclaim-label", "q"),
        ("set", "karpenter", "nodeclaim-label", "q"),
    ]


ORDINARY = {
    "team": [("set", "kubelet", "nodeclaim-label", "alpha"), ("same", "karpenter", "nodeclaim-label", "alpha")],
    "kubernetes.azure.com/role": [("set", "kubelet", "base", "agent")],
    "kubernetes.azure.com/mode": [("set", "kubelet", "base", "user")],
    "karpenter.sh/do-not-sync-taints": [("set", "kubelet", "base", "true")],
    "kubernetes.io/os": [
        ("set", "kubelet", "instance-type", "linux"),
        ("same", "karpenter", "instance-type", "linux"),
    ],
    "beta.kubernetes.io/os": [("set", "kubelet", "kubelet-default", "linux")],
    "beta.kubernetes.io/instance-type": [("set", "cloud-node-manager", "vm", "Standard_D2as_v6")],
    "node.kubernetes.io/instance-type": [
        ("set", "kubelet", "instance-type", "Standard_D2as_v6"),
        ("same", "cloud-node-manager", "vm", "Standard_D2as_v6"),
        ("same", "karpenter", "instance-type", "Standard_D2as_v6"),
    ],
    "topology.kubernetes.io/region": [
        ("set", "kubelet", "instance-type", "southcentralus"),
        ("same", "cloud-node-manager", "vm", "southcentralus"),
        ("same", "karpenter", "instance-type", "southcentralus"),
    ],
    "karpenter.sh/registered": [("set", "karpenter", "registration", "true")],
    "karpenter.sh/initialized": [("set", "karpenter", "initialization", "true")],
}


def test_ordinary_labels(walk):
    way = walk(nodeclass(), nodepool(SMALL, labels={"team": "alpha"}), pod("p1"), region="southcentralus")
    found = {key: way.writes(key) for key in ORDINARY}
    assert found == ORDINARY
    zone = way.node["metadata"]["labels"]["topology.kubernetes.io/zone"]
    assert way.writes("topology.kubernetes.io/zone") == [
        ("set", "cloud-node-manager", "vm", zone),
        ("same", "karpenter", "vm", zone),
    ]


def test_every_label_of_the_node_has_a_writer_and_the_last_value_is_the_one_it_has(walk):
    way = walk(nodeclass(), nodepool(SMALL, SPOT, labels={"team": "alpha"}), pod("p1"))
    labels = way.node["metadata"]["labels"]
    writes = way.world.writes(way.node["metadata"]["name"])
    assert set(labels) == {key for key, each in writes.items() if any(w.kind != "withheld" for w in each)}
    for key, value in labels.items():
        effective = [write for write in writes[key] if write.kind in ("set", "overwrote")]
        assert effective[-1].value == value
        assert all(write.from_ for write in writes[key])


# The keys of KUBELET_NODE_LABELS that the real provider 1.14.0 wrote for this NodePool (mode aksscriptless).
RECORDED_KEYS = [
    "example.com/tier",
    "karpenter.azure.com/aksnodeclass",
    "karpenter.azure.com/placement-scope",
    "karpenter.azure.com/sku-cpu",
    "karpenter.azure.com/sku-family",
    "karpenter.azure.com/sku-gpu-count",
    "karpenter.azure.com/sku-hyperv-generation",
    "karpenter.azure.com/sku-memory",
    "karpenter.azure.com/sku-name",
    "karpenter.azure.com/sku-networking-accelerated",
    "karpenter.azure.com/sku-series",
    "karpenter.azure.com/sku-storage-premium-capable",
    "karpenter.azure.com/sku-storage-ultra-ssd",
    "karpenter.azure.com/sku-version",
    "karpenter.sh/capacity-type",
    "karpenter.sh/do-not-sync-taints",
    "karpenter.sh/nodepool",
    "kubernetes.azure.com/azure-cni-overlay",
    "kubernetes.azure.com/cluster",
    "kubernetes.azure.com/ebpf-dataplane",
    "kubernetes.azure.com/kubelet-identity-client-id",
    "kubernetes.azure.com/localdns-state",
    "kubernetes.azure.com/mode",
    "kubernetes.azure.com/network-stateless-cni",
    "kubernetes.azure.com/network-subnet",
    "kubernetes.azure.com/nodenetwork-vnetguid",
    "kubernetes.azure.com/os-sku",
    "kubernetes.azure.com/os-sku-effective",
    "kubernetes.azure.com/os-sku-requested",
    "kubernetes.azure.com/podnetwork-type",
    "kubernetes.azure.com/priority",
    "kubernetes.azure.com/role",
    "kubernetes.azure.com/scalesetpriority",
    "kubernetes.azure.com/sku-cpu",
    "kubernetes.azure.com/sku-memory",
    "kubernetes.io/arch",
    "kubernetes.io/os",
    "node.kubernetes.io/instance-type",
    "team",
    "topology.kubernetes.io/region",
]


def test_the_kubelet_is_given_the_keys_that_were_recorded(walk):
    pool = nodepool(
        requirement("node.kubernetes.io/instance-type", "Standard_D2as_v6"),
        requirement("karpenter.sh/capacity-type", "on-demand"),
        requirement("example.com/tier", "gold"),
        labels={"team": "alpha"},
    )
    way = walk(nodeclass(), pool, pod("p1"), region="southcentralus")
    assert sorted({layer.key for layer in way.world.layers(way.node["metadata"]["name"])}) == sorted(RECORDED_KEYS)


TAINTED = {
    "taints": [{"key": "example.com/dedicated", "value": "x", "effect": "NoSchedule"}],
    "startupTaints": [{"key": "example.com/starting", "value": "true", "effect": "NoSchedule"}],
}
TOLERANT = {"tolerations": [{"operator": "Exists"}]}


def taints(node: dict) -> list[str]:
    return [taint["key"] for taint in node["spec"].get("taints") or ()]


def test_a_node_that_manages_its_taints_keeps_those_that_the_kubelet_registered(walk):
    way = walk(nodeclass(), nodepool(SMALL, **TAINTED), pod("p1", **TOLERANT))
    world, name = way.world, way.node["metadata"]["name"]
    assert taints(way.node) == ["example.com/dedicated", "example.com/starting"]
    registration = next(
        entry
        for entry in world.journal
        if entry.key.kind == "Node"
        and entry.after is not None
        and entry.after["metadata"]["labels"].get("karpenter.sh/registered")
        and not entry.before["metadata"]["labels"].get("karpenter.sh/registered")
    )
    before, after = (
        {taint["key"] for taint in each["spec"]["taints"]} for each in (registration.before, registration.after)
    )
    assert before - after == {"karpenter.sh/unregistered"}
    assert not after - before
    assert name == registration.key.name


def test_startup_taints_keep_a_node_from_being_initialized(walk):
    way = walk(nodeclass(), nodepool(SMALL, **TAINTED), pod("p1", **TOLERANT))
    initialized = next(each for each in way.claim["status"]["conditions"] if each["type"] == "Initialized")
    assert (initialized["status"], initialized["reason"]) == ("Unknown", "StartupTaintsExist")
    assert initialized["message"] == 'StartupTaint "example.com/starting=true:NoSchedule" still exists'


def test_an_aks_machine_boots_with_aks_own_labels(walk):
    way = walk(nodeclass(), nodepool(SMALL, labels={"team": "alpha"}), pod("p1"), provision_mode="aksmachineapi")
    assert way.writes("kubernetes.azure.com/mode") == [("set", "kubelet", "aks-rp", "user")]
    assert way.writes("team")[0] == ("set", "kubelet", "nodeclaim-label", "alpha")
    assert way.writes("karpenter.sh/do-not-sync-taints") == []
    assert way.world.list("Pod")[0]["status"]["phase"] == "Running"


def test_core_syncs_taints_to_an_aks_machine(walk):
    way = walk(nodeclass(), nodepool(SMALL, **TAINTED), pod("p1", **TOLERANT), provision_mode="aksmachineapi")
    assert sorted(taints(way.node)) == ["example.com/dedicated", "example.com/starting"]


def test_a_label_that_an_older_release_does_not_withhold_keeps_the_kubelet_from_starting(walk):
    way = walk(
        nodeclass(), nodepool(SMALL, labels={"node-restriction.kubernetes.io/x": "q"}), pod("p1"), karpenter="1.6.5"
    )
    assert way.world.list("Node") == []
    (vm,) = way.world.vms()
    (write,) = way.world.writes(vm.name)["node-restriction.kubernetes.io/x"]
    assert (write.kind, write.by, write.from_, write.value) == ("refused", "kubelet", "nodeclaim-label", "q")
    assert any("unknown 'kubernetes.io' or 'k8s.io' labels" in line.message for line in way.world.log)


@pytest.mark.parametrize("release", ["1.4.0", "1.6.6", "1.7.2", "1.10.2", "1.14.0"])
def test_a_custom_requirement_becomes_a_label_of_the_nodeclaim(walk, release):
    """Cores before 1.9 do so at launch (PopulateNodeClaimDetails), later ones when the NodeClaim is made."""
    team = requirement("example.com/team", operator="Exists")
    way = walk(
        nodeclass(), nodepool(SMALL, team), pod("p1", nodeSelector={"example.com/team": "blue"}), karpenter=release
    )
    assert way.claim["metadata"]["labels"]["example.com/team"] == "blue"
    assert way.node["metadata"]["labels"]["example.com/team"] == "blue"
    assert way.settled.runaway is None
