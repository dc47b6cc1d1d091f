"""What a schema says at the edges: bounds of numbers and texts, items of lists, keys without a name of their own."""

from __future__ import annotations

from typing import Any

import pytest

from harness.kube.custom_resources.admission import CustomResource, admit, admit_unruled
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
        # bounds of integers are cut off, those of floats are floats (kube-openapi pkg/validation/validate/values.go, MaximumNativeType)
        ({"type": "number", "maximum": 1.5}, 1, []),
        ({"type": "number", "maximum": 1.5}, 2, ["a in body should be less than or equal to 1"]),
        ({"type": "number", "minimum": 1.5}, 1, []),
        ({"type": "number", "minimum": 1.5}, 0, ["a in body should be greater than or equal to 1"]),
        ({"type": "number", "maximum": 1.5}, 1.6, ["a in body should be less than or equal to 1.5"]),
        ({"type": "number", "maximum": 1000000}, 1000001, ["a in body should be less than or equal to 1000000"]),
        ({"type": "number", "maximum": 1000000}, 1000000.5, ["a in body should be less than or equal to 1e+06"]),
        ({"type": "number", "maximum": 1000000.0}, 1000001, ["a in body should be less than or equal to 1000000"]),
        ({"type": "boolean"}, True, []),
        ({"type": "string"}, True, ['a in body must be of type string: "boolean"']),
        ({"type": "integer"}, True, ['a in body must be of type integer: "boolean"']),
        ({}, True, []),
        ({"enum": [1, "x", True, None]}, "x", []),
        ({"enum": [1, "x"]}, True, ['supported values: "1", "x"']),
        ({"enum": [True, None, 1.5]}, 1, ['supported values: "true", "null", "1.5"']),
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
        ({"keyed": [{"k": 1}, {"k": 2}]}, {"keyed": [{"k": 2}, {"k": 1}]}, True),
        ({"keyed": [{"k": 1}]}, {"keyed": [{"k": 1}, {"k": 2}]}, False),
        ({"keyed": [{"k": 1}, {"k": 3}]}, {"keyed": [{"k": 1}, {"k": 2}]}, False),
        ({"keyed": [{"k": 1}, {"k": 1}]}, {"keyed": [{"k": 1}]}, False),
        ({"keyed": []}, {"keyed": []}, True),
        ({"atomic": [{"k": 1}, {"k": 2}]}, {"atomic": [{"k": 2}, {"k": 1}]}, False),
        ({"atomic": [{"k": 1}]}, {"atomic": [{"k": 1}]}, True),
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
    number = {"type": "integer"}
    items = {"type": "object", "properties": {"k": number}}
    lists = {"keyed": {**KEYED, "items": items}, "atomic": {**ATOMIC, "items": items}}
    schema = parse_schema({"properties": {"a": number, "b": number, **lists}})
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
    both = Correlation(new, old, schema)
    errors = validate(schema, new, both) if judge == "schema" else evaluate(schema, new, old, both)
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


@pytest.mark.parametrize(
    ("keys", "value", "fields"),
    [
        (["k"], [{"k": "a"}, {"k": "b"}], []),
        (["k"], [{"k": "a"}, {"k": "b"}, {"k": "a"}, {"k": "a"}], ["list[2]"]),
        (["k"], [{"k": 1}, {"k": 2}, {"k": 2}], ["list[2]"]),
        (["k"], [{"k": 1}, {"k": "1"}], []),
        (["k"], [{"v": 1}, {"v": 2}], ["list[1]"]),  # both lack the key
        (["k"], [None, {"k": "a"}, None], ["list[2]"]),
        (["k"], [{"k": "a"}, "a"], ["list[1]"]),
        (["k", "l"], [{"k": "a", "l": "b"}, {"k": "a", "l": "c"}, {"k": "c", "l": "b"}], []),
        (["k", "l"], [{"k": "a", "l": "b"}, {"k": "b", "l": "a"}, {"l": "b", "k": "a"}], ["list[2]"]),
        (["k", "l"], [{"k": "a", "l": "b"}, {"k": "a"}, {"k": "a", "l": "b"}], ["list[2]"]),
    ],
)
def test_items_of_a_map_list_differ_in_their_keys(keys: list[str], value: Any, fields: list[str]) -> None:
    """apiextensions-apiserver pkg/apiserver/schema/listtype/validation.go, validateListMap."""
    listed = {**KEYED, "x-kubernetes-list-map-keys": keys}
    schema = parse_schema({"properties": {"list": listed}})
    assert [error.field for error in validate_list_types(schema, {"list": value})] == fields


def reading(*path: str | int) -> Rule:
    """A rule that reads a field, and has nothing against it."""

    def check(value: Any, old: Any) -> bool:
        for part in path:
            value = value[part]
        return True

    return Rule("read", "no", check)


INTEGER, NUMBER = {"type": "integer"}, {"type": "number"}
UNREAD = "invalid data, expected int, got float64 evaluating rule: no"


