"""The effects of an upgrade of the provider on objects: refusals, changed sizes and Node labels, replaced Nodes.

Both releases are asked: admission, validation, the hashes, and worlds in which a plain pod meets each NodePool and the objects' own
pods meet all of them. There is no table of differences.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from harness.explain.labels.instead import advice
from harness.explain.upgrade.differences import choice_finding, label_findings, placement_findings, size_findings
from harness.explain.upgrade.findings import Effect, Finding, Pointer
from harness.explain.upgrade.replacements import Replaced, replaced_nodes, replacement_findings
from harness.explain.upgrade.trial import Trial, trial
from harness.explain.upgrade.verdicts import refusals_by, runtime_refusals, since
from harness.explain.upgrade.workload import placements
from harness.karpenter.launch.nodeclass_hash import nodeclass_hash
from harness.karpenter.releases import ProviderRelease
from harness.karpenter.validation import Rejection, RejectionLayer, admit, crd_set, nodepool_hash
from harness.kube.api.labels import ARCH, INSTANCE_TYPE
from harness.world import World

__all__ = ["UpgradeCheck"]

Object = Mapping[str, Any]

KARPENTER_KINDS = ("AKSNodeClass", "NodePool")


class UpgradeCheck:
    """An upgrade from one release to another; `new_world(release, crds)` makes the worlds it is tried in."""

    def __init__(
        self, new_world: Callable[[ProviderRelease, str], World], before: ProviderRelease, after: ProviderRelease
    ) -> None:
        self.before = before
        self.after = after
        self._new_world = new_world
        self.kubernetes = new_world(after, after.crds).kubernetes
        self._replaced: dict[Replaced, None] = {}

    def findings(self, objects: Sequence[Object]) -> list[Finding]:
        """Everything that changes for these objects (NodePools, AKSNodeClasses, pods and their controllers)."""
        findings: list[Finding] = []
        for obj in objects:
            if obj.get("kind") in (*KARPENTER_KINDS, "Pod"):
                findings += self._admission(obj)
        nodeclasses = [obj for obj in objects if obj.get("kind") == "AKSNodeClass"]
        for obj in objects:
            if obj.get("kind") in KARPENTER_KINDS:
                findings += self._hash(obj)
            if obj.get("kind") == "NodePool":
                findings += self._pool(obj, nodeclasses)
        findings += self._pods(objects)
        hashes = any(finding.kind == "hash" and finding.effect is Effect.WORSE for finding in findings)
        findings += replacement_findings(self._replaced, hashes=hashes)
        return findings

    # Admission

    def _admission(self, obj: Object) -> Iterator[Finding]:
        name = f"{obj['kind']}/{obj['metadata']['name']}"
        old = refusals_by(obj, self.before, self.kubernetes)
        new = refusals_by(obj, self.after, self.kubernetes)
        messages: dict[Pointer, list[str]] = {}
        for rejection in old:
            messages.setdefault(rejection.pointer, []).append(rejection.message)
        for rejection in new:
            if rejection.pointer not in messages:
                yield self._refusal(obj, name, rejection, stored=not old)
            else:
                text = f"{_subject(rejection)} is refused by both: {rejection.message}"
                if rejection.message not in messages[rejection.pointer]:
                    text += f" ({self.before.version}: {messages[rejection.pointer][0]})"
                yield _of(rejection, Effect.SAME, name, "refused", text)
        remaining = {rejection.pointer for rejection in new}
        for rejection in old:
            if rejection.pointer not in remaining and not any(_below(rejection.pointer, place) for place in remaining):
                text = f"{_subject(rejection)} is taken; {self.before.version} refused it: {rejection.message}"
                yield _of(rejection, Effect.BETTER, name, "accepted", text)

    def _refusal(self, obj: Object, name: str, rejection: Rejection, *, stored: bool) -> Finding:
        first = since(obj, rejection.pointer, self.before, self.after, self.kubernetes)
        notes = tuple(self._stored(obj, rejection)) if stored and obj["kind"] != "Pod" else ()
        text = f"{_subject(rejection)} is refused: {rejection.message}"
        instead = advice(rejection.key, self.after, self.kubernetes) if rejection.key else ()
        return _of(rejection, Effect.WORSE, name, "refused", text, since=first, instead=instead, notes=notes)

    def _stored(self, obj: Object, rejection: Rejection) -> Iterator[str]:
        """Yield the fate of the object that the cluster already holds."""
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
        old = self._old_trial(pool, nodeclasses)
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
        yield from size_findings(name, old, new)
        if old.node is None or new.node is None:
            yield from self._outcome(name, old, new)
            return
        if (old.size, old.capacity_type) != (new.size, new.capacity_type):  # equally cheap zones are drawn by lot
            yield choice_finding(name, "a plain pod's Node", old, new)
            pins = {INSTANCE_TYPE: old.size}
            old = trial(self._old_world(), pool, nodeclasses, selector=pins)
            new = trial(self._upgraded(), pool, nodeclasses, self._install, selector=pins)
        findings = list(label_findings(name, old, new))
        yield from findings
        keys = {finding.key for finding in findings}
        for architecture in sorted((old.architectures & new.architectures) - {old.labels.get(ARCH, "")}):
            for finding in self._labels_of(architecture, name, pool, nodeclasses):
                if finding.key not in keys:
                    yield finding

    def _old_trial(
        self, pool: Object, nodeclasses: Sequence[Object], selector: Mapping[str, str] | None = None
    ) -> Trial:
        """A trial under the old release, after which its world is upgraded to see whether the Node is replaced."""
        world = self._old_world()
        old = trial(world, pool, nodeclasses, selector=selector)
        if old.node is not None:
            self._replaced |= dict.fromkeys(replaced_nodes(world, self._upgrade))
        return old

    def _labels_of(
        self, architecture: str, name: str, pool: Object, nodeclasses: Sequence[Object]
    ) -> Iterator[Finding]:
        """The labels of Nodes of an architecture that a plain pod's Node does not have; some labels depend on it."""
        old = self._old_trial(pool, nodeclasses, {ARCH: architecture})
        pins = {INSTANCE_TYPE: old.size}
        new = trial(self._upgraded(), pool, nodeclasses, self._install, selector=pins)
        return label_findings(name, old, new, f"{architecture} Nodes")

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
            yield from placement_findings(name, before, after, self.after, self.kubernetes)

    def _old_world(self) -> World:
        return self._new_world(self.before, self.before.crds)

    def _upgraded(self) -> World:
        """The new controller beside objects that were stored under the old CRDs."""
        return self._new_world(self.after, self.before.crds)

    def _upgrade(self, world: World) -> None:
        """The new CRDs, then the new controller, in a cluster that runs the old ones."""
        self._install(world)
        world.upgrade_karpenter(self.after.version)

    def _install(self, world: World) -> None:
        world.update_crds(self.after.crds)


def _below(pointer: Pointer, place: Pointer) -> bool:
    return pointer[: len(place)] == place


def _of(rejection: Rejection, effect: Effect, name: str, kind: str, text: str, **more: Any) -> Finding:
    """A finding about what a layer of admission or Karpenter's own validation says."""
    place = rejection.pointer, rejection.key, str(rejection.layer), rejection.rule
    return Finding(effect, name, kind, text, *place, **more)


def _subject(rejection: Rejection) -> str:
    return rejection.key or rejection.path or rejection.object


def _place_of(pool: Object, key: str | None) -> Pointer:
    """Return the place where a NodePool names a label key."""
    template = (pool.get("spec") or {}).get("template") or {}
    if key in ((template.get("metadata") or {}).get("labels") or {}):
        return ("spec", "template", "metadata", "labels", str(key))
    for index, requirement in enumerate((template.get("spec") or {}).get("requirements") or ()):
        if requirement.get("key") == key:
            return ("spec", "template", "spec", "requirements", index, "key")
    return ()
