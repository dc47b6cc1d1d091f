"""What an upgrade of the provider does to objects: what is refused, which sizes and Node labels change, which Nodes are replaced.

Both releases are asked: admission, validation, the hashes, and worlds in which a plain pod meets each NodePool and the objects' own
pods meet all of them. There is no table of differences.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from harness.explain.advice import advice
from harness.explain.upgrade.trial import Trial, trial
from harness.explain.upgrade.verdicts import refusals_by, runtime_refusals, since
from harness.explain.upgrade.workload import Placement, placements
from harness.karpenter.launch.nodeclass_hash import nodeclass_hash
from harness.karpenter.releases import ProviderRelease
from harness.karpenter.validation import Rejection, RejectionLayer, admit, crd_set, nodepool_hash
from harness.kube.api.labels import ARCH, BETA_ZONE, HOSTNAME, INSTANCE_TYPE, ZONE
from harness.world import World

__all__ = ["Effect", "Finding", "UpgradeCheck"]

Object = Mapping[str, Any]
Pointer = tuple[str | int, ...]

KARPENTER_KINDS = ("AKSNodeClass", "NodePool")
_OWN_NAME = frozenset({HOSTNAME})
_ZONES = frozenset({ZONE, BETA_ZONE})


class Effect(StrEnum):
    """What a finding means for the one who upgrades."""

    WORSE = "worse"
    CHANGED = "changed"
    BETTER = "better"
    SAME = "same"


@dataclass(frozen=True, slots=True)
class Finding:
    """One consequence of the upgrade.

    ``object`` is ``Kind/name`` and ``pointer`` the place in it, ``kind`` what it is about (refused, nodeclaims-refused, validation,
    sizes, choice, pod, label, hash), ``key`` the label key if it is about one. ``before`` and ``after`` are for reading; ``rule`` and
    ``since`` say who refuses from which release on; ``instead`` are ways out and ``notes`` what else to know.
    """

    effect: Effect
    object: str
    kind: str
    text: str
    pointer: Pointer = ()
    key: str | None = None
    layer: str | None = None
    rule: str | None = None
    since: str | None = None
    before: str | None = None
    after: str | None = None
    instead: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class UpgradeCheck:
    """An upgrade from one release to another; `new_world(release, crds)` makes the worlds it is tried in."""

    def __init__(
        self, new_world: Callable[[ProviderRelease, str], World], before: ProviderRelease, after: ProviderRelease
    ) -> None:
        self.before = before
        self.after = after
        self._new_world = new_world
        self.kubernetes = new_world(after, after.crds).kubernetes

    def findings(self, objects: Sequence[Object]) -> list[Finding]:
        """Everything that changes for these objects (NodePools, AKSNodeClasses, pods and their controllers)."""
        found: list[Finding] = []
        for obj in objects:
            if obj.get("kind") in (*KARPENTER_KINDS, "Pod"):
                found += self._admission(obj)
        nodeclasses = [obj for obj in objects if obj.get("kind") == "AKSNodeClass"]
        for obj in objects:
            if obj.get("kind") in KARPENTER_KINDS:
                found += self._hash(obj)
            if obj.get("kind") == "NodePool":
                found += self._pool(obj, nodeclasses)
        found += self._pods(objects)
        return found

    # Admission

    def _admission(self, obj: Object) -> Iterator[Finding]:
        name = f"{obj['kind']}/{obj['metadata']['name']}"
        old = refusals_by(obj, self.before, self.kubernetes)
        new = refusals_by(obj, self.after, self.kubernetes)
        known: dict[Pointer, list[str]] = {}
        for rejection in old:
            known.setdefault(rejection.pointer, []).append(rejection.message)
        for rejection in new:
            if rejection.pointer not in known:
                yield self._refusal(obj, name, rejection, stored=not old)
            else:
                text = f"{_subject(rejection)} is refused by both: {rejection.message}"
                if rejection.message not in known[rejection.pointer]:
                    text += f" ({self.before.version}: {known[rejection.pointer][0]})"
                yield Finding(
                    Effect.SAME,
                    name,
                    "refused",
                    text,
                    rejection.pointer,
                    rejection.key,
                    str(rejection.layer),
                    rejection.rule,
                )
        remaining = {rejection.pointer for rejection in new}
        for rejection in old:
            if rejection.pointer not in remaining and not any(_below(rejection.pointer, place) for place in remaining):
                text = f"{_subject(rejection)} is taken; {self.before.version} refused it: {rejection.message}"
                yield Finding(
                    Effect.BETTER,
                    name,
                    "accepted",
                    text,
                    rejection.pointer,
                    rejection.key,
                    str(rejection.layer),
                    rejection.rule,
                )

    def _refusal(self, obj: Object, name: str, rejection: Rejection, *, stored: bool) -> Finding:
        first = since(obj, rejection.pointer, self.before, self.after, self.kubernetes)
        notes = tuple(self._stored(obj, rejection)) if stored and obj["kind"] != "Pod" else ()
        return Finding(
            Effect.WORSE,
            name,
            "refused",
            f"{_subject(rejection)} is refused: {rejection.message}",
            rejection.pointer,
            rejection.key,
            str(rejection.layer),
            rejection.rule,
            first,
            instead=advice(rejection.key, self.after, self.kubernetes) if rejection.key else (),
            notes=notes,
        )

    def _stored(self, obj: Object, rejection: Rejection) -> Iterator[str]:
        """What becomes of the object that the cluster already holds."""
        stored = admit(obj, crds=crd_set(self.before.crds), kubernetes=self.kubernetes).object
        if rejection.layer is RejectionLayer.NODEPOOL_RUNTIME:
            yield "the API server takes it; Karpenter's own validation does not, so it makes no Nodes for it, stored or new"
            return
        update = admit(stored, old=stored, crds=crd_set(self.after.crds), kubernetes=self.kubernetes)
        if update.errors:
            yield "an object that is stored already stays, but the API server refuses every further change of it"
            return
        field = ".".join(str(part) for part in rejection.pointer[:-1] if isinstance(part, str))
        yield (
            f"an object that is stored already stays, and can be changed as long as {field} does not (the API server does not "
            "check again what an update leaves as it is)"
        )
        if runtime_refusals(stored, self.after):
            yield "Karpenter's own validation refuses the stored object: it makes no Nodes for it"

    # Hashes

    def _hash(self, obj: Object) -> Iterator[Finding]:
        old = admit(obj, crds=crd_set(self.before.crds), kubernetes=self.kubernetes)
        new = admit(obj, old=old.object, crds=crd_set(self.after.crds), kubernetes=self.kubernetes)
        if old.errors or new.errors:
            return
        name = f"{obj['kind']}/{obj['metadata']['name']}"
        if obj["kind"] == "NodePool":
            hashes, versions = (nodepool_hash(old.object), nodepool_hash(new.object)), ("v3", "v3")
        else:
            hashes = (
                nodeclass_hash(old.object, self.before.nodeclass_hash_fields),
                nodeclass_hash(new.object, self.after.nodeclass_hash_fields),
            )
            versions = self.before.nodeclass_hash_version, self.after.nodeclass_hash_version
        if versions[0] != versions[1]:
            text = f"the hash's version changes from {versions[0]} to {versions[1]}: Karpenter writes hashes anew, nothing drifts"
            yield Finding(Effect.CHANGED, name, "hash", text, before=versions[0], after=versions[1])
        elif hashes[0] != hashes[1]:
            text = f"the hash changes from {hashes[0]} to {hashes[1]}: its Nodes have drifted and are replaced"
            yield Finding(Effect.WORSE, name, "hash", text, before=hashes[0], after=hashes[1])

    # Sizes and Node labels

    def _pool(self, pool: Object, nodeclasses: Sequence[Object]) -> Iterator[Finding]:
        name = f"NodePool/{pool['metadata']['name']}"
        old = trial(self._old_world(), pool, nodeclasses)
        new = trial(self._upgraded(), pool, nodeclasses, self._install)
        if old.rejections or runtime_refusals(pool, self.after):
            return  # one of the releases has no such NodePool; that is told already
        for rejection in new.nodeclaim_rejections:
            yield Finding(
                Effect.WORSE,
                name,
                "nodeclaims-refused",
                f"NodeClaims of the stored NodePool are refused, so it gets no Nodes: {rejection.text}",
                _place_of(pool, rejection.key),
                rejection.key,
                str(rejection.layer),
                rejection.rule,
            )
        if new.nodeclaim_rejections:
            return
        yield from _sizes(name, old, new)
        if old.node is None or new.node is None:
            yield from self._outcome(name, old, new)
            return
        if (old.size, old.capacity_type) != (new.size, new.capacity_type):  # equally cheap zones are drawn by lot
            yield _choice(name, "a plain pod's Node", old, new)
            pins = {INSTANCE_TYPE: old.size}
            old = trial(self._old_world(), pool, nodeclasses, selector=pins)
            new = trial(self._upgraded(), pool, nodeclasses, self._install, selector=pins)
        told = list(_labels(name, old, new))
        yield from told
        known = {finding.key for finding in told}
        for architecture in sorted((old.architectures & new.architectures) - {old.labels.get(ARCH, "")}):
            for finding in self._labels_of(architecture, name, pool, nodeclasses):
                if finding.key not in known:
                    yield finding

    def _labels_of(
        self, architecture: str, name: str, pool: Object, nodeclasses: Sequence[Object]
    ) -> Iterator[Finding]:
        """The labels of Nodes of an architecture that a plain pod's Node does not have; some labels depend on it."""
        old = trial(self._old_world(), pool, nodeclasses, selector={ARCH: architecture})
        pins = {INSTANCE_TYPE: old.size}
        new = trial(self._upgraded(), pool, nodeclasses, self._install, selector=pins)
        return _labels(name, old, new, f"{architecture} Nodes")

    @staticmethod
    def _outcome(name: str, old: Trial, new: Trial) -> Iterator[Finding]:
        if old.node is not None:
            text = f"a plain pod gets no Node any more: {new.sentence}"
            yield Finding(Effect.WORSE, name, "choice", text, before=old.size, after=new.sentence)
        elif new.node is not None:
            text = f"a plain pod gets a Node ({new.size}); before: {old.sentence}"
            yield Finding(Effect.BETTER, name, "choice", text, before=old.sentence, after=new.size)

    # The objects' own pods

    def _pods(self, objects: Sequence[Object]) -> Iterator[Finding]:
        old = placements(self._old_world(), objects)
        new = placements(self._upgraded(), objects, self._install)
        for name, before in old.items():
            after = new[name]
            if before.ignored or after.ignored:
                continue  # refused pods are told already
            yield from _placement(name, before, after, self.after, self.kubernetes)

    def _old_world(self) -> World:
        return self._new_world(self.before, self.before.crds)

    def _upgraded(self) -> World:
        """The new controller beside objects that were stored under the old CRDs."""
        return self._new_world(self.after, self.before.crds)

    def _install(self, world: World) -> None:
        world.update_crds(self.after.crds)


