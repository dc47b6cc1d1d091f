"""The life of machines: from pending to bound, to deleted, and what stops on the way."""

import pytest

from harness.kube.api.objects import copy_json
from harness.nodes.timing import NEVER, Timing
from harness.testing import nodeclaim, nodeclass, nodepool, pod, requirement
from harness.world import World
from tests.corridor.conftest import SMALL, requires


def test_from_pending_to_running(walk):
    way = walk(nodeclass(), nodepool(SMALL), pod("p1"))
    assert way.settled.quiescent
    assert way.world.list("Pod")[0]["spec"]["nodeName"] == way.node["metadata"]["name"]
    conditions = {each["type"]: each["status"] for each in way.claim["status"]["conditions"]}
    names = ("Launched", "Registered", "Initialized", "Consolidatable", "Ready")
    assert conditions == dict.fromkeys(names, "True")
    assert way.claim["status"]["nodeName"] == way.node["metadata"]["name"]
    assert way.claim["status"]["providerID"] == way.node["spec"]["providerID"]
    (pool,) = way.world.list("NodePool")
    assert pool["status"]["resources"]["nodes"] == "1"


def test_a_machine_joins_the_pools_of_the_clusters_load_balancer(walk):
    """As AKS does, for outgoing traffic (kaz pkg/providers/loadbalancer/loadbalancer.go)."""
    world = walk(nodeclass(), nodepool(SMALL), pod("p1")).world
    (nic,) = [call for call in world.calls() if call.method == "PUT" and "/networkInterfaces/" in call.path]
    (configuration,) = nic.body["properties"]["ipConfigurations"]
    pools = [each["id"] for each in configuration["properties"]["loadBalancerBackendAddressPools"]]
    balancer, _, _ = nic.path.partition("networkInterfaces")
    assert pools == [
        f"{balancer}loadBalancers/kubernetes/backendAddressPools/{name}"
        for name in ("aksOutboundBackendPool", "kubernetes")
    ]


def test_a_nodepool_counts_its_machines(walk):
    """The number stands among the resources in every release, and in a field of its own since core 1.10."""
    nothing = dict.fromkeys(("cpu", "memory", "pods", "ephemeral-storage", "nodes"), "0")
    for release, count in (("1.7.2", None), ("1.10.2", 1)):
        way = walk(nodeclass(), nodepool(SMALL), pod("p1"), karpenter=release)
        status = way.world.get("NodePool", "default")["status"]
        assert (status["resources"]["nodes"], status.get("nodes")) == ("1", count)
        way.world.delete("NodeClaim", way.claim["metadata"]["name"])
        assert way.world.settle().quiescent
        status = way.world.get("NodePool", "default")["status"]
        assert (status["resources"], status.get("nodes")) == (nothing, count and 0)


def test_the_batch_waits_a_second_for_more_pods(walk):
    way = walk(nodeclass(), nodepool(SMALL), *(pod(f"p{i}", cpu="500m") for i in range(3)))
    assert way.claim["metadata"]["creationTimestamp"] == "2026-01-01T00:00:01Z"
    assert {each["spec"]["nodeName"] for each in way.world.list("Pod")} == {way.node["metadata"]["name"]}


def test_a_later_pod_uses_the_room_that_is_there(walk):
    way = walk(nodeclass(), nodepool(SMALL), pod("first", cpu="500m"))
    way.world.apply(pod("second", cpu="500m"))
    assert way.world.settle().quiescent
    assert len(way.world.list("NodeClaim")) == 1
    assert len({each["spec"]["nodeName"] for each in way.world.list("Pod")}) == 1


def test_a_limit_that_is_reached_stops_new_nodes(walk):
    pool = nodepool(SMALL)
    pool["spec"]["limits"] = {"cpu": "2"}
    way = walk(nodeclass(), pool, pod("a"), pod("b", cpu="1500m"))
    assert len(way.world.list("NodeClaim")) == 1
    assert any("limits" in message for message in way.messages("FailedScheduling"))


