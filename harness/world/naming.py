"""Names that do not depend on chance, for what is to be compared with another world."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

__all__ = ["renamed"]

_DATE = re.compile(r"\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d[0-9.:+Z-]*| \d\d:\d\d:\d\d [+]0000 UTC)")
_GUID = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")

_MACHINE_DIGITS = re.compile(r"-\d{8}-vm\b")
"""What AKS makes of a machine's name for that of its VM."""


def renamed(found: Mapping[str, Any], pools: Mapping[str, str]) -> dict[str, Any]:
    """The same without dates and ids; NodeClaims are named after their NodePool with a number, in the order of their facts.

    `found["NodeClaims"]` has the facts of each by its name, `pools` its NodePool.
    """
    text = _GUID.sub("GUID", _DATE.sub("DATE", json.dumps(found, sort_keys=True)))
    text = _MACHINE_DIGITS.sub("-DIGITS-vm", text)
    if not pools:
        return dict(json.loads(text))
    anyone = re.compile("|".join(map(re.escape, sorted(pools, key=len, reverse=True))))
    per_claim = json.loads(text)["NodeClaims"]
    masked = {name: anyone.sub("*", json.dumps(each, sort_keys=True)) for name, each in per_claim.items()}
    count: dict[str, int] = {}
    names: dict[str, str] = {}
    for name in sorted(masked, key=lambda name: masked[name]):
        count[pools[name]] = count.get(pools[name], 0) + 1
        names[name] = f"{pools[name]} {count[pools[name]]}"
    new: dict[str, Any] = json.loads(anyone.sub(lambda match: names[match[0]], text))
    return new
