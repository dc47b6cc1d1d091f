"""Fields that an update may not change, of workloads and claims.

Sources: kubernetes 1.36 pkg/registry/apps/{deployment,daemonset,replicaset}/strategy.go, pkg/apis/apps/validation/validation.go
(ValidateStatefulSetUpdate), pkg/apis/batch/validation/validation.go (ValidateJobSpecUpdate), pkg/apis/core/validation/validation.go
(ValidatePersistentVolumeClaimUpdate). Specs are compared with the defaults of both, for one that spells a default out changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from harness.kube.admission.places import Place
from harness.kube.api.field_errors import FieldError
from harness.kube.api.quantity import Quantity, QuantityError

__all__ = ["claim_change_errors", "workload_change_errors"]

_SPEC = Place("spec", ("spec",))
_IMMUTABLE = "field is immutable"
_OF_STATEFUL_SETS = (
    *("replicas", "ordinals", "template", "updateStrategy", "revisionHistoryLimit"),
    *("persistentVolumeClaimRetentionPolicy", "minReadySeconds"),
)
"""Fields of a StatefulSet that may change."""
_LISTED = ", ".join(f"'{field}'" for field in _OF_STATEFUL_SETS[:-1])
_STATEFUL_SET = (
    f"updates to statefulset spec for fields other than {_LISTED} and '{_OF_STATEFUL_SETS[-1]}' are forbidden"
)
_CLAIM = "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims"
_OF_JOBS = ("completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy")
_DIRECTIVES = ("affinity", "nodeSelector", "tolerations", "schedulingGates")
"""Fields of a template by which the pods of a suspended Job may be moved elsewhere (its resources, too)."""

_POD: Mapping[str, Any] = {
    "dnsPolicy": "ClusterFirst",
    "restartPolicy": "Always",
    "schedulerName": "default-scheduler",
    "terminationGracePeriodSeconds": 30,
}
_CONTAINER: Mapping[str, Any] = {
    "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File",
}
_PROBE: Mapping[str, Any] = {"failureThreshold": 3, "periodSeconds": 10, "successThreshold": 1, "timeoutSeconds": 1}
_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_FILES = ("configMap", "secret", "projected", "downwardAPI")
"""Sources of volumes whose files have a mode."""
_AMOUNTS = frozenset({"requests", "limits", "capacity", "overhead"})
"""Maps of quantities, which are equal by their amount."""


def workload_change_errors(
    kind: str, spec: Mapping[str, Any], old: Mapping[str, Any], started: bool
) -> Iterator[FieldError]:
    """Yield the errors of a change of a workload's spec; `started`: of a Job whose pods were made once."""
    if kind in ("Deployment", "ReplicaSet", "DaemonSet"):
        yield from _fixed(spec, old, "selector")
    elif kind == "StatefulSet":
        if _rest(spec) != _rest(old):
            yield _SPEC.forbidden(_STATEFUL_SET)
    elif kind == "Job":
        yield from _completions_errors(spec, old)
        yield from _fixed(spec, old, "selector")
        template, before = (_template(side, movable=bool(old.get("suspend"))) for side in (spec, old))
        if started and old.get("suspend"):
            template, before = (_template(side, movable=False) for side in (spec, old))
        if template != before:
            yield _SPEC.child("template").invalid(spec.get("template"), _IMMUTABLE)
        for field in _OF_JOBS:
            yield from _fixed(spec, old, field)


def _fixed(spec: Mapping[str, Any], old: Mapping[str, Any], field: str) -> Iterator[FieldError]:
    if _plain(spec.get(field)) != _plain(old.get(field)):
        yield _SPEC.child(field).invalid(spec.get(field), _IMMUTABLE)


def _completions_errors(spec: Mapping[str, Any], old: Mapping[str, Any]) -> Iterator[FieldError]:
    """Yield the error of a Job's completions: those of an Indexed one go with its parallelism (validateCompletions)."""
    completions, before = spec.get("completions"), old.get("completions")
    if spec.get("completionMode") != "Indexed":
        yield from _fixed(spec, old, "completions")
    elif None not in (completions, before) and completions != before and completions != spec.get("parallelism"):
        yield _SPEC.child("completions").invalid(completions, "can only be modified in tandem with spec.parallelism")


