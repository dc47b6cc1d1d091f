"""kube-scheduler over the memory cluster: a queue of pending pods, decided one after the other, and bound or marked."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

from harness.clusters.memory.neighbours import Relations, Siblings
from harness.clusters.memory.waking import looks_at_others, offers_differently, takes_less, waits, weighs_differently
from harness.engine.clock import Clock
from harness.engine.engine import DONE, Result, Router
from harness.engine.ports import Change, ChangeType, Sink, View, Writer
from harness.engine.rng import Rng
from harness.kube.api.fingerprint import fingerprint
from harness.kube.api.objects import (
    Object,
    condition,
    labels_of,
    metadata_of,
    name_of,
    namespace_of,
    spec_of,
    status_of,
    uid_of,
)
from harness.kube.api.status import ApiError, ignoring
from harness.kube.api.strategic import conditions_in_place
from harness.kube.api.versions import Version
from harness.kube.scheduling.device_claims import lacks_claims
from harness.kube.scheduling.placement import NodeInfo, priority_of
from harness.kube.scheduling.pods import is_terminal
from harness.kube.scheduling.preemption import MARK, Preemption
from harness.kube.scheduling.scheduler import Unschedulable, schedule
from harness.kube.scheduling.standing import Standings, looks_at_nodes_alone
from harness.kube.scheduling.volume_binding import SELECTED_NODE, PodVolumes
from harness.latest import LatestOf

_CYCLE = "cycle"
_LONGEST_NOTE = 1024  # of an Event
_MOST_TEXTS = 256
_MOST_SPECS = 16


class _Table:
    """The inputs of one scheduling cycle.

    ``refused`` keeps verdicts by the fingerprint of pods until a pod is bound. ``relations`` knows whether running pods matter for a
    pod that depends on nodes alone.
    """

    def __init__(self, infos: dict[str, NodeInfo], nominated: Mapping[str, list[Object]], view: View) -> None:
        self.infos, self.nominated = infos, nominated
        self.refused: dict[Hashable, Unschedulable] = {}
        self.namespaces = view.list("Namespace")
        self.budgets, self.services = view.list("PodDisruptionBudget"), view.list("Service")
        self.relations = Relations(infos.values(), self.namespaces)


class KubeScheduler:
    """Decides every pending pod again whenever a node or the pods on one change. The only key is the queue itself."""

    name = "kube-scheduler"
    backoff = (1.0, 10.0)

    def __init__(self, view: View, writer: Writer, sink: Sink, clock: Clock, rng: Rng, version: Version) -> None:
        self._view = view
        self._writer = writer
        self._sink = sink
        self._clock = clock
        self._rng = rng
        self.version = version
        self._infos: dict[str, NodeInfo] = {}
        """NodeInfos by name, in the order of the Nodes; brought up to date by `_table`."""
        self._stale: dict[str, None] = {}
        """The Nodes that have changed since, or whose pods have."""
        self._standings = Standings()
        self._siblings = Siblings(view)
        self._looks: dict[str, tuple[Object, Mapping[str, str], Hashable]] = {}
        self._specs: LatestOf[Mapping[str, Any], Hashable] = LatestOf(_MOST_SPECS)
        """Fingerprints of the specs of pods; the pods of a ReplicaSet have one."""
        self._worded: dict[int, tuple[Unschedulable, str]] = {}
        self._again: set[tuple[str, str]] = set()
        self._others = False
        """Whether pods that depend on other pods have to be tried again: one was bound, or has other labels."""
        self._all = False
        self._volumes = False
        """Whether pods with volumes have to be tried again."""

    def watches(self) -> Mapping[str, Router]:
        """Watch pods and nodes, and the objects that volumes depend on."""
        volumes = dict.fromkeys(("PersistentVolumeClaim", "PersistentVolume", "StorageClass"), self._of_volume)
        return {"Pod": self._of_pod, "Node": self._of_node, "CSINode": self._of_drivers, **volumes}

    def _of_drivers(self, change: Change) -> Iterable[Hashable]:
        """Return the queue where pods with volumes wait: only they depend on the limits of a node's drivers."""
        self._volumes = True
        return (_CYCLE,)

    def _of_volume(self, change: Change) -> Iterable[Hashable]:
        self._all = True
        return (_CYCLE,)

    def _of_pod(self, change: Change) -> Iterable[Hashable]:
        pod, old = change.object, change.old
        node = spec_of(pod).get("nodeName")
        if node or change.type is ChangeType.DELETED:
            self._looks.pop(uid_of(pod), None)
        if node:
            if change.type is ChangeType.DELETED or old is None or weighs_differently(pod, old):
                self._forget(node)
                was_here = old is not None and spec_of(old).get("nodeName")
                if (
                    change.type is ChangeType.DELETED
                    or old is None
                    or is_terminal(pod)
                    or (was_here and takes_less(pod, old))
                ):
                    self._all = True
                    return (_CYCLE,)
                if not was_here or labels_of(pod) != labels_of(old):
                    self._others = True
                    return (_CYCLE,)
            return ()
        if change.type is ChangeType.DELETED:
            if status_of(pod).get("nominatedNodeName"):
                self._all = True  # the room that others made for it is free
                return (_CYCLE,)
            return ()
        if old is None or spec_of(pod) != spec_of(old) or labels_of(pod) != labels_of(old):
            self._again.add((namespace_of(pod), name_of(pod)))
            return (_CYCLE,)
        return ()

    def _of_node(self, change: Change) -> Iterable[Hashable]:
        node, old = change.object, change.old
        if change.type is ChangeType.DELETED:
            self._infos.pop(name_of(node), None)  # a later one with its name is the last
            self._forget(name_of(node))
            self._standings.gone(name_of(node))
            self._all = True
            return (_CYCLE,)
        if old is None:
            self._stale.pop(name_of(node), None)  # it has its place now, whatever was bound to its name before
        elif not offers_differently(node, old):
            return ()
        self._forget(name_of(node))
        self._all = True
        return (_CYCLE,)

    def reconcile(self, key: Hashable) -> Result:
        """Decide the queued pods: higher priority first, then in order of creation."""
        unbound, lookup = self._view.indexed("pods-by-node", ""), self._view.get
        pending = [pod for pod in unbound if waits(pod) and not lacks_claims(pod, lookup, self.version)]
        if not self._all:
            pending = [
                pod
                for pod in pending
                if (namespace_of(pod), name_of(pod)) in self._again
                or (self._others and looks_at_others(pod))
                or (self._volumes and spec_of(pod).get("volumes"))
            ]
        self._again.clear()
        self._others = self._all = self._volumes = False
        if not pending:
            return DONE
        pending.sort(key=lambda pod: -priority_of(pod))
        table = self._table()
        for pod in pending:
            look = self._look(pod)
            volumes = PodVolumes.for_pod(pod, self._view.get)
            verdict = self._verdict(table, pod, look, volumes)
            if isinstance(verdict, Unschedulable):
                self._mark(pod, verdict)
                if isinstance(verdict.preemption, Preemption):
                    self._preempt(pod, verdict.preemption, table.nominated)
                    table = self._table()
                elif look is not None:
                    table.refused[look] = verdict
            else:
                table.refused.clear()
                for claim in volumes.waiting if volumes is not None else ():
                    self._select(claim, verdict)
                self._bind(pod, verdict)
                self._count(table, pod, verdict)
        return DONE

    def _table(self) -> _Table:
        for name in self._stale:
            node = self._view.get("Node", name)
            if node is not None:
                self._infos[name] = NodeInfo(node, self._view.indexed("pods-by-node", name))
        self._stale.clear()
        return _Table(self._infos, self._nominated(), self._view)

    def _verdict(self, table: _Table, pod: Object, look: Hashable, volumes: PodVolumes | None) -> str | Unschedulable:
        """Return the node for the pod, or why there is none."""
        siblings = self._siblings.selector_for(pod, table.services)
        # a pod without a fingerprint has volumes, or is nominated itself
        alone = not table.nominated and looks_at_nodes_alone(pod)
        if alone and not table.relations.concern(look, pod):
            standing = self._standings.standing_for(look, pod, table.infos, self.version, siblings)
            return standing.verdict(table.infos, self._choose, table.budgets)
        return table.refused.get(look) or schedule(
            pod,
            list(table.infos.values()),
            choose=self._choose,
            version=self.version,
            volumes=volumes,
            nominated=table.nominated,
            budgets=table.budgets,
            namespaces=table.namespaces,
            siblings=siblings,
        )

    def _choose(self, names: Sequence[str]) -> str:
        return names[0] if len(names) == 1 else self._rng.choice("kube-scheduler", names)

    def _count(self, table: _Table, pod: Object, node: str) -> None:
        """Count a pod that was bound just now."""
        bound = self._view.get("Pod", name_of(pod), namespace_of(pod))
        if bound is not None:
            info = table.infos[node]
            info.add_pod(bound)
            self._stale.pop(node, None)
            self._standings.changed(node)
            table.relations.meet(info.related)
        if status_of(pod).get("nominatedNodeName"):
            table.nominated = self._nominated()

    def _nominated(self) -> dict[str, list[Object]]:
        """The pending pods with a nominated node, by that node."""
        by_node: dict[str, list[Object]] = {}
        for pod in self._view.indexed("pods-by-node", ""):
            node = status_of(pod).get("nominatedNodeName")
            if node:
                by_node.setdefault(node, []).append(pod)
        return by_node

    def _forget(self, node: str) -> None:
        """Note that a node has changed or is gone."""
        self._stale[node] = None
        self._standings.changed(node)

    def _look(self, pod: Object) -> Hashable:
        """Return a fingerprint of the facts that decide about a pod, equal for the pods of a workload; None for a
        nominated pod and one with volumes."""
        uid, spec, labels = uid_of(pod), spec_of(pod), labels_of(pod)
        if spec.get("volumes") or status_of(pod).get("nominatedNodeName"):
            return None
        entry = self._looks.get(uid)
        if entry is None or entry[0] is not spec or entry[1] is not labels:
            alike = self._specs.of(spec, lambda: fingerprint(spec))
            entry = self._looks[uid] = spec, labels, (namespace_of(pod), fingerprint(labels), alike)
        return entry[2]

    def _select(self, claim: Object, node: str) -> None:
        """Write on a claim on which node its volume is needed.

        The real kube-scheduler then waits for the volume before it binds the pod.
        """
        chosen = {"metadata": {"annotations": {SELECTED_NODE: node}}}
        self._writer.patch("PersistentVolumeClaim", name_of(claim), chosen, namespace=namespace_of(claim))

    def _bind(self, pod: Object, node: str) -> None:
        namespace, name = namespace_of(pod), name_of(pod)
        try:
            self._writer.bind(name, namespace, node)
        except ApiError as error:
            if error.code not in (404, 409):
                raise
            return
        text = f"Successfully assigned {namespace}/{name} to {node}"
        self._sink.event(pod, "Normal", "Scheduled", text, source="default-scheduler", dedupe_seconds=0)

    def _mark(self, pod: Object, verdict: Unschedulable) -> None:
        """Write why the pod has no node, and which one is being emptied for it."""
        message = self._message(verdict)
        present = condition(pod, "PodScheduled")
        nominated = status_of(pod).get("nominatedNodeName")
        node = nominated
        if isinstance(verdict.preemption, Preemption):
            node = verdict.preemption.node
        elif not verdict.preemption.keeps_nomination:
            node = None
        unchanged = (
            present is not None and present.get("message") == message and present.get("reason") == "Unschedulable"
        )
        if unchanged and node == nominated:
            return
        now = self._clock.timestamp()
        since = present["lastTransitionTime"] if present is not None and present.get("status") == "False" else now
        marked = {
            "type": "PodScheduled",
            "status": "False",
            "reason": "Unschedulable",
            "message": message,
            "lastTransitionTime": since,
        }
        status = conditions_in_place(pod, [marked])
        if node != nominated:
            status["nominatedNodeName"] = node
        self._patch(pod, status)
        note = message if len(message) <= _LONGEST_NOTE else f"{message[: _LONGEST_NOTE - 4]} ..."
        self._sink.event(pod, "Warning", "FailedScheduling", note, source="default-scheduler", dedupe_seconds=0)

    def _message(self, verdict: Unschedulable) -> str:
        """Return the text of a verdict, which the pods of a workload share."""
        entry = self._worded.get(id(verdict))
        if entry is None:
            if len(self._worded) >= _MOST_TEXTS:
                self._worded.clear()
            entry = self._worded[id(verdict)] = verdict, verdict.message
        return entry[1]

    def _preempt(self, pod: Object, preemption: Preemption, nominated: Mapping[str, list[Object]]) -> None:
        """Delete the victims, and clear the nomination of pods of lower priority for the same node."""
        for pod_nominated in nominated.get(preemption.node, ()):
            if priority_of(pod_nominated) < priority_of(pod):
                self._patch(pod_nominated, {"nominatedNodeName": None})
                self._again.add((namespace_of(pod_nominated), name_of(pod_nominated)))
        now = self._clock.timestamp()
        scheduler = spec_of(pod).get("schedulerName") or "default-scheduler"
        message = f"{scheduler}: preempting to accommodate a higher priority pod"
        for victim in preemption.victims:
            if metadata_of(victim).get("deletionTimestamp"):
                continue
            mark = {**MARK, "message": message, "lastTransitionTime": now}
            self._patch(victim, conditions_in_place(victim, [mark]))
            with ignoring(404, 409):  # gone meanwhile, or another pod by now
                self._writer.delete("Pod", name_of(victim), namespace=namespace_of(victim), uid=uid_of(victim))
            text = f"Preempted by pod {uid_of(pod)} on node {preemption.node}"
            self._sink.event(victim, "Normal", "Preempted", text, source="default-scheduler", dedupe_seconds=0)

    def _patch(self, pod: Object, status: Mapping[str, Any]) -> None:
        self._writer.patch(
            "Pod",
            name_of(pod),
            {"status": status},
            namespace=namespace_of(pod),
            type="strategic",
            subresource="status",
        )
