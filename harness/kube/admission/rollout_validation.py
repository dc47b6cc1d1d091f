"""Validation of how a Deployment, a StatefulSet or a DaemonSet goes from one template to the next.

Rules and words: kubernetes pkg/apis/apps/validation/validation.go. They judge a spec with the server's defaults.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from harness.kube.admission.amount_validation import above_all_errors, amount_errors, nonnegative_errors
from harness.kube.admission.places import Place
from harness.kube.api.amounts import plain
from harness.kube.api.field_errors import FieldError, Verbatim, go_json
from harness.kube.api.rollouts import (
    ROLLING_UPDATE,
    min_ready_seconds,
    progress_deadline,
    rolling_update,
    strategy_type,
)

__all__ = ["daemon_set_errors", "deployment_errors", "stateful_set_errors"]

_AT = Place("spec", ("spec",))
_RECREATE, _ON_DELETE = "Recreate", "OnDelete"
_MANAGEMENTS = ("OrderedReady", "Parallel")
_RETENTIONS = ("Retain", "Delete")
_AMOUNTS = {"MaxUnavailable": "maxUnavailable", "MaxSurge": "maxSurge"}
"""Fields of a rolling update by their names in the API server's own type."""


def deployment_errors(spec: Mapping[str, Any]) -> Iterator[FieldError]:
    """Yield the errors of a Deployment's strategy, times and history (ValidateDeploymentSpec)."""
    strategy, at = spec.get("strategy") or {}, _AT.child("strategy")
    kind, update = strategy_type(strategy), at.child("rollingUpdate")
    if kind == _RECREATE:
        if strategy.get("rollingUpdate") is not None:
            yield update.forbidden(f"may not be specified when strategy `type` is '{_RECREATE}'")
    elif kind == ROLLING_UPDATE:
        unavailable, surge = rolling_update("Deployment", strategy)
        yield from amount_errors(unavailable, update.child("maxUnavailable"))
        yield from amount_errors(surge, update.child("maxSurge"))
        if not plain(unavailable) and not plain(surge):
            yield update.child("maxUnavailable").invalid(unavailable, "may not be 0 when `maxSurge` is 0")
        yield from above_all_errors(unavailable, update.child("maxUnavailable"))
    else:
        yield at.unsupported(_internal(strategy, _amounts(strategy)), (_RECREATE, ROLLING_UPDATE))
    yield from nonnegative_errors(spec, _AT, "minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds")
    deadline = progress_deadline(spec)
    if deadline <= min_ready_seconds(spec):
        yield _AT.child("progressDeadlineSeconds").invalid(deadline, "must be greater than minReadySeconds")


def stateful_set_errors(spec: Mapping[str, Any]) -> Iterator[FieldError]:
    """Yield the errors of a StatefulSet's order, updates and claims (ValidateStatefulSetSpec).

    `maxUnavailable` is not judged: without the feature gate MaxUnavailableStatefulSet, off by default in 1.36, the server drops it.
    """
    management = spec.get("podManagementPolicy") or _MANAGEMENTS[0]
    if management not in _MANAGEMENTS:
        yield _AT.child("podManagementPolicy").invalid(management, _either(*_MANAGEMENTS))
    strategy, at = spec.get("updateStrategy") or {}, _AT.child("updateStrategy")
    kind, update = strategy_type(strategy), strategy.get("rollingUpdate")
    internal = None if update is None else {"Partition": update.get("partition") or 0, "MaxUnavailable": None}
    if kind == ROLLING_UPDATE:
        yield from nonnegative_errors(update or {}, at.child("rollingUpdate"), "partition")
    elif kind != _ON_DELETE:
        yield at.invalid(_internal(strategy, internal), _either(ROLLING_UPDATE, _ON_DELETE))
    elif internal is not None:
        why = f"only allowed for updateStrategy '{ROLLING_UPDATE}'"
        yield at.child("rollingUpdate").invalid(_in_order(internal), why)
    retention = spec.get("persistentVolumeClaimRetentionPolicy") or {}
    for field in ("whenDeleted", "whenScaled"):
        policy = retention.get(field) or _RETENTIONS[0]
        if policy not in _RETENTIONS:
            yield _AT.child("persistentVolumeClaimRetentionPolicy").child(field).unsupported(policy, _RETENTIONS)


def daemon_set_errors(spec: Mapping[str, Any]) -> Iterator[FieldError]:
    """Yield the errors of a DaemonSet's times, updates and history (ValidateDaemonSetSpec)."""
    yield from nonnegative_errors(spec, _AT, "minReadySeconds")
    strategy, at = spec.get("updateStrategy") or {}, _AT.child("updateStrategy")
    kind = strategy_type(strategy)
    if kind == ROLLING_UPDATE:
        yield from _daemon_amount_errors(*rolling_update("DaemonSet", strategy), at.child("rollingUpdate"))
    elif kind != _ON_DELETE:
        yield at.unsupported(_internal(strategy, _amounts(strategy)), (ROLLING_UPDATE, _ON_DELETE))
    yield from nonnegative_errors(spec, _AT, "revisionHistoryLimit")


def _daemon_amount_errors(unavailable: int | str, surge: int | str, at: Place) -> Iterator[FieldError]:
    """Yield the error unless exactly one of the two is above zero (ValidateRollingUpdateDaemonSet)."""
    for errors_of in (amount_errors, above_all_errors):
        yield from errors_of(unavailable, at.child("maxUnavailable"))
        yield from errors_of(surge, at.child("maxSurge"))
    if plain(unavailable) and plain(surge):
        yield at.child("maxSurge").invalid(surge, "may not be set when maxUnavailable is non-zero")
    elif not plain(unavailable) and not plain(surge):
        yield at.child("maxUnavailable").required("cannot be 0 when maxSurge is 0")


def _either(allowed: str, other: str) -> str:
    return f"must be '{allowed}' or '{other}'"


def _amounts(strategy: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the rolling update of a strategy of an unknown type, which gets no defaults, as the API server's own type."""
    update = strategy.get("rollingUpdate")
    return None if update is None else {name: update.get(field) or 0 for name, field in _AMOUNTS.items()}


def _internal(strategy: Mapping[str, Any], update: Mapping[str, Any] | None) -> Verbatim:
    """Return a strategy as Go writes the API server's own type: capital names, nothing left out."""
    shown = "null" if update is None else _in_order(update).text
    return Verbatim(f'{{"Type":{go_json(strategy["type"])},"RollingUpdate":{shown}}}')


def _in_order(fields: Mapping[str, Any]) -> Verbatim:
    return Verbatim(f"{{{','.join(f'{go_json(name)}:{go_json(value)}' for name, value in fields.items())}}}")
