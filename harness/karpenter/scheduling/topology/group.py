"""One topology constraint and how many selected pods each of its domains has.

Core ``pkg/controllers/provisioning/scheduling/topologygroup.go``, which visits domains in the order of a Go map.
"""

from collections.abc import Iterable, KeysView, Mapping, Sequence
from typing import Any

from harness.karpenter.requirement import Requirement
from harness.karpenter.scheduling.algebra import Algebra
from harness.karpenter.scheduling.topology.node_filter import ADMITS_ALL, NodeFilter, odd
from harness.karpenter.scheduling.topology.ties import Ties
from harness.kube.api.labels import HOSTNAME
from harness.kube.api.selectors import Selector, format_selector

SPREAD, AFFINITY, ANTI_AFFINITY = "topology spread", "pod affinity", "pod anti-affinity"
MAX_SKEW = (1 << 31) - 1

_RANK = {SPREAD: 0, AFFINITY: 1, ANTI_AFFINITY: 2}


class TopologyError(ValueError):
    """A constraint that stops the whole simulation; the message is Karpenter's."""


_OF_THE_CONSTRAINT = (
    "_new_hosts",
    "admits_all",
    "algebra",
    "by_hostname",
    "filter",
    "inverse",
    "key",
    "kind",
    "label",
    "max_skew",
    "min_domains",
    "namespaces",
    "raw_selector",
    "selector",
    "sort_key",
)
"""Attributes that copies of a group share: the constraint decides them."""


