"""Properties of a move: what has to hold of every plan, asked of the world in which it ended and not of the plan's own figures."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from math import ceil
from typing import Any

from harness import World
from harness.cli.migration_plan import MigrationPlan
from harness.explain.upgrade.verdicts import refusals_by
from harness.karpenter.labels.core import NODEPOOL
from harness.karpenter.releases import provider
from harness.kube.api.objects import Object, condition_is, is_terminating, labels_of, name_of, namespace_of, spec_of
from harness.kube.api.owners import workload_of
from harness.kube.scheduling.node_affinity import term_matches
from harness.migrate.judging.judgement import Judged, Move
from harness.migrate.proposing.proposal import Plan, proposed
from harness.migrate.walking.story import BEFORE
from harness.scenario.expectations import check
from harness.scenario.language.files import load_text
from harness.scenario.running.run import Run
from harness.scenario.running.runner import Runner, unexpected
from tests.migrate.pools import read

__all__ = ["RELEASES", "broken"]

RELEASES = ("1.6.6", "1.10.2", "1.14.0")
_REQUIRED, _PREFERRED = (f"{verb}DuringSchedulingIgnoredDuringExecution" for verb in ("required", "preferred"))
_SELECTING = ("In", "Exists", "Gt", "Lt")
_SECOND = 1_000_000_000


def broken(plan: MigrationPlan, described: Mapping[str, Any], walked: Run | None = None) -> Iterator[str]:
    """Yield what does not hold of a move that has to. `walked` is the plan's own run; without it the story is run once more."""
    if plan.walk is None:
        yield f"not walked: {plan.problem}"
        return
    (scenario,) = load_text(plan.story, file="move.yaml")
    case = scenario.cases[0]
    if walked is None:
        run, verdicts = Runner().examine(case)
    else:  # the run of the same steps, whose every moment was not watched for what is expected now
        entries = [entry for entry in case.then if entry.expectation.always is None]
        run, expected = walked, [verdict for entry in entries for verdict in check(entry, walked)]
        verdicts = (*expected, *unexpected(walked))
    yield from (f"the story does not hold: {verdict.differences}" for verdict in verdicts if not verdict.holds)
    outcome = _Outcome(plan, run)
    yield from outcome.without_place()
    yield from outcome.unnamed_differences()
    yield from outcome.strayed()
    yield from outcome.undercut()
    yield from _refused(described)


def _refused(described: Mapping[str, Any]) -> Iterator[str]:
    """Yield the refusals of what is proposed for a cluster under each release."""
    for release in RELEASES:
        world = _world(release)
        for manifest in proposed(world, read(described), Plan()).manifests:
            for refusal in refusals_by(manifest, provider(release), world.kubernetes):
                yield f"{release} refuses {manifest['kind']}/{name_of(manifest)}: {refusal.text}"


@cache
def _world(release: str) -> World:
    """Return a world to propose for, which proposing leaves as it is."""
    return World(karpenter=release, region="westeurope")


