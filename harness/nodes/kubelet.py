"""The kubelets: each turns a powered-on machine into a Node, makes it ready, and runs the pods bound to it.

Every write goes out with the identity `system:node:NAME`, so that NodeRestriction judges it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from harness.engine.clock import SECOND, nanoseconds
from harness.engine.engine import DONE, Engine, Result, Wait
from harness.engine.names import NodeName, VmId
from harness.engine.ports import (
    CONTROLLER_MANAGER,
    Change,
    ChangeType,
    Identity,
    PatchType,
    Sink,
    View,
    Writer,
    of_types,
)
from harness.kube.api.objects import Object, condition_is, conditions_of, name_of, namespace_of
from harness.kube.api.status import ApiError, ignoring
from harness.kube.api.strategic import conditions_in_place
from harness.nodes.boot import BootError, BootPlan, boot_plan
from harness.nodes.machine import Machine
from harness.nodes.node_object import (
    KUBELET_CONDITIONS,
    default_labels,
    detected_problems,
    initial_node,
    node_labels,
    ready_conditions,
)
from harness.nodes.pod_status import missing_gates, readiness_seconds, run_conditions
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
        self.owns: Callable[[Object], bool] = lambda obj: True
        """Whether an object is one of the pods that they run, or of the Nodes that fall silent here."""
        self._stopping: dict[tuple[str, str, str], int] = {}
        self._due: dict[tuple[str, str, str], int] = {}
        """The time when the containers of a pod will have started."""
        self._unready: dict[tuple[str, str, str], int] = {}
        """The time when the probes of a running pod will have succeeded."""

    def watches(self) -> Mapping[str, Callable[[Change], Iterable[Hashable]]]:
        """Watch pods, as soon as they are bound."""
        return {"Pod": self._pod_keys}

    @of_types(ChangeType.ADDED, ChangeType.MODIFIED)
    def _pod_keys(self, change: Change) -> Iterable[Hashable]:
        pod = change.object
        node = pod["spec"].get("nodeName")
        if not node or self._machines.of_node(node) is None or self._is_at_rest(pod):
            return ()
        return ((namespace_of(pod), name_of(pod)),)

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
            self._engine.enqueue(self, Silence(running.node_name, gone), after=self.timing.silence)

    def reconcile(self, key: Hashable) -> Result:
        """Take a machine or a pod one step further."""
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

    def _pod(self, namespace: str, name: str) -> Result:
        pod = self._view.get("Pod", name, namespace)
        if pod is None:
            return DONE
        running = self._machines.of_node(pod["spec"].get("nodeName") or "")
        if running is None or running.real or running.phase not in (Phase.REGISTERED, Phase.READY):
            return DONE
        now = self._engine.clock.now
        if pod["metadata"].get("deletionTimestamp"):
            return self._stop(running, pod, now)
        if self._is_at_rest(pod) or not self.owns(pod):
            return DONE
        slot = _slot(pod)
        if not (pod.get("status") or {}).get("startTime"):
            self._due[slot] = now + nanoseconds(self.timing.pod_start)
            self._report(running, pod, {"startTime": self._engine.clock.timestamp()}, type="merge")
            return Result(self.timing.pod_start)
        due = self._due.setdefault(slot, now)
        if now < due:
            return Result((due - now) / SECOND)
        if not condition_is(self._view.get("Node", running.node_name) or {}, "Ready"):
            return Result(self.timing.pod_start or _LOOK_AGAIN, Wait.POLL)
        return self._run(running, pod, now)

    def _run(self, running: Running, pod: Object, now: int) -> Result:
        """Run the containers, which are ready when their probes have succeeded and the pod's gates are open."""
        slot, seconds = _slot(pod), readiness_seconds(pod)
        runs = slot in self._unready
        ready = now >= self._unready[slot] if runs else not seconds
        if not runs and not ready:
            self._unready[slot] = now + nanoseconds(seconds)
        conditions = run_conditions(pod, ready, self._engine.clock.timestamp())
        status = {"phase": "Running", **conditions_in_place(pod, conditions)}
        if not runs or ready:
            self._report(running, pod, status)
        if not ready:
            return Result((self._unready[slot] - now) / SECOND)
        if missing_gates(pod):
            self._unready[slot] = now  # until the owner of the gate has decided
            return DONE
        self._due.pop(slot, None)
        self._unready.pop(slot, None)
        return DONE

    def _report(self, running: Running, pod: Object, status: Mapping[str, Any], type: PatchType = "strategic") -> None:
        self._writer(running).patch(
            "Pod",
            name_of(pod),
            {"status": status},
            namespace=namespace_of(pod),
            type=type,
            subresource="status",
        )

    def _is_at_rest(self, pod: Object) -> bool:
        """Return whether a kubelet has nothing to do for a pod: it runs, or has ended, and nobody deletes it."""
        meta, phase = pod["metadata"], (pod.get("status") or {}).get("phase", "Pending")
        return phase != "Pending" and not meta.get("deletionTimestamp") and _slot(pod) not in self._unready

    def _stop(self, running: Running, pod: Object, now: int) -> Result:
        meta = pod["metadata"]
        if meta["deletionGracePeriodSeconds"] > 0:
            grace = min(self.timing.pod_stop, float(meta["deletionGracePeriodSeconds"]))
            slot = _slot(pod)
            self._due.pop(slot, None)
            self._unready.pop(slot, None)
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


def _slot(pod: Object) -> tuple[str, str, str]:
    return namespace_of(pod), name_of(pod), pod["metadata"].get("uid", "")
