"""Durations of machines, and the times of a recorded run."""

from __future__ import annotations

import math

from lazyrecords import dataclass

__all__ = ["NEVER", "RECORDED", "Timing"]

NEVER = math.inf
"""The time of events that do not happen."""


@dataclass(frozen=True, slots=True)
class Timing:
    """Durations of machines, in seconds of virtual time.

    `boot`: from power-on to the creation of the Node. `ready`: from there to Ready. `cloud_node_manager`: from the Node's creation until it
    is initialised with the platform's facts. Each of them may be NEVER. `device_plugin`: from Ready to the GPUs; None when no device plugin
    runs. `pod_start`, `pod_stop`: of the containers of a pod; probes come on top. `job_pod`: how long the
    containers of a Job's pod run, NEVER for no end. `silence`: after which a Node without heartbeats is
    Unknown; None as long as kube-controller-manager waits by itself. `eviction_notice`: from the notice that a spot VM will be taken until
    its Node shows it, NEVER where no agent looks for it.
    """

    boot: float = 30.0
    ready: float = 5.0
    cloud_node_manager: float = 0.0
    device_plugin: float | None = 5.0
    pod_start: float = 0.0
    pod_stop: float = 1.0
    job_pod: float = 300.0
    silence: float | None = None
    eviction_notice: float = 1.0


RECORDED = Timing(boot=28.0, ready=5.0)
"""With fakeazure.timing.RECORDED: 94 s from a NodeClaim to the initialization of its Node."""
