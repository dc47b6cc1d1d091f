"""The initialization step: when a registered Node counts as complete (core …/lifecycle/initialization.go)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.engine.ports import Sink, View, Writer
from harness.karpenter.labels.core import INITIALIZED
from harness.karpenter.lifecycle.names import is_known_ephemeral, nodes_of
from harness.karpenter.lifecycle.nodeclaims.draft import Draft
from harness.karpenter.releases import CoreRelease
from harness.kube.api.objects import Object, condition_is, labels_of, name_of, spec_of, status_of
from harness.kube.api.quantity import Quantity
from harness.kube.scheduling.taints import same_taint, taint_text


class Initialization:
    """Marks a Node initialized once it is ready, its startup taints are gone and its devices are there."""

    def __init__(self, view: View, writer: Writer, sink: Sink, core: CoreRelease) -> None:
        self._view = view
        self._writer = writer
        self._sink = sink
        self._core = core

    def step(self, draft: Draft) -> None:
        """Initializes the Node if it is complete; otherwise the condition says what is missing. Raises ApiError."""
        conditions = draft.conditions
        if not conditions.is_unknown("Initialized"):
            conditions.refresh("Initialized")
            return
        if not conditions.is_true("Registered"):
            return
        claim = draft.object
        nodes = nodes_of(self._view, claim)
        if len(nodes) != 1:
            conditions.set_unknown("Initialized", "NodeNotFound", "Node not registered with cluster")
            return
        node = nodes[0]
        obstacle = obstacle_of(claim, node, self._core)
        if obstacle is not None:
            conditions.set_unknown("Initialized", *obstacle)
            return
        if labels_of(node).get(INITIALIZED) != "true":
            self._writer.patch("Node", name_of(node), {"metadata": {"labels": {INITIALIZED: "true"}}})
        self._sink.log(
            "info", "nodeclaim.lifecycle", "initialized nodeclaim", NodeClaim=name_of(claim), Node=name_of(node)
        )
        conditions.set_true("Initialized")


def obstacle_of(claim: Object, node: Object, core: CoreRelease) -> tuple[str, str] | None:
    """The condition's reason and message why a Node is not initialized yet; None when nothing is missing."""
    if not condition_is(node, "Ready"):
        return "NodeNotReady", "Node status is NotReady"
    taints = spec_of(node).get("taints") or ()
    for startup in spec_of(claim).get("startupTaints") or ():
        for taint in taints:
            if same_taint(startup, taint):
                return "StartupTaintsExist", f'StartupTaint "{taint_text(taint)}" still exists'
    for taint in taints:
        if is_known_ephemeral(taint, core):
            return "KnownEphemeralTaintsExist", f'KnownEphemeralTaint "{taint_text(taint)}" still exists'
    missing = missing_resource(claim, node)
    if missing is not None:
        return "ResourceNotRegistered", f'Resource "{missing}" was requested but not registered'
    return None


def missing_resource(claim: Object, node: Object) -> str | None:
    """A requested resource of which the node has none yet; the first by name (upstream: any)."""
    allocatable: Mapping[str, Any] = status_of(node).get("allocatable") or {}
    requests: Mapping[str, Any] = (spec_of(claim).get("resources") or {}).get("requests") or {}
    for name in sorted(requests):
        if Quantity.parse(requests[name]).is_zero():
            continue
        if Quantity.parse(allocatable.get(name, 0)).is_zero():
            return name
    return None
