"""What a schema says at the edges: bounds of numbers and texts, items of lists, keys without a name of their own."""

from __future__ import annotations

from typing import Any

import pytest

from harness.kube.custom_resources.cel_rules import evaluate, without_marks
from harness.kube.custom_resources.correlation import Correlation, old_element
from harness.kube.custom_resources.list_types import validate_list_types
from harness.kube.custom_resources.schema import Rule, parse_schema, prepare
from harness.kube.custom_resources.schema_validation import validate

ABOVE_TWO = {"type": "integer", "minimum": 2, "exclusiveMinimum": True}
BELOW_TWO = {"type": "integer", "maximum": 2, "exclusiveMaximum": True}
WORD = {"type": "string", "pattern": "^[a-z]+$", "minLength": 2, "maxLength": 3}


@pytest.mark.parametrize(
    ("definition", "value", "details"),
    [
        (ABOVE_TWO, 1, ["a in body should be greater than 2"]),
        (ABOVE_TWO, 2, ["a in body should be greater than 2"]),
        (ABOVE_TWO, 3, []),
        ({"type": "integer", "minimum": 2}, 1, ["a in body should be greater than or equal to 2"]),
        ({"type": "integer", "minimum": 2}, 2, []),
        (BELOW_TWO, 3, ["a in body should be less than 2"]),
        (BELOW_TWO, 2, ["a in body should be less than 2"]),
        (BELOW_TWO, 1, []),
        ({"type": "integer", "maximum": 2}, 2, []),
        ({"type": "number"}, 3, []),
        ({"type": "number"}, 3.5, []),
        ({"type": "integer"}, 3.0, []),
        ({"type": "integer"}, 3.5, ['a in body must be of type integer: "number"']),
        ({"type": "integer"}, float((1 << 53) - 1), []),
        ({"type": "integer"}, float(1 << 53), ['a in body must be of type integer: "number"']),
        ({"type": "string"}, 3, ['a in body must be of type string: "integer"']),
        ({"maxLength": 1}, "x", []),
        ({"maxLength": 1}, "xy", ["may not be more than 1 byte"]),
        ({"maxLength": 2}, "xyz", ["may not be more than 2 bytes"]),
        ({"minLength": 2}, "x", ["a in body should be at least 2 chars long"]),
        ({"minLength": 2}, "xy", []),
        ({"type": "array", "maxItems": 1}, [1, 2], ["must have at most 1 item"]),
        ({"type": "array", "maxItems": 1}, [1], []),
        ({"maxProperties": 1}, {"a": 1}, []),
        ({"maxProperties": 1}, {"a": 1, "b": 2}, ["must have at most 1 item"]),
        ({"minProperties": 1}, {"a": 1}, []),
        ({"minProperties": 1}, {}, ["a in body should have at least 1 properties"]),
        ({"minItems": 1}, [1], []),
        ({"minItems": 1}, [], ["a in body should have at least 1 items"]),
        ({"type": "string", "pattern": "(?i)^[a-s]+k$"}, "S\u017f\u212a", []),
        ({"type": "string", "pattern": "^[a-z]+$"}, "\u017f", ["a in body should match '^[a-z]+$'"]),
        # of null only the type and the list of values are asked (kube-openapi pkg/validation/validate/schema.go)
        ({"type": "string", "nullable": True, "anyOf": [{"maxLength": 3}], "allOf": [{"type": "string"}]}, None, []),
        ({"type": "string", "nullable": True, "enum": ["x"]}, None, ['supported values: "x"']),
        ({"type": "string"}, None, ['a in body must be of type string: "null"']),
        (
            {"oneOf": [{"type": "integer"}, {"type": "boolean"}]},
            "x",
            [
                '"a" must validate one and only one schema (oneOf). Found none valid',
                'a in body must be of type integer: "string"',
            ],
        ),
        (
            {"anyOf": [{"type": "integer"}, {"type": "boolean"}]},
            "x",
            ['"a" must validate at least one schema (anyOf)', 'a in body must be of type integer: "string"'],
        ),
    ],
)
def test_what_a_value_is_refused_for(definition: dict[str, Any], value: Any, details: list[str]) -> None:
    schema = parse_schema({"type": "object", "properties": {"a": definition}})
    assert [error.detail for error in validate(schema, {"a": value})] == details


