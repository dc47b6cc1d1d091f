"""The objects of a cluster that belong to one run of `harness attach`, as the objects themselves show.

An object that a run creates carries a label with the name of the run, by which it is found, and an annotation with its own kind, namespace
and name, so that a copy that somebody makes of it is not taken for it. Other objects belong to the run by descent: an owner reference
leads to one that carries both. The run may change and delete these alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from harness.kube.api.kinds import KINDS, place_of
from harness.kube.api.objects import (
    Object,
    annotations_of,
    labels_of,
    metadata_of,
    name_of,
    namespace_of,
    owners_of,
    spec_of,
    uid_of,
    with_metadata,
)
from harness.kube.api.status import ApiError

__all__ = ["MADE_AS", "RUN", "NotOurs", "Ownership", "Read", "reference_of", "run_of"]

RUN = "karpenter-harness/run"
"""Label: the run that made an object."""
MADE_AS = "karpenter-harness/made-as"
"""Annotation: the object that the run made, as `reference_of` writes it."""

Read = Callable[[str, str, str], Object | None]
"""A function from kind, name and namespace to the object; None where there is none."""


class NotOurs(ApiError):
    """A write to an object that does not belong to the run; nothing was sent."""

    def __init__(self, reference: str, run: str) -> None:
        super().__init__(
            403, "Forbidden", f"{reference} was not made by this run of harness attach ({run}), so it is left as it is"
        )


def reference_of(obj: Object) -> str:
    """Return `KIND/NAME`, or `KIND/NAMESPACE/NAME`."""
    kind = str(obj.get("kind"))
    return "/".join(part for part in (kind, place_of(kind, namespace_of(obj)), name_of(obj)) if part)


def run_of(obj: Object) -> str:
    """Return the run in the marks of an object; empty without one."""
    return str(labels_of(obj).get(RUN) or "")


class Ownership:
    """The rule for the objects of one `run`, which is a label's value."""

    def __init__(self, run: str) -> None:
        self.run = run
        self._uids: set[str] = set()
        """Objects that were seen to belong to the run: a descendant still does when its owner is gone."""

    def stamped(self, obj: Object) -> dict[str, Any]:
        """Return a new object as the run creates it, with both marks; the claims that a StatefulSet will make get them, too."""
        marked = self._marked(obj, reference_of(obj))
        templates = spec_of(obj).get("volumeClaimTemplates")
        if obj.get("kind") == "StatefulSet" and templates:
            claims = [self._marked(template, reference_of(obj)) for template in templates]
            marked["spec"] = {**spec_of(obj), "volumeClaimTemplates": claims}
        return marked

    def _marked(self, obj: Object, reference: str) -> dict[str, Any]:
        labels = {**labels_of(obj), RUN: self.run}
        return with_metadata(obj, labels=labels, annotations={**annotations_of(obj), MADE_AS: reference})

    def marks(self, obj: Object) -> bool:
        """Return whether an object carries both marks of the run."""
        if run_of(obj) != self.run:
            return False
        maker = str(annotations_of(obj).get(MADE_AS) or "")
        return maker == reference_of(obj) or _is_claim_of(obj, maker)

    def owns(self, obj: Object, read: Read) -> bool:
        """Return whether an object belongs to the run, by its marks or by descent; `read` finds its owners."""
        if self.marks(obj) or any(self._owns_owner(owner, obj, read) for owner in owners_of(obj)):
            self._uids.add(uid_of(obj))
            return True
        self._uids.discard(uid_of(obj))
        return False

    def _owns_owner(self, reference: Mapping[str, Any], obj: Object, read: Read) -> bool:
        kind, uid = KINDS.get(str(reference.get("kind"))), str(reference.get("uid"))
        if kind is None:
            return False
        owner = read(kind.kind, str(reference.get("name")), namespace_of(obj) if kind.namespaced else "")
        if owner is None or uid_of(owner) != uid:
            return uid in self._uids
        return self.owns(owner, read)


def _is_claim_of(obj: Object, maker: str) -> bool:
    """Return whether a StatefulSet of the run made this claim from its template: `TEMPLATE-NAME-ORDINAL`.

    Source: kubernetes pkg/controller/statefulset/stateful_set_utils.go (getPersistentVolumeClaimName, getPersistentVolumeClaims).
    """
    kind, _, rest = maker.partition("/")
    namespace, _, name = rest.partition("/")
    if obj.get("kind") != "PersistentVolumeClaim" or kind != "StatefulSet" or namespace != namespace_of(obj):
        return False
    return re.fullmatch(rf".+-{re.escape(name)}-\d+", str(metadata_of(obj).get("name"))) is not None
