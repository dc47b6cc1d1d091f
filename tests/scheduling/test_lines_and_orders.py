"""In which order pods, nodes and topology groups stand, and what is read off that order."""

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from harness.karpenter.scheduling.context import _stand
from harness.karpenter.scheduling.topology.groups import TopologyGroups
from harness.karpenter.scheduling.topology.own_groups import in_order


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


def test_the_terms_of_a_pod_stay_when_something_else_is_dropped() -> None:
    terms = [{"matchExpressions": []}, {"matchExpressions": []}]
    known = SimpleNamespace(rest=lambda: "the second term")
    before = SimpleNamespace(alternatives=known, preferences=SimpleNamespace(required_nodes=terms))
    for left, expected in ((terms, known), (terms[1:], "the second term")):
        shape: Any = SimpleNamespace(alternatives=None, before=before, preferences=SimpleNamespace(required_nodes=left))
        groups: Any = None
        assert TopologyGroups._alternatives(groups, shape) == expected
