"""Op ``schedule``: one pass of the provisioner over the objects of the request."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from sys import float_info
from typing import Any

from harness.conformance.context import AnswerContext
from harness.conformance.errors import RequestError, Unsupported
from harness.conformance.ops.catalog import instance_types
from harness.engine.clock import parse
from harness.karpenter.cloudprovider import InstanceType
from harness.karpenter.disruption.deletion_costs import GATE as DELETION_COSTS
from harness.karpenter.labels.vocabulary import Vocabulary
from harness.karpenter.overlays.controller import GATE, with_verdict
from harness.karpenter.overlays.evaluation import Evaluation, evaluate
from harness.karpenter.releases import STRICT, ProviderRelease
from harness.karpenter.scheduling import (
    CatalogIndexes,
    ClusterSnapshot,
    PlannedNodeClaim,
    SchedulingOptions,
    TopologyError,
    pod_key,
    solve,
)
from harness.kube.api.objects import Object, name_of
from harness.kube.api.resources import render

_UNSCHEDULABLE = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
_READY = [{"type": kind, "status": "True"} for kind in ("ValidationSucceeded", "NodeClassReady", "Ready")]
_NODE_CLASS = {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"}
_SPREADING = (
    ("replicasets", "apps/v1", "ReplicaSet"),
    ("statefulsets", "apps/v1", "StatefulSet"),
    ("replicationcontrollers", "v1", "ReplicationController"),
)
"""Key of a request, apiVersion and kind of the workloads beside whose pods a pod is spread by default."""
_NOW = "2026-01-01T00:00:00Z"
_INDEXES = "\0indexes"  # beside the catalogs, under a name that no request can mean


def answer(request: Mapping[str, Any], context: AnswerContext) -> Any:
    """NodeClaims, placements and errors as the protocol shows them. Raises RequestError for unusable input."""
    options = request.get("options") or {}
    snapshot = snapshot_of(request)
    release = _release(context.release, options.get("reservationLabel"))
    types = types_of(request, context, release.vocabulary, [name_of(pool) for pool in snapshot.nodepools])
    overlays = overlays_of(request, snapshot.nodepools, types, release)
    try:
        results = solve(
            snapshot,
            overlaid(overlays, types),
            release=release,
            options=scheduling_options(options),
            indexes=catalog_indexes(context),
        )
    except TopologyError as error:
        text = f"creating scheduler, tracking topology counts, {error}"
        return {"error": text, "ignored": {}, **overlays_answer(overlays)}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise RequestError(f"not schedulable input: {type(error).__name__}: {error}") from error
    return {
        "nodeclaims": [nodeclaim_answer(planned) for planned in results.nodeclaims],
        "existing": {node: [pod_key(pod) for pod in pods] for node, pods in results.existing.items()},
        "errors": {pod: str(reason) for pod, reason in results.errors.items()},
        "ignored": dict(results.ignored),
        "events": [
            {"reason": event.reason, "type": event.type, "message": event.message, "object": event.object}
            for event in results.events
        ],
        **overlays_answer(overlays),
    }


def overlays_of(
    request: Mapping[str, Any],
    nodepools: Sequence[Object],
    types: Mapping[str, Sequence[InstanceType]],
    release: ProviderRelease,
) -> Evaluation | None:
    """Return the evaluation of the request's NodeOverlays; None without any. Raises Unsupported for a release without."""
    overlays = _list(request, "nodeoverlays")
    if not overlays:
        return None
    if GATE not in release.core.gates:
        raise Unsupported("this release has no NodeOverlays")
    return evaluate(overlays, nodepools, types, release)


def overlaid(
    overlays: Evaluation | None, types: Mapping[str, Sequence[InstanceType]]
) -> Mapping[str, Sequence[InstanceType]]:
    """The instance types with what NodeOverlays say, by NodePool."""
    if overlays is None:
        return types
    return {pool: overlays.apply(pool, types_of_pool) for pool, types_of_pool in types.items()}


def overlays_answer(overlays: Evaluation | None) -> dict[str, Any]:
    """The conditions of the request's NodeOverlays, as the protocol shows them."""
    if overlays is None:
        return {}
    shown = ("status", "reason", "message")
    shown_by_name = {}
    for name, verdict in overlays.verdicts.items():
        conditions = with_verdict({"metadata": {"name": name}}, verdict, _NOW).items
        shown_by_name[name] = {state["type"]: {key: state[key] for key in shown} for state in conditions}
    return {"overlays": shown_by_name}


def snapshot_of(request: Mapping[str, Any]) -> ClusterSnapshot:
    """The objects of the request, with the protocol's defaults. Raises RequestError."""
    options = request.get("options") or {}
    nodepools, pods = with_defaults(_list(request, "nodepools"), _list(request, "pods"))
    return ClusterSnapshot(
        nodepools,
        pods,
        daemonsets=[_in_namespace(daemonset, "kube-system") for daemonset in _list(request, "daemonsets")],
        pvcs=[_in_namespace(pvc, "default") for pvc in _list(request, "pvcs")],
        nodes=_list(request, "nodes"),
        nodeclaims=_list(request, "nodeclaims"),
        namespaces=_list(request, "namespaces"),
        pvs=_list(request, "pvs"),
        storageclasses=_list(request, "storageclasses"),
        csinodes=_list(request, "csinodes"),
        pdbs=[_in_namespace(pdb, "default") for pdb in _list(request, "pdbs")],
        services=_list(request, "services"),
        workloads=[
            {"apiVersion": version, "kind": kind, **workload}
            for name, version, kind in _SPREADING
            for workload in _list(request, name)
        ],
        deleting=frozenset(request.get("deleting") or ()),
        now=parse(options["now"]) if options.get("now") else 0,
    )


