"""The workloads that select a pod, or a ReplicaSet, without a controller."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping

from harness.engine.ports import Change, ChangeType
from harness.kube.api.objects import Object, labels_of, name_of, namespace_of, spec_of
from harness.kube.api.selectors import Selector, SelectorError, pod_selector

__all__ = ["Selecting"]

_Pair = tuple[str, str, str]
"""A namespace and a label, by which the workloads with this requirement are found; an empty one stands for any."""


class Selecting:
    """The selectors of workloads, kept up by their changes. It has to `hear` every change of one."""

    __slots__ = ("_by_pair", "_known")

    def __init__(self) -> None:
        self._known: dict[tuple[str, str, str], tuple[object, Selector, _Pair]] = {}
        self._by_pair: dict[_Pair, dict[tuple[str, str, str], Selector]] = {}

    def hear(self, change: Change) -> None:
        """Take notice of a change of a workload."""
        owner = change.object
        key = (owner["kind"], namespace_of(owner), name_of(owner))
        entry = self._known.get(key)
        selector_given = spec_of(owner).get("selector")
        if entry is not None and change.type is not ChangeType.DELETED and entry[0] is selector_given:
            return
        if entry is not None:
            del self._by_pair[entry[2]][key]
            del self._known[key]
        if change.type is ChangeType.DELETED or not isinstance(selector_given, Mapping):
            return
        try:
            selector = Selector.parse(chosen := pod_selector(owner) or {})
        except SelectorError:
            return
        pairs = sorted((chosen.get("matchLabels") or {}).items())
        pair = (key[1], *pairs[0]) if pairs else (key[1], "", "")
        self._known[key] = selector_given, selector, pair
        self._by_pair.setdefault(pair, {})[key] = selector

    def workloads_selecting(self, obj: Object, *kinds: str) -> Iterator[Hashable]:
        """Yield the keys (kind, namespace, name) of the workloads of these kinds that select an object."""
        namespace, labels = namespace_of(obj), labels_of(obj)
        for label in (("", ""), *labels.items()):
            for key, selector in self._by_pair.get((namespace, *label), {}).items():
                if key[0] in kinds and selector.matches(labels):
                    yield key

    def selector(self, owner: Object) -> Selector | None:
        """Return the selector of a workload; None for one that is invalid or unknown."""
        entry = self._known.get((owner["kind"], namespace_of(owner), name_of(owner)))
        return None if entry is None else entry[1]
