"""The pods of a DaemonSet.

Source: kubernetes pkg/controller/daemon.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harness.kube.api.amounts import share
from harness.kube.api.objects import (
    Object,
    condition_is,
    is_terminating,
    labels_of,
    metadata_of,
    name_of,
    spec_of,
    status_of,
)
from harness.kube.api.rollouts import ROLLING_UPDATE, min_ready_seconds, rolling_update, strategy_type
from harness.kube.scheduling.node_affinity import required_matches
from harness.kube.scheduling.pods import is_terminal
from harness.kube.scheduling.taints import NO_EXECUTE, NO_SCHEDULE, same_toleration, tolerates
from harness.kube.workloads.availability import is_available
from harness.kube.workloads.plans import Plan
from harness.kube.workloads.revisions import REVISION_LABEL
from harness.kube.workloads.templates import pod_from_template
from lazyrecords import dataclass

__all__ = ["daemon_set", "is_concerned"]

_DAEMON_TOLERATIONS = tuple(
    {"key": f"node.kubernetes.io/{name}", "operator": "Exists", "effect": effect}
    for name, effect in (
        ("not-ready", "NoExecute"),
        ("unreachable", "NoExecute"),
        ("disk-pressure", "NoSchedule"),
        ("memory-pressure", "NoSchedule"),
        ("pid-pressure", "NoSchedule"),
        ("unschedulable", "NoSchedule"),
    )
)
_HOST_NETWORK_TOLERATIONS = (
    {"key": "node.kubernetes.io/network-unavailable", "operator": "Exists", "effect": "NoSchedule"},
)


_OF_NODES = (
    *("currentNumberScheduled", "desiredNumberScheduled", "numberMisscheduled", "numberReady"),
    *("updatedNumberScheduled", "numberAvailable"),
)


@dataclass(frozen=True, slots=True)
class Update:
    """The numbers of pods by which a DaemonSet replaces those of an old template; none where it waits for their deletion (OnDelete)."""

    rolls: bool
    unavailable: int
    surge: int
    seconds: int

    @staticmethod
    def from_spec(owner: Object, desired: int) -> Update:
        """Read a DaemonSet's spec. `desired`: the number of nodes on which it wants a pod."""
        spec = spec_of(owner)
        strategy = spec.get("updateStrategy") or {}
        seconds = min_ready_seconds(spec)
        if strategy_type(strategy) != ROLLING_UPDATE:
            return Update(False, 0, 0, seconds)
        unavailable, surge = (share(amount, desired, up=True) for amount in rolling_update("DaemonSet", strategy))
        return Update(True, unavailable if unavailable or surge else 1, surge, seconds)


def daemon_set(
    owner: Object, pods: Sequence[Object], nodes: Sequence[Object], revision: str = "", now: str = ""
) -> Plan:
    """One pod for each node that the template's affinity and tolerations take, pinned to it by node affinity.

    A node that is not ready has a taint with effect NoSchedule, which is not tolerated by itself: its pods are made when it is ready. A
    pod that is there stays when its node gets such a taint, as that of a disruption, or is being deleted, and none is made beside one
    that ends. Pods that have ended are deleted at once (upstream waits between two of one node). Bound pods of nodes that are gone are
    left to the garbage collector. Where nothing else is to be done, pods of another `revision` are replaced.
    Source: kubernetes pkg/controller/daemon/{daemon_controller,update}.go.
    """
    return _Look(owner, pods, nodes, revision, now).plan()


def is_concerned(owner: Object, node: Object, *, scheduled: bool) -> bool:
    """Return whether a node with new labels or taints makes the controller look at a DaemonSet, which has a pod there or
    not (`scheduled`).

    A pod that stays where it would not be made any more is no reason: until the next look the status counts it as before.
    Source: kubernetes pkg/controller/daemon/daemon_controller.go (syncNodeUpdate).
    """
    template = spec_of(owner).get("template") or {}
    effects = _keeping_away(template, _daemon_tolerations(template), node)
    if not scheduled:
        return not effects
    return NO_EXECUTE in effects or bool(status_of(owner).get("numberMisscheduled"))


