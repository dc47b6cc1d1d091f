"""The metrics that the operator's library tells of every kind's conditions and of its terminations.

operatorpkg ``status/{controller,metrics}.go``; core ``pkg/controllers/controllers.go`` and kaz ``pkg/controllers/controllers.go`` say which
labels of an object its series have. Of NodeClaims and NodePools the library tells everything twice: under the kind's name, and under names
of old, which are left out here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from harness.engine.clock import SECOND, parse
from harness.karpenter.labels.core import INITIALIZED, NODEPOOL
from harness.kube.api.objects import Object, conditions_of, is_terminating, labels_of, metadata_of, name_of
from harness.world.samples import Distributions, Sample

if TYPE_CHECKING:
    from harness.world.observations import Observations

__all__ = ["CONDITION_FAMILIES", "condition_samples"]

_CLASS = "karpenter.azure.com/aksnodeclass"
_KINDS: Mapping[str, tuple[str, ...]] = {
    "NodeClaim": (_CLASS, NODEPOOL),
    "NodePool": (),
    "Node": (_CLASS, NODEPOOL, INITIALIZED),
    "AKSNodeClass": (),
}
_BUCKETS = tuple(0.5 * 2**power for power in range(15))

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


CONDITION_FAMILIES: Mapping[str, str] = {
    _metric(kind, name): form for kind in _KINDS for name, form in _FAMILIES.items()
}
"""The metrics of conditions, and their type."""


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


def _present(world: Observations, kind: str, obj: Object) -> Iterator[Sample]:
    own = {"namespace": "", "name": name_of(obj)}
    now = world.clock.now
    for each in conditions_of(obj):
        labels = {
            **own,
            "type": str(each["type"]),
            "status": str(each["status"]),
            "reason": str(each.get("reason") or ""),
        }
        labels.update(_labels(kind, obj))
        yield Sample(_metric(kind, "status_condition_count"), labels, 1)
        since = (now - _moment(each)) / SECOND
        yield Sample(_metric(kind, "status_condition_current_status_seconds"), labels, since)
    if is_terminating(obj):
        since = (now - parse(metadata_of(obj)["deletionTimestamp"])) / SECOND
        yield Sample(_metric(kind, "termination_current_time_seconds"), {**own, **_labels(kind, obj)}, since)


def _past(world: Observations, kind: str) -> Iterator[Sample]:
    """Transitions and terminations so far, from what was written."""
    transitions: Counter[tuple[tuple[str, str], ...]] = Counter()
    lasted = Distributions(_metric(kind, "status_condition_transition_seconds"), _BUCKETS)
    ended = Distributions(_metric(kind, "termination_duration_seconds"), _BUCKETS)
    for entry in world.journal:
        if entry.key.kind != kind or entry.error is not None:
            continue
        before, after = entry.before, entry.after
        if after is None:
            if before is not None and is_terminating(before):
                took = (entry.at - parse(metadata_of(before)["deletionTimestamp"])) / SECOND
                ended.observe(took, **_labels(kind, before))
            continue
        known = {each["type"]: each for each in conditions_of(before)} if before is not None else {}
        for each in conditions_of(after):
            old = known.get(each["type"])
            if old is not None and old["status"] == each["status"]:
                continue
            labels = {"type": str(each["type"]), "status": str(each["status"]), "reason": str(each.get("reason") or "")}
            transitions[tuple({**labels, **_labels(kind, after)}.items())] += 1
            if old is not None:
                labels = {"type": str(old["type"]), "status": str(old["status"])}
                lasted.observe((_moment(each) - _moment(old)) / SECOND, **labels, **_labels(kind, after))
    for found, count in transitions.items():
        yield Sample(_metric(kind, "status_condition_transitions_total"), dict(found), count)
    yield from (*lasted.samples(), *ended.samples())


def _moment(condition: Mapping[str, object]) -> int:
    return parse(str(condition["lastTransitionTime"]))
