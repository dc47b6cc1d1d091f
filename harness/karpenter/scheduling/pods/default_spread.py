"""The topology spread of pods that ask for none: what ``--scheduler-config`` says, counted among the pods of the same workload.

Core ``pkg/controllers/provisioning/scheduling/defaultconstraints.go``, ``pkg/operator/options/options.go`` (SchedulerConfiguration).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harness.karpenter.scheduling.snapshot import ClusterSnapshot
from harness.kube.api.names import qualified_name_errors
from harness.kube.api.objects import Object, controller_of, labels_of, name_of, namespace_of, spec_of

__all__ = ["DefaultSpread", "default_constraints", "scheduler_config_problem"]

_MERGED = "ReplicationController"
"""A kind whose selector overwrites the labels of Services."""
_SELECTING = {("apps/v1", "ReplicaSet"), ("apps/v1", "StatefulSet"), ("v1", _MERGED)}
_WHENS = ("DoNotSchedule", "ScheduleAnyway")
_FIELDS = {
    "": {"podTopologySpread"},
    "podTopologySpread": {"defaultConstraints"},
}


def default_constraints(config: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    """The constraints of a ``--scheduler-config``, none where it says nothing of them."""
    return tuple((config.get("podTopologySpread") or {}).get("defaultConstraints") or ())


def scheduler_config_problem(config: Mapping[str, Any]) -> str | None:
    """Return the reason if the controller does not start with this ``--scheduler-config``, in its words."""
    spread = config.get("podTopologySpread") or {}
    for place, fields in ((config, _FIELDS[""]), (spread, _FIELDS["podTopologySpread"])):
        if unknown := sorted(place.keys() - fields):
            return f'decoding scheduler config, error unmarshaling JSON: while decoding JSON: json: unknown field "{unknown[0]}"'
    path = "validating scheduler config, podTopologySpread.defaultConstraints"
    constraints = default_constraints(config)
    for index, constraint in enumerate(constraints):
        problem = _problem(constraint)
        if problem is not None:
            return f"{path}[{index}]{problem}"
        for before, other in enumerate(constraints[:index]):
            if (other.get("topologyKey"), other.get("whenUnsatisfiable")) == (
                constraint["topologyKey"],
                constraint["whenUnsatisfiable"],
            ):
                return f"{path}[{index}] is a duplicate of [{before}], {{{constraint['topologyKey']}, {constraint['whenUnsatisfiable']}}}"
    return None


def _problem(constraint: Mapping[str, Any]) -> str | None:
    key, when = constraint.get("topologyKey") or "", constraint.get("whenUnsatisfiable") or ""
    if (constraint.get("maxSkew") or 0) <= 0:
        return ".maxSkew must be greater than 0"
    if not key:
        return ".topologyKey must be set"
    if problems := qualified_name_errors(key):
        return f'.topologyKey "{key}" is not a valid label name, {", ".join(problems)}'
    if when not in _WHENS:
        return f'.whenUnsatisfiable "{when}" must be one of "{_WHENS[0]}" or "{_WHENS[1]}"'
    if constraint.get("labelSelector") is not None:
        return ".labelSelector must not be set, as selectors are deduced for each pod"
    if constraint.get("matchLabelKeys"):
        return ".matchLabelKeys must not be set, as it has no effect on default constraints"
    return None


class DefaultSpread:
    """Gives pods without topology spread constraints the default ones, with the selectors of their Services and their controller."""

    def __init__(self, constraints: Sequence[Mapping[str, Any]], snapshot: ClusterSnapshot) -> None:
        self._constraints = constraints
        self._services: dict[str, list[Mapping[str, str]]] = {}
        for service in sorted(snapshot.services, key=name_of):
            selector = spec_of(service).get("selector")
            if selector is not None:
                self._services.setdefault(namespace_of(service), []).append(selector)
        self._owners = {
            (workload.get("apiVersion"), workload.get("kind"), namespace_of(workload), name_of(workload)): workload
            for workload in snapshot.workloads
        }

    def applied(self, pod: Object) -> Object:
        """The pod as the simulation sees it; the same one where nothing is deduced for it."""
        spec = spec_of(pod)
        if spec.get("topologySpreadConstraints"):
            return pod
        selector = self._selector(pod)
        if selector is None:
            return pod
        constraints = [{**constraint, "labelSelector": selector} for constraint in self._constraints]
        return {**pod, "spec": {**spec, "topologySpreadConstraints": constraints}}

    def _selector(self, pod: Object) -> Mapping[str, Any] | None:
        labels = labels_of(pod)
        equal: dict[str, str] = {}
        for selector in self._services.get(namespace_of(pod), ()):
            if all(labels.get(key) == value for key, value in selector.items()):
                equal |= selector
        owner = self._owner(pod)
        if owner is not None and owner["kind"] == _MERGED:
            equal |= spec_of(owner).get("selector") or {}
            owner = None
        expressions = list(_expressions(owner)) if owner is not None else []
        if not equal and not expressions:
            return None
        return {
            **({"matchLabels": equal} if equal else {}),
            **({"matchExpressions": expressions} if expressions else {}),
        }

    def _owner(self, pod: Object) -> Object | None:
        """Return the pod's controller, None unless it is of a kind whose selectors count."""
        reference = controller_of(pod)
        if reference is None or (reference.get("apiVersion"), reference.get("kind")) not in _SELECTING:
            return None
        name = str(reference.get("name"))
        return self._owners.get((reference["apiVersion"], reference["kind"], namespace_of(pod), name))


def _expressions(owner: Object) -> Iterator[Mapping[str, Any]]:
    """Yield the selector of a ReplicaSet or StatefulSet as expressions, which have to hold beside the Services' labels."""
    selector = spec_of(owner).get("selector") or {}
    for key, value in (selector.get("matchLabels") or {}).items():
        yield {"key": key, "operator": "In", "values": [value]}
    yield from selector.get("matchExpressions") or ()
