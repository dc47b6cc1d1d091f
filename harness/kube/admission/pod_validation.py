"""Validation of the spec of a new pod, or of a workload's template, as far as it decides where pods run.

Source: kubernetes 1.36 pkg/apis/core/validation/validation.go (ValidatePodSpec and what it calls), in its order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harness.kube.admission.container_resources import resources_errors
from harness.kube.admission.places import Place
from harness.kube.admission.tolerations import toleration_errors
from harness.kube.api.field_errors import ErrorType, FieldError, Pointer
from harness.kube.api.names import label_value_errors, qualified_name_errors
from harness.kube.deletion_order import DELETION_COST, deletion_cost

__all__ = ["pod_annotation_errors", "pod_spec_errors", "selector_errors"]

Part = Mapping[str, Any]
_ACTIONS = ("DoNotSchedule", "ScheduleAnyway")
_POLICIES = ("Honor", "Ignore")
_PROTOCOLS = ("SCTP", "TCP", "UDP")
_REQUIRED, _PREFERRED = (
    "requiredDuringSchedulingIgnoredDuringExecution",
    "preferredDuringSchedulingIgnoredDuringExecution",
)
_HOLDS_VALUES = "must be specified when `operator` is 'In' or 'NotIn'"
_HOLDS_NONE = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
_NO_SELECTOR = "must not be specified when labelSelector is not set"
_IN_BOTH = "exists in both matchLabelKeys and {}"
_HOLDS_ONE = "must be specified single value when `operator` is 'Lt' or 'Gt'"


def pod_spec_errors(spec: Part, at: Pointer = ("spec",), *, merged: bool = True) -> list[FieldError]:
    """Return the errors of a pod's spec, defaults filled in, that stands at ``at``.

    ``merged``: whether the API server is one that writes matchLabelKeys of spread constraints into their selectors.
    """
    return list(_pod_spec(spec, Place(".".join(map(str, at)), at), merged))


def pod_annotation_errors(
    annotations: Mapping[str, str], before: Mapping[str, str], at: Pointer, text: str
) -> list[FieldError]:
    """The errors of a pod's annotations, or of a template's; `before` are those that they replace. `text` is how the API server names them.

    An update may keep a wrong annotation (kubernetes pkg/api/pod/util.go, AllowInvalidPodDeletionCost).
    """
    if deletion_cost(annotations) is not None or deletion_cost(before) is None:
        return []
    place = Place(text, at).key(DELETION_COST)
    return [place.invalid(annotations[DELETION_COST], "must be a 32bit integer")]


def _pod_spec(spec: Part, at: Place, merged: bool) -> Iterator[FieldError]:
    for field in ("containers", "initContainers"):
        for number, container in enumerate(spec.get(field) or ()):
            yield from _container(container, at.child(field).index(number))
    selector = spec.get("nodeSelector")
    if selector:
        place = at.child("nodeSelector")
        for key, value in selector.items():
            yield from (
                Place(place.text, (*place.pointer, key)).invalid(key, why) for why in qualified_name_errors(key)
            )
            yield from (
                Place(place.text, (*place.pointer, key)).invalid(value, why) for why in label_value_errors(value)
            )
    affinity = spec.get("affinity")
    if affinity:
        yield from _affinity(affinity, at.child("affinity"))
    constraints = spec.get("topologySpreadConstraints")
    if constraints:
        yield from _spread(constraints, at.child("topologySpreadConstraints"), merged)
    for number, toleration in enumerate(spec.get("tolerations") or ()):
        yield from toleration_errors(toleration, at.child("tolerations").index(number))


# containers


def _container(container: Part, at: Place) -> Iterator[FieldError]:
    for number, port in enumerate(container.get("ports") or ()):
        place = at.child("ports").index(number)
        for field in ("containerPort", "hostPort"):
            value = port.get(field) or 0
            if not value and field == "containerPort":
                yield place.child(field).required("")
            elif value and not 1 <= value <= 65535:
                yield place.child(field).invalid(value, "must be between 1 and 65535, inclusive")
        protocol = port.get("protocol") or "TCP"
        if protocol not in _PROTOCOLS:
            yield place.child("protocol").unsupported(protocol, _PROTOCOLS)
    resources = container.get("resources")
    if resources:
        yield from resources_errors(resources, at.child("resources"))


# affinity


def _affinity(affinity: Part, at: Place) -> Iterator[FieldError]:
    node = affinity.get("nodeAffinity")
    if node:
        place = at.child("nodeAffinity")
        required = node.get(_REQUIRED)
        if required is not None:
            terms = place.child(_REQUIRED).child("nodeSelectorTerms")
            if not required.get("nodeSelectorTerms"):
                yield terms.required("must have at least one node selector term")
            for number, term in enumerate(required.get("nodeSelectorTerms") or ()):
                yield from _node_term(term, terms.index(number), values=True)
        for number, weighted in enumerate(node.get(_PREFERRED) or ()):
            here = place.child(_PREFERRED).index(number)
            yield from _weight(weighted, here)
            yield from _node_term(weighted.get("preference") or {}, here.child("preference"), values=False)
    for kind in ("podAffinity", "podAntiAffinity"):
        terms_of: Part = affinity.get(kind) or {}
        place = at.child(kind)
        for number, term in enumerate(terms_of.get(_REQUIRED) or ()):
            yield from _pod_term(term, place.child(_REQUIRED).index(number))
        for number, weighted in enumerate(terms_of.get(_PREFERRED) or ()):
            here = place.child(_PREFERRED).index(number)
            yield from _weight(weighted, here)
            yield from _pod_term(weighted.get("podAffinityTerm") or {}, here.child("podAffinityTerm"))


def _weight(weighted: Part, at: Place) -> Iterator[FieldError]:
    weight = weighted.get("weight") or 0
    if not 1 <= weight <= 100:
        yield at.child("weight").invalid(weight, "must be in the range 1-100")


def _node_term(term: Part, at: Place, *, values: bool) -> Iterator[FieldError]:
    """``values``: whether the values have to be label values."""
    for number, expression in enumerate(term.get("matchExpressions") or ()):
        place = at.child("matchExpressions").index(number)
        yield from _expression(expression, place, numeric=True)
        yield from _name(expression.get("key") or "", place.child("key"))
        if values:
            yield from _values(expression.get("values") or (), place.child("values"))


def _expression(expression: Part, at: Place, *, numeric: bool) -> Iterator[FieldError]:
    operator, values = expression.get("operator"), expression.get("values") or ()
    if operator in ("In", "NotIn"):
        if not values:
            yield at.child("values").required(_HOLDS_VALUES)
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            yield at.child("values").forbidden(_HOLDS_NONE)
    elif numeric and operator in ("Gt", "Lt"):
        if len(values) != 1:
            yield at.child("values").required(_HOLDS_ONE)
    else:
        yield at.child("operator").invalid(operator, "not a valid selector operator")


def _pod_term(term: Part, at: Place) -> Iterator[FieldError]:
    for field in ("labelSelector", "namespaceSelector"):
        yield from selector_errors(term.get(field) or {}, at.child(field))
    yield from _label_keys(term, at)
    key = term.get("topologyKey") or ""
    if not key:
        yield at.child("topologyKey").required("can not be empty")
    yield from _name(key, at.child("topologyKey"))


def selector_errors(selector: Part, at: Place) -> Iterator[FieldError]:
    """Yield the errors of a label selector (apimachinery pkg/apis/meta/v1/validation ValidateLabelSelector)."""
    for key, value in (selector.get("matchLabels") or {}).items():
        yield from _name(key, at.child("matchLabels"))
        yield from (at.child("matchLabels").invalid(value, why) for why in label_value_errors(value))
    for number, expression in enumerate(selector.get("matchExpressions") or ()):
        place = at.child("matchExpressions").index(number)
        yield from _expression(expression, place, numeric=False)
        yield from _name(expression.get("key") or "", place.child("key"))
        yield from _values(expression.get("values") or (), place.child("values"))


def _name(key: str, at: Place) -> Iterator[FieldError]:
    return (at.invalid(key, why) for why in qualified_name_errors(key))


def _values(values: Sequence[str], at: Place) -> Iterator[FieldError]:
    for number, value in enumerate(values):
        yield from (at.index(number).invalid(value, why) for why in label_value_errors(value))


# spread


def _spread(constraints: Sequence[Part], at: Place, merged: bool) -> Iterator[FieldError]:
    kinds = [(constraint.get("topologyKey"), constraint.get("whenUnsatisfiable")) for constraint in constraints]
    last = {kind: number for number, kind in enumerate(kinds)}
    for number, constraint in enumerate(constraints):
        here, action = at.index(number), constraint.get("whenUnsatisfiable")
        skew = constraint.get("maxSkew") or 0
        if skew <= 0:
            yield here.child("maxSkew").invalid(skew, "must be greater than zero")
        if not constraint.get("topologyKey"):
            yield here.child("topologyKey").required("can not be empty")
        if action not in _ACTIONS:
            yield here.child("whenUnsatisfiable").unsupported(action, _ACTIONS)
        if last[kinds[number]] != number:
            shown = f"{{{constraint.get('topologyKey')}, {action}}}"
            both = Place(f"{here.text}.{{topologyKey, whenUnsatisfiable}}", here.pointer)
            yield FieldError(ErrorType.DUPLICATE, both.text, "", shown, both.pointer)
        domains = constraint.get("minDomains")
        if domains is not None:
            if domains <= 0:
                yield here.child("minDomains").invalid(domains, "must be greater than zero")
            if action != _ACTIONS[0]:
                detail = f"can only use minDomains if whenUnsatisfiable={_ACTIONS[0]}, not {action}"
                yield here.child("minDomains").invalid(domains, detail)
        for field in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
            if constraint.get(field) is not None and constraint[field] not in _POLICIES:
                yield here.child(field).unsupported(constraint[field], _POLICIES)
        yield from (_label_keys if merged else _label_keys_apart)(constraint, here)
        yield from selector_errors(constraint.get("labelSelector") or {}, here.child("labelSelector"))


def _label_keys(part: Part, at: Place) -> Iterator[FieldError]:
    """Yield the errors of label keys in a selector that holds them already: keys that stand twice were also in it before."""
    selector, keys = part.get("labelSelector"), part.get("matchLabelKeys") or ()
    for field in ("matchLabelKeys", "mismatchLabelKeys"):
        if part.get(field) and selector is None:
            yield at.child(field).forbidden(_NO_SELECTOR)
        elif part.get(field):
            place = at.child(field)
            yield from (wrong for number, key in enumerate(part[field]) for wrong in _name(key, place.index(number)))
    if selector is not None:
        places = {key: number for number, key in enumerate(keys)}
        seen = set(selector.get("matchLabels") or ())
        for expression in selector.get("matchExpressions") or ():
            key = expression.get("key")
            if key in places and key in seen:
                yield at.index(places[key]).invalid(key, _IN_BOTH.format("labelSelector"))
            seen.add(key)
    others = part.get("mismatchLabelKeys") or ()
    for number, key in enumerate(keys):
        if key in others:
            yield at.child("matchLabelKeys").index(number).invalid(key, _IN_BOTH.format("mismatchLabelKeys"))


def _label_keys_apart(constraint: Part, at: Place) -> Iterator[FieldError]:
    """Yield the errors of label keys beside a selector that stays without them."""
    keys, selector = constraint.get("matchLabelKeys") or (), constraint.get("labelSelector")
    here = at.child("matchLabelKeys")
    if keys and selector is None:
        yield here.forbidden(_NO_SELECTOR)
    stated: Part = selector or {}
    used = {
        *(stated.get("matchLabels") or ()),
        *(expression.get("key") for expression in stated.get("matchExpressions") or ()),
    }
    for number, key in enumerate(keys):
        yield from _name(key, here.index(number))
        if key in used:
            yield here.index(number).invalid(key, _IN_BOTH.format("labelSelector"))
