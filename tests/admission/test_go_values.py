"""JSON values as Go prints them: in JSON, in errors of fields, in its own syntax, and plainly (go_values.go)."""

from __future__ import annotations

import json
from math import inf, nan
from pathlib import Path
from typing import Any

import pytest

from harness.kube.api.field_errors import ErrorType, FieldError, go_json, go_syntax, go_text, print_float

LINES = [*map(json.loads, Path(__file__).with_name("go_values.jsonl").read_text(encoding="utf-8").splitlines())]


def _decoded(text: str) -> Any:
    """As the decoder for Kubernetes objects has it: what 64 bits do not hold is a float."""
    return json.loads(text, parse_int=lambda digits: int(digits) if abs(int(digits)) < 1 << 63 else float(digits))


def test_values_as_go_prints_them() -> None:
    assert len(LINES) == 258
    for text, written, refused, syntax, plain in LINES:
        value = _decoded(text)
        error = FieldError(ErrorType.INVALID, "a", value=value)
        assert [go_json(value), str(error), go_text(value)] == [written, refused.removesuffix(": "), plain]
        if value is not None:  # that alone prints as <nil>; this is how it prints inside of others
            assert go_syntax(value) == syntax


@pytest.mark.parametrize(("value", "text"), [(inf, "+Inf"), (-inf, "-Inf"), (nan, "NaN")])
def test_floats_that_json_has_no_word_for(value: float, text: str) -> None:
    assert print_float(value) == text
