"""The conditions of NodeClaims that decide about disruption: consolidatable, and drifted.

Core ``pkg/controllers/nodeclaim/disruption/{controller,consolidation,drift}.go``, ``pkg/controllers/nodepool/hash/controller.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from harness.engine.clock import SECOND, parse, render
from harness.karpenter.cloudprovider import RESERVED, InstanceType
from harness.karpenter.labels.core import CAPACITY_TYPE, NODEPOOL, ON_DEMAND
from harness.karpenter.labels.core import NODEPOOL_HASH as HASH
from harness.karpenter.labels.core import NODEPOOL_HASH_VERSION as HASH_VERSION
from harness.karpenter.labels.vocabulary import Vocabulary
from harness.karpenter.lifecycle.conditions import NODECLAIM, Conditions
from harness.karpenter.lifecycle.instance_provider import CloudProviderError, InstanceNotFound
from harness.karpenter.lifecycle.names import is_managed
from harness.karpenter.releases.disruption import DisruptionRules
from harness.karpenter.requirement import IN, Requirement
from harness.karpenter.requirements import Requirements
from harness.karpenter.scheduling.nodes.consolidate_after import consolidate_after, settles_in
from harness.karpenter.validation.hashing import CURRENT_HASH_VERSION, nodepool_hash
from harness.kube.api.labels import INSTANCE_TYPE
from harness.kube.api.objects import (
    Object,
    annotations_of,
    condition,
    is_terminating,
    labels_of,
    metadata_of,
    name_of,
    spec_of,
    with_metadata,
    with_status,
)
from lazyrecords import dataclass

if TYPE_CHECKING:
    from harness.karpenter.releases import ProviderRelease

__all__ = ["CONSOLIDATABLE", "DRIFTED", "YOUNG", "CoreDrift", "Judged", "core_drift", "hashed", "with_conditions"]

CONSOLIDATABLE, DRIFTED = "Consolidatable", "Drifted"
YOUNG = 3600 * SECOND
"""Up to this age, in nanoseconds, nobody asks whether a NodeClaim's instance type still exists."""

_DRIFT_AGAIN = 300 * SECOND


@dataclass(frozen=True, slots=True)
class Judged:
    """A NodeClaim with its present conditions.

    ``again``: after so many nanoseconds they may change by time alone, None when they do not.
    """

    nodeclaim: Object
    again: int | None = None
    error: str = ""


def with_conditions(
    nodeclaim: Object,
    nodepool: Object | None,
    instance_types: Sequence[InstanceType],
    provider_drift: Callable[[Object], str],
    *,
    now: int,
    release: ProviderRelease,
    rules: DisruptionRules,
    core: CoreDrift | None = None,
) -> Judged:
    """The NodeClaim with its conditions at ``now`` (nanoseconds since the start), and the error that one of them ran into.

    ``provider_drift`` says why the cloud provider finds a NodeClaim drifted, "" when it does not; it may raise CloudProviderError.
    ``core`` keeps its answers from one call to the next.
    """
    if not is_managed(nodeclaim) or is_terminating(nodeclaim) or nodepool is None:
        return Judged(nodeclaim)
    conditions = Conditions(nodeclaim, NODECLAIM, render(now))
    error, waits = "", []
    try:
        drift = partial(core or CoreDrift(rules), nodeclaim, nodepool, instance_types, now, release.vocabulary)
        waits.append(_set_drifted(conditions, nodeclaim, drift, provider_drift))
    except InstanceNotFound:
        pass  # nothing is left that could have drifted
    except CloudProviderError as raised:
        error = f"getting drift, {rules.drift_error.format(error=raised, nodeclaim=name_of(nodeclaim))}"
    if not (rules.static_nodepools and spec_of(nodepool).get("replicas") is not None):
        waits.append(_set_consolidatable(conditions, nodeclaim, nodepool, now))
    made = with_status(nodeclaim, conditions=conditions.items) if conditions.changed else nodeclaim
    again = min((wait for wait in waits if wait is not None), default=None)
    return Judged(made, None if error else again, error)


def _set_consolidatable(conditions: Conditions, nodeclaim: Object, nodepool: Object, now: int) -> int | None:
    left = settles_in(nodepool, nodeclaim, now)
    if consolidate_after(nodepool) is None or not conditions.is_true("Initialized") or left:
        conditions.clear(CONSOLIDATABLE)
    else:
        conditions.set_true(CONSOLIDATABLE)
    return left or None


def _set_drifted(
    conditions: Conditions,
    nodeclaim: Object,
    drift: Callable[[], str],
    provider_drift: Callable[[Object], str],
) -> int | None:
    if not conditions.is_true("Launched"):
        conditions.clear(DRIFTED)
        return None
    reason = drift() or provider_drift(nodeclaim)
    if reason:
        conditions.set(DRIFTED, "True", reason, reason)
    else:
        conditions.clear(DRIFTED)
    return _DRIFT_AGAIN


