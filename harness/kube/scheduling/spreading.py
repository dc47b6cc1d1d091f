"""Topology spread and pod (anti-)affinity as kube-scheduler filters and scores by them.

Sources: kubernetes pkg/scheduler/framework/plugins/podtopologyspread, interpodaffinity.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import field

from harness.kube.api.objects import Object, labels_of, name_of, namespace_of, spec_of
from harness.kube.api.selectors import Selector
from harness.kube.scheduling.node_affinity import required_matches
from harness.kube.scheduling.placement import NodeInfo
from harness.kube.scheduling.pods import affinity_terms
from harness.kube.scheduling.taints import NO_EXECUTE, NO_SCHEDULE, tolerates
from lazyrecords import dataclass

SKEW = "node(s) didn't match pod topology spread constraints"
_MISSING = "node(s) didn't match pod topology spread constraints (missing required label)"
_AFFINITY = "node(s) didn't match pod affinity rules"
_ANTI_AFFINITY = "node(s) didn't match pod anti-affinity rules"
_EXISTING_ANTI_AFFINITY = "node(s) didn't satisfy existing pods anti-affinity rules"


@dataclass(frozen=True, slots=True)
class _Constraint:
    key: str
    max_skew: int
    min_domains: int
    selector: Selector
    counts: Counter[str] = field(compare=False)


@dataclass(frozen=True, slots=True)
class TopologySpread:
    """The hard spread constraints of one pod, counted over the nodes."""

    constraints: tuple[_Constraint, ...]
    labels: dict[str, str]

    @staticmethod
    def for_pod(pod: Object, nodes: Sequence[NodeInfo]) -> TopologySpread | None:
        """The hard constraints of the pod (DoNotSchedule), or None when it has none."""
        raw = spec_of(pod).get("topologySpreadConstraints")
        hard = [constraint for constraint in raw or () if constraint["whenUnsatisfiable"] == "DoNotSchedule"]
        if not hard:
            return None
        keys = [constraint["topologyKey"] for constraint in hard]
        around = [info for info in nodes if all(key in info.labels for key in keys)]
        counted: list[_Constraint] = []
        for constraint in hard:
            key, selector, counts = constraint["topologyKey"], constraint_selector(constraint, pod), Counter[str]()
            for info in around:
                if takes_part(constraint, pod, info):
                    counts[info.labels[key]] += selected(selector, namespace_of(pod), info)
            counted.append(
                _Constraint(key, int(constraint["maxSkew"]), int(constraint.get("minDomains") or 1), selector, counts)
            )
        return TopologySpread(tuple(counted), dict(labels_of(pod)))

    def failure(self, info: NodeInfo) -> tuple[str, bool] | None:
        """Return why this node would break a constraint, and whether evictions cannot help."""
        for constraint in self.constraints:
            domain = info.labels.get(constraint.key)
            if domain is None:
                return _MISSING, True
            own = 1 if constraint.selector.matches(self.labels) else 0
            least = min(constraint.counts.values()) if len(constraint.counts) >= constraint.min_domains else 0
            if constraint.counts[domain] + own - least > constraint.max_skew:
                return SKEW, False
        return None


def constraint_selector(constraint: Object, pod: Object) -> Selector:
    """The selector of a spread constraint, with the pod's values of its matchLabelKeys."""
    selector, labels = constraint.get("labelSelector"), labels_of(pod)
    extra = {key: labels[key] for key in constraint.get("matchLabelKeys") or () if key in labels}
    if extra and selector is not None:
        selector = {**selector, "matchLabels": {**(selector.get("matchLabels") or {}), **extra}}
    return Selector.parse(selector)


