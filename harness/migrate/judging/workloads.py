"""The workloads of a dump: their pods as they would be made, and the agent pools that they run on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from harness.explain.lint.pods import pod_templates
from harness.kube.api.labels import BETA_OS, OS
from harness.kube.api.objects import Object, controller_of, mapping_in, name_of, namespace_of, spec_of
from harness.kube.api.owners import Workload, workload_of
from harness.kube.scheduling.node_affinity import term_matches
from harness.migrate.judging.label_changes import REQUIRED
from harness.migrate.reading.nodes import pool_of
from harness.scenario.language.dumps import Dump
from lazyrecords import dataclass

__all__ = ["Running", "running_workloads"]

_OS_KEYS = (OS, BETA_OS)


@dataclass(frozen=True, slots=True)
class Running:
    """A workload: a pod as it makes them, how many, and the agent pools and Nodes that its pods are on now.

    `object` is the controller, or the pod itself where nothing made it.
    """

    workload: Workload
    object: Object
    pod: Object
    replicas: int
    pools: frozenset[str] = frozenset()
    nodes: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """Return `Deployment/shop/web`, without the namespace where that is `default`."""
        return str(self.workload)

    @property
    def is_daemon(self) -> bool:
        """Return whether each Node has one of its pods."""
        return self.workload.kind == "DaemonSet"

    @property
    def is_fixed(self) -> bool:
        """Return whether no API server lets anybody change its pods (kubernetes pkg/apis/batch/validation: template is immutable)."""
        return self.workload.kind in ("Pod", "Job")

    @property
    def asks_for_windows(self) -> bool:
        """Return whether its pods run on Windows and not on Linux, by their own `os`, their selector or their affinity."""
        if name := mapping_in(spec_of(self.pod).get("os")).get("name"):
            return bool(name == "windows")
        return _takes_os(self.pod, "windows") and not _takes_os(self.pod, "linux")


def _takes_os(pod: Object, name: str) -> bool:
    """Return whether selector and required affinity let the pod onto Nodes of an operating system, whatever else they ask for."""
    spec = spec_of(pod)
    node = {"metadata": {"labels": dict.fromkeys(_OS_KEYS, name)}}
    selector = mapping_in(spec.get("nodeSelector"))
    if any(selector.get(key, name) != name for key in _OS_KEYS):
        return False
    affinity = mapping_in(mapping_in(spec.get("affinity")).get("nodeAffinity"))
    terms: Iterable[Object] = mapping_in(affinity.get(REQUIRED)).get("nodeSelectorTerms") or ({},)
    systems = ([part for part in term.get("matchExpressions") or () if part.get("key") in _OS_KEYS] for term in terms)
    return any(not parts or term_matches({"matchExpressions": parts}, node) for parts in systems)


def running_workloads(dump: Dump) -> list[Running]:
    """Return the workloads of a dump that have or will have pods, in its order."""
    pools = {manifest.name: pool_of(manifest.object) for manifest in dump.manifests if manifest.kind == "Node"}
    places: dict[Workload, set[str]] = {}
    for manifest in (*dump.manifests, *dump.derived):
        if manifest.kind == "Pod" and (node := str(spec_of(manifest.object).get("nodeName") or "")):
            places.setdefault(workload_of(manifest.object), set()).add(node)
    workloads = []
    for workload, obj, pod, replicas in _workloads(_sources(dump)):
        nodes = places.get(workload, set())
        workloads.append(
            Running(
                workload,
                obj,
                pod,
                replicas,
                frozenset(pools[node] for node in nodes if pools.get(node)),
                frozenset(nodes),
            )
        )
    return workloads


def _sources(dump: Dump) -> Iterator[Object]:
    """Yield the objects that make pods, now or when they are due."""
    yield from (manifest.object for manifest in dump.manifests)


def _workloads(objects: Iterable[Object]) -> Iterator[tuple[Workload, Object, Object, int]]:
    for template in pod_templates(objects):
        obj = template.owner
        kind, name, place = str(obj["kind"]), name_of(obj), namespace_of(obj) or "default"
        if kind == "Pod":
            owner = controller_of(obj)
            if owner is None or owner["kind"] != "Node":  # static pods are their Node's
                yield Workload(kind, place, name), obj, obj, 1
            continue
        pod = _pod(template.pod, name, place)
        if template.pod:
            yield Workload(kind, place, name), obj, pod, _replicas(spec_of(obj))


def _pod(template: Mapping[str, Any], name: str, namespace: str) -> dict[str, Any]:
    metadata = {**mapping_in(template.get("metadata")), "name": name, "namespace": namespace}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": mapping_in(template.get("spec"))}


def _replicas(spec: Mapping[str, Any]) -> int:
    number = spec.get("replicas", spec.get("parallelism", 1))
    return number if isinstance(number, int) else 1
