"""Workloads whose load is given, and the HorizontalPodAutoscalers that are simulated for that reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from harness.kube.api.autoscalers import metrics_of, target_of
from harness.kube.api.objects import mapping_in
from harness.kube.workloads.loads import load_from
from harness.reading.manifests import Manifest
from harness.scenario.language.dumps import as_new
from harness.scenario.language.models.base import split_reference
from harness.scenario.language.models.steps import StepMap

if TYPE_CHECKING:
    from harness.scenario.language.models import Header
    from harness.scenario.language.models.given import Given

__all__ = ["identity_of", "load_arguments", "loaded", "targets", "with_autoscalers", "without_effect"]

_AUTOSCALER = "HorizontalPodAutoscaler"

Identity = tuple[str, str, str]


def loaded(header: Header) -> Iterator[tuple[tuple[str | int, ...], str, Sequence[Any]]]:
    """Yield the workloads whose load is given, each with its place and its loads: at the start, or by a step."""
    for reference, load in header.given.load.items():
        yield (
            ("given", "load", reference),
            reference,
            [point.load for point in load] if isinstance(load, list) else [load],
        )
    for index, step in enumerate(header.when):
        if isinstance(step, StepMap):
            yield from ((("when", index, "load", name), name, [load]) for name, load in (step.load or {}).items())


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
    workloads = {identity_of(reference) for _, reference, _ in loaded(header)}
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


def without_effect(reference: str, values: Sequence[Any], manifests: Sequence[Manifest]) -> tuple[str, str] | None:
    """Return why loads of a workload change nothing, with the way out; None where they change something."""
    workload = identity_of(reference)
    empty = any(item.identity == workload and _first_size(item) == 0 for item in manifests)
    loads = [load_from(value) for value in values]
    shares = any(amount.percent is not None for load in loads for amount in load.values())
    if empty and shares:
        why = f"{reference} comes with 0 replicas, so that a share of what they request is nothing"
        return why, "state what all pods use together, as in {cpu: 6}"
    measured = {name for item in manifests if workload in targets([item]) for name in _measured(item)}
    stated = {name for load in loads for name in load}
    if measured and stated.isdisjoint(measured):
        why = f"the HorizontalPodAutoscaler of {reference} measures {' and '.join(sorted(measured))} alone, "
        return f"{why}so that a load of {' and '.join(sorted(stated))} changes nothing", ""
    return None


def _first_size(workload: Manifest) -> Any:
    return mapping_in(workload.object.get("spec")).get("replicas")


def _measured(autoscaler: Manifest) -> Iterator[str]:
    """Yield the resources that it measures, also of one whose shape is not judged yet."""
    spec = mapping_in(autoscaler.object.get("spec"))
    stated = spec.get("metrics")
    for metric in metrics_of({"spec": spec}) if not stated or isinstance(stated, list) else ():
        for field in ("resource", "containerResource"):
            name = mapping_in(mapping_in(metric).get(field)).get("name")
            if isinstance(name, str):
                yield name


def load_arguments(given: Given) -> dict[str, Any]:
    """Return the loads as World takes them, moments in seconds."""
    return {reference: _plain(value) for reference, value in given.load.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [{"at": point.at, "load": _plain(point.load)} for point in value]
    return dict(value) if isinstance(value, Mapping) else value
