"""Rows of settings whose place in a manifest was refused: nothing may be said to be carried over that was taken out again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from harness.karpenter.labels import azure, core
from harness.karpenter.releases import ProviderRelease
from harness.kube.api.labels import INSTANCE_TYPE, OS, ZONE
from harness.kube.api.objects import mapping_in
from harness.kube.scheduling.taints import taint_text
from harness.migrate.proposing.accepting import Removed
from harness.migrate.proposing.candidates import Candidate, carried_row
from harness.migrate.proposing.rows import AUTOSCALER_POOL, Row, Verdict, value_text

__all__ = ["corrected", "corrected_profile", "refused_rows"]

_OF_REQUIREMENTS: Mapping[str, str] = {
    INSTANCE_TYPE: "vmSize",
    azure.SKU_FAMILY: "vmSize",
    azure.SKU_CPU: "vmSize",
    azure.SKU_MEMORY: "vmSize",
    azure.SKU_GPU_NAME: "vmSize",
    azure.SKU_PREMIUM_STORAGE: "vmSize",
    ZONE: "availabilityZones",
    OS: "osType",
    core.CAPACITY_TYPE: "scaleSetPriority",
    azure.SKU_ULTRA_SSD: "enableUltraSSD",
}
"""Key of a NodePool's requirement → the pool's field that it is made of."""
_OF_SPEC: Mapping[str, str] = {"limits": "maxCount", "replicas": "minCount"}
_OF_PROFILE: Mapping[str, str] = {
    "consolidateAfter": "scale-down-unneeded-time",
    "consolidationPolicy": "scale-down-utilization-threshold",
    "budgets": "max-empty-bulk-delete",
}
"""Field of `spec.disruption` → the setting of the autoscaler's profile that it is made of."""


def refused_rows(
    candidate: Candidate, of_nodepool: Iterable[Removed], of_nodeclass: Iterable[Removed], release: ProviderRelease
) -> Iterator[Row]:
    """Yield a row of a pool for each part that was taken out of its NodePool or AKSNodeClass."""
    pool = candidate.pool
    source = f"CRD of {release.version}"
    for part in of_nodepool:
        if part.pointer[1:2] != ("disruption",):
            field, value = _setting(part)
            shown = value or value_text(part.value)
            yield Row(pool.name, field, shown, Verdict.NO_EQUIVALENT, part.text, source)
    for part in of_nodeclass:
        path = tuple(str(step) for step in part.pointer[1:])
        for entry in candidate.carried:
            if entry.path[: len(path)] == path:
                yield carried_row(pool, entry, part, release)


def _setting(part: Removed) -> tuple[str, str]:
    """Return the field that a removed part is made of, and the value of it that is lost where it has several."""
    pointer = part.pointer
    if "labels" in pointer:
        return f"nodeLabels.{pointer[-1]}", ""
    for place, field in (("taints", "nodeTaints"), ("startupTaints", "nodeInitializationTaints")):
        if place in pointer:
            return field, taint_text(mapping_in(part.value)) if isinstance(part.value, Mapping) else ""
    if "requirements" in pointer:
        key = part.key or str(mapping_in(part.value).get("key"))
        return _OF_REQUIREMENTS.get(key, f"requirement {key}"), ""
    return _OF_SPEC.get(str(pointer[1]) if len(pointer) > 1 else "", ".".join(map(str, pointer))), ""


def corrected(rows: Iterable[Row], refused: Sequence[Row]) -> Iterator[Row]:
    """Yield the rows without those of fields, or of their lost values, that were refused, and then the refusals."""
    lost = {(row.field, row.value) for row in refused} | {
        (row.field, "") for row in refused if not _has_values(row.field)
    }
    yield from (row for row in rows if not lost & {(row.field, row.value), (row.field, "")})
    yield from refused


def _has_values(field: str) -> bool:
    return field in ("nodeTaints", "nodeInitializationTaints")


def corrected_profile(rows: Iterable[Row], removed: Iterable[Removed], release: ProviderRelease) -> Iterator[Row]:
    """Yield the rows of the autoscaler's profile; those whose place in `spec.disruption` was refused say so."""
    texts: dict[str, str] = {}
    for part in removed:
        if part.pointer[1:2] == ("disruption",):
            names: Any = _OF_PROFILE.values() if len(part.pointer) < 3 else [_OF_PROFILE.get(str(part.pointer[2]), "")]
            texts.update(dict.fromkeys(names, part.text))
    for row in rows:
        if row.field in texts and row.pool == AUTOSCALER_POOL:
            yield Row(
                row.pool, row.field, row.value, Verdict.NO_EQUIVALENT, texts[row.field], f"CRD of {release.version}"
            )
        else:
            yield row
