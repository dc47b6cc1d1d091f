"""The table of Karpenter's metrics: upstream's names and labels, counted from the records of a world.

Core ``pkg/metrics/metrics.go``, ``pkg/controllers/{disruption,state,provisioning/scheduling}/metrics.go``,
``pkg/controllers/metrics/nodepool``; when they count: ``pkg/controllers/nodeclaim/{lifecycle,expiration,garbagecollection}``,
``pkg/controllers/node/{health,termination}``, ``pkg/controllers/disruption/queue.go``. Karpenter's own durations are
left out: they depend on the machine that it runs on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, overload

from harness.karpenter.disruption.methods.balanced import nodepool_costs
from harness.karpenter.labels.core import CAPACITY_TYPE, MIN_VALUES_RELAXED
from harness.karpenter.lifecycle.names import nodepool_of
from harness.karpenter.releases.disruption import disruption_rules_of
from harness.kube.api.labels import ZONE
from harness.kube.api.objects import Object, annotations_of, labels_of, name_of, spec_of, status_of
from harness.kube.api.resources import parse_list
from harness.wording import did_you_mean
from harness.world.metrics.conditions import CONDITION_FAMILIES, OLD_NAMES, condition_samples
from harness.world.metrics.departures import DEPARTURE_FAMILIES, departure_samples
from harness.world.metrics.disruption import DISRUPTION_FAMILIES, disruption_samples
from harness.world.metrics.durations import DURATION_FAMILIES, duration_samples
from harness.world.metrics.objects import OBJECT_FAMILIES, PER_OBJECT, object_samples, resource_name, resource_number
from harness.world.metrics.samples import Distributions, Labels, Sample, base_of, number

if TYPE_CHECKING:
    from harness.karpenter.disruption.tally import Tally
    from harness.world.observations import Observations

__all__ = ["FAMILIES", "Metrics", "Sample", "metrics_of"]


_GAUGE, _COUNTER = "gauge", "counter"
_MOVES, _SCORES = "karpenter_consolidation_moves_total", "karpenter_consolidation_score"
_SCORE_BUCKETS = (0.1, 0.25, 0.33, 0.5, 1.0, 2.0, 5.0, 10.0)
FAMILIES: Mapping[str, str] = {
    "karpenter_nodeclaims_created_total": _COUNTER,
    "karpenter_nodeclaims_terminated_total": _COUNTER,
    **DISRUPTION_FAMILIES,
    "karpenter_nodes_created_total": _COUNTER,
    "karpenter_nodes_terminated_total": _COUNTER,
    "karpenter_voluntary_disruption_eligible_nodes": _GAUGE,
    "karpenter_voluntary_disruption_failed_validations_total": _COUNTER,
    "karpenter_scheduler_unschedulable_pods_count": _GAUGE,
    "karpenter_scheduler_ignored_pods_count": _GAUGE,
    "karpenter_cluster_state_node_count": _GAUGE,
    "karpenter_cluster_state_synced": _GAUGE,
    "karpenter_nodepools_allowed_disruptions": _GAUGE,
    "karpenter_nodepools_nodes_consuming_budgets": _GAUGE,
    "karpenter_nodepools_usage": _GAUGE,
    "karpenter_nodepools_limit": _GAUGE,
    "karpenter_nodepools_cost_total": _GAUGE,
    _MOVES: _COUNTER,
    _SCORES: "histogram",
    **DURATION_FAMILIES,
    **DEPARTURE_FAMILIES,
    **CONDITION_FAMILIES,
    **OBJECT_FAMILIES,
}
"""The metrics, and their type."""


class Metrics(Sequence[Sample]):
    """All samples, by name and labels. Printed, it is a table, without the series of each Node and pod and without deprecated ones."""

    def __init__(self, samples: Sequence[Sample]) -> None:
        self._samples = tuple(sorted(samples, key=_place))

    @overload
    def __getitem__(self, index: int) -> Sample: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Sample]: ...
    def __getitem__(self, index: int | slice) -> Sample | Sequence[Sample]:
        return self._samples[index]

    def __len__(self) -> int:
        return len(self._samples)

    def value(self, name: str, /, **labels: str) -> float:
        """The sum of the series of this name that have these labels; 0 without any. Raises LookupError for a name that no metric has.

        A histogram or a summary has ``NAME_count`` and ``NAME_sum``, a histogram ``NAME_bucket`` with the label ``le`` too.
        """
        if _family(name) is None:
            near = did_you_mean(name, _series())
            raise LookupError(
                f"there is no metric {name}; {f'{near}; ' if near else ''}docs/reference/metrics.md has all"
            )
        wanted = labels.items()
        return sum(sample.value for sample in self._samples if sample.name == name and wanted <= sample.labels.items())

    def text(self) -> str:
        """Return the samples as Prometheus scrapes them."""
        lines = []
        written = ""
        for sample in self._samples:
            family = _family(sample.name) or ""
            if family != written:
                written = family
                lines.append(f"# TYPE {written} {FAMILIES[written]}")
            lines.append(f"{sample} {number(sample.value)}")
        return "".join(f"{line}\n" for line in lines)

    def __str__(self) -> str:
        left_out = {*PER_OBJECT, *OLD_NAMES}
        shown = [
            sample for sample in self._samples if not sample.name.endswith("_bucket") and sample.name not in left_out
        ]
        width = max((len(str(sample)) for sample in shown), default=0)
        return "\n".join(f"{sample!s:{width}}  {number(sample.value)}" for sample in shown)


_ORDER = {name: place for place, name in enumerate(FAMILIES)}


def _series() -> list[str]:
    """Return the names that a value can be read by."""
    plain = [name for name, form in FAMILIES.items() if form in (_GAUGE, _COUNTER)]
    return [*plain, *(f"{name}_{part}" for name in FAMILIES if name not in plain for part in ("count", "sum"))]


def _family(name: str) -> str | None:
    """The metric that a series belongs to, None when there is none."""
    if name in FAMILIES:
        return name if FAMILIES[name] in (_GAUGE, _COUNTER) else None
    base = base_of(name)
    form = FAMILIES.get(base)
    return base if form == "histogram" or (form == "summary" and not name.endswith("_bucket")) else None


def _place(sample: Sample) -> tuple[int, str, float]:
    bound = sample.labels.get("le", "")
    others = str(Sample("", {key: value for key, value in sample.labels.items() if key != "le"}, 0))
    return _ORDER[_family(sample.name) or ""], others + sample.name, float(bound or 0)


def metrics_of(world: Observations) -> Metrics:
    """The metrics of a world. Raises LookupError in a world without a simulated Karpenter."""
    counted: Counter[tuple[str, Labels]] = Counter()
    claims = _claims(world)
    for name, labels in (*_nodeclaims(world, claims), *_nodes(world, claims)):
        counted[name, labels] += 1
    samples = [Sample(name, dict(labels), value) for (name, labels), value in counted.items()]
    return Metrics(
        [
            *samples,
            *disruption_samples(world, claims),
            *_tally(world),
            *_gauges(world),
            *duration_samples(world),
            *departure_samples(world),
            *condition_samples(world),
            *object_samples(world),
        ]
    )


def _tally(world: Observations) -> Iterator[Sample]:
    """Yield the counts of the disruption controller at its last look."""
    tally = world.karpenter.disruption_tally
    for reason, count in tally.eligible.items():
        yield Sample("karpenter_voluntary_disruption_eligible_nodes", {"reason": reason}, count)
    failed = tally.failed_validations if world.release.core.counts_drains else {}
    for kind, count in failed.items():
        labels = {"consolidation_type": kind}
        yield Sample("karpenter_voluntary_disruption_failed_validations_total", labels, count)
    if _balances(world):
        yield from _moves(tally)
    gauges = {"allowed_disruptions": tally.allowed}
    if world.release.core.nodepool_decision_metrics:
        gauges["nodes_consuming_budgets"] = tally.consuming
    for name, counts in gauges.items():
        for (pool, reason), count in counts.items():
            yield Sample(f"karpenter_nodepools_{name}", {"nodepool": pool, "reason": reason}, count)


def _balances(world: Observations) -> bool:
    return disruption_rules_of(world.release.core).balanced


def _moves(tally: Tally) -> Iterator[Sample]:
    """Yield the moves that consolidation's policies took and left."""
    names = ("decision", "nodepool", "policy")
    yield from (Sample(_MOVES, dict(zip(names, key, strict=True)), count) for key, count in tally.moves.items())
    scores = Distributions(_SCORES, _SCORE_BUCKETS)
    for key, values in tally.scores.items():
        for value in values:
            scores.observe(value, **dict(zip(names, key, strict=True)))
    yield from scores.samples()


