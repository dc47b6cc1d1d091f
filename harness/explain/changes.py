"""The smallest single change that would let a pod in: candidates are read off the reasons, and each is tried before it is told."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from harness.explain.amounts import rounded_down
from harness.explain.reasons import causes_of
from harness.karpenter.cloudprovider import InstanceType
from harness.karpenter.requirements import UndefinedKey
from harness.karpenter.scheduling import ClusterSnapshot, SchedulingResults
from harness.karpenter.scheduling.ledger import BeyondLimit, PoolFiltered, PoolTried, TooSmall, TypeReason, TypeVerdict
from harness.karpenter.scheduling.reasons import NodeLimitReached, RequirementsIncompatible, TaintsNotTolerated
from harness.kube.objects import copy_json, name_of, namespace_of
from harness.kube.quantity import Quantity

__all__ = ["Change", "smallest_changes"]

Types = Mapping[str, Sequence[InstanceType]]
Looked = PoolTried | PoolFiltered
Decide = Callable[[ClusterSnapshot, Types], SchedulingResults]
LIMIT = 24  # candidates tried for one pod


@dataclass(frozen=True, slots=True)
class Change:
    """One change, tried: with it Karpenter would use `nodepool`, cheapest with `size` at `price` USD per hour."""

    text: str
    nodepool: str
    size: str
    price: float


@dataclass(frozen=True, slots=True)
class _Candidate:
    rank: int
    text: str
    pod: Mapping[str, Any] | None = None
    nodepool: Mapping[str, Any] | None = None


def smallest_changes(
    pod: Mapping[str, Any], snapshot: ClusterSnapshot, types: Types, pools: Sequence[Looked], decide: Decide
) -> tuple[tuple[Change, ...], int]:
    """The changes that work and are of the smallest kind, best first, at most three; and how many were tried.

    `pools` are the NodePools that were looked at. None works when no single change is enough.
    """
    found: list[Change] = []
    rank: int | None = None
    count = 0
    candidates = sorted(_candidates(pod, snapshot, pools), key=lambda one: one.rank)
    for candidate in candidates[:LIMIT]:
        if rank is not None and candidate.rank > rank:
            break
        count += 1
        change = _try(candidate, pod, snapshot, types, decide)
        if change is not None:
            found.append(change)
            rank = candidate.rank
    return tuple(sorted(found, key=lambda one: one.price)[:3]), count


def _try(
    candidate: _Candidate, pod: Mapping[str, Any], snapshot: ClusterSnapshot, types: Types, decide: Decide
) -> Change | None:
    bound = [one for one in snapshot.pods if one.get("spec", {}).get("nodeName")]
    pools = snapshot.nodepools
    if candidate.nodepool is not None:
        changed = candidate.nodepool["metadata"]["name"]
        pools = [candidate.nodepool if one["metadata"]["name"] == changed else one for one in pools]
    results = decide(replace(snapshot, pods=[*bound, candidate.pod or pod], nodepools=pools), types)
    name = (pod["metadata"].get("namespace") or "default", pod["metadata"]["name"])
    for claim in results.nodeclaims:
        if not any((namespace_of(one), name_of(one)) == name for one in claim.pods):
            continue
        size = claim.instance_types[0].name if claim.instance_types else ""
        return Change(candidate.text, claim.nodepool, size, claim.cheapest_price)
    for node, pods in results.existing.items():
        if any((namespace_of(one), name_of(one)) == name for one in pods):
            return Change(candidate.text, f"Node {node}", "", 0.0)
    return None


def _candidates(pod: Mapping[str, Any], snapshot: ClusterSnapshot, looked_at: Sequence[Looked]) -> Iterator[_Candidate]:
    pools = {pool["metadata"]["name"]: pool for pool in snapshot.nodepools}
    tried = [entry for entry in looked_at if isinstance(entry, PoolTried)]
    yield from _tolerations(pod, tried)
    if tried:
        yield from _selectors(pod)
    for entry in looked_at:
        pool = pools.get(entry.nodepool)
        if isinstance(entry, PoolTried):
            yield from _requests(pod, entry)
            if pool is not None:
                yield from _missing_label(pod, pool, entry)
                yield from _limits(pool, entry)
        elif pool is not None:
            yield from _min_values(pool, entry)
        if pool is not None:
            yield from _pool_changes(pool)


def _tolerations(pod: Mapping[str, Any], tried: Sequence[PoolTried]) -> Iterator[_Candidate]:
    for entry in tried:
        if isinstance(entry.reason, TaintsNotTolerated):
            for taint in entry.reason.taints:
                changed = copy_json(pod)
                toleration = {"key": taint["key"], "operator": "Exists", "effect": taint["effect"]}
                changed["spec"].setdefault("tolerations", []).append(toleration)
                told = f"{taint['key']}:{taint['effect']}"
                yield _Candidate(0, f"tolerate the taint {told} of NodePool {entry.nodepool}", changed)


def _selectors(pod: Mapping[str, Any]) -> Iterator[_Candidate]:
    spec = pod.get("spec", {})
    for key, value in (spec.get("nodeSelector") or {}).items():
        changed = copy_json(pod)
        del changed["spec"]["nodeSelector"][key]
        yield _Candidate(1, f"remove {key}: {value} from the pod's nodeSelector", changed)
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    terms = (affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or {}).get("nodeSelectorTerms") or ()
    for number, term in enumerate(terms):
        for index, expression in enumerate(term.get("matchExpressions") or ()):
            changed = copy_json(pod)
            required = changed["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
            del required["nodeSelectorTerms"][number]["matchExpressions"][index]
            yield _Candidate(1, f"remove {_told(expression)} from the pod's required node affinity", changed)
    for index, constraint in enumerate(spec.get("topologySpreadConstraints") or ()):
        changed = copy_json(pod)
        del changed["spec"]["topologySpreadConstraints"][index]
        yield _Candidate(2, f"remove the topology spread over {constraint.get('topologyKey')}", changed)


def _requests(pod: Mapping[str, Any], entry: PoolTried) -> Iterator[_Candidate]:
    """Requests cut to what the largest size allows that is otherwise fine."""
    best: dict[str, TooSmall] = {}
    for reason in _only_reason(entry.types()):
        if isinstance(reason, TooSmall):
            known = best.get(reason.resource)
            if known is None or reason.allocatable > known.allocatable:
                best[reason.resource] = reason
    for resource, reason in best.items():
        over = reason.requested - reason.allocatable
        containers = pod["spec"].get("containers") or ()
        sizes = [_nano(one, resource) for one in containers]
        largest = max(range(len(sizes)), key=lambda index: sizes[index], default=None)
        if largest is None or sizes[largest] <= over.nano:
            continue
        less = rounded_down(resource, Quantity(sizes[largest] - over.nano, reason.allocatable.format))
        if less.is_zero():
            continue
        changed = copy_json(pod)
        resources = changed["spec"]["containers"][largest].setdefault("resources", {})
        resources["requests"] = {**(resources.get("requests") or {}), resource: str(less)}
        name = containers[largest].get("name")
        yield _Candidate(3, f"request at most {less} {resource} in container {name}", changed)


def _only_reason(verdicts: Iterable[TypeVerdict]) -> Iterator[TypeReason]:
    """The reasons of the sizes that only one thing speaks against."""
    return (verdict.reasons[0] for verdict in verdicts if len(verdict.reasons) == 1 and len(causes_of(verdict)) == 1)


def _nano(container: Mapping[str, Any], resource: str) -> int:
    text = ((container.get("resources") or {}).get("requests") or {}).get(resource, "0")
    return Quantity.parse(text).nano


def _missing_label(pod: Mapping[str, Any], pool: Mapping[str, Any], entry: PoolTried) -> Iterator[_Candidate]:
    cause = entry.reason.cause if isinstance(entry.reason, RequirementsIncompatible) else None
    if isinstance(cause, UndefinedKey):
        value = _asked(pod, cause.key)
        changed = copy_json(pool)
        changed["spec"]["template"].setdefault("metadata", {}).setdefault("labels", {})[cause.key] = value
        yield _Candidate(2, f"set the label {cause.key}: {value} in NodePool {entry.nodepool}", nodepool=changed)


def _limits(pool: Mapping[str, Any], entry: PoolTried) -> Iterator[_Candidate]:
    """Limits raised by what the smallest size lacks that is otherwise fine; taken away where that is not enough."""
    limits = pool["spec"].get("limits")
    if not limits:
        return
    least: dict[str, Quantity] = {}
    for reason in _only_reason(entry.types()):
        if isinstance(reason, BeyondLimit):
            lacks = reason.capacity - reason.remaining
            least[reason.resource] = min(lacks, least.get(reason.resource, lacks))
    if isinstance(entry.reason, NodeLimitReached):
        least["nodes"] = Quantity.parse(1)
    for resource, lacks in least.items():
        if resource not in limits:
            continue
        changed = copy_json(pool)
        wanted = Quantity.parse(limits[resource]) + lacks
        changed["spec"]["limits"][resource] = str(wanted)
        told = f"raise the {resource} limit of NodePool {entry.nodepool} from {limits[resource]} to {wanted}"
        yield _Candidate(2, told, nodepool=changed)
    if not least:
        changed = copy_json(pool)
        del changed["spec"]["limits"]
        yield _Candidate(2, f"remove the limits of NodePool {entry.nodepool}", nodepool=changed)


def _min_values(pool: Mapping[str, Any], entry: PoolFiltered) -> Iterator[_Candidate]:
    for index, requirement in enumerate(pool["spec"]["template"]["spec"].get("requirements") or ()):
        present = entry.unmet.get(requirement["key"])
        if present and requirement.get("minValues") is not None:
            changed = copy_json(pool)
            changed["spec"]["template"]["spec"]["requirements"][index]["minValues"] = present
            told = f"lower minValues of {requirement['key']} from {requirement['minValues']} to {present}"
            yield _Candidate(2, f"{told} in NodePool {entry.nodepool}", nodepool=changed)
            # the pod, or the number of sizes that a NodeClaim may name, can leave fewer values than the NodePool has
            freed = copy_json(changed)
            del freed["spec"]["template"]["spec"]["requirements"][index]["minValues"]
            told = f"remove minValues ({requirement['minValues']}) of {requirement['key']}"
            yield _Candidate(3, f"{told} from NodePool {entry.nodepool}", nodepool=freed)


def _pool_changes(pool: Mapping[str, Any]) -> Iterator[_Candidate]:
    """The NodePool without one of its requirements or labels."""
    name = pool["metadata"]["name"]
    template = pool["spec"]["template"]
    for index, requirement in enumerate(template["spec"].get("requirements") or ()):
        changed = copy_json(pool)
        del changed["spec"]["template"]["spec"]["requirements"][index]
        yield _Candidate(4, f"remove {_told(requirement)} from NodePool {name}", nodepool=changed)
    for key, value in ((template.get("metadata") or {}).get("labels") or {}).items():
        changed = copy_json(pool)
        del changed["spec"]["template"]["metadata"]["labels"][key]
        yield _Candidate(4, f"remove the label {key}: {value} from NodePool {name}", nodepool=changed)


def _told(expression: Mapping[str, Any]) -> str:
    """`KEY In [a, b]`, `KEY Exists`, with `minValues` where it has them."""
    values = f" [{', '.join(expression['values'])}]" if expression.get("values") else ""
    least = f" (minValues {expression['minValues']})" if expression.get("minValues") is not None else ""
    return f"{expression['key']} {expression['operator']}{values}{least}"


def _asked(pod: Mapping[str, Any], key: str) -> str:
    selector = pod.get("spec", {}).get("nodeSelector") or {}
    if key in selector:
        return str(selector[key])
    affinity = (pod["spec"].get("affinity") or {}).get("nodeAffinity") or {}
    terms = (affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or {}).get("nodeSelectorTerms") or ()
    for term in terms:
        for expression in term.get("matchExpressions") or ():
            if expression["key"] == key and expression.get("values"):
                return str(expression["values"][0])
    return "any"
