"""Nodes that an upgrade replaces: they have drifted when the new release looks at what the old one launched."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from harness.explain.upgrade.findings import Effect, Finding
from harness.karpenter.labels.core import NODEPOOL
from harness.karpenter.lifecycle.names import nodeclass_of
from harness.kube.api.objects import condition, labels_of, name_of, status_of
from harness.world import World

__all__ = ["Replaced", "replaced_nodes", "replacement_findings"]

_OF_POOL = frozenset({"NodePoolDrifted", "RequirementsDrifted", "InstanceTypeNotFound"})
"""Reasons that core finds by the NodePool (core pkg/controllers/nodeclaim/disruption/drift.go); the provider's are the AKSNodeClass's."""
_OF_HASH = frozenset({"NodePoolDrifted", "NodeClassDrift"})
"""Reasons that follow from hashes."""
_LOOKED = 70 * 60.0
"""Seconds in which each NodeClaim has been looked at for all reasons: core looks for sizes that are gone at an hour of age."""


@dataclass(frozen=True, slots=True)
class Replaced:
    """A NodeClaim that has drifted: its NodePool and AKSNodeClass, the reason, and the images before and after where they decide."""

    nodepool: str
    nodeclass: str
    reason: str
    before: str = ""
    after: tuple[str, ...] = ()


def replaced_nodes(world: World, upgrade: Callable[[World], None]) -> tuple[Replaced, ...]:
    """The NodeClaims of a world that have drifted after `upgrade`, although they had not before."""
    claims = {name_of(claim): claim for claim in world.list("NodeClaim")}
    fresh = {name for name, claim in claims.items() if not _drift(claim)}
    revision = world.revision
    upgrade(world)
    world.advance(_LOOKED)
    replaced: dict[str, Replaced] = {}
    for change in world.view.changes(revision, "NodeClaim"):
        name, reason = name_of(change.object), _drift(change.object)
        if reason and name in fresh and name not in replaced:
            nodeclass = world.get("AKSNodeClass", nodeclass_of(claims[name])) or {}
            images = tuple(str(image["id"]) for image in status_of(nodeclass).get("images") or ())
            by_image = reason == "ImageDrift"
            replaced[name] = Replaced(
                labels_of(claims[name]).get(NODEPOOL, ""),
                nodeclass_of(claims[name]),
                reason,
                str(status_of(claims[name]).get("imageID") or "") if by_image else "",
                images if by_image else (),
            )
    return tuple(replaced.values())


def replacement_findings(replaced: Iterable[Replaced], *, hashes: bool) -> Iterator[Finding]:
    """A finding for each NodePool or AKSNodeClass whose Nodes have drifted. `hashes`: that hashes change is told already."""
    for replaced_node in dict.fromkeys(replaced):
        if hashes and replaced_node.reason in _OF_HASH:
            continue
        of_pool = replaced_node.reason in _OF_POOL
        name = f"NodePool/{replaced_node.nodepool}" if of_pool else f"AKSNodeClass/{replaced_node.nodeclass}"
        text = f"its Nodes have drifted ({replaced_node.reason}) and are replaced"
        pointer: tuple[str | int, ...] = ()
        if replaced_node.before:
            text += f": they run {_image(replaced_node.before)}, {_images(replaced_node)} are wanted"
            pointer = ("spec", "imageFamily")
        after = ", ".join(replaced_node.after) or replaced_node.reason
        yield Finding(Effect.WORSE, name, "drift", text, pointer, before=replaced_node.before, after=after)


def _drift(claim: Mapping[str, object]) -> str:
    """The reason of the condition Drifted where it is true."""
    drifted = condition(claim, "Drifted")
    return str(drifted.get("reason") or "") if drifted is not None and drifted.get("status") == "True" else ""


def _image(image: str) -> str:
    """The name of an image in its gallery; the id itself where it has another form, as that of a machine."""
    parts = image.split("/")
    return parts[parts.index("images") + 1] if "images" in parts else image


def _images(replaced_node: Replaced) -> str:
    return ", ".join(dict.fromkeys(map(_image, replaced_node.after))) or "no images"
