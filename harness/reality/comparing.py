"""The objects of a dump beside machines of the same size, zone, priority and AKSNodeClass, which the simulation launches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harness.karpenter.labels.core import CAPACITY_TYPE, NODEPOOL
from harness.kube.api.labels import INSTANCE_TYPE
from harness.kube.api.objects import Object, labels_of, mapping_in, name_of
from harness.kube.api.quantity import Quantity, QuantityError
from harness.reading.manifests import Manifest
from harness.reality.excuses import of_changes, of_history, template_of
from harness.reality.facts import ABSENT, Comparison, State, facts_of
from harness.reality.machines import DECIDING, KINDS, Machine, at_rest, not_launched, twin_pod
from harness.reality.rules import HASHES, Excuse, compared
from harness.scenario.language.dumps import Dump, as_new
from harness.world import World

__all__ = ["Twins", "comparisons", "manifests_of"]

_NO_POOL = "no NodePool of Karpenter made it: agent pools have no Nodes here"
_EVENT = "what the simulation would have said depends on all that happened before"
_NODECLASS, _OVERLAY = "AKSNodeClass", "NodeOverlay"
_NOT_LAUNCHED = "it is not launched yet"
_NO_LABELS = "its labels do not say its size and whether it is a spot machine"


class Twins:
    """One machine of each kind that the dump has, launched once in a world of its own."""

    def __init__(self, world: World, manifests: Sequence[Manifest]) -> None:
        self._world = world
        self._by_name = {(manifest.kind, manifest.name): manifest.object for manifest in manifests}
        self._made: dict[tuple[str, ...], Machine | str] = {}

    def of(self, obj: Object) -> Machine | str:
        """The twin's Node and NodeClaim by kind, or why there is none."""
        labels = labels_of(obj)
        pool = self._pool(obj)
        if not labels.get(NODEPOOL):
            return _NO_POOL
        if pool is None:
            return f"its NodePool {labels[NODEPOOL]} is not in the dump"
        if not (labels.get(INSTANCE_TYPE) and labels.get(CAPACITY_TYPE)):
            launched = obj.get("kind") == "Node" or mapping_in(obj.get("status")).get("providerID")
            return _NO_LABELS if launched else _NOT_LAUNCHED
        wanted = {key: labels[key] for key in DECIDING.values() if labels.get(key)}
        return self._of_pool(pool, wanted)

    def of_pool(self, name: str) -> Machine | str:
        """Return the machine that the NodePool makes where nothing more is wanted of it, or why there is none."""
        pool = self._by_name.get(("NodePool", name))
        return self._of_pool(pool, {}) if pool is not None else f"there is no NodePool {name}"

    def _of_pool(self, pool: Object, wanted: Mapping[str, str]) -> Machine | str:
        slot = (name_of(pool), *wanted.values())
        if slot not in self._made:
            self._made[slot] = self._launched(pool, wanted)
        return self._made[slot]

    def nodeclass(self, obj: Object) -> Object | None:
        """Return the AKSNodeClass of the object's NodePool, None where the dump has none."""
        reference = mapping_in(mapping_in(template_of(self._pool(obj)).get("spec")).get("nodeClassRef"))
        return self._by_name.get((_NODECLASS, str(reference.get("name"))))

    def excuses(self, obj: Object) -> tuple[Excuse, ...]:
        """Return the fields of the object that its history, or a change of its NodePool or AKSNodeClass, explains."""
        pool = self._pool(obj)
        return *of_history(obj, pool), *of_changes(pool, self._changed(obj))

    def _changed(self, obj: Object) -> frozenset[str]:
        """Return the annotations whose hash the object has of a NodePool or an AKSNodeClass that has another one in the dump."""
        owners: dict[str, Any] = {}
        for owner in (self._pool(obj), self.nodeclass(obj)):
            owners |= _annotations(owner)
        own = _annotations(obj)
        return frozenset(key for key in HASHES if key in own and own[key] != owners.get(key))

    def _pool(self, obj: Object) -> Object | None:
        return self._by_name.get(("NodePool", labels_of(obj).get(NODEPOOL, "")))

    def _launched(self, pool: Object, labels: Mapping[str, str]) -> Machine | str:
        world = self._world.fresh()
        if refused := world.apply(_unlimited(pool)):
            return not_launched(refused[0])
        reference = world.list("NodePool")[0]["spec"]["template"]["spec"]["nodeClassRef"]
        nodeclass = self._by_name.get((_NODECLASS, reference["name"]))
        if nodeclass is None and reference["kind"] == _NODECLASS:
            return f"its {_NODECLASS} {reference['name']} is not in the dump"
        if nodeclass is not None and (refused := world.apply(_of_today(nodeclass))):
            return not_launched(refused[0])
        for overlay in self._overlays():
            if refused := world.apply(_of_today(overlay)):
                return not_launched(refused[0])
        world.apply(twin_pod(name_of(pool), labels))
        return at_rest(world)

    def _overlays(self) -> list[Object]:
        """Return the NodeOverlays of the dump, where Karpenter heeds them."""
        heeded = self._world.options.gate(_OVERLAY)
        return [obj for (kind, _), obj in self._by_name.items() if kind == _OVERLAY] if heeded else []


