"""The changes of Karpenter's controllers on a NodePool: hash, validation, readiness of its NodeClass, registration
health, usage.

Sources: core pkg/controllers/nodepool/{hash,validation,readiness,registrationhealth,counter}.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

from harness.engine.clock import Clock
from harness.engine.engine import DONE, Result, Router, Wait
from harness.engine.ports import Change, ChangeType, View, Writer, key_by_name
from harness.karpenter.labels import azure
from harness.karpenter.labels.core import NODEPOOL_HASH, NODEPOOL_HASH_VERSION
from harness.karpenter.lifecycle.conditions import FALSE, NODEPOOL, TRUE, UNKNOWN, Conditions
from harness.karpenter.lifecycle.names import nodepool_of
from harness.karpenter.lifecycle.nodepools.health import HEALTHY, RegistrationHealth
from harness.karpenter.lifecycle.nodepools.usage import RunningUsage
from harness.karpenter.lifecycle.refusals import retried_after_refusals
from harness.karpenter.releases import ProviderRelease
from harness.karpenter.validation.hashing import CURRENT_HASH_VERSION, nodepool_hash
from harness.karpenter.validation.runtime import joined, nodepool_findings, wording_of
from harness.kube.api.objects import (
    Object,
    annotations_of,
    condition,
    is_terminating,
    metadata_of,
    name_of,
    spec_of,
    status_of,
    uid_of,
)
from harness.kube.api.patch import merge_diff
from harness.kube.api.quantity import Quantity
from harness.kube.api.resources import parse_list, render


def nodeclass_name(nodepool: Object) -> str | None:
    """The name of the AKSNodeClass that a NodePool refers to; None when it refers to something else."""
    ref = (((spec_of(nodepool).get("template") or {}).get("spec")) or {}).get("nodeClassRef") or {}
    if ref.get("group") != azure.GROUP or ref.get("kind") != "AKSNodeClass":
        return None
    return str(ref.get("name") or "")


_NO_RESOURCES: Mapping[str, Quantity] = parse_list(
    dict.fromkeys(("cpu", "memory", "pods", "ephemeral-storage", "nodes"), "0")
)
"""The status of a NodePool without machines (core pkg/controllers/nodepool/counter)."""


class NodePools:
    """Keeps the status and the hash of NodePools; a key is a NodePool's name."""

    name = "nodepool"
    backoff = (0.005, 1000.0)

    def __init__(
        self, view: View, writer: Writer, clock: Clock, release: ProviderRelease, health: RegistrationHealth
    ) -> None:
        self._view = view
        self._writer = writer
        self._clock = clock
        self._wording = wording_of(release)
        self._counts_nodes = release.core.nodes_in_status
        self._health = health
        self._judged: dict[str, tuple[int | None, str, str | None]] = {}
        self._usage = RunningUsage(view)

    def watches(self) -> Mapping[str, Router]:
        """NodePools, their NodeClasses, and the NodeClaims and Nodes that count as their usage."""
        return {
            "NodePool": key_by_name,
            "AKSNodeClass": self._of_class,
            "NodeClaim": self._of_member,
            "Node": self._of_member,
        }

    def _of_class(self, change: Change) -> Iterable[Hashable]:
        for pool in self._view.list("NodePool"):
            if nodeclass_name(pool) == name_of(change.object):
                yield name_of(pool)

    def _of_member(self, change: Change) -> Iterable[Hashable]:
        self._usage.hear(change)
        pool = nodepool_of(change.object)
        return (pool,) if pool and _counts_differently(change) else ()

    def reconcile(self, key: Hashable) -> Result:
        """Bring one NodePool up to date."""
        pool = self._view.get("NodePool", str(key))
        if pool is None:
            return DONE
        wanted = nodeclass_name(pool)
        if wanted is None:
            return DONE
        hash_, problem = self._judge(pool)
        marks = {NODEPOOL_HASH: hash_, NODEPOOL_HASH_VERSION: CURRENT_HASH_VERSION}
        if any(annotations_of(pool).get(name) != value for name, value in marks.items()):
            with retried_after_refusals(Wait.POLL):
                pool = self._writer.patch("NodePool", name_of(pool), {"metadata": {"annotations": marks}})
        conditions = Conditions(pool, NODEPOOL, self._clock.timestamp())
        if problem is None:
            conditions.set_true("ValidationSucceeded")
        else:
            conditions.set_false("ValidationSucceeded", "NodePoolValidationFailed", problem)
        status: dict[str, Any] = dict(status_of(pool))
        nodeclass = self._view.get("AKSNodeClass", wanted)
        _readiness(conditions, nodeclass)
        if nodeclass is not None:
            self._observe(pool, nodeclass, conditions, status)
        usage = self._usage.of(name_of(pool))
        status["resources"] = render({**_NO_RESOURCES, **usage})
        if self._counts_nodes:
            status["nodes"] = usage["nodes"].value()
        status["conditions"] = conditions.items
        patch = merge_diff(status_of(pool), status)
        if patch:
            with retried_after_refusals(Wait.POLL):
                self._writer.patch("NodePool", name_of(pool), {"status": patch}, subresource="status")
        return DONE

    def _judge(self, pool: Object) -> tuple[str, str | None]:
        """Hash and validation error (None: valid) of a NodePool, calculated once per generation."""
        generation = metadata_of(pool).get("generation")
        entry = self._judged.get(uid_of(pool))
        if entry is None or entry[0] != generation:
            problem = joined(nodepool_findings(pool, self._wording))
            entry = self._judged[uid_of(pool)] = generation, nodepool_hash(pool), problem
        return entry[1], entry[2]

    def _observe(self, pool: Object, nodeclass: Object, conditions: Conditions, status: dict[str, Any]) -> None:
        """A new generation of NodePool or NodeClass makes the registration health unknown again."""
        generation = metadata_of(nodeclass).get("generation", 0)
        present = conditions.get(HEALTHY)
        if present is not None:
            self._health.recall(pool, present["status"])
        if (
            present is None
            or status.get("nodeClassObservedGeneration") != generation
            or present.get("observedGeneration") != metadata_of(pool).get("generation")
        ):
            conditions.set(HEALTHY, UNKNOWN, "AwaitingReconciliation", "object is awaiting reconciliation")
            self._health.reset(pool)
        status["nodeClassObservedGeneration"] = generation


def _counts_differently(change: Change) -> bool:
    old = change.old
    if change.type is ChangeType.DELETED or old is None:
        return True
    return (
        status_of(change.object).get("capacity") != status_of(old).get("capacity")
        or _provider_id(change.object) != _provider_id(old)
        or nodepool_of(change.object) != nodepool_of(old)
        or is_terminating(change.object) != is_terminating(old)
    )


def _provider_id(obj: Object) -> object:
    """A NodeClaim has it in its status, a Node in its spec."""
    return status_of(obj).get("providerID") or spec_of(obj).get("providerID")


def _readiness(conditions: Conditions, nodeclass: Object | None) -> None:
    if nodeclass is None:
        conditions.set_false("NodeClassReady", "NodeClassNotFound", "NodeClass not found on cluster")
    elif is_terminating(nodeclass):
        conditions.set_false("NodeClassReady", "NodeClassTerminating", "NodeClass is Terminating")
    else:
        ready = condition(nodeclass, "Ready")
        if ready is None or ready["status"] not in (TRUE, FALSE):
            conditions.set_false("NodeClassReady", "NodeClassReadinessUnknown", "Node Class Readiness Unknown")
        elif ready["status"] == TRUE:
            conditions.set_true("NodeClassReady")
        else:
            conditions.set_false("NodeClassReady", ready["reason"], ready["message"])
