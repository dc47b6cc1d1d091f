"""Op ``disrupt``: what each method of the disruption controller would do now, and one turn of it."""

from collections.abc import Mapping, Sequence
from typing import Any

from harness.conformance.context import AnswerContext
from harness.conformance.disruption import Cluster, LoopActions, cluster_of, conditions_answer
from harness.conformance.errors import RequestError
from harness.conformance.ops.schedule import nodeclaim_answer, overlays_answer
from harness.karpenter.disruption.candidates import Candidate
from harness.karpenter.disruption.commands.command import REPLACE, Command
from harness.karpenter.disruption.deletion_ranking import deletion_costs
from harness.karpenter.disruption.methods.method import Method
from harness.karpenter.disruption.methods.order import Attempt, attempt, methods_of
from harness.karpenter.disruption.situation import Situation, after_waiting
from harness.karpenter.disruption.turn import AGAIN, Turn, turn
from harness.karpenter.releases.disruption import disruption_rules_of
from harness.karpenter.scheduling import SchedulingEvent, pod_key
from harness.kube.api.objects import annotations_of, name_of
from harness.kube.deletion_order import DELETION_COST


def answer(request: Mapping[str, Any], context: AnswerContext) -> Any:
    """The methods one by one, each on a cluster of its own, then the controller's turn. Raises RequestError, Unsupported."""
    rules = disruption_rules_of(context.release.core)
    options = request.get("options") or {}
    methods = {method.name: method for method in methods_of(rules)}
    named = request.get("methods") or list(methods)
    if unknown := [name for name in named if name not in methods]:
        raise RequestError(f"this release has no method {unknown[0]}")
    try:
        cluster = cluster_of(request, context)
        result: dict[str, Any] = {}
        if options.get("conditions") and not request.get("methods"):
            result["conditions"] = {
                name_of(nodeclaim): conditions_answer(nodeclaim) for nodeclaim in cluster.nodeclaims
            }
        if not request.get("methods"):
            result.update(overlays_answer(cluster.overlays))
        result["methods"] = [_tried(cluster, methods[name], request, rules.announces) for name in named]
        if cluster.options.writes_deletion_costs and rules.manages_deletion_costs:
            result["deletion_costs"] = _deletion_costs(cluster)
        if not options.get("skipLoop"):
            result["loop"] = _loop(cluster, list(methods.values()), request)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise RequestError(f"not a cluster: {type(error).__name__}: {error}") from error
    return result


def _deletion_costs(cluster: Cluster) -> dict[str, str]:
    """The deletion costs of all pods after Karpenter has written them."""
    situation, _ = cluster.situation()
    pods = cluster.snapshot.pods
    costs = {pod_key(pod): cost for pod in pods if (cost := annotations_of(pod).get(DELETION_COST)) is not None}
    for deletion_cost in deletion_costs(situation) if situation.view.synced else ():
        costs.pop(pod_key(deletion_cost.pod), None)
        if deletion_cost.cost is not None:
            costs[pod_key(deletion_cost.pod)] = str(deletion_cost.cost)
    return costs


def _tried(cluster: Cluster, method: Method, request: Mapping[str, Any], announces: bool) -> dict[str, Any]:
    options = request.get("options") or {}
    situation, wait = cluster.situation()
    made = after_waiting(
        attempt(
            situation,
            method,
            unseen=frozenset(request.get("unseen") or ()),
            validates=not options.get("skipValidation"),
        ),
        wait,
    )
    result: dict[str, Any] = {"method": method.name, "reason": method.reason}
    result["candidates"] = sorted(
        (_candidate(situation, candidate, made.at) for candidate in made.candidates), key=lambda row: row["name"]
    )
    result["events"] = _events(situation.events)
    if made.budgets is not None and made.findings is not None:
        result.update(_findings(situation, made, announces), waited=wait.waited)
    return result


def _findings(situation: Situation, made: Attempt, announces: bool) -> dict[str, Any]:
    findings = made.findings
    assert findings is not None
    result: dict[str, Any] = {
        "budgets": made.budgets,
        "order": [candidate.name for candidate in findings.order],
        "commands": [_command(situation, command) for command in findings.commands],
    }
    if made.method.scores and situation.rules.balanced:
        result["totals"] = {
            pool: {"cost": totals.cost, "disruption_cost": totals.disruption_cost}
            for pool, totals in made.totals.items()
        }
    if findings.error is not None:
        result["error"] = str(findings.error)
    if findings.consolidated is not None:
        result["consolidated"] = findings.consolidated
    return result


def _candidate(situation: Situation, candidate: Candidate, now: int) -> dict[str, Any]:
    result: dict[str, Any] = {
        "name": candidate.name,
        "nodeclaim": name_of(candidate.nodeclaim),
        "nodepool": candidate.pool,
        "instance_type": candidate.instance_type.name if candidate.instance_type is not None else "",
        "zone": candidate.zone,
        "capacity_type": candidate.capacity_type,
        "disruption_cost": candidate.disruption_cost(now),
        "pods": [pod_key(pod) for pod in candidate.pods],
    }
    if situation.rules.by_savings:
        result.update(
            price=candidate.price,
            reschedule_cost=candidate.moving_cost,
            savings_ratio=candidate.savings_ratio,
            empty=candidate.is_empty(by_cost=True),
        )
    return result


def _command(situation: Situation, command: Command) -> dict[str, Any]:
    rules, outcome = situation.rules, command.outcome
    result: dict[str, Any] = {
        "decision": command.decision,
        "candidates": [candidate.name for candidate in command.candidates],
        "replacements": [
            {**nodeclaim_answer(planned), "go_order": [planned.index.types[place].name for place in planned.ordered]}
            for planned in command.replacements
        ],
        "existing": {node: [pod_key(pod) for pod in pods] for node, pods in (outcome.existing or {}).items()},
        "errors": dict(outcome.errors or {}),
    }
    if rules.announces:
        result.update(savings=command.savings(rules, situation.view.release.vocabulary), string=str(command))
    if rules.balanced:
        result["pool_costs"] = dict(command.pool_costs)
    return result


def _events(events: Sequence[SchedulingEvent]) -> list[dict[str, Any]]:
    rows = {(event.kind, event.object, event.reason, event.type, event.message): None for event in events}
    return [dict(zip(("kind", "object", "reason", "type", "message"), row, strict=True)) for row in sorted(rows)]


def _loop(cluster: Cluster, methods: Sequence[Method], request: Mapping[str, Any]) -> dict[str, Any]:
    options = request.get("options") or {}
    situation, wait = cluster.situation()
    actions = LoopActions(cluster, situation, wait)
    made = after_waiting(
        turn(
            situation,
            methods,
            actions,
            unseen=frozenset(request.get("unseen") or ()),
            validates=not options.get("skipValidation"),
        ),
        wait,
    )
    result: dict[str, Any] = {
        "requeue_after": _again(made),
        "commands": sorted(
            (
                {
                    "method": started.method.name,
                    "reason": started.method.reason,
                    "decision": started.command.decision,
                    "candidates": [candidate.name for candidate in started.command.candidates],
                    "replacements": len(started.replacements) if started.command.decision == REPLACE else 0,
                }
                for started in made.started
            ),
            key=lambda row: row["candidates"][0],
        ),
        "events": _events(situation.events),
        "waited": wait.waited,
        **actions.answer(),
    }
    if made.error:
        result["error"] = made.error
    return result


def _again(made: Turn) -> str:
    if made.next_after is None:
        return "0s"
    return "1ns" if made.next_after == AGAIN else f"{made.next_after:g}s"
