"""Admission of Karpenter's own resources by the API server, from our tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Protocol

from harness.karpenter.validation.crds import RuleRow
from harness.karpenter.validation.rejections import Rejection, RejectionLayer
from harness.kube.api.field_errors import FieldError, Pointer
from harness.kube.custom_resources.admission import ApiServer, CustomResource, Outcome, admit_unruled, api_server
from harness.kube.custom_resources.admission import admit as admit_custom_resource
from lazyrecords import dataclass


class Crds(Protocol):
    """Custom resource definitions: a release's tables (CrdSet) or files."""

    @property
    def name(self) -> str: ...

    def resource(self, api_version: str, kind: str, *, integer_formats: bool = False) -> CustomResource | None: ...

    def rules(self, kind: str = "") -> Sequence[RuleRow]: ...


class UnknownResource(ValueError):
    """The CRDs do not define the object's apiVersion and kind."""


@dataclass(frozen=True, slots=True)
class Admission:
    """The outcome of a write.

    ``object`` is what would be stored (pruned, defaulted), ``errors`` and ``message`` what the API server answers (nothing when it
    accepts), ``rejections`` the same errors with layer and cause, one per offending key.
    """

    object: dict[str, Any]
    errors: tuple[FieldError, ...]
    rejections: tuple[Rejection, ...]
    message: str

    @property
    def accepted(self) -> bool:
        return not self.errors


_api_server = lru_cache(maxsize=32)(api_server)


def admit(
    obj: Mapping[str, Any],
    *,
    old: Mapping[str, Any] | None = None,
    crds: Crds,
    kubernetes: str = "1.35.0",
    server: ApiServer | None = None,
    subresource: str = "",
    unruled: bool = False,
) -> Admission:
    """Return the API server's answer to creating ``obj``, or to updating ``old`` (or its ``subresource`` status) to it.

    ``kubernetes`` says how the API server behaves and words its answer, unless ``server`` does. Names must have been generated.
    ``unruled`` promises that these CRDs let ``old`` pass and that nothing but metadata and status changed since, and saves time.
    Raises UnknownResource.
    """
    server = server or _api_server(kubernetes)
    api_version, kind = str(obj.get("apiVersion", "")), str(obj.get("kind", ""))
    resource = crds.resource(api_version, kind, integer_formats=server.integer_formats)
    if resource is None:
        raise UnknownResource(f"no CRD for {api_version} {kind} in {crds.name}")
    if unruled and old is not None:
        outcome = admit_unruled(resource, obj, old=old, subresource=subresource, server=server)
    else:
        outcome = admit_custom_resource(resource, obj, old=old, subresource=subresource, server=server)
    return admission_of(outcome, resource.kind)


def admission_of(outcome: Outcome, kind: str) -> Admission:
    """An admission from what the API server's steps gave, whichever engine evaluated the rules."""
    if not outcome.errors:
        return Admission(outcome.object, (), (), "")
    metadata = outcome.object.get("metadata")
    name = metadata.get("name", "") if isinstance(metadata, Mapping) else ""
    rejections = tuple(
        rejection for error in outcome.errors for rejection in _rejections(error, kind, str(name), outcome.object)
    )
    return Admission(outcome.object, outcome.errors, rejections, outcome.message)


def _rejections(error: FieldError, kind: str, name: str, obj: Mapping[str, Any]) -> list[Rejection]:
    layer = RejectionLayer.CRD_SCHEMA
    if error.rule:
        layer = RejectionLayer.NODECLAIM_CEL if kind == "NodeClaim" else RejectionLayer.CRD_CEL
    return [
        Rejection(
            layer=layer,
            object=f"{kind}/{name}",
            path=error.field,
            key=label_key(obj, pointer),
            rule=error.rule,
            message=error.detail or error.body,
            text=str(error),
            pointer=pointer,
        )
        for pointer in error.culprits or (error.pointer,)
    ]


def label_key(obj: Mapping[str, Any], pointer: Pointer) -> str | None:
    """The label key that a place is about: the label itself, or the key of the requirement that it lies in."""
    value: Any = obj
    for depth, part in enumerate(pointer):
        if depth and isinstance(part, str) and pointer[depth - 1] == "labels":
            return part
        if isinstance(value, Mapping):
            value = value.get(str(part))
        elif isinstance(value, list) and isinstance(part, int) and part < len(value):
            value = value[part]
            if pointer[depth - 1] == "requirements" and isinstance(value, Mapping):
                key = value.get("key")
                return key if isinstance(key, str) else None
        else:
            return None
    return None
