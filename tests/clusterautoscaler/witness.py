"""Our answer to a case, in the form in which the real autoscaler's answers are recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.clusterautoscaler.budgets import Budgets
from harness.clusterautoscaler.drainability.outcomes import Context
from harness.clusterautoscaler.nodegroups import NodeGroup
from harness.clusterautoscaler.profile import Profile
from harness.clusterautoscaler.scaledown.parallelism import cropped
from harness.clusterautoscaler.scaledown.planner import Planner, candidates
from harness.clusterautoscaler.scaledown.unremovable import Unremovable
from harness.clusterautoscaler.scaleup.orchestrator import Unhelped, plan_scale_up
from harness.clusterautoscaler.snapshot import Snapshot, Surroundings
from harness.clusterautoscaler.templates import template_from_description, template_from_node
from harness.engine.clock import SECOND, parse
from harness.kube.api.objects import Object, name_of, namespace_of, spec_of
from harness.kube.scheduling.placement import NodeInfo

__all__ = ["answer", "comparable"]


def answer(case: Mapping[str, Any]) -> Any:
    """Return our answer to a case."""
    return _scale_up(case) if case["kind"] == "scale-up" else _scale_down(case)


def _groups(case: Mapping[str, Any]) -> dict[str, NodeGroup]:
    rows = sorted(case["groups"], key=lambda row: str(row["id"]))
    return {row["id"]: NodeGroup(row["id"], row["min"], row["max"], row["target"]) for row in rows}


def _infos(case: Mapping[str, Any]) -> dict[str, NodeInfo]:
    by_node: dict[str, list[Object]] = {}
    for pod in case["pods"]:
        by_node.setdefault(spec_of(pod)["nodeName"], []).append(pod)
    return {name_of(node): NodeInfo(node, by_node.get(name_of(node), ())) for node in case["nodes"]}


def _profile(case: Mapping[str, Any]) -> Profile:
    options = case["options"]
    return Profile(
        expander=options.get("expander", "random"),
        balance_similar_node_groups=options.get("balance", False),
        scale_down_utilization_threshold=options.get("threshold", 0.5),
        skip_nodes_with_local_storage=options.get("localStorage", False),
        skip_nodes_with_system_pods=options.get("systemPods", True),
        ignore_daemonsets_utilization=options.get("ignoreDaemons", False),
        scale_down_unneeded_time=options.get("unneeded", 600),
    )


def _scale_up(case: Mapping[str, Any]) -> dict[str, Any]:
    groups, infos = _groups(case), _infos(case)
    templates: dict[str, NodeInfo] = {}
    for name, info in infos.items():
        templates.setdefault(case["groupOf"][name], template_from_node(info, case["groupOf"][name], ()))
    for row in case["groups"]:
        templates.setdefault(row["id"], template_from_description(row["template"], row["id"], ()))
    scale_up = plan_scale_up(
        case["pending"],
        list(groups.values()),
        templates,
        Snapshot(infos.values(), Surroundings()),
        _profile(case),
        {},
        lambda count: 0,  # the first in the order of names, as the other side takes
    )
    return {
        "resizes": {resize.group.id: resize.size for resize in scale_up.resizes},
        "triggered": len(scale_up.triggered),
        "unhelped": {name_of(unhelped.pod): _reasons(unhelped) for unhelped in scale_up.unhelped},
        "awaiting": sorted(map(name_of, scale_up.awaiting)),
    }


def _scale_down(case: Mapping[str, Any]) -> list[Any]:
    groups, infos, profile = _groups(case), _infos(case), _profile(case)
    group_of, nodes, planner = case["groupOf"], case["nodes"], Planner(profile)
    looks = []
    for after in (0, 10, case["options"]["unneeded"] + 10):
        now = parse(case["now"]) + after * SECOND
        context = Context(now, Budgets(case["budgets"]), _lookup(case["replicaSets"]))
        small = candidates(nodes, groups, group_of)
        planner.look(Snapshot(infos.values(), Surroundings()), nodes, small, context)
        unneeded = sorted(planner.unneeded.nodes)
        empty, drained = cropped(*planner.to_delete(now, groups, group_of, {}), group_of, (0, 0), profile)
        looks.append(
            {
                "after": after,
                "unneeded": unneeded,
                "unremovable": {name: _words(verdict) for name, verdict in planner.unremovable.reasons.items()},
                "empty": sorted(name_of(removable.node) for removable in empty),
                "drain": sorted(name_of(removable.node) for removable in drained),
            }
        )
    return looks


def _words(verdict: Unremovable) -> str:
    return f"{verdict.reason}/{verdict.blocked.reason}" if verdict.blocked is not None else str(verdict.reason)


def _lookup(sets: Sequence[Object]) -> Any:
    there = {("ReplicaSet", name_of(owner), namespace_of(owner)): owner for owner in sets}
    return lambda kind, name, namespace: there.get((kind, name, namespace))


def _reasons(unhelped: Unhelped) -> list[str]:
    return sorted(
        [*(reason for reasons in unhelped.rejected.values() for reason in reasons), *unhelped.skipped.values()]
    )


def comparable(case: Mapping[str, Any], answers: Sequence[Any]) -> list[Any]:
    """Return the parts of recorded answers that `answer` has, too."""
    if case["kind"] == "scale-down":
        return list(answers)
    return [{key: value[key] for key in ("resizes", "triggered", "unhelped", "awaiting")} for value in answers]
