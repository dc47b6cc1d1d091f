"""NodePools, NodeClaims and AKSNodeClasses for recorded scenarios, and what the release's API server and provider say of them."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from tests.conformance.recorder import (
    NODECLASS,
    Recorder,
)

__all__ = ["AKS", "MINE", "claim_of", "errors_of", "launched", "manifest_of", "nodeclass_of", "pool_refused", "refused"]

Json = dict[str, Any]

AKS = "kubernetes.azure.com"
MINE = "mine"


def refused(recorder: Recorder, obj: Json) -> bool:
    return bool((recorder.answer({"op": "validate_nodepool", "object": obj}).get("crd") or {}).get("errors"))


def errors_of(recorder: Recorder, requirements: Sequence[Json]) -> list[Json]:
    made = manifest_of(claim_of(recorder, requirements=requirements))
    crd = recorder.answer({"op": "validate_nodepool", "object": made}).get("crd") or {}
    errors: list[Json] = crd.get("errors") or []
    return errors


def pool_refused(recorder: Recorder, requirements: Sequence[Json]) -> bool:
    nodepool = recorder.nodepool_object()
    nodepool["spec"]["template"]["spec"]["requirements"] += requirements
    answer = recorder.answer({"op": "validate_nodepool", "object": nodepool})
    return bool((answer.get("crd") or {}).get("errors") or (answer.get("runtime") or {}).get("error"))


def launched(recorder: Recorder, claim: Json, reference: str) -> Json:
    """What becomes of a NodeClaim that the API server takes."""
    try:
        recorder.launched_labels(claim)
    except RuntimeError:
        return {"rejected": {"object": reference, "layer": "launch"}}
    return {"accepted": {"object": reference}}


def claim_of(recorder: Recorder, labels: Mapping[str, str] | None = None, requirements: Sequence[Json] = ()) -> Json:
    """The claim of a plain pod as :meth:`Recorder.launched_labels` takes it, with more labels or with other requirements."""
    claim = copy.deepcopy(recorder.pinned_claim)
    made = claim["nodeclaim"]
    made["metadata"]["labels"] |= labels or {}
    if requirements:
        made["requirements"] = list(requirements)
    return claim


def nodeclass_of(**spec: Any) -> Json:
    made = copy.deepcopy(NODECLASS)
    made["spec"] |= spec
    return {"apiVersion": "karpenter.azure.com/v1beta1", "kind": "AKSNodeClass", **made}


def manifest_of(claim: Json) -> Json:
    """The claim as somebody would write it."""
    made = claim["nodeclaim"]
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodeClaim",
        "metadata": {"name": "mine", "labels": made["metadata"]["labels"]},
        "spec": {
            "nodeClassRef": {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"},
            "requirements": made["requirements"],
        },
    }
