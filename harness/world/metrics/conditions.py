"""The metrics of the operator's library about every kind's conditions and its terminations.

operatorpkg ``status/{controller,metrics}.go``; core ``pkg/controllers/controllers.go`` and kaz ``pkg/controllers/controllers.go`` name the
labels of an object that its series have. Of NodeClaims and NodePools the library has each metric twice: under the kind's name, and under
a deprecated one, with the kind as a label and without those of the object.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, TypeGuard

from harness.engine.clock import SECOND, ZERO_TIME, parse
from harness.karpenter.labels.core import INITIALIZED, NODEPOOL
from harness.karpenter.lifecycle.conditions import NODECLAIM, READY, UNKNOWN
from harness.karpenter.lifecycle.conditions import NODEPOOL as NODEPOOL_CONDITIONS
from harness.kube.api.objects import (
    Object,
    conditions_of,
    finalizers_of,
    is_terminating,
    labels_of,
    metadata_of,
    name_of,
)
from harness.world.metrics.samples import Distributions, Labels, Sample, seconds_since

if TYPE_CHECKING:
    from harness.world.observations import Observations

__all__ = ["CONDITION_FAMILIES", "OLD_NAMES", "condition_samples"]

_CLASS = "karpenter.azure.com/aksnodeclass"
_KINDS: Mapping[str, tuple[str, ...]] = {
    "NodeClaim": (_CLASS, NODEPOOL),
    "NodePool": (),
    "Node": (_CLASS, NODEPOOL, INITIALIZED),
    "AKSNodeClass": (),
}
_TWICE: Mapping[str, str] = dict.fromkeys(("NodeClaim", "NodePool"), "karpenter.sh")
"""Kind → group of the kinds with deprecated names, too."""
_LONGEST = (1 << 63) - 1
_BUCKETS = tuple(0.5 * 2**power for power in range(15))
_OLD_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)

_GAUGE, _COUNTER, _HISTOGRAM = "gauge", "counter", "histogram"
_FAMILIES = {
    "status_condition_count": _GAUGE,
    "status_condition_current_status_seconds": _GAUGE,
    "status_condition_transitions_total": _COUNTER,
    "status_condition_transition_seconds": _HISTOGRAM,
    "termination_current_time_seconds": _GAUGE,
    "termination_duration_seconds": _HISTOGRAM,
}


def _metric(kind: str, name: str) -> str:
    return f"operator_{kind.lower()}_{name}"


_OLD = {f"operator_{name}": form for name, form in _FAMILIES.items()}
CONDITION_FAMILIES: Mapping[str, str] = {
    **{_metric(kind, name): form for kind in _KINDS for name, form in _FAMILIES.items()},
    **_OLD,
}
"""The metrics of conditions, and their type."""
OLD_NAMES = frozenset(each for name in _OLD for each in (name, f"{name}_sum", f"{name}_count"))
"""Deprecated series, which repeat others."""


def condition_samples(world: Observations) -> Iterator[Sample]:
    """All series of conditions and terminations."""
    for kind in _KINDS:
        for obj in world.list(kind):
            yield from _present(world, kind, obj)
        yield from _past(world, kind)


def _labels(kind: str, obj: Object) -> dict[str, str]:
    """The labels of an object that its series have, as Prometheus can have them."""
    return {
        key.replace("/", "_").replace(".", "_").replace("-", "_"): str(labels_of(obj).get(key) or "")
        for key in _KINDS[kind]
    }


def _both(kind: str, name: str, labels: Mapping[str, str], more: Mapping[str, str], value: float) -> Iterator[Sample]:
    """A series under the kind's metric with labels of the object, and under the deprecated metric."""
    yield Sample(_metric(kind, name), {**labels, **more}, value)
    if kind in _TWICE:
        yield Sample(f"operator_{name}", {**labels, **_old_labels(kind)}, value)


def _old_labels(kind: str) -> dict[str, str]:
    return {"group": _TWICE[kind], "kind": kind}


def _present(world: Observations, kind: str, obj: Object) -> Iterator[Sample]:
    own = {"namespace": "", "name": name_of(obj)}
    now = world.clock.now
    for present in conditions_of(obj):
        labels = {
            **own,
            "type": str(present["type"]),
            "status": str(present["status"]),
            "reason": str(present.get("reason") or ""),
        }
        more = _labels(kind, obj)
        yield from _both(kind, "status_condition_count", labels, more, 1)
        since = _seconds(now - _moment(present))
        yield from _both(kind, "status_condition_current_status_seconds", labels, more, since)
    if is_terminating(obj):
        since = seconds_since(metadata_of(obj)["deletionTimestamp"], now)
        yield from _both(kind, "termination_current_time_seconds", own, _labels(kind, obj), since)


