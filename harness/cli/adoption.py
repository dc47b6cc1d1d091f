"""A dump's cluster as it is: each Node of a NodePool gets its machine and its NodeClaim, and pods stay where they are.

Karpenter launches the NodeClaims anew, each with the one size, zone and capacity type that its Node has, while nothing is disrupted;
then ages, labels, annotations and versions are those of the dump.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from harness.engine.clock import SECOND, parse, render
from harness.engine.ports import ADMIN
from harness.karpenter.labels.azure import NODE_CLASS_HASH, NODE_CLASS_HASH_VERSION
from harness.karpenter.labels.core import CAPACITY_TYPE, NODEPOOL, NODEPOOL_HASH, NODEPOOL_HASH_VERSION
from harness.kube.api.labels import INSTANCE_TYPE, ZONE
from harness.kube.api.objects import annotations_of, controller_of, labels_of, name_of, namespace_of, spec_of, status_of
from harness.kube.api.owners import workload_of

if TYPE_CHECKING:
    from harness.clusters.memory.request import Request
    from harness.reading.manifests import Manifest
    from harness.scenario.language.dumps import Dump
    from harness.world import World

__all__ = ["Adoption", "managed_nodes"]

_FIRST = ("Namespace", "AKSNodeClass", "NodePool")
_PINNED = (INSTANCE_TYPE, ZONE, CAPACITY_TYPE)
_HASHES = (NODEPOOL_HASH, NODEPOOL_HASH_VERSION, NODE_CLASS_HASH, NODE_CLASS_HASH_VERSION)
Object = Mapping[str, Any]


def managed_nodes(dump: Dump) -> list[Manifest]:
    """The Nodes of a dump that belong to one of its NodePools."""
    pools = {manifest.name for manifest in dump.manifests if manifest.kind == "NodePool"}
    return [
        manifest
        for manifest in dump.manifests
        if manifest.kind == "Node" and labels_of(manifest.object).get(NODEPOOL) in pools
    ]


class Adoption:
    """Takes a dump's Nodes over. `missing` names those for which there is no machine, each with the reason."""

    def __init__(self, world: World, dump: Dump) -> None:
        self._world = world
        self._nodes = {manifest.name: manifest.object for manifest in managed_nodes(dump)}
        self._claims = {
            str(status_of(manifest.object).get("nodeName") or ""): manifest.object for manifest in dump.registered
        }
        pods = [
            manifest
            for manifest in (*dump.manifests, *dump.derived)
            if manifest.kind == "Pod" and _node_of(manifest.object)
        ]
        self._pods = [manifest.object for manifest in pods]
        time = dump.time()
        self._now = world.clock.now if time is None else time
        """When the dump was made, in nanoseconds of the dump's own clock (since `EPOCH`)."""
        self._named: dict[str, str] = {}
        self.missing: list[str] = []

    def apply(self, manifests: Sequence[Manifest]) -> tuple[list[str], str]:
        """Apply the dump. Returns what was added to it, and why it does not come to rest. Raises ScenarioError."""
        from harness.cli.manifests import apply_manifests, settle

        first = [manifest for manifest in manifests if manifest.kind in _FIRST]
        rest = [manifest for manifest in manifests if manifest.kind not in _FIRST]
        rest = [manifest for manifest in rest if not (manifest.kind == "Node" and manifest.name in self._nodes)]
        self._world.karpenter.hold()
        added = apply_manifests(self._world, first)
        settle(self._world)
        self._machines()
        with self._seats():
            apply_manifests(self._world, rest, complete=False, change=self._here)
            motion = settle(self._world)
        self._run_pods_elsewhere()
        self._world.karpenter.release()
        return added, motion

    def _run_pods_elsewhere(self) -> None:
        """Pods on Nodes that are not Karpenter's run as they did: no kubelet is simulated there."""
        ours = {*self._named.values()}
        for pod in self._world.list("Pod"):
            if _node_of(pod) and _node_of(pod) not in ours and status_of(pod).get("phase") != "Running":
                ready = {"type": "Ready", "status": "True", "lastTransitionTime": self._world.clock.timestamp()}
                self._world.cluster.writer(ADMIN).patch(
                    "Pod",
                    name_of(pod),
                    {"status": {"phase": "Running", "conditions": [ready]}},
                    namespace=namespace_of(pod),
                    subresource="status",
                )

    def _machines(self) -> None:
        """Launches a machine for each Node. Everything that NodeClaims refer to is there; nothing else is done meanwhile."""
        made = {name: self._claim_of(name, node) for name, node in self._nodes.items()}
        for name, claim in made.items():
            for refused in self._world.apply(claim):
                self.missing.append(f"{name}: {refused.text}")
        self._world.settle(allow_rejections=True)
        from harness.world.startup import end_startup

        end_startup(self._world)
        for name, claim in made.items():
            there = self._world.get("NodeClaim", name_of(claim))
            node = self._world.get("Node", str(status_of(there or {}).get("nodeName") or "")) if there else None
            if there is None or node is None:
                self.missing.append(f"{name}: Azure has no {labels_of(self._nodes[name]).get(INSTANCE_TYPE)} for it")
                continue
            self._named[name] = name_of(node)
            self._age(there, self._claims.get(name))
            self._look_alike(node, self._nodes[name])

    def _claim_of(self, name: str, node: Object) -> dict[str, Any]:
        """The NodeClaim of a Node: the dump's, or what its NodePool would have made, with the Node's own size, zone and capacity type."""
        world = self._world
        claim, labels = self._claims.get(name), labels_of(node)
        pool = world.get("NodePool", labels[NODEPOOL]) or {}
        template = spec_of(pool).get("template") or {}
        spec = {**spec_of(template), **(spec_of(claim) if claim is not None else {})}
        requirements = [
            requirement for requirement in spec.get("requirements") or () if requirement.get("key") not in _PINNED
        ]
        requirements += [
            {"key": key, "operator": "In", "values": [labels[key]]} for key in _PINNED if labels.get(key) is not None
        ]
        source = annotations_of(claim) if claim is not None else {}
        current = annotations_of(pool)
        hashes = {key: source.get(key) or current.get(key) for key in _HASHES}
        own = {key: value for key, value in source.items() if key not in _HASHES and "/" in key}
        return {
            "apiVersion": "karpenter.sh/v1",
            "kind": "NodeClaim",
            "metadata": {
                "name": name_of(claim) if claim is not None else name.removeprefix("aks-"),
                "labels": {
                    **((template.get("metadata") or {}).get("labels") or {}),
                    **(labels_of(claim) if claim is not None else {}),
                    NODEPOOL: labels[NODEPOOL],
                },
                "annotations": {**own, **{key: value for key, value in hashes.items() if value is not None}},
            },
            "spec": {**spec, "requirements": requirements},
        }

    def _age(self, claim: Object, origin: Object | None) -> None:
        """Make the claim as old as in the dump, with pods that came and went when they did."""
        if origin is None:
            return
        created = (origin.get("metadata") or {}).get("creationTimestamp")
        if created:
            self._world.cluster.store.backdate("NodeClaim", name_of(claim), self._then(created))  # type: ignore[attr-defined]
        event = status_of(origin).get("lastPodEventTime")
        if event:
            self._patch("NodeClaim", name_of(claim), {"status": {"lastPodEventTime": self._then(event)}}, "status")

    def _then(self, text: str) -> str:
        """A timestamp of the dump, moved to this world's clock."""
        return render((self._world.clock.now - max(0, self._now - parse(text))) // SECOND * SECOND)

    def _look_alike(self, node: Object, origin: Object) -> None:
        """Copy to the Node the labels and annotations of people and agents, and the version of its kubelet."""
        labels = {key: value for key, value in labels_of(origin).items() if key not in labels_of(node)}
        marks = {key: value for key, value in annotations_of(origin).items() if key not in annotations_of(node)}
        spec = {key: spec_of(origin)[key] for key in ("taints", "unschedulable") if key in spec_of(origin)}
        self._patch("Node", name_of(node), {"metadata": {"labels": labels, "annotations": marks}, "spec": spec})
        version = (status_of(origin).get("nodeInfo") or {}).get("kubeletVersion")
        if version:
            self._patch("Node", name_of(node), {"status": {"nodeInfo": {"kubeletVersion": version}}}, "status")

    def _patch(self, kind: str, name: str, patch: Object, subresource: str = "") -> None:
        self._world.cluster.writer(ADMIN).patch(kind, name, patch, subresource=subresource)

    def _here(self, pod: Object) -> Object:
        """A bound pod, on the Node that stands for its own."""
        node = _node_of(pod)
        return {**pod, "spec": {**spec_of(pod), "nodeName": self._named.get(node, node)}} if node else pod

    @contextmanager
    def _seats(self) -> Iterator[None]:
        """So long pods that workloads make anew come up where the dump has theirs."""
        free: dict[tuple[str, str, str], list[str]] = {}
        for pod in self._pods:
            for owner in _owners(pod):
                free.setdefault(owner, []).append(self._named.get(_node_of(pod), _node_of(pod)))

        def seat(request: Request) -> dict[str, Any]:
            new = request.object
            if request.key.kind != "Pod" or request.verb != "create" or _node_of(new):
                return new
            for owner in _owners(new):
                if free.get(owner):
                    return {**new, "spec": {**spec_of(new), "nodeName": free[owner].pop(0)}}
            return new

        admission = self._world.cluster.store.admission  # type: ignore[attr-defined]
        admission["seats"] = seat
        try:
            yield
        finally:
            del admission["seats"]


def _node_of(pod: Object) -> str:
    return str(spec_of(pod).get("nodeName") or "")


def _owners(pod: Object) -> Iterator[tuple[str, str, str]]:
    """Kind, namespace and name of the workload of a pod, and of the ReplicaSet between them; none for a DaemonSet's, which has a Node."""
    owner, made = controller_of(pod), workload_of(pod)
    if owner is None or made.kind == "DaemonSet":
        return
    yield made.kind, made.namespace, made.name
    if made.kind != owner["kind"]:
        yield str(owner["kind"]), made.namespace, str(owner["name"])
