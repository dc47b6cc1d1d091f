"""One provisioning simulation: which pods go on which nodes, and which NodeClaims have to be made for the rest.

Core ``pkg/controllers/provisioning/provisioner.go`` (Schedule) and ``pkg/controllers/provisioning/scheduling/scheduler.go``.
"""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from harness.karpenter.scheduling.algebra import RequirementSet
from harness.karpenter.scheduling.context import SchedulingContext
from harness.karpenter.scheduling.nodeclaims.candidates import Candidates
from harness.karpenter.scheduling.nodeclaims.inflight import Fit, InflightNodeClaim
from harness.karpenter.scheduling.nodeclaims.order import InflightOrder
from harness.karpenter.scheduling.nodeclaims.planned import PlannedNodeClaim, SchedulingResults, pod_key
from harness.karpenter.scheduling.nodeclaims.pod_fitter import PodFitter
from harness.karpenter.scheduling.nodeclaims.reservations import Reservations
from harness.karpenter.scheduling.nodeclaims.templates import Template
from harness.karpenter.scheduling.nodes.consolidate_after import NO_WINDOW, ConsolidateAfterWindow
from harness.karpenter.scheduling.nodes.existing import ExistingNode
from harness.karpenter.scheduling.nodes.state import NODES
from harness.karpenter.scheduling.pods.queue import shaped
from harness.karpenter.scheduling.pods.shapes import PodShape
from harness.karpenter.scheduling.reasons.pods import (
    EveryNodePool,
    LimitsReached,
    NodeLimitReached,
    NoNodePool,
    PoolIncompatible,
    Reason,
    ReservationsTaken,
    ResourceClaimsUnsupported,
    VolumesUnknown,
    is_deferred,
    lacks_key,
)
from harness.karpenter.scheduling.time_budget import TimeBudget
from harness.karpenter.scheduling.topology.groups import TopologyGroups
from harness.karpenter.scheduling.topology.ties import Ties
from harness.karpenter.scheduling.topology.topology import Topology
from harness.kube.api.labels import HOSTNAME
from harness.kube.api.objects import Object
from harness.kube.api.quantity import Quantity

if TYPE_CHECKING:
    from harness.karpenter.scheduling.reasons.ledger import Ledger


