"""Changes that could let a pod in, read off the reasons: edits of the pod, of a NodePool or of an AKSNodeClass, not yet tried.

What was probably meant comes first, then what adds something, last what takes a wish away.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.explain.advice.edits import Edit, preferring, requesting, tolerating, without, without_term
from harness.explain.sizes.amounts import rounded_down
from harness.explain.sizes.reasons import causes_of
from harness.karpenter.cloudprovider import InstanceType
from harness.karpenter.scheduling.reasons.ledger import PoolFiltered, PoolTried
from harness.karpenter.scheduling.reasons.pods import TaintsNotTolerated
from harness.karpenter.scheduling.reasons.verdicts import TooSmall, TypeReason, TypeVerdict
from harness.kube.api.labels import OS
from harness.kube.api.quantity import Quantity

__all__ = [
    "KINDS",
    "Candidate",
    "Looked",
    "NodeClassSeen",
    "Rank",
    "Target",
    "expression_text",
    "only_reasons",
    "pod_candidates",
    "required_terms",
]

Looked = PoolTried | PoolFiltered
Target = tuple[str, str, str]
"""Kind, namespace and name of an object that an edit is about."""
SHOWN = 8  # values of a requirement that are named


class Rank:
    """The weight of a change; a smaller one that works is told alone.

    Changes that leave the meaning of the manifests as it is come first: a word that was misspelt, a limit that is
    raised.
    """

    MEANT = 0
    RAISE = 1
    TOLERATE = 2
    ADD = 3
    SHRINK = 4
    ALLOW = 5
    OTHER = 6
    REMOVE_WISH = 7
    REMOVE_RULE = 8


KINDS: Mapping[int, str] = {
    Rank.MEANT: "words that may be misspelt",
    Rank.RAISE: "higher limits and quotas",
    Rank.TOLERATE: "tolerations",
    Rank.ADD: "labels and fields that are missing",
    Rank.SHRINK: "smaller requests and fewer features",
    Rank.ALLOW: "wider requirements",
    Rank.OTHER: "other zones, sizes, values and regions",
    Rank.REMOVE_WISH: "the pod without its selectors and affinity terms",
    Rank.REMOVE_RULE: "NodePools without their requirements, the pod without its rules about other pods",
}
"""The kinds of changes by rank, in the words of answers."""


@dataclass(frozen=True, slots=True)
class NodeClassSeen:
    """An AKSNodeClass: the NodePools with it, the filters that keep sizes from it, and what it would offer when changed."""

    nodeclass: Mapping[str, Any]
    nodepools: frozenset[str]
    filters: frozenset[str]
    types: Callable[[Mapping[str, Any]], Sequence[InstanceType]]


@dataclass(frozen=True, slots=True)
class Candidate:
    """`edit` changes a copy of the pod, or of the object that `nodepool`, `nodeclass` or `other` names.

    `meant` is the word that was probably meant, where one was misspelt. `market` changes Azure instead. `solver`: whether Karpenter's
    scheduler alone can tell that it is no good; else only a whole world can. `subject`: the key of the NodePool's requirement at issue.
    """

    rank: int
    text: str
    edit: Edit | None = None
    nodepool: str | None = None
    nodeclass: NodeClassSeen | None = None
    other: Target | None = None
    meant: str = ""
    market: Mapping[str, Any] | None = None
    solver: bool = True
    subject: str = ""

    @property
    def of_pod(self) -> bool:
        """Return whether it edits the pod itself."""
        return self.edit is not None and not (self.nodepool or self.nodeclass or self.other)


def pod_candidates(pod: Mapping[str, Any], looked_at: Sequence[Looked]) -> Iterator[Candidate]:
    """Yield changes of the pod: tolerate, ask for less, do without. Those of one list keep its order."""
    tried = [entry for entry in looked_at if isinstance(entry, PoolTried)]
    yield from _tolerations(tried)
    if tried or not looked_at:  # of a pod that Karpenter leaves alone no NodePool is looked at
        yield from _selectors(pod)
    for entry in tried:
        yield from _requests(pod, entry)


def _tolerations(tried: Sequence[PoolTried]) -> Iterator[Candidate]:
    for entry in tried:
        if isinstance(entry.reason, TaintsNotTolerated):
            for taint in entry.reason.taints:
                toleration = {"key": taint["key"], "operator": "Exists", "effect": taint["effect"]}
                shown = f"{taint['key']}:{taint['effect']}"
                text = f"tolerate the taint {shown} of NodePool {entry.nodepool}"
                yield Candidate(Rank.TOLERATE, text, tolerating(toleration))


def _selectors(pod: Mapping[str, Any]) -> Iterator[Candidate]:
    spec = pod.get("spec", {})
    for key, value in (spec.get("nodeSelector") or {}).items():
        if key == OS:
            continue  # no image runs on another system
        wording = f"remove {key}: {value} from the pod's nodeSelector"
        yield Candidate(Rank.REMOVE_WISH, wording, without(("spec", "nodeSelector"), key))
    for path, index, expression in required_terms(pod):
        wording = f"remove {expression_text(expression)} from the pod's required node affinity"
        yield Candidate(Rank.REMOVE_WISH, wording, without_term(path, index))
    for index, constraint in enumerate(spec.get("topologySpreadConstraints") or ()):
        wording = f"remove the topology spread over {constraint.get('topologyKey')}"
        yield Candidate(Rank.REMOVE_RULE, wording, without(("spec", "topologySpreadConstraints"), index))
    yield from _pod_affinities(spec.get("affinity") or {})


def _pod_affinities(affinity: Mapping[str, Any]) -> Iterator[Candidate]:
    """Required terms about other pods made preferences: pods that wait for each other, or of which one alone has room in each domain."""
    for kind, relation in (("podAffinity", "beside"), ("podAntiAffinity", "apart from")):
        terms = (affinity.get(kind) or {}).get("requiredDuringSchedulingIgnoredDuringExecution") or ()
        for index, term in enumerate(terms):
            wording = f"prefer, and not require, to be {relation} {_pods_text(term.get('labelSelector'))} by {term.get('topologyKey')}"
            # the other pods of the workload, which have Nodes, say the same: only a whole world can tell
            yield Candidate(Rank.REMOVE_RULE, wording, preferring(kind, index), solver=False)


def _pods_text(selector: Mapping[str, Any] | None) -> str:
    """`pods with app=web, tier In [a, b]`."""
    if selector is None:
        return "no pods"
    parts = [f"{key}={value}" for key, value in (selector.get("matchLabels") or {}).items()]
    parts += [expression_text(expression) for expression in selector.get("matchExpressions") or ()]
    return f"pods with {', '.join(parts)}" if parts else "any pods"


def required_terms(pod: Mapping[str, Any]) -> Iterator[tuple[tuple[str | int, ...], int, Mapping[str, Any]]]:
    """The expressions of the required node affinity: path of the list, index in it, expression."""
    affinity = (pod.get("spec", {}).get("affinity") or {}).get("nodeAffinity") or {}
    terms = (affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or {}).get("nodeSelectorTerms") or ()
    at = ("spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")
    for number, term in enumerate(terms):
        for index, expression in enumerate(term.get("matchExpressions") or ()):
            yield (*at, number, "matchExpressions"), index, expression


def _requests(pod: Mapping[str, Any], entry: PoolTried) -> Iterator[Candidate]:
    """Requests cut to what the largest size allows that is otherwise fine."""
    best: dict[str, TooSmall] = {}
    for reason in only_reasons(entry.types()):
        if isinstance(reason, TooSmall):
            known_best = best.get(reason.resource)
            if known_best is None or reason.allocatable > known_best.allocatable:
                best[reason.resource] = reason
    for resource, reason in best.items():
        over = reason.requested - reason.allocatable
        containers = pod["spec"].get("containers") or ()
        sizes = [_nano(container, resource) for container in containers]
        largest = max(range(len(sizes)), key=lambda index: sizes[index], default=None)
        if largest is None or sizes[largest] <= over.nano:
            continue
        less = rounded_down(resource, Quantity(sizes[largest] - over.nano, reason.allocatable.format))
        if less.is_zero():
            continue
        wording = f"request at most {less} {resource} in container {containers[largest].get('name')}"
        yield Candidate(Rank.SHRINK, wording, requesting(largest, resource, str(less)))


def only_reasons(verdicts: Iterable[TypeVerdict]) -> Iterator[TypeReason]:
    """The reasons of the sizes that only one thing speaks against."""
    return (verdict.reasons[0] for verdict in verdicts if len(verdict.reasons) == 1 and len(causes_of(verdict)) == 1)


def _nano(container: Mapping[str, Any], resource: str) -> int:
    text = ((container.get("resources") or {}).get("requests") or {}).get(resource, "0")
    return Quantity.parse(text).nano


def expression_text(expression: Mapping[str, Any]) -> str:
    """`KEY In [a, b]`, `KEY Exists`, with `minValues` where it has them."""
    literals = expression.get("values") or ()
    more = f", … {len(literals)} values" if len(literals) > SHOWN else ""
    values = f" [{', '.join(literals[:SHOWN])}{more}]" if literals else ""
    least = f" (minValues {expression['minValues']})" if expression.get("minValues") is not None else ""
    return f"{expression['key']} {expression['operator']}{values}{least}"
