"""Numbers of pods that are written as a number or as a percentage of a total (IntOrString)."""

from __future__ import annotations

import re

from harness.kube.go.text import parse_int_lenient

__all__ = ["percentage", "plain", "share"]

_PERCENTAGE = re.compile("[0-9]+%")


def share(value: object, total: int, *, up: bool) -> int:
    """Return a number as it is; a percentage of a total, rounded up or down.

    Source: apimachinery pkg/util/intstr (GetScaledValueFromIntOrPercent).
    """
    text = str(value)
    if not text.endswith("%"):
        return parse_int_lenient(text)
    product = parse_int_lenient(text[:-1]) * total
    return -(-product // 100) if up else product // 100


def percentage(value: object) -> int | None:
    """Return the number of a text that is a percentage; None for anything else (pkg/apis/apps/validation, getPercentValue)."""
    return parse_int_lenient(value[:-1]) if isinstance(value, str) and _PERCENTAGE.fullmatch(value) else None


def plain(value: object) -> int:
    """Return an amount without its total: a percentage's number, a number in a text, 0 for other texts (getIntOrPercentValue)."""
    percents = percentage(value)
    return parse_int_lenient(str(value)) if percents is None else percents
