"""Names, label values and durations, with the sentences for bad ones."""

import json
from enum import StrEnum
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.kube.api.names import (
    OLD_WORDING,
    dns_label_errors,
    dns_subdomain_errors,
    label_value_errors,
    qualified_name_errors,
)
from harness.kube.api.object_meta import validate_object_meta
from harness.kube.go.durations import DurationError, parse_duration, print_duration

RULE = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
    "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
KEYS = {
    "team": [],
    "example.com/x_Y.z": [],
    "kubernetes.azure.com/mode": [],
    "": ["name part must be non-empty", f"name part {RULE}"],
    "x" * 63: [],
    "x" * 253 + "/" + "x" * 63: [],
    "x" * 64: ["name part must be no more than 63 bytes"],
    "ü": [f"name part {RULE}"],
    "ü" * 40: ["name part must be no more than 63 bytes", f"name part {RULE}"],
    "/x": ["prefix part must be non-empty"],
    "-x": [f"name part {RULE}"],
    "x\n": [f"name part {RULE}"],
    "a/b/c": [f"a valid label key {RULE} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"],
}


@pytest.mark.parametrize(("key", "errors"), KEYS.items())
def test_label_keys(key: str, errors: list[str]) -> None:
    assert qualified_name_errors(key) == errors


def test_the_prefix_is_a_lower_case_domain() -> None:
    (error,) = qualified_name_errors("Example.com/x")
    assert error.startswith("prefix part a lowercase RFC 1123 subdomain must consist of lower case")
    assert qualified_name_errors("x" * 254 + "/x") == ["prefix part must be no more than 253 bytes"]


def test_label_values() -> None:
    assert label_value_errors("") == []
    assert label_value_errors("x" * 63) == []
    assert label_value_errors("x" * 64) == ["must be no more than 63 bytes"]
    assert label_value_errors("a b")[0].startswith("a valid label must be an empty string or consist of alphanumeric")


def test_older_kubernetes_says_characters_and_qualified_name() -> None:
    assert label_value_errors("x" * 64, OLD_WORDING) == ["must be no more than 63 characters"]
    assert qualified_name_errors("a/b/c", OLD_WORDING)[0].startswith("a qualified name must consist of")


def test_dns_names() -> None:
    assert dns_label_errors("a.b") == ["must not contain dots"]
    assert dns_subdomain_errors("a.b") == []
    assert dns_label_errors("x" * 63) == dns_subdomain_errors("x" * 253) == []
    assert dns_label_errors("x" * 64) == ["must be no more than 63 characters"]
    assert dns_subdomain_errors("x" * 254) == ["must be no more than 253 characters"]
    assert dns_subdomain_errors("A.b")[0].startswith("a lowercase RFC 1123 subdomain must consist of")


def _read(text: str) -> list[object]:
    try:
        found = parse_duration(text)
    except DurationError as error:
        return [text, None, str(error)]
    return [text, found, print_duration(found)]


def test_durations_as_go_reads_them() -> None:
    """What Go says of each text (go_durations.go): nanoseconds and how they print, or null and the error."""
    lines = Path(__file__).with_name("go_durations.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 276
    expected = [json.loads(line) for line in lines]
    assert [_read(text) for text, *_ in expected] == expected


@given(st.integers(-(1 << 62), 1 << 62))
def test_durations_survive_printing(nanoseconds: int) -> None:
    assert parse_duration(print_duration(nanoseconds)) == nanoseconds


class _Colour(StrEnum):
    BLUE = "blue"
    WRONG = "not a value"


def test_metadata_is_judged_alike_when_it_comes_again_and_whatever_its_texts_are() -> None:
    def judged(value: str) -> list[str]:
        meta = {"name": "a", "labels": {"colour": value}, "finalizers": ["x y"]}
        return [str(error) for error in validate_object_meta({"metadata": meta}, namespaced=False)]

    assert judged(_Colour.BLUE) == judged("blue") == judged("blue")
    assert judged(_Colour.WRONG) == judged("not a value") == judged("not a value")
    assert [len(judged(each)) for each in _Colour] == [1, 2]


@pytest.mark.parametrize(
    ("prefix", "sound"), [("a-", True), ("a", True), ("--", True), ("-", False), ("-a", False), ("a.-", True)]
)
def test_a_name_is_made_of_a_prefix_whose_last_dash_is_fine(prefix: str, sound: bool) -> None:
    """maskTrailingDash (apimachinery pkg/api/validation/generic.go) puts an "a" in the place of the last two letters."""
    errors = validate_object_meta({"metadata": {"name": "x", "generateName": prefix}}, namespaced=False)
    assert [error.field for error in errors] == ([] if sound else ["metadata.generateName"])


@pytest.mark.parametrize(("generation", "sound"), [(1, True), (0, True), (-1, False)])
def test_a_generation_is_not_negative(generation: int, sound: bool) -> None:
    """ValidateNonnegativeField (apimachinery pkg/api/validation/objectmeta.go)."""
    errors = [
        str(each)
        for each in validate_object_meta({"metadata": {"name": "x", "generation": generation}}, namespaced=False)
    ]
    assert errors == ([] if sound else ["metadata.generation: Invalid value: -1: must be greater than or equal to 0"])


ALL_ANNOTATIONS = 256 * 1024


@pytest.mark.parametrize(
    ("annotations", "too_long"),
    [
        ({"a": "x" * (ALL_ANNOTATIONS - 1)}, False),
        ({"a": "x" * ALL_ANNOTATIONS}, True),
        ({"a": "x" * (ALL_ANNOTATIONS // 2), "b": "x" * (ALL_ANNOTATIONS // 2 - 2)}, False),
        ({"a": "x" * (ALL_ANNOTATIONS // 2), "b": "x" * (ALL_ANNOTATIONS // 2 - 1)}, True),
        ({"ab": "ü" * (ALL_ANNOTATIONS // 2 - 1)}, False),
        ({"abc": "ü" * (ALL_ANNOTATIONS // 2 - 1)}, True),
        ({"abcd": "\U0001f600" * (ALL_ANNOTATIONS // 4 - 1)}, False),
        ({"abcde": "\U0001f600" * (ALL_ANNOTATIONS // 4 - 1)}, True),
    ],
)
def test_annotations_together_have_a_limit_in_bytes(annotations: dict[str, str], too_long: bool) -> None:
    meta = {"name": "a", "annotations": annotations}
    errors = [str(error) for error in validate_object_meta({"metadata": meta}, namespaced=False)]
    assert errors == (["metadata.annotations: Too long: may not be more than 262144 bytes"] if too_long else [])


@pytest.mark.parametrize("digits", [20, 5000])
def test_a_duration_of_too_many_digits_is_none_and_zeros_before_it_do_not_count(digits: int) -> None:
    with pytest.raises(DurationError, match="time: invalid duration"):
        parse_duration("9" * digits + "h")
    assert parse_duration("0" * digits + "1h") == 3600 * 10**9