def _below(pointer: Pointer, place: Pointer) -> bool:
    return pointer[: len(place)] == place


def _subject(rejection: Rejection) -> str:
    return rejection.key or rejection.path or rejection.object


def _place_of(pool: Object, key: str | None) -> Pointer:
    """Where a NodePool names a label key."""
    template = (pool.get("spec") or {}).get("template") or {}
    if key in ((template.get("metadata") or {}).get("labels") or {}):
        return ("spec", "template", "metadata", "labels", str(key))
    for index, requirement in enumerate((template.get("spec") or {}).get("requirements") or ()):
        if requirement.get("key") == key:
            return ("spec", "template", "spec", "requirements", index, "key")
    return ()


def _listed(names: Sequence[str], limit: int = 4) -> str:
    shown = ", ".join(names[:limit])
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit} more"


def _sizes(name: str, old: Trial, new: Trial) -> Iterator[Finding]:
    lost, gained = sorted(old.allowed - new.allowed), sorted(new.allowed - old.allowed)
    counts = f"{len(old.allowed)} → {len(new.allowed)}"
    if lost:
        effect = Effect.CHANGED if new.allowed else Effect.WORSE
        text = f"sizes it allows: {counts}; no longer {_listed(lost)}"
        yield Finding(effect, name, "sizes", text, before=_listed(lost, len(lost)), notes=_reasons(lost, new))
    if gained:
        text = f"sizes it allows: {counts}; new are {_listed(gained)}"
        yield Finding(
            Effect.CHANGED, name, "sizes", text, after=_listed(gained, len(gained)), notes=_reasons(gained, old)
        )


