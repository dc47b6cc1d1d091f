"""Which objects of a dump a question is about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.capture.objects import WORKLOADS
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

    def __init__(self, text: str, known: Sequence[str]) -> None:
        super().__init__(text)
        self.known = tuple(known)


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of a dump: of a pod or a workload (`name`, `namespace/name`, `Deployment/web`), of a Node, or of everything.

    `keep_placement`: bound pods stay on their Nodes; else what has a controller is placed anew.
    """

    pod: str = ""
    node: str = ""
    keep_placement: bool = False


def selected(dump: Dump, question: Question) -> tuple[list[Object], list[Object]]:
    """The objects that the answer may depend on, and the pods that are asked for among them. Raises NothingNamed."""
    everything = [*dump.manifests, *dump.derived]
    if question.node and not any(one.kind == "Node" and one.name == question.node for one in everything):
        raise NothingNamed(f"there is no Node {question.node}", [one.name for one in everything if one.kind == "Node"])
    focus = _focus(everything, question.pod) if question.pod else []
    placed = question.keep_placement or bool(question.node)
    chosen = list(focus)
    for manifest in in_order([*_placed(dump), *dump.registered] if placed else dump.manifests):
        if any(manifest.object is one for one in focus):
            continue
        kind = manifest.kind
        bound = bool(spec_of(manifest.object).get("nodeName"))
        if kind in _USED or (focus and kind not in _ALWAYS and not (placed and (kind in _NODES or bound))):
            continue
        if kind == "NodeClaim" and not placed:
            continue
        chosen.append(manifest.object)
    chosen = [
        *(one for one in chosen if one["kind"] in _ALWAYS),
        *(one for one in chosen if one["kind"] not in _ALWAYS),
    ]
    if focus and not placed:
        chosen = [_unbound(one) if one["kind"] == "Pod" else one for one in chosen]
    return [*_used([one.object for one in everything if one.kind in _USED], chosen), *chosen], focus


def _focus(manifests: Sequence[Manifest], reference: str) -> list[Object]:
    pods = [one.object for one in manifests if one.kind == "Pod"]
    workloads = [one.object for one in manifests if one.kind in WORKLOADS]
    kind, _, name = reference.partition("/")
    named = [
        one
        for one in workloads
        if one["kind"].lower() == kind.lower()
        and name in (name_of(one), f"{namespace_of(one) or 'default'}/{name_of(one)}")
    ]
    found = named or named_pods(reference, pods)
    if not found:
        known = [f"{namespace_of(one) or 'default'}/{name_of(one)}" for one in pods] + [
            f"{one['kind']}/{name_of(one)}" for one in workloads
        ]
        raise NothingNamed(f"there is no pod {reference}", known)
    return found


def _placed(dump: Dump) -> Iterator[Manifest]:
    """Pods in place of the controllers that made them; those of DaemonSets are made anew."""
    daemons = {
        (one.kind, one.name, one.namespace) for one in (*dump.manifests, *dump.derived) if one.kind == "DaemonSet"
    }
    pods = [one for one in dump.derived if one.kind == "Pod" and daemons.isdisjoint(controllers(one))]
    replaced = {owner for pod in pods for owner in controllers(pod)}
    yield from (one for one in dump.manifests if (one.kind, one.name, one.namespace) not in replaced)
    yield from pods


def _unbound(pod: Object) -> Object:
    return {**pod, "spec": {key: value for key, value in spec_of(pod).items() if key != "nodeName"}}


def _used(candidates: Sequence[Object], chosen: Sequence[Object]) -> list[Object]:
    """Classes, claims, volumes and namespaces that the chosen objects name, one through the other."""
    texts = {str(value) for one in chosen for value in _texts(one)}
    selects = any("namespaceSelector" in _keys(one) for one in chosen)
    classes = [one for one in candidates if one["kind"] == "StorageClass"]
    texts |= {default_class(classes) or ""} if any(_takes_default(one) for one in chosen) else set()
    found: list[Object] = []
    for kind in (
        "PersistentVolumeClaim",
        "PersistentVolume",
        "StorageClass",
        "PriorityClass",
        "RuntimeClass",
        "Namespace",
    ):
        for one in candidates:
            if one["kind"] == kind and (name_of(one) in texts if kind != "Namespace" else selects):
                found.append(one)
                texts.update(str(value) for value in _texts(spec_of(one)))
    return found


def _takes_default(value: Any) -> bool:
    """Whether there is a claim in it that names no class, and so gets the cluster's own."""
    if isinstance(value, Mapping):
        claims = [*(value.get("volumeClaimTemplates") or ()), value.get("volumeClaimTemplate")]
        claims += [value] if value.get("kind") == "PersistentVolumeClaim" else []
        named = [spec_of(one).get("storageClassName") for one in claims if isinstance(one, Mapping)]
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
