"""Changes that could let a pod in, read off the reasons: edits of the pod, of a NodePool or of an AKSNodeClass, not yet tried."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.explain.amounts import rounded_down
from harness.explain.reasons import causes_of
from harness.karpenter.cloudprovider import InstanceType
from harness.karpenter.requirements import UndefinedKey
from harness.karpenter.scheduling import ClusterSnapshot
from harness.karpenter.scheduling.ledger import BeyondLimit, PoolFiltered, PoolTried, TooSmall, TypeReason, TypeVerdict
from harness.karpenter.scheduling.reasons import NodeLimitReached, RequirementsIncompatible, TaintsNotTolerated
from harness.kube.api.quantity import Quantity

__all__ = ["Candidate", "Looked", "NodeClassSeen", "candidates"]

Looked = PoolTried | PoolFiltered
Edit = Callable[[dict[str, Any]], None]
SHOWN = 8  # values of a requirement that are named


@dataclass(frozen=True, slots=True)
class NodeClassSeen:
    """An AKSNodeClass: the NodePools with it, the filters that keep sizes from it, and what it would offer when changed."""

    nodeclass: Mapping[str, Any]
    nodepools: frozenset[str]
    filters: frozenset[str]
    types: Callable[[Mapping[str, Any]], Sequence[InstanceType]]


@dataclass(frozen=True, slots=True)
class Candidate:
    """`edit` changes a copy of the pod, of the NodePool or of the AKSNodeClass of that name; smaller changes have a lower rank."""

    rank: int
    text: str
    edit: Edit
    nodepool: str | None = None
    nodeclass: NodeClassSeen | None = None


def candidates(
    pod: Mapping[str, Any],
    snapshot: ClusterSnapshot,
    looked_at: Sequence[Looked],
    classes: Iterable[NodeClassSeen],
) -> Iterator[Candidate]:
    """All changes that the reasons suggest, of those of one list the first parts first."""
    pools = {pool["metadata"]["name"]: pool for pool in snapshot.nodepools}
    tried = [entry for entry in looked_at if isinstance(entry, PoolTried)]
    yield from _tolerations(tried)
    yield from _other_keys(pod, tried)
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
    for seen in classes:
        yield from _nodeclass_changes(seen)


def _tolerations(tried: Sequence[PoolTried]) -> Iterator[Candidate]:
    for entry in tried:
        if isinstance(entry.reason, TaintsNotTolerated):
            for taint in entry.reason.taints:
                toleration = {"key": taint["key"], "operator": "Exists", "effect": taint["effect"]}
                told = f"{taint['key']}:{taint['effect']}"
                yield Candidate(0, f"tolerate the taint {told} of NodePool {entry.nodepool}", _tolerating(toleration))


def _tolerating(toleration: Mapping[str, Any]) -> Edit:
    def edit(pod: dict[str, Any]) -> None:
        pod["spec"]["tolerations"] = [*(pod["spec"].get("tolerations") or ()), toleration]

    return edit


def _other_keys(pod: Mapping[str, Any], tried: Sequence[PoolTried]) -> Iterator[Candidate]:
    """The key that Karpenter itself takes for meant, in the nodeSelector's place of the unknown one."""
    selector = pod.get("spec", {}).get("nodeSelector") or {}
    meant: dict[str, str] = {}
    for entry in tried:
        cause = entry.reason.cause if isinstance(entry.reason, RequirementsIncompatible) else None
        if isinstance(cause, UndefinedKey) and cause.hint is not None and cause.key in selector:
            meant[cause.key] = cause.hint
    for key, hint in meant.items():
        told = f"ask for {hint}: {selector[key]} in place of {key} in the pod's nodeSelector"
        yield Candidate(0, told, _renaming(key, hint))


def _renaming(key: str, other: str) -> Edit:
    def edit(pod: dict[str, Any]) -> None:
        selector = pod["spec"]["nodeSelector"]
        if key in selector:
            selector[other] = selector.pop(key)

    return edit


def _selectors(pod: Mapping[str, Any]) -> Iterator[Candidate]:
    spec = pod.get("spec", {})
    for key, value in (spec.get("nodeSelector") or {}).items():
        yield Candidate(
            1, f"remove {key}: {value} from the pod's nodeSelector", _without(("spec", "nodeSelector"), key)
        )
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    terms = (affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or {}).get("nodeSelectorTerms") or ()
    at = ("spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")
    for number, term in enumerate(terms):
        for index, expression in enumerate(term.get("matchExpressions") or ()):
            told = f"remove {_told(expression)} from the pod's required node affinity"
            yield Candidate(1, told, _without((*at, number, "matchExpressions"), index))
    for index, constraint in enumerate(spec.get("topologySpreadConstraints") or ()):
        told = f"remove the topology spread over {constraint.get('topologyKey')}"
        yield Candidate(2, told, _without(("spec", "topologySpreadConstraints"), index))


def _without(path: Sequence[str | int], last: str | int) -> Edit:
    """Takes the part `last` away from what is at `path`."""

    def edit(obj: dict[str, Any]) -> None:
        holder: Any = obj
        for part in path:
            holder = holder[part]
        del holder[last]

    return edit


