"""Which option is taken: the cases of the autoscaler's own tests (expander/*/*_test.go), and chance."""

from collections import Counter

import pytest

from harness.clusterautoscaler.expanders.choice import best_option, filtered
from harness.clusterautoscaler.expanders.options import Option
from harness.clusterautoscaler.expanders.priority import NO_MATCH, Priorities, by_priority, unmatched_text
from harness.engine.rng import Rng
from harness.kube.scheduling.placement import NodeInfo
from tests.clusterautoscaler.builders import a_group, a_node, a_pod, alike

CPU, MEMORY = 500, 1000 * 1024 * 1024
TEMPLATES = {
    "balanced": NodeInfo(a_node("balanced", 16 * CPU, 16 * MEMORY)),
    "highmem": NodeInfo(a_node("highmem", 16 * CPU, 32 * MEMORY)),
    "lowcpu": NodeInfo(a_node("lowcpu", 8 * CPU, 16 * MEMORY)),
}
POD = a_pod("pod", CPU, MEMORY)


def option(name: str, count: int = 1, pods: int = 1) -> Option:
    return Option(a_group(name), count, tuple(alike(pods, "pod", CPU, MEMORY)))


def names(options: object) -> list[str]:
    assert isinstance(options, list | tuple)
    return [candidate.group.id for candidate in options]


@pytest.mark.parametrize(
    ("groups", "left"),
    [
        (["balanced"], ["balanced"]),
        (["balanced", "highmem"], ["balanced"]),
        (["balanced", "highmem", "lowcpu"], ["lowcpu"]),
        (["highmem", "highmem"], ["highmem", "highmem"]),
        (["unknown"], []),
    ],
)
def test_least_waste(groups: list[str], left: list[str]) -> None:
    assert names(filtered("least-waste", [option(name) for name in groups], TEMPLATES)) == left


def test_most_pods() -> None:
    options = [option("a", pods=2), option("b", pods=3), option("c", count=9, pods=3)]

    assert names(filtered("most-pods", options, {})) == ["b", "c"]


PATTERNS = {5: [".*t2.micro.*"], 10: [".*t2.large.*", ".*t3.large.*"], 50: [".*m4.4xlarge.*"]}
T2_LARGE, T3_LARGE = option("my-asg.t2.large"), option("my-asg.t3.large")
T2_MICRO, M4 = option("my-asg.t2.micro"), option("my-asg.m4.4xlarge")


@pytest.mark.parametrize(
    ("patterns", "options", "left"),
    [
        (PATTERNS, [T2_LARGE], [T2_LARGE]),
        (PATTERNS, [T2_LARGE, M4], [M4]),
        ({5: [".*"], 10: [".t2.large."]}, [T2_LARGE, T2_MICRO], [T2_LARGE, T2_MICRO]),
        ({5: [".*"], 10: [".*t2.large.*"]}, [T2_LARGE, T2_MICRO], [T2_LARGE]),
        (PATTERNS, [T2_LARGE, T3_LARGE, T2_MICRO], [T2_LARGE, T3_LARGE]),
        ({5: [".*micro.*"]}, [T2_LARGE, T3_LARGE], [T2_LARGE, T3_LARGE]),
    ],
)
def test_priority(patterns: dict[int, list[str]], options: list[Option], left: list[Option]) -> None:
    assert by_priority(options, Priorities(patterns, lambda reason, text: None)) == left


def test_priority_warns_of_groups_that_it_does_not_name() -> None:
    warnings: list[tuple[str, str]] = []
    priorities = Priorities({10: [".*t2.large.*"]}, lambda reason, text: warnings.append((reason, text)))

    by_priority([T2_LARGE, M4], priorities)
    by_priority([M4], priorities)

    missing = ("PriorityConfigMapNotMatchedGroup", unmatched_text("my-asg.m4.4xlarge"))
    assert warnings == [missing, missing, ("PriorityConfigMapNoGroupMatched", NO_MATCH)]


def test_without_its_configmap_priority_leaves_all() -> None:
    assert by_priority([T2_LARGE, M4], None) == [T2_LARGE, M4]


@pytest.mark.parametrize("expander", ["random", "most-pods"])
def test_chance_takes_each_option_that_is_left_about_as_often(expander: str) -> None:
    options, draw = [option(name) for name in "abc"], Rng(1).stream("expander").randrange

    taken = Counter(best.group.id for _ in range(3000) if (best := best_option(expander, options, {}, draw)))

    assert sorted(taken) == ["a", "b", "c"]
    assert all(900 < count < 1100 for count in taken.values())


def test_chance_is_not_asked_where_one_option_is_left() -> None:
    def draw(count: int) -> int:
        raise AssertionError(count)

    assert best_option("random", [option("a")], {}, draw) == option("a")
    assert best_option("random", [], {}, draw) is None
