"""A warning, and the codes by which warnings are named and silenced."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.kube.api.field_errors import Pointer
from harness.kube.api.objects import Object, name_of, namespace_of
from lazyrecords import dataclass

__all__ = ["ALLOW", "CODES", "Finding", "allowed_by", "finding"]

CODES: Mapping[str, str] = {
    "arm64-unasked": "a NodePool may make arm64 machines for pods that ask for no architecture",
    "azure-taint": "a taint in AKS's own domain kubernetes.azure.com",
    "budget-never": "budgets that never let a node go",
    "budget-schedule": "a schedule that is no cron expression, so that nothing is disrupted",
    "limit-below-node": "limits that are smaller than the smallest node",
    "memory-bytes": "a request of a few bytes of memory",
    "nodeclass-missing": "a nodeClassRef that names nothing",
    "taint-untolerated": "a taint that no pod tolerates",
}
"""Code → what is warned of."""

ALLOW = "karpenter-azure-harness/allow"
"""An annotation of an object: the codes that are not to be told of it, separated by commas."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One warning: its code, the object and the field that it is about, and the reason."""

    code: str
    kind: str
    namespace: str
    name: str
    pointer: Pointer
    text: str


def finding(code: str, obj: Object, pointer: Sequence[str | int], text: str) -> Finding:
    """A warning about a field of an object."""
    return Finding(code, str(obj.get("kind")), namespace_of(obj) or "default", name_of(obj), tuple(pointer), text)


def allowed_by(obj: Mapping[str, Any]) -> frozenset[str]:
    """The codes that an object's own annotation silences."""
    annotations = (obj.get("metadata") or {}).get("annotations") or {}
    return frozenset(code.strip() for code in str(annotations.get(ALLOW, "")).split(","))