def manifests_of(dump: Dump) -> tuple[Manifest, ...]:
    """Return all objects of the dump, whether or not they are simulated."""
    return (*dump.manifests, *dump.derived, *dump.finished, *dump.registered, *dump.not_simulated)


def comparisons(dump: Dump, world: World) -> Iterator[Comparison]:
    """Every fact of every Node, NodeClaim and Event of the dump, in one of the three states."""
    twins = Twins(world, manifests_of(dump))
    for manifest in manifests_of(dump):
        if manifest.kind in KINDS:
            yield from _of_object(manifest, twins)
        elif manifest.kind == "Event":
            place = str(manifest.document.position())
            reason = str(manifest.object.get("reason") or "")
            yield Comparison(manifest.reference, "reason", place, reason, ABSENT, State.INCOMPARABLE, _EVENT)


def _of_object(manifest: Manifest, twins: Twins) -> Iterator[Comparison]:
    twin = twins.of(manifest.object)
    theirs: list[tuple[str, str | None, tuple[str | int, ...]]] = [*facts_of(manifest.object)]
    ours = {} if isinstance(twin, str) else {field: value for field, value, _ in facts_of(twin[manifest.kind])}
    present = {field for field, _, _ in theirs}
    theirs += [(field, None, ()) for field in ours if field not in present]
    document = manifest.document.with_tree()
    gib, excuses = _gib(manifest.object), twins.excuses(manifest.object)
    for field, value, path in theirs:
        state, why, within = (
            (State.INCOMPARABLE, twin, None)
            if isinstance(twin, str)
            else compared(field, value, ours.get(field), gib, excuses)
        )
        values = ABSENT if value is None else value, ours.get(field, ABSENT)
        yield Comparison(manifest.reference, field, str(document.position(path)), *values, state, why, within)


def _annotations(obj: Object | None) -> Object:
    return mapping_in(mapping_in(mapping_in(obj).get("metadata")).get("annotations"))


def _gib(obj: Object) -> float:
    """Return the memory of the object's machine; 0 where that is no quantity or beyond all measure."""
    memory = mapping_in(mapping_in(obj.get("status")).get("capacity")).get("memory")
    try:
        return float(Quantity.parse(str(memory)).value()) / (1 << 30)
    except (QuantityError, OverflowError):
        return 0.0


def _of_today(nodeclass: Object) -> dict[str, Any]:
    """The AKSNodeClass as somebody would apply it, without what its cluster found out of it."""
    return {key: value for key, value in as_new(nodeclass).items() if key != "status"}


def _unlimited(pool: Object) -> dict[str, Any]:
    """The NodePool without limits, status and hash."""
    spec = {key: value for key, value in mapping_in(pool.get("spec")).items() if key not in ("limits", "replicas")}
    meta = {"name": name_of(pool)}
    return {"apiVersion": pool["apiVersion"], "kind": "NodePool", "metadata": meta, "spec": spec}