@dataclass(frozen=True)
class _Outcome:
    """The end of a run beside the plan that came with it."""

    plan: MigrationPlan
    run: Run

    @cached_property
    def _judged(self) -> Mapping[str, Judged]:
        return {judged.name: judged for judged in self.plan.judged}

    @cached_property
    def _nodes(self) -> Mapping[str, Object]:
        return {name_of(node): node for node in self.run.world.list("Node")}

    @cached_property
    def _moving(self) -> frozenset[str]:
        return frozenset(pool.name for proposed_pool in self.plan.proposal.pools for pool in proposed_pool.pools)

    @cached_property
    def _before(self) -> Mapping[str, Object]:
        """The Nodes before the move began, by name."""
        nodes = {}
        for entry in self.run.world.journal.entries:
            if entry.key.kind == "Node" and entry.after is not None and NODEPOOL not in labels_of(entry.after):
                nodes[entry.key.name] = entry.after
        return nodes

    @property
    def _pods(self) -> Iterator[tuple[Object, Object | None, Judged]]:
        for pod in self.run.world.list("Pod"):
            node = self._nodes.get(str(spec_of(pod).get("nodeName") or ""))
            if judged := self._judged.get(str(workload_of(pod))):
                yield pod, node, judged

    def without_place(self) -> Iterator[str]:
        """Yield the pods that are neither on a Node that is to be there in the end nor named with a reason."""
        counts: dict[str, int] = {}
        for pod, node, judged in self._pods:
            counts[judged.name] = counts.get(judged.name, 0) + 1
            going = node is not None and NODEPOOL not in labels_of(node) and _pool(node) in self._moving
            if node is not None and (not going or judged.running.is_daemon):
                continue
            if judged.move not in (Move.BLOCKED, Move.STAYS) or not all([judged.why, *judged.why]):
                yield f"{name_of(pod)} has no place, and {judged.name} {judged.move}: {judged.why}"
        for judged in self.plan.judged:
            named = (
                judged.move in (Move.BLOCKED, Move.STAYS) and judged.why
            )  # a StatefulSet makes one pod after the other
            if not (named or judged.running.is_daemon) and counts.get(judged.name, 0) < judged.running.replicas:
                yield f"{judged.name} has {counts.get(judged.name, 0)} of {judged.running.replicas} pods"

    def unnamed_differences(self) -> Iterator[str]:
        """Yield the labels that a workload selects on, that its old Nodes had and the new one has not, and that nobody names."""
        for pod, node, judged in self._pods:
            if node is None or NODEPOOL not in labels_of(node):
                continue
            named = json.dumps([*judged.why, *judged.notes])
            if '"affinity"' in (patch := json.dumps(judged.patch)):
                continue  # its node affinity is written anew, and the Node has all that it asks for
            named = f"{named} {patch}"
            for key in _lost_keys(judged.running.pod, node, [labels_of(old) for old in self._old_nodes(judged)]):
                if f'"{key}' not in named and f" {key}" not in named:
                    yield f"{name_of(pod)} selects on {key}, which {name_of(node)} has not, and {judged.name} says {named}"

    def strayed(self) -> Iterator[str]:
        """Yield the pods on a Node that took the place of a pool which they were kept off, where no patch says so."""
        for pod, node, judged in self._pods:
            pools = self.plan.proposal.pools
            nodepool = labels_of(node or {}).get(NODEPOOL)
            agents = [agent.name for each in pools if nodepool in each.nodepool_names for agent in each.pools]
            terms = _required_terms(judged.running.pod)
            if len(agents) != 1 or not terms or judged.patch is not None or judged.why or judged.notes:
                continue
            homes = [old for old in self._before.values() if _pool(old) in agents]
            kept_off = [term for term in terms if not any(term_matches(term, old) for old in homes)]
            if homes and len(kept_off) == len(terms) and not _names_zone(terms):
                yield f"{name_of(pod)} was kept off {agents[0]} by {terms} and is on {nodepool}"

    def _old_nodes(self, judged: Judged) -> Sequence[Object]:
        """The Nodes of agent pools onto which a workload's selectors and required terms let its pods."""
        pod = judged.running.pod
        selector = {key: str(value) for key, value in (spec_of(pod).get("nodeSelector") or {}).items()}
        terms = _required_terms(pod)
        return [
            node
            for node in self._before.values()
            if selector.items() <= labels_of(node).items() and (not terms or any(term_matches(t, node) for t in terms))
        ]

    def undercut(self) -> Iterator[str]:
        """Yield the budgets that had fewer ready pods than they ask for at a moment of the move, unless the answer names them.

        Only a rollout may do that, which heeds no budget.
        """
        budgets = [obj for obj in self.run.world.list("PodDisruptionBudget") if namespace_of(obj) == "default"]
        named = set(self.plan.walk.undercut) if self.plan.walk is not None else set()
        for budget in budgets:
            least = self._least(budget)
            name = f"default/{name_of(budget)}"
            rolled_out = [judged for judged in self.plan.judged if judged.running.workload.name == name_of(budget)]
            if least and not (name in named and all(judged.move is Move.PATCHED for judged in rolled_out)):
                yield f"{name} asks for {least[1]} ready pods and has {least[0]}"

    def _least(self, budget: Object) -> tuple[int, int] | None:
        """The fewest ready pods at a moment of the move and how many there should be, where they are fewer than before."""
        app = spec_of(budget)["selector"]["matchLabels"]["app"]
        (judged,) = (judged for judged in self.plan.judged if judged.running.workload.name == app)
        wanted = _wanted(spec_of(budget), judged.running.replicas)
        start = self.run.world.clock.start + round(self.run.taken[BEFORE - 1] * _SECOND)
        ready: set[str] = set()
        before: int | None = None
        worst: tuple[int, int] | None = None
        for entry in self.run.world.journal.entries:
            if entry.error is not None or entry.key.kind != "Pod":
                continue
            if before is None and entry.at > start:
                before = len(ready)
            pod = entry.after
            mine = pod is not None and labels_of(pod).get("app") == app
            if pod is not None and mine and condition_is(pod, "Ready") and not is_terminating(pod):
                ready.add(entry.key.name)
            else:
                ready.discard(entry.key.name)
            if before is not None and len(ready) < min(before, wanted) and (worst is None or len(ready) < worst[0]):
                worst = len(ready), wanted
        return worst


