"""Names that do not depend on chance, for facts that are compared with another world."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

__all__ = ["renamed"]

_DATE = re.compile(r"\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d[0-9.:+Z-]*| \d\d:\d\d:\d\d [+]0000 UTC)")
_GUID = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")

_MACHINE_DIGITS = re.compile(r"-\d{8}-vm\b")
"""The suffix by which AKS turns a machine's name into that of its VM."""


def renamed(facts: Mapping[str, Any], pools: Mapping[str, str]) -> dict[str, Any]:
    """Return the facts without dates and ids; NodeClaims are named after their NodePool with a number, in the order of
    their facts.

    `facts["NodeClaims"]` has the facts of each by its name, `pools` its NodePool.
    """
    text = _GUID.sub("GUID", _DATE.sub("DATE", json.dumps(facts, sort_keys=True)))
    text = _MACHINE_DIGITS.sub("-DIGITS-vm", text)
    if not pools:
        return dict(json.loads(text))
    anyone = re.compile("|".join(map(re.escape, sorted(pools, key=len, reverse=True))))
    per_claim = json.loads(text)["NodeClaims"]
    masked = {name: anyone.sub("*", json.dumps(claim_facts, sort_keys=True)) for name, claim_facts in per_claim.items()}
    count: dict[str, int] = {}
    names: dict[str, str] = {}
    for name in sorted(masked, key=lambda name: masked[name]):
        count[pools[name]] = count.get(pools[name], 0) + 1
        names[name] = f"{pools[name]} {count[pools[name]]}"
    new: dict[str, Any] = json.loads(anyone.sub(lambda match: names[match[0]], text))
    return new
