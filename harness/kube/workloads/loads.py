"""The load of a workload: what its ready pods have to do together, however many they are.

A percentage is one of what the workload's pods request in its first size: 150% of a Deployment that came with 4 replicas is the work of
6 pods, each at its requests. A quantity is what all pods use together.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from harness.kube.api.quantity import Quantity, QuantityError
from harness.wording import shortened
from lazyrecords import dataclass

__all__ = ["RESOURCES", "Amount", "Curve", "Load", "load_from"]

RESOURCES = ("cpu", "memory")
"""The resources whose usage the metrics API serves."""
_MOST = 2**63 - 1
"""The thousandths that the metrics API counts to (apimachinery pkg/api/resource/quantity.go, MilliValue)."""
_SHOWN = 40
_PERCENT = re.compile(r"(\d{1,9})%", re.ASCII)


@dataclass(frozen=True, slots=True)
class Amount:
    """A share of the requests in percent, or an amount of all pods in thousandths."""

    percent: int | None = None
    total: int | None = None


Load = Mapping[str, Amount]
"""The amounts by resource; one that is absent is not measured."""
Curve = Sequence[tuple[float, Load]]
"""Loads, each from its second of the world on, in order."""


def load_from(value: Any) -> Load:
    """Return the load of `80%` (of every resource) or `{cpu: 80%, memory: 6Gi}`. Raises ValueError that says what is wrong."""
    if not isinstance(value, Mapping):
        if not isinstance(value, str) or not _PERCENT.fullmatch(value):
            raise ValueError(
                f"a load such as 80% or {{cpu: 80%, memory: 6Gi}} is expected, not '{shortened(str(value), _SHOWN)}'"
            )
        return dict.fromkeys(RESOURCES, _amount("cpu", value))
    unknown = [str(name) for name in value if name not in RESOURCES]
    if unknown or not value:
        shown = f", not '{shortened(unknown[0], _SHOWN)}'" if unknown else ""
        raise ValueError(f"a load is one of {' and '.join(RESOURCES)}{shown}")
    return {str(name): _amount(str(name), amount) for name, amount in value.items()}


def _amount(resource: str, value: Any) -> Amount:
    share = _PERCENT.fullmatch(value) if isinstance(value, str) else None
    if share is not None:
        return Amount(percent=int(share[1]))
    try:
        total = Quantity.parse(value).milli_value()
    except QuantityError:
        total = -1
    shown = shortened(str(value), _SHOWN)
    if total < 0:
        raise ValueError(f"{resource}: a share such as 80% or a quantity is expected, not '{shown}'")
    if total > _MOST:
        raise ValueError(f"{resource}: '{shown}' is more than can be measured, at most {_MOST // 1000}")
    return Amount(total=total)
