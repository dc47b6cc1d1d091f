"""ControllerRevisions: the templates that a StatefulSet or a DaemonSet has had.

Source: kubernetes pkg/controller/history/controller_history.go, pkg/controller/{statefulset,daemon}.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from harness.kube.api.objects import Object, annotations_of, labels_of, metadata_of, name_of, owner_reference, spec_of
from harness.kube.workloads.templates import same_template, template_hash

__all__ = ["REVISION_LABEL", "matching", "new_revision", "number_of", "surplus", "template_of"]

REVISION_LABEL = "controller-revision-hash"
"""The label of pods that names their revision, and of revisions."""
_LONGEST = 223


def number_of(revision: Object) -> int:
    """The number by which revisions are ordered."""
    return int(revision.get("revision") or 0)


def template_of(revision: Object) -> Mapping[str, Any]:
    """The template that a revision keeps."""
    template: Mapping[str, Any] = ((revision.get("data") or {}).get("spec") or {}).get("template") or {}
    return {key: value for key, value in template.items() if key != "$patch"}


def matching(owner: Object, revisions: Iterable[Object]) -> Object | None:
    """The latest revision of the owner's template."""
    template = spec_of(owner).get("template") or {}
    alike = [revision for revision in revisions if same_template(template_of(revision), template)]
    return max(alike, key=number_of, default=None)


def new_revision(owner: Object, number: int, collisions: int = 0) -> dict[str, Any]:
    """Return the revision of a workload's present template. `collisions`: how many times another template had taken its name."""
    template = spec_of(owner).get("template") or {}
    digest = template_hash(template, collisions)
    labels = {**labels_of(template), REVISION_LABEL: digest}
    return {
        "apiVersion": "apps/v1",
        "kind": "ControllerRevision",
        "metadata": {
            "name": f"{name_of(owner)[:_LONGEST]}-{digest}",
            "namespace": metadata_of(owner).get("namespace") or "default",
            "labels": labels,
            "annotations": dict(annotations_of(owner)),
            "ownerReferences": [owner_reference(owner)],
        },
        "data": {"spec": {"template": {**template, "$patch": "replace"}}},
        "revision": number,
    }


def surplus(owner: Object, revisions: Sequence[Object], live: Iterable[str]) -> list[Object]:
    """Return the oldest unused revisions beyond the limit of the history. `live` are the names of the used ones."""
    limit = spec_of(owner).get("revisionHistoryLimit")
    names = frozenset(live)
    old = sorted((revision for revision in revisions if name_of(revision) not in names), key=number_of)
    return old[: max(0, len(old) - (10 if limit is None else int(limit)))]
