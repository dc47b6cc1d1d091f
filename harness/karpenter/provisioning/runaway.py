"""The watch for pods that get one NodeClaim after the other and never a place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.engine.ports import View
from harness.engine.runaway import Loop, Runaway, RunawayDetector
from harness.karpenter.labels.core import REGISTERED
from harness.karpenter.labels.vocabulary import Vocabulary
from harness.karpenter.lifecycle.names import nodes_of
from harness.karpenter.requirements import Conflicts, Requirements, UndefinedKey
from harness.kube.api.objects import Object, labels_of, name_of, namespace_of, uid_of

BOUND = 8
"""Equal loops in a row that count as a circle. A node that is about to register can end a short row by itself."""


class PodRunaways:
    """Remembers which NodeClaims were made for which pods. `failures` are the launch failures by NodeClaim."""

    def __init__(self, view: View, vocabulary: Vocabulary, failures: Mapping[str, str], bound: int = BOUND) -> None:
        self._view = view
        self._vocabulary = vocabulary
        self._failures = failures
        self._detector = RunawayDetector(bound)
        self._last: dict[str, str] = {}
        """The uid of the last NodeClaim of each pod, by the pod's uid."""
        self._claims: dict[str, Object] = {}
        """NodeClaims by uid, as they were when last seen."""

    def seen(self, claim: Object) -> None:
        """Keeps the last state of a NodeClaim, also of one that is being deleted."""
        uid = uid_of(claim)
        if uid in self._claims:
            self._claims[uid] = claim

    def created(self, pods: Sequence[Object], claim: Object, requirements: str, at: float) -> Runaway | None:
        """A NodeClaim was created for these pods. Returns the circle that this closes, if any."""
        subject = ", ".join(sorted(f"Pod/{namespace_of(pod)}/{name_of(pod)}" for pod in pods))
        fault, why = self._reason(pods)
        signature = (tuple(sorted(uid_of(pod) for pod in pods)), requirements)
        self._claims[uid_of(claim)] = claim
        for pod in pods:
            self._last[uid_of(pod)] = uid_of(claim)
        return self._detector.record(subject, Loop(signature, at, (f"NodeClaim/{name_of(claim)}",), fault, why))

    def _reason(self, pods: Sequence[Object]) -> tuple[str | None, str]:
        """Why the NodeClaim before did not help."""
        for pod in pods:
            claim = self._last.get(uid_of(pod))
            if claim is None:
                continue
            last = self._claims[claim]
            name = name_of(last)
            if self._view.get("NodeClaim", name) is None:
                return None, f"NodeClaim/{name} is gone: {self._failures.get(name) or 'deleted'}"
            nodes = nodes_of(self._view, last)
            speaker = nodes[0] if nodes and labels_of(nodes[0]).get(REGISTERED) == "true" else last
            offered = Requirements.from_labels(labels_of(speaker), vocabulary=self._vocabulary)
            cause = offered.compatible(Requirements.from_pod(pod, vocabulary=self._vocabulary, strict=True))
            if isinstance(cause, UndefinedKey):
                return cause.key, f"NodeClaim/{name} does not take the pod: {cause}"
            if isinstance(cause, Conflicts):
                return cause.keys[0].key, f"NodeClaim/{name} does not take the pod: {cause}"
            return None, f"NodeClaim/{name} did not take the pod"
        return None, ""
