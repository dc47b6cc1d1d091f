"""ResourceQuotas: the amounts that a namespace uses of each counted resource, and the objects that would exceed them.

Source: apiserver pkg/admission/plugin/resourcequota/controller.go (CheckRequest), kubernetes pkg/quota/v1/evaluator/core/pods.go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from harness.kube.api.kinds import KINDS, Kind
from harness.kube.api.objects import Object, name_of, spec_of, status_of
from harness.kube.api.quantity import Quantity
from harness.kube.api.resources import parse_list
from harness.kube.scheduling.pods import is_terminal, pod_limits, pod_requests

__all__ = ["applies", "counted_kinds", "quota_error", "total", "usage_of"]

Amounts = Mapping[str, Quantity]
_ONE = Quantity.parse("1")
_MUST_SAY = frozenset({"cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"})
"""Resources that each container has to state where a quota has a bound for them."""
_PLAIN = frozenset({"pods", "services", "secrets", "configmaps", "persistentvolumeclaims", "resourcequotas"})
"""Kinds that are counted by their plural alone."""
_OF_PODS = ("cpu", "memory", "ephemeral-storage")


def _hard(quota: Object) -> Amounts:
    return parse_list(spec_of(quota).get("hard"))


def counted_kinds(quota: Object) -> list[Kind]:
    """The kinds whose objects a quota counts."""
    names = _hard(quota)
    pods = {name for name in names if name in _OF_PODS or name.startswith(("requests.", "limits."))}
    plurals = {name.removeprefix("count/") for name in names}
    return [
        kind
        for kind in KINDS.values()
        if kind.namespaced and (kind.resource in plurals or (pods and kind.kind in ("Pod", "PersistentVolumeClaim")))
    ]


def applies(quota: Object, kind: Kind, obj: Object) -> bool:
    """Return whether an object is in the scope of a quota."""
    scopes = [(scope, "Exists", ()) for scope in spec_of(quota).get("scopes") or ()]
    selector = spec_of(quota).get("scopeSelector") or {}
    scopes += [
        (expression.get("scopeName"), expression.get("operator"), tuple(expression.get("values") or ()))
        for expression in selector.get("matchExpressions") or ()
    ]
    return all(kind.kind == "Pod" and _in_scope(obj, *scope) for scope in scopes)


def _in_scope(pod: Object, scope: str, operator: str, values: Sequence[str]) -> bool:
    spec = spec_of(pod)
    ends = int(spec.get("activeDeadlineSeconds") or 0) > 0
    best_effort = status_of(pod).get("qosClass") == "BestEffort"
    plain = {
        "Terminating": ends,
        "NotTerminating": not ends,
        "BestEffort": best_effort,
        "NotBestEffort": not best_effort,
    }
    if scope in plain:
        return plain[scope]
    name = str(spec.get("priorityClassName") or "")
    return {"Exists": bool(name), "DoesNotExist": not name, "In": name in values, "NotIn": name not in values}[operator]


def usage_of(kind: Kind, obj: Object) -> dict[str, Quantity]:
    """Return the amounts that one object uses, by the names that a quota may have bounds for. Raises QuantityError."""
    if kind.kind == "Pod":
        if is_terminal(obj):
            return {"count/pods": _ONE}
        requests, limits = pod_requests(obj), pod_limits(obj)
        usage = {"pods": _ONE, "count/pods": _ONE}
        usage |= {name: amount for name, amount in requests.items() if name in _OF_PODS}
        usage |= {f"requests.{name}": amount for name, amount in requests.items()}
        return usage | {f"limits.{name}": amount for name, amount in limits.items()}
    usage = {f"count/{kind.resource}": _ONE}
    if kind.resource in _PLAIN:
        usage[kind.resource] = _ONE
    if kind.kind == "PersistentVolumeClaim":
        storage = parse_list((spec_of(obj).get("resources") or {}).get("requests")).get("storage")
        if storage is not None:
            usage["requests.storage"] = storage
    return usage


def total(usages: Iterable[Amounts]) -> dict[str, Quantity]:
    """Return the sum of amounts by name."""
    summed: dict[str, Quantity] = {}
    for usage in usages:
        for name, amount in usage.items():
            summed[name] = summed[name] + amount if name in summed else amount
    return summed


def quota_error(quota: Object, kind: Kind, obj: Object, used: Callable[[], Amounts]) -> str | None:
    """Return why a quota forbids a new object; None where it allows it. `used` returns the amounts used so far, and is
    called where they matter."""
    if not applies(quota, kind, obj):
        return None
    hard = _hard(quota)
    missing = _missing(hard, obj) if kind.kind == "Pod" else ""
    if missing:
        return f"failed quota: {name_of(quota)}: must specify {missing}"
    requested = {name: amount for name, amount in usage_of(kind, obj).items() if name in hard and amount.nano}
    if not requested:
        return None
    present = used()
    zero = Quantity.parse("0")
    exceeded = [name for name, amount in requested.items() if present.get(name, zero) + amount > hard[name]]
    if not exceeded:
        return None
    return (
        f"exceeded quota: {name_of(quota)}, requested: {_listed(exceeded, requested)}, "
        f"used: {_listed(exceeded, {name: present.get(name, zero) for name in exceeded})}, limited: {_listed(exceeded, hard)}"
    )


def _listed(names: Iterable[str], amounts: Amounts) -> str:
    return ",".join(f"{name}={amounts[name]}" for name in sorted(names))


def _missing(hard: Amounts, pod: Object) -> str:
    """Return the resources that containers have to state and do not, with the containers."""
    spec = spec_of(pod)
    containers: list[Mapping[str, Any]] = [
        container for field in ("containers", "initContainers") for container in spec.get(field) or ()
    ]
    parts = []
    for name in sorted(hard.keys() & _MUST_SAY):
        kind, _, resource = name.rpartition(".")
        stating = [
            container
            for container in containers
            if resource in ((container.get("resources") or {}).get(kind or "requests") or {})
        ]
        silent = sorted(str(container.get("name")) for container in containers if container not in stating)
        if silent:
            parts.append(f"{name} for: {','.join(silent)}")
    return "; ".join(parts)
