"""Existing nodes, and those being launched: whether a pod fits into their remaining room.

Core ``pkg/controllers/provisioning/scheduling/existingnode.go``.
"""

from collections.abc import Mapping, Sequence
from copy import copy
from functools import cached_property

from harness.karpenter.releases.scheduling import SchedulingRules
from harness.karpenter.requirement import IN, Requirement
from harness.karpenter.scheduling.algebra import Algebra, RequirementSet
from harness.karpenter.scheduling.nodeclaims.inflight import port_conflict
from harness.karpenter.scheduling.nodeclaims.templates import DaemonPod
from harness.karpenter.scheduling.nodes.state import StateNode
from harness.karpenter.scheduling.pods.shapes import PodShape
from harness.karpenter.scheduling.reasons.pods import (
    NodeFull,
    Reason,
    RequirementsIncompatible,
    TaintsNotTolerated,
    VolumeLimitExceeded,
)
from harness.karpenter.scheduling.topology.topology import Topology
from harness.kube.api.fingerprint import fingerprint
from harness.kube.api.labels import HOSTNAME
from harness.kube.api.objects import Object, name_of
from harness.kube.scheduling.pods import HostPort, requests_for_pods
from harness.kube.scheduling.taints import untolerated


class ExistingNode:
    """A node with the room that its pods, and DaemonSet pods still to come, leave. ``amounts`` is that room in billionths.

    Simulations share it until one of them puts a pod on it, and takes a :meth:`copy` for that. ``attach_limits`` are those of its
    instance type, for the CSI drivers that its CSINode does not list.
    """

    def __init__(
        self,
        state: StateNode,
        daemons: Sequence[DaemonPod],
        algebra: Algebra,
        rules: SchedulingRules,
        attach_limits: Mapping[str, int],
    ) -> None:
        self.state, self._algebra = state, algebra
        self.name, self.taints = state.name, state.taints
        self._requirements: RequirementSet | None = None
        self.amounts = state.free()
        if daemons:
            self._reserve(daemons, rules)
        self._host_ports: list[HostPort] | None = None
        self.volumes = {driver: set(claims) for driver, claims in state.volumes.items()}
        expected = {name: limit for name, limit in attach_limits.items() if name not in state.volume_drivers}
        self._limits = {**state.volume_limits, **expected}
        self.pods: list[Object] = []

    @cached_property
    def content(self) -> int:
        """A number for all that simulations read of the node before they put pods on it, equal for equal nodes."""
        state = self.state
        claim = "" if state.nodeclaim is None else name_of(state.nodeclaim)
        volumes = {driver: sorted(claims) for driver, claims in sorted(self.volumes.items())}
        return self._algebra.number_of(
            (
                *(self.name, state.provider_id, claim, state.hostname, state.initialized),
                frozenset(self.amounts.items()),
                self._algebra.from_labels(state.labels).id,
                fingerprint((self.taints, volumes, dict(sorted(self._limits.items())))),
                tuple(self.host_ports),
            )
        )

    def copy(self) -> "ExistingNode":
        """The same node, to put pods on."""
        made = copy(self)
        made.amounts, made._host_ports, made.pods = dict(self.amounts), list(self.host_ports), list(self.pods)
        made.volumes = {driver: set(claims) for driver, claims in self.volumes.items()}
        return made

    @property
    def host_ports(self) -> list[HostPort]:
        """The host ports that its pods bind; computed at first use."""
        if self._host_ports is None:
            self._host_ports = self.state.host_ports()
        return self._host_ports

    @property
    def requirements(self) -> RequirementSet:
        """The requirements from its labels, its hostname and its new pods; computed at first use."""
        if self._requirements is None:
            host = Requirement.of(HOSTNAME, IN, (self.state.hostname,), vocabulary=self._algebra.vocabulary)
            labels = self._algebra.from_labels(self.state.labels)
            self._requirements = self._algebra.together(labels, {HOSTNAME: host})
        return self._requirements

    def _reserve(self, daemons: Sequence[DaemonPod], rules: SchedulingRules) -> None:
        """Subtracts what DaemonSet pods that are still missing will request."""
        coming, present = (
            requests_for_pods([daemon.pod for daemon in daemons if self._will_run(daemon)]),
            self.state.daemon_requests(),
        )
        for name, quantity in coming.items():
            missing = quantity.nano - (present[name].nano if name in present else 0)
            if missing > 0 and (name in self.amounts or rules.daemons_need_listed_resources):
                self.amounts[name] = self.amounts.get(name, 0) - missing

    def _will_run(self, daemon: DaemonPod) -> bool:
        if daemon.ignored or untolerated(self.taints, daemon.tolerations):
            return False
        labels = self._algebra.from_labels(self.state.labels)
        return self._algebra.met(labels, daemon.requirements(self._algebra), strict=True) is not None

    def refusal(self, shape: PodShape) -> Reason | None:
        """Return the reason if the node can never take the pod, topology apart. Nodes only fill up, so a refusal stays."""
        taints = untolerated(self.taints, shape.preferences.tolerations)
        if taints:
            return TaintsNotTolerated(taints)
        for driver, claims in (shape.volume_claims or {}).items():
            limit = self._limits.get(driver)
            if limit is not None and (count := len(self.volumes.get(driver, set()) | claims)) > limit:
                return VolumeLimitExceeded(driver, count, limit)
        for driver, held in self.volumes.items():
            limit = self._limits.get(driver)
            if limit is not None and len(held) > limit:
                return VolumeLimitExceeded(driver, len(held), limit)
        if shape.host_ports and (conflict := port_conflict(shape, self.host_ports)) is not None:
            return conflict
        if any(amount < 0 for amount in self.amounts.values()):
            return NodeFull(())
        lacking = tuple(name for name, amount in shape.amounts if amount > self.amounts.get(name, 0))
        if lacking:
            return NodeFull(lacking)
        wanted = shape.requirements
        if wanted.items and self._algebra.met(self.requirements, wanted, strict=True) is None:
            cause = self._algebra.conflict(self.requirements.items, wanted.items, strict=True)
            assert cause is not None
            return RequirementsIncompatible("", cause)
        return None

    def place(self, shape: PodShape, topology: Topology) -> RequirementSet | Reason:
        """The node's requirements with the pod on it, for a pod that :meth:`refusal` lets pass, or why topology forbids it."""
        base = self._algebra.met(self.requirements, shape.requirements, strict=True)
        assert base is not None
        reason: Reason | None = None
        for volumes in shape.volumes or (None,):
            here = base if volumes is None else self._algebra.met(base, volumes, strict=True)
            if here is None:
                assert volumes is not None
                cause = self._algebra.conflict(base.items, volumes.items, strict=True)
                assert cause is not None
                reason = RequirementsIncompatible("incompatible volume requirements", cause)
                continue
            narrowed = topology.narrow(shape, here, here.items[HOSTNAME], strict=True)
            if isinstance(narrowed, RequirementSet):
                return narrowed
            reason = narrowed
        assert reason is not None
        return reason

    def add(self, shape: PodShape, pod: Object, requirements: RequirementSet, topology: Topology) -> None:
        """Put the pod on the node."""
        self.pods.append(pod)
        for name, amount in shape.amounts:
            self.amounts[name] = self.amounts.get(name, 0) - amount
        self._requirements = requirements
        topology.record(shape, self.taints, requirements, requirements.items[HOSTNAME])
        self.host_ports.extend(shape.host_ports)
        for driver, claims in (shape.volume_claims or {}).items():
            self.volumes.setdefault(driver, set()).update(claims)
