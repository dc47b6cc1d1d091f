"""Results about a cluster's objects that are kept from one look to the next.

Objects are never changed in place, so that the same object means that nothing has changed about it. What is kept here is a function of
objects alone, never of the time or of a draw: a look with a memory and one without come to the same.
"""

import os
from collections.abc import Callable, Hashable, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

from harness.karpenter.cloudprovider import InstanceType
from harness.karpenter.scheduling.algebra import Algebra
from harness.karpenter.scheduling.nodeclaims.model import alike
from harness.karpenter.scheduling.nodes.fleet import StateNodes
from harness.karpenter.scheduling.pods.displaced import BudgetSelectors
from harness.karpenter.scheduling.snapshot import ClusterSnapshot
from harness.kube.api.objects import Object, name_of, same_objects
from harness.latest import LatestOf

if TYPE_CHECKING:
    from harness.karpenter.labels.vocabulary import Vocabulary

__all__ = ["ClusterMemory"]

T = TypeVar("T")
P = TypeVar("P")

_MOST_SETS = 200_000
_MOST_LISTS = 128
_SPARE = 1024


class ClusterMemory:
    """The memory of one cluster, as one Karpenter sees it; simulations that are given none have one of their own."""

    def __init__(self, *, exact: bool | None = None) -> None:
        self.exact = bool(os.environ.get("HARNESS_EXACT")) if exact is None else exact
        """Whether each simulation is made, although a kept one tells what it comes to."""
        self.nodes = StateNodes()
        self.models: dict[Hashable, Any] = {}
        """Results made of NodePools, instance types and DaemonSets, and catalogues of shapes, by their inputs."""
        self._algebra: Algebra | None = None
        self._volumes: list[Object] = []
        self._of_pods: dict[Hashable, dict[int, tuple[Any, Any]]] = {}
        self._rewritten: dict[Callable[[Object], Object], tuple[Sequence[Object], Sequence[Object]]] = {}
        self._nodepools: dict[str, Object] = {}
        self.budget_selectors = BudgetSelectors()
        self._types: LatestOf[Sequence[InstanceType], dict[str, InstanceType]] = LatestOf(_MOST_LISTS)

    def look(self, snapshot: ClusterSnapshot) -> None:
        """Begin a look: forget results that rest on other volumes, and those about pods that are gone."""
        volumes = list(chain(snapshot.pvcs, snapshot.pvs, snapshot.storageclasses))
        outgrown = self._algebra is not None and self._algebra.size > _MOST_SETS
        if outgrown or not same_objects(volumes, self._volumes):
            self._volumes = volumes
            self._of_pods.clear()
            self.models.clear()
            self.nodes = StateNodes()
            self._algebra = None
        most = 2 * len(snapshot.pods) + _SPARE
        for answers in self._of_pods.values():
            if len(answers) > most:
                answers.clear()
        self.budget_selectors.forget(most)

    def algebra(self, vocabulary: "Vocabulary") -> Algebra:
        """The algebra of all looks."""
        if self._algebra is None or self._algebra.vocabulary is not vocabulary:
            self._algebra = Algebra(vocabulary)
            self.models.clear()
            self.nodes = StateNodes()
            self._of_pods.clear()
        return self._algebra

    def of_pods(self, about: Hashable, find: Callable[[P], T]) -> Callable[[P], T]:
        """A function of a pod, or a tuple of pods, alone, asked once about each; ``about`` says which one it is."""
        answers = self._of_pods.setdefault(about, {})

        def answer(pod: P) -> T:
            entry = answers.get(id(pod))
            if entry is None:
                entry = answers[id(pod)] = (pod, find(pod))  # while the pod is kept, no other has its identity
            answer: T = entry[1]
            return answer

        return answer

    def rewritten(self, rewrite: Callable[[Object], Object], pods: Sequence[Object]) -> Sequence[Object]:
        """Each pod as a function of it alone makes it; the same ones as long as the pods are the same."""
        entry = self._rewritten.get(rewrite)
        if entry is None or not same_objects(entry[0], pods):
            read = self.of_pods(rewrite, rewrite)
            entry = self._rewritten[rewrite] = pods, [read(pod) for pod in pods]
        return entry[1]

    def same(self, about: Hashable, objects: Sequence[Any]) -> Sequence[Any]:
        """Return these objects; the sequence of the last time if each of them is still the same."""
        sequence = self.models.get((ClusterMemory, about))
        if sequence is None or not same_objects(sequence, objects):
            sequence = self.models[ClusterMemory, about] = objects
        same: Sequence[Any] = sequence
        return same

    def nodepool(self, pool: Object) -> Object:
        """A NodePool, as it was at the first look at which it asked for what it asks now."""
        pool_before = self._nodepools.get(name_of(pool))
        if pool_before is None or not alike(pool_before, pool):
            pool_before = self._nodepools[name_of(pool)] = pool
        return pool_before

    def by_name(self, types: Sequence[InstanceType]) -> dict[str, InstanceType]:
        """Instance types of a list by their names."""
        return self._types.of(types, lambda: {instance_type.name: instance_type for instance_type in types})
