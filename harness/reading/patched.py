"""A manifest with a merge patch from another document: each field knows in which of both files it stands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from harness.kube.api.patch import merge_patch
from harness.reading import yaml_tree as nodes
from harness.reading.documents import Document
from harness.reading.manifests import Manifest
from harness.reading.problems import Mark
from harness.reading.yaml_values import kubernetes_value
from lazyrecords import dataclass

__all__ = ["patched"]

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class _Over:
    """A document below, and a part of another one laid over it."""

    below: Document
    above: Document
    place: Path

    def decides(self, path: Sequence[str | int]) -> bool:
        """Return whether the part above sets the value at the path: the field itself, or a list or value around it."""
        for length in range(1, len(path) + 1):
            node = self.above.node_at((*self.place, *path[:length]))
            if node is None:
                return False
            if not isinstance(node, nodes.Mapping):
                return True
        return len(path) > 0


@dataclass(frozen=True, slots=True)
class _PatchedDocument(Document):
    """A manifest's document whose fields stand in two files."""

    over: _Over | None = None

    def position(self, path: Sequence[str | int] = ()) -> Mark:
        """Return the place of the field: in the patch if that sets it."""
        assert self.over is not None
        if self.over.decides(path):
            return self.over.above.position((*self.over.place, *path))
        return self.over.below.position(path)

    def node_at(self, path: Sequence[str | int]) -> nodes.Node | None:
        """The part of the tree under a field, of the patch if that sets it."""
        assert self.over is not None
        if self.over.decides(path):
            return self.over.above.node_at((*self.over.place, *path))
        return self.over.below.node_at(path)

    def items(self) -> Iterator[Document]:
        """Itself: lists are taken apart before anything is patched."""
        yield self


def patched(manifest: Manifest, patch: Document, place: Path) -> Manifest:
    """The manifest with the merge patch (RFC 7386) that stands at `place` of a document."""
    below = manifest.document
    value = merge_patch(below.value, kubernetes_value(patch.node_at(place)))
    over = _Over(below, patch, place)
    return replace(manifest, document=_PatchedDocument(below.file, below.tree, value, below.prefix, over=over))
