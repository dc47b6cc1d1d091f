"""Op ``update``: what the API server says to replacing a stored object of Karpenter's, or its status."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.clusters.memory.update_strategy import prepared_for_update
from harness.conformance.context import AnswerContext
from harness.conformance.errors import RequestError
from harness.conformance.ops.validate_nodepool import crd_answer, object_of
from harness.karpenter.validation.admission import admit
from harness.karpenter.validation.crds import crd_set
from harness.kube.api.kinds import served
from harness.kube.custom_resources.admission import api_server
from harness.kube.custom_resources.schema import prepare

_KEPT: Mapping[str, Any] = {"uid": "uid", "resourceVersion": "1"}
"""The metadata that a write takes over from the stored object, whoever sends it."""


def answer(request: Mapping[str, Any], context: AnswerContext) -> Any:
    """The verdict on ``object`` in place of ``old``, and what is stored. Raises RequestError for what is no object of a known kind."""
    old, new = (_taken_over(object_of(request.get(name))) for name in ("old", "object"))
    subresource = request.get("subresource") or ""
    release = context.release
    crds, server = context.crds or crd_set(release.crds), api_server(release.core.kubernetes)
    kind = served(str(old.get("apiVersion") or ""), str(old.get("kind") or ""))
    resource = crds.resource(str(old.get("apiVersion")), str(old.get("kind")), integer_formats=server.integer_formats)
    if kind is None or resource is None:
        raise RequestError(f"no CRD for {old.get('apiVersion')} {old.get('kind')}")
    if subresource and subresource != "status":
        raise RequestError(f"{kind.kind} has no subresource {subresource}")
    stored = prepare(old, resource.schema)
    sent = prepared_for_update(kind, subresource, stored, prepare(new, resource.schema))
    verdict = admit(sent, old=stored, crds=crds, server=server, subresource=subresource)
    return {"crd": crd_answer(verdict), "stored": verdict.object}


def _taken_over(obj: dict[str, Any]) -> dict[str, Any]:
    metadata = {**(obj.get("metadata") or {}), **_KEPT}
    metadata.pop("generation", None)
    return {**obj, "metadata": metadata}
