"""The two ways of AKS's how-to as steps of a scenario: pools drained in waves, or taints and tolerations side by side.

Source: learn.microsoft.com, "Migrate from the cluster autoscaler to node auto-provisioning".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import chain, count
from math import ceil
from typing import Any

from harness.explain.lint.pods import pod_templates
from harness.kube.api.objects import Object, mapping_in, name_of, namespace_of, spec_of
from harness.kube.scheduling.taints import taint_text
from harness.kube.workloads.templates import TEMPLATE_PATHS
from harness.migrate.agent_pools import POOLS_BLOCK, AgentPool
from harness.migrate.judging.judgement import Judged, Move
from lazyrecords import dataclass

__all__ = ["WORKLOADS", "Moving", "Way", "nodepools_block", "reference", "steps", "with_block"]

WORKLOADS = ("Deployment", "StatefulSet", "ReplicaSet", "ReplicationController", "DaemonSet", "Job")
"""Kinds whose pods a scenario makes."""
_ROLLED_OUT = ("Deployment", "StatefulSet", "DaemonSet")
_WAVES = 3
_PAUSE, _AFTERWARDS = "15m", "2h"
_POOLS_TAINT = {"key": POOLS_BLOCK, "value": "true", "effect": "NoSchedule"}
_NODEPOOLS_BLOCK = "autoscaling.azure.com/nap-block"


class Way(StrEnum):
    """A way from agent pools to NodePools."""

    WAVES = "pools are drained in waves"
    SIDE_BY_SIDE = "taints and tolerations side by side"


@dataclass(frozen=True, slots=True)
class Moving:
    """Agent pools that go with their counts, the manifests in their place, and the verdicts on the workloads.

    `block` is the taint that keeps workloads off the NodePools until it is their turn.
    """

    pools: Sequence[tuple[AgentPool, int]]
    manifests: Sequence[Mapping[str, Any]]
    judged: Sequence[Judged]
    block: Mapping[str, str]


def nodepools_block(objects: Iterable[Object]) -> Mapping[str, str]:
    """Return the taint of the how-to for NodePools, under another key where a cluster's objects have that one already.

    Workloads that tolerate it before the move would not be kept off.
    """
    used: set[str] = set()
    everything = list(objects)
    for obj in everything:
        spec = spec_of(obj)
        place = mapping_in(mapping_in(spec.get("template")).get("spec")) if obj["kind"] == "NodePool" else spec
        if obj["kind"] in ("Node", "NodePool"):
            used |= {str(taint.get("key")) for taint in place.get("taints") or ()}
    for template in pod_templates(everything):
        tolerations = mapping_in(template.pod.get("spec")).get("tolerations") or ()
        used |= {str(toleration.get("key")) for toleration in tolerations}
    keys = chain([_NODEPOOLS_BLOCK], (f"{_NODEPOOLS_BLOCK}-{number}" for number in count(2)))
    return {"key": next(key for key in keys if key not in used), "effect": "NoSchedule"}


def steps(way: Way, moving: Moving) -> Iterator[Any]:
    """Yield the steps of a way; the first two only let the cluster come to rest, at the end Karpenter has time to consolidate."""
    yield "settle"
    yield {"advance": "1m"}
    yield from _in_waves(moving) if way is Way.WAVES else _side_by_side(moving)
    yield {"advance": _AFTERWARDS}


def with_block(manifest: Mapping[str, Any], block: Mapping[str, str]) -> Mapping[str, Any]:
    """Return a NodePool whose Nodes keep off all that does not tolerate them; another object as it is."""
    if manifest["kind"] != "NodePool":
        return manifest
    spec = manifest["spec"]
    template = {
        **spec["template"],
        "spec": {**spec["template"]["spec"], "taints": [*_taints(manifest), dict(block)]},
    }
    return {**manifest, "spec": {**spec, "template": template}}


def _taints(nodepool: Mapping[str, Any]) -> list[Any]:
    return list(nodepool["spec"]["template"]["spec"].get("taints") or ())


def _in_waves(moving: Moving) -> Iterator[Any]:
    yield _applied(moving)
    for verdict in moving.judged:
        if (patch := verdict.patch) is not None and verdict.running.workload.kind in WORKLOADS:
            yield {"patch": {"of": reference(verdict.running.object), "to": patch}}
    yield "settle"
    yield from _drained(moving)


def _side_by_side(moving: Moving) -> Iterator[Any]:
    """Workloads tolerate the pools, then the NodePools instead, one after the other; at last taints and tolerations go.

    Pods that nobody can roll out leave their pool when it is drained, so that the NodePools lose their taint before that.
    """
    rolled_out = [verdict for verdict in moving.judged if _is_rolled_out(verdict)]
    for verdict in rolled_out:
        yield _tolerating(verdict, [_POOLS_TAINT, *([moving.block] if verdict.running.is_daemon else ())])
    yield "settle"
    for pool, _ in moving.pools:
        own = [taint_text(taint) for taint in pool.taints()]
        yield {"agentPool": {"name": pool.name, "taint": list(dict.fromkeys([*own, taint_text(_POOLS_TAINT)]))}}
    yield _applied(moving)
    yield "settle"
    for verdict in rolled_out:
        if not verdict.running.is_daemon and verdict.move is not Move.STAYS:
            yield _tolerating(verdict, [moving.block], verdict.patch)
            yield {"advance": _PAUSE}
    for manifest in moving.manifests:
        if manifest["kind"] == "NodePool":
            without = {"spec": {"template": {"spec": {"taints": _taints(manifest) or None}}}}
            yield {"patch": {"of": f"NodePool/{name_of(manifest)}", "to": without}}
    yield {"advance": _AFTERWARDS}
    yield from _drained(moving)
    for verdict in rolled_out:
        yield _tolerating(verdict, [])


def _applied(moving: Moving) -> dict[str, Any]:
    return {"apply": [f"{manifest['kind']}/{name_of(manifest)}" for manifest in moving.manifests]}


def _drained(moving: Moving) -> Iterator[Any]:
    """Yield the cordon of all pools that go, then each pool in waves."""
    if moving.pools:
        yield {"cordon": [f"Node/aks-{pool.name}-*" for pool, _ in moving.pools]}
    for pool, machines in moving.pools:
        for left in _waves(machines):
            yield {"agentPool": {"name": pool.name, "count": left}}
            yield {"advance": _PAUSE}


def _waves(count: int) -> Iterator[int]:
    """The counts that a pool comes down to, three waves at most."""
    step = ceil(count / _WAVES)
    left = count
    while left > 0:
        left = max(0, left - step)
        yield left


def _is_rolled_out(verdict: Judged) -> bool:
    return verdict.running.workload.kind in _ROLLED_OUT and not verdict.on_windows


def _tolerating(
    verdict: Judged, taints: Sequence[Mapping[str, str]], patch: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The patch of a workload's template that tolerates taints beside its own; `patch` is one more of the same template."""
    own = list(spec_of(verdict.running.pod).get("tolerations") or ())
    added = [{**taint, "operator": "Equal" if "value" in taint else "Exists"} for taint in taints]
    place: Any = patch or {}
    for field in TEMPLATE_PATHS[verdict.running.workload.kind]:
        place = mapping_in(place.get(field))
    change: dict[str, Any] = {"spec": {**mapping_in(place.get("spec")), "tolerations": [*own, *added] or None}}
    for field in reversed(TEMPLATE_PATHS[verdict.running.workload.kind]):
        change = {field: change}
    return {"patch": {"of": reference(verdict.running.object), "to": change}}


def reference(obj: Object) -> str:
    """Return the name of an object in a scenario: the namespace only where it is not `default`."""
    namespace = namespace_of(obj)
    middle = f"{namespace}/" if namespace not in ("", "default") else ""
    return f"{obj['kind']}/{middle}{name_of(obj)}"
