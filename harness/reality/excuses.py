"""Fields of one object that its history, or a change of its NodePool or AKSNodeClass, explains, and the reason for each."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

from harness.karpenter.labels import azure, core
from harness.kube.api.labels import UNSCHEDULABLE
from harness.kube.api.objects import Object, is_mapping, is_terminating, mapping_in
from harness.kube.scheduling.taints import NO_SCHEDULE, taint_identity
from harness.reality.rules import OTHER_HASH, Excuse

__all__ = ["of_changes", "of_history", "template_of"]

_GONE = "its kubelet has stopped reporting"
_ON_ITS_WAY_OUT = "it is on its way out"
_NOT_YET = "a startup taint is still on its Node"
_STARTING = r"conditions\.(Initialized|Ready)(\.reason)?|labels\.karpenter\.sh/initialized"
_ENDING = frozenset({"InstanceTerminating", "Drained", "VolumesDetached"})
"""Conditions of a NodeClaim that is being deleted (core pkg/apis/v1/nodeclaim_status.go)."""
_DISRUPTED = f"taints.{core.DISRUPTED_TAINT['key']}:{core.DISRUPTED_TAINT['effect']}"
_CORDON = f"taints.{UNSCHEDULABLE}:{NO_SCHEDULE}"
_OUTGOING = re.compile(
    rf"conditions\..*|unschedulable|{re.escape(_DISRUPTED)}|{re.escape(_CORDON)}|annotations\.karpenter\.sh/nodeclaim-.*"
)
_BY_CLASS = frozenset(
    {
        azure.AKS_OS_SKU,
        azure.AKS_OS_SKU_REQUESTED,
        azure.AKS_OS_SKU_EFFECTIVE,
        azure.AKS_FIPS,
        azure.AKS_LOCAL_DNS_STATE,
        azure.AKS_ARTIFACT_STREAMING,
    }
)
_OF_THE_CLASS = re.compile(
    r"(capacity|allocatable)\.(pods|ephemeral-storage|nvidia\.com/gpu)|allocatable\.memory|labels\.("
    + "|".join(map(re.escape, sorted(_BY_CLASS)))
    + ")"
)
"""Fields that an AKSNodeClass decides: maxPods (for whose pods memory is kept), the OS disk, the image, its drivers and services."""
_OF_THE_POOL = r"expireAfter|terminationGracePeriod|nodeClassRef\..*|(taints|startupTaints)\..*"


def of_history(obj: Object, pool: Object | None) -> Iterator[Excuse]:
    """Yield the excuses of a Node or a NodeClaim of the NodePool that is leaving, not started, or silent."""
    spec, conditions = mapping_in(obj.get("spec")), [*_entries(mapping_in(obj.get("status")).get("conditions"))]
    taints = _entries(spec.get("taints")) if obj.get("kind") == "Node" else ()
    disrupted = any(taint.get("key") == core.DISRUPTED_TAINT["key"] for taint in taints)
    ending = any(str(condition.get("type")) in _ENDING for condition in conditions)
    if is_terminating(obj) or disrupted or ending:
        yield _OUTGOING, _ON_ITS_WAY_OUT
    startup = [
        taint_identity(taint) for taint in _entries(mapping_in(template_of(pool).get("spec")).get("startupTaints"))
    ]
    waits = any(condition.get("reason") == "StartupTaintsExist" for condition in conditions)
    if waits or any(taint_identity(taint) in startup for taint in taints):
        names = [re.escape(f"taints.{key}:{effect}") for key, effect in startup]
        yield re.compile("|".join((_STARTING, *names))), _NOT_YET
    silent = [str(condition["type"]) for condition in conditions if condition.get("reason") == "NodeStatusUnknown"]
    if silent:  # kubernetes pkg/controller/nodelifecycle/node_lifecycle_controller.go
        yield re.compile(rf"conditions\.({'|'.join(map(re.escape, silent))})(\.reason)?"), _GONE


def of_changes(pool: Object | None, changed: Collection[str]) -> Iterator[Excuse]:
    """Yield the excuses of a machine whose NodePool or AKSNodeClass was changed since; `changed`: the annotations of their hashes."""
    for annotation in changed:
        yield re.compile(re.escape(f"annotations.{annotation}")), OTHER_HASH
    if core.NODEPOOL_HASH in changed:
        written = mapping_in(template_of(pool).get("metadata"))
        fields = [
            re.escape(f"{name}.{key}") for name in ("labels", "annotations") for key in mapping_in(written.get(name))
        ]
        yield re.compile("|".join((_OF_THE_POOL, *fields))), OTHER_HASH
    if azure.NODE_CLASS_HASH in changed:
        yield _OF_THE_CLASS, OTHER_HASH


def template_of(pool: Object | None) -> Object:
    """Return the template of a NodePool, empty where there is none or it is no map."""
    return mapping_in(mapping_in(mapping_in(pool).get("spec")).get("template"))


def _entries(value: object) -> Iterable[Object]:
    return [entry for entry in value if is_mapping(entry)] if isinstance(value, list | tuple) else []
