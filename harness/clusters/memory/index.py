"""Lookups that would otherwise scan: pods of a node, a node by provider id, dependents of an owner."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from harness.kube.api.objects import Object, owners_of

_Values = Callable[[Object], Iterable[str]]


def _pod_node(pod: Object) -> Iterable[str]:
    return (pod["spec"].get("nodeName") or "",)


def _provider_id(node: Object) -> Iterable[str]:
    provider_id = (node.get("spec") or {}).get("providerID")
    return (provider_id,) if provider_id else ()


def _claim_provider_id(claim: Object) -> Iterable[str]:
    provider_id = (claim.get("status") or {}).get("providerID")
    return (provider_id,) if provider_id else ()


def _owners(obj: Object) -> Iterable[str]:
    return [ref["uid"] for ref in owners_of(obj)]


_BY_KIND: Mapping[str, tuple[tuple[str, _Values], ...]] = {
    "Pod": (("pods-by-node", _pod_node),),
    "Node": (("nodes-by-provider-id", _provider_id),),
    "NodeClaim": (("nodeclaims-by-provider-id", _claim_provider_id),),
}
_ANY: tuple[tuple[str, _Values], ...] = (("owned-by", _owners),)
_ROWS: Mapping[str, tuple[tuple[str, _Values], ...]] = {kind: (*rows, *_ANY) for kind, rows in _BY_KIND.items()}

INDEXES = frozenset(name for rows in (*_BY_KIND.values(), _ANY) for name, _ in rows)

Slot = tuple[str, str, str]


class Index:
    """All indexes of a store. Entries are in the order in which they got the value."""

    __slots__ = ("_slots",)

    def __init__(self) -> None:
        self._slots: dict[tuple[str, str], dict[Slot, Object]] = {}

    def put(self, slot: Slot, old: Object | None, new: Object | None) -> None:
        """Move an object from its old values to its new ones; either side may be absent."""
        for name, values in _ROWS.get(slot[0], _ANY):
            after = values(new) if new is not None else ()
            if old is not None and (before := values(old)) != after:
                for value in before:
                    if value not in after:
                        self._slots[(name, value)].pop(slot, None)
            if new is not None:
                for value in after:
                    slots = self._slots.get((name, value))
                    if slots is None:
                        slots = self._slots[name, value] = {}
                    slots[slot] = new

    def get(self, name: str, value: str) -> Sequence[Object]:
        """The objects with this value. Raises KeyError for an index that does not exist."""
        if name not in INDEXES:
            raise KeyError(f"no index {name!r}; there are {', '.join(sorted(INDEXES))}")
        slots = self._slots.get((name, value))
        return list(slots.values()) if slots else []
