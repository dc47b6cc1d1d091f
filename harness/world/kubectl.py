"""Commands of kubectl on a world's cluster: apply, a dry run on the server, delete."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from harness.engine.ports import PatchType, View, Writer
from harness.karpenter.releases import ProviderRelease
from harness.karpenter.validation.pods import validate_pod
from harness.karpenter.validation.rejections import Rejection
from harness.karpenter.validation.runtime import runtime_validate
from harness.kube.admission.fixed_fields import CLASS_FIELDS
from harness.kube.api.kinds import KINDS, place_of
from harness.kube.api.objects import Key, Object, frozen, key_of, name_of, namespace_of, with_metadata
from harness.kube.api.status import ApiError
from harness.world.apply import applied_patch, read
from harness.world.refused import rejections_of
from harness.world.shapes import misshapen

if TYPE_CHECKING:
    from harness.reading.sources import Source

__all__ = ["Kubectl", "Rejected"]

Rejected: TypeAlias = list[Rejection]


class Kubectl:
    """Remembers the applied manifests, as kubectl does in an annotation."""

    def __init__(self, view: View, writer: Writer, release: ProviderRelease) -> None:
        self._view, self._writer = view, writer
        self.release = release
        """The release whose validation of NodePools and pods is called, too."""
        self._applied: dict[Key, Object] = {}

    @property
    def applied(self) -> Sequence[Object]:
        """Return the applied and not deleted manifests, in the order in which they first came."""
        return tuple(self._applied.values())

    def apply(self, objects: Iterable[Object | Source]) -> Rejected:
        """Create or update objects; return the rejections. Raises ScenarioError for files that cannot be read."""
        refused: Rejected = []
        for obj in read(objects):
            refused.extend(self._apply(obj))
        return refused

    def dry_run(self, obj: Object) -> Rejected:
        """Return the rejections that `apply` would return for a new object, without keeping anything (`--dry-run=server`)."""
        refused = misshapen(obj)
        if refused:
            return refused
        place = place_of(str(obj.get("kind")), namespace_of(obj))
        if place and self._view.get("Namespace", place) is None:
            obj = with_metadata(obj, namespace="default")  # it would be made, and no rule depends on it
        try:
            stored = self._writer.create(obj, dry_run=True)
        except ApiError as error:
            return rejections_of(error, Key(str(obj.get("kind")), place, name_of(obj)))
        return self._validated(stored)

    def delete(self, kind: str, name: str, namespace: str | None = None) -> None:
        """Delete an object without waiting. Raises ApiError 404."""
        place = place_of(kind, namespace)
        self._applied.pop(Key(kind, place, name), None)
        self._writer.delete(kind, name, namespace=place)

    def patch(self, obj: Object, patch: Any, type: PatchType = "merge", subresource: str = "") -> Rejected:
        """Patch an object that is there, or one of its subresources; return the rejections."""
        key = key_of(obj)
        try:
            stored = self._writer.patch(
                key.kind, key.name, patch, namespace=key.namespace, type=type, subresource=subresource
            )
        except ApiError as error:
            return rejections_of(error, key)
        return self._validated(stored)

    def _apply(self, obj: Object) -> Rejected:
        refused = misshapen(obj)
        if refused:
            return refused
        kind = KINDS.get(str(obj.get("kind")))
        place = place_of(str(obj.get("kind")), namespace_of(obj))
        key, obj = Key(str(obj.get("kind")), place, name_of(obj)), frozen(obj)
        try:
            if place and self._view.get("Namespace", place) is None:
                self._writer.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": place}})
            present = self._view.get(key.kind, key.name, place) if key.name else None
            if present is not None and self._is_another_class(key, obj, present):
                self._writer.delete(key.kind, key.name)
                present = None
            if present is not None:
                # an object that was read and edited has all of its fields; a manifest only those of its author
                strategic = kind is not None and not kind.custom and "uid" not in (obj.get("metadata") or {})
                patch = applied_patch(self._applied.get(key), obj, strategic=strategic)
                how: PatchType = "strategic" if strategic else "merge"
                stored = self._writer.patch(key.kind, key.name, patch, namespace=place, type=how)
            else:
                stored = self._writer.create(obj)
        except ApiError as error:
            return rejections_of(error, key)
        self._applied[key] = obj
        return self._validated(stored)

    def _is_another_class(self, key: Key, obj: Object, present: Object) -> bool:
        """Return whether a StorageClass differs from that of the world's beginning in what no update may change.

        The first manifest of its name tells the cluster's own class, which the world only assumes.
        """
        changed = (obj.get(field) not in (None, present.get(field)) for field in CLASS_FIELDS)
        return key.kind == "StorageClass" and key not in self._applied and any(changed)

    def _validated(self, stored: Object) -> Rejected:
        """Return the rejections by Karpenter's own validation of an object that the API server accepted."""
        if stored.get("kind") == "NodePool":
            return list(runtime_validate(stored, self.release))
        if stored.get("kind") == "Pod":
            return list(validate_pod(stored, self.release))
        return []
