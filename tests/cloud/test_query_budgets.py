"""Queries and filters: whatever is asked, the answer is rows of JSON or Azure's refusal, and one query takes and keeps little."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakeazure.arm.filters import FilterError, parse_filter
from fakeazure.arm.json_text import write
from fakeazure.resources.graph.kql import QueryError, compile_query
from fakeazure.resources.graph.kql_functions import COMPARISONS, FUNCTIONS, MEASURES
from fakeazure.timing import INSTANT
from tests.cloud.driver import Driver, error_of
from tests.cloud.test_resource_graph import ask, rows

R = "Resources | limit 1 | "
ANSWERED = {
    "blanks": "Resources" + " " * 60_000 + "| count",
    "comments": "Resources //" + "/" * 50_000 + "\n | count",
    "sum": "Resources | where 1" + "+1" * 2000 + " > 0 | count",
    "path": "Resources | where properties" + ".b" * 1500 + " == 1",
    "conditions": "Resources | where " + " and ".join(["name == 'a'"] * 2000),
    "stages": "Resources " + "| where true " * 2000,
    "place": R + "project x = properties.a[-1]",
    "half a term": R + "extend x = '" + "a" * 30_000 + "' | where x has '" + "a" * 15_000 + "'",
    "join": "Resources | extend k=1 | join kind=inner (Resources | extend k=1) on k | count",
}
REFUSED = {
    "long": "Resources | where name == '" + "a" * 70_000 + "'",
    "tokens": "Resources | project " + ",".join("a" for _ in range(8000)),
    "pipes": "Resources " + "| extend a=1 " * 4000,
    "nested": "Resources | where " + "(" * 3000 + "1" + ")" * 3000,
    "digits": "Resources | limit ²",
    "other digits": "Resources | where 1 == ٣",
    "large": f"Resources | where 1 == {2**63}",
    "place": R + "project x = a[" + "9" * 39 + "]",
    "doubled": R + "extend x='aaaaaaaaaa' " + "| extend x=strcat(x,x) " * 24 + "| project strlen(x)",
    "tenfold": R + "extend x='a' " + "| extend x=strcat(x,x,x,x,x,x,x,x,x,x) " * 7 + "| project strlen(x)",
    "in one": R + "extend x='" + "a" * 1000 + "' | extend y=strcat(" + ",".join("x" * 1) + ",x" * 2000 + ")",
    "replaced": R + "extend x='aaaaaaaaaa' " + "| extend x=replace_string(x,'a','aaaaaaaaaa') " * 6,
    "kept": "Resources | extend a=strcat(" + ",".join(["'" + "a" * 3000 + "'"] * 15) + ")" + "".join(
        f" | extend b{n}=strcat(a,a,a,a,a,a,a,a,'{n}')" for n in range(60)
    ),
    "cross": "Resources | extend k=1" + " | join kind=inner (Resources | extend k=1) on k" * 9,
    "expanded": "Resources | summarize a=make_list(name)" + "".join(f" | extend a{n}=a | mv-expand a{n}" for n in range(9)) + " | count",
    "looked at": "Resources | extend x='" + "a" * 50_000 + "' | where " + " or ".join(["x contains 'b'"] * 2000),
    "types": R + "extend x=substring(name, 'a', 1)",
}  # fmt: skip


def filled() -> Driver:
    driver = Driver(timing=INSTANT)
    for name in ("a", "b", "c"):
        driver.put_vm(name)
    return driver


@pytest.mark.parametrize("query", ANSWERED.values(), ids=ANSWERED)
def test_queries_that_are_answered(query: str) -> None:
    json.loads(write(rows(ask(filled(), query))), parse_constant=pytest.fail)


@pytest.mark.parametrize("query", REFUSED.values(), ids=REFUSED)
def test_queries_that_cost_too_much_or_are_none_are_refused(query: str) -> None:
    driver = filled()
    refused = ask(driver, query)
    assert error_of(refused)[:2] == (400, "BadRequest")
    if query == REFUSED["kept"]:
        assert refused.body is not None
        assert "it takes too much memory" in refused.body["error"]["details"][1]["message"]
    assert rows(ask(driver, "Resources | count"))  # and the next has all of its own


def test_an_answer_that_is_too_large_is_refused() -> None:
    driver = filled()
    driver.call("PUT", driver.vm_path("a"), driver.vm_body("a", extra={str(n): "x" * 50 for n in range(1000)}))
    query = "Resources | project " + ", ".join(f"a{n}=properties" for n in range(2400))
    assert error_of(ask(driver, query))[:2] == (400, "ResponsePayloadTooLarge")


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("tolong('" + "9" * 5000 + "')", None),
        ("tolong('9223372036854775807')", 2**63 - 1),
        ("tolong('9223372036854775807') + 1", None),
        ("tolong('1_0')", None),
        ("tolong('2.9')", 2),
        ("toint(3000000000)", None),
        ("todouble('nan')", None),
        ("todouble('1e999')", None),
        ("todouble('-inf')", None),
        ("todouble('1.5') + 1", 2.5),
        ("toint(todouble('inf'))", None),
        ("1.5 + " + "9" * 18, 1e18 + 0.5),
        ("strlen(tostring(tags))", 69),
    ],
)
def test_numbers_are_those_that_json_has(expression: str, value: object) -> None:
    driver = filled()
    [row] = rows(
        ask(driver, f"Resources | where name == 'a' | where type has 'virtualmachines' | project x = {expression}")
    )
    assert row["x"] == value


@pytest.mark.parametrize(
    ("measure", "value"),
    [("sum(x)", None), ("avg(x)", float(2**63 - 1)), ("max(x)", 2**63 - 1), ("count()", 3)],
)
def test_sums_that_do_not_fit_are_null(measure: str, value: object) -> None:
    query = f"Resources | where type has 'disks' | extend x={2**63 - 1} | summarize m={measure}"
    [row] = rows(ask(filled(), query))
    assert row["m"] == value


def test_short_queries_are_remembered_and_few_of_them() -> None:
    driver = filled()
    for number in range(40):
        for query in (
            f"Resources | where name == '{number}'",
            "Resources | where name == '" + "a" * 5000 + f"{number}'",
        ):
            assert rows(ask(driver, query)) == []
    graph = driver.cloud.state.graph
    assert len(graph._known) <= 8
    assert len(graph._compiled) <= 8
    assert max(map(len, graph._compiled)) <= 4096


WORDS = (
    *FUNCTIONS, *MEASURES, *COMPARISONS, "Resources", "ResourceContainers", "|", "where", "extend", "project", "summarize", "by", "join",
    "kind", "=", "inner", "on", "union", "(", ")", ",", ".", "[", "]", "name", "properties", "tags", "x", "0", "-1", "9" * 30, "'a'", "''",
    "mv-expand", "order", "top", "limit", "distinct", "count", "!", "in", "and", "or", "not", "$left", "$right", "nulls", "first",
)  # fmt: skip
STAGE = st.builds(
    lambda stage, words: f"| {stage} {' '.join(words)}",
    st.sampled_from(
        [
            "where",
            "extend x =",
            "project",
            "summarize",
            "order by",
            "distinct",
            "mv-expand",
            "join (Resources) on",
            "top 1 by",
        ]
    ),
    st.lists(st.sampled_from(WORDS), max_size=6),
)
CALL = st.builds(
    lambda name, arguments: f"| extend x = {name}({', '.join(arguments)})",
    st.sampled_from(sorted(FUNCTIONS)),
    st.lists(
        st.sampled_from(["name", "properties", "tags", "zones", "x", "1", "-1", "''", "'a'", "todouble('nan')"]),
        max_size=4,
    ),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.one_of(CALL, STAGE), min_size=1, max_size=4))
def test_any_query_is_answered_or_refused(stages: list[str]) -> None:
    table = [{"name": "a", "properties": {"a": [1, "b", None, 2.5]}, "tags": {"k": "v"}, "zones": ["1"]}, {"name": "b"}]
    try:
        found = compile_query(f"Resources {' '.join(stages)}")(lambda name: list(table))
    except QueryError:
        return
    json.loads(write(found), parse_constant=pytest.fail)


def test_a_filter_has_a_hundred_conditions_at_most() -> None:
    terms = ["a eq 'b'"] * 100
    assert parse_filter(" or ".join(terms))({"a": "b"})
    with pytest.raises(FilterError, match="The node count limit of '100' has been exceeded"):
        parse_filter(" or ".join([*terms, "a eq 'b'"]))


FIELDS = {"armRegionName": False, "armSkuName": True, "meterName": False}
VALUE = st.sampled_from(["a", "b", "A", ""])
NAME = st.sampled_from(list(FIELDS))
CONDITION = st.one_of(
    st.builds("{} {} '{}'".format, NAME, st.sampled_from(["eq", "ne", "gt"]), VALUE),
    st.builds("tolower({}) eq '{}'".format, NAME, VALUE),
    st.builds("contains({}, '{}') {}".format, NAME, VALUE, st.sampled_from(["", "eq true", "eq false", "ne true"])),
)
FILTER = st.recursive(
    CONDITION,
    lambda inner: st.one_of(
        st.builds("({} and {})".format, inner, inner),
        st.builds("({} or {})".format, inner, inner),
        st.builds("not ({})".format, inner),
    ),
    max_leaves=6,
)


@given(text=FILTER, item=st.fixed_dictionaries(dict.fromkeys(FIELDS, VALUE)), only=st.sampled_from(list(FIELDS)))
def test_what_some_fields_exclude_the_whole_filter_excludes(text: str, item: dict[str, str], only: str) -> None:
    if parse_filter(text, FIELDS)(item):
        assert parse_filter(text, FIELDS, frozenset({only}))({only: item[only]})


@pytest.mark.parametrize(
    ("text", "region", "possible"),
    [
        ("armRegionName eq 'a' and meterName eq 'x'", "b", False),
        ("armRegionName eq 'a' or meterName eq 'x'", "b", True),
        ("(armRegionName eq 'a' or armRegionName eq 'b') and meterName eq 'x'", "c", False),
        ("armRegionName ne 'a'", "a", False),
        ("not (armRegionName eq 'a')", "a", True),  # an item is judged by the whole filter then
        ("not (meterName eq 'x')", "a", True),
        ("contains(armRegionName, 'a') eq false", "ba", False),
    ],
)
def test_a_region_is_excluded_by_its_name_alone(text: str, region: str, possible: bool) -> None:
    assert parse_filter(text, FIELDS, frozenset({"armRegionName"}))({"armRegionName": region}) is possible


@pytest.mark.parametrize(
    "text", ["tolower(tolower(armSkuName)) eq 'a'", "tolower() eq 'a'", "tolower(armSkuName", "contains(armSkuName)"]
)
def test_functions_take_fields(text: str) -> None:
    with pytest.raises(FilterError):
        parse_filter(text, FIELDS)
