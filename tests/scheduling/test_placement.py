"""Where pods go: NodePools, sizes, nodes that exist, DaemonSets, limits, and the sentences for those that go nowhere."""

from __future__ import annotations

from typing import Any

import pytest

from harness.karpenter.releases import provider
from harness.karpenter.scheduling import ClusterSnapshot, SchedulingOptions, solve
from tests.scheduling.workload import (
    CAPACITY,
    HOST,
    RELEASE,
    SIZES,
    TYPE,
    ZONE,
    affinity,
    daemonset,
    error,
    groups,
    need,
    node,
    nodepool,
    pod,
    run,
    size,
    spread,
)

BEST_EFFORT = SchedulingOptions(min_values_policy="BestEffort")


def test_pods_share_a_node_that_holds_them_all() -> None:
    results = run([pod("a", "1"), pod("b", "1"), pod("c", "1500m")])
    assert groups(results) == [["a", "b", "c"]]
    assert [each.name for each in results.nodeclaims[0].instance_types] == ["medium", "large"]
    assert results.nodeclaims[0].cheapest_price == 0.2


def test_largest_pods_first_and_least_loaded_nodes_first() -> None:
    results = run([pod("big", "7"), pod("mid", "5"), pod("a", "500m"), pod("b", "500m"), pod("c", "500m")])
    # both nodes have one pod when a comes, in order of creation; then mid's has fewer
    assert groups(results) == [["a", "big"], ["b", "c", "mid"]]


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"nodeSelector": {"foo": "bar"}}, 'incompatible requirements, label "foo" does not have known values'),
        (
            {"nodeSelector": {ZONE: "z9"}},
            "no instance type met the scheduling requirements or had enough resources or had a required offering, "
            f"requirements=karpenter.azure.com/aksnodeclass In [default], karpenter.sh/initialized In [true], "
            f"karpenter.sh/nodepool In [default], karpenter.sh/registered In [true], {ZONE} In [z9], "
            'resources={"cpu":"100m","pods":"1"}',
        ),
        ({"cpu": "9"}, "no instance type has enough resources, requirements=*"),
        ({"cpu": "2M"}, "*(CPU request >= 1 Million, m vs M typo?)"),
        ({"requests": {"nvidia.com/gpu": "1"}}, "no instance type has enough resources, requirements=*"),
        ({"resourceClaims": [{"name": "r"}]}, "pod has Dynamic Resource Allocation requirements*"),
    ],
)
def test_why_nothing_fits(fields: dict[str, Any], sentence: str) -> None:
    found = error(run([pod("a", **fields)]), "a")
    assert found is not None
    start, star, end = sentence.partition("*")
    assert found == sentence if not star else found.startswith(start) and found.endswith(end)


@pytest.mark.parametrize(
    ("types", "fields", "sentence"),
    [
        (
            (size("s", 2, extra={"k.io/x": "1"}),),
            {"nodeSelector": {ZONE: "z1"}, "cpu": "5"},
            "no instance type has enough",
        ),
        (
            (size("s", 2, zones=("z1",)), size("l", 8, zones=("z2",))),
            {"nodeSelector": {ZONE: "z1"}, "cpu": "5"},
            "no instance type has enough resources",
        ),
        (
            (size("s", 2), size("l", 8)),
            {"nodeSelector": {TYPE: "s"}, "cpu": "5"},
            "no instance type which had enough resources and the required offering met the scheduling requirements",
        ),
    ],
)
def test_which_sentence(types: Any, fields: dict[str, Any], sentence: str) -> None:
    assert (error(run([pod("a", **fields)], types=types), "a") or "").startswith(sentence)


@pytest.mark.parametrize(
    ("release", "sentence"),
    [
        (
            "1.13.1",
            "no instance type which met the scheduling requirements and the required offering had the required resources, ",
        ),
        ("1.14.0", "no instance type has enough resources, "),
    ],
)
def test_a_size_with_room_that_is_not_sold_so_counts_before_core_1_14(release: str, sentence: str) -> None:
    """Core ``scheduling/nodeclaim.go`` InstanceTypeFilterError."""
    types = (size("s", 2, zones=("z1",)), size("l", 8, zones=("z2",)))
    asks = pod("a", "5", nodeSelector={ZONE: "z1", TYPE: "s"})
    results = solve(ClusterSnapshot([nodepool()], [asks]), {"default": types}, release=provider(release))
    assert (error(results, "a") or "").startswith(sentence)