def _claims(world: Observations) -> dict[str, Object]:
    """Return every NodeClaim that ever existed, in its last state."""
    claims: dict[str, Object] = {}
    for entry in world.journal:
        if entry.key.kind == "NodeClaim" and (latest := entry.after or entry.before) is not None:
            claims[entry.key.name] = latest
    return claims


def _nodeclaims(world: Observations, claims: Mapping[str, Object]) -> Iterator[tuple[str, Labels]]:
    reasons = {name: disruption.reason.lower() for disruption in world.disruptions for name in disruption.replacements}
    for entry in world.journal:
        claim = entry.after
        if entry.key.kind == "NodeClaim" and entry.verb == "create" and claim is not None and entry.error is None:
            relaxed = annotations_of(claim).get(MIN_VALUES_RELAXED, "false")
            reason = reasons.get(name_of(claim), "provisioned")
            labels = ("min_values_relaxed", relaxed), ("nodepool", nodepool_of(claim)), ("reason", reason)
            yield "karpenter_nodeclaims_created_total", labels
    for line in world.log:
        claim = claims.get(str(line.values.get("NodeClaim")))
        if claim is not None and line.message == "deleted nodeclaim":
            yield "karpenter_nodeclaims_terminated_total", _placed(world, claim, capacity_type=True)


