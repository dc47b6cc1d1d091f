"""Which pods kube-scheduler makes leave for a pod of higher priority, on which node.

Sources: kubernetes pkg/scheduler/framework/preemption/preemption.go (pickOneNodeForPreemption),
pkg/scheduler/framework/plugins/defaultpreemption/default_preemption.go (SelectVictimsOnNode, filterPodsWithPDBViolation).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from harness.kube.api.labels import HOSTNAME
from harness.kube.scheduling.placement import NodeInfo
from harness.kube.scheduling.preemption import Futile, Preemption
from harness.kube.scheduling.scheduler import Unschedulable, schedule
from harness.testing import node, pod

Object = dict[str, Any]


def low(name: str, cpu: str = "1", *, hour: int | None = None, **fields: Any) -> Object:
    """A pod that runs; `hour` is when it started."""
    made = pod(name, cpu, "", **{"labels": {"app": "low"}, **fields})
    made["metadata"]["uid"] = name
    started = {} if hour is None else {"startTime": f"2026-01-01T{hour:02}:00:00Z"}
    return {**made, "status": {"phase": "Running", **started}}


def high(cpu: str = "1", **fields: Any) -> Object:
    return pod("high", cpu, "", **{"priority": 100, **fields})


def budget(allowed: int | None, app: str = "low", **fields: Any) -> Object:
    status = {} if allowed is None else {"disruptionsAllowed": allowed}
    metadata = {"name": app, "namespace": "default", **fields.pop("metadata", {})}
    spec = {"selector": {"matchLabels": {"app": app}}, **fields.pop("spec", {})}
    return {"metadata": metadata, "spec": spec, "status": {**status, **fields}}


def preempted(
    asking: Object, nodes: Sequence[NodeInfo], budgets: Sequence[Object] = (), **more: Any
) -> tuple[str, list[str]] | None:
    """The node that is chosen, and who has to leave it; None where nobody does."""
    found = schedule(asking, nodes, budgets=budgets, **more)
    assert isinstance(found, Unschedulable)
    if not isinstance(found.preemption, Preemption):
        return None
    return found.preemption.node, [each["metadata"]["name"] for each in found.preemption.victims]


def info(name: str, *pods: Mapping[str, Any], cpu: str = "2", **fields: Any) -> NodeInfo:
    return NodeInfo(node(name, cpu, **fields), pods)


@pytest.mark.parametrize(("priority", "fits"), [(None, True), (0, True), (1, False), (-1, True)])
def test_a_pod_without_priority_has_none(priority: int | None, fits: bool) -> None:
    """component-helpers scheduling/corev1/helpers.go PodPriority: 0 where nothing is said."""
    there = low("there", "2") if priority is None else low("there", "2", priority=priority)
    wanted = ("a", ["there"]) if fits else None
    assert preempted(high(priority=1), [info("a", there)]) == wanted
    assert preempted(pod("unsaid", "1", ""), [info("a", low("there", "2"))]) is None


@pytest.mark.parametrize(
    ("allowed", "victims"),
    [
        (None, ["bare"]),
        (0, ["bare"]),
        (1, ["first"]),  # the most important pod is asked first, and breaks nothing
        (2, ["second"]),
    ],
)
def test_a_budget_keeps_its_pods_where_others_can_go(allowed: int | None, victims: list[str]) -> None:
    """The pods whose leaving would break a budget are the first that may stay, the most important of them in front."""
    there = [low("first", hour=1), low("second", hour=2), low("bare", labels={"app": "other"}, hour=0)]
    assert preempted(high(), [info("a", *there, cpu="3")], [budget(allowed)]) == ("a", victims)


@pytest.mark.parametrize(
    ("other", "victims"),
    [
        (budget(0), ["bare"]),
        (budget(0, metadata={"namespace": "elsewhere"}), ["second"]),
        (budget(0, spec={"selector": {}}), ["second"]),  # one without conditions selects nothing
        (budget(0, spec={"selector": None}), ["second"]),
        (budget(0, app="other"), ["second"]),  # its pod has leave to stay like those of the others
        (budget(0, disruptedPods={"first": "2026-01-01T00:00:00Z", "second": "2026-01-01T00:00:00Z"}), ["second"]),
        (budget(0, disruptedPods={"first": "2026-01-01T00:00:00Z"}), ["first"]),
    ],
    ids=["its-own", "of-another-namespace", "empty", "none", "of-others", "all-are-going", "one-is-going"],
)
def test_which_pods_a_budget_is_about(other: Object, victims: list[str]) -> None:
    there = [low("first", hour=1), low("second", hour=2), low("bare", labels={"app": "other"}, hour=0)]
    assert preempted(high(), [info("a", *there, cpu="3")], [other]) == ("a", victims)


def test_a_budget_selects_no_pods_without_labels() -> None:
    expression = {"matchExpressions": [{"key": "app", "operator": "DoesNotExist"}]}
    there = [low("older", hour=1, labels={}), low("younger", hour=2, labels={"tier": "x"})]
    assert preempted(high(), [info("a", *there)], [budget(0, spec={"selector": expression})]) == ("a", ["older"])


def test_a_pod_is_kept_when_one_of_several_budgets_is_used_up() -> None:
    there = [low("first", hour=1), low("second", hour=2), low("bare", labels={"app": "other"}, hour=0)]
    for budgets in ([budget(0), budget(9)], [budget(9), budget(0)]):
        assert preempted(high(), [info("a", *there, cpu="3")], budgets) == ("a", ["bare"])


def test_each_budget_is_counted_by_itself() -> None:
    there = [low("x", hour=1, labels={"app": "x"}), low("y", hour=2, labels={"app": "y"})]
    budgets = [budget(1, "x"), budget(1, "y")]
    assert preempted(high("2"), [info("a", *there), info("b", low("z", "2", hour=0))], budgets) == ("b", ["z"])
    assert preempted(high("2"), [info("a", *there), info("b", low("z", "2", priority=1))], budgets) == ("a", ["x", "y"])


LEAST = -(2**31)

NODES: list[tuple[str, list[Object], list[Object], str]] = [
    ("the highest priority", [low("x", "1", priority=5), low("y")], [low("z", "2", priority=6)], "a"),
    ("the sum", [low("x", priority=5), low("y", priority=2)], [low("z", priority=5), low("u", priority=1)], "b"),
    ("one of less than nothing", [low("x", "2", priority=5)], [low("y", priority=5), low("z", priority=-5)], "a"),
    ("the number", [low("x", "2", priority=5)], [low("y", priority=5), low("z", priority=LEAST)], "a"),
    (
        "many of the least",
        [low("x", priority=5), low("y", priority=5)],
        [low("z", priority=5), *(low(name, "300m", priority=LEAST) for name in "tuv")],
        "b",
    ),
    ("the latest start", [low("x", "2", hour=1)], [low("y", "2", hour=2)], "b"),
    ("not started", [low("x", "2")], [low("y", "2", hour=2)], "a"),
    (
        "the start of the most important",
        [low("x", hour=9, priority=1), low("y", hour=1)],
        [low("z", hour=8, priority=1), low("u", hour=2)],
        "a",
    ),
    ("the earliest of equals", [low("x", hour=9), low("y", hour=1)], [low("z", hour=8), low("u", hour=2)], "b"),
]


@pytest.mark.parametrize(("here", "there", "chosen"), [row[1:] for row in NODES], ids=[row[0] for row in NODES])
@pytest.mark.parametrize("turned", [False, True])
def test_the_node_where_least_is_lost(here: list[Object], there: list[Object], chosen: str, turned: bool) -> None:
    nodes = [info("a", *here), info("b", *there)]
    found = preempted(high("2"), nodes[::-1] if turned else nodes)
    assert found is not None
    assert found[0] == chosen


@pytest.mark.parametrize(("allowed", "chosen"), [(0, "b"), (1, "c"), (2, "a")])
def test_above_all_the_fewest_budgets_are_broken(allowed: int, chosen: str) -> None:
    two = [low("x", hour=1), low("y", hour=2)]
    more = [low("z", hour=1, priority=2), low("u", priority=2, labels={"app": "other"})]
    nodes = [info("a", *two), info("b", low("v", "2", priority=3, labels={"app": "other"})), info("c", *more)]
    assert preempted(high("2"), nodes, [budget(allowed)]) == (
        chosen,
        {"a": ["x", "y"], "b": ["v"], "c": ["z", "u"]}[chosen],
    )


AWAY = [{"key": "away", "effect": "NoSchedule"}]


def spread(name: str, **fields: Any) -> Object:
    """A pod of which no node has more than one more than another; it is important, so that nobody preempts it."""
    selector = {"matchLabels": {"app": "spread"}}
    constraint = {
        "topologyKey": HOSTNAME,
        "maxSkew": 1,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": selector,
    }
    made = pod(name, "1", "", priority=100, labels={"app": "spread"}, topologySpreadConstraints=[constraint], **fields)
    made["metadata"]["uid"] = name
    return made


def around(count: int, others: Sequence[int], index: int, *pods: Object) -> list[NodeInfo]:
    """A node `a` with so many pods that are spread, in its place among others that are closed, but count."""
    nodes = [
        info(f"b{number}", *(spread(f"b{number}-{each}") for each in range(many)), cpu="9", taints=AWAY)
        for number, many in enumerate(others)
    ]
    nodes.insert(index, info("a", *(spread(f"a-{each}") for each in range(count)), *pods, cpu="3"))
    return nodes


OTHERS = [((1, 1, 1), True), ((2, 1, 2), True), ((0, 1, 1), False), ((1, 0, 1), False), ((1, 1, 0), False)]


@pytest.mark.parametrize("index", range(4))
@pytest.mark.parametrize(("others", "fits"), OTHERS)
def test_pods_of_all_other_nodes_count_where_some_have_to_leave(
    others: tuple[int, ...], fits: bool, index: int
) -> None:
    nodes = around(1, others, index, low("x"), low("y"))
    assert preempted(spread("asking"), nodes) == (("a", ["y"]) if fits else None)
    beside = {"a": [high(labels={"app": "other"})]}
    assert preempted(spread("asking"), nodes, nominated=beside) == (("a", ["x", "y"]) if fits else None)


@pytest.mark.parametrize("index", range(4))
@pytest.mark.parametrize(("others", "fits"), OTHERS)
def test_pods_of_all_other_nodes_count_beside_a_nominated_pod(others: tuple[int, ...], fits: bool, index: int) -> None:
    found = schedule(spread("asking"), around(0, others, index), nominated={"a": [spread("first")]})
    assert (found == "a") is fits


@pytest.mark.parametrize(
    ("promised", "fits"),
    [
        (high("1"), False),
        (high("1", priority=101), False),
        (high("1", priority=99), True),  # it would have to leave again
        (pod("asking", "1", "", priority=100), True),  # the pod itself
    ],
    ids=["equal", "higher", "lower", "itself"],
)
def test_room_is_kept_for_nominated_pods_of_no_lower_priority(promised: Object, fits: bool) -> None:
    """pkg/scheduler/framework/runtime/framework.go addNominatedPods."""
    promised["metadata"]["uid"] = promised["metadata"]["name"]
    asking = pod("asking", "1", "", priority=100)
    asking["metadata"]["uid"] = "asking"
    found = schedule(asking, [info("a", low("there"))], nominated={"a": [promised]})
    assert (found == "a") is fits


def test_what_is_missing_is_told_as_if_nominated_pods_were_there() -> None:
    """pkg/scheduler/framework/runtime/framework.go RunFilterPluginsWithNominatedPods: without them only where it fits with them."""
    first = high("2")
    first["metadata"]["uid"] = "first"
    asking = pod("asking", "1", "17Gi", priority=100)
    found = schedule(asking, [info("a")], nominated={"a": [first]})
    assert isinstance(found, Unschedulable)
    assert found.failures[0].reasons == ("Insufficient cpu", "Insufficient memory")
    there = [low("x", "500m"), low("y", "500m")]
    large = pod("large", "1", "16Gi", priority=100)
    for each in there:
        each["spec"]["containers"][0]["resources"]["requests"]["memory"] = "1Gi"
    kept = pod("kept", "0", "1Gi", priority=100)
    found = schedule(large, [info("a", *there, kept)], nominated={"a": [first]})
    assert isinstance(found, Unschedulable)
    assert found.preemption == Futile(reasons=(("Insufficient cpu", "Insufficient memory"),))
