"""The kubelets: each turns a powered-on machine into a Node, makes it ready, and runs the pods bound to it.

Every write goes out with the identity `system:node:NAME`, so that NodeRestriction judges it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace

from harness.engine.clock import SECOND, nanoseconds
from harness.engine.engine import DONE, Engine, Result, Wait
from harness.engine.names import NodeName, VmId
from harness.engine.ports import CONTROLLER_MANAGER, Change, ChangeType, Identity, Sink, View, Writer, of_types
from harness.kube.api.objects import Object, condition_is, conditions_of, name_of, namespace_of
from harness.kube.api.status import ApiError, ignoring
from harness.kube.api.strategic import conditions_in_place
from harness.nodes.boot import BootError, BootPlan, boot_plan
from harness.nodes.machine import Machine
from harness.nodes.node_object import default_labels, initial_node, node_labels, ready_conditions
from harness.nodes.registry import Machines, Phase, Running
from lazyrecords import dataclass

NEVER = math.inf
"""The time of what does not happen."""


@dataclass(frozen=True, slots=True)
class Timing:
    """How long machines take, in seconds of virtual time.

    `boot`: from power-on to the creation of the Node. `ready`: from there to Ready. `cloud_node_manager`: from the Node's creation until it
    is initialised with the platform's facts. Each of them may be NEVER. `device_plugin`: from Ready to the GPUs; None when no device plugin
    runs. `pod_start`, `pod_stop`: of a container. `silence`: after which a Node without heartbeats is Unknown. `eviction_notice`: from the
    notice that a spot VM will be taken until its Node shows it, NEVER where no agent on the nodes looks for it.
    """

    boot: float = 30.0
    ready: float = 5.0
    cloud_node_manager: float = 0.0
    device_plugin: float | None = 5.0
    pod_start: float = 1.0
    pod_stop: float = 1.0
    silence: float = 40.0
    eviction_notice: float = 1.0


RECORDED = Timing(boot=28.0, ready=5.0)
"""With fakeazure.timing.RECORDED: 94 s from a NodeClaim to the initialization of its Node."""


@dataclass(frozen=True, slots=True)
class Silence:
    """A Node whose machine stopped; `gone` if the cloud has no such machine any more."""

    node: NodeName
    gone: bool


class FlagsRefused(Exception):
    """A real kubelet that does not start with the flags it was given; `reason` is its own sentence."""

    reason: str


class OtherHardware(Exception):
    """The machine has other hardware than this host's real kubelets run on, so that its kubelet has to be simulated."""