def test_deleting_a_claim_drains_its_node_and_deletes_the_vm(walk):
    way = walk(nodeclass(), nodepool(SMALL), pod("p1"))
    way.world.delete("NodeClaim", way.claim["metadata"]["name"])
    assert way.world.settle().quiescent
    assert way.world.list("NodeClaim") == way.world.list("Node") == way.world.list("Pod") == []
    assert way.world.vms() == []
    assert way.messages("Evicted") == ["Evicted pod: Forceful Termination"]
    deleted = [path for _, _, path, status, _ in way.calls("DELETE") if status == 202]
    assert [path.split("/")[0] for path in deleted] == ["virtualMachines"]


def test_a_spent_budget_keeps_the_node_until_it_goes(walk):
    labelled = pod("p1")
    labelled["metadata"]["labels"] = {"app": "x"}
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "b"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "x"}}},
    }
    way = walk(nodeclass(), nodepool(SMALL), labelled, budget)
    draining = way.node["metadata"]["name"]
    way.world.delete("NodeClaim", way.claim["metadata"]["name"])
    way.world.settle()
    assert way.world.get("Node", draining)
    # the budget's refusal is told under the same reason about the same Node, so that for two minutes the first message hides it
    # (core pkg/controllers/node/termination/terminator/events/events.go NodeFailedToDrain, pkg/events/recorder.go)
    assert way.messages("FailedDraining") == ["Failed to drain node, 1 pods are waiting to be evicted"]
    way.world.advance(121)
    assert len(way.messages("FailedDraining")) == 2
    way.world.delete("PodDisruptionBudget", "b")
    way.world.settle()
    assert way.world.get("Node", draining) is None


def test_do_not_disrupt_keeps_a_draining_node_until_its_grace_period_is_over(walk):
    kept = pod("p1")
    kept["metadata"]["annotations"] = {"karpenter.sh/do-not-disrupt": "true"}
    way = walk(nodeclass(), nodepool(SMALL, terminationGracePeriod="10m"), kept)
    way.world.delete("NodeClaim", way.claim["metadata"]["name"])
    way.world.advance(300)
    assert way.world.list("Node")
    way.world.advance(400)
    assert way.world.list("Node") == []
    assert way.messages("Disrupted")


@pytest.mark.parametrize(("release", "protects"), [("1.10.2", False), ("1.12.2", True), ("1.14.0", True)])
def test_do_not_disrupt_for_a_while_protects_from_a_drain_since_core_1_12(walk, release, protects):
    """Before, any value but true counted as none (core pkg/utils/pod/scheduling.go HasDoNotDisrupt)."""
    kept = pod("p1")
    kept["metadata"]["annotations"] = {"karpenter.sh/do-not-disrupt": "20m"}
    way = walk(nodeclass(), nodepool(SMALL), kept, karpenter=release)
    draining = way.node["metadata"]["name"]
    way.world.delete("NodeClaim", way.claim["metadata"]["name"])
    way.world.advance(300)
    assert (way.world.get("Node", draining) is not None) is protects
    way.world.advance(1200)
    assert way.world.get("Node", draining) is None


def test_a_machine_that_never_becomes_a_node_is_given_up_after_15_minutes(walk):
    azure = {"faults": [{"what": "Stuck", "where": {"size": "*"}}]}
    way = walk(nodeclass(), nodepool(SMALL), pod("p1"), azure=azure)
    assert way.settled.quiescent
    first = way.claim["metadata"]["name"]
    registered = next(each for each in way.claim["status"]["conditions"] if each["type"] == "Registered")
    assert (registered["status"], registered["reason"]) == ("Unknown", "NodeNotFound")
    way.world.advance(14 * 60)
    assert way.claim["metadata"]["name"] == first
    way.world.advance(3 * 60)
    assert way.world.get("NodeClaim", first) is None
    assert way.world.list("Pod")[0]["status"]["phase"] == "Running"


def test_a_vm_that_vanishes_takes_its_node_along(walk):
    way = walk(nodeclass(), nodepool(SMALL), pod("p1"))
    (vm,) = way.world.vms()
    way.world.cloud.vanish(vm.name)
    way.world.advance(600)
    assert vm.name not in {each["metadata"]["name"] for each in way.world.list("Node")}