class CoreDrift:
    """:func:`core_drift` with its last answer about each NodeClaim, kept while nothing changes on which the answer depends."""

    def __init__(self, rules: DisruptionRules) -> None:
        self._at_once = rules.types_at_once
        self._known: dict[str, tuple[tuple[object, ...], Sequence[InstanceType], str]] = {}

    def __call__(
        self,
        nodeclaim: Object,
        nodepool: Object,
        instance_types: Sequence[InstanceType],
        now: int,
        vocabulary: Vocabulary,
    ) -> str:
        created = metadata_of(nodeclaim).get("creationTimestamp")
        rests_on = (
            annotations_of(nodeclaim),
            labels_of(nodeclaim),
            created,
            self._asks_types(created, now),
            annotations_of(nodepool),
            spec_of(nodepool),
        )
        name = str(metadata_of(nodeclaim).get("name"))
        entry = self._known.get(name)
        if entry is None or entry[0] != rests_on or entry[1] is not instance_types:
            types = instance_types if rests_on[3] else None
            drift = core_drift(nodeclaim, nodepool, types, vocabulary)
            entry = self._known[name] = rests_on, instance_types, drift
        return entry[2]

    def _asks_types(self, created: str | None, now: int) -> bool:
        return self._at_once or (created is not None and now - parse(created) > YOUNG)

    def forget(self, nodeclaim: str) -> None:
        """Drops what is kept about a NodeClaim that was deleted."""
        self._known.pop(nodeclaim, None)


def core_drift(
    nodeclaim: Object, nodepool: Object, instance_types: Sequence[InstanceType] | None, vocabulary: Vocabulary
) -> str:
    """Core's reason why a NodeClaim has drifted from its NodePool, "" when it has not; the cloud provider's reasons come after it.

    ``instance_types``: None where the NodeClaim is too young for InstanceTypeNotFound.
    """
    mine, theirs = annotations_of(nodeclaim), annotations_of(nodepool)
    hashed_both = all(key in annotations for key in (HASH, HASH_VERSION) for annotations in (mine, theirs))
    if hashed_both and mine[HASH_VERSION] == theirs[HASH_VERSION] and mine[HASH] != theirs[HASH]:
        return "NodePoolDrifted"
    wanted = spec_of(spec_of(nodepool).get("template") or {}).get("requirements")
    labels = Requirements.from_labels(labels_of(nodeclaim), vocabulary=vocabulary)
    if labels.compatible(Requirements.from_node_selector(wanted, vocabulary=vocabulary)) is not None:
        return "RequirementsDrifted"
    if instance_types is not None and not _is_sold(nodeclaim, instance_types, labels):
        return "InstanceTypeNotFound"
    return ""


def _is_sold(nodeclaim: Object, instance_types: Sequence[InstanceType], labels: Requirements) -> bool:
    """Return whether its instance type has an offering, available or not, that its labels accept."""
    name = labels_of(nodeclaim).get(INSTANCE_TYPE) or ""
    size = next((item for item in instance_types if item.name == name), None)
    if size is None:
        return False
    if labels_of(nodeclaim).get(CAPACITY_TYPE) == RESERVED:  # it may have become on-demand since
        either = Requirement.of(CAPACITY_TYPE, IN, (RESERVED, ON_DEMAND), vocabulary=labels.vocabulary)
        others = [requirement for key, requirement in labels.items() if key != CAPACITY_TYPE]
        labels = Requirements([*others, either], vocabulary=labels.vocabulary)
    return any(True for _ in size.compatible_offerings(labels))


def hashed(nodepool: Object, nodeclaims: Sequence[Object]) -> tuple[Object, list[Object]]:
    """The NodePool with its hash annotation, and all NodeClaims; its own get the new hash where theirs is of another hash version.

    A NodeClaim that has drifted keeps its old hash, since whether it still differs can no longer be told from it.
    """
    value = nodepool_hash(nodepool)
    claims = list(nodeclaims)
    if annotations_of(nodepool).get(HASH_VERSION) != CURRENT_HASH_VERSION:
        name = metadata_of(nodepool).get("name")
        claims = [_rehashed(claim, value) if _is_outdated(claim, name) else claim for claim in claims]
    stamped: dict[str, Any] = {**annotations_of(nodepool), HASH: value, HASH_VERSION: CURRENT_HASH_VERSION}
    return with_metadata(nodepool, annotations=stamped), claims


def _is_outdated(nodeclaim: Object, nodepool: str | None) -> bool:
    own = is_managed(nodeclaim) and labels_of(nodeclaim).get(NODEPOOL) == nodepool
    return own and annotations_of(nodeclaim).get(HASH_VERSION) != CURRENT_HASH_VERSION


def _rehashed(nodeclaim: Object, value: str) -> Object:
    stamped = {**annotations_of(nodeclaim), HASH_VERSION: CURRENT_HASH_VERSION}
    if condition(nodeclaim, DRIFTED) is None:
        stamped[HASH] = value
    return with_metadata(nodeclaim, annotations=stamped)
