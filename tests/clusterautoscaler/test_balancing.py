"""New nodes shared out between similar groups: the cases of the autoscaler's own tests (processors/nodegroupset/*_test.go)."""

import pytest

from harness.clusterautoscaler.nodegroups import NodeGroup, Resize
from harness.clusterautoscaler.scaleup.balancing import balanced
from harness.clusterautoscaler.scaleup.similarity import are_similar
from harness.kube.scheduling.placement import NodeInfo
from tests.clusterautoscaler.builders import a_node, a_pod

OPEN = {"ng1": (1, 10), "ng2": (3, 10), "ng3": (5, 10), "ng4": (5, 10)}
BOUNDED = {"ng1": (1, 1), "ng2": (1, 3), "ng3": (3, 10), "ng4": (5, 7), "ng5": (6, 3)}


@pytest.mark.parametrize(
    ("groups", "names", "count", "sizes"),
    [
        (OPEN, "ng1", 1, {"ng1": 2}),
        (OPEN, "ng1", 4, {"ng1": 5}),
        (OPEN, "ng1 ng2 ng3 ng4", 1, {"ng1": 2}),
        (OPEN, "ng1 ng2 ng3 ng4", 2, {"ng1": 3}),
        (OPEN, "ng1 ng2 ng3 ng4", 4, {"ng1": 4, "ng2": 4}),
        (OPEN, "ng1 ng2 ng3 ng4", 10, dict.fromkeys(OPEN, 6)),
        (BOUNDED, "ng1", 1, {}),
        (BOUNDED, "ng1 ng2", 1, {"ng2": 2}),
        (BOUNDED, "ng1 ng2", 5, {"ng2": 3}),
        (BOUNDED, "ng2 ng3", 4, {"ng2": 3, "ng3": 5}),
        (BOUNDED, "ng2 ng3 ng4", 9, {"ng2": 3, "ng3": 8, "ng4": 7}),
        (BOUNDED, "ng2 ng3 ng4", 900, {"ng2": 3, "ng3": 10, "ng4": 7}),
        (BOUNDED, "ng2 ng5", 1, {"ng2": 2}),
    ],
)
def test_the_smallest_group_grows(
    groups: dict[str, tuple[int, int]], names: str, count: int, sizes: dict[str, int]
) -> None:
    members = [NodeGroup(name, 1, groups[name][1], groups[name][0]) for name in names.split()]

    assert {resize.group.id: resize.size for resize in balanced(members, count)} == sizes


def test_a_remainder_goes_to_one_of_the_smallest() -> None:
    members = [NodeGroup(name, 1, most, target) for name, (target, most) in OPEN.items()]

    assert sorted(resize.size for resize in balanced(members, 5)) == [4, 5]


def test_the_words_for_a_group_that_grows() -> None:
    assert str(Resize(NodeGroup("ng1", 1, 10, 3), 5)) == "{ng1 3->5 (max: 10)}"


def an_info(**changes: object) -> NodeInfo:
    values: dict[str, object] = {"cpu": 1000, "memory": 2000, "labels": {"a": "b"}, **changes}
    return NodeInfo(a_node("node", **values))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "similar"),
    [
        pytest.param({}, True, id="equal"),
        pytest.param({"cpu": 1001}, False, id="other cpu"),
        pytest.param({"memory": 2010}, True, id="almost the same memory"),
        pytest.param({"memory": 2040}, False, id="other memory"),
        pytest.param({"zone": "eastus-1"}, True, id="another zone"),
        pytest.param({"labels": {"a": "c"}}, False, id="another label"),
        pytest.param({"labels": {"a": "b", "agentpool": "two"}}, True, id="another agent pool"),
        pytest.param({"labels": {"a": "b", "more": ""}}, False, id="a label more"),
        pytest.param({"example.com/fpga": "1"}, False, id="a resource more"),
    ],
)
def test_groups_are_similar_by_size_and_labels(changes: dict[str, object], similar: bool) -> None:
    assert are_similar(an_info(), an_info(**changes)) is similar


def test_nodes_of_one_agent_pool_are_similar_whatever_they_are() -> None:
    pool = {"kubernetes.azure.com/agentpool": "one"}

    assert are_similar(an_info(labels=pool), an_info(labels=pool, cpu=8000))
    assert not are_similar(an_info(labels={"agentpool": ""}), an_info(labels={"agentpool": ""}, cpu=8000))


def test_pods_that_take_their_part_make_groups_differ() -> None:
    agent = a_pod("agent", 100, 100)

    assert not are_similar(an_info(), NodeInfo(an_info().node, [agent]))
