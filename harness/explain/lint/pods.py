"""Pods of manifests, also those that workloads would make."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from harness.explain.advice.candidates import required_terms
from harness.explain.lint.findings import Finding, finding
from harness.kube.api.labels import ARCH, BETA_ARCH, INSTANCE_TYPE
from harness.kube.api.objects import Object, mapping_in, spec_of
from harness.kube.api.quantity import Quantity, QuantityError
from harness.kube.workloads.templates import TEMPLATE_PATHS
from lazyrecords import dataclass

__all__ = ["PodTemplate", "memory_findings", "pod_templates"]

_PATHS: Mapping[str, tuple[str, ...]] = {"Pod": (), **TEMPLATE_PATHS}
_ARCHITECTURES = (ARCH, BETA_ARCH, INSTANCE_TYPE)
"""Labels by which a pod decides its architecture."""
_FEW_BYTES = 1024 * 1024
_NANO = 1_000_000_000


@dataclass(frozen=True, slots=True)
class PodTemplate:
    """A pod, or what a workload makes its pods of: the object, the path of the pod in it, and the pod."""

    owner: Object
    path: tuple[str, ...]
    pod: Mapping[str, Any]

    @property
    def asks_for_architecture(self) -> bool:
        """Return whether its selector or required affinity decides the architecture."""
        keys = {
            *(spec_of(self.pod).get("nodeSelector") or {}),
            *(expression["key"] for _, _, expression in required_terms(self.pod)),
        }
        return not keys.isdisjoint(_ARCHITECTURES)


def pod_templates(objects: Iterable[Object]) -> Iterator[PodTemplate]:
    """Yield the pods and the templates of pods among some objects."""
    for obj in objects:
        path = _PATHS.get(str(obj.get("kind")))
        if path is None:
            continue
        pod = obj
        for part in path:
            pod = mapping_in(pod.get(part))
        yield PodTemplate(obj, path, pod)


def memory_findings(template: PodTemplate) -> Iterator[Finding]:
    """Requests of less than 1Mi of memory: a number without a unit is in bytes."""
    for number, container in enumerate(spec_of(template.pod).get("containers") or ()):
        written = ((container.get("resources") or {}).get("requests") or {}).get("memory")
        try:
            amount = Quantity.parse(written).nano // _NANO if written is not None else 0
        except QuantityError:
            continue
        if 0 < amount < _FEW_BYTES:
            at = (*template.path, "spec", "containers")
            text = f"container {container.get('name')} requests {written} memory, which is {amount} bytes; {written}Mi or {written}Gi?"
            yield finding("memory-bytes", template.owner, (*at, number, "resources", "requests", "memory"), text)
