"""The parts of a world, put together: engine, cluster, cloud, nodes and Karpenter, each with its own ports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fakeazure.cloud import FakeAzure
from harness.clusters.cluster import Cluster, ClusterFactory
from harness.engine.clock import Clock
from harness.engine.engine import Engine
from harness.engine.ids import Ids
from harness.engine.ports import ADMIN, CLOUD_NODE_MANAGER, CLUSTER_AUTOSCALER, KARPENTER
from harness.engine.rng import Rng
from harness.engine.step_bounds import StepBounds
from harness.karpenter.lifecycle.nodeclaims.pace import Pace
from harness.karpenter.overlays.applied import AppliedOverlays
from harness.karpenter.overlays.controller import GATE as NODE_OVERLAY
from harness.karpenter.provider.instance_types import InstanceTypeProvider
from harness.karpenter.provider.pricing import Pricing
from harness.karpenter.provisioning.listening import Listener
from harness.kube.api.versions import Version
from harness.limits import ALL_STEPS, STEPS
from harness.nodes.cloud_node_manager import CloudNodeManager
from harness.nodes.disk_driver import DiskDriver, storage_classes
from harness.nodes.eviction_notices import EvictionNotices
from harness.nodes.kubelet import Kubelets
from harness.nodes.registry import Machines
from harness.world.agent_pools import AgentPools
from harness.world.azure.port import AzurePort, make_cloud
from harness.world.azure.timers import AzureTimers
from harness.world.drains import Drains
from harness.world.karpenter import Karpenter, Surroundings
from harness.world.kubectl import Kubectl
from harness.world.loads import curves
from harness.world.ports import Ports
from harness.world.recorder import Recorder
from harness.world.refused import RefusalCheck
from harness.world.settings import Settings

if TYPE_CHECKING:
    from harness.clusterautoscaler.profile import Profile

__all__ = ["Assembly"]


class Assembly:
    """One cloud, one cluster, one Karpenter, one clock, connected.

    Without `simulated` there is no Karpenter here: another process works on the same
    cluster and the same cloud.
    """

    def __init__(self, settings: Settings, cluster: ClusterFactory, clock: Clock | None, *, simulated: bool) -> None:
        self.simulated = simulated
        self.release, self.options, self.region = settings.release, settings.options, settings.region
        self.kubernetes, self.caches = settings.kubernetes, settings.caches
        self.clock = clock or Clock()
        self.rng = Rng(settings.seed)
        self.engine = Engine(self.clock, bounds=StepBounds(STEPS.most(), ALL_STEPS.most()))
        self.cloud: FakeAzure = make_cloud(settings, self.engine)
        """Azure: its regions, virtual machines and journal."""
        self.azure = AzurePort(settings, self.engine, self.cloud)
        self.recorder = Recorder(self.clock, lambda: self.cluster.view.revision, lambda: self.cloud.journal.last)
        self.cluster: Cluster = cluster(
            self.engine,
            self.rng,
            Ids(self.rng),
            self.recorder,
            crds=settings.crds,
            kubernetes=settings.kubernetes,
        )
        for workload, curve in curves(settings.loads):
            self.cluster.put_load(workload, curve)
        self.ports = Ports(self.engine, self.cluster, self.recorder, self.azure)
        self.kubectl = Kubectl(self.ports.view, self.ports.writer(ADMIN), self.release)
        self.refusals = RefusalCheck(self.recorder.rejections)
        self.listeners: list[Listener] = []
        """Listeners to every simulation of Karpenter's, also after a restart."""
        self._settings = settings
        self._overlays: AppliedOverlays | None = None
        self.instance_types = self._instance_types(running=True)
        self._add_nodes(settings)
        self._karpenter: Karpenter | None = self._new_karpenter(settings.pace) if simulated else None

    @property
    def karpenter(self) -> Karpenter:
        """The simulated loop. Raises LookupError in a world without one (`simulated` is false)."""
        if self._karpenter is None:
            raise LookupError("there is no simulated Karpenter in this world")
        return self._karpenter

    def restart_karpenter(self) -> None:
        """End Karpenter's process and start it again: it loses its memory, and reads the cluster anew.

        It loses launches whose result it had not written yet, marks of unavailable offerings, cached instance types, the batch window, the
        Azure operations that it polled, and the events that it sent a moment ago. Raises LookupError in a world without a simulated loop.
        """
        self._start_karpenter(self.karpenter.pace)

    def _start_karpenter(self, pace: Pace) -> None:
        self.recorder.forget()
        self.engine.remove(*self.karpenter.controllers)
        self.instance_types = self._instance_types(running=False)
        self._karpenter = self._new_karpenter(pace)
        self.engine.introduce(self._karpenter.controllers, self.ports.view.list)
        self._karpenter.begin()

    def replace_karpenter(self, settings: Settings) -> None:
        """End Karpenter's process, and start that of another release with these settings; machines, objects and CRDs
        stay.

        Raises LookupError in a world without a simulated loop.
        """
        pace = self.karpenter.pace
        self.release, self.options, self._settings = settings.release, settings.options, settings
        self.kubectl.release = settings.release
        self._start_karpenter(pace)

    def _add_nodes(self, settings: Settings) -> None:
        """Add machines, and all programs that run on them or look after them."""
        ports, engine = self.ports, self.engine
        self.machines = Machines()
        disks = DiskDriver(
            ports.view, ports.writer, ports.sink, self.machines, region=self.region, owns=self.cluster.owns
        )
        if settings.storage_classes:
            self.cluster.provide(storage_classes(self.clock.timestamp()))
        self.kubelets = Kubelets(
            engine,
            ports.view,
            ports.writer,
            ports.sink,
            self.machines,
            kubernetes_version=settings.kubernetes,
            timing=settings.timing,
            forced=settings.kubelet,
            boot=self.cluster.boot,
            halt=self.cluster.halt,
            plug=disks.plug,
        )
        node_manager = CloudNodeManager(
            ports.view,
            ports.writer(CLOUD_NODE_MANAGER),
            ports.sink,
            self.machines,
            self.clock,
            lambda: self.kubelets.timing.cloud_node_manager,
        )
        self.kubelets.owns = self.cluster.owns
        notices = EvictionNotices(
            engine, ports.view, ports.writer, self.machines, lambda: self.kubelets.timing.eviction_notice
        )
        timers = AzureTimers(engine, self.cloud, self.caches, self.region, self.kubelets, notices)
        self.drains = Drains(engine, ports.view, ports.writer(ADMIN), ports.sink)
        self.agent_pools = AgentPools(
            engine,
            self.cloud,
            self.kubelets,
            self.drains,
            ports.view,
            ports.writer(ADMIN),
            self.caches,
            self.region,
        )
        """The pools of scale sets beside Karpenter's machines."""
        engine.add_controllers(self.kubelets, node_manager, disks, notices, timers, self.drains, self.agent_pools)
        if settings.cluster_autoscaler is not None:
            self._add_cluster_autoscaler(settings.cluster_autoscaler)

    def _add_cluster_autoscaler(self, profile: Profile) -> None:
        """Let the cluster autoscaler look after the agent pools that have bounds."""
        from harness.world.cluster_autoscaler.controller import ClusterAutoscaler
        from harness.world.cluster_autoscaler.deletions import NodeDeletions
        from harness.world.cluster_autoscaler.pools import AutoscaledPools
        from harness.world.cluster_autoscaler.reports import Reports

        access, draw = self.ports.access(CLUSTER_AUTOSCALER), self.rng.stream("cluster-autoscaler").randrange
        pools = AutoscaledPools(self.agent_pools, self.caches, self.region, draw)
        reports = Reports(self.ports.sink, self.clock)
        deletions = NodeDeletions(access, profile, pools, reports)
        autoscaler = ClusterAutoscaler(
            access, profile, pools, deletions, reports, draw, lambda: Version.parse(self.kubernetes)
        )
        self.engine.add_controllers(autoscaler, deletions)
        autoscaler.begin()

    def _instance_types(self, *, running: bool) -> InstanceTypeProvider:
        """Return the instance type provider of a Karpenter process, which is `running` when the world begins, or starts now."""
        counts = self.options.gate(NODE_OVERLAY) and NODE_OVERLAY in self.release.core.gates
        self._overlays = AppliedOverlays() if counts else None
        return InstanceTypeProvider(
            release=self.release,
            options=self.options,
            region=self.region,
            clock=self.clock,
            records=self.azure.records,
            pricing=Pricing(self.clock, self.azure.prices, running=running),
            usages=self.azure.usages,
            in_use=self.azure.in_use,
            shared=self.caches.lists.lists_for(self.region, self.release),
            overlays=self._overlays,
        )

    def _new_karpenter(self, pace: Pace) -> Karpenter:
        around = Surroundings(
            region=self.region,
            kubernetes=self.kubernetes,
            indexes=self.caches.indexes,
            attempt_seconds=self._settings.attempt_seconds,
            time_limit=self._settings.time_limit,
            pace=pace,
            overlays=self._overlays,
            listeners=self.listeners,
        )
        return Karpenter(self.ports.access(KARPENTER), self.ports.cloud, self.instance_types, self.rng, around)
