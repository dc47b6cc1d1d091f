"""Quantities as the whole numbers in which Go compares them.

Source: apimachinery pkg/api/resource/quantity.go (MilliValue, Value): both round up.
"""

from __future__ import annotations

from harness.kube.api.quantity import NANO, Quantity

__all__ = ["milli", "whole"]

_MILLI = NANO // 1000


def milli(quantity: Quantity | None) -> int:
    """Return a quantity in thousandths; 0 for none."""
    return 0 if quantity is None else -(-quantity.nano // _MILLI)


def whole(quantity: Quantity | None) -> int:
    """Return a quantity in whole units; 0 for none."""
    return 0 if quantity is None else -(-quantity.nano // NANO)