def claim_change_errors(claim: Mapping[str, Any], old: Mapping[str, Any]) -> Iterator[FieldError]:
    """Yield the errors of a change of a claim's spec: of a bound one the request may grow. Upstream adds a diff of both specs."""
    spec, before = claim.get("spec") or {}, old.get("spec") or {}
    bound = (claim.get("status") or {}).get("phase") == "Bound"
    free = {"volumeName"} if not before.get("volumeName") else set[str]()
    if before.get("storageClassName") is None:
        free.add("storageClassName")
    if bound:
        free.add("volumeAttributesClassName")
    compared = [{field: value for field, value in side.items() if field not in free} for side in (spec, before)]
    if bound:
        compared = [{**side, "resources": _without_storage(side.get("resources") or {})} for side in compared]
    if _plain(compared[0]) != _plain(compared[1]):
        yield _SPEC.forbidden(_CLAIM)
    size, size_before = _storage(spec), _storage(before)
    held = Quantity.parse(((old.get("status") or {}).get("capacity") or {}).get("storage") or "0")
    if size < size_before and size <= held:
        place = _SPEC.child("resources").child("requests").child("storage")
        yield place.forbidden("field can not be less than status.capacity")
    mode, mode_before = spec.get("volumeMode"), before.get("volumeMode")
    if mode != mode_before:
        yield Place("volumeMode", ("spec", "volumeMode")).invalid(mode, _IMMUTABLE)


def _without_storage(resources: Mapping[str, Any]) -> dict[str, Any]:
    requests = {name: amount for name, amount in (resources.get("requests") or {}).items() if name != "storage"}
    return {**resources, "requests": requests}


def _storage(spec: Mapping[str, Any]) -> Quantity:
    return Quantity.parse(((spec.get("resources") or {}).get("requests") or {}).get("storage") or "0")


def _rest(spec: Mapping[str, Any]) -> Any:
    """Return a StatefulSet's spec without the fields that may change, with its defaults."""
    claims = [
        {"metadata": claim.get("metadata"), "spec": {"volumeMode": "Filesystem", **(claim.get("spec") or {})}}
        for claim in spec.get("volumeClaimTemplates") or ()
    ]
    left = {field: value for field, value in spec.items() if field not in _OF_STATEFUL_SETS}
    return _plain({"podManagementPolicy": "OrderedReady", **left, "volumeClaimTemplates": claims})


def _template(spec: Mapping[str, Any], *, movable: bool) -> Any:
    """Return the template of a spec with the server's defaults; `movable`: without the fields that a suspended Job may change."""
    template = spec.get("template") or {}
    pod = _laid_over(_POD, template.get("spec") or {})
    pod.pop("serviceAccount", None)
    for field in ("containers", "initContainers"):
        pod[field] = [_container(container, movable=movable) for container in pod.get(field) or ()]
    pod["volumes"] = [_volume(volume) for volume in pod.get("volumes") or ()]
    metadata = template.get("metadata") or {}
    shown = {field: metadata.get(field) for field in ("labels", "annotations")}
    if movable:
        return _plain({"spec": {field: value for field, value in pod.items() if field not in _DIRECTIVES}})
    return _plain({"metadata": shown, "spec": pod})


def _container(container: Mapping[str, Any], *, movable: bool) -> dict[str, Any]:
    image = str(container.get("image") or "")
    tag = image.rpartition("/")[2].partition(":")[2]
    pulled = "IfNotPresent" if "@" in image or tag not in ("", "latest") else "Always"
    made = _laid_over({**_CONTAINER, "imagePullPolicy": pulled}, container)
    for field in _PROBES:
        if made.get(field):
            made[field] = _laid_over(_PROBE, made[field])
            if made[field].get("httpGet"):
                made[field]["httpGet"] = _laid_over({"path": "/", "scheme": "HTTP"}, made[field]["httpGet"])
    made["ports"] = [_laid_over({"protocol": "TCP"}, port) for port in made.get("ports") or ()]
    made["env"] = [_variable(variable) for variable in made.get("env") or ()]
    resources = dict(made.pop("resources", None) or {})
    if not movable:
        made["resources"] = resources
    return made


def _variable(variable: Mapping[str, Any]) -> Mapping[str, Any]:
    source = variable.get("valueFrom") or {}
    if not source.get("fieldRef"):
        return variable
    return {**variable, "valueFrom": {**source, "fieldRef": _laid_over({"apiVersion": "v1"}, source["fieldRef"])}}


def _volume(volume: Mapping[str, Any]) -> dict[str, Any]:
    made = dict(volume)
    for field in _FILES:
        if made.get(field):
            made[field] = _laid_over({"defaultMode": 420}, made[field])
    return made


def _laid_over(defaults: Mapping[str, Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields with the defaults of those that are absent or null."""
    return {**defaults, **{field: value for field, value in fields.items() if value is not None}}


def _plain(value: Any, *, amounts: bool = False) -> Any:
    """Return a value without what is empty, quantities by their amount: what Semantic.DeepEqual takes for equal is equal."""
    if isinstance(value, Mapping):
        parts = {field: _plain(part, amounts=field in _AMOUNTS) for field, part in value.items()}
        if amounts:
            parts = {field: _amount(value[field]) for field in value}
        return {field: part for field, part in parts.items() if part not in (None, {}, [], "")} or None
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value] or None
    return value


def _amount(value: Any) -> Any:
    try:
        return Quantity.parse(value).nano
    except QuantityError:
        return value
