"""What is seen of a story: at each rest, and between two of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from harness.engine.ports import Change, ChangeType, View
from harness.kube.api.labels import ZONE
from harness.kube.api.objects import (
    Object,
    condition,
    condition_is,
    controller_of,
    is_terminating,
    labels_of,
    metadata_of,
    name_of,
    namespace_of,
    spec_of,
    status_of,
    uid_of,
)
from harness.kube.scheduling.pods import is_terminal
from harness.kube.workloads.job_indexes import INDEX

__all__ = ["Watcher", "differences", "event_text", "is_told", "leaves", "repeated"]

WORKLOADS = (
    "Deployment",
    "StatefulSet",
    "DaemonSet",
    "Job",
    "CronJob",
    "ReplicaSet",
    "PodDisruptionBudget",
    "HorizontalPodAutoscaler",
)
_NUMBERS: Mapping[str, tuple[str, ...]] = {
    "Deployment": (
        *("replicas", "updatedReplicas", "readyReplicas", "availableReplicas"),
        *("unavailableReplicas", "terminatingReplicas"),
    ),
    "ReplicaSet": ("replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas", "terminatingReplicas"),
    "StatefulSet": ("replicas", "readyReplicas", "availableReplicas", "currentReplicas", "updatedReplicas"),
    "DaemonSet": (
        *("currentNumberScheduled", "desiredNumberScheduled", "numberMisscheduled", "numberReady"),
        *("updatedNumberScheduled", "numberAvailable", "numberUnavailable"),
    ),
    "Job": ("active", "ready", "succeeded", "failed", "terminating", "completedIndexes", "failedIndexes"),
    "CronJob": (),
    "HorizontalPodAutoscaler": ("currentReplicas", "desiredReplicas"),
    "PodDisruptionBudget": ("currentHealthy", "desiredHealthy", "expectedPods", "disruptionsAllowed"),
}  # fmt: skip
_NAMED = frozenset(
    {"Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob", "PodDisruptionBudget", "HorizontalPodAutoscaler"}
)
"""Kinds whose objects have the names that the story gives them."""


_RACES = frozenset({"PodDisruptionBudget: CalculateExpectedPodCountFailed", "CronJob: MissingJob"})
"""Events of a controller that has not heard of a workload, or of its own last write, yet; it tries again a moment later."""


def event_text(kind: str, reason: str, message: str, namespace: str) -> str:
    """An event as a fact: its reason, and the sizes and reasons that a HorizontalPodAutoscaler tells of."""
    message = message.replace(namespace, "NAMESPACE")
    return f"{kind}: {reason}: {message}" if kind == "HorizontalPodAutoscaler" else f"{kind}: {reason}"


def is_told(kind: str, reason: str) -> bool:
    """Return whether an event is a fact: of a workload, or of a pod whose node is not ready."""
    return kind in WORKLOADS or (kind == "Pod" and reason == "NodeNotReady")


class Watcher:
    """Sees one story. It has to `hear` every change of its namespace."""

    def __init__(self, view: View, namespace: str) -> None:
        self._view = view
        self._namespace = namespace
        self._living: dict[str, tuple[str, bool]] = {}
        """Of each pod that neither ends nor has ended, by uid: its revision, and whether it is ready."""
        self._there: set[str] = set()
        self._most: Counter[str] = Counter()
        self._least: dict[str, int] = {}
        self._order: list[str] = []
        self.events: set[str] = set()

    def hear(self, change: Change) -> None:
        """Takes notice of a change."""
        pod = change.object
        if pod["kind"] != "Pod" or namespace_of(pod) != self._namespace:
            return
        uid = uid_of(pod)
        if change.type is ChangeType.DELETED:
            self._living.pop(uid, None)
            self._there.discard(uid)
        else:
            self._there.add(uid)
            if is_terminating(pod) or is_terminal(pod):
                self._living.pop(uid, None)
            else:
                self._living[uid] = (labels_of(pod).get("rev", ""), condition_is(pod, "Ready"))
        if "statefulset.kubernetes.io/pod-name" in labels_of(pod):
            self._note(change)
        self._count()

    def _note(self, change: Change) -> None:
        """The order in which ordinals come and go."""
        pod, old = change.object, change.old
        going = is_terminating(pod) and (old is None or not is_terminating(old))
        if change.type is ChangeType.ADDED:
            self._order.append(f"+{name_of(pod)}")
        elif going:
            self._order.append(f"-{name_of(pod)}")

    def _count(self) -> None:
        counts = Counter(
            {
                "living": len(self._living),
                "ready": sum(ready for _, ready in self._living.values()),
                "there": len(self._there),
            }
        )
        for name, number in counts.items():
            self._most[name] = max(self._most[name], number)
            self._least[name] = min(self._least.get(name, number), number)

    def rest(self, answers: Sequence[str]) -> dict[str, Any]:
        """The facts at this rest and since the last one; `answers` are those of the API server to what the step asked."""
        pods = [pod for pod in self._view.list("Pod", namespace=self._namespace) if not is_terminating(pod)]
        revisions = Counter(f"{labels_of(pod).get('rev', '')} {status_of(pod).get('phase')}" for pod in pods)
        found: dict[str, Any] = {
            "pods": dict(sorted(revisions.items())),
            "most": self._peaks(),
            "least": dict(sorted(self._least.items())),
            "order": self._order if self._is_ordered() else sorted(self._order),
            "names": sorted(name_of(pod) for pod in pods if "statefulset.kubernetes.io/pod-name" in labels_of(pod)),
            "status": self._status(),
            "events": sorted(self.events - _RACES),
            "taints": self._taints(),
            "answers": sorted(answers),
        }
        indexes = sorted(
            f"{labels_of(pod)[INDEX]} {status_of(pod).get('phase')}" for pod in pods if INDEX in labels_of(pod)
        )
        if indexes:
            found["indexes"] = indexes
        if self._lost():
            found["unready"] = sum(not condition_is(pod, "Ready") for pod in pods)
        if any(ZONE in labels_of(node) for node in self._nodes().values()):  # whose turn comes first is chance
            found["tainted"] = dict(Counter(taint for taints in found["taints"].values() for taint in taints))
        self._most, self._least, self._order = Counter(), {}, []
        self._count()
        return found

    def _lost(self) -> bool:
        """Return whether a step has told of the readiness of a node."""
        return any((condition(node, "Ready") or {}).get("reason") == "Told" for node in self._nodes().values())

    def _nodes(self) -> dict[str, Object]:
        """Return the nodes of the story, by the end of their names."""
        parts = ((name_of(node).rpartition("-"), node) for node in self._view.list("Node"))
        return {letter: node for (namespace, _, letter), node in parts if namespace == self._namespace}

    def _peaks(self) -> dict[str, int | None]:
        """Return the most pods there were of each sort; null for living ones where a CronJob replaces its Jobs.

        The garbage collector asks for the old pod and its owner before it deletes the pod, while the new Job makes its own: of twelve
        tellings of one story side by side, seven saw two living pods for a moment, five saw one.
        """
        peaks: dict[str, int | None] = dict(sorted(self._most.items()))
        cron_jobs = self._view.list("CronJob", namespace=self._namespace)
        if "living" in peaks and any(spec_of(cron_job).get("concurrencyPolicy") == "Replace" for cron_job in cron_jobs):
            peaks["living"] = None
        return peaks

    def _is_ordered(self) -> bool:
        """Whether pods come one after the other: a set that makes all at once does so in any order."""
        sets = self._view.list("StatefulSet", namespace=self._namespace)
        return all(spec_of(each).get("podManagementPolicy") != "Parallel" for each in sets)

    def _status(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for kind in WORKLOADS:
            for obj in self._view.list(kind, namespace=self._namespace):
                numbers = {field: status_of(obj).get(field) for field in _NUMBERS[kind] if status_of(obj).get(field)}
                conditions = sorted(
                    f"{each['type']}={each['status']} {each.get('reason', '')}"
                    for each in status_of(obj).get("conditions") or ()
                )
                observed = status_of(obj).get("observedGeneration")
                if (
                    observed is not None
                ):  # by its own count: what is left out and what is said as a default count differently here
                    numbers["observed"] = observed == metadata_of(obj).get("generation")
                if kind == "HorizontalPodAutoscaler":
                    numbers["metrics"] = status_of(obj).get("currentMetrics")
                    numbers["messages"] = sorted(
                        each["message"].replace(self._namespace, "NAMESPACE")
                        for each in status_of(obj).get("conditions") or ()
                    )
                if kind == "CronJob":
                    numbers["active"] = len(status_of(obj).get("active") or ())
                    numbers["succeeded"] = "lastSuccessfulTime" in status_of(obj)
                if kind in _NAMED and controller_of(obj) is None:
                    found[f"{kind}/{name_of(obj)}"] = {**numbers, "conditions": conditions}
                else:
                    revision = labels_of(spec_of(obj).get("template") or {}).get("rev", "")
                    note = (obj["metadata"].get("annotations") or {}).get("deployment.kubernetes.io/revision", "")
                    place = found.setdefault(f"{kind} {revision}", [])
                    place.append(
                        {**numbers, "wanted": spec_of(obj).get("replicas"), "revision": note, "conditions": conditions}
                    )
        for rows in found.values():
            if isinstance(rows, list):
                rows.sort(key=str)
        return found

    def _taints(self) -> dict[str, list[str]]:
        return {
            letter: sorted(f"{taint['key']}:{taint['effect']}" for taint in spec_of(node).get("taints") or ())
            for letter, node in self._nodes().items()
        }


def differences(expected: Any, found: Any, path: str = "") -> list[str]:
    """Where two facts differ, one line each. What is expected to be null did not repeat, and is not compared."""
    if isinstance(expected, Mapping) and isinstance(found, Mapping):
        lines: list[str] = []
        for key in sorted({*expected, *found}):
            if key in expected and expected[key] is None:
                continue
            lines += differences(expected.get(key), found.get(key), f"{path}.{key}" if path else str(key))
        return lines
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        return [
            line
            for number, (one, other) in enumerate(zip(expected, found, strict=True))
            if one is not None
            for line in differences(one, other, f"{path}[{number}]")
        ]
    return [] if expected == found else [f"{path}: real {expected!r}, memory {found!r}"]


def repeated(first: Any, second: Any) -> Any:
    """Return the facts of which two tellings agree, null in place of the others: what does not repeat proves nothing.

    A fact of one telling alone is null, too, so that a recording leaves it out.
    """
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        return {key: repeated(first.get(key), second.get(key)) for key in sorted({*first, *second})}
    if isinstance(first, list) and isinstance(second, list) and len(first) == len(second):
        return [repeated(fact, other) for fact, other in zip(first, second, strict=True)]
    return first if first == second else None


def leaves(facts: Any) -> int:
    """How many single facts there are."""
    if isinstance(facts, Mapping):
        return sum(map(leaves, facts.values()))
    if isinstance(facts, list):
        return sum(map(leaves, facts)) or 1
    return 1
