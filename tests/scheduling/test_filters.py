"""What keeps a pod from a node, in the order of kube-scheduler's plugins, and whether others could make room.

Sources: kubernetes pkg/scheduler/framework/plugins/{nodeunschedulable,nodename,tainttoleration,nodeaffinity,nodeports,noderesources}.
"""

from __future__ import annotations

from typing import Any

import pytest

from harness.kube.api.labels import UNSCHEDULABLE
from harness.kube.api.versions import KNOWN, Version
from harness.kube.scheduling.filters import Failure, Filters
from harness.kube.scheduling.placement import NodeInfo
from harness.kube.scheduling.pods import host_ports
from harness.kube.scheduling.preemption import Futile, Preemption
from harness.kube.scheduling.scheduler import Unschedulable, schedule, scores
from harness.kube.scheduling.standing import Standings
from harness.kube.scheduling.taints import same_taint, same_toleration, taint_text, tolerates, untolerated
from harness.kube.scheduling.volume_binding import PodVolumes
from harness.testing import node, pod, requirement

Object = dict[str, Any]
TAINT = {"key": "team", "value": "a", "effect": "NoSchedule"}
CLOSED = {"key": UNSCHEDULABLE, "operator": "Exists"}


def failure(asking: Object, there: Object, *pods: Object) -> Failure | None:
    return Filters.alone(asking).failure(NodeInfo(there, pods))


@pytest.mark.parametrize(
    ("of_pod", "of_node", "reasons"),
    [
        ({}, {}, None),
        ({}, {"unschedulable": True}, ("node(s) were unschedulable",)),
        ({}, {"unschedulable": False}, None),
        ({"tolerations": [CLOSED]}, {"unschedulable": True}, None),
        ({"tolerations": [{**CLOSED, "effect": "NoExecute"}]}, {"unschedulable": True}, ("node(s) were unschedulable",)),
        ({}, {"taints": [TAINT]}, ("node(s) had untolerated taint {team: a}",)),
        ({}, {"taints": [{**TAINT, "effect": "NoExecute"}]}, ("node(s) had untolerated taint {team: a}",)),
        ({}, {"taints": [{**TAINT, "effect": "PreferNoSchedule"}]}, None),
        ({}, {"taints": [{"key": "k", "effect": "NoSchedule"}, TAINT]}, ("node(s) had untolerated taint {k: }",)),
        ({"tolerations": [{"key": "team", "value": "a"}]}, {"taints": [TAINT]}, None),
        ({"tolerations": [{"key": "team", "value": "b"}]}, {"taints": [TAINT]}, ("node(s) had untolerated taint {team: a}",)),
        ({}, {"unschedulable": True, "taints": [TAINT]}, ("node(s) were unschedulable",)),
        ({"nodeSelector": {"a": "b"}}, {}, ("node(s) didn't match Pod's node affinity/selector",)),
        ({"nodeSelector": {"a": "b"}}, {"taints": [TAINT]}, ("node(s) had untolerated taint {team: a}",)),
    ],
)  # fmt: skip
def test_what_no_eviction_helps_against(of_pod: Object, of_node: Object, reasons: tuple[str, ...] | None) -> None:
    found = failure(pod(**of_pod), node("a", **of_node))
    assert found == (None if reasons is None else Failure("a", reasons, True))


def listening(**port: Any) -> Object:
    container = {"name": "c", "image": "i", "ports": [{"containerPort": 1}, {"hostPort": 80, **port}]}
    return pod("p", containers=[container], initContainers=[{**container, "ports": [{"hostPort": 81}]}])