def _nodes(world: Observations, claims: Mapping[str, Object]) -> Iterator[tuple[str, Labels]]:
    by_node = {str(status_of(claim).get("nodeName")): claim for claim in claims.values()}
    for line in world.log:
        if line.message == "registered nodeclaim" and (claim := claims.get(str(line.values.get("NodeClaim")))):
            yield "karpenter_nodes_created_total", _placed(world, claim)
        elif line.message == "deleted node" and (claim := by_node.get(str(line.values.get("Node")))):
            yield "karpenter_nodes_terminated_total", _placed(world, claim)


def _gauges(world: Observations) -> Iterator[Sample]:
    view = world.karpenter.disruption_view()
    failed, ignored = world.karpenter.waiting
    yield Sample("karpenter_scheduler_unschedulable_pods_count", {"controller": "provisioner"}, failed)
    yield Sample("karpenter_scheduler_ignored_pods_count", {}, ignored)
    yield Sample("karpenter_cluster_state_node_count", {}, len(view.nodes))
    yield Sample("karpenter_cluster_state_synced", {}, float(view.synced))
    costs = nodepool_costs(view) if world.release.core.nodepool_cost_metric else {}
    for pool in view.nodepools.values():
        name = name_of(pool)
        for metric, amounts in (("usage", status_of(pool).get("resources")), ("limit", spec_of(pool).get("limits"))):
            for resource, amount in sorted(parse_list(amounts).items()):
                labels = {"nodepool": name, "resource_type": resource_name(resource)}
                yield Sample(f"karpenter_nodepools_{metric}", labels, resource_number(resource, amount))
        if world.release.core.nodepool_cost_metric:
            yield Sample("karpenter_nodepools_cost_total", {"nodepool": name}, costs.get(name, 0.0))


def _placed(world: Observations, claim: Object, *, capacity_type: bool = False) -> Labels:
    """NodePool, zone where the release tells it, and capacity type."""
    labels = labels_of(claim)
    series = {"nodepool": nodepool_of(claim)}
    if capacity_type:
        series["capacity_type"] = labels.get(CAPACITY_TYPE, "")
    if world.release.core.zone_in_metrics:
        series["zone"] = labels.get(ZONE, "")
    return tuple(sorted(series.items()))
