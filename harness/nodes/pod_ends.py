"""The end of a pod's containers: when it comes, and the status that follows.

Pods of Jobs end; so do others whose annotation says so. Sources: kubernetes pkg/kubelet/kubelet_pods.go (getPhase,
convertToAPIContainerStatuses), pkg/kubelet/kuberuntime (back-off of containers that are started again).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from harness.kube.api.objects import Object, annotations_of, controller_of, spec_of, status_of
from harness.kube.go.durations import DurationError, parse_duration
from harness.kube.go.text import parse_int
from harness.nodes.timing import NEVER

__all__ = [
    "EXIT_CODE",
    "KILLED",
    "RUNS_FOR",
    "end_conditions",
    "ended_status",
    "exit_code",
    "restarted_status",
    "run_seconds",
]

RUNS_FOR = "karpenter-harness/runs-for"
"""The annotation of how long the containers of a pod run: a duration, or `never` for no end."""
EXIT_CODE = "karpenter-harness/exit-code"
"""The annotation of the exit code of a pod's containers, 0 without it."""
KILLED = 143  # by SIGTERM
_FIRST_RESTART, _LONGEST_RESTART = 10.0, 300.0  # seconds


def run_seconds(pod: Object, of_jobs: float) -> float:
    """Return for how long the containers of a pod run, NEVER for no end; `of_jobs`: those of a Job whose annotation says nothing."""
    if spec_of(pod).get("restartPolicy", "Always") == "Always":
        return NEVER
    text = annotations_of(pod).get(RUNS_FOR)
    if text == "never":
        return NEVER
    if text is not None:
        try:
            return max(0.0, parse_duration(text) / 1e9)
        except DurationError:
            return NEVER
    owner = controller_of(pod)
    return of_jobs if owner is not None and owner["kind"] == "Job" else NEVER


def exit_code(pod: Object) -> int:
    """Return the exit code with which the containers of a pod end."""
    return parse_int(annotations_of(pod).get(EXIT_CODE, "")) or 0


def ended_status(pod: Object, code: int, now: str) -> dict[str, Any]:
    """Return the phase of a pod whose containers have ended, and their statuses."""
    return {"phase": "Failed" if code else "Succeeded", "containerStatuses": _statuses(pod, code, now)}


def end_conditions(code: int, now: str) -> list[dict[str, str]]:
    """Return the conditions of a pod that has ended."""
    reason = {"reason": "PodFailed" if code else "PodCompleted"}
    states = (
        ("PodReadyToStartContainers", "False"),
        ("Initialized", "True"),
        ("Ready", "False"),
        ("ContainersReady", "False"),
    )
    return [
        {
            "type": kind,
            "status": status,
            "lastTransitionTime": now,
            **(reason if kind != "PodReadyToStartContainers" else {}),
        }
        for kind, status in states
    ]


def restarted_status(pod: Object, code: int, now: str) -> tuple[dict[str, Any], float]:
    """Return the statuses of containers that are started again after a failure, and the seconds until then."""
    statuses = _statuses(pod, code, now)
    for status in statuses:
        status["lastState"], status["state"] = status["state"], {"waiting": {"reason": "CrashLoopBackOff"}}
        status["restartCount"] += 1
    restarts = max((status["restartCount"] for status in statuses), default=1)
    return {"containerStatuses": statuses}, min(
        _FIRST_RESTART * math.ldexp(1.0, min(restarts - 1, 16)), _LONGEST_RESTART
    )


def _statuses(pod: Object, code: int, now: str) -> list[dict[str, Any]]:
    started = status_of(pod).get("startTime") or now
    ended = {"exitCode": code, "reason": "Error" if code else "Completed", "startedAt": started, "finishedAt": now}
    before: Sequence[Mapping[str, Any]] = status_of(pod).get("containerStatuses") or ()
    restarts = {status["name"]: int(status.get("restartCount") or 0) for status in before}
    return [
        {
            "name": container["name"],
            "image": container.get("image", ""),
            "imageID": "",
            "ready": False,
            "started": False,
            "restartCount": restarts.get(container["name"], 0),
            "state": {"terminated": ended},
        }
        for container in spec_of(pod).get("containers") or ()
    ]
