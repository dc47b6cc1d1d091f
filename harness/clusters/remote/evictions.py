"""Pods that the taint eviction of kube-controller-manager drives out by mistake.

It watches Nodes and pods apart. When a NoExecute taint goes, which is how Karpenter registers a Node, kube-scheduler may bind a pod
before that controller knows that the taint is gone; it then deletes a pod that nothing keeps off the Node. A workload replaces its
pods by itself.
Source: kubernetes 1.36 pkg/controller/tainteviction/taint_eviction.go (handlePodUpdate, addConditionAndDeletePod).
"""

from __future__ import annotations

from typing import Any

from harness.engine.ports import Writer
from harness.kube.admission.match_label_keys import without_merged_keys
from harness.kube.api.objects import (
    Object,
    condition,
    controller_of,
    is_terminating,
    metadata_of,
    name_of,
    namespace_of,
    spec_of,
    uid_of,
)
from harness.kube.api.status import ApiError, ignoring
from harness.kube.scheduling.taints import NO_EXECUTE, untolerated

__all__ = ["driven_out_by_mistake", "make_again"]

_GIVEN = ("name", "namespace", "labels", "annotations")
"""Fields of a pod's metadata that its maker gives."""


def driven_out_by_mistake(pod: Object, node: Object | None) -> bool:
    """Return whether taint eviction deletes this pod by mistake.

    Then no controller replaces it, and its Node has no taint that it does not tolerate.
    """
    target = condition(pod, "DisruptionTarget")
    if not is_terminating(pod) or target is None or target.get("reason") != "DeletionByTaintManager":
        return False
    if node is None or is_terminating(node) or controller_of(pod) is not None:
        return False
    driving = [taint for taint in spec_of(node).get("taints") or () if taint.get("effect") == NO_EXECUTE]
    return not untolerated(driving, spec_of(pod).get("tolerations") or ())


def make_again(pod: Object, admin: Writer) -> None:
    """End the pod and make one like it, which kube-scheduler decides about anew. A pod that was quicker has the name."""
    meta = {field: value for field, value in metadata_of(pod).items() if field in _GIVEN}
    spec = {field: value for field, value in spec_of(pod).items() if field != "nodeName"}
    new: dict[str, Any] = {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}
    try:
        admin.delete("Pod", name_of(pod), namespace=namespace_of(pod), grace_period_seconds=0, uid=uid_of(pod))
    except ApiError as error:
        if error.code != 404:
            return
    with ignoring(403, 404, 409):
        admin.create(without_merged_keys(new))
