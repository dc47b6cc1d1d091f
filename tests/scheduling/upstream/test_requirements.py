"""Compatible or not, hints and texts of requirements. Source: core pkg/scheduling/requirements_test.go."""

from __future__ import annotations

from typing import Any

import pytest

from tests.scheduling.upstream.asking import Asker
from tests.scheduling.upstream.cloud import ARCH, CAPACITY, TYPE, ZONE
from tests.scheduling.upstream.objects import need

Json = dict[str, Any]

SIDES: dict[str, Json | None] = {
    "nothing": None,
    "Exists": need(ZONE, "Exists"),
    "DoesNotExist": need(ZONE, "DoesNotExist"),
    "In A": need(ZONE, "In", "A"),
    "In B": need(ZONE, "In", "B"),
    "In A B": need(ZONE, "In", "A", "B"),
    "NotIn A": need(ZONE, "NotIn", "A"),
    "In 1": need(ZONE, "In", "1"),
    "In 9": need(ZONE, "In", "9"),
    "In 1 9": need(ZONE, "In", "1", "9"),
    "NotIn 1 2": need(ZONE, "NotIn", "1", "2"),
    "Gt 1": need(ZONE, "Gt", "1"),
    "Gt 9": need(ZONE, "Gt", "9"),
    "Lt 1": need(ZONE, "Lt", "1"),
    "Lt 9": need(ZONE, "Lt", "9"),
}
"""What is known of a well-known key on the one side, and asked for on the other."""

STRICT = {
    # known \\ asked: the same order from left to right; y compatible
    "nothing": "y.y...y...y....",
    "Exists": "yy.yyyyyyyyyyyy",
    "DoesNotExist": "y.y...y...y....",
    "In A": "yy.y.y....y....",
    "In B": "yy..yyy...y....",
    "In A B": "yy.yyyy...y....",
    "NotIn A": "yyy.yyyyyyyyyyy",
    "In 1": "yy....yy.y....y",
    "In 9": "yy....y.yyyy...",
    "In 1 9": "yy....yyyyyy..y",
    "NotIn 1 2": "yyyyyyy.yyyyyyy",
    "Gt 1": "yy....y.yyyyy.y",
    "Gt 9": "yy....y...yyy..",
    "Lt 1": "yy....y...y..yy",
    "Lt 9": "yy....yy.yyy.yy",
}
LENIENT = {**STRICT, "nothing": "y" * len(SIDES)}
"""A well-known key that nothing is known of may have any value."""


def asked(ask: Asker, known: list[Json], wanted: list[Json], probe: tuple[str, ...] = ()) -> Json:
    return ask({"op": "requirements", "a": known, "b": wanted, "probe": list(probe), "variants": 0})


@pytest.mark.parametrize(
    ("verdict", "table"),
    [
        pytest.param("compatible_well_known", LENIENT, id="should be compatible with well-known v1 labels undefined"),
        pytest.param("compatible", STRICT, id="should be strictly compatible"),
    ],
)
@pytest.mark.parametrize("known", SIDES)
def test_compatible(ask: Asker, verdict: str, table: dict[str, str], known: str) -> None:
    def sides(name: str) -> list[Json]:
        side = SIDES[name]
        return [] if side is None else [side]

    answers = [asked(ask, sides(known), sides(wanted))[verdict]["error"] for wanted in SIDES]
    assert "".join("." if error else "y" for error in answers) == table[known]


def test_aliases(ask: Asker) -> None:
    """should normalize aliased labels"""
    alias = need("failure-domain.beta.kubernetes.io/zone", "In", "test")
    keys = asked(ask, [alias], [], ("test",))["a"]["keys"]
    assert list(keys) == [ZONE]
    assert keys[ZONE]["has"] == {"test": True}


