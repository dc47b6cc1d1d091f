"""The objects of a dump beside machines of the same size, zone, priority and AKSNodeClass, which the simulation launches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harness.karpenter.labels.core import CAPACITY_TYPE, NODEPOOL
from harness.kube.api.labels import INSTANCE_TYPE, ZONE
from harness.kube.api.objects import Object, labels_of, name_of, spec_of, status_of
from harness.kube.api.quantity import Quantity, QuantityError
from harness.reading.manifests import Manifest
from harness.reality.facts import ABSENT, Comparison, State, compared, facts_of, missing
from harness.scenario.language.dumps import Dump, as_new
from harness.world import World

__all__ = ["Twins", "comparisons"]

_KINDS = ("Node", "NodeClaim")
_NO_POOL = "no NodePool of Karpenter made it: agent pools have no Nodes here"
_EVENT = "what the simulation would have said depends on all that happened before"
_NO_TWIN = "the simulation launches no machine of this size, zone and priority for its NodePool"


class Twins:
    """One machine of each kind that the dump has, launched once in a world of its own."""

    def __init__(self, world: World, manifests: Sequence[Manifest]) -> None:
        self._world = world
        self._by_name = {(manifest.kind, manifest.name): manifest.object for manifest in manifests}
        self._made: dict[tuple[str, ...], Mapping[str, Object] | str] = {}

    def of(self, obj: Object) -> Mapping[str, Object] | str:
        """The twin's Node and NodeClaim by kind, or why there is none."""
        labels = labels_of(obj)
        pool = self._by_name.get(("NodePool", labels.get(NODEPOOL, "")))
        if not labels.get(NODEPOOL):
            return _NO_POOL
        if pool is None:
            return f"its NodePool {labels[NODEPOOL]} is not in the dump"
        reference = spec_of(pool).get("template", {}).get("spec", {}).get("nodeClassRef") or {}
        nodeclass = self._by_name.get(("AKSNodeClass", str(reference.get("name"))))
        if nodeclass is None:
            return f"its AKSNodeClass {reference.get('name')} is not in the dump"
        asked = {key: labels[key] for key in (INSTANCE_TYPE, ZONE, CAPACITY_TYPE) if labels.get(key)}
        slot = (name_of(pool), *asked.values())
        if slot not in self._made:
            self._made[slot] = self._launched(pool, nodeclass, asked)
        return self._made[slot]

    def _launched(self, pool: Object, nodeclass: Object, asked: Mapping[str, str]) -> Mapping[str, Object] | str:
        world = self._world.again()
        world.apply(_of_today(nodeclass), _unlimited(pool))
        world.apply(_pod(pool, asked))
        world.settle(allow_rejections=True)
        node = next(iter(world.list("Node")), None)
        claim = next(iter(world.list("NodeClaim")), None)
        if node is None or claim is None:
            return _NO_TWIN
        return {"Node": node, "NodeClaim": claim}


def comparisons(dump: Dump, world: World) -> Iterator[Comparison]:
    """Every fact of every Node, NodeClaim and Event of the dump, in one of the three states."""
    everything = (*dump.manifests, *dump.derived, *dump.finished, *dump.registered, *dump.not_simulated)
    twins = Twins(world, everything)
    for manifest in everything:
        if manifest.kind in _KINDS:
            yield from _of_object(manifest, twins.of(manifest.object))
        elif manifest.kind == "Event":
            place = str(manifest.document.position())
            reason = str(manifest.object.get("reason") or "")
            yield Comparison(manifest.reference, "reason", place, reason, ABSENT, State.INCOMPARABLE, _EVENT)


def _of_object(manifest: Manifest, twin: Mapping[str, Object] | str) -> Iterator[Comparison]:
    obj = manifest.object
    theirs = list(facts_of(obj))
    ours = {} if isinstance(twin, str) else {field: value for field, value, _ in facts_of(twin[manifest.kind])}
    gib = _gib(obj)
    for field, value, path in theirs:
        place = str(manifest.document.position(path))
        if isinstance(twin, str):
            yield Comparison(manifest.reference, field, place, value, ABSENT, State.INCOMPARABLE, twin)
            continue
        state, why, within = compared(field, value, ours.get(field), gib)
        yield Comparison(manifest.reference, field, place, value, ours.get(field, ABSENT), state, why, within)
    present = {field for field, _, _ in theirs}
    place = str(manifest.document.position())
    for field, value in ours.items():
        if field not in present:
            state, why = missing(field)
            yield Comparison(manifest.reference, field, place, ABSENT, value, state, why)


def _gib(obj: Object) -> float:
    try:
        return float(Quantity.parse(str((status_of(obj).get("capacity") or {}).get("memory") or "0")).value()) / (
            1 << 30
        )
    except QuantityError:
        return 0.0


def _of_today(nodeclass: Object) -> dict[str, Any]:
    """The AKSNodeClass as somebody would apply it, without what its cluster found out of it."""
    return {key: value for key, value in as_new(nodeclass).items() if key != "status"}


def _unlimited(pool: Object) -> dict[str, Any]:
    """The NodePool without limits, status and hash."""
    spec = {key: value for key, value in spec_of(pool).items() if key not in ("limits", "replicas")}
    meta = {"name": name_of(pool)}
    return {"apiVersion": pool["apiVersion"], "kind": "NodePool", "metadata": meta, "spec": spec}


def _pod(pool: Object, asked: Mapping[str, str]) -> dict[str, Any]:
    """A pod that only such a machine takes."""
    selector = {**asked, NODEPOOL: name_of(pool)}
    container = {"name": "c", "image": "pause", "resources": {"requests": {"cpu": "1m"}}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "twin"},
        "spec": {"nodeSelector": selector, "tolerations": [{"operator": "Exists"}], "containers": [container]},
    }
