"""What a schema says at the edges: bounds of numbers and texts, items of lists, keys without a name of their own."""

from __future__ import annotations

from typing import Any

import pytest

from harness.kube.custom_resources.cel_rules import evaluate, without_marks
from harness.kube.custom_resources.correlation import old_element
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
