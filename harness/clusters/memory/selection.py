"""Label and field selectors of a list request, in the forms that the API takes them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from harness.kube.api.objects import Object, labels_of
from harness.kube.api.status import bad_request

Predicate = Callable[[Object], bool]

_FIELDS: Mapping[str, Callable[[Object], str]] = {
    "metadata.name": lambda obj: obj["metadata"]["name"],
    "metadata.namespace": lambda obj: obj["metadata"].get("namespace") or "",
    "spec.nodeName": lambda obj: (obj.get("spec") or {}).get("nodeName") or "",
    "spec.schedulerName": lambda obj: (obj.get("spec") or {}).get("schedulerName") or "",
    "spec.restartPolicy": lambda obj: (obj.get("spec") or {}).get("restartPolicy") or "",
    "spec.unschedulable": lambda obj: str(bool((obj.get("spec") or {}).get("unschedulable"))).lower(),
    "status.phase": lambda obj: (obj.get("status") or {}).get("phase") or "",
}
_SET = re.compile(r"^\s*(?P<key>[^\s!=(),]+)\s+(?P<op>in|notin)\s*\((?P<values>[^()]*)\)\s*$")
_EQUAL = re.compile(r"^\s*(?P<key>[^\s!=(),]+)\s*(?P<op>==|=|!=)\s*(?P<value>[^\s!=(),]*)\s*$")
_EXISTS = re.compile(r"^\s*(?P<not>!?)\s*(?P<key>[^\s!=(),]+)\s*$")
_COMMA = re.compile(r",(?![^()]*\))")


def by_labels(selector: Mapping[str, str] | str | None) -> Predicate | None:
    """The predicate of a label selector: a mapping of equalities, or the API's text (`a=b,c in (d,e),!f`)."""
    if not selector:
        return None
    if isinstance(selector, Mapping):
        wanted = dict(selector)

        def matches(obj: Object) -> bool:
            labels = labels_of(obj)
            return all(labels.get(key) == value for key, value in wanted.items())

        return matches
    terms = [_label_term(term) for term in _COMMA.split(selector)]
    return lambda obj: all(term(labels_of(obj)) for term in terms)


def _label_term(text: str) -> Callable[[Mapping[str, str]], bool]:
    if match_ := _SET.match(text):
        key, values = match_["key"], {value.strip() for value in match_["values"].split(",")}
        if match_["op"] == "in":
            return lambda labels: key in labels and labels[key] in values
        return lambda labels: labels.get(key) not in values
    if match_ := _EQUAL.match(text):
        key, value = match_["key"], match_["value"]
        if match_["op"] == "!=":
            return lambda labels: labels.get(key) != value
        return lambda labels: labels.get(key) == value
    if match_ := _EXISTS.match(text):
        key, absent = match_["key"], bool(match_["not"])
        return lambda labels: (key in labels) is not absent
    raise bad_request(f'unable to parse requirement: found {text!r}, expected: an identifier, "!", or a comparison')


def by_fields(selector: Mapping[str, str] | str | None) -> Predicate | None:
    """The predicate of a field selector. Fields that the API does not index are a 400, as there."""
    if not selector:
        return None
    if isinstance(selector, str):
        pairs = [_field_term(term) for term in selector.split(",")]
    else:
        pairs = [(field, value, True) for field, value in selector.items()]
    for field, _, _ in pairs:
        if field not in _FIELDS:
            raise bad_request(f"field label not supported: {field}")
    return lambda obj: all((_FIELDS[field](obj) == value) is equal for field, value, equal in pairs)


def _field_term(text: str) -> tuple[str, str, bool]:
    match_ = _EQUAL.match(text)
    if match_ is None:
        raise bad_request(f"invalid selector: {text!r}; can't understand {text!r}")
    return match_["key"], match_["value"], match_["op"] != "!="