@pytest.mark.parametrize(
    ("mine", "theirs", "free"),
    [
        ({}, {}, False),
        ({}, {"hostPort": 81}, True),
        ({}, {"protocol": "TCP"}, False),
        ({"protocol": "TCP"}, {"protocol": "UDP"}, True),
        ({"hostIP": "10.0.0.1"}, {"hostIP": "10.0.0.2"}, True),
        ({"hostIP": "10.0.0.1"}, {"hostIP": "10.0.0.1"}, False),
        ({"hostIP": "10.0.0.1"}, {}, False),
        ({}, {"hostIP": "10.0.0.1"}, False),
        ({"hostIP": "::"}, {"hostIP": "10.0.0.1"}, True),
        ({"hostIP": "fd00::1"}, {"hostIP": "fd00:0::1"}, True),  # texts are compared
        ({"hostPort": 0}, {"hostPort": 0}, True),
    ],
)
def test_host_ports(mine: Object, theirs: Object, free: bool) -> None:
    """k8s.io/kube-scheduler framework/types.go HostPortInfo."""
    found = failure(listening(**mine), node("a"), listening(**theirs))
    said = ("node(s) didn't have free ports for the requested pod ports",)
    assert found == (None if free else Failure("a", said, False))


@pytest.mark.parametrize(
    ("version", "known"), [("1.33.5", False), ("1.33.6", True), ("1.34.0", True), ("1.36.3", True)]
)
@pytest.mark.parametrize("sidecar", [True, False])
def test_ports_of_sidecars_are_known_since_1_33_6(version: str, known: bool, sidecar: bool) -> None:
    """kubernetes #132040, #133390; Karpenter does not look at them."""
    ports = [{"containerPort": 80, "hostPort": 80}]
    beside = {"name": "s", "image": "i", "ports": ports, **({"restartPolicy": "Always"} if sidecar else {})}
    with_sidecar, plain = pod("p", initContainers=[beside]), listening()
    for asking, there in ((with_sidecar, plain), (plain, with_sidecar), (with_sidecar, with_sidecar)):
        found = schedule(asking, [NodeInfo(node("a"), [there])], version=Version.parse(version))
        assert isinstance(found, Unschedulable) is (known and sidecar)
        standing = Standings().standing_for(
            "p", asking, infos := {"a": NodeInfo(node("a"), [there])}, Version.parse(version)
        )
        assert isinstance(standing.verdict(infos, min), Unschedulable) is (known and sidecar)
    low, high = (
        {**with_sidecar, "metadata": {"name": "low", "uid": "low"}},
        pod("high", priority=5, initContainers=[beside]),
    )
    found = schedule(high, [NodeInfo(node("a", pods="1"), [low])], version=Version.parse(version))
    assert isinstance(found, Unschedulable)
    assert isinstance(found.preemption, Preemption)
    promised = {**pod("promised", "", "", priority=5, initContainers=[beside]), "metadata": {"name": "x", "uid": "x"}}
    found = schedule(high, [NodeInfo(node("a"))], version=Version.parse(version), nominated={"a": [promised]})
    assert isinstance(found, Unschedulable) is (known and sidecar)
    assert host_ports(with_sidecar) == ()


@pytest.mark.parametrize(
    ("mine", "theirs", "conflict"),
    [
        ("::", "10.0.0.1", True),
        ("10.0.0.1", "::", True),
        ("fd00::1", "fd00:0::1", True),
        ("::ffff:10.0.0.1", "10.0.0.1", True),
        ("10.0.0.1", "10.0.0.2", False),
        ("10.0.0.300", "fe80::1%eth0", True),  # net.ParseIP reads neither: nil equals nil
        ("10.0.0.300", "10.0.0.1", False),
    ],
)
def test_addresses_as_karpenter_reads_them(mine: str, theirs: str, conflict: bool) -> None:
    """core pkg/scheduling/hostportusage.go."""
    (first,), (second,) = host_ports(listening(hostIP=mine)), host_ports(listening(hostIP=theirs))
    assert first.conflicts(second) is second.conflicts(first) is conflict


def test_volumes_that_are_elsewhere() -> None:
    terms = {"nodeSelectorTerms": [{"matchExpressions": [requirement("kubernetes.io/hostname", "b")]}]}
    volume = {"metadata": {"name": "v"}, "spec": {"nodeAffinity": {"required": terms}}}
    asking, here, there = pod(), NodeInfo(node("a")), NodeInfo(node("b"))
    filters = Filters.for_pod(asking, [here, there], PodVolumes(None, (volume,)))
    assert filters.failure(here) == Failure("a", ("node(s) didn't match PersistentVolume's node affinity",), True)
    assert filters.failure(there) is None


