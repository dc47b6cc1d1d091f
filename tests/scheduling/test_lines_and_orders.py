"""In which order pods, nodes and topology groups stand, and what is read off that order."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import combinations, groupby
from random import Random
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


def asking(*names: str, fits: Mapping[str, int] | None = None) -> Asking:
    def queued(one: Any) -> Any:
        fit = (fits or {}).get(one["name"], 7)
        shape = SimpleNamespace(
            fit=fit, amounts=(("cpu", 2),), requirements=SimpleNamespace(items={}), plain=True, pod=one
        )
        return SimpleNamespace(pod=one, shape=shape, place=place(one["name"], fit))

    return Asking.of(queued, [{"name": name, "spec": {}, "status": {}} for name in names])


def test_a_line_of_equal_pods_is_of_their_symbol() -> None:
    assert Line([place("a"), place("b")]).is_of((7, False))
    assert not Line([place("a"), place("b", 8)]).is_of((7, False))
    assert Line([]).is_of((7, False))


def test_equal_neighbours_are_one_run() -> None:
    line = Line([place("a"), place("c")])
    assert line.runs(asking("b", "d"), alike=False) == (((7, False), 4),)


def symbols(places: Iterable[Any], exempt: Collection[str]) -> list[Any]:
    """What a line says of each pod, in the order in which they are tried."""
    return [(fit, key in exempt) for _, _, fit, key in sorted(places)]


@pytest.mark.parametrize("kinds", ["the same", "two", "mixed"])
@pytest.mark.parametrize("alike", [False, True])
def test_runs_are_the_line_with_those_that_join_it_read_pod_by_pod(kinds: str, alike: bool) -> None:
    for seed in range(300):
        random = Random(seed)
        names = random.sample("abcdefghij", random.randrange(10))
        split = random.randrange(len(names) + 1)
        fits = {
            name: {"the same": 1, "two": int(at < split), "mixed": random.randrange(2)}[kinds]
            for at, name in enumerate(names)
        }
        others = sorted(place(name, fits[name]) for name in names[:split])
        chance = random.choice([0, 0.3])
        exempt = {name for name in (names[:split] if alike else names) if random.random() < chance}
        own = asking(*names[split:], fits=fits)
        told = Line(others, exempt).runs(own, alike=alike)
        expected = [(symbol, len([*row])) for symbol, row in groupby(symbols([*others, *own.places], exempt))]
        assert [*told] == expected, seed


@pytest.mark.parametrize("count", [1, 2])
def test_pods_join_a_line_alike_only_where_the_line_reads_the_same_with_them(count: int) -> None:
    random = Random(1)
    for _ in range(50):
        others = [place(name, random.randrange(2)) for name in "bdfh"]
        exempt = {"d"} if random.random() < 0.3 else set()
        joining = [
            [place(each, random.randrange(2)) for each in sorted(random.sample("acegi", count))] for _ in "x" * 20
        ]
        line = Line(others, exempt)
        for some, more in combinations(joining, 2):
            alike = line.joined(some) == line.joined(more)
            same = symbols([*others, *some], exempt) == symbols([*others, *more], exempt)
            assert same or not alike
            if count == 1:
                assert alike is same


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
