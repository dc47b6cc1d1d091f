"""The kubelets: each turns a powered-on machine into a Node, makes it ready, and runs the pods bound to it.

Every write goes out with the identity `system:node:NAME`, so that NodeRestriction judges it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace

from harness.engine.engine import DONE, Engine, Result
from harness.engine.names import NodeName, VmId
from harness.engine.ports import (
    CONTROLLER_MANAGER,
    Change,
    Identity,
    Sink,
    View,
    Writer,
)
from harness.kube.api.objects import Object, condition_is, conditions_of
from harness.kube.api.status import ApiError
from harness.kube.api.strategic import conditions_in_place
from harness.kube.api.versions import Version
from harness.nodes.boot import BootError, BootPlan, boot_plan
from harness.nodes.lost_pods import grace_period, mark_pods
from harness.nodes.machine import Machine
from harness.nodes.node_object import (
    KUBELET_CONDITIONS,
    default_labels,
    detected_problems,
    initial_node,
    node_labels,
    ready_conditions,
)
from harness.nodes.pod_runner import PodRunner
from harness.nodes.registry import Machines, Phase, Running
from harness.nodes.timing import NEVER, Timing
from lazyrecords import dataclass

_LOOK_AGAIN = 1.0  # seconds, at a pod whose Node is not ready


@dataclass(frozen=True, slots=True)
class Silence:
    """A Node whose machine stopped; `gone` if the cloud has no such machine any more."""

    node: NodeName
    gone: bool


class FlagsRefused(Exception):
    """A real kubelet that does not start with its flags; `reason` is its own sentence."""

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
        """The version that all images carry, whatever the requested one; None where it is the requested one."""
        self.timing = timing or Timing()
        self._pods = PodRunner(
            engine.clock,
            view,
            lambda running: writer_for(Identity.node(running.node_name)),
            machines,
            lambda: self.timing,
        )

    @property
    def owns(self) -> Callable[[Object], bool]:
        """The predicate of the pods that these kubelets run and of the Nodes that they report about; all by default."""
        return self._pods.owns

    @owns.setter
    def owns(self, owns: Callable[[Object], bool]) -> None:
        self._pods.owns = owns

    def watches(self) -> Mapping[str, Callable[[Change], Iterable[Hashable]]]:
        """Watch pods, as soon as they are bound."""
        return {"Pod": self._pods.keys}

    def boot_with(self, boot: Callable[[BootPlan], None]) -> None:
        """Set the function that starts machines with real kubelets from now on."""
        self._boot = boot

    def power_on(self, machine: Machine) -> None:
        """Note that a machine has power: it will boot."""
        self._machines.register(machine)
        if self.timing.boot < NEVER:
            self._engine.enqueue(self, machine.vm_id, after=self.timing.boot)

    def power_off(self, vm_id: VmId, *, gone: bool = False) -> None:
        """Note that a machine has lost its power, or is `gone` for good: its Node falls silent."""
        running = self._machines.remove(vm_id)
        if running is not None and running.phase in (Phase.REGISTERED, Phase.READY):
            running.phase = Phase.OFF
            if running.real and self._halt is not None:
                self._halt(running.node_name)
            silence = self.timing.silence
            after = grace_period(Version.parse(self.version)) if silence is None else silence
            self._engine.enqueue(self, Silence(running.node_name, gone), after=after)

    def reconcile(self, key: Hashable) -> Result:
        """Take a machine or a pod one step further."""
        if isinstance(key, Silence):
            return self._silent(key)
        if isinstance(key, tuple):
            return self._pods.reconcile(*key)
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
        """Do the work of the cluster's controllers for a Node without heartbeats, on a cluster without them."""
        name = silence.node
        node = self._view.get("Node", name)
        if node is None or self._machines.of_node(name) is not None or not self.owns(node):
            return DONE
        writer = self._writer_for(CONTROLLER_MANAGER)
        now = self._engine.clock.timestamp()
        conditions = [
            {
                "type": condition["type"],
                "status": "Unknown",
                "reason": "NodeStatusUnknown",
                "message": "Kubelet stopped posting node status.",
                "lastTransitionTime": now,
            }
            for condition in conditions_of(node)
            if condition["type"] in KUBELET_CONDITIONS
        ]
        writer.patch("Node", name, {"status": {"conditions": conditions}}, type="strategic", subresource="status")
        if condition_is(node, "Ready"):
            mark_pods(node, self._view, writer, self._sink, now)
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
        ):  # a real kubelet gets a part of the flags only, so that it could not refuse this one
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
        """Start a real kubelet, which writes the Node and its status itself, and refuses in its own words."""
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
        """Bring the kubelet's own default labels up to date on a Node that exists already."""
        labels = default_labels(running.node_name, running.machine.hardware.arch)
        writer.patch("Node", running.node_name, {"metadata": {"labels": labels}})

    def _ready(self, running: Running) -> Result:
        name = running.node_name
        node = self._view.get("Node", name)
        if node is None:
            return DONE
        if self._plug is not None:
            self._plug(running)
        now = self._engine.clock.timestamp()
        status = conditions_in_place(node, [*ready_conditions(True, now), *detected_problems(now)])
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
