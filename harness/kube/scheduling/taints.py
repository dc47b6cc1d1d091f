"""Taints and tolerations, as plain mappings ``{key, value, effect}`` and ``{key, operator, value, effect}``.

Source: k8s.io/api core/v1 ``toleration.go``; core ``pkg/scheduling/taints.go``.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from harness.kube.api.labels import NOT_READY, UNREACHABLE

Taint = Mapping[str, Any]
Toleration = Mapping[str, Any]

NO_SCHEDULE, PREFER_NO_SCHEDULE, NO_EXECUTE = "NoSchedule", "PreferNoSchedule", "NoExecute"

TAINT_OF_READY: Mapping[str, str] = {"False": NOT_READY, "Unknown": UNREACHABLE}
"""The key of the taint that a Node gets by the status of its Ready condition (kubernetes pkg/controller/nodelifecycle)."""

_COMPARING = ("Lt", "Gt")
_INTEGER = re.compile(r"(0|-?[1-9][0-9]*)\Z")

TOLERATE_PREFERENCES: Toleration = {"operator": "Exists", "effect": PREFER_NO_SCHEDULE}
"""Tolerates every PreferNoSchedule taint."""


def tolerates(toleration: Toleration, taint: Taint) -> bool:
    """Return whether one toleration covers one taint; empty key and effect cover all, no operator means Equal."""
    effect, key = toleration.get("effect"), toleration.get("key")
    if effect and effect != (taint.get("effect") or ""):
        return False
    if key and key != taint.get("key"):
        return False
    operator = toleration.get("operator") or "Equal"
    if operator == "Exists":
        return True
    wanted, present = toleration.get("value") or "", taint.get("value") or ""
    if operator == "Equal":
        return bool(wanted == present)
    if operator in _COMPARING and _INTEGER.match(wanted) and _INTEGER.match(present):
        return int(present) < int(wanted) if operator == "Lt" else int(present) > int(wanted)
    return False


def known_tolerations(tolerations: Sequence[Toleration], *, comparing: bool) -> Sequence[Toleration]:
    """Return the tolerations whose operator the reader knows; without ``comparing`` it knows neither Lt nor Gt, and those cover nothing
    (``toleration.go`` before k8s.io/api 0.35.0)."""
    if comparing or not any(toleration.get("operator") in _COMPARING for toleration in tolerations):
        return tolerations
    return [toleration for toleration in tolerations if toleration.get("operator") not in _COMPARING]


def untolerated(taints: Iterable[Taint], tolerations: Sequence[Toleration]) -> tuple[Taint, ...]:
    """The taints, of any effect, that no toleration covers."""
    return tuple(taint for taint in taints if not any(tolerates(toleration, taint) for toleration in tolerations))


def taint_identity(taint: Taint) -> tuple[str, str]:
    """Return the key and the effect of a taint, which tell it from others; values do not count."""
    return str(taint.get("key") or ""), str(taint.get("effect") or "")


def same_taint(a: Taint, b: Taint) -> bool:
    """Return whether both have the same key and effect (MatchTaint); values do not count."""
    return taint_identity(a) == taint_identity(b)


def same_toleration(a: Toleration, b: Toleration) -> bool:
    """Return whether key, effect, operator and value are the same (MatchToleration)."""
    return all((a.get(field) or "") == (b.get(field) or "") for field in ("key", "effect", "operator", "value"))


def taint_text(taint: Taint) -> str:
    """``key=value:Effect``, or ``key:Effect`` for a taint without value."""
    value = taint.get("value")
    return f"{taint.get('key') or ''}{'=' + value if value else ''}:{taint.get('effect') or ''}"