class Scheduler:
    """The state of one simulation.

    ``leaving`` names nodes that take no part in it. ``settling`` are existing nodes that take only pods for which ``exempt``
    is true. ``time_limit`` replaces that of the options.
    """

    def __init__(
        self,
        context: SchedulingContext,
        pods: Sequence[Object],
        ledger: "Ledger | None" = None,
        *,
        leaving: frozenset[str] = frozenset(),
        settling: ConsolidateAfterWindow = NO_WINDOW,
        exempt: Callable[[Object], bool] = bool,
        time_limit: float | None = None,
    ) -> None:
        self._context, self._options, self._ledger = context, context.options, ledger
        options, self._rules = context.options, context.rules
        self._best_effort, self._algebra, self._shapes = context.best_effort, context.algebra, context.shapes
        self._pending = shaped(queue := [context.queued(pod) for pod in pods])
        self._largest_first = sorted(range(len(queue)), key=lambda place: queue[place].place)
        self._ties = Ties(options.draw, context.state.snapshot.number)
        moving = frozenset(
            queued.key for queued, (shape, _) in zip(queue, self._pending, strict=True) if not shape.deferred
        )
        self.groups = TopologyGroups(*context.topology, moving, context.provider_ids(leaving))
        self._topology = Topology(self.groups, options.preference_policy, self._rules, self._ties)
        for shape, _ in self._pending:
            self._topology.reach(shape)
        self._templates = [template.fresh() for template in context.templates]
        if ledger is not None:
            for template, unmet in context.judged_nodepools:
                if not template.mask:
                    ledger.excluded(template, unmet, self._algebra)
        self._reservations = (
            Reservations(context.indexes.values(), options.reservation_label)
            if options.reservation_label is not None
            else None
        )
        self._pod_fitter = PodFitter(self._algebra, self._topology, self._rules, self._reservations)
        self._taking: dict[int, ExistingNode] = {}
        self._staying = (1 << len(context.existing)) - 1 & ~context.positions(leaving)
        self._settling, self._exempt = settling, exempt
        self._topology.register_hosts(context.hostnames(leaving))
        self._limits = context.limits_left(leaving)
        self._order = InflightOrder(options.stable_inflight_sort)
        self._candidates = Candidates(self._algebra, self._topology, self._order)
        self._attempts = self._placed = 0
        limit = options.time_limit if time_limit is None else time_limit
        self._time = TimeBudget(limit, options.attempt_seconds)
        self.asked: dict[int, PodShape] = {}
        """The shapes about which existing nodes were asked, or would have been if there were any, by fit."""
        self._refused_existing: dict[int, int] = {}
        self._verified: dict[tuple[int, int], int] = {}
        self._refusals: dict[tuple[int, int], tuple[int, Reason]] = {}
        self._errors: dict[str, Reason] = {}
        self._unlucky: set[str] = set()  # pods that another draw could have placed

    def run(self) -> None:
        """Tries every pod, largest first, again and again while that helps."""
        queue = deque(self._pending[place] for place in self._largest_first)
        failed: dict[str, int] = {}  # pod → length of the queue when it last failed
        while queue:
            shape, pod = queue[0]
            if failed and failed.get(pod_key(pod)) == len(queue):
                break
            queue.popleft()
            reason = self._try(shape, pod)
            if self._time.out:
                break
            if reason is not None:
                key = pod_key(pod)
                self._errors[key] = reason
                if self._rules.repeated_expressions_cancel:
                    shape = self._shapes.next_attempt(shape)
                    self._topology.reach(shape)
                queue.append((shape, pod))
                failed[key] = len(queue)
            elif self._errors:
                self._errors.pop(pod_key(pod), None)

    def _try(self, shape: PodShape, pod: Object) -> Reason | None:
        """Places the pod, giving up one preference after the other; or says why the last attempt failed."""
        key = pod_key(pod)
        if self._options.draw is not None:
            self._ties.begin(key)
            self._unlucky.discard(key)
        if self._ledger is not None:
            self._ledger.began(pod)
        elif shape.failed_at == self._placed:
            failure: Reason = shape.failure
            return failure if all(self._time.take() for _ in range(shape.failed_steps)) else None
        current: PodShape | None = shape
        reason: Reason | None = None
        steps = 0
        while current is not None:
            if not self._time.take():
                return None
            steps += 1
            self._topology.begin(current)
            reason = self._add(current, pod)
            if reason is None:
                self._placed += 1
                return None
            if isinstance(reason, ResourceClaimsUnsupported) or (self._reservations and is_deferred(reason)):
                break
            weaker = self._shapes.relaxed(current)
            if self._ledger is not None and weaker is not None:
                self._ledger.relaxed(pod, current.dropped or "")
            current = weaker
        if shape.deferred:
            shape.deferred = False
            self._topology.reach(shape)
        if key not in self._unlucky:
            shape.failed_at, shape.failed_steps, shape.failure = self._placed, steps, reason
        return reason

    def _add(self, shape: PodShape, pod: Object) -> Reason | None:
        if shape.claims_resources:
            return ResourceClaimsUnsupported()
        if self._rules.attach_limits and shape.volume_claims is None:
            return VolumesUnknown(shape.volume_problem)
        self.asked.setdefault(shape.fit, shape)
        if self._staying and shape.volume_claims is not None and self._add_to_existing(shape, pod):
            return None
        self._order.sort()
        if self._order.items and self._add_to_inflight(shape, pod):
            return None
        if not self._templates:
            return NoNodePool() if self._rules.no_nodepool_is_error else None
        return self._add_to_new(shape, pod)

    def _add_to_existing(self, shape: PodShape, pod: Object) -> bool:
        context, ledger, fit = self._context, self._ledger, shape.fit
        candidates = self._staying
        if ledger is None:  # else every node is asked for its reason again
            candidates &= context.with_room(shape.amounts) & ~context.refused.get(fit, 0)
            candidates &= ~self._refused_existing.get(fit, 0)
        if (settling := self._settling.among(candidates)) and not self._exempt(pod):
            candidates &= ~settling
        while candidates:
            bit = candidates & -candidates
            candidates ^= bit
            position = bit.bit_length() - 1
            node = self._taking.get(position) or context.existing[position]
            reason = node.refusal(shape)
            if reason is not None:
                if not lacks_key(reason):  # another pod may bring the key along
                    refusals = self._refused_existing if position in self._taking else context.refused
                    refusals[fit] = refusals.get(fit, 0) | bit
                if ledger is not None:
                    ledger.node(pod, node.name, reason)
                continue
            placed = node.place(shape, self._topology)
            if ledger is not None:
                ledger.node(pod, node.name, None if isinstance(placed, RequirementSet) else placed)
            if isinstance(placed, RequirementSet):
                if position not in self._taking:
                    node = self._taking[position] = node.copy()
                node.add(shape, pod, placed, self._topology)
                return True
        return False

    def _add_to_inflight(self, shape: PodShape, pod: Object) -> bool:
        concerns = self._topology.concerns(shape)
        candidates = self._candidates.of(shape, concerns)
        if not candidates:
            return False
        fitting, fit_number = self._pod_fitter, shape.fit
        for nodeclaim in self._order.candidates(candidates):
            if not concerns:
                fit = fitting.permanent(nodeclaim, shape)
                if fit is None:
                    self._refuse(nodeclaim, shape)
                    continue
            else:
                if self._verified.get((fit_number, nodeclaim.id)) != nodeclaim.version:
                    if fitting.permanent(nodeclaim, shape) is None:
                        self._refuse(nodeclaim, shape)
                        continue
                    self._verified[fit_number, nodeclaim.id] = nodeclaim.version
                fit = fitting.fit(nodeclaim, shape)
                if fit is None:
                    continue
            self._join(nodeclaim, shape, pod, fit)
            self._order.grew(nodeclaim)
            if self._ledger is not None:
                self._ledger.joined(pod, nodeclaim)
            return True
        return False

    def _refuse(self, nodeclaim: InflightNodeClaim, shape: PodShape) -> None:
        # What may change: a reservation that another NodeClaim gives back, a key that another pod brings along.
        if self._reservations is None and not self._pod_fitter.lacks_key(nodeclaim, shape):
            self._candidates.refuse(nodeclaim, shape)

    def _join(self, nodeclaim: InflightNodeClaim, shape: PodShape, pod: Object, fit: Fit) -> None:
        before = nodeclaim.requirements
        self._pod_fitter.join(nodeclaim, shape, pod, fit)
        self._candidates.narrowed(nodeclaim, before, fit.requirements)

    def _add_to_new(self, shape: PodShape, pod: Object) -> Reason | None:
        reasons: list[Reason] = []
        concerns = self._topology.concerns(shape)
        for number, template in enumerate(self._templates):
            limits = self._limits.get(template.name) or {}
            mask = self._within_limits(template, limits)
            if isinstance(mask, int):
                self._attempts += 1
                refusal = self._refusals.get((number, shape.fit))
                if refusal is not None and refusal[0] == mask and not concerns and self._ledger is None:
                    reasons.append(self._named(template, refusal[1]))
                    continue
                name = f"hostname-placeholder-{self._attempts:04d}"
                host = self._algebra.only(HOSTNAME, name)
                if self._rules.hosts_registered_first:
                    self._topology.register_host(name)
                nodeclaim: InflightNodeClaim | None = (started := InflightNodeClaim(template, host, mask))
                draws = self._ties.count
                outcome: Fit | Reason = self._pod_fitter.start(started, shape, self._best_effort)
                if self._ties.count > draws and not isinstance(outcome, Fit) and self._could_fit(started, shape):
                    self._unlucky.add(pod_key(pod))
                if self._rules.hosts_registered_first and not isinstance(outcome, Fit):
                    self._topology.unregister_host(name)
                # Host ports that all NodeClaims of a NodePool share change with each of them, and are looked at first.
                changes = concerns or self._reservations or (shape.host_ports and self._rules.host_ports_shared)
                if not changes and not isinstance(outcome, Fit):
                    self._refusals[number, shape.fit] = (mask, outcome)
            else:
                nodeclaim, outcome = None, mask
            if self._ledger is not None:
                self._ledger.pool(pod, shape, template, nodeclaim, outcome, limits, self._algebra)
            if isinstance(outcome, Fit):
                assert nodeclaim is not None
                self._launch(nodeclaim, shape, pod, outcome)
                return None
            reasons.append(outcome if nodeclaim is None else self._named(template, outcome))
            if isinstance(outcome, ReservationsTaken):
                break  # no lighter NodePool instead
        return reasons[0] if len(reasons) == 1 else EveryNodePool(tuple(reasons))

    def _could_fit(self, tried: InflightNodeClaim, shape: PodShape) -> bool:
        """Return whether the NodeClaim would take the pod if ties were decided otherwise."""
        self._ties.wide = True
        again = InflightNodeClaim(tried.template, tried.host, tried.mask)
        outcome = self._pod_fitter.start(again, shape, self._best_effort)
        self._ties.wide = False
        return isinstance(outcome, Fit)

    def _named(self, template: Template, reason: Reason) -> Reason:
        if not self._rules.plain_errors:
            return reason
        return PoolIncompatible(template.name, template.common_overhead(), reason)

    def _within_limits(self, template: Template, limits: Mapping[str, Quantity]) -> int | Reason:
        mask = template.mask
        if self._rules.node_limits and NODES in limits and limits[NODES].is_zero():
            return NodeLimitReached(template.name)
        for name, quantity in limits.items():
            mask &= template.index.within(name, quantity.nano)
        return mask or LimitsReached(template.name, self._rules.plain_errors)

    def _launch(self, nodeclaim: InflightNodeClaim, shape: PodShape, pod: Object, fit: Fit) -> None:
        template = nodeclaim.template
        nodeclaim.id = len(self._order.by_id)
        nodeclaim.bit = 1 << nodeclaim.id
        self._candidates.begun(nodeclaim)
        self._join(nodeclaim, shape, pod, fit)
        self._order.append(nodeclaim)
        template.min_values_relaxed = nodeclaim.min_values_relaxed
        limits = self._limits.get(template.name)
        if limits:
            for name, quantity in limits.items():
                largest = template.index.largest_capacity(name, fit.mask)
                limits[name] = Quantity(quantity.nano - largest, quantity.format)

    def results(self, ignored: Mapping[str, str]) -> SchedulingResults:
        """The results of the simulation."""
        nodeclaims = []
        for inflight in self._order.items:
            planned = PlannedNodeClaim(inflight, self._algebra, self._options, self._rules, self._reservations)
            unmet = planned.truncate()
            if unmet is None:
                nodeclaims.append(planned)
            else:
                self._errors.update(dict.fromkeys(map(pod_key, planned.pods), unmet))
        existing = {(node := self._taking[position]).name: tuple(node.pods) for position in sorted(self._taking)}
        return SchedulingResults(
            tuple(nodeclaims),
            existing,
            self._errors,
            ignored,
            self._context.events,
            timed_out=self._time.out,
            seconds=self._time.took,  # an attempt that crosses the limit is finished
            unlucky=bool(self._unlucky & self._errors.keys()),
            momentary=self._ties.count > 0,
        )