def test_a_gpu_is_there_before_the_node_is_initialized(walk):
    gpu = pod("p1")
    gpu["spec"]["containers"][0]["resources"] = {"limits": {"nvidia.com/gpu": "1"}}
    way = walk(nodeclass(), nodepool(requirement("karpenter.azure.com/sku-gpu-name", "T4")), gpu)
    assert way.node["status"]["allocatable"]["nvidia.com/gpu"] == "1"
    assert way.world.list("Pod")[0]["status"]["phase"] == "Running"
    reasons = [
        condition["reason"]
        for entry in way.world.journal
        if entry.key.kind == "NodeClaim" and entry.after is not None
        for condition in (entry.after.get("status") or {}).get("conditions") or ()
        if condition["type"] == "Initialized"
    ]
    assert "ResourceNotRegistered" in reasons


@pytest.mark.parametrize("plugin", [None, NEVER])
def test_without_a_device_plugin_a_node_has_no_gpu_and_is_never_initialized(walk, plugin):
    gpu = pod("p1")
    gpu["spec"]["containers"][0]["resources"] = {"limits": {"nvidia.com/gpu": "1"}}
    t4 = requirement("karpenter.azure.com/sku-gpu-name", "T4")
    way = walk(nodeclass(), nodepool(t4), gpu, timing=Timing(device_plugin=plugin))
    assert "nvidia.com/gpu" not in way.node["status"]["allocatable"]
    status = {each["type"]: each["status"] for each in way.claim["status"]["conditions"]}
    assert (status["Registered"], status["Initialized"]) == ("True", "Unknown")


MODES = [
    ("1.4.0", "aksscriptless"),
    ("1.6.5", "bootstrappingclient"),
    ("1.7.2", "aksmachineapi"),
    ("1.12.2", "aksmachineapiheaderbatch"),
    ("1.14.0", "bootstrappingclient"),
    ("1.14.0", "aksmachineapi"),
]


@pytest.mark.parametrize(("release", "mode"), MODES)
def test_every_provision_mode_ends_in_a_running_pod(walk, release, mode):
    pool = nodepool(SMALL, expireAfter="720h")
    pool["spec"]["disruption"] = {"consolidateAfter": "0s"}
    way = walk(nodeclass(), pool, pod("p1"), karpenter=release, provision_mode=mode)
    assert way.settled.quiescent
    assert way.world.list("Pod")[0]["status"]["phase"] == "Running"


CIRCLES = [
    ("1.6.5", {"nodeSelector": {"kubernetes.azure.com/cluster": "other"}}, "kubernetes.azure.com/cluster"),
    ("1.14.0", requires("kubernetes.azure.com/mode", "NotIn", "user"), "kubernetes.azure.com/mode"),
]


@pytest.mark.parametrize(("release", "spec", "fault"), CIRCLES)
def test_labels_that_make_a_claim_per_loop_for_ever(walk, release, spec, fault):
    way = walk(nodeclass(), nodepool(SMALL), pod("p1", **spec), karpenter=release)
    runaway = way.settled.runaway
    assert runaway is not None
    assert runaway.fault == fault
    assert len({loop.made for loop in runaway.loops}) == len(runaway.loops)
    assert f"label at fault: {fault}" in str(runaway)


def test_a_label_that_only_the_kubelet_brings_makes_claims_until_the_first_node_registers(walk):
    spec = {"nodeSelector": {"node.kubernetes.io/windows-build": "10.0"}}
    way = walk(nodeclass(), nodepool(SMALL), pod("p1", **spec))
    assert way.settled.quiescent
    (left,) = way.world.list("NodeClaim")
    empty = [each.nodeclaim for one in way.world.disruptions for each in one.nodes if one.reason == "Empty"]
    assert len({*empty, left["metadata"]["name"]}) == 5  # the four that nobody needed are empty as soon as they are up
    assert way.world.list("Pod")[0]["status"]["phase"] == "Running"


PROVOKING = ("kubernetes.azure.com/ebpf-dataplane", {"operator": "NotIn", "values": ["azure"]})


def test_a_custom_label_that_a_pod_excludes_gets_a_number(walk):
    way = walk(nodeclass(), nodepool(SMALL), pod("p1", **requires(PROVOKING[0], "NotIn", "azure")))
    value = way.node["metadata"]["labels"][PROVOKING[0]]
    assert value.isdigit()


def snapshot(world: World) -> list[object]:
    return [
        *(entry.after for entry in world.journal),
        *(str(event) for event in world.events),
        *(str(line) for line in world.log),
        *((call.time, call.method, call.path, call.status) for call in world.calls()),
    ]