def _past(world: Observations, kind: str) -> Iterator[Sample]:
    """Yield transitions and terminations so far, by the writes.

    A condition that was never set counts as Unknown: to become so is no transition. Those that Ready depends on, and Ready itself, are
    Unknown since the object was made, and that lasted until they are set (status/condition_set.go For, condition.go GetStatus).
    """
    awaited = _awaited(world, kind)
    transitions: Counter[tuple[Labels, Labels]] = Counter()
    lasted = _Twice(kind, "status_condition_transition_seconds")
    ended = _Twice(kind, "termination_duration_seconds")
    for entry in world.journal:
        if entry.key.kind != kind or entry.error is not None:
            continue
        before, after = entry.before, entry.after
        if _ends(before, after):
            took = seconds_since(metadata_of(before)["deletionTimestamp"], entry.at)
            ended.observe(took, {}, _labels(kind, before))
        if after is None:
            continue
        former = (
            {old_condition["type"]: old_condition for old_condition in conditions_of(before)}
            if before is not None
            else {}
        )
        for present in conditions_of(after):
            old = former.get(present["type"])
            if old is None and before is not None and present["type"] in awaited:
                created = metadata_of(after)["creationTimestamp"]
                old = {"type": present["type"], "status": UNKNOWN, "lastTransitionTime": created}
            if present["status"] == (old["status"] if old is not None else UNKNOWN):
                continue
            labels = {
                "type": str(present["type"]),
                "status": str(present["status"]),
                "reason": str(present.get("reason") or ""),
            }
            transitions[tuple(labels.items()), tuple(_labels(kind, after).items())] += 1
            if old is not None:
                labels = {"type": str(old["type"]), "status": str(old["status"])}
                lasted.observe(_seconds(_moment(present) - _moment(old)), labels, _labels(kind, after))
    yield from _transitions(kind, transitions)
    yield from (*lasted.samples(), *ended.samples())


def _awaited(world: Observations, kind: str) -> Collection[str]:
    """The types of conditions that the objects of a kind have from the start."""
    nodeclass = world.release.nodeclass_conditions
    dependents = {"NodeClaim": NODECLAIM, "NodePool": NODEPOOL_CONDITIONS, "AKSNodeClass": nodeclass}.get(kind)
    return () if dependents is None else {READY, *dependents}


def _ends(before: Object | None, after: Object | None) -> TypeGuard[Object]:
    """Return whether an object that was to go is gone; a real API server answers the last write with its last state."""
    if before is None or not is_terminating(before):
        return False
    return after is None or (bool(finalizers_of(before)) and not finalizers_of(after))


def _transitions(kind: str, counted: Counter[tuple[Labels, Labels]]) -> Iterator[Sample]:
    name, old = "status_condition_transitions_total", Counter[Labels]()
    for (labels, more), count in counted.items():
        yield Sample(_metric(kind, name), dict((*labels, *more)), count)
        old[labels] += count
    if kind in _TWICE:
        yield from (
            Sample(f"operator_{name}", {**dict(labels), **_old_labels(kind)}, count) for labels, count in old.items()
        )


class _Twice:
    """A distribution under the kind's metric, and under the deprecated one with the client library's default buckets."""

    def __init__(self, kind: str, name: str) -> None:
        self._kind = kind
        self._own = Distributions(_metric(kind, name), _BUCKETS)
        self._old = Distributions(f"operator_{name}", _OLD_BUCKETS)

    def observe(self, value: float, labels: Mapping[str, str], more: Mapping[str, str]) -> None:
        """Observe a value; `more` are labels of the object."""
        self._own.observe(value, **labels, **more)
        if self._kind in _TWICE:
            self._old.observe(value, **labels, **_old_labels(self._kind))

    def samples(self) -> Iterator[Sample]:
        """The series of both."""
        yield from self._own.samples()
        yield from self._old.samples()


def _moment(condition: Mapping[str, object]) -> int:
    return parse(str(condition.get("lastTransitionTime") or ZERO_TIME))


def _seconds(nanoseconds: int) -> float:
    """Seconds of a time between two moments, which Go's ``Time.Sub`` keeps to 292 years."""
    return max(-_LONGEST - 1, min(nanoseconds, _LONGEST)) / SECOND
