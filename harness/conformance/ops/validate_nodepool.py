"""Op ``validate_nodepool``: what the API server and Karpenter say to an object, and what Karpenter says to label keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml

from harness.conformance.context import AnswerContext
from harness.conformance.errors import RequestError
from harness.karpenter.validation.admission import Admission, UnknownResource, admit
from harness.karpenter.validation.crds import crd_set
from harness.karpenter.validation.decoding import decode_error
from harness.karpenter.validation.hashing import nodepool_hash
from harness.karpenter.validation.runtime import joined, nodepool_findings, requirement_findings, wording_of
from harness.kube.admission.node_restriction import KUBELET_LABELS, is_kubelet_label, is_kubernetes_label
from harness.kube.custom_resources.admission import api_server


def answer(request: Mapping[str, Any], context: AnswerContext) -> Any:
    """Verdicts on ``object`` (or ``yaml``) and on ``labels``. Raises RequestError for what is no object of a known kind."""
    out: dict[str, Any] = {}
    labels = _texts(request.get("labels"))
    if labels:
        out["labels"] = {label: _predicates(label, context) for label in labels}
    obj = _object(request)
    if obj is None:
        return out
    release = context.release
    static_pools = not release.vocabulary.exclusive_bounds
    try:
        admission = admit(obj, crds=context.crds or crd_set(release.crds), server=api_server(release.core.kubernetes))
    except UnknownResource as error:
        raise RequestError(str(error)) from None
    out["crd"] = crd_answer(admission)
    out["defaulted"] = admission.object
    if obj.get("kind") != "NodePool":
        return out
    if (undecodable := decode_error(obj, static_pools=static_pools)) is not None:
        out["runtime_decode_error"] = undecodable
        return out
    wording = wording_of(release)
    template = (obj.get("spec") or {}).get("template") or {}
    requirements = (template.get("spec") or {}).get("requirements") or ()
    out["runtime"] = {"error": joined(nodepool_findings(obj, wording))}
    out["requirements"] = [
        {"key": (entry or {}).get("key") or "", "result": {"error": joined(requirement_findings(entry or {}, wording))}}
        for entry in requirements
    ]
    out["hash"] = nodepool_hash(obj)
    return out


def crd_answer(admission: Admission) -> dict[str, Any]:
    """Return the API server's answer, as the protocol has it."""
    errors = [
        {"type": str(error.type), "field": error.field, "detail": error.detail, "text": str(error)}
        for error in admission.errors
    ]
    return {"errors": errors, "message": admission.message}


def _predicates(label: str, context: AnswerContext) -> dict[str, Any]:
    """Return the answers of the release's functions about a label key; the functions differ by release."""
    release = context.release
    vocabulary = release.vocabulary
    answers: dict[str, Any] = {
        "restricted": vocabulary.restricted(label),
        "well_known": label in vocabulary.well_known,
    }
    settable = not is_kubernetes_label(label) or is_kubelet_label(label)
    if release.kubelet_filter:
        answers["kubelet_can_set"] = settable
        answers["kubelet_managed"] = label in KUBELET_LABELS
    else:
        answers["restricted_node_label"] = vocabulary.restricted_node_label(label)
        if not release.winning_base_keys:  # the provider has its label module
            answers["kubelet_label"] = settable
    return answers


def _texts(value: Any) -> list[str]:
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
        raise RequestError("labels is not a list of strings")
    return value


def _object(request: Mapping[str, Any]) -> dict[str, Any] | None:
    obj = request.get("object")
    if request.get("yaml"):
        try:
            obj = yaml.safe_load(request["yaml"])
        except yaml.YAMLError as error:
            raise RequestError(f"yaml: {error}") from None
    if obj is None:
        return None
    # create drops the status before anything looks at it
    return {key: value for key, value in object_of(obj).items() if key != "status"}


def object_of(obj: Any) -> dict[str, Any]:
    """An object of a request as Go decodes it, without the list of managers, of which the API server keeps its own. Raises RequestError."""
    if not isinstance(obj, dict):
        raise RequestError("object is not a mapping")
    metadata = obj.get("metadata")
    if isinstance(metadata, dict):
        obj = {**obj, "metadata": {key: value for key, value in metadata.items() if key != "managedFields"}}
    return {key: _as_go_reads(value) for key, value in obj.items()}


def _as_go_reads(value: Any) -> Any:
    """JSON values as Go's decoder for Kubernetes objects has them: integers of 64 bits, beyond them floats."""
    if isinstance(value, dict):
        return {str(key): _as_go_reads(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_as_go_reads(entry) for entry in value]
    if isinstance(value, bool) or not isinstance(value, int):
        return value if isinstance(value, str | bool | float) or value is None else str(value)  # YAML's dates
    return value if -(1 << 63) <= value < 1 << 63 else float(value)