def selected(selector: Selector, namespace: str, info: NodeInfo) -> int:
    """Return the number of pods of a node that count: none where the selector is empty, although it selects the pod
    itself.

    So from 1.27 to 1.37.0 (countPodsMatchSelector; kubernetes #116607). Before, and in later versions (#141340), an
    empty one counts all.
    """
    if not selector.conditions:
        return 0
    count = 0
    for other in info.by_namespace.get(
        namespace, ()
    ):  # in the words of is_terminating and labels_of, which are called most here
        meta = other["metadata"]
        if not meta.get("deletionTimestamp") and selector.matches(meta.get("labels") or {}):
            count += 1
    return count


def takes_part(constraint: Object, pod: Object, info: NodeInfo) -> bool:
    """Return whether the pods of a node count (nodeAffinityPolicy Honor, nodeTaintsPolicy Ignore by default)."""
    if (constraint.get("nodeAffinityPolicy") or "Honor") == "Honor" and not required_matches(pod, info.node):
        return False
    if (constraint.get("nodeTaintsPolicy") or "Ignore") == "Honor":
        tolerations = spec_of(pod).get("tolerations") or ()
        return all(
            taint.get("effect") not in (NO_SCHEDULE, NO_EXECUTE)
            or any(tolerates(toleration, taint) for toleration in tolerations)
            for taint in info.taints
        )
    return True


@dataclass(frozen=True, slots=True)
class _Term:
    """One (anti-)affinity term; ``namespaces`` are those of the pods that it selects, None for all."""

    key: str
    selector: Selector
    namespaces: frozenset[str] | None

    @staticmethod
    def parse(term: Object, pod: Object, namespaces: Sequence[Object]) -> _Term:
        return _Term(term["topologyKey"], Selector.parse(term.get("labelSelector")), _namespaces(term, pod, namespaces))

    def takes(self, pod: Object) -> bool:
        here = self.namespaces is None or namespace_of(pod) in self.namespaces
        return here and self.selector.matches(labels_of(pod))


def _namespaces(term: Object, pod: Object, all_namespaces: Sequence[Object]) -> frozenset[str] | None:
    """Return the named namespaces and those that the selector takes; the pod's own where a term has neither; None for
    all.

    Source: kubernetes staging/src/k8s.io/kube-scheduler/framework/types.go (AffinityTerm.Matches,
    getNamespacesFromPodAffinityTerm).
    """
    named, selector = frozenset(term.get("namespaces") or ()), term.get("namespaceSelector")
    if selector is None:
        return named or frozenset({namespace_of(pod)})
    parsed = Selector.parse(selector)
    return (
        named.union(name_of(namespace) for namespace in all_namespaces if parsed.matches(labels_of(namespace)))
        if selector
        else None
    )


def _wishes(pod: Object, namespaces: Sequence[Object]) -> list[tuple[_Term, int]]:
    """The preferred terms of a pod with their weights, negative for anti-affinity."""
    return [
        (_Term.parse(term["podAffinityTerm"], pod, namespaces), sign * int(term.get("weight") or 0))
        for kind, sign in (("podAffinity", 1), ("podAntiAffinity", -1))
        for term in affinity_terms(pod, kind, "preferred")
    ]


def _needs(pod: Object, namespaces: Sequence[Object]) -> list[tuple[_Term, int]]:
    """The required affinity terms of a pod that runs, with their weight in scores."""
    return [(_Term.parse(term, pod, namespaces), 1) for term in affinity_terms(pod, "podAffinity", "required")]


@dataclass(frozen=True, slots=True)
class RunningTerms:
    """The terms of a pod that runs, by which others are kept away or wished for."""

    terms: tuple[_Term, ...]

    @staticmethod
    def for_pod(pod: Object, namespaces: Sequence[Object]) -> RunningTerms:
        """All terms of a pod; ``namespaces`` are the cluster's Namespaces."""
        weighed = [term for term, _ in (*_wishes(pod, namespaces), *_needs(pod, namespaces))]
        away = [_Term.parse(term, pod, namespaces) for term in affinity_terms(pod, "podAntiAffinity", "required")]
        return RunningTerms((*weighed, *away))

    def take(self, pod: Object) -> bool:
        """Return whether one of them is about this pod."""
        return any(term.takes(pod) for term in self.terms)


