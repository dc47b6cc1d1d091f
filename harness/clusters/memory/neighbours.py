"""The relations of running pods to one that is being scheduled: its siblings, and terms of pod (anti-)affinity that are about it."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from harness.engine.ports import View
from harness.kube.api.objects import Object, namespace_of, spec_of
from harness.kube.api.selectors import Selector
from harness.kube.scheduling.placement import NodeInfo
from harness.kube.scheduling.soft_spread import owner_selector, sibling_selector
from harness.kube.scheduling.spreading import RunningTerms

_MOST = 256


class Siblings:
    """The selectors of siblings for pods that are spread by default. One is parsed once for all pods of an owner."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._known: dict[int, tuple[Object, Selector | None]] = {}

    def selector_for(self, pod: Object, services: Sequence[Object]) -> Selector | None:
        """Return the selector of a pod's siblings; None where it has constraints of its own, or nothing selects it."""
        if spec_of(pod).get("topologySpreadConstraints"):
            return None
        if services:
            return sibling_selector(pod, services, self._view.get)
        chosen = owner_selector(pod, self._view.get)
        if chosen is None:
            return None
        # the id stays this object's while it is kept here; objects are never changed in place
        entry = self._known.get(id(chosen))
        if entry is None:
            if len(self._known) >= _MOST:
                self._known.clear()
            entry = self._known[id(chosen)] = chosen, sibling_selector(pod, (), self._view.get)
        return entry[1]


class Relations:
    """The terms of all running pods, each kind once, and the kinds of pods that they are about. For one scheduling cycle."""

    def __init__(self, infos: Iterable[NodeInfo], namespaces: Sequence[Object]) -> None:
        self._namespaces = namespaces
        self._terms: dict[tuple[int, str], RunningTerms] = {}
        self._concerned: dict[Hashable, bool] = {}
        for info in infos:
            self.meet(info.related)

    def meet(self, pods: Iterable[Object]) -> None:
        """Take the terms of more pods into account."""
        for pod in pods:
            affinity, namespace = spec_of(pod)["affinity"], namespace_of(pod)
            if (id(affinity), namespace) not in self._terms:  # the pods of a template share one
                self._terms[id(affinity), namespace] = RunningTerms.for_pod(pod, self._namespaces)
                self._concerned.clear()

    def concern(self, look: Hashable, pod: Object) -> bool:
        """Return whether a term is about the pod, whose fingerprint is ``look``."""
        if not self._terms:
            return False
        concerned = self._concerned.get(look)
        if concerned is None:
            concerned = self._concerned[look] = any(terms.take(pod) for terms in self._terms.values())
        return concerned