class TopologyGroup:
    """Counts by domain for one constraint, shared by all pods that have it.

    ``key`` is the constraint's, ``label`` the name that requirements have for it: domains by another name than a requirement's are
    those of the nodes' labels alone.
    ``domains`` maps domain to count, ``empty`` holds the domains without a pod. For hostname groups, bit masks over the
    simulation's own nodes mirror the counts: ``occupied`` (at least one), ``full`` (maxSkew reached), ``over`` (beyond it).
    """

    __slots__ = (*_OF_THE_CONSTRAINT, "domains", "empty", "full", "occupied", "over")

    def __init__(
        self,
        algebra: Algebra,
        kind: str,
        key: str,
        namespaces: frozenset[str],
        raw_selector: Mapping[str, Any] | None,
        selector: Selector,
        domains: Iterable[str],
        *,
        max_skew: int = MAX_SKEW,
        min_domains: int | None = None,
        node_filter: NodeFilter = ADMITS_ALL,
        inverse: bool = False,
        known_hosts_only: bool = False,
    ) -> None:
        self.algebra = algebra
        self.kind, self.key, self.namespaces = kind, key, namespaces
        self.label = algebra.vocabulary.normalize_key(key)
        self.raw_selector, self.selector = raw_selector, selector
        self.max_skew, self.min_domains, self.filter, self.inverse = max_skew, min_domains, node_filter, inverse
        self.admits_all = node_filter.admits_all
        self.domains: dict[str, int] = dict.fromkeys(domains, 0)
        self.empty = set(self.domains)
        self.by_hostname = key == HOSTNAME
        self._new_hosts = self.by_hostname and not known_hosts_only
        self.occupied = self.full = self.over = 0
        text = "<nil>" if raw_selector is None else format_selector(raw_selector)
        self.sort_key = "|".join(
            (
                str(int(inverse)),
                str(_RANK[kind]),
                key,
                text,
                ",".join(sorted(namespaces)),
                f"{max_skew:05d}",
                "",  # then comes the filter
            )
        )

    def copy(self, domains: dict[str, int] | None = None, empty: set[str] | None = None) -> "TopologyGroup":
        """The same constraint with other counts, in which no node of the simulation has a pod; by default with its own."""
        made: TopologyGroup = object.__new__(TopologyGroup)
        for field in _OF_THE_CONSTRAINT:
            setattr(made, field, getattr(self, field))
        made.domains = dict(self.domains) if domains is None else domains
        made.empty = set(self.empty) if empty is None else empty
        made.occupied = made.full = made.over = 0
        return made

    def selects(self, namespace: str, labels: Mapping[str, str]) -> bool:
        """Return whether the selector and the namespaces include a pod."""
        return namespace in self.namespaces and self.selector.matches(labels)

    def register(self, domain: str) -> None:
        """Make a domain known, without pods."""
        if domain not in self.domains:
            self.domains[domain] = 0
            self.empty.add(domain)

    def register_all(self, domains: KeysView[str]) -> None:
        """Make domains known, without pods."""
        new = domains - self.domains.keys()
        if new:
            self.domains.update(dict.fromkeys(new, 0))
            self.empty |= new

    def unregister(self, domain: str) -> None:
        """Forgets a domain."""
        if self.domains.pop(domain, None) is not None:
            self.empty.discard(domain)

    def record(self, domain: str, bit: int = 0) -> None:
        """Count a pod; ``bit`` is the node's when the domain is the hostname of a new node."""
        count = self.domains[domain] = self.domains.get(domain, 0) + 1
        self.empty.discard(domain)
        if bit:
            self.occupied |= bit
            if count >= self.max_skew:
                self.full |= bit
                if count > self.max_skew:
                    self.over |= bit

    def blocked_hosts(self, selected: bool, pod_domains: Requirement | None) -> int:
        """Bits of the new nodes whose hostname this hostname group rules out; the rest may do."""
        if self.kind == SPREAD:
            return self.full if selected else self.over
        if self.kind == ANTI_AFFINITY:
            return self.occupied
        if selected and self._may_start(pod_domains or self.algebra.exists(self.key)):
            return 0
        return ~self.occupied

    def next_domains(
        self, selected: bool, pod_domains: Requirement, node_domains: Requirement, ties: Ties
    ) -> Requirement:
        """The domain, or domains, where a pod may go on a node that may be in ``node_domains``; DoesNotExist when none is left.

        ``selected`` says whether the pod itself counts; ``pod_domains`` are those its required node affinity admits. ``ties``
        decides between domains that are equally good.
        """
        if self.kind == SPREAD:
            chosen = self._spread(selected, pod_domains, node_domains, ties)
        elif self.kind == AFFINITY:
            chosen = self._affinity(selected, pod_domains, node_domains, ties)
        else:
            chosen = self._anti_affinity(pod_domains, node_domains)
        return self.algebra.canonical(Requirement(self.label, False, frozenset(chosen)))

    def _single_host(self, node_domains: Requirement) -> str | None:
        # A new node's hostname is not registered before its first pod.
        if self._new_hosts and len(node_domains.values) == 1:
            return next(iter(node_domains.values))
        return None

    def _spread(self, selected: bool, pod_domains: Requirement, node_domains: Requirement, ties: Ties) -> Sequence[str]:
        host = self._single_host(node_domains)
        if host is not None:
            # One can always create another host, so that the minimum is zero.
            return (host,) if self.domains.get(host, 0) + selected <= self.max_skew else ()
        least = self._least(pod_domains)
        best: list[str] = []
        best_count = min(least + self.max_skew, MAX_SKEW - 1) + 1
        counts, own = self.domains, int(selected)
        if not node_domains.complement:
            candidates: Iterable[str] = node_domains.values
        else:
            candidates = (domain for domain in counts if node_domains.has(domain))
        for domain in candidates:
            count = counts.get(domain)
            if count is None:
                continue
            count += own
            if count < best_count:
                best, best_count = [domain], count
            elif count == best_count and best:
                best.append(domain)
        chosen = ties.among(best) if len(best) > 1 else best
        return [domain for domain in chosen if domain]  # the empty text is no domain

    def _least(self, pod_domains: Requirement) -> int:
        if self.by_hostname:
            return 0
        counts = [count for domain, count in self.domains.items() if pod_domains.has(domain)]
        if self.min_domains is not None and len(counts) < self.min_domains:
            return 0
        return min(counts, default=MAX_SKEW)

    def _may_start(self, pod_domains: Requirement) -> bool:
        """Return whether the first pod of an affinity to itself may go to any domain."""
        if len(self.domains) == len(self.empty):
            return True
        return not any(count > 0 and pod_domains.has(domain) for domain, count in self.domains.items())

    def _affinity(
        self, selected: bool, pod_domains: Requirement, node_domains: Requirement, ties: Ties
    ) -> Sequence[str]:
        host = self._single_host(node_domains)
        if host is not None:
            if not pod_domains.has(host):
                return ()
            return (host,) if self.domains.get(host, 0) > 0 or (selected and self._may_start(pod_domains)) else ()
        if not node_domains.complement:
            domains = [d for d in node_domains.values if self.domains.get(d, 0) > 0 and pod_domains.has(d)]
        else:
            domains = [
                d for d, count in self.domains.items() if count > 0 and pod_domains.has(d) and node_domains.has(d)
            ]
        if domains or not (selected and self._may_start(pod_domains)):
            return domains
        both = pod_domains.intersection(node_domains)
        started: set[str] = set()
        for wanted in (both, pod_domains):
            viable = [domain for domain in self.domains if wanted.has(domain)]
            started.update(ties.among(viable) if len(viable) > 1 else viable)
        return list(started)

    def _anti_affinity(self, pod_domains: Requirement, node_domains: Requirement) -> Sequence[str]:
        host = self._single_host(node_domains)
        if host is not None:
            return (host,) if self.domains.get(host, 0) == 0 else ()
        if not node_domains.complement and len(node_domains.values) < len(self.empty):
            return [d for d in node_domains.values if d in self.empty and pod_domains.has(d)]
        return [d for d in self.empty if node_domains.has(d) and pod_domains.has(d)]


def group_identity(
    kind: str,
    key: str,
    namespaces: frozenset[str],
    max_skew: int,
    raw_selector: Mapping[str, Any] | None,
    node_filter: NodeFilter,
    repeated_cancel: bool = False,
) -> object:
    """Pods whose constraints agree in this share one group, as upstream's hash has it (minDomains does not count).

    ``repeated_cancel``: as the hash of older releases, in which two equal selector expressions count as none.
    """
    if raw_selector is None:
        selector: object = None
    else:
        expressions = (odd if repeated_cancel else frozenset)(
            (expression.get("key"), expression.get("operator"), odd(expression.get("values") or ()))
            for expression in raw_selector.get("matchExpressions") or ()
        )
        selector = (expressions, frozenset((raw_selector.get("matchLabels") or {}).items()))
    return kind, key, namespaces, max_skew, selector, node_filter.identity()
