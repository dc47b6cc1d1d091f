"""The registration step: what a Node gets from its NodeClaim (core pkg/controllers/nodeclaim/lifecycle/registration.go)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.engine.ports import Sink, View, Writer
from harness.karpenter.labels.core import (
    DO_NOT_SYNC_TAINTS,
    REGISTERED,
    TERMINATION_FINALIZER,
    UNREGISTERED_TAINT,
)
from harness.karpenter.lifecycle.names import nodes_of
from harness.karpenter.lifecycle.nodeclaims.draft import Draft
from harness.karpenter.releases import CoreRelease
from harness.kube.api.objects import (
    Object,
    finalizers_of,
    labels_of,
    metadata_of,
    name_of,
    owner_reference,
    owners_of,
    spec_of,
    uid_of,
)
from harness.kube.api.patch import merge_diff
from harness.kube.scheduling.taints import same_taint

_MISSING_TAINT = (
    "Missing karpenter.sh/unregistered taint which prevents registration related race conditions on "
    "Karpenter-managed nodes"
)


class Registration:
    """Finds the Node of a launched NodeClaim and sets labels, annotations, taints, finalizer and owner on it."""

    def __init__(self, view: View, writer: Writer, sink: Sink, core: CoreRelease) -> None:
        self._view = view
        self._writer = writer
        self._sink = sink
        self._core = core

    def step(self, draft: Draft) -> bool:
        """Registers if the Node is there. Returns whether this step completed the registration. Raises ApiError."""
        conditions = draft.conditions
        if not conditions.is_unknown("Registered"):
            conditions.refresh("Registered")
            return False
        claim = draft.object
        nodes = nodes_of(self._view, claim)
        if not nodes:
            conditions.set_unknown("Registered", "NodeNotFound", "Node not registered with cluster")
            return False
        if len(nodes) > 1:
            conditions.set_false("Registered", "MultipleNodesFound", "Invariant violated, matched multiple nodes")
            return False
        node = nodes[0]
        tainted = any(same_taint(taint, UNREGISTERED_TAINT) for taint in spec_of(node).get("taints") or ())
        if REGISTERED not in labels_of(node) and not tainted:
            self._sink.log("error", "nodeclaim.lifecycle", "node claim registration error", NodeClaim=name_of(claim))
            self._sink.event(claim, "Warning", "UnregisteredTaintMissing", _MISSING_TAINT)
        synced = synced_node(claim, node, self._core)
        patch = merge_diff(node, synced)
        if patch:
            patch.setdefault("metadata", {})["resourceVersion"] = metadata_of(node)["resourceVersion"]
            self._sink.asserted(
                name_of(node), "karpenter", {key: (value, "") for key, value in labels_of(claim).items()}
            )
            self._writer.patch("Node", name_of(node), patch)
        self._sink.log(
            "info", "nodeclaim.lifecycle", "registered nodeclaim", NodeClaim=name_of(claim), Node=name_of(node)
        )
        conditions.set_true("Registered")
        draft.status["nodeName"] = name_of(node)
        return True


def synced_node(claim: Object, node: Object, core: CoreRelease) -> dict[str, Any]:
    """The Node after registration. The NodeClaim's labels and annotations win over the Node's.

    Taints are not synced when the Node has the label karpenter.sh/do-not-sync-taints; the unregistered taint is removed in any case.
    """
    meta = dict(metadata_of(node))
    if TERMINATION_FINALIZER not in finalizers_of(node):
        meta["finalizers"] = [*finalizers_of(node), TERMINATION_FINALIZER]
    others = [ref for ref in owners_of(node) if ref.get("uid") != uid_of(claim)]
    own = owner_reference(claim, controller=False)
    meta["ownerReferences"] = [*others, own]
    spec = dict(spec_of(node))
    taints: Sequence[Mapping[str, Any]] = spec.get("taints") or ()
    managed = labels_of(node).get(DO_NOT_SYNC_TAINTS) == "true" and core.honours_do_not_sync_taints
    if not managed:
        taints = _merged(taints, spec_of(claim).get("taints") or ())
        taints = _merged(taints, spec_of(claim).get("startupTaints") or ())
    taints = [taint for taint in taints if not same_taint(taint, UNREGISTERED_TAINT)]
    if taints:
        spec["taints"] = taints
    else:
        spec.pop("taints", None)
    if metadata_of(claim).get("annotations"):
        meta["annotations"] = {**(meta.get("annotations") or {}), **metadata_of(claim)["annotations"]}
    meta["labels"] = {**labels_of(node), **labels_of(claim), REGISTERED: "true"}
    return {**node, "metadata": meta, "spec": spec}


def _merged(taints: Sequence[Mapping[str, Any]], more: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Taints, and those of `more` whose key and effect none of them has (scheduling.Taints.Merge)."""
    result = list(taints)
    result.extend(taint for taint in more if not any(same_taint(taint, present) for present in taints))
    return result
