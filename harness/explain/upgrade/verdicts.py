"""The verdict of one release about an object, without a world: CRDs, then Karpenter's own validation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.karpenter.releases import ALL_PROVIDER_RELEASES, ProviderRelease, provider
from harness.karpenter.validation import (
    Rejection,
    UnknownResource,
    admit,
    crd_set,
    runtime_validate,
    validate_pod,
)
from harness.karpenter.validation.rejections import schema_layer
from harness.kube.api.field_errors import NO_FIELD

__all__ = ["refusals_by", "runtime_refusals", "since"]

Object = Mapping[str, Any]
Pointer = tuple[str | int, ...]


def refusals_by(obj: Object, release: ProviderRelease, kubernetes: str) -> tuple[Rejection, ...]:
    """Return the reasons why a new object is refused under a release with its own CRDs; empty when it is taken.

    A rule about several fields is one reason. That the API server stopped before its rules is none.
    """
    if obj.get("kind") == "Pod":
        return validate_pod(obj, release)
    try:
        admission = admit(obj, crds=crd_set(release.crds), kubernetes=kubernetes)
    except UnknownResource as error:
        kind, name = obj.get("kind"), (obj.get("metadata") or {}).get("name")
        text = str(error)
        return (Rejection(schema_layer(str(kind)), f"{kind}/{name}", "", None, "unknown-kind", text, text, ("kind",)),)
    return _each_once(admission.rejections) or runtime_refusals(admission.object, release)


def _each_once(rejections: Sequence[Rejection]) -> tuple[Rejection, ...]:
    distinct: dict[tuple[str | Pointer, ...], Rejection] = {}
    for rejection in rejections:
        if rejection.path != NO_FIELD:
            place = rejection.pointer if rejection.key else rejection.path
            distinct.setdefault((rejection.layer, rejection.rule, rejection.message, place), rejection)
    return tuple(distinct.values())


def runtime_refusals(obj: Object, release: ProviderRelease) -> tuple[Rejection, ...]:
    """Return the reasons why Karpenter does not use an object that the API server holds."""
    return runtime_validate(obj, release) if obj.get("kind") == "NodePool" else ()


def since(obj: Object, pointer: Pointer, before: ProviderRelease, after: ProviderRelease, kubernetes: str) -> str:
    """The release from which on, up to `after`, what stands at `pointer` is refused."""
    names = ALL_PROVIDER_RELEASES
    if after.version not in names or before.version not in names:
        return after.version
    first = after.version
    for name in reversed(names[: names.index(after.version) + 1]):
        if name == before.version or not _refused_at(obj, pointer, provider(name), kubernetes):
            break
        first = name
    return first


def _refused_at(obj: Object, pointer: Pointer, release: ProviderRelease, kubernetes: str) -> bool:
    return any(rejection.pointer == pointer for rejection in refusals_by(obj, release, kubernetes))
