"""All controllers of kube-controller-manager for one cluster."""

from __future__ import annotations

from collections.abc import Callable

from harness.clusters.memory.controllers.autoscalers import Autoscalers
from harness.clusters.memory.controllers.cron_jobs import CronJobs
from harness.clusters.memory.controllers.garbage_collection import GarbageCollector
from harness.clusters.memory.controllers.jobs import Jobs
from harness.clusters.memory.controllers.node_evictions import NodeEvictions
from harness.clusters.memory.controllers.node_lifecycle import NodeLifecycle
from harness.clusters.memory.controllers.orphans import Orphans
from harness.clusters.memory.controllers.tools import Tools
from harness.clusters.memory.controllers.workloads import Workloads
from harness.clusters.memory.disruption_budgets import DisruptionBudgets
from harness.clusters.memory.node_labels import NodeLabels
from harness.clusters.memory.pod_counts import PodCounts
from harness.clusters.memory.volumes import EphemeralVolumes
from harness.engine.clock import Clock
from harness.engine.engine import Controller
from harness.engine.ports import Sink, View, Writer
from harness.engine.rng import Rng
from harness.kube.api.versions import Version

__all__ = ["controllers", "tools_of"]


def tools_of(view: View, writer: Writer, sink: Sink, clock: Clock, version: Callable[[], Version]) -> Tools:
    """Return the tools that the controllers of one cluster share; `version` is the Kubernetes version that they are of now."""
    return Tools(view, writer, sink, clock, PodCounts(), Orphans(), version)


def controllers(tools: Tools, exists: Callable[[str], bool], autoscalers: Autoscalers, rng: Rng) -> list[Controller]:
    """Return all controllers of one cluster; `exists` tells whether an object of this uid is stored."""
    view, writer, clock = tools.view, tools.writer, tools.clock
    return [
        NodeLifecycle(view, writer, clock),
        NodeEvictions(view, writer, clock, rng),
        NodeLabels(view, writer),
        Workloads(tools),
        Jobs(tools),
        CronJobs(tools),
        autoscalers,
        EphemeralVolumes(view, writer),
        GarbageCollector(view, writer, clock, exists),
        DisruptionBudgets(view, writer, tools.sink, clock),
    ]