@dataclass(frozen=True, slots=True)
class InterPodAffinity:
    """The (anti-)affinity of one pod and of the pods that run, resolved to topology domains `(key, value)`.

    ``keys`` are those of the pod's required affinity terms, ``wanted`` the domains of the pods that match all of these terms together.
    ``bootstrap``: there is no such pod, and the pod itself matches them. ``preferred`` weighs domains: by the pod's preferred terms, and by
    those of the pods that run, whose required affinity counts 1 (hardPodAffinityWeight).
    """

    keys: tuple[str, ...]
    wanted: frozenset[tuple[str, str]]
    bootstrap: bool
    avoided: frozenset[tuple[str, str]]
    repelled: frozenset[tuple[str, str]]
    preferred: Counter[tuple[str, str]] = field(compare=False)

    @staticmethod
    def for_pod(pod: Object, nodes: Sequence[NodeInfo], namespaces: Sequence[Object] = ()) -> InterPodAffinity | None:
        """The pod's terms over these nodes, or None when neither it nor a running pod has any.

        ``namespaces`` are the cluster's Namespaces, which a ``namespaceSelector`` chooses from.
        """
        affinity = [_Term.parse(term, pod, namespaces) for term in affinity_terms(pod, "podAffinity", "required")]
        anti = [_Term.parse(term, pod, namespaces) for term in affinity_terms(pod, "podAntiAffinity", "required")]
        soft = _wishes(pod, namespaces)
        wanted: set[tuple[str, str]] = set()
        avoided: set[tuple[str, str]] = set()
        repelled: set[tuple[str, str]] = set()
        preferred: Counter[tuple[str, str]] = Counter()
        for info in nodes:
            labels = info.labels
            for other in info.pods if affinity or anti or soft else ():
                if affinity and all(term.takes(other) for term in affinity):
                    wanted.update((term.key, labels[term.key]) for term in affinity if term.key in labels)
                for term in anti:
                    if term.key in labels and term.takes(other):
                        avoided.add((term.key, labels[term.key]))
                for term, weight in soft:
                    if term.key in labels and term.takes(other):
                        preferred[(term.key, labels[term.key])] += weight
            for other in info.related:
                for term, weight in (*_wishes(other, namespaces), *_needs(other, namespaces)):
                    if term.key in labels and term.takes(pod):
                        preferred[(term.key, labels[term.key])] += weight
            for other in info.repelling:
                for raw in affinity_terms(other, "podAntiAffinity", "required"):
                    term = _Term.parse(raw, other, namespaces)
                    if term.key in labels and term.takes(pod):
                        repelled.add((term.key, labels[term.key]))
        if not (affinity or anti or preferred or repelled):
            return None
        bootstrap = not wanted and all(term.takes(pod) for term in affinity)
        return InterPodAffinity(
            tuple(term.key for term in affinity),
            frozenset(wanted),
            bootstrap,
            frozenset(avoided),
            frozenset(repelled),
            preferred,
        )

    def failure(self, info: NodeInfo) -> tuple[str, bool] | None:
        """Return why this node would break a required term, and whether evictions cannot help."""
        labels = info.labels
        for key in self.keys:
            if key not in labels or ((key, labels[key]) not in self.wanted and not self.bootstrap):
                return _AFFINITY, True
        if any(labels.get(key) == value for key, value in self.avoided):
            return _ANTI_AFFINITY, False
        if any(labels.get(key) == value for key, value in self.repelled):
            return _EXISTING_ANTI_AFFINITY, False
        return None

    def preference(self, info: NodeInfo) -> int:
        """The weight of the node's domains."""
        return sum(self.preferred[(key, value)] for key, value in info.labels.items() if (key, value) in self.preferred)
