"""The requirement algebra is that of sets: what an operation allows is what its operands allow, value by value."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.karpenter.releases import provider
from harness.karpenter.requirement import (
    DOES_NOT_EXIST,
    EXISTS,
    GT,
    GTE,
    IN,
    LT,
    LTE,
    NOT_IN,
    EmptyRange,
    Requirement,
)
from harness.karpenter.requirements import Conflicts, Requirements, UndefinedKey
from harness.karpenter.scheduling.algebra import Algebra

NEW = provider("1.14.0").vocabulary
OLD = provider("1.4.0").vocabulary
ZONE = "topology.kubernetes.io/zone"

VALUES = ["", "a", "b", "1", "2", "3", "4", "8", "05", "-1", "1.5", "9223372036854775807"]
BOUNDS = st.integers(-2, 9).map(str)
KEYS = st.sampled_from(["team", ZONE, "karpenter.azure.com/sku-cpu", "beta.kubernetes.io/arch"])


@st.composite
def requirement(draw: st.DrawFn, key: str | None = None) -> Requirement:
    operator = draw(st.sampled_from([IN, NOT_IN, EXISTS, DOES_NOT_EXIST, GT, LT, GTE, LTE]))
    values = draw(st.lists(st.sampled_from(VALUES), max_size=4)) if operator in (IN, NOT_IN) else [draw(BOUNDS)]
    least = draw(st.none() | st.integers(1, 5))
    return Requirement.of(key or draw(KEYS), operator, values, least, vocabulary=NEW)


SAME_KEY = requirement("team")
SETS = st.lists(requirement(), max_size=5).map(lambda items: Requirements(items, vocabulary=NEW))


@given(SAME_KEY, SAME_KEY, st.sampled_from(VALUES))
def test_intersection_allows_what_both_allow(a: Requirement, b: Requirement, value: str) -> None:
    assert a.intersection(b).has(value) == (a.has(value) and b.has(value))


@given(SAME_KEY, SAME_KEY)
def test_intersection_is_symmetric(a: Requirement, b: Requirement) -> None:
    assert a.intersection(b) == b.intersection(a)


@given(SAME_KEY, SAME_KEY, SAME_KEY)
def test_intersection_is_associative_in_what_it_allows(a: Requirement, b: Requirement, c: Requirement) -> None:
    left, right = a.intersection(b).intersection(c), a.intersection(b.intersection(c))
    assert [left.has(v) for v in VALUES] == [right.has(v) for v in VALUES]
    assert left.min_values == right.min_values


@given(SAME_KEY)
def test_intersection_with_itself_changes_nothing(a: Requirement) -> None:
    assert a.intersection(a) == a


@given(SAME_KEY, SAME_KEY)
def test_has_intersection_agrees_with_the_intersection(a: Requirement, b: Requirement) -> None:
    both = a.intersection(b)
    assert a.has_intersection(b) == (both.complement or bool(both.values))


@given(SAME_KEY)
def test_rendered_requirement_reads_back(a: Requirement) -> None:
    read = Requirements.from_node_selector(a.node_selector_requirements(), vocabulary=NEW).get("team")
    bounded = a.gte is not None or a.lte is not None
    excluded = a.values if bounded else frozenset()  # exclusions beside bounds are lost
    assert [read.has(v) for v in VALUES if v not in excluded] == [a.has(v) for v in VALUES if v not in excluded]


@given(SETS, SETS)
def test_intersects_does_not_depend_on_the_side(a: Requirements, b: Requirements) -> None:
    assert (a.intersects(b) is None) == (b.intersects(a) is None)


@given(SETS, SETS)
def test_undefined_keys_are_the_only_difference_of_compatible(a: Requirements, b: Requirements) -> None:
    everything = frozenset(b)
    assert a.compatible(b, everything) == a.intersects(b)
    strict = a.compatible(b)
    if isinstance(strict, UndefinedKey):
        assert strict.key not in a
    else:
        assert strict == a.intersects(b)


@given(SETS, SETS, st.booleans())
def test_interned_sets_answer_like_plain_ones(a: Requirements, b: Requirements, strict: bool) -> None:
    algebra = Algebra(NEW)
    here, there = algebra.set_of(a.values()), algebra.set_of(b.values())
    allowed = frozenset[str]() if strict else NEW.well_known
    error = a.compatible(b, allowed)
    assert str(algebra.conflict(here.items, there.items, strict)) == str(error)
    met = algebra.met(here, there, strict)
    assert (met is None) == (error is not None)
    if met is not None:
        assert algebra.public(met.items) == a.add(*b.values())
        assert algebra.met(here, there, strict) is met


@pytest.mark.parametrize(
    ("operator", "values", "text"),
    [
        (IN, ["b", "a"], "team In [a b]"),
        (NOT_IN, list("gfedcba"), "team NotIn [a b c d e and 2 others]"),
        (IN, [], "team DoesNotExist"),
        (NOT_IN, [], "team Exists"),
        (GT, ["4"], "team Exists >=5"),
        (LT, ["4"], "team Exists <=3"),
        (GTE, ["x"], "team Exists >=0"),
        (GT, ["9223372036854775808"], "team DoesNotExist"),
        ("Within", ["a"], "team Exists"),
    ],
)
def test_texts(operator: str, values: list[str], text: str) -> None:
    assert str(Requirement.of("team", operator, values, vocabulary=NEW)) == text


def test_exclusive_bounds_of_older_releases() -> None:
    above = Requirement.of("team", GT, ["4"], vocabulary=OLD)
    below = Requirement.of("team", LT, ["5"], vocabulary=OLD)
    both = above.intersection(below)
    assert str(both) == "team Exists >4 <5"  # holds no integer, and is a range nevertheless
    assert both.node_selector_requirements() == [{"key": "team", "operator": GT, "values": ["4"]}]
    newer = [Requirement.of("team", r, [v], vocabulary=NEW) for r, v in ((GT, "4"), (LT, "5"))]
    assert newer[0].intersection(newer[1]).operator == DOES_NOT_EXIST


def test_keys_and_values_are_normalised() -> None:
    csi = Requirement.of("topology.disk.csi.azure.com/zone", IN, ["", "eastus-1"], vocabulary=NEW)
    assert str(csi) == f"{ZONE} In [0 eastus-1]"
    before = provider("1.13.1").vocabulary
    assert str(Requirement.of("topology.disk.csi.azure.com/zone", IN, [""], vocabulary=before)) == f"{ZONE} In []"


@pytest.mark.parametrize(
    ("asked", "error"),
    [
        ({"zone": "a"}, f'label "zone" does not have known values (typo of "{ZONE}"?)'),
        ({"node.io/zone": "a"}, f'label "node.io/zone" does not have known values (typo of "{ZONE}"?)'),
        ({"tea": "a"}, 'label "tea" does not have known values (typo of "team"?)'),
        ({'say "hi"': "a"}, r'label "say \"hi\"" does not have known values'),
        ({"team": "b"}, "key team, team In [b] not in team In [a]"),
        ({ZONE: "x"}, None),
    ],
)
def test_why_labels_do_not_fit(asked: dict[str, str], error: str | None) -> None:
    here = Requirements.from_labels({"team": "a"}, vocabulary=NEW)
    found = here.compatible(Requirements.from_labels(asked, vocabulary=NEW), NEW.well_known)
    assert (str(found) if found is not None else None) == error


def test_conflicts_name_every_key() -> None:
    here = Requirements.from_labels({"b": "1", "a": "1"}, vocabulary=NEW)
    found = here.intersects(Requirements.from_labels({"a": "2", "b": "2"}, vocabulary=NEW))
    assert isinstance(found, Conflicts)
    assert [conflict.key for conflict in found.keys] == ["a", "b"]


def test_absence_meets_absence() -> None:
    gone = Requirements.from_node_selector([{"key": "team", "operator": DOES_NOT_EXIST}], vocabulary=NEW)
    other = Requirements.from_node_selector([{"key": "team", "operator": NOT_IN, "values": ["a"]}], vocabulary=NEW)
    assert gone.intersects(other) is None
    assert gone.intersects(Requirements.from_labels({"team": "a"}, vocabulary=NEW)) is not None


def test_a_pod_wants_its_heaviest_preference_and_first_alternative() -> None:
    def term(value: str) -> dict[str, object]:
        return {"matchExpressions": [{"key": "team", "operator": IN, "values": [value, "all"]}]}

    pod = {
        "spec": {
            "nodeSelector": {ZONE: "eastus-1"},
            "affinity": {
                "nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term("a"), term("b")]},
                    "preferredDuringSchedulingIgnoredDuringExecution": [
                        {"weight": 1, "preference": term("c")},
                        {"weight": 9, "preference": term("a")},
                    ],
                }
            },
        }
    }
    assert str(Requirements.from_pod(pod, vocabulary=NEW)) == f"team In [a all], {ZONE} In [eastus-1]"
    alone = Requirements.from_pod(pod, vocabulary=NEW, strict=True)
    assert alone.get("team").values == {"a", "all"}


def test_any_value() -> None:
    seen: list[tuple[int, int]] = []

    def choose(low: int, high: int) -> int:
        seen.append((low, high))
        return low

    assert Requirement.of("k", IN, ["b", "a"], vocabulary=NEW).any(choose) == "a"
    assert Requirement.of("k", DOES_NOT_EXIST, vocabulary=NEW).any(choose) == ""
    assert Requirement.of("k", GT, ["6"], vocabulary=NEW).any(choose) == "7"
    assert seen == [(0, 2), (7, (1 << 63) - 1)]
    with pytest.raises(EmptyRange, match="invalid argument to Intn"):
        replace(Requirement.of("k", LT, ["0"], vocabulary=NEW)).any(choose)


def test_a_bound_without_value_is_refused() -> None:
    with pytest.raises(ValueError, match="has no value"):
        Requirement.of("k", GT, [], vocabulary=NEW)
