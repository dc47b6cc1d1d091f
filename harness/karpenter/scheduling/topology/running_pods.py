"""The pods that run on each Node, by revision: whoever counts them asks what has changed since."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain

from harness.karpenter.scheduling.nodes.fleet import Fleet
from harness.karpenter.scheduling.nodes.state import StateNode
from harness.kube.api.objects import Object, labels_of, name_of, namespace_of, spec_of
from harness.kube.scheduling.pods import is_active
from harness.kube.scheduling.taints import Taint

__all__ = ["RunningPods"]

_MOST_REVISIONS = 64

_RunningPod = tuple[str, Mapping[str, str], str]
"""Namespace, labels and ``namespace/name`` of a pod."""


class _BoundPods:
    """The pods that run on the Node of a name."""

    __slots__ = ("_placed", "node", "pods", "taints")

    def __init__(self, node: Object, placed: Sequence[Object]) -> None:
        self.node, self._placed = node, placed
        self.taints: tuple[Taint, ...] = tuple(spec_of(node).get("taints") or ())
        self.pods: Sequence[_RunningPod] = [
            (namespace := namespace_of(pod), labels_of(pod), f"{namespace}/{name_of(pod)}")
            for pod in placed
            if is_active(pod)
        ]

    def rests_on(self, node: Object, placed: Sequence[Object]) -> bool:
        """Return whether these are the very same Node and list of pods."""
        return self.node is node and self._placed is placed


class RunningPods:
    """The pods and nodes of the last look; ``revision`` grows with each look that finds others."""

    def __init__(self) -> None:
        self.bound: dict[str, _BoundPods] = {}
        self.active: dict[str, StateNode] = {}
        """The state nodes whose room counts and that have a Node, by provider id."""
        self.keys: set[str] = set()
        """All pods that run on a Node (``namespace/name``)."""
        self.revision = 0
        self._changes: list[tuple[set[str], set[str]]] = []
        """The names of the Nodes, and the provider ids, that changed with each of the last revisions."""
        self._fleet: Fleet | None = None

    def look(self, fleet: Fleet, nodes: Iterable[Object]) -> None:
        """Take the machines and the Nodes of a moment."""
        if fleet is self._fleet:
            return
        self._fleet = fleet
        changed = self._bind(fleet, {name_of(node): node for node in nodes}), self._activate(fleet)
        self.revision += 1
        self._changes.append(changed)
        if len(self._changes) > 2 * _MOST_REVISIONS:
            del self._changes[:_MOST_REVISIONS]

    def _bind(self, fleet: Fleet, nodes: Mapping[str, Object]) -> set[str]:
        bound, changed = self.bound, set()
        for name in [name for name in bound if name not in nodes or not fleet.bound_to(name)]:
            self.keys.difference_update(key for *_, key in bound.pop(name).pods)
            changed.add(name)
        come: list[_BoundPods] = []
        for name, node in nodes.items():
            placed = fleet.bound_to(name)
            if not placed or ((bound_pods := bound.get(name)) is not None and bound_pods.rests_on(node, placed)):
                continue
            if bound_pods is not None:
                self.keys.difference_update(key for *_, key in bound_pods.pods)
            bound[name] = made = _BoundPods(node, placed)
            come.append(made)
            changed.add(name)
        self.keys.update(key for bound_pods in come for *_, key in bound_pods.pods)
        return changed

    def _activate(self, fleet: Fleet) -> set[str]:
        active, changed = self.active, set()
        by_provider = fleet.by_provider
        for provider in [provider_id for provider_id in active if provider_id not in by_provider]:
            del active[provider]
            changed.add(provider)
        for provider, state in by_provider.items():
            if active.get(provider) is state:
                continue
            if not state.deleting and state.node is not None:
                active[provider] = state
                changed.add(provider)
            elif active.pop(provider, None) is not None:
                changed.add(provider)
        return changed

    def changes_since(self, revision: int) -> tuple[Collection[str], Collection[str]] | None:
        """The names of Nodes, and the provider ids, that have changed since a revision; None where that is not known any more."""
        missed = self.revision - revision
        if missed > len(self._changes):
            return None
        if missed == 1:
            return self._changes[-1]
        last = self._changes[len(self._changes) - missed :]
        return set(chain.from_iterable(names for names, _ in last)), set(chain.from_iterable(ids for _, ids in last))
