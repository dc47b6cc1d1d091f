"""JSON as ARM takes and sends it."""

from __future__ import annotations

import json

import pytest

from fakeazure.arm import json_text, relaxed_json
from tests.cloud.driver import Driver


@pytest.mark.parametrize(
    "text", ["NaN", "[Infinity]", "-Infinity", "1e999", str(2**63), str(-(2**63) - 1), "9" * 5000, "[" * 65, "{", "1 2"]
)
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        json_text.value(text.encode(), 64)


@pytest.mark.parametrize("number", [2**63 - 1, -(2**63), 1.5, 0])
def test_numbers_of_64_bits_are_taken(number: float) -> None:
    assert json_text.value(str(number).encode(), 64) == number


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b'"\\ud800"', "\ufffd"),
        (b'"a\\udfffb"', "a\ufffdb"),
        (b'"\xed\xa0\x80"', "\ufffd"),
        (b'"\\ud83d\\ude00"', "\U0001f600"),
        ('"\U0001f600"'.encode("utf-16"), "\U0001f600"),
        (b'{"\\ud800": ["\\ud800"]}', {"\ufffd": ["\ufffd"]}),
    ],
)
def test_half_a_surrogate_pair_is_replaced(raw: bytes, text: object) -> None:
    assert json_text.value(raw, 64) == text


def test_a_number_that_is_none_is_null_in_an_answer() -> None:
    driver = Driver()
    driver.put_vm("v")
    change = {"properties": {"additionalCapabilities": {"n": float("nan"), "list": [float("inf"), 1.5]}}}
    body = driver.call("PATCH", driver.vm_path("v"), change).body
    assert body is not None
    sent = json.loads(json_text.write(body), parse_constant=pytest.fail)
    assert sent["properties"]["additionalCapabilities"] == {"n": None, "list": [None, 1.5]}


def test_the_depth_of_a_text_with_open_quotes_is_found_in_linear_time() -> None:
    assert json_text.depth(b"[" + b'\\"' * 500_000, 64) == 1  # in quadratic time: hours


AZ = b"""{"properties": {"mode": "Incremental", template:{
  // what a file may have
  "$schema": "https://x/y#", /* "not a 'string */ resources: [ {name: 'it''s', n: 1,}, ],
  'text': "two
lines \\" //"}}}"""


def test_what_az_sends_of_a_template_is_read() -> None:
    assert relaxed_json.value(AZ.replace(b"it''s", b"it\\'s"), 64) == {
        "properties": {
            "mode": "Incremental",
            "template": {"$schema": "https://x/y#", "resources": [{"name": "it's", "n": 1}], "text": 'two\nlines " //'},
        }
    }
    with pytest.raises(ValueError):
        json_text.value(AZ, 64)


@pytest.mark.parametrize(
    "text",
    [
        "{a: NaN}",
        "{a: Infinity}",
        f"{{a: {2**63}}}",
        "{a: " + "9" * 5000 + "}",
        "{a:" * 65 + "1" + "}" * 65,
        "{a b: 1}",
        "{a: }",
        "{a: 'x",
    ],
)
def test_what_is_read_loosely_has_the_same_bounds(text: str) -> None:
    with pytest.raises(ValueError):
        relaxed_json.value(text.encode(), 64)


@pytest.mark.parametrize("part", [b'\\"', b"\\'", b"/*", b"//", b'"', b"'"])
def test_strings_and_comments_that_stay_open_are_read_in_linear_time(part: bytes) -> None:
    for start in (b'{a: "', b"{a: '", b"{a: /*"):
        with pytest.raises(ValueError):
            relaxed_json.value(start + part * 300_000, 64)  # in quadratic time: hours


def test_half_a_surrogate_pair_is_replaced_in_loose_json_too() -> None:
    assert relaxed_json.value(b"{a: 'x\\ud83d\\ude00'}", 64) == {"a": "x\U0001f600"}
