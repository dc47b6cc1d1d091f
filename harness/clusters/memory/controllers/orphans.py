"""Pods and ReplicaSets without a controller, which a workload may adopt; kept up by their changes."""

from __future__ import annotations

from collections.abc import Iterator

from harness.engine.ports import Change, ChangeType
from harness.kube.api.objects import Object, controller_of, is_terminating, name_of, namespace_of

__all__ = ["Orphans"]


class Orphans:
    """The objects of each kind and namespace without a controller. It has to `hear` every change of such a kind."""

    __slots__ = ("_alone",)

    def __init__(self) -> None:
        self._alone: dict[tuple[str, str], dict[str, Object]] = {}

    def hear(self, change: Change) -> None:
        """Take notice of a change."""
        obj = change.object
        alone = change.type is not ChangeType.DELETED and controller_of(obj) is None and not is_terminating(obj)
        if alone or self._alone:
            slot, name = (obj["kind"], namespace_of(obj)), name_of(obj)
            present = self._alone.get(slot)
            if alone:
                self._alone.setdefault(slot, {})[name] = obj
            elif present is not None and name in present:
                del present[name]
                if not present:
                    del self._alone[slot]

    def orphans_of(self, kind: str, namespace: str) -> Iterator[Object]:
        """Yield the orphans of a kind in a namespace, in the order in which they came."""
        yield from list(self._alone.get((kind, namespace), {}).values())
