"""A world: one cloud, one cluster, one Karpenter, one clock. The place where all parts meet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from fakeazure.cloud import FakeAzure
from harness.clusters.cluster import Cluster, ClusterFactory
from harness.clusters.memory.cluster import MemoryCluster
from harness.clusters.memory.journal import Journal
from harness.clusters.provenance import Write, label_writes
from harness.engine.clock import Clock
from harness.engine.disruptions import Disruption
from harness.engine.engine import Engine, Settled
from harness.engine.ids import Ids
from harness.engine.label_layers import LabelLayer
from harness.engine.ports import ADMIN, CLOUD_NODE_MANAGER, KARPENTER, PatchType
from harness.engine.rng import Rng
from harness.karpenter.cloudprovider import DroppedSize, InstanceType
from harness.karpenter.lifecycle.pace import Pace
from harness.karpenter.provider.instance_types import InstanceTypeProvider
from harness.karpenter.provisioning.listening import Listener
from harness.karpenter.releases import (
    DEFAULT_RELEASE,
    MACHINE_MODES,
    SHARED_GALLERY,
    ProviderOptions,
    ProviderRelease,
    provider,
)
from harness.karpenter.validation.admission import Crds, admit
from harness.karpenter.validation.crds import crd_set
from harness.karpenter.validation.pods import validate_pod
from harness.karpenter.validation.rejections import Rejection
from harness.karpenter.validation.runtime import runtime_validate
from harness.kube.api.kinds import KINDS
from harness.kube.api.objects import Key, Object, copy_json, frozen, name_of, namespace_of, with_metadata
from harness.kube.api.status import ApiError
from harness.nodes.cloud_node_manager import CloudNodeManager
from harness.nodes.disk_driver import DiskDriver
from harness.nodes.eviction_notices import EvictionNotices
from harness.nodes.kubelet import Kubelets, Timing
from harness.nodes.registry import Machines
from harness.world.apply import applied_patch, read
from harness.world.azure import Azure
from harness.world.caches import Caches, default_caches
from harness.world.karpenter import Karpenter
from harness.world.recorder import Event, LogLine, Recorder
from harness.world.refused import ObjectsRefused, is_mistake, rejections_of
from harness.world.shapes import misshapen

if TYPE_CHECKING:
    from harness.reading.sources import Source
    from harness.world.metrics import Metrics

ATTEMPT_SECONDS = 0.0008
"""What one attempt to place a pod takes: 0.83 s of CPU for 1,000 diverse pods, measured with core 1.14 and one worker, its default."""

_TIMING_FIELDS = frozenset(item.name for item in fields(Timing))

Rejected: TypeAlias = list[Rejection]
Objects: TypeAlias = list[dict[str, Any]]


class World:
    """What a scenario acts on.

    `karpenter` is the provider release, `crds` the release whose CRDs are installed (the same unless given) or CRDs read
    from files (harness.clusters.crd_files.CrdFiles), `kubernetes` the version of the API server. `options` are Karpenter's
    start-up options by field name, `azure` the market: quota, restrictions, capacity, faults, prices, and `asOf`, the day of
    Azure's lists of sizes. Everything random comes from `seed`. Raises UnknownRelease, UnknownCrdSet, UnknownRegion,
    CatalogueError, MarketError for inputs that do not exist.
    `timing` is how long machines take; `times` replaces some of its fields, and of how long Karpenter takes over a NodeClaim (Pace).
    Karpenter's scheduling simulation stops after `time_limit` virtual seconds, of which each attempt to place a pod takes
    `attempt_seconds`; what it decided is there when that time is over, and so long nothing else is decided.
    `cluster` makes the cluster: in memory, or harness.clusters.remote.attach(...) of one that runs elsewhere.
    Without `simulated` there is no Karpenter here: somebody else works on the same cluster and the same cloud, by a `clock` that both know.
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
        times: Mapping[str, float] | None = None,
        attempt_seconds: float = ATTEMPT_SECONDS,
        time_limit: float = 60.0,
        cluster: ClusterFactory = MemoryCluster,
        simulated: bool = True,
        clock: Clock | None = None,
    ) -> None:
        if attempt_seconds < 0 or time_limit < 0:
            raise ValueError("attempt_seconds and time_limit are seconds from 0")
        self.simulated = simulated
        self.release: ProviderRelease = provider(karpenter)
        defaults = self.release.defaults
        self.region = region or defaults.region
        self.kubernetes = kubernetes or defaults.kubernetes
        changes = dict(options or {})
        if provision_mode is not None:
            changes["provision_mode"] = provision_mode
        if changes.get("provision_mode") in MACHINE_MODES:
            # AKS machines boot from AKS's own gallery only, so such a controller runs with USE_SIG.
            changes = {**SHARED_GALLERY, **changes}
        self.options = ProviderOptions.of(defaults, region=self.region, **changes)
        market = dict(azure or {})
        self.caches = (caches or default_caches()).on_day(market.pop("asOf", None))
        self.clock = clock or Clock()
        self.rng = Rng(seed)
        self.engine = Engine(self.clock)
        self.recorder = Recorder(self.clock)
        ids = Ids(self.rng)
        self._azure = Azure(
            self.engine,
            self.caches,
            region=self.region,
            options=self.options,
            kubernetes=self.kubernetes,
            market=market,
            seed=seed,
        )
        self.cluster: Cluster = cluster(
            self.engine,
            self.rng,
            ids,
            self.recorder,
            crds=crd_set(crds or self.release.crds) if crds is None or isinstance(crds, str) else crds,
            kubernetes=self.kubernetes,
        )
        self.recorder.view = self.cluster.view
        self.listeners: list[Listener] = []
        """Those who are told of every simulation of Karpenter's, also after a restart."""
        self.instance_types = self._new_instance_types()
        self.machines = Machines()
        self.kubelets = Kubelets(
            self.engine,
            self.cluster.view,
            self.cluster.writer,
            self.recorder,
            self.machines,
            kubernetes_version=self.kubernetes,
            timing=timing,
            boot=self.cluster.boot,
            halt=self.cluster.halt,
        )
        node_manager = CloudNodeManager(
            self.cluster.view,
            self.cluster.writer(CLOUD_NODE_MANAGER),
            self.recorder,
            self.machines,
            self.clock,
            lambda: self.kubelets.timing.cloud_node_manager,
        )
        disks = DiskDriver(self.cluster.view, self.cluster.writer, self.recorder, self.machines, region=self.region)
        notices = EvictionNotices(
            self.engine,
            self.cluster.view,
            self.cluster.writer,
            self.machines,
            lambda: self.kubelets.timing.eviction_notice,
        )
        self.engine.add(self.kubelets, node_manager, disks, notices, self._azure)
        self._simulation = attempt_seconds, time_limit
        self._karpenter: Karpenter | None = self._new_karpenter(Pace()) if simulated else None
        self.change_timing(**(times or {}))
        self._azure.powered_on = self.kubelets.power_on
        self._azure.noticed = notices.noticed
        self._azure.powered_off = lambda vm_id, gone: self.kubelets.power_off(vm_id, gone=gone)
        self._writer = self.cluster.writer(ADMIN)
        self._applied: dict[Key, Object] = {}
        self._inputs: dict[str, Any] = {
            "karpenter": karpenter,
            "crds": crds,
            "kubernetes": kubernetes,
            "region": region,
            "provision_mode": provision_mode,
            "options": options,
            "azure": azure,
            "seed": seed,
            "caches": self.caches,
            "timing": timing,
            "times": times,
            "attempt_seconds": attempt_seconds,
            "time_limit": time_limit,
        }
        self._markets: list[Mapping[str, Any]] = []
        self._told = 0  # rejections that `settle` has looked at

    def _new_instance_types(self) -> InstanceTypeProvider:
        return InstanceTypeProvider(
            release=self.release,
            options=self.options,
            region=self.region,
            clock=self.clock,
            records=self._azure.records,
            prices=self._azure.prices,
            usages=self._azure.usages,
            shared=self.caches.lists,
        )

    def _new_karpenter(self, pace: Pace) -> Karpenter:
        attempt_seconds, time_limit = self._simulation
        made = Karpenter(
            self.engine,
            self.cluster.view,
            self.cluster.writer(KARPENTER),
            self.recorder,
            self._azure,
            self.instance_types,
            self.rng,
            region=self.region,
            kubernetes=self.kubernetes,
            indexes=self.caches.indexes,
            attempt_seconds=attempt_seconds,
            time_limit=time_limit,
            pace=pace,
        )
        made.provisioner.listeners = self.listeners
        return made

    # Acting.

    def apply(self, *objects: Object | Source) -> Rejected:
        """Creates or updates objects as `kubectl apply` does; answers what was refused, by which layer.

        Each is an object as a mapping, a path of a file or folder, or YAML or JSON text (a `str` of one line that does not begin with
        `{` is a path). Raises ScenarioError with every mistake of what cannot be read, before anything is applied.
        A namespace that is used and not there is made. A NodePool that the API server accepts may still be refused by Karpenter's
        own validation, a pod by its pod validation: such rejections are answered too. Everything refused is also kept in `rejections`.
        """
        self._disturb()
        refused: list[Rejection] = []
        for obj in read(objects):
            refused.extend(self._apply(obj))
        self.recorder.rejected(refused)
        return refused

    def judge(self, obj: Object) -> Rejected:
        """What `apply` would answer for a new object, without keeping anything (`--dry-run=server`)."""
        refused = misshapen(obj)
        if refused:
            return refused
        kind = KINDS.get(str(obj.get("kind")))
        place = (namespace_of(obj) or "default") if kind is not None and kind.namespaced else ""
        if place and self.cluster.view.get("Namespace", place) is None:
            obj = with_metadata(obj, namespace="default")  # it would be made, and no rule depends on it
        try:
            stored = self._writer.create(obj, dry_run=True)
        except ApiError as error:
            return rejections_of(error, Key(str(obj.get("kind")), place, name_of(obj)))
        return self._validated(stored)

    def delete(self, kind: str, name: str, namespace: str | None = None) -> None:
        """Deletes an object as `kubectl delete` does, without waiting. Raises ApiError 404."""
        known = KINDS.get(kind)
        place = (namespace or "default") if known is not None and known.namespaced else ""
        self._disturb()
        self._applied.pop(Key(kind, place, name), None)
        self._writer.delete(kind, name, namespace=place)

    def change_azure(self, market: Mapping[str, Any]) -> None:
        """Changes Azure's market while the world runs; the same keys as `azure`, what is not named stays. Raises MarketError."""
        self._disturb()
        self._azure.change(market)
        self._markets.append(market)
        if self._karpenter is not None:
            self._karpenter.departures.wake()

    def evict(self, node: str) -> None:
        """Azure takes the spot VM of a Node: it has a notice now and is gone soon. Raises LookupError, ValueError if it is not spot."""
        running = self.machines.of_node(node)
        if running is None:
            raise LookupError(f"there is no machine of Node '{node}'")
        self.cloud.evict(running.machine.name)

    def _disturb(self) -> None:
        """What is done from outside is a reason for what comes, so that it is no circle."""
        if self._karpenter is not None:
            self._karpenter.departures.disturbed()

    def again(self, *markets: Mapping[str, Any], region: str | None = None) -> World:
        """Another world with the same inputs and nothing in it yet, in memory; `markets` are laid over its market, as by `change_azure`.

        `region`: it lies in another one.
        """
        new = World(**{**self._inputs, "region": region or self._inputs["region"]})
        for market in (*self._markets, *markets):
            new.change_azure(market)
        return new

    def update_crds(self, crds: str | Crds) -> None:
        """Installs other CRDs while the world runs: a release's (``1.14.0``), or CRDs read from files.

        Stored objects stay as they are. Later writes are judged by the new rules; where the API server ratchets, not by those
        about values that they leave unchanged (apiextensions, CRDValidationRatcheting). Raises UnknownCrdSet.
        """
        self.cluster.update_crds(crd_set(crds) if isinstance(crds, str) else crds)
        self._inputs["crds"] = crds

    def upgrade_kubernetes(self, version: str) -> None:
        """The control plane runs another version of Kubernetes; Karpenter notices within a quarter of an hour, and nodes are behind.

        Raises ValueError for no version, LookupError where the cluster is not the harness's own.
        """
        upgrade = getattr(self.cluster, "upgrade", None)
        if upgrade is None:
            raise LookupError("the control plane of this cluster cannot be upgraded")
        upgrade(version)
        self.cloud.upgrade_cluster(version)
        self.kubelets.version = self.kubernetes = self._inputs["kubernetes"] = version
        if self._karpenter is not None:
            self._karpenter.nodeclasses.upgraded(version)

    def change_timing(self, **seconds: float) -> None:
        """Changes how long things take from now on, by the names of the fields of Timing and Pace. Raises TypeError for others."""
        of_machines = {name: value for name, value in seconds.items() if name in _TIMING_FIELDS}
        of_karpenter = {name: value for name, value in seconds.items() if name not in _TIMING_FIELDS}
        self.kubelets.timing = replace(self.kubelets.timing, **of_machines)
        if of_karpenter:
            self.karpenter.lifecycle.pace = replace(self.karpenter.lifecycle.pace, **of_karpenter)

    def restart_karpenter(self) -> None:
        """Karpenter's process ends and starts again: what it had in memory is gone, what is in the cluster it reads anew.

        Gone are launches that it was about to write down, offerings that it left alone, cached instance types, the window of its batch and
        the operations of Azure that it polled. Raises LookupError where Karpenter is somebody else.
        """
        pace = self.karpenter.lifecycle.pace
        self.engine.remove(*self.karpenter.controllers)
        self.instance_types = self._new_instance_types()
        self._karpenter = self._new_karpenter(pace)
        self.engine.introduce(self._karpenter.controllers, self.cluster.view.list)

    def settle(self, *, allow_rejections: bool = False) -> Settled:
        """Runs until nothing moves any more; time jumps to the next timer that can bring something about.

        Raises ObjectsRefused for what was refused since the last time, unless `allow_rejections`. A refused launch is none of it:
        Karpenter tries elsewhere.
        """
        settled = self.engine.settle()
        refused = [each for each in self.recorder.rejections[self._told :] if is_mistake(each)]
        self._told = len(self.recorder.rejections)
        if refused and not allow_rejections:
            raise ObjectsRefused(refused)
        return settled

    def advance(self, seconds: float) -> Settled:
        """Lets virtual time pass, doing whatever falls due on the way."""
        return self.engine.advance(seconds)

    # Looking. What is handed out are copies: change them as you like.

    def get(self, kind: str, name: str, namespace: str | None = None) -> dict[str, Any] | None:
        """A copy of an object, None when there is none. The namespace defaults to `default` where the kind has one."""
        known = KINDS.get(kind)
        place = (namespace or "default") if known is not None and known.namespaced else ""
        found = self.cluster.view.get(kind, name, place)
        return copy_json(found) if found is not None else None

    def list(
        self,
        kind: str,
        *,
        namespace: str | None = None,
        labels: Mapping[str, str] | str | None = None,
        fields: Mapping[str, str] | str | None = None,
    ) -> Objects:
        """Copies of all objects of a kind, in order of creation."""
        found = self.cluster.view.list(kind, namespace=namespace, labels=labels, fields=fields)
        return [copy_json(each) for each in found]

    def requirements_of(
        self, size: str, nodepool: Object | None = None, nodeclass: Object | None = None
    ) -> InstanceType | DroppedSize:
        """What Karpenter computes for a size: its instance type, or the filter that drops it.

        `nodeclass` (default: the one that `nodepool` names, or `default`, or an empty one) decides image family, pods and disk.
        Raises LookupError for a size that the region does not sell.
        """
        found = self.instance_types.one(size, nodeclass if nodeclass is not None else self._nodeclass_of(nodepool))
        if found is None:
            raise LookupError(f"{self.region} does not sell {size}")
        return found

    def metrics(self) -> Metrics:
        """What Karpenter's metrics would say now, under upstream's names. Raises LookupError where Karpenter is somebody else."""
        from harness.world.metrics import metrics_of

        return metrics_of(self)

    def writes(self, node: str) -> Mapping[str, tuple[Write, ...]]:
        """For each label key of a Node the writes in order: kind, by, from_, value."""
        entries = self.cluster.evidence(node)
        return label_writes(node, entries, self.recorder.assertions, self.recorder.launches)

    def layers(self, node: str, path: str = "kubelet") -> Sequence[LabelLayer]:
        """Every label layer of a launch, overwritten ones included: path `kubelet` (the machine) or `nodeclaim`."""
        for each in self.recorder.launches:
            if each.vm.lower() == node and each.path == path:
                return each.layers
        return ()

    @property
    def applied(self) -> Sequence[Object]:
        """What was applied and not deleted since, as it was given, in the order in which it first came."""
        return tuple(self._applied.values())

    @property
    def rejections(self) -> Sequence[Rejection]:
        """Everything that was refused so far, in order."""
        return tuple(self.recorder.rejections)

    @property
    def disruptions(self) -> Sequence[Disruption]:
        """Every decision of Karpenter that nodes go, in order."""
        return tuple(self.recorder.disruptions)

    @property
    def events(self) -> Sequence[Event]:
        """The Kubernetes Events so far, in order."""
        return tuple(self.recorder.events)

    @property
    def log(self) -> Sequence[LogLine]:
        """The log lines of the controllers so far, in order."""
        return tuple(self.recorder.lines)

    @property
    def karpenter(self) -> Karpenter:
        """The simulated loop. Raises LookupError where Karpenter is somebody else."""
        if self._karpenter is None:
            raise LookupError("there is no simulated Karpenter in this world")
        return self._karpenter

    @property
    def cloud(self) -> FakeAzure:
        """Azure: its market can be changed and its journal read while the world runs."""
        return self._azure.cloud

    @property
    def journal(self) -> Journal:
        """Every write to the cluster, with who asked for it."""
        return self.cluster.journal

    def _apply(self, obj: Object) -> Rejected:
        refused = misshapen(obj)
        if refused:
            return refused
        kind = KINDS.get(str(obj.get("kind")))
        place = (namespace_of(obj) or "default") if kind is not None and kind.namespaced else ""
        key, obj = Key(str(obj.get("kind")), place, name_of(obj)), frozen(obj)
        try:
            if place and self.cluster.view.get("Namespace", place) is None:
                self._writer.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": place}})
            if key.name and self.cluster.view.get(key.kind, key.name, place) is not None:
                # an object that was read and edited says all of itself; a manifest only what its author cares for
                strategic = kind is not None and not kind.custom and "uid" not in (obj.get("metadata") or {})
                patch = applied_patch(self._applied.get(key), obj, strategic=strategic)
                how: PatchType = "strategic" if strategic else "merge"
                stored = self._writer.patch(key.kind, key.name, patch, namespace=place, type=how)
            else:
                stored = self._writer.create(obj)
        except ApiError as error:
            return rejections_of(error, key)
        self._applied[key] = obj
        return self._validated(stored)

    def _validated(self, stored: Object) -> Rejected:
        """What Karpenter's own validation says of an object that the API server took."""
        if stored.get("kind") == "NodePool":
            return list(runtime_validate(stored, self.release))
        if stored.get("kind") == "Pod":
            return list(validate_pod(stored, self.release))
        return []

    def _nodeclass_of(self, nodepool: Object | None) -> Object:
        name = "default"
        if nodepool is not None:
            reference = ((nodepool.get("spec") or {}).get("template") or {}).get("spec") or {}
            name = (reference.get("nodeClassRef") or {}).get("name") or name
        found = self.cluster.view.get("AKSNodeClass", name)
        if found is not None:
            return found
        return {
            **_empty_nodeclass(self.release.crds, self.kubernetes),
            "status": {"kubernetesVersion": self.kubernetes},
        }


@cache
def _empty_nodeclass(crds: str, kubernetes: str) -> Object:
    """An AKSNodeClass about which nobody said anything, with the defaults of the CRDs."""
    empty = {
        "apiVersion": "karpenter.azure.com/v1beta1",
        "kind": "AKSNodeClass",
        "metadata": {"name": "default"},
        "spec": {},
    }
    return admit(empty, crds=crd_set(crds), kubernetes=kubernetes).object