def _wanted(spec: Mapping[str, Any], replicas: int) -> int:
    """The ready pods that a budget asks for: shares are rounded up (kubernetes pkg/controller/disruption)."""
    least, most = spec.get("minAvailable"), spec.get("maxUnavailable")
    value = least if least is not None else most
    number = ceil(int(value[:-1]) * replicas / 100) if isinstance(value, str) else int(value)
    return number if least is not None else replicas - number


def _pool(node: Object) -> str:
    return labels_of(node).get("kubernetes.azure.com/agentpool", "")


def _required_terms(pod: Object) -> Sequence[Mapping[str, Any]]:
    node = (spec_of(pod).get("affinity") or {}).get("nodeAffinity") or {}
    return (node.get(_REQUIRED) or {}).get("nodeSelectorTerms") or ()


def _names_zone(terms: Sequence[Mapping[str, Any]]) -> bool:
    return "topology.kubernetes.io/zone" in json.dumps(terms)


def _lost_keys(pod: Object, node: Object, old: Sequence[Mapping[str, str]]) -> Iterator[str]:
    """Yield each key that a pod selects on, which each Node that took it had, and of which the new Node has not what is asked for."""
    spec, labels = spec_of(pod), labels_of(node)

    def was(key: str) -> bool:
        return bool(old) and all(key in node_labels for node_labels in old)

    for key, value in (spec.get("nodeSelector") or {}).items():
        if labels.get(key) != value:
            yield key
    terms = _required_terms(pod)
    if terms and not any(term_matches(term, node) for term in terms):
        for expression in (part for term in terms for part in term.get("matchExpressions") or ()):
            if expression["operator"] in _SELECTING and not term_matches({"matchExpressions": [expression]}, node):
                yield expression["key"]
    affinity = spec.get("affinity") or {}
    for weighted in (affinity.get("nodeAffinity") or {}).get(_PREFERRED) or ():
        for expression in weighted["preference"]["matchExpressions"]:
            if expression["operator"] in _SELECTING and expression["key"] not in labels and was(expression["key"]):
                yield expression["key"]
    for key in _topology_keys(spec):
        if key not in labels and was(key):
            yield key


def _topology_keys(spec: Mapping[str, Any]) -> Iterator[str]:
    yield from (spread["topologyKey"] for spread in spec.get("topologySpreadConstraints") or ())
    for kind in ("podAffinity", "podAntiAffinity"):
        rules = (spec.get("affinity") or {}).get(kind) or {}
        terms = [*(rules.get(_REQUIRED) or ()), *(each["podAffinityTerm"] for each in rules.get(_PREFERRED) or ())]
        yield from (term["topologyKey"] for term in terms)