@pytest.mark.parametrize(
    ("form", "value", "fits"),
    [
        ("int32", (1 << 31) - 1, True),
        ("int32", 1 << 31, False),
        ("int32", -(1 << 31), True),
        ("int32", -(1 << 31) - 1, False),
        ("int64", (1 << 63) - 1, True),
        ("int64", 1 << 31, True),
        ("int64", -(1 << 63), True),
        ("", (1 << 63) - 1, True),
    ],
)
def test_an_integer_has_the_range_of_its_format(form: str, value: int, fits: bool) -> None:
    """kube-openapi pkg/validation/validate/values.go, IsValueValidAgainstRange, which the API server asks since Kubernetes 1.36."""
    definition = {"type": "integer", "format": form} if form else {"type": "integer"}
    schema = parse_schema({"properties": {"a": definition}}, integer_formats=True)
    errors = [] if fits else [f"Checked value must be of type integer with format {form} in a"]
    assert [error.detail for error in validate(schema, {"a": value})] == errors


@pytest.mark.parametrize(
    ("items", "value", "details"),
    [
        (WORD, ["ab", "abc"], []),
        (WORD, ["ab", "a"], ["a[1] in body should be at least 2 chars long"]),
        (WORD, ["ab", "abcd"], ["may not be more than 3 bytes"]),
        (WORD, ["ab", "1b"], ["a[1] in body should match '^[a-z]+$'"]),
        (WORD, ["ab", 12], ['a[1] in body must be of type string: "integer"']),
        ({"type": "string", "maxLength": 2}, ["", "ab"], []),
        ({"type": "string", "maxLength": 2}, ["abc"], ["may not be more than 2 bytes"]),
        ({"type": "string", "minLength": 1}, ["x", ""], ["a[1] in body should be at least 1 chars long"]),
        ({"type": "string"}, ["x", 1], ['a[1] in body must be of type string: "integer"']),
    ],
)
def test_each_item_of_a_list_of_texts_is_looked_at(items: dict[str, Any], value: Any, details: list[str]) -> None:
    schema = parse_schema({"type": "object", "properties": {"a": {"type": "array", "items": items}}})
    assert [error.detail for error in validate(schema, {"a": value})] == details


def test_a_rule_for_other_keys_leaves_the_named_ones_alone() -> None:
    never = Rule("never", "no", lambda value, old: False)
    schema = parse_schema(
        {"properties": {"named": {"type": "string"}}, "additionalProperties": {"type": "string"}},
        lambda path: (never,) if path == "{}" else (),
    )
    assert [error.field for error in evaluate(schema, {"named": "x", "other": "y", "third": "z"})] == [
        "[other]",
        "[third]",
    ]


def test_lists_under_other_keys_are_sets_where_the_named_ones_are_not() -> None:
    texts = {"type": "array", "items": {"type": "string"}}
    schema = parse_schema(
        {"properties": {"named": texts}, "additionalProperties": {**texts, "x-kubernetes-list-type": "set"}}
    )
    twice = ["x", "x"]
    assert [error.field for error in validate_list_types(schema, {"named": twice, "other": twice})] == ["[other][1]"]


def test_a_value_as_rules_read_it_keeps_what_lists_hold() -> None:
    value = {"a": [{"b": 1}, "x", [2]], "c": {"d": None}}
    assert without_marks(value) == (value, ())


KEYED = {
    "type": "array",
    "items": {"type": "object"},
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["k"],
}
ATOMIC = {"type": "array", "items": {"type": "object"}}


@pytest.mark.parametrize(
    ("definition", "element", "old", "expected"),
    [
        (KEYED, {"k": 2, "v": 1}, [{"k": 1}, {"k": 2, "v": 9}], {"k": 2, "v": 9}),
        (KEYED, {"k": 3}, [{"k": 1}, {"k": 2}], None),
        (KEYED, {"k": True}, [{"k": 1}], None),
        (KEYED, {"v": 1}, [{"v": 1}], None),
        (KEYED, {"k": 1}, ["k", {"v": 1}, {"k": 1}], {"k": 1}),
        (KEYED, "k", [{"k": "k"}], None),
        (KEYED, {"k": 1}, {"k": 1}, None),
        (KEYED, {"k": 1}, None, None),
        (ATOMIC, {"k": 1}, [{"k": 1}], None),
    ],
)
def test_an_item_belongs_to_the_old_one_with_its_keys(
    definition: dict[str, Any], element: Any, old: Any, expected: Any
) -> None:
    assert old_element(parse_schema(definition), element, old) == expected


