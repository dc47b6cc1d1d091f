"""The algebra of one requirement. Source: core pkg/scheduling/requirement_test.go, whose 732 rows are the tables here."""

from __future__ import annotations

from typing import Any

import pytest

from tests.scheduling.upstream.asking import Asker
from tests.scheduling.upstream.objects import need

Json = dict[str, Any]

ONES: dict[str, tuple[str, ...]] = {
    "Exists": ("Exists",),
    "DoesNotExist": ("DoesNotExist",),
    "In [A]": ("In", "A"),
    "In [B]": ("In", "B"),
    "In [A B]": ("In", "A", "B"),
    "NotIn [A]": ("NotIn", "A"),
    "In [1]": ("In", "1"),
    "In [9]": ("In", "9"),
    "In [1 9]": ("In", "1", "9"),
    "NotIn [1 2]": ("NotIn", "1", "2"),
    "Exists >=2": ("Gt", "1"),
    "Exists >=10": ("Gt", "9"),
    "Exists <=0": ("Lt", "1"),
    "Exists <=8": ("Lt", "9"),
}
"""Requirements by how they are printed."""

INTERSECTIONS = {
    # the columns are the same in the same order; - is DoesNotExist
    "Exists": "Exists|-|In [A]|In [B]|In [A B]|NotIn [A]|In [1]|In [9]|In [1 9]|NotIn [1 2]|Exists >=2|Exists >=10|Exists <=0|Exists <=8",
    "DoesNotExist": "-|-|-|-|-|-|-|-|-|-|-|-|-|-",
    "In [A]": "In [A]|-|In [A]|-|In [A]|-|-|-|-|In [A]|-|-|-|-",
    "In [B]": "In [B]|-|-|In [B]|In [B]|In [B]|-|-|-|In [B]|-|-|-|-",
    "In [A B]": "In [A B]|-|In [A]|In [B]|In [A B]|In [B]|-|-|-|In [A B]|-|-|-|-",
    "NotIn [A]": "NotIn [A]|-|-|In [B]|In [B]|NotIn [A]|In [1]|In [9]|In [1 9]|NotIn [1 2 A]|Exists >=2|Exists >=10|Exists <=0|Exists <=8",
    "In [1]": "In [1]|-|-|-|-|In [1]|In [1]|-|In [1]|-|-|-|-|In [1]",
    "In [9]": "In [9]|-|-|-|-|In [9]|-|In [9]|In [9]|In [9]|In [9]|-|-|-",
    "In [1 9]": "In [1 9]|-|-|-|-|In [1 9]|In [1]|In [9]|In [1 9]|In [9]|In [9]|-|-|In [1]",
    "NotIn [1 2]": "NotIn [1 2]|-|In [A]|In [B]|In [A B]|NotIn [1 2 A]|-|In [9]|In [9]|NotIn [1 2]|NotIn [2] >=2|Exists >=10|Exists <=0|"
    "NotIn [1 2] <=8",
    "Exists >=2": "Exists >=2|-|-|-|-|Exists >=2|-|In [9]|In [9]|NotIn [2] >=2|Exists >=2|Exists >=10|-|Exists >=2 <=8",
    "Exists >=10": "Exists >=10|-|-|-|-|Exists >=10|-|-|-|Exists >=10|Exists >=10|Exists >=10|-|-",
    "Exists <=0": "Exists <=0|-|-|-|-|Exists <=0|-|-|-|Exists <=0|-|-|Exists <=0|Exists <=0",
    "Exists <=8": "Exists <=8|-|-|-|-|Exists <=8|In [1]|-|In [1]|NotIn [1 2] <=8|Exists >=2 <=8|-|Exists <=0|Exists <=8",
}

HAS = {
    # A, B, 1, 2, 9
    "Exists": "yyyyy",
    "DoesNotExist": ".....",
    "In [A]": "y....",
    "In [B]": ".y...",
    "In [A B]": "yy...",
    "NotIn [A]": ".yyyy",
    "In [1]": "..y..",
    "In [9]": "....y",
    "In [1 9]": "..y.y",
    "NotIn [1 2]": "yy..y",
    "Exists >=2": "...yy",
    "Exists >=10": ".....",
    "Exists <=0": ".....",
    "Exists <=8": "..yy.",
}
LARGEST = 2**63 - 1


def asked(ask: Asker, known: list[Json], wanted: list[Json], *probe: str) -> Json:
    found: Json = ask({"op": "requirements", "a": known, "b": wanted, "probe": list(probe), "variants": 0})
    return found


def one(key: str, name: str, least: int = 0) -> Json:
    operator, *values = ONES[name]
    return need(key, operator, *values, **({"minValues": least} if least else {}))