def _reasons(names: Sequence[str], where: Trial) -> tuple[str, ...]:
    """Why sizes are not allowed, counted."""
    counted: dict[str, list[str]] = {}
    for size in names:
        counted.setdefault(where.why_not(size), []).append(size)
    return tuple(
        f"{len(sizes)} × {why}: {_listed(sizes, 3)}"
        for why, sizes in sorted(counted.items(), key=lambda one: -len(one[1]))
    )


def _choice(name: str, what: str, old: Trial, new: Trial) -> Finding:
    effect = Effect.WORSE if new.price > old.price + 1e-9 else Effect.CHANGED
    price = f", {old.price:.4f} → {new.price:.4f} USD/h" if abs(new.price - old.price) > 1e-9 else ""
    before, after = (f"{one.size} {one.zone} {one.capacity_type}" for one in (old, new))
    return Finding(effect, name, "choice", f"{what}: {before} → {after}{price}", before=before, after=after)


def _labels(name: str, old: Trial, new: Trial, nodes: str = "Nodes") -> Iterator[Finding]:
    """The labels of two Nodes of one size; `nodes` is what they are called."""
    if old.node is None or new.node is None:
        return
    for key in sorted({*old.labels, *new.labels} - _OWN_NAME):
        before, after = old.labels.get(key), new.labels.get(key)
        if before == after or (key in _ZONES and before and after):
            continue
        if after is None:
            text = f"{nodes} no longer have {key} (was {before}, {old.writer(key)})"
            effect = Effect.WORSE
        elif before is None:
            text = f"{nodes} get {key}={after} ({new.writer(key)})"
            effect = Effect.CHANGED
        else:
            text = f"{nodes} have {key}={after} ({new.writer(key)}) instead of {before} ({old.writer(key)})"
            effect = Effect.WORSE
        yield Finding(effect, name, "label", text, key=key, before=before, after=after)


