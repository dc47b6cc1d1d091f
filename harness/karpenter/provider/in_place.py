"""Updates in place: what may change on a running machine, its tags above all, changes without drift.

A NodeClaim carries the hash of what its machine has. Where an AKSNodeClass now means another, the machine is updated, and then the hash.
Source: kaz pkg/controllers/nodeclaim/inplaceupdate/{controller,predicates}.go.
"""

from __future__ import annotations

from collections.abc import Generator, Hashable, Iterable, Mapping

from harness.engine.engine import DONE, ReconcileError, Result, Router, Wait
from harness.engine.ports import Change, ChangeType, Sink, View, Writer, of_types
from harness.karpenter.launch.nodeclaim import IN_PLACE_UPDATE_HASH
from harness.karpenter.lifecycle.instance_provider import CloudProviderError
from harness.karpenter.lifecycle.names import is_managed, nodeclass_of
from harness.karpenter.provider.machine_updates import CONTROLLER, MachineUpdates
from harness.karpenter.provider.nodeclasses import why_not_found
from harness.kube.api.objects import (
    Object,
    annotations_of,
    condition_is,
    is_terminating,
    name_of,
    spec_of,
    status_of,
)
from harness.kube.api.status import ignoring
from lazyrecords import dataclass

__all__ = ["InPlaceUpdates"]

_LATER = 60.0
"""Seconds until a NodeClaim that is not registered is looked at again."""
_SOON = 10
"""Failures in a row after which the back-off grows no more, and only another change can help."""

_Steps = Generator[float, None, None]


@dataclass(frozen=True, slots=True)
class _Update:
    """One that is under way: the hash that the NodeClaim gets when it is done, and what is still to be asked of Azure."""

    claim: Object
    goal: str
    steps: _Steps


class InPlaceUpdates:
    """Updates machines; a key is a NodeClaim's name.

    Upstream also looks when a NodeClaim is about to be deleted, and finds nothing to do; its spec cannot change.
    """

    name = CONTROLLER
    backoff = (0.1, 60.0)

    def __init__(self, view: View, writer: Writer, sink: Sink, updates: MachineUpdates) -> None:
        self._view = view
        self._writer = writer
        self._sink = sink
        self._updates = updates
        self._under_way: dict[str, _Update] = {}
        self._failed: dict[str, int] = {}

    def watches(self) -> Mapping[str, Router]:
        """New NodeClaims, and those of AKSNodeClasses that are new or whose tags change."""
        if not self._updates.tags_count:
            return {"NodeClaim": self._new}
        return {"NodeClaim": self._new, "AKSNodeClass": self._tagged}

    @of_types(ChangeType.ADDED)
    def _new(self, change: Change) -> Iterable[Hashable]:
        return (name_of(change.object),)

    @of_types(ChangeType.ADDED, ChangeType.MODIFIED)
    def _tagged(self, change: Change) -> Iterable[Hashable]:
        nodeclass, old = change.object, change.old
        if old is not None and (spec_of(old).get("tags") or {}) == (spec_of(nodeclass).get("tags") or {}):
            return ()
        name = name_of(nodeclass)
        return [name_of(claim) for claim in self._view.list("NodeClaim") if nodeclass_of(claim) == name]

    def reconcile(self, key: Hashable) -> Result:
        """Looks at a NodeClaim, or goes on with its update."""
        name = str(key)
        update = self._under_way.pop(name, None) or self._due(name)
        if not isinstance(update, _Update):
            return update
        try:
            wait = next(update.steps)
        except StopIteration:
            self._failed.pop(name, None)
            self._save(update)
            return Result(0.0) if self._changed_meanwhile(update) else DONE
        except CloudProviderError as error:
            raise self._failure(name, str(error)) from error
        self._under_way[name] = update
        return Result(wait, busy=wait, under_way=True)

    def _due(self, name: str) -> _Update | Result:
        """The update that a NodeClaim needs now, or that there is nothing to do yet. Raises ReconcileError."""
        claim = self._view.get("NodeClaim", name)
        if claim is None or not is_managed(claim) or is_terminating(claim):
            return DONE
        nodeclass = self._nodeclass(claim)
        current = annotations_of(claim).get(IN_PLACE_UPDATE_HASH)
        later = self._too_early(claim)
        if later is not None and current is None:
            return later  # each new one: no machine's hash is ""
        goal = self._updates.goal(claim, nodeclass)
        if goal == current:
            return DONE
        self._say("comparing in-place update hashes", name, goalHash=goal, actualHash=current or "")
        if later is not None:
            self._say("can't update yet as the claim is not registered", name)
            return later
        return _Update(claim, goal, self._updates.apply(claim, nodeclass))

    def _too_early(self, claim: Object) -> Result | None:
        """When a NodeClaim whose machine cannot be updated yet is looked at again; None for one whose machine can."""
        if self._updates.tags_count:  # a registered one has a provider id
            return None if condition_is(claim, "Registered") else Result(_LATER, Wait.ALARM)
        return None if status_of(claim).get("providerID") else DONE

    def _nodeclass(self, claim: Object) -> Object:
        """The AKSNodeClass that counts; none does where tags do not. Raises ReconcileError."""
        if not self._updates.tags_count:
            return {}
        name = nodeclass_of(claim)
        nodeclass = self._view.get("AKSNodeClass", name)
        problem = why_not_found(name, nodeclass)
        if nodeclass is not None and problem is None:
            return nodeclass
        raise self._failure(name_of(claim), f"resolving AKSNodeClass, {problem}", wait=Wait.ALARM)

    def _save(self, update: _Update) -> None:
        """Write the new hash, whether or not Azure had to be asked for a change."""
        with ignoring(404):
            patch = {"metadata": {"annotations": {IN_PLACE_UPDATE_HASH: update.goal}}}
            self._writer.patch("NodeClaim", name_of(update.claim), patch)

    def _changed_meanwhile(self, update: _Update) -> bool:
        """Return whether the machine is to be another again: changes that came during the update were put off."""
        if not self._updates.tags_count:
            return False
        nodeclass = self._view.get("AKSNodeClass", nodeclass_of(update.claim))
        return nodeclass is not None and self._updates.goal(update.claim, nodeclass) != update.goal

    def _failure(self, name: str, problem: str, wait: Wait | None = None) -> ReconcileError:
        self._sink.log("error", self.name, "Reconciler error", NodeClaim=name, error=problem)
        self._failed[name] = self._failed.get(name, 0) + 1
        return ReconcileError(problem, wait=wait or (Wait.PROGRESS if self._failed[name] <= _SOON else Wait.POLL))

    def _say(self, message: str, name: str, **values: str) -> None:
        self._sink.log("debug", self.name, message, NodeClaim=name, **values)
