"""The rules by which two answers count as the same."""

from typing import Any

import pytest

from tests.conformance.causes import signature
from tests.conformance.compare import Difference, reply_differences
from tests.conformance.deliberate import Deliberate, reason_for

SAME: list[tuple[str, str, Any, Any]] = [
    ("absent, null and empty", "labels", {"a": None, "b": [], "c": {}}, {}),
    ("numbers within 1e-9", "labels", {"price": 0.1 + 0.2}, {"price": 0.3}),
    ("lists without order, by their field", "labels", {"values": ["a", "b"]}, {"values": ["b", "a"]}),
    (
        "what is missing, by its resource and by its kind",
        "schedule",
        {"errors": {"p": 'getting claim, persistentvolumeclaims "c" not found'}},
        {"errors": {"p": 'getting claim, PersistentVolumeClaim "c" not found'}},
    ),
    ("a random number", "labels", {"x": "$RANDOM"}, {"x": "-17"}),
    ("the time of the run", "labels", {"x": "$NOW"}, {"x": "2026-01-01"}),
    (
        "placeholders",
        "schedule",
        {"errors": {"p": "on hostname-placeholder-0001"}},
        {"errors": {"p": "on hostname-placeholder-0007"}},
    ),
    (
        "placeholders, where their numbers would change the order",
        "schedule",
        {"events": [{"m": "hostname-placeholder-0001 b"}, {"m": "hostname-placeholder-0002 a"}]},
        {"events": [{"m": "hostname-placeholder-0001 a"}, {"m": "hostname-placeholder-0002 b"}]},
    ),
    (
        "a variant as a whole",
        "schedule",
        {"nodeclaims": [1], "variants": [{"mode": "go_map_order", "answer": {"nodeclaims": [2]}}]},
        {"nodeclaims": [2]},
    ),
    (
        "any of the texts",
        "requirements",
        {"compatible": {"error": "a", "variants": ["a", "b"]}},
        {"compatible": {"error": "b"}},
    ),
    ("the order of parts", "requirements", {"intersects": {"error": "a; b"}}, {"intersects": {"error": "b; a"}}),
    (
        "the order of words in brackets",
        "validate_nodepool",
        {"runtime": {"error": "x not in [a b], y"}},
        {"runtime": {"error": "x not in [b a], y"}},
    ),
    (
        "the order of known values, which up to core 1.9 are a set",
        "validate_nodepool",
        {"runtime": {"error": "invalid values: [x] for key: k, expected one of: [spot on-demand reserved]"}},
        {"runtime": {"error": "invalid values: [x] for key: k, expected one of: [on-demand reserved spot]"}},
    ),
    (
        "the order of errors in the API server's text",
        "validate_nodepool",
        {"crd": {"message": 'NodePool "x" is invalid: [a: b, c: d]'}},
        {"crd": {"message": 'NodePool "x" is invalid: [c: d, a: b]'}},
    ),
    (
        "items without order, with whole numbers in two notations",
        "validate_nodepool",
        {"defaulted": {"requirements": [{"min": 50, "operator": "Gt"}, {"min": 50, "operator": "Exists"}]}},
        {"defaulted": {"requirements": [{"min": 50, "operator": "Gt"}, {"min": 50.0, "operator": "Exists"}]}},
    ),
]

DIFFERENT: list[tuple[str, str, Any, Any, str]] = [
    ("a list with order", "labels", {"pods": ["a", "b"]}, {"pods": ["a", "c"]}, "pods[1]"),
    (
        "what is missing, by its resource",
        "schedule",
        {"errors": {"p": 'persistentvolumeclaims "c" not found'}},
        {"errors": {"p": 'persistentvolumeclaims "c" not found'}},
        "errors.p",
    ),
    ("true is not 1", "labels", {"x": True}, {"x": 1}, "x"),
    ("text is not a number", "labels", {"x": "1"}, {"x": 1}, "x"),
    ("no random word", "labels", {"x": "$RANDOM"}, {"x": "word"}, "x"),
    (
        "a mixture of variants",
        "schedule",
        {"a": 1, "b": 1, "variants": [{"answer": {"a": 2, "b": 2}}]},
        {"a": 1, "b": 2},
        "b",
    ),
    (
        "a text that is none of them",
        "requirements",
        {"compatible": {"error": "a"}},
        {"compatible": {"error": "c"}},
        "compatible.error",
    ),
    (
        "no error where one is",
        "requirements",
        {"compatible": {"error": "a"}},
        {"compatible": {"error": None}},
        "compatible.error",
    ),
    (
        "another key",
        "validate_nodepool",
        {"requirements": [{"key": "a", "result": {"error": None}}]},
        {"requirements": [{"key": "b", "result": {"error": None}}]},
        "requirements",
    ),
    ("one more item", "labels", {"values": ["a"]}, {"values": ["a", "b"]}, "values.length"),
]


@pytest.mark.parametrize(("op", "want", "got"), [pytest.param(*row[1:], id=row[0]) for row in SAME])
def test_same(op: str, want: Any, got: Any) -> None:
    assert reply_differences(op, {"answer": want}, {"answer": got}) == []


@pytest.mark.parametrize(("op", "want", "got", "path"), [pytest.param(*row[1:], id=row[0]) for row in DIFFERENT])
def test_different(op: str, want: Any, got: Any, path: str) -> None:
    assert [difference.path for difference in reply_differences(op, {"answer": want}, {"answer": got})] == [path]


@pytest.mark.parametrize(
    ("want", "got", "same"),
    [
        ({"panic": "index out of range"}, {"fatal": "no values"}, True),
        ({"fatal": "a"}, {"panic": "b"}, True),
        ({"panic": "x"}, {"answer": 1}, False),
        ({"panic": "x"}, {"ended": "exit status 1"}, False),
        ({"answer": 1}, {"panic": "x"}, False),
        ({"answer": 1}, {"unsupported": "x"}, False),
        ({"answer": None}, {}, False),
    ],
)
def test_replies_without_an_answer(want: Any, got: Any, same: bool) -> None:
    assert (reply_differences("labels", want, got) == []) is same


def test_one_cause_has_one_signature() -> None:
    one = Difference("a.keys.team.len", 3, 4)
    other = Difference("a.keys.example.com/x.len", 7, 1)
    assert signature(one) == signature(other) == "a.keys.*.len: int → int"
    texts = [Difference("runtime.error", f'label "{key}" is restricted', None) for key in ("a", "b/c")]
    assert len({signature(difference) for difference in texts}) == 1


def test_what_is_different_on_purpose_needs_a_reason_for_every_difference() -> None:
    table = [Deliberate("labels", r"vm\.tags\..*", "tags are not modelled", frozenset({"1.4.0"}))]
    tag, size = Difference("vm.tags.a", "x", None), Difference("vm.size", "a", "b")
    assert reason_for("1.4.0", "labels", [tag], table) == "tags are not modelled"
    assert reason_for("1.14.0", "labels", [tag], table) is None
    assert reason_for("1.4.0", "labels", [tag, size], table) is None
