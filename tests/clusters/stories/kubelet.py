"""What a kubelet does with a pod in a story: it runs a second after it is bound, and is gone a second after its deletion.

Labels of the pod say the rest: `never-ready`, `ends` (`Succeeded`, `Failed`: a second after it has begun to run; `odd-fail`: Failed for
those of odd completion indexes). A pod that somebody waits for has failed when it is deleted, as a kubelet says it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.engine.ports import Writer
from harness.kube.api.objects import (
    Object,
    is_held,
    is_terminating,
    labels_of,
    name_of,
    namespace_of,
    spec_of,
    status_of,
)
from harness.kube.api.status import ignoring
from harness.kube.scheduling.pods import is_terminal

__all__ = ["Pace", "act", "owes"]

_SECONDS: Mapping[str, float] = {"Job": 1.4, "CronJob": 1.4}
"""How long each of it takes in stories of some kinds, a second in others: a Job is looked at a second after its pods have changed, which
must not be the moment at which they change again."""
_APART: Mapping[str, float] = {"Job": 1.6}
"""Seconds between two deeds in stories of some kinds, a quarter in others: long enough for all controllers to have seen the first, so
that both sides go through the same states."""
_ENDS = "ends"


class Pace:
    """When the next deed in a story is done."""

    def __init__(self, kind: str) -> None:
        self._last = 0.0
        self._seconds, self._apart = _SECONDS.get(kind, 1.0), _APART.get(kind, 0.25)

    def due(self, now: float) -> float:
        """The moment for a deed that somebody asks for now."""
        self._last = round(max(now + self._seconds, self._last + self._apart), 6)  # as a clock of nanoseconds says it
        return self._last


def owes(pod: Object) -> str:
    """What a kubelet has yet to do with a pod: start, end, stop, or nothing ("")."""
    phase = status_of(pod).get("phase", "Pending")
    if is_terminating(pod):
        return "stop" if pod["metadata"].get("deletionGracePeriodSeconds") else ""
    if not spec_of(pod).get("nodeName"):
        return ""
    if phase == "Pending":
        return "start"
    return "end" if phase == "Running" and labels_of(pod).get(_ENDS) else ""


def act(writer: Writer, pod: Object, deed: str, now: str) -> None:
    """Does it. A pod that is gone meanwhile needs nothing."""
    name, namespace = name_of(pod), namespace_of(pod)
    with ignoring(404, 409):
        if deed == "stop":
            if is_held(pod) and not is_terminal(pod):
                status = _terminated(pod, "Failed", now)
                writer.patch(
                    "Pod", name, {"status": status}, namespace=namespace, type="strategic", subresource="status"
                )
            writer.delete("Pod", name, namespace=namespace, grace_period_seconds=0, uid=pod["metadata"]["uid"])
        else:
            status = _started(pod, now) if deed == "start" else _ended(pod, now)
            writer.patch("Pod", name, {"status": status}, namespace=namespace, type="strategic", subresource="status")


def _started(pod: Object, now: str) -> Mapping[str, Any]:
    ready = "False" if "never-ready" in labels_of(pod) else "True"
    conditions = [{"type": kind, "status": ready, "lastTransitionTime": now} for kind in ("Ready", "ContainersReady")]
    return {"phase": "Running", "startTime": now, "conditions": conditions}


def _ended(pod: Object, now: str) -> Mapping[str, Any]:
    phase = labels_of(pod)[_ENDS]
    if phase == "odd-fail":
        index = int(labels_of(pod).get("batch.kubernetes.io/job-completion-index", "0"))
        phase = "Failed" if index % 2 else "Succeeded"
    return _terminated(pod, phase, now)


def _terminated(pod: Object, phase: str, now: str) -> Mapping[str, Any]:
    conditions = [
        {"type": kind, "status": "False", "lastTransitionTime": now, "reason": "PodCompleted"}
        for kind in ("Ready", "ContainersReady")
    ]
    code = 0 if phase == "Succeeded" else 1
    ended = {"exitCode": code, "startedAt": now, "finishedAt": now}
    containers = [
        {
            "name": each["name"],
            "image": each["image"],
            "imageID": "",
            "ready": False,
            "restartCount": 0,
            "state": {"terminated": ended},
        }
        for each in spec_of(pod)["containers"]
    ]
    return {"phase": phase, "conditions": conditions, "containerStatuses": containers}