def least_of(name: str) -> int:
    """minValues as the upstream tables have them: two where there are two values."""
    return 2 if len(ONES[name]) == 3 else 1


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param(False, False, id="should intersect two requirements without minValues"),
        pytest.param(True, False, id="should intersect requirement with minValues with a requirement without"),
        pytest.param(True, True, id="should intersect two requirements with minValues"),
    ],
)
def test_intersections(ask: Asker, first: bool, second: bool) -> None:
    """Each pair has a key of its own; of two minValues the larger one stays."""
    pairs = {f"key-{i:02}-{j:02}": (a, b) for i, a in enumerate(ONES) for j, b in enumerate(ONES)}
    known = [one(key, a, least_of(a) * first) for key, (a, _) in pairs.items()]
    wanted = [one(key, b, least_of(b) * second) for key, (_, b) in pairs.items()]
    keys = asked(ask, known, wanted)["intersection"]["keys"]
    columns = list(ONES)
    for key, (a, b) in pairs.items():
        expected = INTERSECTIONS[a].split("|")[columns.index(b)].replace("-", "DoesNotExist", 1)
        least = max(least_of(a) * first, least_of(b) * second)
        text = keys[key]["string"].removeprefix(f"{key} ")
        assert text.partition(" minValues")[0] == expected, (a, b)
        assert {each.get("minValues") or 0 for each in keys[key]["node_selector"]} == {least}, (a, b)


def test_one_by_one(ask: Asker) -> None:
    """should have the right values; should return the right operator; should have the correct length; should print the right string"""
    keys = asked(ask, [one(f"key-{place:02}", name) for place, name in enumerate(ONES)], [], "A", "B", "1", "2", "9")[
        "a"
    ]["keys"]
    lengths = {"DoesNotExist": 0, "In [A B]": 2, "In [1 9]": 2, "NotIn [A]": LARGEST - 1, "NotIn [1 2]": LARGEST - 2}
    for place, name in enumerate(ONES):
        found = keys[f"key-{place:02}"]
        assert found["string"] == f"key-{place:02} {name}"
        assert found["operator"] == name.partition(" ")[0]
        assert found["len"] == lengths.get(name, 1 if name.startswith("In") else LARGEST)
        assert "".join("y" if found["has"][value] else "." for value in ("A", "B", "1", "2", "9")) == HAS[name]


BOUNDS: list[tuple[str, list[tuple[str, str]], dict[str, bool], list[tuple[str, str]]]] = [
    # upstream's name, requirements on one key, which values they have, as written in a NodeClaim
    ("should treat Gte as inclusive lower bound", [("Gte", "2")], {"2": True, "100": True, "1": False}, [("Gte", "2")]),
    ("should treat Lte as inclusive upper bound", [("Lte", "8")], {"8": True, "0": True, "9": False}, [("Lte", "8")]),
    (
        "should intersect Gte and Lte correctly",
        [("Gte", "2"), ("Lte", "8")],
        {"2": True, "5": True, "8": True, "1": False, "9": False},
        [("Gte", "2"), ("Lte", "8")],
    ),
    (
        "should collapse redundant bounds in intersection",
        [("Gt", "4"), ("Gte", "5")],
        {"5": True, "4": False},
        [("Gte", "5")],
    ),
    (
        "should keep Gt when Gt is more restrictive",
        [("Gt", "5"), ("Gte", "5")],
        {"6": True, "5": False},
        [("Gte", "6")],
    ),
    (
        "should keep more restrictive Gte when Gte > Gt+1",
        [("Gt", "3"), ("Gte", "6")],
        {"6": True, "5": False},
        [("Gte", "6")],
    ),
    (
        "should keep Lt when Lt is more restrictive",
        [("Lt", "5"), ("Lte", "5")],
        {"4": True, "5": False},
        [("Lte", "4")],
    ),
    (
        "should keep more restrictive Lte when Lte < Lt-1",
        [("Lt", "9"), ("Lte", "5")],
        {"5": True, "6": False},
        [("Lte", "5")],
    ),
    ("should handle Gte 0 boundary", [("Gte", "0")], {"0": True, "-1": False}, [("Gte", "0")]),
    ("should handle Lte 0 boundary", [("Lte", "0")], {"0": True, "1": False}, [("Lte", "0")]),
    ("should return DoesNotExist for Gt MaxInt", [("Gt", str(LARGEST))], {"1": False}, [("DoesNotExist", "")]),
]


@pytest.mark.parametrize(("given", "has", "written"), [pytest.param(*row[1:], id=row[0]) for row in BOUNDS])
def test_bounds(ask: Asker, given: list[tuple[str, str]], has: dict[str, bool], written: list[tuple[str, str]]) -> None:
    found = asked(ask, [need("key", *pair) for pair in given], [], *has)["a"]["keys"]["key"]
    assert found["has"] == has
    assert [(each["operator"], "".join(each.get("values") or [])) for each in found["node_selector"]] == written


def test_old_names(ask: Asker) -> None:
    """should normalize labels"""
    old = [
        "failure-domain.beta.kubernetes.io/zone",
        "failure-domain.beta.kubernetes.io/region",
        "beta.kubernetes.io/arch",
        "beta.kubernetes.io/os",
        "beta.kubernetes.io/instance-type",
    ]
    assert sorted(asked(ask, [need(key, "In", "test") for key in old], [])["a"]["keys"]) == [
        "kubernetes.io/arch",
        "kubernetes.io/os",
        "node.kubernetes.io/instance-type",
        "topology.kubernetes.io/region",
        "topology.kubernetes.io/zone",
    ]
