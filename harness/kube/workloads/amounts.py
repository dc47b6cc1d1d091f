"""Numbers of pods that are written as a number or as a percentage (intstr)."""

from __future__ import annotations

__all__ = ["share"]


def share(value: object, total: int, *, default: object = 0, up: bool) -> int:
    """A number as it is; a percentage of a total, rounded up or down. `default` stands for None.

    Source: apimachinery pkg/util/intstr (GetScaledValueFromIntOrPercent).
    """
    text = str(default if value is None else value)
    if not text.endswith("%"):
        return int(text)
    product = int(text[:-1]) * total
    return -(-product // 100) if up else product // 100
