"""The shape of new nodes: NodePools as templates, with the pods that DaemonSets put on each node."""

from collections.abc import Mapping, Sequence

from harness.karpenter.releases.scheduling import ClaimsIn, SchedulingRules
from harness.karpenter.scheduling.algebra import Algebra
from harness.karpenter.scheduling.catalog import CatalogIndex
from harness.karpenter.scheduling.nodeclaims.templates import DaemonPod, Template, daemon_pods, newest_daemon_pods
from harness.karpenter.scheduling.snapshot import ClusterSnapshot
from harness.kube.api.objects import Object, metadata_of, name_of, same_objects, spec_of

__all__ = ["Model", "alike"]

_OF_EACH_WRITE = frozenset({"resourceVersion", "managedFields"})


class Model:
    """``daemons``: one pod per DaemonSet. ``judged``: all NodePools, with the keys whose ``minValues`` they miss, which leaves them no
    instance type. ``templates``: those that have one, heaviest first. Only a :meth:`build` makes them."""

    def __init__(
        self,
        snapshot: ClusterSnapshot,
        nodepools: Sequence[Object],
        indexes: Mapping[str, CatalogIndex],
        algebra: Algebra,
        rules: SchedulingRules,
        claims_in: ClaimsIn,
    ) -> None:
        self._nodepools, self._algebra, self._rules, self._claims_in = tuple(nodepools), algebra, rules, claims_in
        self._indexes = [indexes.get(name_of(pool)) for pool in nodepools]
        self._daemonsets = tuple(snapshot.daemonsets)
        self._running: Mapping[tuple[str, str], Object] = {}
        if snapshot.daemonsets:
            polled = snapshot.daemon_pods
            self._running = newest_daemon_pods(snapshot.pods) if polled is None else polled
        self.daemons: list[DaemonPod] = []
        self.judged: list[tuple[Template, dict[str, int]]] = []
        self.templates: tuple[Template, ...] = ()

    def equals(self, other: "Model") -> bool:
        """Return whether both were built from the same inputs."""
        return (
            self._algebra is other._algebra
            and same_objects(self._indexes, other._indexes)
            and same_objects(self._daemonsets, other._daemonsets)
            and self._running.keys() == other._running.keys()
            and all(pod is other._running[key] for key, pod in self._running.items())
            and len(self._nodepools) == len(other._nodepools)
            and all(alike(*pools) for pools in zip(self._nodepools, other._nodepools, strict=True))
        )

    def build(self, best_effort: bool) -> None:
        """Judges the NodePools; ``best_effort``: one that misses ``minValues`` is used nevertheless."""
        algebra, rules = self._algebra, self._rules
        self.daemons = daemon_pods(self._daemonsets, self._running, self._claims_in, rules)
        for pool, index in zip(self._nodepools, self._indexes, strict=True):
            template = Template(pool, index or CatalogIndex((), algebra.vocabulary), algebra, rules)
            unmet = template.unmet_min_values(template.requirements, template.mask)
            if unmet and not best_effort:
                template.mask = 0
            self.judged.append((template, unmet))
        self.templates = tuple(template for template, _ in self.judged if template.mask)
        for template in self.templates:
            template.add_daemons(self.daemons, algebra, rules)


def alike(some: Object, other: Object) -> bool:
    """Return whether two states of a NodePool ask for the same; its status and its last writer do not count."""
    return some is other or (spec_of(some) == spec_of(other) and _written(some) == _written(other))


def _written(pool: Object) -> dict[str, object]:
    return {key: value for key, value in metadata_of(pool).items() if key not in _OF_EACH_WRITE}
