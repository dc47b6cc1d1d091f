"""Validation of Jobs and CronJobs beside their pods.

Rules and words: kubernetes pkg/apis/batch/validation/validation.go. They judge a spec with the server's defaults.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from harness.kube.admission.amount_validation import nonnegative_errors
from harness.kube.admission.places import Place
from harness.kube.api.field_errors import FieldError
from harness.kube.api.time_zones import TimeZoneError, time_zone
from harness.kube.go.cron import Schedule, ScheduleError

__all__ = ["cron_job_errors", "job_errors"]

_ALWAYS, _NEVER = "Always", "Never"
_POLICIES = ("OnFailure", _NEVER)
_MODES = ("NonIndexed", "Indexed")
_REPLACEMENTS = ("Failed", "TerminatingOrFailed")
_ACTIONS = ("Count", "FailIndex", "FailJob", "Ignore")
_OPERATORS = ("In", "NotIn")
_CONCURRENCY = ("Allow", "Forbid", "Replace")
_COUNTS = (
    *("parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished"),
    *("backoffLimitPerIndex", "maxFailedIndexes"),
)
_PER_INDEX = ("backoffLimitPerIndex", "maxFailedIndexes")
_MOST_PARALLEL = 100_000
_ZONE_PART = re.compile(r"[A-Za-z.\-_0-9+]{1,14}")


def job_errors(spec: Mapping[str, Any], at: Place, pods: Iterable[FieldError] = ()) -> Iterator[FieldError]:
    """Yield the errors of a Job's spec at a place (validateJobSpec); `pods` are those of its template."""
    yield from nonnegative_errors(spec, at, *_COUNTS)
    if spec.get("maxFailedIndexes") is not None and spec.get("backoffLimitPerIndex") is None:
        yield at.child("backoffLimitPerIndex").required("when maxFailedIndexes is specified")
    mode = spec.get("completionMode") or _MODES[0]
    if mode not in _MODES:
        yield at.child("completionMode").unsupported(mode, _MODES)
    if mode == "Indexed":
        yield from _indexed_errors(spec, at)
    elif mode == _MODES[0]:
        for field in _PER_INDEX:
            if spec.get(field) is not None:
                yield at.child(field).invalid(spec[field], "requires indexed completion mode")
    failures = spec.get("podFailurePolicy")
    if failures is not None:
        yield from _failure_policy_errors(spec, failures, at.child("podFailurePolicy").child("rules"))
    if spec.get("successPolicy") is not None and mode != "Indexed":
        yield at.child("successPolicy").invalid(spec["successPolicy"], "requires indexed completion mode")
    replacement = spec.get("podReplacementPolicy")
    allowed = _REPLACEMENTS[:1] if failures is not None else _REPLACEMENTS
    if replacement is not None and replacement not in allowed:
        yield at.child("podReplacementPolicy").unsupported(replacement, allowed)
    yield from pods
    yield from _restart_errors(spec, at.child("template").child("spec").child("restartPolicy"))


def _indexed_errors(spec: Mapping[str, Any], at: Place) -> Iterator[FieldError]:
    completions, parallelism, failed = (spec.get(field) for field in ("completions", "parallelism", "maxFailedIndexes"))
    if completions is None:
        yield at.child("completions").required("when completion mode is Indexed")
    if parallelism is not None and parallelism > _MOST_PARALLEL:
        most = f"must be less than or equal to {_MOST_PARALLEL} when completion mode is Indexed"
        yield at.child("parallelism").invalid(parallelism, most)
    if completions is not None and failed is not None and failed > completions:
        yield at.child("maxFailedIndexes").invalid(failed, "must be less than or equal to completions")


def _failure_policy_errors(spec: Mapping[str, Any], policy: Mapping[str, Any], at: Place) -> Iterator[FieldError]:
    template = (spec.get("template") or {}).get("spec") or {}
    containers = {
        container.get("name") for field in ("containers", "initContainers") for container in template.get(field) or ()
    }
    for number, rule in enumerate(policy.get("rules") or ()):
        place, action = at.index(number), rule.get("action") or ""
        if not action:
            yield place.child("action").required(f"valid values: {_quoted(_ACTIONS)}")
        elif action == "FailIndex" and spec.get("backoffLimitPerIndex") is None:
            yield place.child("action").invalid(action, "requires the backoffLimitPerIndex to be set")
        elif action not in _ACTIONS:
            yield place.child("action").unsupported(action, _ACTIONS)
        codes = rule.get("onExitCodes")
        if codes is not None:
            yield from _exit_code_errors(codes, place.child("onExitCodes"), containers)