def test_taints_name_each_one_that_is_not_tolerated() -> None:
    taints = [
        {"key": "a", "value": "1", "effect": "NoSchedule"},
        {"key": "b", "effect": "NoExecute"},
        {"key": "c", "effect": "NoSchedule"},
    ]
    results = run([pod("x", tolerations=[{"key": "c", "operator": "Exists"}])], [nodepool(taints=taints)])
    assert (
        error(results, "x")
        == "did not tolerate taint (taint=a=1:NoSchedule); did not tolerate taint (taint=b:NoExecute)"
    )


def test_preferences_against_a_nodepool_give_way() -> None:
    soft = nodepool(taints=[{"key": "soft", "effect": "PreferNoSchedule"}])
    assert groups(run([pod("a")], [soft])) == [["a"]]


def test_weight_then_name_orders_nodepools() -> None:
    pools = [nodepool("a"), nodepool("b"), nodepool("heavy", weight=5, requirements=[need(ZONE, "In", "z2")])]
    results = run([pod("p", nodeSelector={ZONE: "z2"}), pod("q", nodeSelector={ZONE: "z1"})], pools)
    assert {claim.nodepool for claim in results.nodeclaims} == {"heavy", "b"}


@pytest.mark.parametrize(
    "pool",
    [
        nodepool(ready=False),
        nodepool(replicas=3),
        nodepool(nodeClassRef={"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "x"}),
    ],
)
def test_nodepools_that_do_not_count(pool: dict[str, Any]) -> None:
    results = run([pod("a")], [pool])
    assert (results.nodeclaims, results.errors, results.no_nodepools) == ((), {}, True)


def test_a_nodepool_without_sizes_is_announced() -> None:
    results = run([pod("a")], [nodepool(requirements=[need(TYPE, "In", "huge")])])
    assert error(results, "a") == "nodepool requirements filtered out all available instance types"
    assert [(event.reason, event.object) for event in results.events] == [("NoCompatibleInstanceTypes", "default")]


def test_limits_leave_out_sizes_that_exceed_them() -> None:
    claim = run([pod("a")], [nodepool(limits={"cpu": "4"})]).nodeclaims[0]
    assert [each.name for each in claim.instance_types] == ["small", "medium"]


@pytest.mark.parametrize(
    ("limits", "sentence"),
    [
        ({"cpu": "6"}, "all available instance types exceed limits for nodepool (NodePool=default)"),
        ({"nodes": "1"}, "node limits have been exhausted for nodepool (NodePool=default)"),
    ],
)
def test_limits_count_nodes_that_exist(limits: dict[str, str], sentence: str) -> None:
    made, claim = node("n", "0")
    made["status"]["capacity"] = {"cpu": "6"}
    assert error(run([pod("a")], [nodepool(limits=limits)], nodes=[[made, claim]]), "a") == sentence


def test_limits_count_the_largest_size_that_a_nodeclaim_may_become() -> None:
    results = run(
        [pod("a", "3"), pod("b", "3"), pod("c", "3", nodeSelector={TYPE: "medium"})], [nodepool(limits={"cpu": "9"})]
    )
    assert groups(results) == [["a", "b"]]
    assert error(results, "c") == "all available instance types exceed limits for nodepool (NodePool=default)"


def test_existing_nodes_come_first_and_hold_what_is_left() -> None:
    running = pod("old", "2", on="n1")
    results = run([running, pod("a", "1500m"), pod("b", "1")], nodes=[node("n1"), node("n0", "1")])
    assert {name: [p["metadata"]["name"] for p in pods] for name, pods in results.existing.items()} == {
        "n1": ["a"],
        "n0": ["b"],
    }
    assert results.nodeclaims == ()


def test_nodes_that_go_away_give_their_pods_back() -> None:
    going = node("n1")
    going[1]["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    owned = pod("daemon", on="n1", owner={"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "d"})
    results = run([pod("moved", on="n1"), owned], nodes=[going])
    assert groups(results) == [["moved"]]
    assert results.existing == {}
    marked = run([pod("moved", on="n1")], nodes=[node("n1")], deleting=frozenset({"n1"}))
    assert groups(marked) == [["moved"]]
    blocking = {
        "metadata": {"name": "b", "namespace": "default"},
        "spec": {"selector": {"matchLabels": {}}, "maxUnavailable": 0},
    }
    kept = run([pod("moved", on="n1")], nodes=[going], pdbs=[blocking])
    assert kept.nodeclaims == ()


def test_a_nodeclaim_without_node_takes_pods_under_its_own_name() -> None:
    _, claim = node("n1")
    snapshot = ClusterSnapshot([nodepool()], [pod("a")], nodeclaims=[claim])
    results = solve(snapshot, {"default": SIZES}, release=RELEASE)
    assert list(results.existing) == ["claim-n1"]


def test_startup_and_ephemeral_taints_do_not_count_until_initialized() -> None:
    made, claim = node("n1", taints=[{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}])
    del made["metadata"]["labels"]["karpenter.sh/initialized"]
    assert list(run([pod("a")], nodes=[[made, claim]]).existing) == ["n1"]
    made["metadata"]["labels"]["karpenter.sh/initialized"] = "true"
    assert run([pod("a")], nodes=[[made, claim]]).existing == {}


def test_daemonsets_take_room_on_the_sizes_they_run_on() -> None:
    on_medium = daemonset("d", "2", nodeSelector={TYPE: "medium"})
    results = run([pod("a", "3")], daemonsets=[daemonset("all", "500m"), on_medium])
    claim = results.nodeclaims[0]
    assert [each.name for each in claim.instance_types] == ["large"]
    assert {name: str(q) for name, q in claim.requests.items()} == {"cpu": "3500m", "pods": "2"}
    failed = error(run([pod("a", "8")], daemonsets=[daemonset("all", "500m"), on_medium]), "a") or ""
    assert 'resources=min={"cpu":"8500m","pods":"2"}, max={"cpu":"10500m","pods":"3"}' in failed


def test_a_daemonset_of_one_size_takes_room_there_from_every_pod_that_joins() -> None:
    on_medium = daemonset("d", "2", nodeSelector={TYPE: "medium"})
    (claim,) = run([pod("a", "1"), pod("b", "1")], daemonsets=[on_medium]).nodeclaims
    assert [each.name for each in claim.instance_types] == ["large"]


def test_daemonset_overhead_remains_to_come_on_existing_nodes() -> None:
    results = run([pod("a", "3500m")], nodes=[node("n1")], daemonsets=[daemonset("d", "1")])
    assert results.existing == {}
    running = pod("d-1", "1", on="n1", owner={"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "d", "uid": "d"})
    with_daemon = run([running, pod("a", "3")], nodes=[node("n1")], daemonsets=[daemonset("d", "1")])
    assert list(with_daemon.existing) == ["n1"]


TAINTED: dict[str, Any] = {"taints": [{"key": "own", "effect": "NoSchedule"}]}


@pytest.mark.parametrize(
    ("nodes", "daemons", "fits"),
    [
        (TAINTED, {}, True),
        (TAINTED, {"tolerations": [{"operator": "Exists"}]}, False),
        ({}, {"nodeSelector": {TYPE: "elsewhere"}}, True),
    ],
)
def test_a_daemonset_takes_no_room_of_nodes_that_it_does_not_run_on(
    nodes: dict[str, Any], daemons: dict[str, Any], fits: bool
) -> None:
    """Core pkg/controllers/provisioning/scheduling/existingnode.go by way of isDaemonPodCompatible."""
    asking = pod("a", "3500m", tolerations=[{"key": "own", "operator": "Exists"}])
    results = run([asking], nodes=[node("n1", **nodes)], daemonsets=[daemonset("d", "1", **daemons)])
    assert list(results.existing) == (["n1"] if fits else [])


PORT = [{"containerPort": 80, "hostPort": 80, "protocol": "TCP"}]


def test_host_ports_keep_pods_apart() -> None:
    results = run([pod("a", ports=PORT), pod("b", ports=PORT), pod("c")])
    assert sorted(map(len, groups(results))) == [1, 2]
    taken = run([pod("a", ports=PORT)], daemonsets=[daemonset("d", "1", ports=PORT)])
    assert (error(taken, "a") or "").startswith(
        "no instance type met the scheduling requirements or had enough resources"
    )


@pytest.mark.parametrize(
    ("options", "names", "relaxed"),
    [(SchedulingOptions(), None, None), (BEST_EFFORT, ["large"], "true")],
)
def test_min_values(options: SchedulingOptions, names: list[str] | None, relaxed: str | None) -> None:
    pool = nodepool(requirements=[need(TYPE, "Exists", minValues=2)])
    results = run([pod("a", "5")], [pool], options=options)
    if names is None:
        text = error(results, "a") or ""
        assert text.startswith(f"minValues requirement is not met for label(s) (label(s)=[{TYPE}]), requirements=")
    else:
        claim = results.nodeclaims[0]
        assert [each.name for each in claim.instance_types] == names
        created = claim.to_nodeclaim()
        assert created["metadata"]["annotations"]["karpenter.sh/nodeclaim-min-values-relaxed"] == relaxed
        assert claim.requirements.get(TYPE).min_values == 1


def test_too_many_sizes_are_cut_to_the_cheapest() -> None:
    types = tuple(size(f"s{number:03}", 2, price=1 + (number * 7) % 650) for number in range(650))
    claim = run([pod("a")], types=types).nodeclaims[0]
    assert len(claim.instance_types) == 600
    assert {each.name for each in types} - {each.name for each in claim.instance_types} == {
        each.name for each in types if each.offerings[0].price > 600
    }


@pytest.mark.parametrize(("options", "made"), [(SchedulingOptions(), 0), (BEST_EFFORT, 1)])
def test_a_nodeclaim_names_fewer_sizes_than_its_min_values_only_where_these_are_relaxed(
    options: SchedulingOptions, made: int
) -> None:
    """Core ``pkg/cloudprovider/types.go`` Truncate."""
    types = tuple(size(f"s{number:03}", 2) for number in range(603))
    pool = nodepool(requirements=[need(TYPE, "Exists", minValues=602)])
    results = run([pod("a")], [pool], types=types, options=options)
    assert [len(each.instance_types) for each in results.nodeclaims] == [600] * made
    assert len(results.errors) == 1 - made


@pytest.mark.parametrize(("memory", "together"), [("32Gi", True), ("34359738368.000000001", False)])
def test_a_pod_joins_a_node_that_it_fills(memory: str, together: bool) -> None:
    """The large size has 32Gi, of which the first pod asks for nothing."""
    results = run([pod("a", "1"), pod("b", requests={"memory": memory})])
    assert groups(results) == ([["a", "b"]] if together else [["a"]])


def test_a_pod_that_looks_at_others_has_a_reason_of_its_own() -> None:
    results = run([pod("a", "64"), pod("b", "64", **affinity("podAffinity", ZONE, "nobody"))])
    assert (error(results, "a") or "").startswith("no instance type has enough resources, ")
    assert (error(results, "b") or "").startswith("unsatisfiable topology constraint for pod affinity, ")


def test_the_reason_is_about_the_sizes_that_the_limits_leave_now() -> None:
    """The large size has room, until another pod takes what the limits leave."""
    results = run([pod("a", "5", nodeSelector={TYPE: "small"}), pod("b", "4")], [nodepool(limits={"cpu": "10"})])
    assert groups(results) == [["b"]]
    assert (error(results, "a") or "").startswith("no instance type has enough resources, ")
    alone = run([pod("a", "5", nodeSelector={TYPE: "small"})], [nodepool(limits={"cpu": "10"})])
    assert (error(alone, "a") or "").startswith("no instance type which had enough resources and ")


@pytest.mark.parametrize(
    ("release", "runs", "fits"),
    [("1.13.1", False, True), ("1.13.1", True, False), ("1.14.0", False, False), ("1.14.0", True, False)],
)
def test_ports_of_all_daemonsets_count_but_for_pods_without_a_name_before_core_1_14(
    release: str, runs: bool, fits: bool
) -> None:
    """Core ``scheduling/scheduler.go`` getDaemonHostPortUsage, ``pkg/scheduling/hostportusage.go``: usage is kept by the pod's name."""
    ports = [[{"containerPort": port, "hostPort": port, "protocol": "TCP"}] for port in (80, 81)]
    daemons = [daemonset(f"d{at}", "100m", ports=each) for at, each in enumerate(ports)]
    owner = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "d0", "uid": "d0"}
    running = pod("d0-x", on="n0", owner=owner, ports=ports[0])
    running["metadata"]["namespace"] = "kube-system"
    machine, claim = node("n0", "0")
    pods = [pod("a", ports=ports[0]), *([running] if runs else [])]
    snapshot = ClusterSnapshot([nodepool()], pods, [machine], [claim], daemonsets=daemons)
    results = solve(snapshot, {"default": SIZES}, release=provider(release))
    assert (results.errors == {}) is fits


def test_a_pod_that_looks_at_others_goes_to_the_node_of_one_that_is_not_among_them_in_core_1_4() -> None:
    """Core 1.4 ``scheduling/nodeclaim.go`` NewNodeClaim registers a host, and Destroy undoes it where no pod fits."""
    looks = pod("looks", topologySpreadConstraints=[spread(HOST, "web")])
    snapshot = ClusterSnapshot([nodepool()], [pod("first", "1"), looks])
    assert groups(solve(snapshot, {"default": SIZES}, release=provider("1.4.0"))) == [["first", "looks"]]


def test_offerings_that_are_gone() -> None:
    gone = [(zone, kind) for zone in ("z1", "z2", "z3") for kind in ("on-demand", "spot")]
    types = (size("small", 2, unavailable=gone[:-1]), size("medium", 4, unavailable=gone))
    claim = run([pod("a")], types=types).nodeclaims[0]
    assert [each.name for each in claim.instance_types] == ["small"]
    named = {r["key"]: r.get("values") for r in claim.to_nodeclaim()["spec"]["requirements"]}
    assert named[CAPACITY] == ["spot"]


def test_the_nodeclaim_to_create() -> None:
    pool = nodepool(
        labels={"team": "red"},
        annotations={"note": "x"},
        requirements=[need("tier", "In", "b", "a"), need("bound", "Gt", "3")],
        startupTaints=[{"key": "starting", "effect": "NoSchedule"}],
    )
    created = run([pod("a", nodeSelector={ZONE: "z2"})], [pool]).nodeclaims[0].to_nodeclaim()
    metadata, spec = created["metadata"], created["spec"]
    assert metadata["generateName"] == "default-"
    assert metadata["labels"] == {
        "team": "red",
        "tier": "a",
        "bound": "4",
        "karpenter.sh/nodepool": "default",
        "karpenter.azure.com/aksnodeclass": "default",
    }
    assert metadata["annotations"].items() >= {"note": "x", "karpenter.sh/nodepool-hash-version": "v3"}.items()
    assert metadata["ownerReferences"][0]["uid"] == "uid-default"
    assert spec["resources"]["requests"] == {"cpu": "100m", "pods": "1"}
    assert spec["expireAfter"] == "Never"
    assert spec["startupTaints"] == [{"key": "starting", "effect": "NoSchedule"}]
    requirements = {r["key"]: r for r in spec["requirements"]}
    assert requirements[ZONE]["values"] == ["z2"]
    assert requirements[TYPE]["values"] == ["large", "medium", "small"]
    assert not {"karpenter.sh/registered", "karpenter.sh/initialized", HOST} & requirements.keys()


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        (
            {"nodeSelector": {"karpenter.sh/custom": "x"}},
            "using label karpenter.sh/custom is not allowed as it might interfere*",
        ),
        ({"nodeSelector": {HOST: "x"}}, f"using label {HOST} is not allowed*"),
        (
            {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "gone"}}]},
            "getting persistent volume claim, *",
        ),
    ],
)
def test_pods_that_karpenter_ignores(fields: dict[str, Any], sentence: str) -> None:
    results = run([pod("a", **fields)])
    assert results.errors == {}
    assert results.ignored["default/a"].startswith(sentence.rstrip("*"))


@pytest.mark.parametrize(
    "change",
    [
        {"status": {"conditions": []}},
        {"status": {"nominatedNodeName": "n", "conditions": [{"type": "PodScheduled", "reason": "Unschedulable"}]}},
    ],
)
def test_pods_that_are_not_karpenters(change: dict[str, Any]) -> None:
    results = run([{**pod("a"), **change}])
    assert (results.nodeclaims, results.errors, results.ignored) == ((), {}, {})


def test_an_impossible_pod_ends_with_a_sentence() -> None:
    terms = [{"matchExpressions": [need(ZONE, "In", f"x{number}")]} for number in range(300)]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    results = run([pod("a", affinity={"nodeAffinity": required})])
    assert f"{ZONE} In [x299]" in (error(results, "a") or "")