@pytest.mark.parametrize(
    ("properties", "kept"),
    [
        ({}, {"apiVersion": None, "metadata": None}),
        ({"metadata": {"type": "object"}}, {"apiVersion": None}),
        ({"metadata": {"type": "object", "nullable": True}}, {"apiVersion": None, "metadata": None}),
    ],
)
def test_nulls_at_the_root_stay_where_the_schema_does_not_know_the_field(
    properties: dict[str, Any], kept: dict[str, Any]
) -> None:
    schema = parse_schema({"type": "object", "properties": properties})
    assert prepare({"apiVersion": None, "metadata": None, "other": None}, schema) == kept


@pytest.mark.parametrize(
    ("new", "old", "expected"),
    [
        ({"a": 1}, {"a": 1}, True),
        ({"a": 1}, {"a": 2}, False),
        ({"a": 1}, {"a": 1, "b": 1}, False),
        ({"a": 1}, {"b": 1}, False),
        ({"other": 1}, {"other": 1}, False),
        ({}, {}, True),
        ({}, [], False),
        ([], {}, False),
        ([], [], True),
        ({}, None, False),
        (None, {}, False),
        ("a", {}, False),
        ({}, "a", False),
    ],
)
def test_what_an_update_leaves_unchanged(new: Any, old: Any, expected: bool) -> None:
    """Maps and lists are never alike, and a key that the schema lacks has no old value (apiserver pkg/cel/common/equality.go)."""
    schema = parse_schema({"properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}})
    assert Correlation(new, old, schema).unchanged() is expected


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ({"a": 1}, {}),
        ({}, {"a": 1}),
        *((value, {"a": 1}) for value in (5, "a", ["a"], None)),
        *(({"a": 1}, value) for value in (5, "a", ["a"], None)),
    ],
)
def test_a_key_has_an_old_value_only_where_both_are_maps_that_have_it(new: Any, old: Any) -> None:
    """apiserver pkg/cel/common/equality.go, Key."""
    assert Correlation(new, old, parse_schema({"properties": {"a": {"type": "integer"}}})).key("a") is None


KINDS = {"properties": {"kind": {"type": "string", "maxLength": 3}}}
NEVER = Rule("never", "no", lambda value, old: False)


@pytest.mark.parametrize("judge", ["schema", "rules"])
def test_apiversion_and_kind_are_never_taken_for_unchanged_but_further_down(judge: str) -> None:
    """What both objects have at their root was made the same before (validation/ratcheting.go and schema/cel/validation.go, key)."""
    schema = parse_schema(
        {"properties": {**KINDS["properties"], "ref": KINDS, "n": {"type": "integer"}}},
        lambda path: (NEVER,) if judge == "rules" and path.endswith("kind") else (),
    )
    old = {"kind": "Long", "ref": {"kind": "Long"}, "n": 1}
    new = {**old, "n": 2}
    same = Correlation(new, old, schema)
    errors = validate(schema, new, same) if judge == "schema" else evaluate(schema, new, old, same)
    assert [error.field for error in errors] == ["kind"]


def test_rules_that_compare_find_the_old_item_by_its_keys() -> None:
    """Items of other lists have no old value, so such rules do not run there (schema/cel/validation.go, validateArray)."""
    grows = Rule("grows", "no", lambda value, old: bool(value["v"] > old["v"]), transition=True)
    item = {"type": "object", "properties": {"k": {"type": "string"}, "v": {"type": "integer"}}}
    schema = parse_schema(
        {"properties": {"keyed": {**KEYED, "items": item}, "atomic": {**ATOMIC, "items": item}}},
        lambda path: (grows,) if path.endswith("[]") else (),
    )
    old = [{"k": "a", "v": 1}, {"k": "b", "v": 5}]
    new = [{"k": "c", "v": 0}, {"k": "b", "v": 5}, {"k": "a", "v": 2}]
    lists = {"keyed": new, "atomic": new}
    assert evaluate(schema, lists) == []
    assert [error.field for error in evaluate(schema, lists, {"keyed": old, "atomic": old})] == ["keyed[1]"]