def scheduling_options(options: Mapping[str, Any]) -> SchedulingOptions:
    """Karpenter's own options. Raises ValueError for policies that it does not have."""
    return SchedulingOptions(
        preference_policy=options.get("preferencePolicy") or "Respect",
        min_values_policy=options.get("minValuesPolicy") or STRICT,
        stable_inflight_sort=bool(options.get("stableInflightSort")),
        reservation_label=options.get("reservationLabel") or None,
        default_spread=tuple(options.get("defaultConstraints") or ()),
        writes_deletion_costs=DELETION_COSTS in (options.get("gates") or ()),
    )


def with_defaults(nodepools: Sequence[Any], pods: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Both lists with what the protocol fills in: ready NodePools with a node class, unschedulable pods in a namespace."""
    return [_nodepool(pool) for pool in nodepools], [_pod(pod) for pod in pods]


def _list(request: Mapping[str, Any], name: str) -> Sequence[Any]:
    items = request.get(name) or ()
    if not isinstance(items, list | tuple) or not all(isinstance(item, Mapping) for item in items):
        raise RequestError(f"{name} is not a list of objects")
    return items


def catalog_indexes(context: AnswerContext) -> CatalogIndexes:
    """Return the indexes of lists of instance types, which all questions share."""
    indexes = context.catalogs.setdefault(_INDEXES, CatalogIndexes())
    assert isinstance(indexes, CatalogIndexes)
    return indexes


def _release(release: ProviderRelease, reservation_label: str | None) -> ProviderRelease:
    """The release as it is with a provider that has reserved capacity, which knows the label that names a reservation."""
    if not reservation_label:
        return release
    well_known = release.vocabulary.well_known | {reservation_label}
    return replace(release, vocabulary=replace(release.vocabulary, well_known=well_known))


def types_of(
    request: Mapping[str, Any], context: AnswerContext, vocabulary: Vocabulary, nodepools: Sequence[str]
) -> Mapping[str, Sequence[InstanceType]]:
    """The instance types of NodePools by name."""
    name, inline = request.get("catalog") or "", request.get("instance_types") or ()
    common: Sequence[InstanceType] = context.catalogs.get(name, ()) if name else ()
    if inline:
        common = (*common, *instance_types(inline, vocabulary))
    by_pool = request.get("catalog_by_nodepool") or {}
    return {pool: context.catalogs.get(by_pool[pool], ()) if pool in by_pool else common for pool in nodepools}


def _in_namespace(obj: Mapping[str, Any], namespace: str) -> Mapping[str, Any]:
    metadata = obj.get("metadata") or {}
    return obj if metadata.get("namespace") else {**obj, "metadata": {**metadata, "namespace": namespace}}


def _pod(pod: Mapping[str, Any]) -> Mapping[str, Any]:
    pod = _in_namespace(pod, "default")
    status = pod.get("status") or {}
    if not (pod.get("spec") or {}).get("nodeName") and not status.get("conditions"):
        pod = {**pod, "status": {**status, "phase": "Pending", "conditions": [_UNSCHEDULABLE]}}
    return pod


def _nodepool(pool: Mapping[str, Any]) -> Mapping[str, Any]:
    spec = pool.get("spec") or {}
    template = spec.get("template") or {}
    inner = template.get("spec") or {}
    if inner.get("nodeClassRef") is None:
        inner = {**inner, "nodeClassRef": _NODE_CLASS}
    status = pool.get("status") or {}
    if not status.get("conditions"):
        status = {**status, "conditions": _READY}
    return {**pool, "spec": {**spec, "template": {**template, "spec": inner}}, "status": status}


def nodeclaim_answer(planned: PlannedNodeClaim) -> dict[str, Any]:
    """A NodeClaim that should be created, as the protocol shows it."""
    created = planned.to_nodeclaim()
    metadata, spec = created["metadata"], dict(created["spec"])
    requirements = spec.pop("requirements")
    answer: dict[str, Any] = {
        "nodepool": planned.nodepool,
        "pods": [pod_key(pod) for pod in planned.pods],
        "requests": render(planned.requests),
        "requirements": planned.requirements.node_selector_requirements(),
        "requirements_string": str(planned.requirements),
        "instance_types": [instance_type.name for instance_type in planned.instance_types],
        "nodeclaim": {
            "metadata": {name: metadata[name] for name in ("generateName", "labels", "annotations")},
            "spec": spec,
            "requirements": requirements,
        },
    }
    if planned.instance_types:
        # core's price of an instance type without an offering is math.MaxFloat64 (pkg/cloudprovider/types.go OrderByPrice)
        answer["cheapest_price"] = min(planned.cheapest_price, float_info.max)
    return answer
