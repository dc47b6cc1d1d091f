"""The pods of simulated kubelets: they start, become ready, end and stop.

Source: kubernetes pkg/kubelet/{kubelet_pods,status/generate,status/status_manager}.go.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any

from harness.engine.clock import SECOND, Clock, nanoseconds
from harness.engine.engine import DONE, Result, Wait
from harness.engine.ports import Change, ChangeType, PatchType, View, Writer, of_types
from harness.kube.api.objects import Object, condition_is, is_held, name_of, namespace_of, status_of
from harness.kube.api.status import ignoring
from harness.kube.api.strategic import conditions_in_place
from harness.kube.scheduling.pods import is_terminal
from harness.nodes.pod_ends import KILLED, end_conditions, ended_status, exit_code, restarted_status, run_seconds
from harness.nodes.pod_status import missing_gates, readiness_seconds, run_conditions
from harness.nodes.registry import Machines, Phase, Running
from harness.nodes.timing import NEVER, Timing

__all__ = ["PodRunner"]

_LOOK_AGAIN = 1.0  # seconds, at a pod whose Node is not ready
_Slot = tuple[str, str, str]


class PodRunner:
    """Runs the pods that are bound to machines; a key is a pod's namespace and name."""

    def __init__(
        self,
        clock: Clock,
        view: View,
        writer_for: Callable[[Running], Writer],
        machines: Machines,
        timing: Callable[[], Timing],
    ) -> None:
        self._clock = clock
        self._view = view
        self._writer = writer_for
        self._machines = machines
        self._timing = timing
        self.owns: Callable[[Object], bool] = lambda obj: True
        """The predicate of the pods that these kubelets run and of the Nodes that they report about; all by default."""
        self._stopping: dict[_Slot, int] = {}
        self._due: dict[_Slot, int] = {}
        """The time when the containers of a pod will have started."""
        self._unready: dict[_Slot, int] = {}
        """The time when the probes of a running pod will have succeeded."""
        self._ends: dict[_Slot, int] = {}
        """The time when the containers of a running pod will have ended."""

    @of_types(ChangeType.ADDED, ChangeType.MODIFIED)
    def keys(self, change: Change) -> Iterable[Hashable]:
        """Return the key of a bound pod with which something is to be done."""
        pod = change.object
        node = pod["spec"].get("nodeName")
        if not node or self._machines.of_node(node) is None or self._is_at_rest(pod):
            return ()
        return ((namespace_of(pod), name_of(pod)),)

    def reconcile(self, namespace: str, name: str) -> Result:
        """Take a pod one step further."""
        pod = self._view.get("Pod", name, namespace)
        if pod is None:
            return DONE
        running = self._machines.of_node(pod["spec"].get("nodeName") or "")
        if running is None or running.real or running.phase not in (Phase.REGISTERED, Phase.READY):
            return DONE
        now = self._clock.now
        if pod["metadata"].get("deletionTimestamp"):
            return self._stop(running, pod, now)
        if self._is_at_rest(pod) or not self.owns(pod):
            return DONE
        slot = _slot(pod)
        if not (pod.get("status") or {}).get("startTime"):
            self._due[slot] = now + nanoseconds(self._timing().pod_start)
            self._report(running, pod, {"startTime": self._clock.timestamp()}, type="merge")
            return Result(self._timing().pod_start)
        due = self._due.setdefault(slot, now)
        if now < due:
            return Result((due - now) / SECOND)
        if self._ends.get(slot, now + 1) <= now or (slot not in self._unready and _runs(pod)):
            return self._end(running, pod, now)
        if not condition_is(self._view.get("Node", running.node_name) or {}, "Ready"):
            return Result(self._timing().pod_start or _LOOK_AGAIN, Wait.POLL)
        return self._run(running, pod, now)

    def _run(self, running: Running, pod: Object, now: int) -> Result:
        """Run the containers, which are ready when their probes have succeeded and the pod's gates are open."""
        slot, seconds = _slot(pod), readiness_seconds(pod)
        runs = slot in self._unready
        ready = now >= self._unready[slot] if runs else not seconds
        if not runs:
            self._note_end(pod, now)
            if not ready:
                self._unready[slot] = now + nanoseconds(seconds)
        conditions = run_conditions(pod, ready, self._clock.timestamp())
        status = {"phase": "Running", **conditions_in_place(pod, conditions)}
        if not runs or ready:
            self._report(running, pod, status)
        if not ready:
            return Result((min(self._unready[slot], self._ends.get(slot, self._unready[slot])) - now) / SECOND)
        if missing_gates(pod):
            self._unready[slot] = now  # until the owner of the gate has decided
            return DONE
        self._due.pop(slot, None)
        self._unready.pop(slot, None)
        return DONE

    def _note_end(self, pod: Object, now: int) -> None:
        seconds = run_seconds(pod, self._timing().job_pod)
        if seconds < NEVER:
            self._ends.setdefault(_slot(pod), now + nanoseconds(seconds))

    def _end(self, running: Running, pod: Object, now: int) -> Result:
        """End the containers when it is time; those that fail are started again where the pod says so."""
        slot = _slot(pod)
        self._note_end(pod, now)
        due = self._ends.get(slot)
        if due is None:
            return DONE
        if now < due:
            return Result((due - now) / SECOND, Wait.ALARM)
        del self._ends[slot]
        code, time = exit_code(pod), self._clock.timestamp()
        if code and pod["spec"].get("restartPolicy") == "OnFailure":
            status, wait = restarted_status(pod, code, time)
            seconds = wait + run_seconds(pod, self._timing().job_pod)
            self._ends[slot] = now + nanoseconds(seconds)
            self._report(running, pod, status)
            return Result(seconds, Wait.ALARM)
        self._unready.pop(slot, None)
        conditions = conditions_in_place(pod, end_conditions(code, time))
        self._report(running, pod, {**ended_status(pod, code, time), **conditions})
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
        phase = status_of(pod).get("phase", "Pending")
        if phase == "Pending" or pod["metadata"].get("deletionTimestamp"):
            return False
        return is_terminal(pod) or (
            _slot(pod) not in self._unready and run_seconds(pod, self._timing().job_pod) >= NEVER
        )

    def _stop(self, running: Running, pod: Object, now: int) -> Result:
        meta = pod["metadata"]
        if meta["deletionGracePeriodSeconds"] > 0:
            grace = min(self._timing().pod_stop, float(meta["deletionGracePeriodSeconds"]))
            slot = _slot(pod)
            self._due.pop(slot, None)
            self._unready.pop(slot, None)
            self._ends.pop(slot, None)
            due = now + nanoseconds(grace)
            due = self._stopping[slot] = min(self._stopping.get(slot, due), due)  # it may have become shorter
            if now < due:
                return Result((due - now) / SECOND)
            del self._stopping[slot]
        with ignoring(404, 409):
            if is_held(pod) and not is_terminal(pod):  # somebody waits for its end
                self._report(running, pod, {**ended_status(pod, KILLED, self._clock.timestamp())})
            self._writer(running).delete(
                "Pod", name_of(pod), namespace=namespace_of(pod), grace_period_seconds=0, uid=meta["uid"]
            )
        return DONE


def _runs(pod: Object) -> bool:
    return status_of(pod).get("phase") == "Running"


def _slot(pod: Object) -> _Slot:
    return namespace_of(pod), name_of(pod), pod["metadata"].get("uid", "")