@pytest.mark.parametrize(
    ("cpu", "taken", "reasons", "helpless"),
    [
        ("2", ["2"], None, False),
        ("3", ["2"], ("Insufficient cpu",), False),
        ("4", ["2"], ("Insufficient cpu",), False),
        ("4001m", ["2"], ("Insufficient cpu",), True),  # more than the empty node has
        ("4001m", [], ("Insufficient cpu",), True),
        ("3", ["1", "1"], ("Too many pods", "Insufficient cpu"), False),
        ("1", ["1", "1"], ("Too many pods",), False),
    ],
)
def test_capacity_index(cpu: str, taken: list[str], reasons: tuple[str, ...] | None, helpless: bool) -> None:
    there = [pod(f"p{number}", amount, "") for number, amount in enumerate(taken)]
    found = failure(pod("asking", cpu, ""), node("a", "4", pods="2"), *there)
    assert found == (None if reasons is None else Failure("a", reasons, helpless))


@pytest.mark.parametrize(
    ("toleration", "covers"),
    [
        ({}, False),  # an empty key with Equal compares values
        ({"operator": "Exists"}, True),
        ({"key": "team", "operator": "Exists"}, True),
        ({"key": "other", "operator": "Exists"}, False),
        ({"operator": "Exists", "effect": "NoSchedule"}, True),
        ({"operator": "Exists", "effect": "NoExecute"}, False),
        ({"key": "team", "value": "a"}, True),
        ({"key": "team", "operator": "", "value": "a"}, True),
        ({"key": "team", "operator": "Equal", "value": "b"}, False),
        ({"value": "a"}, True),
        ({"key": "team", "operator": "In", "value": "a"}, False),
    ],
)
def test_a_toleration_covers_a_taint(toleration: Object, covers: bool) -> None:
    assert tolerates(toleration, TAINT) is covers
    other = {"key": "zone", "value": "a", "effect": "PreferNoSchedule"}
    left = untolerated([TAINT, other], [toleration])
    assert (TAINT in left) is not covers
    assert untolerated([TAINT, other], []) == (TAINT, other)


def test_taints_and_tolerations_that_are_the_same() -> None:
    assert same_taint(TAINT, {**TAINT, "value": "b"})
    assert same_taint({"key": "a"}, {"key": "a", "effect": ""})
    assert not same_taint(TAINT, {**TAINT, "key": "b"})
    assert not same_taint(TAINT, {**TAINT, "effect": "NoExecute"})
    full = {"key": "a", "effect": "NoExecute", "operator": "Equal", "value": "b"}
    assert same_toleration(full, {**full, "tolerationSeconds": 5})
    assert all(not same_toleration(full, {**full, field: "x"}) for field in full)
    assert same_toleration({"key": "a"}, {"key": "a", "operator": "", "value": None})


@pytest.mark.parametrize(
    ("taint", "text"),
    [
        (TAINT, "team=a:NoSchedule"),
        ({"key": "team", "effect": "NoExecute"}, "team:NoExecute"),
        ({"key": "team", "value": ""}, "team:"),
        ({}, ":"),
    ],
)
def test_taints_as_text(taint: Object, text: str) -> None:
    assert taint_text(taint) == text


def test_the_reasons_of_nodes_are_counted_and_sorted() -> None:
    """framework/types.go FitError.Error."""
    full = [NodeInfo(node(name, "1", pods="1"), [pod("p", "1", "")]) for name in "abc"]
    closed = NodeInfo(node("d", unschedulable=True))
    found = schedule(pod("asking", "1", ""), [*full, closed], version=Version(1, 33))
    assert isinstance(found, Unschedulable)
    assert found.message == (
        "0/4 nodes are available: 1 node(s) were unschedulable, 3 Insufficient cpu, 3 Too many pods. preemption: "
        "0/4 nodes are available: 1 Preemption is not helpful for scheduling, "
        "3 No preemption victims found for incoming pod."
    )
    assert schedule(pod(), [], version=KNOWN[0]).message == "no nodes available to schedule pods"  # type: ignore[union-attr]


