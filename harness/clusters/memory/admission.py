"""Admission of the memory cluster: defaults, Karpenter's CRDs, validation of core kinds. Namespaces and kubelets have their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from harness.clusters.memory.request import Admission, Request
from harness.clusters.memory.store import Store
from harness.engine.ports import ADMIN
from harness.karpenter.validation.admission import Crds, UnknownResource, admit
from harness.karpenter.validation.decoding import known_metadata, metadata_error
from harness.kube.admission.autoscaler_rules import autoscaler_errors, default_autoscaler
from harness.kube.admission.core_types import shape_errors
from harness.kube.admission.core_validation import budget_errors, node_errors, pod_update_errors
from harness.kube.admission.defaults import (
    PriorityRefused,
    default_changed_pod,
    default_node,
    default_pod,
    default_storage,
)
from harness.kube.admission.fixed_fields import FIXED_KINDS, fixed_field_errors
from harness.kube.admission.immutability import claim_change_errors, workload_change_errors
from harness.kube.admission.match_label_keys import merge_label_keys, merges_spread
from harness.kube.admission.pod_validation import pod_annotation_errors, pod_spec_errors
from harness.kube.admission.runtime_class import (
    RuntimeClassRefused,
    check_overhead,
    default_runtime_class,
    runtime_class_errors,
    with_runtime_class,
)
from harness.kube.admission.service_account import missing_account
from harness.kube.admission.workload_defaults import default_workload
from harness.kube.admission.workload_validation import workload_errors
from harness.kube.api.field_errors import ErrorType, FieldError, aggregate, go_json
from harness.kube.api.names import NameWording
from harness.kube.api.object_meta import validate_object_meta, validate_object_meta_update
from harness.kube.api.objects import Object, annotations_of, differ, metadata_of, spec_of
from harness.kube.api.quantity import QuantityError
from harness.kube.api.status import ApiError, bad_request, forbidden, invalid
from harness.kube.api.versions import Version
from harness.kube.custom_resources.admission import api_server
from harness.kube.scheduling.volume_binding import default_class
from harness.kube.workloads.templates import TEMPLATE_PATHS
from harness.latest import LatestOf

_T = TypeVar("_T")
_WORKLOADS = frozenset({"Deployment", "ReplicaSet", "ReplicationController", "StatefulSet", "Job", "CronJob"})
_TEMPLATED = _WORKLOADS | {"DaemonSet"}
_BOOKKEEPING = frozenset({"metadata", "status"})
"""Fields that controllers write all the time."""
_SPECS = 4
"""The number of specs of new pods whose result is kept: a ReplicaSet makes many pods of one spec, one after the other."""
_Specs = LatestOf[Mapping[str, Any], _T]


def defaults(store: Callable[[], Store], kubernetes: Version) -> Admission:
    """Return the defaults of an API server of this version, for every write, and its admission plugins at creation."""

    def class_of(name: str) -> Object | None:
        if name:
            return store().get("PriorityClass", name)
        classes = store().list("PriorityClass")
        defaults = [candidate for candidate in classes if candidate.get("globalDefault")]
        return min(defaults, key=lambda candidate: int(candidate["value"]), default=None)

    specs: _Specs[dict[str, Any]] = LatestOf(_SPECS)

    def judge(request: Request) -> dict[str, Any]:
        kind, created = request.kind.kind, request.verb == "create"
        if not created and (request.verb not in ("update", "patch") or request.subresource not in ("", "resize")):
            return request.object
        try:
            if kind == "Pod":
                if request.old is not None:
                    return default_changed_pod(request.object, request.old, kubernetes.line)
                return _default_new_pod(request.object, class_of, store(), kubernetes, specs)
            if kind == "Node" and created:
                return default_node(request.object)
            if kind in _TEMPLATED:
                return default_workload(request.object)
            if kind == "RuntimeClass":
                return default_runtime_class(request.object)
            if kind == "HorizontalPodAutoscaler" and not request.subresource:
                return default_autoscaler(request.object)
        except (PriorityRefused, RuntimeClassRefused) as error:
            raise forbidden(request.kind, request.asked_name, str(error)) from None
        except QuantityError as error:
            version = request.kind.version
            raise bad_request(f'{kind} in version "{version}" cannot be handled as a {kind}: {error}') from None
        if kind in ("PersistentVolume", "PersistentVolumeClaim", "StorageClass"):
            made = default_storage(request.object)
            asks = kind == "PersistentVolumeClaim" and created
            return _with_class(made, store().list("StorageClass")) if asks else made
        return request.object

    return judge


def _default_new_pod(
    pod: dict[str, Any],
    class_of: Callable[[str], Object | None],
    store: Store,
    kubernetes: Version,
    specs: _Specs[dict[str, Any]],
) -> dict[str, Any]:
    """Return the pod with its defaults, its priority and the additions of its RuntimeClass, in the order of the
    plugins.

    The result depends on the spec and on the PriorityClass, so that the pods of a ReplicaSet get the same one.
    """
    priority = class_of(spec_of(pod).get("priorityClassName") or "")
    version = metadata_of(priority).get("resourceVersion") if priority is not None else None
    defaulted = specs.of(spec_of(pod), lambda: default_pod(pod, lambda _: priority, kubernetes.line), version)
    made = {**pod, "spec": defaulted["spec"], "status": defaulted["status"]}
    name = spec_of(made).get("runtimeClassName")
    if name is not None:
        runtime_class = store.get("RuntimeClass", name)
        if runtime_class is None:
            raise RuntimeClassRefused.not_found(name)
        made = with_runtime_class(made, runtime_class)
    return merge_label_keys(made, kubernetes)


def shapes(request: Request) -> dict[str, Any]:
    """Refuse a write that gives a field another type: a change of a core object, and any write of a custom one, by
    their metadata.

    Fields that controllers write have the right types. Source: the decoder of the API server, whose words about core
    objects are not Go's here; kubernetes apiextensions-apiserver pkg/apiserver/schema/objectmeta/coerce.go, apiserver
    pkg/endpoints/handlers/{rest,patch}.go.
    """
    kind = request.kind
    if kind.custom and request.identity == ADMIN:
        return _with_metadata(request)
    if request.old is not None and not kind.custom and request.identity == ADMIN:
        for error in shape_errors(request.object):
            if error.mistyped:
                where = ".".join(map(str, error.pointer))
                mismatch = (
                    f'{kind.kind} in version "{request.object.get("apiVersion")}" cannot be handled as a {kind.kind}'
                )
                raise bad_request(f"{mismatch}: {where}: {error.what}")
    return request.object


def _with_metadata(request: Request) -> dict[str, Any]:
    """The custom object without unknown fields in its metadata, which are dropped. Raises ApiError for fields of a wrong type."""
    kind, metadata = request.kind.kind, request.object.get("metadata")
    error = metadata_error(metadata)
    if error is not None and request.verb == "patch":
        cause = FieldError(ErrorType.INVALID, "patch", error, value=go_json(request.object))
        raise ApiError(422, "Invalid", f' "" is invalid: {cause}')  # of no kind and without a name
    if error is not None:
        version = str(request.object.get("apiVersion")).rpartition("/")[2]
        raise bad_request(f'{kind} in version "{version}" cannot be handled as a {kind}: {error}')
    assert isinstance(metadata, Mapping)
    pruned = known_metadata(metadata)
    return request.object if pruned is metadata else {**request.object, "metadata": dict(pruned)}


def overheads(store: Callable[[], Store]) -> Admission:
    """Refuse a new pod with an overhead that its RuntimeClass does not give; validating plugins come last."""

    def judge(request: Request) -> dict[str, Any]:
        if request.kind.kind == "Pod" and request.verb == "create" and not request.subresource:
            name = spec_of(request.object).get("runtimeClassName")
            try:
                check_overhead(request.object, store().get("RuntimeClass", name) if name is not None else None)
            except RuntimeClassRefused as error:
                raise forbidden(request.kind, request.asked_name, str(error)) from None
        return request.object

    return judge


def service_accounts(store: Callable[[], Store]) -> Admission:
    """Refuse a new pod whose service account does not exist."""

    def judge(request: Request) -> dict[str, Any]:
        if request.kind.kind == "Pod" and request.verb == "create" and not request.subresource:
            place = request.key.namespace
            why = missing_account(
                request.object, place, lambda name: store().get("ServiceAccount", name, place) is not None
            )
            if why:
                raise forbidden(request.kind, request.asked_name, why)
        return request.object

    return judge


def _with_class(claim: dict[str, Any], classes: Sequence[Object]) -> dict[str, Any]:
    """Return the claim with the default StorageClass, where it names none; the empty name counts as a name."""
    storage_class = default_class(classes) if spec_of(claim).get("storageClassName") is None else None
    return claim if storage_class is None else {**claim, "spec": {**spec_of(claim), "storageClassName": storage_class}}


def validation(kubernetes: Version) -> Admission:
    """Validate objects of core kinds as an API server of this version does."""
    wording = api_server(str(kubernetes)).names
    return partial(_validated, version=kubernetes, wording=wording, specs=LatestOf(_SPECS))


def _validated(
    request: Request, *, version: Version, wording: NameWording, specs: _Specs[list[FieldError]]
) -> dict[str, Any]:
    """Validate objects of core kinds: metadata as far as it changed, Nodes, pods, templates of pods, and updates of
    pods.

    ``version`` is the API server's, ``wording`` its own about metadata. ``specs`` keeps the errors of the specs of the
    latest new pods.
    """
    merged = merges_spread(version)  # `defaults` wrote matchLabelKeys of spread constraints into their selectors
    if request.kind.custom:
        return request.object
    new, old = request.object, request.old
    errors: list[FieldError] = []
    if old is None or new["metadata"] != old["metadata"]:
        errors.extend(validate_object_meta(new, namespaced=request.kind.namespaced, wording=wording))
        if old is not None:
            errors.extend(validate_object_meta_update(new, old))
    if request.kind.kind == "Node" and (old is None or spec_of(new) != spec_of(old)):
        errors.extend(node_errors(new, old))
    elif (
        request.kind.kind == "Pod"
        and old is not None
        and request.verb in ("update", "patch")
        and not request.subresource
    ):
        errors.extend(pod_update_errors(new, old))
    elif request.kind.kind == "RuntimeClass":
        errors.extend(runtime_class_errors(new, old))
    elif request.kind.kind == "PodDisruptionBudget" and not request.subresource:
        errors.extend(budget_errors(spec_of(new)))
    elif request.kind.kind == "HorizontalPodAutoscaler" and not request.subresource:
        errors.extend(autoscaler_errors(spec_of(new)))
    elif request.verb == "create" and request.kind.kind == "Pod":
        spec = spec_of(new)
        errors.extend(specs.of(spec, lambda: pod_spec_errors(spec, merged=merged)))
    elif request.kind.kind in _TEMPLATED and not request.subresource and (old is None or spec_of(new) != spec_of(old)):
        errors.extend(_workload_errors(request, new, old, merged=merged))
        if old is not None:
            errors.extend(workload_change_errors(new, old, version))
    elif request.kind.kind == "PersistentVolumeClaim" and old is not None and spec_of(new) != spec_of(old):
        errors.extend(claim_change_errors(new, old))
    elif request.kind.kind in FIXED_KINDS and old is not None and not request.subresource:
        errors.extend(fixed_field_errors(new, old, version))
    if request.kind.kind == "Pod" and not request.subresource:
        present = annotations_of(old) if old is not None else {}
        errors.extend(
            pod_annotation_errors(annotations_of(new), present, ("metadata", "annotations"), "metadata.annotations")
        )
    if errors:
        text = aggregate(map(str, errors))
        causes = [{"reason": error.type, "message": error.body, "field": error.field} for error in errors]
        raise invalid(request.kind, request.key.name, causes, text, cause=tuple(errors))
    return new


def _workload_errors(request: Request, new: Object, old: Object | None, *, merged: bool) -> Iterator[FieldError]:
    """Return the errors of a workload that is written, those of its pods' template included."""
    kind, path = request.kind.kind, TEMPLATE_PATHS[request.kind.kind]
    template, before = (_inside(obj, path) for obj in (new, old or {}))
    at = (*path, "metadata", "annotations")
    pods = [
        *pod_annotation_errors(annotations_of(template), annotations_of(before), at, ".".join((*path, "annotations"))),
        *pod_spec_errors(spec_of(template), (*path, "spec"), merged=merged),
    ]
    return workload_errors(kind, spec_of(new), pods, None if old is None else spec_of(old))