@pytest.mark.parametrize(
    ("definition", "at", "path", "value", "details"),
    [
        ({"properties": {"n": INTEGER}}, "", ["n"], {"n": 3.0}, [UNREAD]),
        ({"properties": {"n": INTEGER}}, "", ["n"], {"n": 3}, []),
        ({"properties": {"n": INTEGER, "m": INTEGER}}, "", ["m"], {"n": 3.0, "m": 3}, []),
        ({"properties": {"n": NUMBER}}, "", ["n"], {"n": 3.0}, []),
        ({"properties": {"n": INTEGER}}, "", ["other"], {"n": 3, "other": 3.0}, []),
        ({"additionalProperties": INTEGER}, "", ["n"], {"n": 3.0}, [UNREAD]),
        ({"properties": {"m": {"properties": {"n": INTEGER}}}}, "", ["m", "n"], {"m": {"n": 3.0}}, [UNREAD]),
        ({"properties": {"m": {"properties": {"n": INTEGER}}}}, "", ["m"], {"m": {"n": 3.0}}, []),
        (
            {"properties": {"l": {"items": {"properties": {"n": INTEGER}}}}},
            "",
            ["l", 1, "n"],
            {"l": [{"n": 3}, {"n": 3.0}]},
            [UNREAD],
        ),
        ({"properties": {"l": {}}}, "", ["l", 0, "n"], {"l": [{"n": 3.0}]}, []),
        ({"properties": {"n": INTEGER}}, "n", [], {"n": 3.0}, [UNREAD]),
        ({"properties": {"n": INTEGER}}, "n", [], {"n": 3, "o": 3.0}, []),
        ({"properties": {"l": {"items": INTEGER}}}, "l[]", [], {"l": [3, 3.0]}, [UNREAD]),
        ({"additionalProperties": INTEGER}, "{}", [], {"m": 3, "n": 3.0}, [UNREAD]),
        ({"properties": {"n": INTEGER, "x": NUMBER}}, "x", [], {"n": 3.0, "x": 1.5}, []),
    ],
)
def test_rules_cannot_read_an_integer_that_came_as_a_float(
    definition: dict[str, Any], at: str, path: list[str | int], value: Any, details: list[str]
) -> None:
    """The schema takes 3.0 for an integer, CEL does not (apiserver pkg/cel/common/valuesunstructured.go, UnstructuredToVal)."""
    schema = parse_schema(definition, lambda place: (reading(*path),) if place == at else ())
    assert [error.detail for error in evaluate(schema, value)] == details


def test_an_item_whose_key_came_as_a_float_has_an_old_value_too() -> None:
    item = {"type": "object", "properties": {"k": INTEGER, "v": NUMBER}}
    stays = Rule("stays", "no", lambda value, old: bool(value["v"] == old["v"]), transition=True)
    schema = parse_schema({**KEYED, "items": item}, lambda at: (stays,) * (at == "[]"))
    assert evaluate(schema, [{"k": 1, "v": 1}], [{"k": 2, "v": 2}]) == []
    assert evaluate(schema, [{"k": 1.0, "v": 1}], [{"k": 2, "v": 2}]) == []
    (error,) = evaluate(schema, [{"k": 2.0, "v": 1}], [{"k": 2, "v": 2}])
    assert (error.field, error.detail) == ("[0]", "no")


def test_a_value_as_rules_read_it_tells_where_it_has_floats() -> None:
    seen: list[Any] = []
    rule = Rule("see", "", lambda value, old: not seen.append(without_marks(value)))  # type: ignore[func-returns-value]
    inner = {"properties": {"n": INTEGER, "x": NUMBER}}
    schema = parse_schema(
        {"properties": {"m": inner, "l": {"items": inner}, "k": INTEGER}}, lambda at: (rule,) * (not at)
    )
    value = {"m": {"n": 3.0, "x": 1.0}, "l": [{"n": 3.0}], "k": 1.0, "o": [1.0]}
    assert evaluate(schema, value) == []
    assert seen == [(value, ("m.n", "k"))]


@pytest.mark.parametrize("subresource", ["", "status"])
def test_rules_run_but_where_they_might_read_a_value_of_a_wrong_type(subresource: str) -> None:
    """Such a value can only be an old one. What else is tolerated keeps no rule from running (customresource/strategy.go)."""
    inner = {"properties": {"bad": {"properties": {"x": INTEGER}}, "good": {"maximum": 2}}}
    definition = {
        "properties": {"spec": inner, "status": inner, "bad": {"type": "string"}, "metadata": {"type": "object"}}
    }
    part = subresource or "spec"
    above = {"", part, f"{part}.bad", f"{part}.bad.x"}
    broken = reading("no such field")
    schema = parse_schema(
        definition, lambda place: () if place == "metadata" else (broken,) if place in above else (NEVER,)
    )
    old: dict[str, Any] = {"metadata": {"name": "a"}, part: {"bad": {"x": "no number"}, "good": 3}, "bad": "old"}
    outcome = admit(CustomResource("g", "v1", "K", schema), {**old, "bad": "new"}, old=old, subresource=subresource)
    assert [error.field for error in outcome.errors] == ["bad"]
    # what changed is no longer tolerated by its parents
    new = {**old, part: {**old[part], "good": 2}}
    outcome = admit(CustomResource("g", "v1", "K", schema), new, old=old, subresource=subresource)
    assert [error.field for error in outcome.errors] == [f"{part}.good"]


def test_a_status_that_the_schema_lacks_is_dropped_by_either_way() -> None:
    resource = CustomResource("g", "v1", "K", parse_schema({"properties": {"spec": {"type": "object"}}}))
    old = {"metadata": {"name": "a"}, "spec": {}}
    new = {**old, "status": {"ready": True}}
    assert admit_unruled(resource, new, old=old, subresource="status") == admit(
        resource, new, old=old, subresource="status"
    )
    assert admit(resource, new, old=old, subresource="status").object == old
