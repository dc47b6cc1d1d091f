"""A release of karpenter core, as far as its behaviour differs from another one: named flags, never a version number.

Only :mod:`harness.karpenter.releases.core` knows which release has which. A flag's text says what the code does when it is set.
"""

from lazyrecords import dataclass

__all__ = ["CoreRelease"]


@dataclass(frozen=True, slots=True)
class CoreRelease:
    """A release of karpenter core (sigs.k8s.io/karpenter), as far as the lifecycle, NodeOverlays, metrics and options go.

    Core ``pkg/controllers/{node,nodeclaim,nodepool,nodeoverlay,metrics}``, ``pkg/operator/options``, where a flag names no other place.
    """

    version: str
    """Its name."""
    kubernetes: str = "1.35"
    """The Kubernetes whose libraries it is built with, and whose sentences about names it therefore prints."""
    validates_preferred_terms: bool = False
    """Preferred node affinity terms of pods are validated like required ones."""
    structured_errors: bool = True
    """Errors carry their values behind the sentence, ``(key=value)``."""
    honours_do_not_sync_taints: bool = True
    """A Node label ``karpenter.sh/do-not-sync-taints: true`` keeps registration from copying taints."""
    labels_from_claim_requirements: bool = False
    """At launch, requirements of a NodeClaim become labels of it (PopulateNodeClaimDetails with Requirements.Labels(): any
    value of every key that is neither well-known nor in a restricted domain)."""
    nodes_in_status: bool = True
    """A NodePool's status has the number of its nodes in a field of its own."""
    ephemeral_no_execute: bool = True
    """The taint ``node.kubernetes.io/not-ready:NoExecute`` goes by itself while a node starts."""
    ephemeral_readiness: bool = True
    """Taints ``readiness.k8s.io/…`` go by themselves while a node starts."""
    launch_timeout: bool = True
    """A NodeClaim that is not launched is given up sooner than one that does not register."""
    counts_registrations: bool = True
    """A NodePool's registration health goes by its last four outcomes, from core 1.8 on; before, by the last (``nodepools/health.py``)."""
    first_overlay_capacity_wins: bool = True
    """Resources named by several NodeOverlays get the value of the heaviest; else of the lightest."""
    unevaluated_quoted: bool = True
    """The error about a NodePool that no NodeOverlays were evaluated for yet quotes its name (core ``pkg/cloudprovider/types.go``, since
    1.9)."""
    overlays_skip_broken_nodepools: bool = True
    """A NodePool without instance types does not keep NodeOverlays from the others."""
    zone_in_metrics: bool = True
    """Metrics of NodeClaims and Nodes that go have the zone."""
    managed_in_metrics: bool = True
    """Metrics of each Node and pod say whether Karpenter made the Node."""
    readiness_in_metrics: bool = True
    """Metrics of each pod say whether it is ready."""
    nodepool_decision_metrics: bool = True
    """Metrics tell decisions by NodePool, and how many nodes use up its budgets (core ``pkg/controllers/disruption/metrics.go``)."""
    nodepool_cost_metric: bool = True
    """There is a metric of what a NodePool costs."""
    gates: frozenset[str] = frozenset(
        {
            "NodeRepair",
            "ReservedCapacity",
            "SpotToSpotConsolidation",
            "NodeOverlay",
            "StaticCapacity",
            "CapacityBuffer",
        }
    )
    """The feature gates that can be switched."""
    terminates_in_steps: bool = True
    """A Node's termination asks first whether the instance is gone, and tells its steps: the conditions Drained and VolumesDetached of the
    NodeClaim, an event about volumes that are still attached. Before, it asks only once pods hold up the drain, and tells of those alone;
    a refused eviction is told of a Node that is called as the pod; a pod that is being deleted already is not deleted again (core
    ``pkg/controllers/node/termination``, since 1.6)."""
    tells_several_budgets: bool = True
    """An eviction that is refused because several PodDisruptionBudgets select the pod is told of its Node (core
    ``pkg/controllers/node/termination/terminator/eviction.go``, since 1.7)."""
    counts_drains: bool = True
    """The metrics ``karpenter_pods_drained_total`` and ``karpenter_voluntary_disruption_failed_validations_total`` are there (core
    ``pkg/controllers/node/termination/terminator/metrics.go``, ``pkg/controllers/disruption/metrics.go``, since 1.5.0)."""
    min_drain_seconds: float = 5.0
    """So long a node drains at least, for pods that came before its taint was seen; the condition Drained is Unknown from the start then
    (the same file, MinDrainTime, since 1.10)."""
    consistency_is_error: bool = False
    """A Node that is smaller than expected is logged as an error, `consistency error` (core ``pkg/controllers/nodeclaim/consistency``,
    up to 1.7)."""
    tells_pods_of_launch: bool = True
    """Pods are told when the launch of the NodeClaim that they wait for finds no capacity (core
    ``pkg/controllers/nodeclaim/lifecycle/launch.go`` publishPodInsufficientCapacityEvents, since 1.15.0)."""
    long_messages: bool = True
    """Events and conditions about a failed launch have up to 1,024 letters in all; before, 300 of the error (the same
    file, truncateMessage, since 1.15.0).
    """
    eviction_queue_deletes: bool = True
    """Pods that would outlive their node's deadline are deleted by the eviction queue at its next try, and hold up no other tier; one
    that may not be evicted stays in that queue. Before, the drain deletes them, which looks every second, and queues only pods that may
    be evicted (core ``pkg/controllers/node/termination/terminator``, since 1.15.0)."""
    disruption_modes_in_metrics: bool = True
    """``karpenter_nodeclaims_disrupted_total`` says by which consolidation policy and how patiently a NodeClaim ends, and
    ``karpenter_pods_disruption_initiated_total`` counts its pods (core ``pkg/metrics/metrics.go``, since 1.15.0)."""
    queue_failures_by_type: bool = True
    """The metric of commands that failed has the consolidation type under ``consolidation_type``; before, the decision (core
    ``pkg/controllers/disruption/queue.go``, since 1.15.0)."""
    resource_claims_in_metrics: bool = True
    """The time until pods are bound is told apart by whether they use dynamic resource allocation (core
    ``pkg/controllers/metrics/pod/controller.go``, since 1.15.0)."""
    held_repair_looks_again: bool = True
    """A repair that is held back because too many Nodes are unhealthy is tried again after five minutes."""
    repair_asks_node_first: bool = True
    """Whether too many Nodes are unhealthy is asked once the Node itself has been so for long enough; before, of every Node."""
