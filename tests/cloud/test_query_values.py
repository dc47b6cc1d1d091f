"""Values in queries of Resource Graph: terms, order, what is no number, and what a column is called."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from fakeazure.resources.graph.kql import QueryError, compile_query
from fakeazure.resources.graph.kql_expressions import DEEPEST
from fakeazure.timing import INSTANT
from tests.cloud.driver import Driver, error_of
from tests.cloud.test_bounds import deepest
from tests.cloud.test_resource_graph import ask, rows


def answer_of(query: str, *table: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return compile_query(query)({"T": list(table)}.__getitem__)


@pytest.mark.parametrize(
    ("value", "term", "found"),
    [
        ("abc def", "abc", True),
        ("abc def", "def", True),
        ("abc", "abc", True),
        ("abcd", "abc", False),
        ("xa-b", "a-", False),
        ("a-bx", "-b", False),
        ("abx ab", "ab", True),
        ("aab ab", "ab", True),
        ("aaa", "a", False),
    ],
)
def test_has_finds_whole_terms(value: str, term: str, found: bool) -> None:
    for operator in ("has", "has_cs"):
        assert bool(answer_of(f"T | where a {operator} '{term}'", {"a": value})) is found


def test_nulls_come_before_numbers_and_numbers_before_texts() -> None:
    values = ["b", 7, None, -2.5, "a", True, None, 0]
    found = answer_of("T | order by a asc", *({"a": value} for value in values))
    assert [row["a"] for row in found] == [None, None, -2.5, 0, True, 7, "a", "b"]


@pytest.mark.parametrize(
    ("order", "found"),
    [
        ("a", [2, 1, None]),
        ("a asc", [None, 1, 2]),
        ("a asc nulls last", [1, 2, None]),
        ("a desc nulls first", [None, 2, 1]),
        ("a nulls first", [None, 2, 1]),
    ],
)
def test_where_nulls_are(order: str, found: list[int | None]) -> None:
    table = ({"a": 1}, {"a": None}, {"a": 2})
    assert [row["a"] for row in answer_of(f"T | order by {order}", *table)] == found


@pytest.mark.parametrize(
    ("order", "found"),
    [
        ("a asc, b desc", "12 11 21 20"),
        ("a, b asc", "20 21 11 12"),
        ("a desc, b", "21 20 12 11"),
        ("b asc, a asc", "20 11 21 12"),
    ],
)
def test_each_key_has_a_direction_of_its_own(order: str, found: str) -> None:
    table = [{"a": a, "b": b} for a, b in ((1, 1), (2, 0), (1, 2), (2, 1))]
    assert " ".join(f"{row['a']}{row['b']}" for row in answer_of(f"T | order by {order}", *table)) == found


def test_a_number_and_a_text_have_no_order() -> None:
    table = ({"a": 5}, {"a": "x"}, {"a": None})
    assert answer_of("T | where a > 'a'", *table) == [{"a": "x"}]
    assert answer_of("T | where a > 1", *table) == [{"a": 5}]
    assert answer_of("T | where 1 < a", *table) == [{"a": 5}]
    assert answer_of("T | where 'a' < a", *table) == [{"a": "x"}]


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("toint('5')", 5),
        ("toint('five')", None),
        ("toint(b)", None),
        ("todouble('1.5')", 1.5),
        ("2 + 3", 5),
        ("2 - 3", -1),
        ("a + 'x'", None),
        ("'x' + a", None),
        ("'x' + 'y'", None),
        ("substring('abc', 0)", "abc"),
        ("substring('abc', 1)", "bc"),
        ("substring('abc', -5, 2)", "ab"),
        ("substring('abc', b, 1)", "a"),
        ("substring('abc', 1, 0)", ""),
        ("substring('abc', 0, -1)", ""),
    ],
)
def test_functions(expression: str, value: object) -> None:
    assert answer_of(f"T | project x = {expression}", {"a": 7, "b": None}) == [{"x": value}]


def test_sums_are_of_numbers_only() -> None:
    table = ({"a": 2}, {"a": "3"}, {"a": True}, {"a": None}, {"a": 0.5})
    assert answer_of("T | summarize s = sum(a)", *table) == [{"s": 2.5}]


def test_an_empty_list_is_expanded_to_null() -> None:
    table = ({"a": [], "b": 1}, {"a": [1, 2], "b": 2}, {"a": {}, "b": 3}, {"a": {"k": 1}, "b": 4}, {"a": 5, "b": 5})
    found = [(row["a"], row["b"]) for row in answer_of("T | mv-expand a", *table)]
    assert found == [(None, 1), (1, 2), (2, 2), (None, 3), ({"k": 1}, 4), (None, 5)]


def test_a_condition_after_a_stage_is_about_what_the_stage_leaves() -> None:
    table = ({"a": 1, "x": 5}, {"a": 2, "x": 6})
    assert answer_of("T | project x = a | where x == 1", *table) == [{"x": 1}]
    assert answer_of("T | take 1 | where a == 2", *table) == []


@pytest.mark.parametrize(
    ("columns", "found"),
    [
        ("a", {"a": 1}),
        ("x = a", {"x": 1}),
        ("b.c", {"b_c": 2}),
        ("b['c']", {"b_c": 2}),
        ("d[0]", {"d_0": 3}),
    ],
)
def test_what_columns_are_called(columns: str, found: Mapping[str, Any]) -> None:
    assert answer_of(f"T | project {columns}", {"a": 1, "b": {"c": 2}, "d": [3]}) == [found]


@pytest.mark.parametrize("expression", ["5", "1 + 2", "tolower(a)", "'a'", "a has 'b'"])
def test_an_expression_has_no_name_of_its_own(expression: str) -> None:
    assert [list(row) for row in answer_of(f"T | project {expression}", {"a": "B"})] == [["Column1"]]


@pytest.mark.parametrize(
    ("query", "part"),
    [
        ("T | project x = -a", "expected a column, found '-'"),
        ("T | take 2147483648", "expected a number, found '2147483648'"),
        ("T | where a == dynamic([])", "'dynamic' literals are not supported here"),
        ("T | where a == dynamo()", "function 'dynamo' is not known"),
        ("T | order by a asc nulls", "expected"),
    ],
)
def test_what_is_not_understood(query: str, part: str) -> None:
    with pytest.raises(QueryError) as caught:
        answer_of(query, {"a": 1})
    assert part in str(caught.value)


def test_the_largest_number_of_rows() -> None:
    assert answer_of("T | take 999999999", {"a": 1}) == [{"a": 1}]


def test_conditions_beside_each_other_leave_the_depth_as_it_was() -> None:
    """After fifty conditions a nested one may be just as deep as the first."""
    beside = "T | where " + "(a == 1) and " * 50
    assert deepest(lambda n: beside + "(" * n + "a == 1" + ")" * n, QueryError, compile_query) == DEEPEST - 1


def test_pages_begin_where_the_last_ended_and_the_last_says_so() -> None:
    driver = Driver(timing=INSTANT)
    for name in "abcd":
        driver.put_nic(name)
    query = "Resources | where type == 'microsoft.network/networkinterfaces' | project name"
    pages = []
    options: dict[str, Any] = {"$top": 2}
    while True:
        answer = ask(driver, query, **options)
        pages.append([row["name"] for row in rows(answer)])
        assert answer.body is not None
        if "$skipToken" not in answer.body:
            break
        options["$skipToken"] = answer.body["$skipToken"]
    assert pages == [["a", "b"], ["c", "d"]]
    assert [row["name"] for row in rows(ask(driver, query, **{"$skip": 0, "$top": 1}))] == ["a"]
    for wrong in (-3, True, 1.5, "x", "٣", 10**30, [1]):
        assert error_of(ask(driver, query, **{"$skip": wrong}))[:2] == (400, "BadRequest")


def test_what_is_part_of_another_resource_is_no_row() -> None:
    driver = Driver(timing=INSTANT)
    found = rows(ask(driver, "Resources | project type"))
    assert "microsoft.network/virtualnetworks" in {row["type"] for row in found}
    assert [row["type"] for row in found if row["type"].count("/") > 1] == []
