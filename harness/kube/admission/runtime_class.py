"""The admission plugin RuntimeClass: the overhead and scheduling that it adds to a new pod, and the pods that it
refuses.

Sources: kubernetes plugin/pkg/admission/runtimeclass/admission.go, pkg/util/tolerations, pkg/apis/node/validation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harness.kube.admission.container_resources import resources_errors
from harness.kube.admission.defaults import canonical_list
from harness.kube.admission.places import Place
from harness.kube.admission.tolerations import merged_tolerations, toleration_errors
from harness.kube.api.field_errors import ErrorType, FieldError, Verbatim, go_json
from harness.kube.api.names import dns_label_errors, label_value_errors, qualified_name_errors
from harness.kube.api.quantity import Quantity

__all__ = [
    "RuntimeClassRefused",
    "check_overhead",
    "default_runtime_class",
    "missing_runtime_class",
    "runtime_class_errors",
    "with_runtime_class",
]

_Part = Mapping[str, Any]
_MISSING, _NOT_FOUND = 'pod rejected: RuntimeClass "', '" not found'
_OTHER_OVERHEAD = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"


class RuntimeClassRefused(LookupError):
    """A pod that its RuntimeClass does not fit, or whose class does not exist; the message is the plugin's."""

    @classmethod
    def not_found(cls, name: str) -> RuntimeClassRefused:
        """Return the refusal of a pod whose class does not exist."""
        return cls(f"{_MISSING}{name}{_NOT_FOUND}")


def missing_runtime_class(message: str) -> str:
    """Return the name of the missing RuntimeClass in the message of a refusal; "" for other messages."""
    name, separator, _ = message.partition(_MISSING)[2].partition(_NOT_FOUND)
    return name if separator else ""


def with_runtime_class(pod: dict[str, Any], runtime_class: _Part) -> dict[str, Any]:
    """Return the pod with overhead, node selector and tolerations of its class. Raises RuntimeClassRefused where they
    contradict its own."""
    spec = dict(pod["spec"])
    fixed = _pod_fixed(runtime_class)
    if fixed is not None:
        if spec.get("overhead") and not _same(spec["overhead"], fixed):
            raise RuntimeClassRefused(_OTHER_OVERHEAD)
        spec["overhead"] = fixed
    scheduling = runtime_class.get("scheduling")
    if scheduling is not None:
        selector = dict(spec.get("nodeSelector") or {})
        for key, value in (scheduling.get("nodeSelector") or {}).items():
            if selector.setdefault(key, value) != value:
                raise RuntimeClassRefused(
                    f"conflict: runtimeClass.scheduling.nodeSelector[{key}] = {value}; "
                    f"pod.spec.nodeSelector[{key}] = {selector[key]}"
                )
        if selector:
            spec["nodeSelector"] = selector
        spec["tolerations"] = merged_tolerations(
            [*(spec.get("tolerations") or ()), *(scheduling.get("tolerations") or ())]
        )
    return {**pod, "spec": spec}


def check_overhead(pod: _Part, runtime_class: _Part | None) -> None:
    """Raise RuntimeClassRefused for an overhead without a class; call it last, when the pod is valid otherwise."""
    overhead, fixed = pod["spec"].get("overhead"), _pod_fixed(runtime_class or {})
    if fixed is not None:
        if overhead is None or not _same(overhead, fixed):
            raise RuntimeClassRefused(_OTHER_OVERHEAD)
    elif overhead is not None:
        raise RuntimeClassRefused("pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead")


def default_runtime_class(obj: dict[str, Any]) -> dict[str, Any]:
    """Return a RuntimeClass as the API server stores it: quantities in their canonical form. Raises QuantityError."""
    overhead = obj.get("overhead")
    if not overhead or not overhead.get("podFixed"):
        return obj
    return {**obj, "overhead": {**overhead, "podFixed": canonical_list(overhead["podFixed"])}}


def runtime_class_errors(new: _Part, old: _Part | None) -> list[FieldError]:
    """Return the errors of a RuntimeClass beside its metadata; of a change, only those of its handler."""
    handler = new.get("handler") or ""
    if old is not None:
        same = handler == (old.get("handler") or "")
        return [] if same else [FieldError(ErrorType.INVALID, "handler", "field is immutable", handler, ("handler",))]
    errors: list[FieldError] = []
    if not handler:
        errors.append(FieldError(ErrorType.REQUIRED, "handler", pointer=("handler",)))
    else:
        errors += [
            FieldError(ErrorType.INVALID, "handler", error, handler, ("handler",))
            for error in dns_label_errors(handler)
        ]
    fixed = (new.get("overhead") or {}).get("podFixed") or {}
    errors += resources_errors({"limits": fixed}, Place("overhead", ("overhead",)))
    scheduling = new.get("scheduling") or {}
    at = ("scheduling", "nodeSelector")
    for key, value in (scheduling.get("nodeSelector") or {}).items():
        pairs = [(error, key) for error in qualified_name_errors(key)] + [
            (error, value) for error in label_value_errors(value)
        ]
        errors += [FieldError(ErrorType.INVALID, ".".join(at), detail, value, at) for detail, value in pairs]
    errors += _tolerations_errors(scheduling.get("tolerations") or ())
    return errors


def _tolerations_errors(tolerations: Sequence[_Part]) -> Iterator[FieldError]:
    at = Place("scheduling.tolerations", ("scheduling", "tolerations"))
    for number, toleration in enumerate(tolerations):
        yield from toleration_errors(toleration, at.index(number))
    seen: set[tuple[str, ...]] = set()
    for number, toleration in enumerate(tolerations):
        row = tuple(toleration.get(field) or "" for field in ("key", "operator", "value", "effect"))
        if row in seen:
            place = at.index(number)
            yield FieldError(ErrorType.DUPLICATE, place.text, "", Verbatim(_json(toleration)), place.pointer)
        seen.add(row)


def _json(toleration: _Part) -> str:
    """Return a toleration as Go writes the API server's own type: capital names, nothing left out."""
    rows = [(name.title(), toleration.get(name) or "") for name in ("key", "operator", "value", "effect")]
    rows.append(("TolerationSeconds", toleration.get("tolerationSeconds")))
    return "{" + ",".join(f'"{name}":{go_json(value)}' for name, value in rows) + "}"


def _pod_fixed(runtime_class: _Part) -> dict[str, Any] | None:
    """Return the resources that each pod takes besides its containers; None where the class states none."""
    overhead = runtime_class.get("overhead")
    return None if overhead is None else dict(overhead.get("podFixed") or {})


def _same(overhead: _Part, other: _Part) -> bool:
    return {name: Quantity.parse(amount).nano for name, amount in overhead.items()} == {
        name: Quantity.parse(amount).nano for name, amount in other.items()
    }
