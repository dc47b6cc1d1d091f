"""Amounts of resources as users write them: 14Gi rather than 15032385536."""

from __future__ import annotations

from harness.kube.api.quantity import NANO, Quantity

__all__ = ["amount_text", "rounded_down"]

_MI, _GI = 1 << 20, 1 << 30
_MANY = 100  # from so many on, the next larger unit is exact enough


def rounded_down(resource: str, amount: Quantity) -> Quantity:
    """The largest amount below that a person would write: whole Mi or Gi of memory and disk, thousandths of a CPU, else whole units."""
    sign, nano = (-1, -amount.nano) if amount.negative else (1, amount.nano)
    if not _in_bytes(resource):
        step = NANO // 1000 if resource == "cpu" else NANO
        return Quantity(sign * (nano // step * step), "DecimalSI")
    size = nano // NANO
    step = _GI if size >= _MANY * _GI else _MI if size >= _MI else 1
    return Quantity(sign * (size // step * step) * NANO, "BinarySI")


def amount_text(resource: str, amount: Quantity) -> str:
    """The amount as it was written, where a suffix makes it readable; else rounded down to what a person would write."""
    text = str(amount)
    long = text.removeprefix("-").removesuffix("Ki").isdecimal() and len(text) > len("9999Ki")
    return str(rounded_down(resource, amount)) if long and _in_bytes(resource) else text


def _in_bytes(resource: str) -> bool:
    return resource in ("memory", "ephemeral-storage", "storage") or resource.startswith("hugepages-")