def _exit_code_errors(codes: Mapping[str, Any], at: Place, containers: set[Any]) -> Iterator[FieldError]:
    operator, values = codes.get("operator") or "", codes.get("values") or []
    if not operator:
        yield at.child("operator").required(f"valid values: {_quoted(_OPERATORS)}")
    elif operator not in _OPERATORS:
        yield at.child("operator").unsupported(operator, _OPERATORS)
    name = codes.get("containerName")
    if name is not None and name not in containers:
        permitted = "must be one of the container or initContainer names in the pod template"
        yield at.child("containerName").invalid(name, permitted)
    place = at.child("values")
    if not values:
        yield place.invalid(values, "at least one value is required")
    for number, value in enumerate(values):
        if operator == "In" and value == 0:
            yield place.index(number).invalid(value, "must not be 0 for the In operator")
    if list(values) != sorted(values):
        yield place.invalid(values, "must be ordered")


def _restart_errors(spec: Mapping[str, Any], place: Place) -> Iterator[FieldError]:
    policy = ((spec.get("template") or {}).get("spec") or {}).get("restartPolicy") or _ALWAYS
    if policy == _ALWAYS:
        yield place.required('valid values: "OnFailure", "Never"')
    elif policy not in _POLICIES:
        yield place.unsupported(policy, _POLICIES)
    elif policy != _NEVER and spec.get("podFailurePolicy") is not None:
        yield place.invalid(policy, 'only "Never" is supported when podFailurePolicy is specified')


def _quoted(values: Iterable[str]) -> str:
    return "[" + " ".join(f'"{value}"' for value in values) + "]"


def cron_job_errors(
    spec: Mapping[str, Any], old: Mapping[str, Any] | None, at: Place, pods: Iterable[FieldError] = ()
) -> Iterator[FieldError]:
    """Yield the errors of a CronJob's spec, which was `old` before (validateCronJobSpec)."""
    schedule, zone = spec.get("schedule") or "", spec.get("timeZone")
    if not schedule:
        yield at.child("schedule").required("")
    else:
        yield from _schedule_errors(schedule, at.child("schedule"))
    yield from nonnegative_errors(spec, at, "startingDeadlineSeconds")
    if zone is not None and (old is None or old.get("timeZone") != zone):
        yield from _time_zone_errors(zone, at.child("timeZone"))
    policy = spec.get("concurrencyPolicy")
    if policy not in _CONCURRENCY:
        yield at.child("concurrencyPolicy").unsupported(policy, _CONCURRENCY)
    job, place = (spec.get("jobTemplate") or {}).get("spec") or {}, at.child("jobTemplate").child("spec")
    yield from job_errors(job, place, pods)
    if job.get("selector") is not None:
        yield place.child("selector").invalid(job["selector"], "`selector` will be auto-generated")
    yield from nonnegative_errors(spec, at, "successfulJobsHistoryLimit", "failedJobsHistoryLimit")


def _schedule_errors(schedule: str, place: Place) -> Iterator[FieldError]:
    try:
        Schedule.parse(schedule.partition(" ")[2] if schedule.startswith(("TZ=", "CRON_TZ=")) else schedule)
    except ScheduleError as error:
        yield place.invalid(schedule, str(error))
    if "TZ" in schedule:
        yield place.invalid(schedule, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead")


def _time_zone_errors(zone: str, place: Place) -> Iterator[FieldError]:
    if not zone:
        yield place.invalid(zone, "timeZone must be nil or non-empty string")
        return
    for part in zone.split("/"):
        if part in (".", "..") or part.startswith("-") or not _ZONE_PART.fullmatch(part):
            yield place.invalid(zone, f"unknown time zone {zone}")
            return
    if zone.lower() == "local":
        explicit = "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"
        yield place.invalid(zone, explicit)
    try:
        time_zone(zone)
    except TimeZoneError as error:
        yield place.invalid(zone, str(error))
