"""A write on its way into the store, and the plugins that judge it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.engine.ports import Identity
from harness.kube.api.kinds import Kind
from harness.kube.api.objects import Key, Object
from lazyrecords import dataclass

__all__ = ["Admission", "Authorizer", "Request"]


@dataclass(frozen=True, slots=True)
class Request:
    """A write on its way through admission. Admission may replace `object`; `old` is the stored object."""

    verb: str
    identity: Identity
    kind: Kind
    key: Key
    subresource: str
    object: dict[str, Any]
    old: Object | None

    @property
    def asked_name(self) -> str:
        """Return the name as plugins know it: names are generated after them (apiserver pkg/admission/errors.go extractResourceName)."""
        return str(self.object["metadata"].get("generateName") or self.key.name)

    def with_object(self, new: dict[str, Any]) -> Request:
        """Return the same write with the object as admission changed it."""
        return Request(self.verb, self.identity, self.kind, self.key, self.subresource, new, self.old)


Admission = Callable[[Request], dict[str, Any]]
"""A plugin: returns the object to store (defaulted, pruned), or raises ApiError."""

Authorizer = Callable[[Identity, str, Kind, str, Key], None]
"""An authorizer: raises ApiError where an identity may not do this: the API's verb, the kind, the subresource, the key
(no name at create)."""