def _placement(
    name: str, old: Placement, new: Placement, release: ProviderRelease, kubernetes: str
) -> Iterator[Finding]:
    if new.endless and not old.endless:
        text = f"Nodes are made for it again and again and do not help: {new.sentence}"
        yield Finding(Effect.WORSE, name, "pod", text, old.place_of(new.key), new.key, after=new.sentence)
    elif old.endless and not new.endless:
        text = f"Nodes are no longer made for it again and again; pending: {new.sentence}"
        text = text if new.bound < new.total else "its pods are placed; before, Nodes were made for it again and again"
        yield Finding(Effect.BETTER, name, "pod", text, old.place_of(old.key), old.key, before=old.sentence)
    elif new.bound < old.bound:
        text = f"{old.bound} of {old.total} pods were placed, now {new.bound}: {new.sentence}"
        instead = advice(new.key, release, kubernetes) if new.key else ()
        place = old.place_of(new.key) if new.key else ()
        yield Finding(
            Effect.WORSE, name, "pod", text, place, new.key, before=old.sizes_text, after=new.sentence, instead=instead
        )
    elif new.bound > old.bound:
        text = f"{new.bound} of {new.total} pods are placed, before {old.bound}: {old.sentence}"
        yield Finding(Effect.BETTER, name, "pod", text, before=old.sentence, after=new.sizes_text)
    elif old.sizes != new.sizes:
        text = f"its pods run on {new.sizes_text} instead of {old.sizes_text}"
        yield Finding(Effect.CHANGED, name, "pod", text, before=old.sizes_text, after=new.sizes_text)
    elif old.key != new.key:
        text = f"pending as before, but Karpenter says: {new.sentence}"
        yield Finding(
            Effect.CHANGED, name, "pod", text, old.place_of(new.key), new.key, before=old.sentence, after=new.sentence
        )