class _Look:
    """One look at a DaemonSet."""

    def __init__(self, owner: Object, pods: Sequence[Object], nodes: Sequence[Object], revision: str, now: str) -> None:
        self._owner, self._nodes, self._revision, self._now = owner, nodes, revision, now
        self._template = spec_of(owner).get("template") or {}
        self._tolerations = _daemon_tolerations(self._template)
        self._by_node: dict[str, list[Object]] = {}
        for pod in pods:
            if not (is_terminal(pod) and is_terminating(pod)):
                self._by_node.setdefault(_pinned_to(pod), []).append(pod)
        for present in self._by_node.values():
            present.sort(key=_daemon_rank)
        self._effects = {name_of(node): _keeping_away(self._template, self._tolerations, node) for node in nodes}
        self._desired = sum(not effects for effects in self._effects.values())
        self._update = Update.from_spec(owner, self._desired)
        self._wanted: list[str] = []
        self._delete: list[Object] = []

    def plan(self) -> Plan:
        """Return the pods to create and to delete, and the status."""
        counts = self._counts()
        self._keep()
        if not self._wanted and not self._delete and self._update.rolls:
            self._roll()
        create = tuple(self._made(node) for node in self._wanted)
        return Plan(create, tuple(pod for pod in self._delete if not is_terminating(pod)), counts)

    def _made(self, node: str) -> Object:
        pod = _daemon_pod(self._owner, self._template, self._tolerations, node)
        if self._revision:
            pod["metadata"]["labels"][REVISION_LABEL] = self._revision
        return pod

    def _is_available(self, pod: Object) -> bool:
        return is_available(pod, self._update.seconds, self._now)

    def _is_new(self, pod: Object) -> bool:
        return labels_of(pod).get(REVISION_LABEL, "") == self._revision

    def _counts(self) -> dict[str, int]:
        """The status (updateDaemonSetStatus)."""
        counts = Counter({**dict.fromkeys(_OF_NODES, 0), "desiredNumberScheduled": self._desired})
        for name, effects in self._effects.items():
            present = self._by_node.get(name, ())
            if effects:
                counts["numberMisscheduled"] += bool(present)
                continue
            if present:
                counts["currentNumberScheduled"] += 1
                counts["numberReady"] += condition_is(present[0], "Ready")
                counts["numberAvailable"] += self._is_available(present[0])
                counts["updatedNumberScheduled"] += self._is_new(present[0])
        counts["numberUnavailable"] = self._desired - counts["numberAvailable"]
        return dict(counts)

    def _keep(self) -> None:
        """Create missing pods, and delete those that do not belong where they are (podsShouldBeOnNode)."""
        rest = dict(self._by_node)
        for name, effects in self._effects.items():
            present = rest.pop(name, [])
            if not effects and not present:
                self._wanted.append(name)
            elif NO_EXECUTE in effects:
                self._delete.extend(present)
            else:
                self._keep_one(name, present, runs=not effects)
        self._delete.extend(pod for pods in rest.values() for pod in pods if not spec_of(pod).get("nodeName"))

    def _keep_one(self, node: str, present: Sequence[Object], *, runs: bool) -> None:
        self._delete.extend(pod for pod in present if is_terminal(pod))
        running = [pod for pod in present if not is_terminal(pod) and not is_terminating(pod)]
        if not self._update.surge:
            self._delete.extend(running[1:])
            return
        if not running and runs:
            self._wanted.append(node)
        new = [pod for pod in running if self._is_new(pod)]
        old = [pod for pod in running if not self._is_new(pod)]
        self._delete += [*new[1:], *old[1:]]
        if new and old and (not condition_is(old[0], "Ready") or self._is_available(new[0])):
            self._delete.append(old[0])

    def _on_nodes(self) -> Iterator[tuple[str, Object | None, Object | None]]:
        """Yield each node with its staying pod of the present revision, and the one of an old revision."""
        for name in dict.fromkeys((*self._by_node, *(name for name, effects in self._effects.items() if not effects))):
            staying = [pod for pod in self._by_node.get(name, ()) if not is_terminating(pod)]
            new = next((pod for pod in staying if self._is_new(pod)), None)
            yield name, new, next((pod for pod in staying if not self._is_new(pod)), None)

    def _roll(self) -> None:
        """Replace what may be replaced now (update.go, rollingUpdate)."""
        if self._update.surge:
            self._surge()
            return
        missing, candidates = 0, []
        for _, new, old in self._on_nodes():
            if (new is None) == (old is None):
                missing += 1
            elif new is not None:
                missing += not self._is_available(new)
            elif old is not None and not self._is_available(old):
                self._delete.append(old)
                missing += 1
            elif old is not None:
                candidates.append(old)
        self._delete += candidates[: max(0, self._update.unavailable - missing)]

    def _surge(self) -> None:
        more = available = 0
        candidates: list[str] = []
        homeless: list[Object] = []
        for name, new, old in self._on_nodes():
            counted = old or new
            available += counted is not None and self._is_available(counted)
            if old is None:
                continue
            if new is not None:
                if self._is_available(new):
                    self._delete.append(old)
                else:
                    more += 1
            elif self._effects.get(name):
                (homeless if self._is_available(old) else self._delete).append(old)
            elif not self._is_available(old):
                self._wanted.append(name)
            else:
                candidates.append(name)
        self._delete += homeless[: max(0, available - self._desired)]
        self._wanted += candidates[: max(0, self._update.surge - more)]


