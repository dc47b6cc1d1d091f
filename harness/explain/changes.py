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
SHOWN = 8  # values of a requirement that are named
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
    """`edit` changes a copy of the pod, or of the NodePool of that name; it is made only when the change is tried."""

    rank: int
    text: str
    edit: Callable[[dict[str, Any]], None]
    nodepool: str | None = None


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
    pools = [
        _edited(one, candidate) if one["metadata"]["name"] == candidate.nodepool else one for one in snapshot.nodepools
    ]
    wanted = pod if candidate.nodepool is not None else _edited(pod, candidate)
    results = decide(replace(snapshot, pods=[*bound, wanted], nodepools=pools), types)
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


def _edited(obj: Mapping[str, Any], candidate: _Candidate) -> dict[str, Any]:
    changed: dict[str, Any] = copy_json(obj)
    candidate.edit(changed)
    return changed


def _candidates(pod: Mapping[str, Any], snapshot: ClusterSnapshot, looked_at: Sequence[Looked]) -> Iterator[_Candidate]:
    pools = {pool["metadata"]["name"]: pool for pool in snapshot.nodepools}
    tried = [entry for entry in looked_at if isinstance(entry, PoolTried)]
    yield from _tolerations(tried)
    if tried:
        yield from _selectors(pod)
    for entry in looked_at:
        pool = pools.get(entry.nodepool)
        if isinstance(entry, PoolTried):
            yield from _requests(pod, entry)
            if pool is not None:
                yield from _missing_label(pod, entry)
                yield from _limits(pool, entry)
        elif pool is not None:
            yield from _min_values(pool, entry)
        if pool is not None:
            yield from _pool_changes(pool)


def _tolerations(tried: Sequence[PoolTried]) -> Iterator[_Candidate]:
    for entry in tried:
        if isinstance(entry.reason, TaintsNotTolerated):
            for taint in entry.reason.taints:
                toleration = {"key": taint["key"], "operator": "Exists", "effect": taint["effect"]}
                told = f"{taint['key']}:{taint['effect']}"
                yield _Candidate(0, f"tolerate the taint {told} of NodePool {entry.nodepool}", _tolerating(toleration))


def _tolerating(toleration: Mapping[str, Any]) -> Callable[[dict[str, Any]], None]:
    def edit(pod: dict[str, Any]) -> None:
        pod["spec"]["tolerations"] = [*(pod["spec"].get("tolerations") or ()), toleration]

    return edit


def _selectors(pod: Mapping[str, Any]) -> Iterator[_Candidate]:
    spec = pod.get("spec", {})
    for key, value in (spec.get("nodeSelector") or {}).items():
        yield _Candidate(
            1, f"remove {key}: {value} from the pod's nodeSelector", _without(("spec", "nodeSelector"), key)
        )
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    terms = (affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or {}).get("nodeSelectorTerms") or ()
    at = ("spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")
    for number, term in enumerate(terms):
        for index, expression in enumerate(term.get("matchExpressions") or ()):
            told = f"remove {_told(expression)} from the pod's required node affinity"
            yield _Candidate(1, told, _without((*at, number, "matchExpressions"), index))
    for index, constraint in enumerate(spec.get("topologySpreadConstraints") or ()):
        told = f"remove the topology spread over {constraint.get('topologyKey')}"
        yield _Candidate(2, told, _without(("spec", "topologySpreadConstraints"), index))


def _without(path: Sequence[str | int], last: str | int) -> Callable[[dict[str, Any]], None]:
    """Takes the part `last` away from what is at `path`."""

    def edit(obj: dict[str, Any]) -> None:
        holder: Any = obj
        for part in path:
            holder = holder[part]
        del holder[last]

    return edit


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
        told = f"request at most {less} {resource} in container {containers[largest].get('name')}"
        yield _Candidate(3, told, _requesting(largest, resource, str(less)))


def _requesting(container: int, resource: str, amount: str) -> Callable[[dict[str, Any]], None]:
    def edit(pod: dict[str, Any]) -> None:
        resources = pod["spec"]["containers"][container].setdefault("resources", {})
        resources["requests"] = {**(resources.get("requests") or {}), resource: amount}

    return edit


