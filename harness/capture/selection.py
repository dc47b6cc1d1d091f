"""The objects of a dump that a question is about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.capture.objects import WORKLOADS, unbound
from harness.explain.pods.workloads import named_pods
from harness.kube.api.objects import Object, name_of, namespace_of, spec_of
from harness.kube.scheduling.volume_binding import default_class
from harness.reading.manifests import Manifest
from harness.scenario.language.dumps import Dump, controllers, in_order

__all__ = ["NothingNamed", "Question", "selected"]

_ALWAYS = ("NodePool", "AKSNodeClass", "NodeOverlay", "DaemonSet")
_NODES = ("Node", "CSINode")
_USED = ("PriorityClass", "RuntimeClass", "PersistentVolumeClaim", "PersistentVolume", "StorageClass", "Namespace")


class NothingNamed(LookupError):
    """A pod or Node that the dump does not have; one line. `known` are the names that there are."""

    def __init__(self, text: str, names: Sequence[str]) -> None:
        super().__init__(text)
        self.known = tuple(names)


@dataclass(frozen=True, slots=True)
class Question:
    """A question about a dump: about a pod or a workload (`name`, `namespace/name`, `Deployment/web`), a Node, or
    everything.

    `keep_placement`: bound pods stay on their Nodes; else pods with a controller are placed anew.
    """

    pod: str = ""
    node: str = ""
    keep_placement: bool = False


def selected(dump: Dump, question: Question) -> tuple[list[Object], list[Object]]:
    """Return the objects that the answer may depend on, and the pods in question among them. Raises NothingNamed."""
    everything = [*dump.manifests, *dump.derived]
    if question.node and not any(entry.kind == "Node" and entry.name == question.node for entry in everything):
        raise NothingNamed(
            f"there is no Node {question.node}", [entry.name for entry in everything if entry.kind == "Node"]
        )
    focus = _focus(everything, question.pod) if question.pod else []
    placed = question.keep_placement or bool(question.node)
    chosen = list(focus)
    for manifest in in_order([*_placed(dump), *dump.registered] if placed else dump.manifests):
        if any(manifest.object is pod for pod in focus):
            continue
        kind = manifest.kind
        bound = bool(spec_of(manifest.object).get("nodeName"))
        if kind in _USED or (focus and kind not in _ALWAYS and not (placed and (kind in _NODES or bound))):
            continue
        if kind == "NodeClaim" and not placed:
            continue
        chosen.append(manifest.object)
    chosen = [
        *(obj for obj in chosen if obj["kind"] in _ALWAYS),
        *(obj for obj in chosen if obj["kind"] not in _ALWAYS),
    ]
    if focus and not placed:
        chosen = [unbound(obj) if obj["kind"] == "Pod" else obj for obj in chosen]
    return [*_used([entry.object for entry in everything if entry.kind in _USED], chosen), *chosen], focus


def _focus(manifests: Sequence[Manifest], reference: str) -> list[Object]:
    pods = [manifest.object for manifest in manifests if manifest.kind == "Pod"]
    workloads = [manifest.object for manifest in manifests if manifest.kind in WORKLOADS]
    kind, _, name = reference.partition("/")
    named = [
        workload
        for workload in workloads
        if workload["kind"].lower() == kind.lower()
        and name in (name_of(workload), f"{namespace_of(workload) or 'default'}/{name_of(workload)}")
    ]
    pods_found = named or named_pods(reference, pods)
    if not pods_found:
        references = [f"{namespace_of(pod) or 'default'}/{name_of(pod)}" for pod in pods] + [
            f"{workload['kind']}/{name_of(workload)}" for workload in workloads
        ]
        raise NothingNamed(f"there is no pod {reference}", references)
    return pods_found


def _placed(dump: Dump) -> Iterator[Manifest]:
    """Yield pods in place of the controllers that made them; those of DaemonSets are made anew."""
    daemons = {
        (entry.kind, entry.name, entry.namespace)
        for entry in (*dump.manifests, *dump.derived)
        if entry.kind == "DaemonSet"
    }
    pods = [pod for pod in dump.derived if pod.kind == "Pod" and daemons.isdisjoint(controllers(pod))]
    replaced = {owner for pod in pods for owner in controllers(pod)}
    yield from (
        manifest for manifest in dump.manifests if (manifest.kind, manifest.name, manifest.namespace) not in replaced
    )
    yield from pods


def _used(candidates: Sequence[Object], chosen: Sequence[Object]) -> list[Object]:
    """Classes, claims, volumes and namespaces that the chosen objects name, one through the other."""
    texts = {str(value) for obj in chosen for value in _texts(obj)}
    selects = any("namespaceSelector" in _keys(obj) for obj in chosen)
    classes = [candidate for candidate in candidates if candidate["kind"] == "StorageClass"]
    texts |= {default_class(classes) or ""} if any(_takes_default(obj) for obj in chosen) else set()
    used: list[Object] = []
    for kind in (
        "PersistentVolumeClaim",
        "PersistentVolume",
        "StorageClass",
        "PriorityClass",
        "RuntimeClass",
        "Namespace",
    ):
        for candidate in candidates:
            if candidate["kind"] == kind and (name_of(candidate) in texts if kind != "Namespace" else selects):
                used.append(candidate)
                texts.update(str(value) for value in _texts(spec_of(candidate)))
    return used


def _takes_default(value: Any) -> bool:
    """Return whether a value holds a claim without a class, which gets the cluster's own."""
    if isinstance(value, Mapping):
        claims = [*(value.get("volumeClaimTemplates") or ()), value.get("volumeClaimTemplate")]
        claims += [value] if value.get("kind") == "PersistentVolumeClaim" else []
        named = [spec_of(claim).get("storageClassName") for claim in claims if isinstance(claim, Mapping)]
        return None in named or any(_takes_default(item) for item in value.values())
    return isinstance(value, list) and any(_takes_default(item) for item in value)


def _texts(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, str):
        yield value


def _keys(value: Any) -> set[str]:
    if isinstance(value, Mapping):
        return set(value).union(*(_keys(item) for item in value.values()))
    return set().union(*(_keys(item) for item in value)) if isinstance(value, list) else set()
