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
from harness.kube.api.objects import Object, condition_is, spec_of, status_of
from harness.kube.api.quantity import Quantity, QuantityError
from harness.kube.api.versions import Version

__all__ = ["IMMUTABLE", "claim_change_errors", "comparable", "immutable", "workload_change_errors"]

_SPEC = Place("spec", ("spec",))
IMMUTABLE = "field is immutable"
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
_DIRECTIVES = ("nodeSelector", "tolerations", "schedulingGates")
"""Fields of a template by which the pods of a suspended Job may be moved elsewhere (affinity.nodeAffinity, too)."""
_RESOURCES_FREE = Version(1, 36)
"""The first version whose suspended Jobs may change resources, and are free again once nothing of them runs.

kubernetes pkg/features/kube_features.go: MutablePodResourcesForSuspendedJobs, MutableSchedulingDirectivesForSuspendedJobs, both beta.
"""

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


def workload_change_errors(new: Object, old: Object, kubernetes: Version) -> Iterator[FieldError]:
    """Yield the errors of a change of a workload's spec on an API server of this version."""
    kind, spec, before = old["kind"], spec_of(new), spec_of(old)
    if kind in ("Deployment", "ReplicaSet", "DaemonSet"):
        yield from _fixed(spec, before, "selector")
    elif kind == "StatefulSet":
        if _rest(spec) != _rest(before):
            yield _SPEC.forbidden(_STATEFUL_SET)
    elif kind == "Job":
        yield from _completions_errors(spec, before)
        yield from _fixed(spec, before, "selector")
        yield from _job_template_errors(spec, old, kubernetes)
        for field in _OF_JOBS:
            yield from _fixed(spec, before, field)


def _job_template_errors(spec: Mapping[str, Any], old: Object, kubernetes: Version) -> Iterator[FieldError]:
    """Yield the error of a Job's template (validatePodTemplateUpdate; pkg/registry/batch/job/strategy.go)."""
    before, status = spec_of(old), status_of(old)
    suspended, unstarted = bool(before.get("suspend")), "startTime" not in status
    newer = kubernetes >= _RESOURCES_FREE
    at_rest = (unstarted or condition_is(old, "Suspended")) and not status.get("active")
    movable = suspended and (at_rest if newer else unstarted)
    template, template_before = (_template(side, movable=movable, resized=movable and newer) for side in (spec, before))
    if template != template_before:
        place, value = _SPEC.child("template"), spec.get("template")
        if movable and newer:
            place, value = place.child("spec"), (value or {}).get("spec")
        yield place.invalid(value, IMMUTABLE)


def _fixed(spec: Mapping[str, Any], old: Mapping[str, Any], field: str) -> Iterator[FieldError]:
    yield from immutable(_SPEC.child(field), spec.get(field), old.get(field))


def immutable(place: Place, value: Any, before: Any) -> Iterator[FieldError]:
    """Yield the error of a field that stays where its value is another one (ValidateImmutableField)."""
    if comparable(value) != comparable(before):
        yield place.invalid(value, IMMUTABLE)


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
    if comparable(compared[0]) != comparable(compared[1]):
        yield _SPEC.forbidden(_CLAIM)
    size, size_before = _storage(spec), _storage(before)
    held = Quantity.parse(((old.get("status") or {}).get("capacity") or {}).get("storage") or "0")
    if size < size_before and size <= held:
        place = _SPEC.child("resources").child("requests").child("storage")
        yield place.forbidden("field can not be less than status.capacity")
    mode, mode_before = spec.get("volumeMode"), before.get("volumeMode")
    yield from immutable(Place("volumeMode", ("spec", "volumeMode")), mode, mode_before)


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
    return comparable({"podManagementPolicy": "OrderedReady", **left, "volumeClaimTemplates": claims})


def _template(spec: Mapping[str, Any], *, movable: bool, resized: bool) -> Any:
    """Return the template of a spec with the server's defaults.

    `movable`: without the fields by which a suspended Job may be moved; `resized`: without its containers' resources.
    """
    template = spec.get("template") or {}
    pod = _laid_over(_POD, template.get("spec") or {})
    pod.pop("serviceAccount", None)
    for field in ("containers", "initContainers"):
        pod[field] = [_container(container, resized=resized) for container in pod.get(field) or ()]
    pod["volumes"] = [_volume(volume) for volume in pod.get("volumes") or ()]
    metadata = template.get("metadata") or {}
    shown = {field: metadata.get(field) for field in ("labels", "annotations")}
    if movable:
        affinity = {name: terms for name, terms in (pod.get("affinity") or {}).items() if name != "nodeAffinity"}
        fixed = {field: value for field, value in pod.items() if field not in _DIRECTIVES}
        return comparable({"spec": {**fixed, "affinity": affinity}})
    return comparable({"metadata": shown, "spec": pod})


def _container(container: Mapping[str, Any], *, resized: bool) -> dict[str, Any]:
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
    if not resized:
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


def comparable(value: Any, *, amounts: bool = False) -> Any:
    """Return a value without what is empty, quantities by their amount: what Semantic.DeepEqual takes for equal is equal."""
    if isinstance(value, Mapping):
        parts = {field: comparable(part, amounts=field in _AMOUNTS) for field, part in value.items()}
        if amounts:
            parts = {field: _amount(value[field]) for field in value}
        return {field: part for field, part in parts.items() if part not in (None, {}, [], "")} or None
    if isinstance(value, list | tuple):
        return [comparable(part) for part in value] or None
    return value


def _amount(value: Any) -> Any:
    try:
        return Quantity.parse(value).nano
    except QuantityError:
        return value
