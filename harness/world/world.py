"""A world: one cloud, one cluster, one Karpenter, one clock. The place where all parts meet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from harness.clusters.cluster import ClusterFactory
from harness.clusters.memory.cluster import MemoryCluster
from harness.engine.clock import Clock
from harness.engine.engine import Settled
from harness.engine.ports import ADMIN
from harness.karpenter.releases import DEFAULT_RELEASE
from harness.karpenter.validation.admission import Crds
from harness.karpenter.validation.crds import crd_set
from harness.kube.api.kinds import place_of
from harness.kube.api.objects import Object
from harness.world.agent_pools import PoolRefused
from harness.world.kubectl import Rejected
from harness.world.loads import curves
from harness.world.observations import Observations
from harness.world.rollouts import Verb, rollout_patch
from harness.world.settings import ATTEMPT_SECONDS, TIME_LIMIT, Inputs, check, resolve, split_times

if TYPE_CHECKING:
    from fakeazure.timing import Timing as CloudTiming
    from harness.nodes.timing import Timing
    from harness.reading.sources import Source
    from harness.world.caches import Caches
    from harness.world.metrics.table import Metrics


class World(Observations):
    """The world of a scenario: one cloud, one cluster, one Karpenter, one clock.

    - `karpenter`: the provider's release, for example `1.14.0`.
    - `crds`: the release whose CRDs are installed (the same unless given), or CRDs read from files
      (harness.clusters.crd_files.CrdFiles).
    - `kubernetes`: the version of the API server; that of the release's time by default.
    - `region`: by its short or its display name, `eastus`, `EastUS` or `East US`.
    - `provision_mode`: how machines are made, for example `aksmachineapi`.
    - `options`: Karpenter's start-up options by field name.
    - `azure`: the market, the day of the lists of sizes (`asOf`) and the kubelet of machines (`kubelet`): the keys of `azure` in a
      scenario.
    - `seed`: of all random values. With the same inputs a world repeats byte for byte.
    - `caches`: catalogue and instance types that worlds share; those of the process by default.
    - `timing`, `cloud_timing`: durations of machines, and of Azure.
    - `times`: seconds in place of some fields of `timing`, and of Karpenter's durations over a NodeClaim (Pace).
    - `storage_classes`: whether AKS's StorageClasses are there from the start.
    - `recorded`: whether machines and Azure take as long as in a recorded run, where no `timing` and `cloud_timing` are given.
    - `attempt_seconds`: virtual seconds that each attempt to place a pod takes.
    - `time_limit`: virtual seconds after which a scheduling simulation stops with what it has decided so far.
    - `cluster_autoscaler`: the cluster autoscaler's profile by AKS's keys, as text, where it runs beside Karpenter; {} for AKS's
      defaults.
    - `loads`: what workloads have to do, as in `change_load`; a list of `{"at": seconds, "load": ...}` is a curve over the world's time.
    - `cluster`: makes the cluster: in memory, or harness.clusters.remote.attach(...) of one that runs elsewhere.
    - `simulated`: whether there is a Karpenter here; without one another process works on the same cluster and cloud.
    - `clock`: virtual time, which several worlds or a process may share.

    Raises ValueError with every argument of a wrong form in one line; UnknownRelease, UnknownCrdSet, UnknownRegion, CatalogueError,
    MarketError for a single input that does not exist.
    """

    def __init__(
        self,
        *,
        karpenter: str = DEFAULT_RELEASE,
        crds: str | Crds | None = None,
        kubernetes: str | None = None,
        region: str | None = None,
        provision_mode: str | None = None,
        options: Mapping[str, Any] | None = None,
        azure: Mapping[str, Any] | None = None,
        seed: int = 0,
        caches: Caches | None = None,
        timing: Timing | None = None,
        cloud_timing: CloudTiming | None = None,
        times: Mapping[str, float] | None = None,
        storage_classes: bool = True,
        recorded: bool = False,
        attempt_seconds: float = ATTEMPT_SECONDS,
        time_limit: float = TIME_LIMIT,
        cluster_autoscaler: Mapping[str, str] | None = None,
        loads: Mapping[str, Any] | None = None,
        cluster: ClusterFactory = MemoryCluster,
        simulated: bool = True,
        clock: Clock | None = None,
    ) -> None:
        inputs = Inputs(
            karpenter=karpenter,
            crds=crds,
            kubernetes=kubernetes,
            region=region,
            provision_mode=provision_mode,
            options=options,
            azure=azure,
            seed=seed,
            caches=caches,
            timing=timing,
            cloud_timing=cloud_timing,
            times=times,
            storage_classes=storage_classes,
            recorded=recorded,
            attempt_seconds=attempt_seconds,
            time_limit=time_limit,
            cluster_autoscaler=cluster_autoscaler,
            loads=loads,
        )
        check({**inputs, "cluster": cluster, "clock": clock, "simulated": simulated})
        settings = resolve(inputs)
        super().__init__(settings, cluster, clock, simulated=simulated)
        self._inputs: Inputs = {**inputs, "caches": settings.caches}
        self._markets: list[Mapping[str, Any]] = []
        self.spot_discounts: list[tuple[float, str]] = []
        """Changes of `spot_discount` while the world ran, each with its virtual second."""

    def fresh(self, *markets: Mapping[str, Any], region: str | None = None) -> World:
        """Return another, empty world with the same inputs, in memory; `markets` are laid over its market, as by
        `change_azure`.

        `region`: that of the new world, where it is another one.
        """
        inputs: Inputs = {**self._inputs, "region": region} if region else self._inputs
        new = World(clock=Clock(self.clock.start), **inputs)
        for market in (*self._markets, *markets):
            new.change_azure(market)
        return new

    # Commands of kubectl.

    def apply(self, *objects: Object | Source) -> Rejected:
        """Create or update objects as `kubectl apply` does; return the rejections, each with its layer.

        Each is an object as a mapping, a path of a file or folder, or YAML or JSON text (a `str` of one line that does
        not begin with `{` is a path). Raises ScenarioError with every mistake in texts that cannot be read, before
        anything is applied. A namespace that is used and not there is made. A NodePool that the API server accepts may
        still be refused by Karpenter's own validation, a pod by its pod validation: such rejections are returned too.
        All are also kept in `rejections`. The first StorageClass of a name replaces the one that the world assumes.
        """
        self._disturb()
        refused = self.kubectl.apply(objects)
        self.recorder.rejected(refused)
        return refused

    def dry_run(self, obj: Object) -> Rejected:
        """Return the rejections that `apply` would return for a new object, without keeping anything (`--dry-run=server`)."""
        return self.kubectl.dry_run(obj)

    def delete(self, kind: str, name: str, namespace: str | None = None) -> None:
        """Delete an object as `kubectl delete` does, without waiting. Raises ApiError 404."""
        self._disturb()
        self.kubectl.delete(kind, name, namespace)

    def cordon(self, node: str) -> None:
        """Keep new pods away from a Node, as `kubectl cordon` does. Raises ApiError 404."""
        self._mark(node, {"unschedulable": True})

    def uncordon(self, node: str) -> None:
        """Let pods onto a cordoned Node again. Raises ApiError 404."""
        self._mark(node, {"unschedulable": None})

    def drain(self, node: str) -> None:
        """Cordon a Node and evict its pods as time passes: evictions that a budget forbids are tried again after 5 s.

        As `kubectl drain --ignore-daemonsets --delete-emptydir-data --force`. Raises ApiError 404.
        """
        self.cordon(node)
        self.drains.start(node)

    def rollout(self, verb: Verb, kind: str, name: str, namespace: str | None = None) -> Rejected:
        """Do `kubectl rollout VERB` to a workload: restart, pause, resume, undo; return the rejections.

        Raises ValueError for a verb that kubectl refuses, LookupError where there is no such workload.
        """
        workload = self.ports.view.get(kind, name, place_of(kind, namespace))
        if workload is None:
            raise LookupError(f"there is no {kind}/{name}")
        patch, how = rollout_patch(verb, workload, self.ports.view, self.clock.timestamp())
        self._disturb()
        refused = self.kubectl.patch(workload, patch, how)
        self.recorder.rejected(refused)
        return refused

    def _mark(self, node: str, spec: Mapping[str, Any]) -> None:
        self._disturb()
        self.ports.writer(ADMIN).patch("Node", node, {"spec": spec})

    def metrics(self) -> Metrics:
        """The values of Karpenter's metrics now, under upstream's names. Raises LookupError in a world without a simulated Karpenter."""
        from harness.world.metrics.table import metrics_of

        return metrics_of(self)

    def report(self, obj: Object, patch: Mapping[str, Any]) -> Rejected:
        """Do `kubectl patch --subresource=status --type=merge`; return the rejections."""
        self._disturb()
        return self.kubectl.patch(obj, patch, subresource="status")

    def resize(self, pod: Object, containers: Sequence[Mapping[str, Any]]) -> Rejected:
        """Do `kubectl patch --subresource=resize` with these containers (name and resources); return the rejections."""
        self._disturb()
        return self.kubectl.patch(pod, {"spec": {"containers": list(containers)}}, "strategic", "resize")

    # Agent pools, as the Azure CLI changes them.

    def add_agent_pool(self, name: str, properties: Mapping[str, Any]) -> None:
        """Add an agent pool with these properties, by AKS's names. Its Nodes are there and Ready when this returns.

        Raises PoolRefused with AKS's message.
        """
        self._disturb()
        usual = self.kubelets.timing
        plugin = usual.device_plugin if usual.device_plugin is None else 0.0
        self.kubelets.timing = replace(usual, boot=0.0, ready=0.0, cloud_node_manager=0.0, device_plugin=plugin)
        try:
            self.agent_pools.make(name, properties)
            self.engine.advance(0)
        finally:
            self.kubelets.timing = usual

    def scale_agent_pool(self, name: str, count: int) -> None:
        """Give an agent pool another count: new Nodes boot, superfluous ones are drained first. Raises LookupError, PoolRefused.

        As `az aks nodepool scale`, which changes no pool that autoscales.
        """
        self._disturb()
        if self.agent_pools.properties(name).get("enableAutoScaling"):
            raise PoolRefused("Cannot scale cluster autoscaler enabled node pool.")
        self.agent_pools.scale(name, count)

    def delete_agent_pool(self, name: str) -> None:
        """Drain the Nodes of an agent pool and delete it. Raises LookupError."""
        self._disturb()
        self.agent_pools.delete(name)

    def taint_agent_pool(self, name: str, taints: Sequence[str]) -> None:
        """Give an agent pool and its Nodes other taints, each `key=value:Effect`. Raises LookupError, PoolRefused."""
        self._disturb()
        self.agent_pools.taint(name, taints)

    # Other events of a world.

    def change_azure(self, market: Mapping[str, Any]) -> None:
        """Change Azure's market while the world runs; the same keys as `azure`, others stay. Raises MarketError."""
        self._disturb()
        before = self.spot_discount
        self.kubelets.forced = market.get("kubelet", self.kubelets.forced)
        self.azure.change({key: value for key, value in market.items() if key != "kubelet"})
        self._markets.append(market)
        if self.spot_discount != before:
            self.spot_discounts.append((self.clock.seconds, self.spot_discount))
        if self._karpenter is not None:
            self._karpenter.azure_changed()

    def change_load(self, loads: Mapping[str, Any]) -> None:
        """Give workloads another load from now on, by `Kind/name`: HorizontalPodAutoscalers scale them by it.

        Each is `80%` or `{"cpu": "80%", "memory": "6Gi"}`: a share of what the pods of its first size request, or what all
        pods use together. Raises ValueError, LookupError for no such workload and where the cluster measures by itself.
        """
        changed = list(curves(loads))
        for workload, _ in changed:
            if self.ports.view.get(workload.kind, workload.name, workload.namespace) is None:
                raise LookupError(f"there is no {workload.kind}/{workload.name} in namespace {workload.namespace}")
        self._disturb()
        for workload, curve in changed:
            self.cluster.put_load(workload, curve)

    def evict(self, node: str) -> None:
        """Evict the spot VM of a Node as Azure does: it gets its notice now. Raises LookupError for no such VM,
        ValueError if it is not spot."""
        running = self.machines.of_node(node)
        if running is None:
            raise LookupError(f"there is no machine of Node '{node}'")
        self.cloud.evict(running.machine.name)

    def update_crds(self, crds: str | Crds) -> None:
        """Install other CRDs while the world runs: a release's (``1.14.0``), or CRDs read from files.

        Stored objects stay as they are. Later writes are judged by the new rules; where the API server ratchets, not by those
        about values that they leave unchanged (apiextensions, CRDValidationRatcheting). Raises UnknownCrdSet.
        """
        self.cluster.update_crds(crd_set(crds) if isinstance(crds, str) else crds)
        self._inputs["crds"] = crds

    def upgrade_kubernetes(self, version: str) -> None:
        """Let the control plane run another version of Kubernetes; Karpenter notices within a quarter of an hour, and
        nodes are behind.

        Raises ValueError for an invalid version, LookupError where the cluster is not the harness's own.
        """
        self.cluster.upgrade(version)
        self.cloud.upgrade_cluster(version)
        self.kubelets.version = self.kubernetes = self._inputs["kubernetes"] = version
        if self._karpenter is not None:
            self._karpenter.upgraded(version)

    def upgrade_karpenter(self, karpenter: str) -> None:
        """Put another release of the provider in place of the running one, with its own defaults; its CRDs: see
        `update_crds`.

        Raises UnknownRelease, LookupError in a world without a simulated Karpenter.
        """
        inputs: Inputs = {
            **self._inputs,
            "crds": self._inputs["crds"] or self.release.crds,
            "kubernetes": self.kubernetes,
            "karpenter": karpenter,
        }
        self.replace_karpenter(resolve(inputs))
        self._inputs = inputs

    def change_timing(self, **seconds: float) -> None:
        """Change durations from now on, by the names of the fields of Timing and Pace. Raises TypeError for others."""
        of_machines, of_karpenter = split_times(seconds)
        self.kubelets.timing = replace(self.kubelets.timing, **of_machines)
        if of_karpenter:
            self.karpenter.pace = replace(self.karpenter.pace, **of_karpenter)

    def settle(self, *, allow_rejections: bool = False) -> Settled:
        """Run until nothing moves any more; time jumps to the next timer that can make progress.

        Raises ObjectsRefused for the refusals since the last call, unless `allow_rejections`. A refused launch is none
        of them: Karpenter tries elsewhere.
        """
        settled = self.engine.settle()
        self.refusals(allow=allow_rejections)
        return settled

    def advance(self, seconds: float) -> Settled:
        """Let virtual time pass, and do all work that falls due on the way."""
        return self.engine.advance(seconds)

    def _disturb(self) -> None:
        """Note a change by the user, whose consequences are no runaway."""
        if self._karpenter is not None:
            self._karpenter.disturbed()