def _daemon_rank(pod: Object) -> tuple[bool, str, str]:
    """Return the rank of a node's pods: the first counts and stays; the bound one, then the oldest, then by name.

    Source: podByCreationTimestampAndPhase.
    """
    return not spec_of(pod).get("nodeName"), str(metadata_of(pod).get("creationTimestamp") or ""), name_of(pod)


def _daemons_belong(template: Object, node: Object) -> bool:
    """Return whether a node is the one that the template names, if any, and of those that its selector and required affinity take."""
    return spec_of(template).get("nodeName") in (None, "", name_of(node)) and required_matches(template, node)


def _daemon_tolerations(template: Object) -> list[Mapping[str, Any]]:
    """The template's tolerations and those that every pod of a DaemonSet has, which are not repeated.

    Source: kubernetes pkg/controller/daemon/util/daemonset_util.go (AddOrUpdateDaemonPodTolerations).
    """
    spec = spec_of(template)
    tolerations: list[Mapping[str, Any]] = list(spec.get("tolerations") or ())
    for own in (*_DAEMON_TOLERATIONS, *(_HOST_NETWORK_TOLERATIONS if spec.get("hostNetwork") else ())):
        same = [index for index, toleration in enumerate(tolerations) if same_toleration(toleration, own)]
        for index in same:
            tolerations[index] = own
        if not same:
            tolerations.append(own)
    return tolerations


def _keeping_away(template: Object, tolerations: Sequence[Mapping[str, Any]], node: Object) -> set[str]:
    """Return the effects that keep a DaemonSet's pods away from a node (NodeShouldRunDaemonPod)."""
    return _untolerated(tolerations, node) if _daemons_belong(template, node) else {NO_EXECUTE}


def _untolerated(tolerations: Sequence[Mapping[str, Any]], node: Object) -> set[str]:
    """The effects of a node's taints that keep pods away and are not tolerated."""
    return {
        taint["effect"]
        for taint in spec_of(node).get("taints") or ()
        if taint.get("effect") in (NO_SCHEDULE, NO_EXECUTE)
        and not any(tolerates(toleration, taint) for toleration in tolerations)
    }


def _daemon_pod(owner: Object, template: Object, tolerations: Sequence[Mapping[str, Any]], node: str) -> dict[str, Any]:
    pod = pod_from_template(owner, template)
    spec = pod["spec"]
    spec["tolerations"] = [dict(toleration) for toleration in tolerations]
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}
    affinity = dict(spec.get("affinity") or {})
    affinity["nodeAffinity"] = {
        **(affinity.get("nodeAffinity") or {}),
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]},
    }
    spec["affinity"] = affinity
    return pod


def _pinned_to(pod: Object) -> str:
    spec = spec_of(pod)
    if spec.get("nodeName"):
        return str(spec["nodeName"])
    required = ((spec.get("affinity") or {}).get("nodeAffinity") or {}).get(
        "requiredDuringSchedulingIgnoredDuringExecution"
    )
    for term in (required or {}).get("nodeSelectorTerms") or ():
        for fields in term.get("matchFields") or ():
            return str(fields["values"][0])
    return ""