def test_the_same_seed_gives_the_same_world(walk):
    def run(seed: int) -> list[object]:
        return snapshot(walk(nodeclass(), nodepool(SMALL), pod("p1"), pod("p2", cpu="1500m"), seed=seed).world)

    assert run(3) == run(3)
    assert run(3) != run(4)


def test_worlds_that_share_caches_do_not_disturb_each_other(walk):
    calm = snapshot(walk(nodeclass(), nodepool(SMALL), pod("p1")).world)
    azure = {"faults": [{"what": "SkuNotAvailable", "times": 3}], "prices": {"Standard_D2_v3": 0.001}}
    walk(nodeclass(), nodepool(SMALL), pod("p1"), azure=azure)
    assert snapshot(walk(nodeclass(), nodepool(SMALL), pod("p1")).world) == calm


def test_nothing_that_was_stored_ever_changes(walk):
    world = World()
    copies: list[tuple[object, object]] = []
    world.cluster.view.subscribe(lambda change: copies.append((change.object, copy_json(change.object))))
    world.apply(nodeclass(), nodepool(SMALL), pod("p1"))
    world.settle()
    world.delete("NodeClaim", world.list("NodeClaim")[0]["metadata"]["name"])
    world.settle()
    assert len(copies) > 30
    assert all(stored == copied for stored, copied in copies)


def test_what_a_world_hands_out_is_the_callers(walk):
    way = walk(nodeclass(), nodepool(SMALL), pod("p1"))
    way.node["metadata"]["labels"]["mine"] = "x"
    assert "mine" not in way.node["metadata"]["labels"]


def test_apply_again_changes_what_the_file_says_and_keeps_the_rest(walk):
    way = walk(nodeclass(), nodepool(SMALL, labels={"a": "1", "b": "2"}), pod("p1"))
    assert way.world.apply(nodepool(SMALL, labels={"a": "1"})) == []
    (pool,) = way.world.list("NodePool")
    assert pool["spec"]["template"]["metadata"]["labels"] == {"a": "1"}
    assert pool["metadata"]["annotations"]["karpenter.sh/nodepool-hash"]
    assert pool["status"]["conditions"]


@pytest.mark.parametrize(
    ("release", "getting"),
    [("1.4.0", ""), ("1.6.5", "getting AKSNodeClass none: "), ("1.14.0", "getting AKSNodeClass none: ")],
)
def test_a_nodeclaim_without_its_aksnodeclass_is_told_so_and_goes(release: str, getting: str) -> None:
    """Kaz pkg/cloudprovider/cloudprovider.go (Create), in 1.6.5 with pkg/utils/nodeclaim (GetAKSNodeClass)."""
    world = World(karpenter=release)
    size = requirement("node.kubernetes.io/instance-type", "Standard_D2s_v5")
    world.apply(nodeclass(), nodeclaim(size, nodeclass="none"))
    world.advance(60)
    told = [(event.reason, event.message) for event in world.events]
    assert told[0] == ("NodeClassResolutionError", "Failed resolving NodeClass")
    assert told[1][0] == "InsufficientCapacityError"
    assert told[1][1].endswith(f'resolving node class, {getting}AKSNodeClass.karpenter.azure.com "none" not found')
    assert world.list("NodeClaim") == []


def test_an_aksnodeclass_that_goes_is_as_one_that_is_not_there() -> None:
    """Kaz pkg/utils/errors.go, NewTerminatingResourceError: the reason of that error is NotFound."""
    world = World()
    claim = nodeclaim(requirement("node.kubernetes.io/instance-type", "Standard_D2s_v5"), nodeclass="other")
    held = nodeclass("other")
    held["metadata"]["finalizers"] = ["example.com/held"]
    world.apply(held)
    world.settle()
    world.delete("AKSNodeClass", "other")
    world.apply(claim)
    world.advance(60)
    told = [(event.reason, event.message) for event in world.events if event.object.kind == "NodeClaim"]
    assert told[0] == ("NodeClassResolutionError", "Failed resolving NodeClass")
    assert told[1][0] == "InsufficientCapacityError"
    assert told[1][1].endswith(
        'class, aksnodeclasses.karpenter.azure.com "other" is terminating, treating as not found'
    )
