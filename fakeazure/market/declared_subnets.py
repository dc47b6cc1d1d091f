"""Subnets that a world has from the start beside the cluster's own: a company's network, by the ids of its subnets.

```
subnets: [/subscriptions/S/resourceGroups/G/providers/Microsoft.Network/virtualNetworks/company/subnets/nodes]
```
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fakeazure.arm.ids import ResourceId
from fakeazure.market.wording import MarketError

__all__ = ["SUBNETS", "declared_subnets"]

SUBNETS = "subnets"
_TYPES = ("virtualnetworks", "subnets")


def declared_subnets(spec: Mapping[str, Any]) -> Iterator[ResourceId | MarketError]:
    """The subnets that `spec` names, and every mistake."""
    ids = spec.get(SUBNETS) or ()
    if isinstance(ids, str) or not isinstance(ids, list | tuple):
        yield MarketError(SUBNETS, f"expected a list of ids, found {ids!r}")
        return
    for index, text in enumerate(ids):
        try:
            id_ = ResourceId.parse(str(text))
        except ValueError:
            id_ = None
        if id_ is None or id_.namespace.lower() != "microsoft.network" or tuple(map(str.lower, id_.types)) != _TYPES:
            yield MarketError(f"{SUBNETS}[{index}]", f"{text!r} is not the id of a subnet")
        else:
            yield id_