def test_the_node_that_is_chosen() -> None:
    infos = [NodeInfo(node(name, "4", "16Gi")) for name in "bac"]
    assert schedule(pod(), infos) == "a"
    assert schedule(pod(), infos, choose=max) == "c"
    nominated = {**pod(), "status": {"nominatedNodeName": "b"}}
    assert schedule(nominated, infos) == "b"
    assert schedule({**pod(), "status": {"nominatedNodeName": "gone"}}, infos) == "a"
    picky = pod(nodeSelector={"kubernetes.io/hostname": "c"})
    assert schedule({**picky, "status": {"nominatedNodeName": "b"}}, infos) == "c"
    named: list[list[str]] = []

    def choose(names: Any) -> str:
        named.append(list(names))
        return str(names[-1])

    infos.append(NodeInfo(node("d", "4", "16Gi"), [pod("p", "2", "")]))
    assert schedule(pod(), infos, choose=choose) == "c"
    assert named == [["a", "b", "c"]]  # the best ones, by name


@pytest.mark.parametrize("version", [Version(1, 32), *KNOWN])
def test_scores_of_taints_and_of_preferred_nodes(version: Version) -> None:
    """TaintToleration weighs 3, NodeAffinity 2; the most is 100 (helper/normalize_score.go)."""
    soft = [{"key": key, "effect": "PreferNoSchedule"} for key in "xyz"]
    infos = [NodeInfo(node(name, taints=soft[:count])) for name, count in (("a", 0), ("b", 1), ("c", 3))]
    wish = [
        {"weight": 30, "preference": {"matchExpressions": [requirement("kubernetes.io/hostname", "b", "c")]}},
        {"weight": 10, "preference": {"matchExpressions": [requirement("kubernetes.io/hostname", "c")]}},
    ]
    affinity = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": wish}}
    asking = pod(tolerations=[{"key": "z", "operator": "Exists"}], affinity=affinity)
    found = scores(Filters.for_pod(asking, infos), infos, infos, version)
    assert {name: each.taints for name, each in found.items()} == {"a": 300, "b": 3 * 50, "c": 0}
    assert {name: each.affinity for name, each in found.items()} == {"a": 0, "b": 2 * 75, "c": 200}
    plain = scores(Filters.for_pod(pod(), infos), infos, infos[:2], version)
    assert {name: (each.taints, each.affinity) for name, each in plain.items()} == {"a": (300, 0), "b": (0, 0)}
    assert {name: each.taints for name, each in scores(Filters.for_pod(pod(), []), [], infos[:1], version).items()} == {
        "a": 300
    }
    assert all(each.total == each.taints + each.affinity + each.allocation for each in found.values())


VICTIM = {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}


@pytest.mark.parametrize(
    ("changes", "waits"),
    [
        ({}, True),
        ({"condition": {**VICTIM, "status": "False"}}, False),
        ({"condition": {**VICTIM, "reason": "EvictionByEvictionAPI"}}, False),
        ({"condition": {**VICTIM, "type": "Ready"}}, False),
        ({"deletionTimestamp": None}, False),
        ({"priority": 100}, False),
        ({"nominated": "b"}, False),
        ({"nominated": "gone"}, False),
        ({"taints": [TAINT]}, False),  # where the pod cannot run any more it looks for another node
    ],
)
def test_a_pod_waits_while_those_that_it_preempted_leave(changes: Object, waits: bool) -> None:
    """default_preemption.go PodEligibleToPreemptOthers."""
    going = pod("going", "4", "", priority=changes.get("priority", 0))
    going["metadata"]["deletionTimestamp"] = changes.get("deletionTimestamp", "2026-01-01T00:00:00Z")
    going["status"] = {"conditions": [changes.get("condition", VICTIM)]}
    infos = [
        NodeInfo(node("a", "4", taints=changes.get("taints", [])), [going]),
        NodeInfo(node("b", "4"), [pod("stays", "4", "", priority=100)]),
    ]
    asking = {**pod("asking", "4", "", priority=100), "status": {"nominatedNodeName": changes.get("nominated", "a")}}
    found = schedule(asking, infos)
    assert isinstance(found, Unschedulable)
    told = Futile("not eligible due to a terminating pod on the nominated node.")
    assert (found.preemption == told) is waits
    assert not isinstance(found.preemption, Futile) or found.preemption.keeps_nomination is waits
