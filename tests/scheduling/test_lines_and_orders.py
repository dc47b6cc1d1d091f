"""In which order pods, nodes and topology groups stand, and what is read off that order."""

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from harness.karpenter.scheduling.ground import _stand
from harness.karpenter.scheduling.likeness.asking import Asking
from harness.karpenter.scheduling.likeness.line import Line
from harness.karpenter.scheduling.topology.groups import TopologyGroups
from harness.karpenter.scheduling.topology.own_groups import in_order


def place(name: str, fit: int = 7) -> Any:
    return (0, 0), name, fit, name


def asking(*names: str) -> Asking:
    def queued(one: Any) -> Any:
        shape = SimpleNamespace(
            fit=7, amounts=(("cpu", 2),), requirements=SimpleNamespace(items={}), plain=True, pod=one
        )
        return SimpleNamespace(pod=one, shape=shape, place=place(one["name"]))

    return Asking.of(queued, [{"name": name, "spec": {}, "status": {}} for name in names])


def test_a_line_of_equal_pods_is_of_their_symbol() -> None:
    assert Line([place("a"), place("b")]).is_of((7, False))
    assert not Line([place("a"), place("b", 8)]).is_of((7, False))
    assert Line([]).is_of((7, False))


def test_equal_neighbours_are_one_run() -> None:
    line = Line([place("a"), place("c")])
    assert line.runs(asking("b", "d"), alike=False) == (((7, False), 4),)


def test_of_two_nodes_of_one_name_that_with_a_nodeclaim_is_first() -> None:
    owned, free = (
        SimpleNamespace(deleting=False, initialized=True, name="n", nodeclaim=claim, provider_id=number)
        for claim, number in (({}, "2"), (None, "1"))
    )
    states: list[Any] = [free, owned]
    assert sorted(states, key=lambda each: _stand(each) or ()) == [owned, free]


@dataclass(eq=False)
class Group:
    sort_key: str
    filter: Any = field(default_factory=lambda: SimpleNamespace(alternatives=None))


def test_two_groups_are_put_in_order() -> None:
    first, second = Group("a"), Group("b")
    groups: list[Any] = [second, first, second]
    assert in_order(groups) == (first, second)


@pytest.mark.parametrize("more", [False, True])
def test_the_groups_that_select_a_pod_are_found_again_when_there_are_others(more: bool) -> None:
    first, second, third = Group("a"), Group("b"), Group("c")
    plain, inverse = [first], [third]
    finds: Any = SimpleNamespace(
        generation=1,
        _by_label=SimpleNamespace(selecting=lambda *who: tuple(plain)),
        _repelling=SimpleNamespace(selecting=lambda *who: tuple(inverse)),
    )
    shape: Any = SimpleNamespace(counted=None, identity=0, namespace="default", labels={})
    assert TopologyGroups.counted(finds, shape) == ((first,), (third,))
    plain.append(second)
    if more:
        inverse.append(second)
    assert TopologyGroups.counted(finds, shape) == ((first,), (third,)), "nothing is new"
    finds.generation = 2
    assert TopologyGroups.counted(finds, shape) == ((first, second), (second, third) if more else (third,))


def test_the_terms_of_a_pod_stay_when_something_else_is_dropped() -> None:
    terms = [{"matchExpressions": []}, {"matchExpressions": []}]
    known = SimpleNamespace(rest=lambda: "the second term")
    before = SimpleNamespace(alternatives=known, preferences=SimpleNamespace(required_nodes=terms))
    for left, expected in ((terms, known), (terms[1:], "the second term")):
        shape: Any = SimpleNamespace(alternatives=None, before=before, preferences=SimpleNamespace(required_nodes=left))
        groups: Any = None
        assert TopologyGroups._alternatives(groups, shape) == expected