def _inside(obj: Object, path: Sequence[str]) -> Object:
    for field in path:
        obj = obj.get(field) or {}
    return obj


def custom_resources(crds: Crds, kubernetes: str, *, updated: bool = False) -> Admission:
    """Prune, default and validate Karpenter's resources by the installed CRDs.

    ``updated``: others were installed before, so that objects may be stored which these would refuse.
    """

    def judge(request: Request) -> dict[str, Any]:
        if not request.kind.custom:
            return request.object
        old = request.old
        # fields that these CRDs have accepted need not be judged again for every status that a controller writes
        unruled = not updated and old is not None and not differ(request.object, old, outside=_BOOKKEEPING)
        if unruled and request.object == old:
            return request.object
        try:
            verdict = admit(
                request.object,
                old=old,
                crds=crds,
                kubernetes=kubernetes,
                subresource=request.subresource,
                unruled=unruled,
            )
        except UnknownResource:
            api_version = request.object.get("apiVersion")
            message = f'no matches for kind "{request.kind.kind}" in version "{api_version}", which the CRDs of {crds.name} lack'
            raise ApiError(404, "NotFound", message) from None
        if verdict.errors:
            text = verdict.message.split(" is invalid: ", 1)[-1]
            causes = [{"reason": error.type, "message": error.body, "field": error.field} for error in verdict.errors]
            raise invalid(request.kind, request.key.name, causes, text, cause=verdict.rejections)
        return verdict.object

    return judge