def _only_reason(verdicts: Iterable[TypeVerdict]) -> Iterator[TypeReason]:
    """The reasons of the sizes that only one thing speaks against."""
    return (verdict.reasons[0] for verdict in verdicts if len(verdict.reasons) == 1 and len(causes_of(verdict)) == 1)


def _nano(container: Mapping[str, Any], resource: str) -> int:
    text = ((container.get("resources") or {}).get("requests") or {}).get(resource, "0")
    return Quantity.parse(text).nano


def _missing_label(pod: Mapping[str, Any], entry: PoolTried) -> Iterator[_Candidate]:
    cause = entry.reason.cause if isinstance(entry.reason, RequirementsIncompatible) else None
    if isinstance(cause, UndefinedKey):
        key, value = cause.key, _asked(pod, cause.key)

        def edit(pool: dict[str, Any]) -> None:
            metadata = pool["spec"]["template"].setdefault("metadata", {})
            metadata["labels"] = {**(metadata.get("labels") or {}), key: value}

        yield _Candidate(2, f"set the label {key}: {value} in NodePool {entry.nodepool}", edit, entry.nodepool)


def _limits(pool: Mapping[str, Any], entry: PoolTried) -> Iterator[_Candidate]:
    """Limits raised by what the smallest size lacks that is otherwise fine; taken away where that is not enough."""
    limits, name = pool["spec"].get("limits"), entry.nodepool
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
        if resource in limits:
            wanted = str(Quantity.parse(limits[resource]) + lacks)
            told = f"raise the {resource} limit of NodePool {name} from {limits[resource]} to {wanted}"
            yield _Candidate(2, told, _setting(("spec", "limits"), resource, wanted), name)
    if not least:
        yield _Candidate(2, f"remove the limits of NodePool {name}", _without(("spec",), "limits"), name)


def _setting(path: Sequence[str | int], last: str, value: Any) -> Callable[[dict[str, Any]], None]:
    """Sets the part `last` of what is at `path`."""

    def edit(obj: dict[str, Any]) -> None:
        holder: Any = obj
        for part in path:
            holder = holder[part]
        holder[last] = value

    return edit


_REQUIREMENTS = ("spec", "template", "spec", "requirements")


def _min_values(pool: Mapping[str, Any], entry: PoolFiltered) -> Iterator[_Candidate]:
    name = entry.nodepool
    for index, requirement in enumerate(pool["spec"]["template"]["spec"].get("requirements") or ()):
        present, asked = entry.unmet.get(requirement["key"]), requirement.get("minValues")
        if present and asked is not None:
            at = (*_REQUIREMENTS, index)
            told = f"lower minValues of {requirement['key']} from {asked} to {present} in NodePool {name}"
            yield _Candidate(2, told, _setting(at, "minValues", present), name)
            # the pod, or the number of sizes that a NodeClaim may name, can leave fewer values than the NodePool has
            told = f"remove minValues ({asked}) of {requirement['key']} from NodePool {name}"
            yield _Candidate(3, told, _without(at, "minValues"), name)


def _pool_changes(pool: Mapping[str, Any]) -> Iterator[_Candidate]:
    """The NodePool without one of its requirements or labels."""
    name = pool["metadata"]["name"]
    template = pool["spec"]["template"]
    for index, requirement in enumerate(template["spec"].get("requirements") or ()):
        yield _Candidate(4, f"remove {_told(requirement)} from NodePool {name}", _without(_REQUIREMENTS, index), name)
    labels = ("spec", "template", "metadata", "labels")
    for key, value in ((template.get("metadata") or {}).get("labels") or {}).items():
        yield _Candidate(4, f"remove the label {key}: {value} from NodePool {name}", _without(labels, key), name)


def _told(expression: Mapping[str, Any]) -> str:
    """`KEY In [a, b]`, `KEY Exists`, with `minValues` where it has them."""
    given = expression.get("values") or ()
    more = f", … {len(given)} values" if len(given) > SHOWN else ""
    values = f" [{', '.join(given[:SHOWN])}{more}]" if given else ""
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