class Kubelets:
    """All kubelets of a cluster, as one controller: a key is a VM id, or a pod's (namespace, name)."""

    name = "kubelet"
    backoff = (1.0, 60.0)

    def __init__(
        self,
        engine: Engine,
        view: View,
        writer_for: Callable[[Identity], Writer],
        sink: Sink,
        machines: Machines,
        *,
        kubernetes_version: str,
        forced: str | None = None,
        timing: Timing | None = None,
        boot: Callable[[BootPlan], None] | None = None,
        halt: Callable[[str], None] | None = None,
        plug: Callable[[Running], None] | None = None,
    ) -> None:
        """`boot` and `halt` start and stop machines with real kubelets; without them kubelets are simulated.

        `plug` registers the drivers of a machine, before its Node is Ready.
        """
        self._boot = boot
        self._halt = halt
        self._plug = plug
        self._engine = engine
        self._view = view
        self._writer_for = writer_for
        self._sink = sink
        self._machines = machines
        self.version = kubernetes_version
        self.forced = forced
        """The version that images carry whatever they are asked for; None where it is the one that is asked for."""
        self.timing = timing or Timing()
        self.owns: Callable[[Object], bool] = lambda obj: True
        """Which pods they run, and which Nodes fall silent here."""
        self._stopping: dict[tuple[str, str, str], int] = {}

    def watches(self) -> Mapping[str, Callable[[Change], Iterable[Hashable]]]:
        """Pods, as soon as they are bound."""
        return {"Pod": self._pod_keys}

    @of_types(ChangeType.ADDED, ChangeType.MODIFIED)
    def _pod_keys(self, change: Change) -> Iterable[Hashable]:
        pod = change.object
        node = pod["spec"].get("nodeName")
        if not node or self._machines.of_node(node) is None or _is_at_rest(pod):
            return ()
        return ((namespace_of(pod), name_of(pod)),)

    def boot_with(self, boot: Callable[[BootPlan], None]) -> None:
        """Sets how machines with real kubelets are started from now on."""
        self._boot = boot

    def power_on(self, machine: Machine) -> None:
        """A machine has power: it will boot."""
        self._machines.add(machine)
        if self.timing.boot < NEVER:
            self._engine.enqueue(self, machine.vm_id, after=self.timing.boot)

    def power_off(self, vm_id: VmId, *, gone: bool = False) -> None:
        """A machine has lost its power, or is `gone` for good: its Node falls silent."""
        running = self._machines.remove(vm_id)
        if running is not None and running.phase in (Phase.REGISTERED, Phase.READY):
            running.phase = Phase.OFF
            if running.real and self._halt is not None:
                self._halt(running.node_name)
            self._engine.enqueue(self, Silence(running.node_name, gone), after=self.timing.silence)

    def reconcile(self, key: Hashable) -> Result:
        """Takes a machine or a pod one step further."""
        if isinstance(key, Silence):
            return self._silent(key)
        if isinstance(key, tuple):
            return self._pod(*key)
        running = self._machines.of_vm(VmId(str(key)))
        if running is None:
            return DONE
        if running.phase is Phase.BOOTING:
            return self._register(running)
        if running.real:
            return DONE
        if running.phase is Phase.REGISTERED:
            return self._ready(running)
        if running.phase is Phase.READY:
            self._plug_devices(running)
        return DONE

    def _writer(self, running: Running) -> Writer:
        return self._writer_for(Identity.node(running.node_name))

    def _silent(self, silence: Silence) -> Result:
        """A Node has sent no heartbeat for a while: does what the cluster's controllers do then, on a cluster without them."""
        name = silence.node
        node = self._view.get("Node", name)
        if node is None or self._machines.of_node(name) is not None or not self.owns(node):
            return DONE
        writer = self._writer_for(CONTROLLER_MANAGER)
        now = self._engine.clock.timestamp()
        conditions = [
            {
                "type": each["type"],
                "status": "Unknown",
                "reason": "NodeStatusUnknown",
                "message": "Kubelet stopped posting node status.",
                "lastTransitionTime": now,
            }
            for each in conditions_of(node)
        ]
        writer.patch("Node", name, {"status": {"conditions": conditions}}, type="strategic", subresource="status")
        if silence.gone:
            writer.delete("Node", name)
        return DONE

    def _register(self, running: Running) -> Result:
        machine = running.machine
        try:
            plan = boot_plan(machine, kubernetes_version=self.version)
            if self.forced is not None:
                plan = replace(plan, kubernetes_version=self.forced)
            running.plan = plan
        except BootError as error:
            return self._fail(running, str(error))
        if (
            plan.unknown_flag is not None
        ):  # a real kubelet is told a part of the flags only, so that it could not refuse this one
            return self._fail(running, f"failed to parse kubelet flag: unknown flag: {plan.unknown_flag}")
        if self._boot is not None:
            with suppress(OtherHardware):
                return self._boot_for_real(running, plan, self._boot)
        if plan.error is not None:
            self._sink.refused(running.node_name, "kubelet", {k: (v, "") for k, v in plan.labels.items()}, plan.error)
            return self._fail(running, f"failed to validate kubelet flags: {plan.error}")
        node = initial_node(plan, machine, self._engine.clock.timestamp())
        self._sink.asserted(running.node_name, "kubelet", node_labels(plan, machine.hardware.arch))
        writer = self._writer(running)
        try:
            writer.create(node)
        except ApiError as error:
            if error.reason != "AlreadyExists":
                return self._fail(running, f"Unable to register node with API server: {error.message}")
            try:
                self._update_defaults(running, writer)
            except ApiError as refusal:  # the Node is somebody else's: nothing here may speak for it
                self._machines.remove(running.machine.vm_id)
                return self._fail(running, f"Unable to register node with API server: {refusal.message}")
        running.phase = Phase.REGISTERED
        return Result(self.timing.ready) if self.timing.ready < NEVER else DONE

    def _boot_for_real(self, running: Running, plan: BootPlan, boot: Callable[[BootPlan], None]) -> Result:
        """The kubelet writes the Node and its status itself; what it refuses, it refuses in its own words."""
        began = self._view.revision
        try:
            boot(plan)
        except FlagsRefused as error:
            self._sink.refused(running.node_name, "kubelet", {k: (v, "") for k, v in plan.labels.items()}, error.reason)
            return self._fail(running, f"failed to validate kubelet flags: {error.reason}")
        labels = node_labels(plan, running.machine.hardware.arch)
        self._sink.asserted(running.node_name, "kubelet", labels, revision=began)
        running.phase, running.real = Phase.REGISTERED, True
        return DONE

    def _fail(self, running: Running, problem: str) -> Result:
        running.phase = Phase.FAILED
        running.problem = problem
        self._sink.log("error", self.name, problem, node=running.node_name)
        return DONE

    def _update_defaults(self, running: Running, writer: Writer) -> None:
        """A Node of this name exists: the kubelet brings only its own default labels up to date."""
        labels = default_labels(running.node_name, running.machine.hardware.arch)
        writer.patch("Node", running.node_name, {"metadata": {"labels": labels}})

    def _ready(self, running: Running) -> Result:
        name = running.node_name
        node = self._view.get("Node", name)
        if node is None:
            return DONE
        if self._plug is not None:
            self._plug(running)
        ready = ready_conditions(True, self._engine.clock.timestamp())
        status = conditions_in_place(node, ready)
        self._writer(running).patch("Node", name, {"status": status}, type="strategic", subresource="status")
        running.phase = Phase.READY
        plugin = self.timing.device_plugin
        if running.machine.hardware.gpus and plugin is not None and plugin < NEVER:
            return Result(plugin)
        return DONE

    def _plug_devices(self, running: Running) -> None:
        hardware = running.machine.hardware
        if not hardware.gpus or self._view.get("Node", running.node_name) is None:
            return
        count = {hardware.gpu_resource: str(hardware.gpus)}
        status = {"status": {"capacity": count, "allocatable": count}}
        self._writer(running).patch("Node", running.node_name, status, subresource="status")

    def _pod(self, namespace: str, name: str) -> Result:
        pod = self._view.get("Pod", name, namespace)
        if pod is None:
            return DONE
        running = self._machines.of_node(pod["spec"].get("nodeName") or "")
        if running is None or running.real or running.phase not in (Phase.REGISTERED, Phase.READY):
            return DONE
        now = self._engine.clock.now
        meta, status = pod["metadata"], pod.get("status") or {}
        if meta.get("deletionTimestamp"):
            return self._stop(running, pod, now)
        if _is_at_rest(pod) or not self.owns(pod):
            return DONE
        if not status.get("startTime"):
            started = {"startTime": self._engine.clock.timestamp()}
            self._writer(running).patch("Pod", name, {"status": started}, namespace=namespace, subresource="status")
            return Result(self.timing.pod_start)
        if not condition_is(self._view.get("Node", running.node_name) or {}, "Ready"):
            return Result(self.timing.pod_start, Wait.POLL)
        running_now = _running_conditions(self._engine.clock.timestamp())
        conditions = conditions_in_place(pod, running_now)
        self._writer(running).patch(
            "Pod",
            name,
            {"status": {"phase": "Running", **conditions}},
            namespace=namespace,
            type="strategic",
            subresource="status",
        )
        return DONE

    def _stop(self, running: Running, pod: Object, now: int) -> Result:
        meta = pod["metadata"]
        if meta["deletionGracePeriodSeconds"] > 0:
            grace = min(self.timing.pod_stop, float(meta["deletionGracePeriodSeconds"]))
            slot = (namespace_of(pod), name_of(pod), meta["uid"])
            due = now + nanoseconds(grace)
            due = self._stopping[slot] = min(self._stopping.get(slot, due), due)  # it may have become shorter
            if now < due:
                return Result((due - now) / SECOND)
            del self._stopping[slot]
        with ignoring(404, 409):
            self._writer(running).delete(
                "Pod", name_of(pod), namespace=namespace_of(pod), grace_period_seconds=0, uid=meta["uid"]
            )
        return DONE


def _is_at_rest(pod: Object) -> bool:
    """Whether a kubelet has nothing to do for it: it runs, or has ended, and nobody deletes it."""
    status = pod.get("status") or {}
    return status.get("phase", "Pending") != "Pending" and not pod["metadata"].get("deletionTimestamp")


def _running_conditions(now: str) -> list[dict[str, str]]:
    return [
        {"type": kind, "status": "True", "lastTransitionTime": now}
        for kind in ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady")
    ]
