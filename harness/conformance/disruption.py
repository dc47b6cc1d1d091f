"""The cluster of a `disrupt` question: its objects, what happens in it while a method waits, and what a turn changes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from harness.conformance.context import AnswerContext
from harness.conformance.ops.schedule import (
    catalog_indexes,
    overlaid,
    overlays_of,
    scheduling_options,
    snapshot_of,
    types_of,
)
from harness.engine.clock import SECOND, nanoseconds, parse, render
from harness.karpenter.cloudprovider import InstanceType
from harness.karpenter.disruption.conditions import CONSOLIDATABLE, DRIFTED, Judged, hashed, with_conditions
from harness.karpenter.disruption.limits import exceeded
from harness.karpenter.disruption.situation import Situation, View
from harness.karpenter.disruption.turn import Refusal
from harness.karpenter.labels.core import NODEPOOL
from harness.karpenter.lifecycle.instance_provider import CloudProviderError
from harness.karpenter.lifecycle.nodes.disrupted import is_disrupted
from harness.karpenter.overlays.evaluation import Evaluation
from harness.karpenter.releases import ProviderRelease
from harness.karpenter.releases.disruption import disruption_rules_of
from harness.karpenter.scheduling import ClusterSnapshot, PlannedNodeClaim, SchedulingOptions
from harness.karpenter.scheduling.nodes.state import StateNode
from harness.kube.api.objects import (
    Object,
    condition,
    conditions_of,
    finalizers_of,
    is_terminating,
    labels_of,
    name_of,
    namespace_of,
    spec_of,
    with_metadata,
)
from harness.kube.go.durations import parse_duration

__all__ = ["Cluster", "LoopActions", "WaitingClock", "cluster_of", "conditions_answer", "judged_of"]

_NODE_CLASS = {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"}
_REASON = "DisruptionReason"
_SHOWN = (CONSOLIDATABLE, DRIFTED)
_FOREVER = 1 << 62


@dataclass(slots=True)
class Cluster:
    """The cluster that a question describes. ``nominations`` say until when nodes are nominated, in nanoseconds since the start."""

    request: Mapping[str, Any]
    context: AnswerContext
    snapshot: ClusterSnapshot
    instance_types: Mapping[str, Sequence[InstanceType]]
    release: ProviderRelease
    options: SchedulingOptions
    nominations: Mapping[str, int]
    window: int
    overlays: Evaluation | None
    first_view: View | None = None

    @property
    def nodeclaims(self) -> Sequence[Object]:
        return self.snapshot.nodeclaims

    def view(
        self,
        snapshot: ClusterSnapshot,
        types: Mapping[str, Sequence[InstanceType]],
        nominations: Mapping[str, int],
    ) -> View:
        """The cluster as Karpenter sees it."""
        return View(
            snapshot,
            types,
            release=self.release,
            options=self.options,
            indexes=catalog_indexes(self.context),
            nominated=nominations,
            queued=frozenset(self.request.get("queued") or ()),
        )

    def situation(self) -> "tuple[Situation, WaitingClock]":
        """A turn on a cluster of its own, and the clock that it waits by."""
        if self.first_view is None:
            self.first_view = self.view(self.snapshot, self.instance_types, self.nominations)
        options = self.request.get("options") or {}
        gates = disruption_rules_of(self.release.core).terminates_first and (options.get("gates") or ())
        situation = Situation(
            self.first_view,
            spot_to_spot=bool(options.get("spotToSpotConsolidation")),
            terminates_first="TerminateFirstDrift" in (gates or ()),
        )
        return situation, WaitingClock(self, situation)


def cluster_of(request: Mapping[str, Any], context: AnswerContext) -> Cluster:
    """Read the question; the conditions of NodeClaims and the hashes of NodePools are set first where it says so."""
    options = request.get("options") or {}
    snapshot, release = snapshot_of(request), context.release
    snapshot = replace(snapshot, nodeclaims=[_with_node_class(claim) for claim in snapshot.nodeclaims])
    types = types_of(request, context, release.vocabulary, [name_of(pool) for pool in snapshot.nodepools])
    overlays = overlays_of(request, snapshot.nodepools, types, release)
    types = overlaid(overlays, types)
    if options.get("hashNodePools"):
        snapshot = _hashed(snapshot)
    if options.get("conditions"):
        snapshot = _with_conditions(snapshot, types, request.get("drift") or {}, release)
    longest = parse_duration(options["batchMaxDuration"]) if options.get("batchMaxDuration") else 10 * SECOND
    rules = disruption_rules_of(release.core)
    # by the machine's clock, on which no time passes, a nomination does not end
    window = max(2 * longest, 10 * SECOND) if rules.injected_clock else _FOREVER
    nominations = {name: parse(when) + window for name, when in (request.get("nominated") or {}).items()}
    scheduling = scheduling_options(options)
    return Cluster(request, context, snapshot, types, release, scheduling, nominations, window, overlays)


def _with_node_class(nodeclaim: Object) -> Object:
    spec = spec_of(nodeclaim)
    return nodeclaim if spec.get("nodeClassRef") else {**nodeclaim, "spec": {**spec, "nodeClassRef": _NODE_CLASS}}


def _hashed(snapshot: ClusterSnapshot) -> ClusterSnapshot:
    pools, claims = [], list(snapshot.nodeclaims)
    for pool in snapshot.nodepools:
        pool, claims = hashed(pool, claims)
        pools.append(pool)
    return replace(snapshot, nodepools=pools, nodeclaims=claims)


def _with_conditions(
    snapshot: ClusterSnapshot,
    types: Mapping[str, Sequence[InstanceType]],
    drift: Mapping[str, str],
    release: ProviderRelease,
) -> ClusterSnapshot:
    judged = [judged_of(nodeclaim, snapshot, types, drift, release) for nodeclaim in snapshot.nodeclaims]
    return replace(snapshot, nodeclaims=[judged_claim.nodeclaim for judged_claim in judged])


def judged_of(
    claim: Object,
    snapshot: ClusterSnapshot,
    types: Mapping[str, Sequence[InstanceType]],
    drift: Mapping[str, str],
    release: ProviderRelease,
) -> Judged:
    """A NodeClaim with its conditions; ``drift`` says what the cloud provider finds, by NodeClaim."""
    rules = disruption_rules_of(release.core)

    def provider_drift(nodeclaim: Object) -> str:
        drift_reason = drift.get(name_of(nodeclaim)) or ""
        if drift_reason.startswith("error: "):
            raise CloudProviderError(drift_reason.removeprefix("error: "))
        return drift_reason

    pool = labels_of(claim).get(NODEPOOL) or ""
    return with_conditions(
        claim,
        next((nodepool for nodepool in snapshot.nodepools if name_of(nodepool) == pool), None),
        types.get(pool, ()),
        provider_drift,
        now=snapshot.now,
        release=release,
        rules=rules,
    )


def conditions_answer(nodeclaim: Object) -> dict[str, Any]:
    """The conditions that decide about disruption."""
    return {
        state["type"]: {
            "status": state["status"],
            "reason": state.get("reason") or "",
            "message": state.get("message") or "",
            "since": state["lastTransitionTime"],
        }
        for state in conditions_of(nodeclaim)
        if state["type"] in _SHOWN
    }


class WaitingClock:
    """Lets the time pass at once. What the question says happens in the first wait does."""

    def __init__(self, cluster: Cluster, situation: Situation) -> None:
        self._cluster, self._situation = cluster, situation
        self._snapshot, self._types = cluster.snapshot, cluster.instance_types
        self._nominations = dict(cluster.nominations)
        self._changes: Mapping[str, Any] | None = cluster.request.get("wait")
        self.waited = 0.0
        #: kind and name of the Nodes and NodeClaims that the wait put in the place of what was there
        self.put: frozenset[tuple[str, str]] = frozenset()

    def __call__(self, seconds: float) -> None:
        """Wait."""
        if self._changes is not None:
            self._change(self._changes)
            self._changes = None
        self.waited += seconds
        self._snapshot = replace(self._snapshot, now=self._snapshot.now + nanoseconds(seconds))
        self._situation.view = self._cluster.view(self._snapshot, self._types, self._nominations)

    @property
    def now(self) -> int:
        return self._snapshot.now

    @property
    def nominations(self) -> Mapping[str, int]:
        return self._nominations

    @property
    def snapshot(self) -> ClusterSnapshot:
        """The cluster with what the wait changed, without what the turn did."""
        return self._snapshot

    def _change(self, changes: Mapping[str, Any]) -> None:
        before, later = self._snapshot, snapshot_of(changes)
        gone = changes.get("delete") or {}
        nodes = _replaced(before.nodes, later.nodes)
        claims = [
            _deleted(claim, before.now) if name_of(claim) in (gone.get("nodeclaims") or ()) else claim
            for claim in _replaced(before.nodeclaims, later.nodeclaims)
        ]
        lost = set(gone.get("pods") or ())
        self._snapshot = replace(
            before,
            nodepools=_replaced(before.nodepools, later.nodepools),
            nodes=[node for node in nodes if name_of(node) not in (gone.get("nodes") or ())],
            nodeclaims=[claim for claim in claims if claim is not None],
            pods=[
                pod for pod in _replaced(before.pods, later.pods) if f"{namespace_of(pod)}/{name_of(pod)}" not in lost
            ],
            pdbs=_replaced(before.pdbs, later.pdbs),
            deleting=before.deleting | frozenset(changes.get("deleting") or ()),
        )
        self.put = frozenset(
            (kind, name_of(obj))
            for kind, objects in (("Node", later.nodes), ("NodeClaim", later.nodeclaims))
            for obj in objects
        )
        for name in changes.get("nominate") or ():
            self._nominations[name] = before.now + self._cluster.window
        if changes.get("catalog"):
            request = {"catalog": changes["catalog"], "instance_types": self._cluster.request.get("instance_types")}
            own = self._cluster.request.get("catalog_by_nodepool") or {}
            names = [name_of(pool) for pool in self._snapshot.nodepools]
            fresh = types_of(request, self._cluster.context, self._cluster.release.vocabulary, names)
            fresh = overlaid(self._cluster.overlays, fresh)
            self._types = {name: self._types[name] if name in own else fresh[name] for name in names}


def _replaced(before: Sequence[Object], later: Sequence[Object]) -> list[Object]:
    """The objects, with those of `later` in the place of the ones of their name."""
    fresh = {(namespace_of(obj), name_of(obj)): obj for obj in later}
    renewed = [fresh.pop((namespace_of(obj), name_of(obj)), obj) for obj in before]
    return [*renewed, *fresh.values()]


def _deleted(obj: Object, now: int) -> Object | None:
    return with_metadata(obj, deletionTimestamp=render(now)) if finalizers_of(obj) else None


class LoopActions:
    """The changes of one turn of the controller in the question's cluster."""

    def __init__(self, cluster: Cluster, situation: Situation, clock: WaitingClock) -> None:
        self._cluster, self._situation, self._clock = cluster, situation, clock
        self._released: set[tuple[str, str]] = set()
        self._tainted: set[str] = set()
        self._reasons: dict[str, str] = {}
        self._created: list[str] = []
        self._marked: set[str] = set()
        self._nominated: dict[str, int] = {}

    def release(self, nodes: Sequence[StateNode]) -> None:
        for node in nodes:
            if node.node is not None and node.nodeclaim is not None:
                if not is_terminating(node.node):
                    self._released.add(("Node", name_of(node.node)))
                if node.initialized:
                    self._released.add(("NodeClaim", name_of(node.nodeclaim)))

    def mark_disrupted(self, node: StateNode, reason: str) -> None:
        assert node.node is not None
        assert node.nodeclaim is not None
        self._tainted.add(name_of(node.node))
        self._reasons[name_of(node.nodeclaim)] = reason

    def create(self, planned: PlannedNodeClaim, reason: str) -> str:
        view = self._situation.view
        problem = exceeded(view, view.nodepools[planned.nodepool], frozenset(self._marked))
        if problem is not None:
            raise Refusal(problem)
        self._created.append(f"{planned.nodepool}-")
        return f"{planned.nodepool}-{len(self._created)}"

    def mark_for_deletion(self, nodes: Sequence[StateNode]) -> None:
        self._marked.update(node.name for node in nodes)

    def nominate(self, node: StateNode) -> None:
        self._nominated[node.name] = self._clock.now + self._cluster.window

    def answer(self) -> dict[str, Any]:
        """Return the state afterwards."""
        view, after = self._situation.view, self._clock.snapshot
        released = self._released - self._clock.put
        tainted = {name_of(node) for node in after.nodes if is_disrupted(node)}
        tainted.difference_update(name for kind, name in released if kind == "Node")
        reasons = {
            name_of(claim): str(state.get("reason") or "")
            for claim in after.nodeclaims
            if (state := condition(claim, _REASON)) is not None and ("NodeClaim", name_of(claim)) not in released
        }
        nominated = {**view.nominated, **self._nominated}
        names = {node.name for node in view.nodes}
        return {
            "tainted": sorted(tainted | self._tainted),
            "marked": sorted({node.name for node in view.nodes if node.deleting} | self._marked),
            "disruption_reasons": dict(sorted({**reasons, **self._reasons}.items())),
            "created": sorted(self._created),
            "nominated": sorted(name for name, until in nominated.items() if until > view.now and name in names),
        }
