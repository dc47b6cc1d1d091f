"""Garbage collection, every two minutes: NodeClaims without an instance, instances without a NodeClaim.

Sources: core pkg/controllers/nodeclaim/garbagecollection, kaz pkg/controllers/nodeclaim/garbagecollection.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Protocol

from harness.engine.clock import SECOND, Clock
from harness.engine.engine import Result, Router, Wait
from harness.engine.ports import Sink, View, Writer, key_at_first
from harness.karpenter.lifecycle.instance_provider import CloudProviderError, Instance, InstanceProvider
from harness.karpenter.lifecycle.names import is_managed, nodes_of
from harness.kube.api.objects import condition_is, is_terminating, name_of, status_of, uid_of
from harness.kube.api.status import ignoring

EVERY = 120.0
_AGAIN = Result(EVERY, Wait.ALARM)
_GRACE = 300 * SECOND
_SWEEP = "sweep"


class Deleter(InstanceProvider, Protocol):
    """A provider that can delete an instance without a NodeClaim."""

    def delete_instance(self, instance: Instance) -> None:
        """Start the deletion. Raises InstanceNotFound."""
        ...


class GarbageCollection:
    """Both sweeps; the only key is the sweep. It starts with the first NodeClaim.

    `changes` returns an equal value while neither the cluster nor the cloud has changed. A sweep that would find what the one before found
    is skipped, so that quiet days cost nothing.
    """

    name = "garbagecollection"
    backoff = (1.0, 60.0)

    def __init__(
        self,
        view: View,
        writer: Writer,
        sink: Sink,
        clock: Clock,
        provider: Deleter,
        changes: Callable[[], object] = object,
    ) -> None:
        self._view = view
        self._writer = writer
        self._sink = sink
        self._clock = clock
        self._provider = provider
        self._changes = changes
        self._swept: object = None
        self._first = key_at_first(_SWEEP)

    def watches(self) -> Mapping[str, Router]:
        """The first NodeClaim: before it there is nothing to sweep."""
        return {"NodeClaim": self._first}

    def reconcile(self, key: Hashable) -> Result:
        """Sweeps both ways."""
        if self._swept == self._changes():
            return _AGAIN
        try:
            instances = [instance for instance in self._provider.list() if not instance.deleting]
        except CloudProviderError:
            return _AGAIN
        present: set[str] = {instance.provider_id for instance in instances}
        settled = present == self._machines()  # as it mostly is: then nothing is without the other
        if not settled:
            self._claims_without_instance(present)
            self._instances_without_claim(instances)
            # an instance without a NodeClaim has to be old enough first, a NodeClaim without an instance may have a Node that falls silent
            settled = present == self._machines()
        self._swept = self._changes() if settled else None
        return _AGAIN

    def _machines(self) -> set[str]:
        return {str(status_of(claim).get("providerID") or "") for claim in self._view.list("NodeClaim")}

    def _claims_without_instance(self, present: set[str]) -> None:
        for claim in self._view.list("NodeClaim"):
            if (
                status_of(claim).get("providerID") in present  # as most are
                or not is_managed(claim)
                or not condition_is(claim, "Registered")
                or is_terminating(claim)
            ):
                continue
            nodes = nodes_of(self._view, claim)
            if len(nodes) == 1 and condition_is(nodes[0], "Ready"):
                continue
            self._delete("NodeClaim", name_of(claim), uid_of(claim))
            self._sink.log(
                "debug",
                self.name,
                "garbage collecting nodeclaim with no cloudprovider representation",
                NodeClaim=name_of(claim),
            )

    def _instances_without_claim(self, instances: Iterable[Instance]) -> None:
        claimed = {status_of(claim).get("providerID") for claim in self._view.list("NodeClaim")}
        for instance in instances:
            if instance.provider_id in claimed or self._clock.now - (instance.created or 0) <= _GRACE:
                continue
            try:
                self._provider.delete_instance(instance)
            except CloudProviderError:
                continue
            self._sink.log("debug", self.name, "garbage collected cloudprovider instance", instance=instance.name)
            for node in self._view.indexed("nodes-by-provider-id", instance.provider_id):
                self._delete("Node", name_of(node), uid_of(node))

    def _delete(self, kind: str, name: str, uid: str) -> None:
        with ignoring(404, 409):
            self._writer.delete(kind, name, uid=uid)