REGION, NODEPOOL = "topology.kubernetes.io/region", "karpenter.sh/nodepool"
TRUNCATED = {
    "zone": ZONE,
    "region": REGION,
    "nodepool": NODEPOOL,
    "instance-type": TYPE,
    "arch": ARCH,
    "capacity-type": CAPACITY,
}
MISSPELT = {
    "topology.kubernetesio/zone": ZONE,
    "node.io/zone": ZONE,
    "topology.kubernetes.io/regio": REGION,
    "node.kubernetes.io/region": REGION,
    "karpenter/nodepool": NODEPOOL,
}


@pytest.mark.parametrize(
    ("key", "hint"),
    [
        *(pytest.param(*row, id=f"should detect well known label truncations: {row[0]}") for row in TRUNCATED.items()),
        *(pytest.param(*row, id=f"should detect well known label typos: {row[0]}") for row in MISSPELT.items()),
        pytest.param("deployment", "", id="should display an error message for unknown labels"),
    ],
)
def test_hints(ask: Asker, key: str, hint: str) -> None:
    error = asked(ask, [], [need(key, "Exists")])["compatible_well_known"]["error"]
    assert error == f'label "{key}" does not have known values' + (f' (typo of "{hint}"?)' if hint else "")


EVERY = [
    need("exists", "Exists"),
    need("doesNotExist", "DoesNotExist"),
    need("inA", "In", "A"),
    need("inB", "In", "B"),
    need("inAB", "In", "A", "B"),
    need("notInA", "NotIn", "A"),
    need("in1", "In", "1"),
    need("in9", "In", "9"),
    need("in19", "In", "1", "9"),
    need("notIn12", "NotIn", "1", "2"),
    need("greaterThan1", "Gt", "1"),
    need("greaterThan9", "Gt", "9"),
    need("lessThan1", "Lt", "1"),
    need("lessThan9", "Lt", "9"),
]


def test_text(ask: Asker) -> None:
    """should print Requirements in the same order"""
    assert asked(ask, EVERY, [])["a"]["string"].split(", ") == [
        "doesNotExist DoesNotExist",
        "exists Exists",
        "greaterThan1 Exists >=2",
        "greaterThan9 Exists >=10",
        "in1 In [1]",
        "in19 In [1 9]",
        "in9 In [9]",
        "inA In [A]",
        "inAB In [A B]",
        "inB In [B]",
        "lessThan1 Exists <=0",
        "lessThan9 Exists <=8",
        "notIn12 NotIn [1 2]",
        "notInA NotIn [A]",
    ]


MORE_THAN_ASKED = {
    "greaterThan1": ("Gte", "2"),
    "greaterThan9": ("Gte", "10"),
    "lessThan1": ("Lte", "0"),
    "lessThan9": ("Lte", "8"),
}


@pytest.mark.parametrize(
    "least",
    [
        pytest.param(0, id="should convert combinations of labels to expected NodeSelectorRequirements"),
        pytest.param(
            2, id="should convert combinations of labels with flexiblity to expected NodeSelectorRequirements"
        ),
    ],
)
def test_as_written_in_a_nodeclaim(ask: Asker, least: int) -> None:
    """Bounds are kept as Gte and Lte; minValues stay."""
    given = [{**each, "minValues": least} if least else each for each in EVERY]
    keys = asked(ask, given, [])["a"]["keys"]
    for each in given:
        (found,) = keys[each["key"]]["node_selector"]
        operator, *values = MORE_THAN_ASKED.get(each["key"], (each["operator"], *each.get("values", [])))
        assert (found["operator"], found.get("values") or []) == (operator, values)
        assert (found.get("minValues") or 0) == least


def test_both_bounds(ask: Asker) -> None:
    """should return both Gte and Lte requirements when both bounds exist"""
    keys = asked(ask, [need("cpu", "Gte", "8"), need("cpu", "Lte", "8")], [])["a"]["keys"]
    assert [(each["operator"], each["values"]) for each in keys["cpu"]["node_selector"]] == [
        ("Gte", ["8"]),
        ("Lte", ["8"]),
    ]
