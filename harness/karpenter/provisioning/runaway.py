"""Detects pods that get one NodeClaim after the other and are never bound."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.engine.ports import View
from harness.engine.runaway import Loop, Runaway, RunawayDetector
from harness.karpenter.labels.core import REGISTERED
from harness.karpenter.lifecycle.names import is_known_ephemeral, nodes_of
from harness.karpenter.releases import ProviderRelease
from harness.karpenter.requirements import Conflicts, Requirements, UndefinedKey
from harness.kube.api.objects import (
    Key,
    Object,
    labels_of,
    name_of,
    namespace_of,
    owners_of,
    short_name,
    spec_of,
    uid_of,
)
from harness.kube.scheduling.filters import Filters
from harness.kube.scheduling.placement import NodeInfo
from harness.kube.scheduling.pods import is_active

BOUND = 8
"""Equal loops in a row that count as a runaway. A node that is about to register can end a short row by itself."""


class PodRunaways:
    """Remembers which NodeClaims were made for which pods. `failures` are the launch failures by NodeClaim."""

    def __init__(self, view: View, release: ProviderRelease, failures: Mapping[str, str], bound: int = BOUND) -> None:
        self._view = view
        self._vocabulary = release.vocabulary
        self._core = release.core
        self._failures = failures
        self._detector = RunawayDetector(
            bound, "a NodeClaim is made for the pod, does not take it, and the next one is made"
        )
        self._last: dict[str, str] = {}
        """The name of the last NodeClaim of each pod, by the pod's uid."""

    def created(self, pods: Sequence[Object], claim: Object, requirements: str, at: float) -> Runaway | None:
        """A NodeClaim was created for these pods. Returns the runaway that this completes, if any."""
        subject = ", ".join(sorted(f"Pod/{short_name(pod)}" for pod in pods))
        fault, why = self._reason(pods)
        signature = (tuple(sorted(uid_of(pod) for pod in pods)), requirements)
        for pod in pods:
            self._last[uid_of(pod)] = name_of(claim)
        return self._detector.record(subject, Loop(signature, at, (f"NodeClaim/{name_of(claim)}",), fault, why))

    def _reason(self, pods: Sequence[Object]) -> tuple[str | None, str]:
        """The label key at fault (None: none is), and why the NodeClaim before did not take the pods."""
        for pod in pods:
            name = self._last.get(uid_of(pod))
            if name is None:
                continue
            last = self._view.get("NodeClaim", name)
            if last is None:
                return None, f"NodeClaim/{name} is gone: {self._failures.get(name) or 'deleted'}"
            nodes = nodes_of(self._view, last)
            speaker = nodes[0] if nodes and labels_of(nodes[0]).get(REGISTERED) == "true" else last
            offered = Requirements.from_labels(labels_of(speaker), vocabulary=self._vocabulary)
            cause = offered.compatible(Requirements.from_pod(pod, vocabulary=self._vocabulary, strict=True))
            if isinstance(cause, UndefinedKey):
                return cause.key, f"NodeClaim/{name} does not take the pod: {cause}"
            if isinstance(cause, Conflicts):
                return cause.keys[0].key, f"NodeClaim/{name} does not take the pod: {cause}"
            refusal = self._refused(pod, nodes[0]) if nodes else ""
            return None, f"NodeClaim/{name} did not take the pod{refusal}"
        return None, ""

    def _refused(self, pod: Object, node: Object) -> str:
        """Return why kube-scheduler does not bind the pod to the Node, with the DaemonSets whose pods are there; empty
        when nothing forbids it.
        """
        there = [
            running
            for running in self._view.list("Pod")
            if spec_of(running).get("nodeName") == name_of(node) and is_active(running)
        ]
        taints = [taint for taint in spec_of(node).get("taints") or () if not is_known_ephemeral(taint, self._core)]
        info = NodeInfo({**node, "spec": {**spec_of(node), "taints": taints}}, there)  # those that go by themselves
        failure = Filters.for_pod(pod, [info], namespaces=self._view.list("Namespace")).failure(info)
        if failure is None:
            return ""
        owned = ((namespace_of(running), owner) for running in there for owner in owners_of(running))
        names = {
            Key("DaemonSet", place, str(owner["name"])) for place, owner in owned if owner.get("kind") == "DaemonSet"
        }
        daemons = sorted(key.short for key in names)
        beside = f" beside the pods of DaemonSet {', '.join(daemons)}" if daemons and not failure.helpless else ""
        return f": {', '.join(failure.reasons)}{beside}"
