"""One provisioning pass, from the objects of a cluster to what Karpenter decides.

Core ``pkg/controllers/provisioning/provisioner.go`` (Schedule, NewScheduler).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from harness.karpenter.cloudprovider import InstanceType
from harness.karpenter.scheduling.catalog import CatalogIndexes
from harness.karpenter.scheduling.claims import SchedulingResults
from harness.karpenter.scheduling.displaced import Displaced
from harness.karpenter.scheduling.older_pods import (
    with_limits_as_requests,
    with_volumes_in_affinity,
    without_actual_resources,
)
from harness.karpenter.scheduling.pending import PendingPods, usable_nodepools
from harness.karpenter.scheduling.rules import rules_of
from harness.karpenter.scheduling.scheduler import Scheduler
from harness.karpenter.scheduling.snapshot import ClusterSnapshot, SchedulingOptions
from harness.karpenter.scheduling.state import ClusterState
from harness.karpenter.scheduling.volumes import VolumeLookup
from harness.kube.api.objects import name_of

if TYPE_CHECKING:
    from harness.karpenter.releases import ProviderRelease
    from harness.karpenter.scheduling.ledger import Ledger


def solve(
    snapshot: ClusterSnapshot,
    instance_types: Mapping[str, Sequence[InstanceType]],
    *,
    release: "ProviderRelease",
    options: SchedulingOptions | None = None,
    indexes: CatalogIndexes | None = None,
    ledger: "Ledger | None" = None,
) -> SchedulingResults:
    """Simulates one provisioning pass over everything in ``snapshot``.

    ``instance_types`` are by NodePool name, each list in the provider's order (by name). Give the same ``indexes`` to all passes
    that share lists: what was found out about a list is kept there. A ``ledger`` is told why each NodePool took a pod or not.
    Raises TopologyError when a constraint stops the whole pass, and ValueError (QuantityError) for pods that no API server admits.
    """
    options, rules = options or SchedulingOptions(), rules_of(release.core)
    if not rules.actual_resources:
        snapshot = replace(snapshot, pods=[without_actual_resources(pod) for pod in snapshot.pods])
    if rules.limits_as_requests:
        snapshot = replace(snapshot, pods=[with_limits_as_requests(pod) for pod in snapshot.pods])
    volumes = VolumeLookup(snapshot)
    pending = PendingPods(snapshot, release, volumes, rules)
    state = ClusterState(snapshot, volumes, release.core)
    displaced = Displaced(snapshot.pdbs, snapshot.now, rules)
    pods = [*pending.accepted, *state.displaced_pods(displaced.movable)]
    if rules.volumes_in_affinity:
        pods = [with_volumes_in_affinity(pod, volumes) for pod in pods]
    nodepools = usable_nodepools(snapshot.nodepools, options.node_class, rules)
    if not pods or not nodepools:
        return SchedulingResults(ignored=pending.ignored, events=tuple(displaced.events), no_nodepools=not nodepools)
    shared = indexes or CatalogIndexes()
    by_pool = {
        name_of(pool): shared.of(types, release.vocabulary)
        for pool in nodepools
        if (types := instance_types.get(name_of(pool)))
    }
    scheduler = Scheduler(snapshot, state, volumes, nodepools, by_pool, pods, release, options, ledger)
    scheduler.run()
    results = scheduler.results(pending.ignored)
    return replace(results, events=(*displaced.events, *results.events)) if displaced.events else results
