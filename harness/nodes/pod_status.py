"""Readiness of a pod's containers, and the conditions that the kubelet writes about it.

Init containers that end take no time here; one that goes on (`restartPolicy: Always`) has started when its startup probe has succeeded.
The results of probes are not simulated: each succeeds as soon as it may.
Sources: kubernetes pkg/kubelet/prober/worker.go, pkg/kubelet/status/generate.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from harness.kube.api.objects import Object, conditions_of, spec_of

__all__ = ["missing_gates", "readiness_seconds", "run_conditions"]

_PERIOD = 10  # of a probe that does not say (pkg/apis/core/v1/defaults.go)


def readiness_seconds(pod: Object) -> float:
    """Seconds from the start of a pod's containers to the success of all their probes."""
    spec = spec_of(pod)
    started, ready = 0.0, 0.0
    for container in spec.get("initContainers") or ():
        if container.get("restartPolicy") == "Always":
            started += _success(container.get("startupProbe"))
            ready = max(ready, started + _success(container.get("readinessProbe")))
    for container in spec.get("containers") or ():
        ready = max(
            ready, started + _success(container.get("startupProbe")) + _success(container.get("readinessProbe"))
        )
    return max(ready, started)


def _success(probe: Mapping[str, Any] | None) -> float:
    """Return the seconds until a probe has succeeded often enough: the first time after its delay, then once a period."""
    if probe is None:
        return 0.0
    more = max(1, int(probe.get("successThreshold") or 1)) - 1
    return float(probe.get("initialDelaySeconds") or 0) + more * float(probe.get("periodSeconds") or _PERIOD)


def missing_gates(pod: Object) -> list[str]:
    """The conditions that the pod's readiness gates name and that are not True."""
    true = {condition["type"] for condition in conditions_of(pod) if condition.get("status") == "True"}
    gates = (gate["conditionType"] for gate in spec_of(pod).get("readinessGates") or ())
    return [gate for gate in gates if gate not in true]


def run_conditions(pod: Object, ready: bool, now: str) -> list[dict[str, str]]:
    """The conditions of a pod whose containers run, and are `ready` or not yet."""
    gates = list(_gate_problems(pod)) if ready else []
    names = " ".join(container["name"] for container in spec_of(pod).get("containers") or ())
    waiting = {"reason": "ContainersNotReady", "message": f"containers with unready status: [{names}]"}
    closed = {"reason": "ReadinessGatesNotReady", "message": ", ".join(gates)}
    return [
        {"type": "PodReadyToStartContainers", "status": "True", "lastTransitionTime": now},
        {"type": "Initialized", "status": "True", "lastTransitionTime": now},
        _condition("Ready", now, waiting if not ready else closed if gates else {}),
        _condition("ContainersReady", now, {} if ready else waiting),
    ]


def _condition(kind: str, now: str, against: Mapping[str, str]) -> dict[str, str]:
    return {"type": kind, "status": "False" if against else "True", "lastTransitionTime": now, **against}


def _gate_problems(pod: Object) -> Iterator[str]:
    there = {condition["type"] for condition in conditions_of(pod)}
    for gate in missing_gates(pod):
        if gate in there:
            yield f'the status of pod readiness gate "{gate}" is not "True", but False'
        else:
            yield f'corresponding condition of pod readiness gate "{gate}" does not exist.'