def _requests(pod: Mapping[str, Any], entry: PoolTried) -> Iterator[Candidate]:
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
        yield Candidate(3, told, _requesting(largest, resource, str(less)))


def _requesting(container: int, resource: str, amount: str) -> Edit:
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


def _missing_label(pod: Mapping[str, Any], entry: PoolTried) -> Iterator[Candidate]:
    cause = entry.reason.cause if isinstance(entry.reason, RequirementsIncompatible) else None
    if isinstance(cause, UndefinedKey):
        key, value = cause.key, _asked(pod, cause.key)

        def edit(pool: dict[str, Any]) -> None:
            metadata = pool["spec"]["template"].setdefault("metadata", {})
            metadata["labels"] = {**(metadata.get("labels") or {}), key: value}

        yield Candidate(2, f"set the label {key}: {value} in NodePool {entry.nodepool}", edit, entry.nodepool)


def _limits(pool: Mapping[str, Any], entry: PoolTried) -> Iterator[Candidate]:
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
            yield Candidate(2, told, _setting(("spec", "limits"), resource, wanted), name)
    if not least:
        yield Candidate(2, f"remove the limits of NodePool {name}", _without(("spec",), "limits"), name)


def _setting(path: Sequence[str | int], last: str, value: Any) -> Edit:
    """Sets the part `last` of what is at `path`."""

    def edit(obj: dict[str, Any]) -> None:
        holder: Any = obj
        for part in path:
            holder = holder[part]
        holder[last] = value

    return edit


def _of_requirement(wanted: Mapping[str, Any], change: Callable[[list[dict[str, Any]], int], None]) -> Edit:
    """Changes the requirement that reads like `wanted`, where the NodePool still has it."""

    def edit(pool: dict[str, Any]) -> None:
        requirements = pool["spec"]["template"]["spec"]["requirements"]
        alike = (wanted["key"], wanted["operator"], wanted.get("values"))
        for index, one in enumerate(requirements):
            if (one["key"], one["operator"], one.get("values")) == alike:
                change(requirements, index)
                return

    return edit


def _min_values(pool: Mapping[str, Any], entry: PoolFiltered) -> Iterator[Candidate]:
    name = entry.nodepool
    for requirement in pool["spec"]["template"]["spec"].get("requirements") or ():
        present, asked = entry.unmet.get(requirement["key"]), requirement.get("minValues")
        if present and asked is not None:

            def lower(requirements: list[dict[str, Any]], index: int, least: int = present) -> None:
                requirements[index]["minValues"] = least

            told = f"lower minValues of {requirement['key']} from {asked} to {present} in NodePool {name}"
            yield Candidate(2, told, _of_requirement(requirement, lower), name)
            # the pod, or the number of sizes that a NodeClaim may name, can leave fewer values than the NodePool has
            told = f"remove minValues ({asked}) of {requirement['key']} from NodePool {name}"
            yield Candidate(
                3, told, _of_requirement(requirement, lambda all_, at: all_[at].pop("minValues", None)), name
            )


def _pool_changes(pool: Mapping[str, Any]) -> Iterator[Candidate]:
    """The NodePool without one of its requirements or labels."""
    name = pool["metadata"]["name"]
    template = pool["spec"]["template"]
    for requirement in template["spec"].get("requirements") or ():
        told = f"remove {_told(requirement)} from NodePool {name}"
        yield Candidate(4, told, _of_requirement(requirement, lambda all_, at: all_.__delitem__(at)), name)
    labels = ("spec", "template", "metadata", "labels")
    for key, value in ((template.get("metadata") or {}).get("labels") or {}).items():
        yield Candidate(4, f"remove the label {key}: {value} from NodePool {name}", _without(labels, key), name)


_NODECLASS: Mapping[str, tuple[str, tuple[str, ...], Any]] = {
    # filter: what to do, the field, its new value; None takes it away
    "gpu-image-family": ("set spec.imageFamily: Ubuntu, which has GPU drivers,", ("imageFamily",), "Ubuntu"),
    "encryption-at-host": ("take spec.security.encryptionAtHost away", ("security", "encryptionAtHost"), None),
    "local-dns": ("set spec.localDNS.mode: Disabled", ("localDNS", "mode"), "Disabled"),
    "gpu-driver-mode": ("set spec.gpu.mode: None, without a driver,", ("gpu", "mode"), "None"),
    "artifact-streaming": ("set spec.artifactStreaming.enabled: false", ("artifactStreaming", "enabled"), False),
}


def _nodeclass_changes(seen: NodeClassSeen) -> Iterator[Candidate]:
    """What the AKSNodeClass would have to say for the sizes that its fields keep away."""
    name = seen.nodeclass["metadata"]["name"]
    for filter_, (told, path, value) in _NODECLASS.items():
        if filter_ in seen.filters:
            yield Candidate(3, f"{told} in AKSNodeClass {name}", _in_spec(path, value), nodeclass=seen)


def _in_spec(path: Sequence[str], value: Any) -> Edit:
    def edit(nodeclass: dict[str, Any]) -> None:
        holder = nodeclass["spec"] = nodeclass.get("spec") or {}
        for part in path[:-1]:
            holder[part] = holder.get(part) or {}
            holder = holder[part]
        if value is None:
            holder.pop(path[-1], None)
        else:
            holder[path[-1]] = value

    return edit


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
