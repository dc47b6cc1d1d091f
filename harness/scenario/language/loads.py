"""Workloads whose load is given, and the HorizontalPodAutoscalers that are simulated for that reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from harness.kube.api.autoscalers import target_of
from harness.reading.manifests import Manifest
from harness.scenario.language.dumps import as_new
from harness.scenario.language.models.base import split_reference
from harness.scenario.language.models.steps import StepMap

if TYPE_CHECKING:
    from harness.scenario.language.models import Header
    from harness.scenario.language.models.given import Given

__all__ = ["identity_of", "load_arguments", "loaded", "targets", "with_autoscalers"]

_AUTOSCALER = "HorizontalPodAutoscaler"

Identity = tuple[str, str, str]


def loaded(header: Header) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield the workloads whose load is given, each with its place: at the start, or by a step."""
    yield from ((("given", "load", reference), reference) for reference in header.given.load)
    for index, step in enumerate(header.when):
        if isinstance(step, StepMap):
            yield from ((("when", index, "load", reference), reference) for reference in step.load or ())


def identity_of(reference: str) -> Identity:
    """Return kind, namespace and name of a reference."""
    kind, namespace, name = split_reference(reference)
    return kind, namespace or "default", name


def targets(manifests: Sequence[Manifest]) -> set[Identity]:
    """Return the workloads that HorizontalPodAutoscalers among the objects scale."""
    keys = (target_of(manifest.object) for manifest in manifests if manifest.kind == _AUTOSCALER)
    return {(key.kind, key.namespace, key.name) for key in keys if key is not None}


def with_autoscalers(
    header: Header, objects: Sequence[Manifest], left_out: Sequence[Manifest]
) -> tuple[list[Manifest], list[Manifest]]:
    """Return the objects of a case and those that are left out, with the autoscalers of loaded workloads among the first."""
    workloads = {identity_of(reference) for _, reference in loaded(header)}
    simulated = [manifest for manifest in left_out if targets([manifest]) & workloads]
    if not simulated:
        return list(objects), list(left_out)
    present = {manifest.identity for manifest in objects}
    added = [
        replace(manifest, document=replace(manifest.document, value=as_new(manifest.object)))
        for manifest in simulated
        if manifest.identity not in present
    ]
    return [*objects, *added], [manifest for manifest in left_out if manifest not in simulated]


def load_arguments(given: Given) -> dict[str, Any]:
    """Return the loads as World takes them, moments in seconds."""
    return {reference: _plain(value) for reference, value in given.load.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [{"at": point.at, "load": _plain(point.load)} for point in value]
    return dict(value) if isinstance(value, Mapping) else value
