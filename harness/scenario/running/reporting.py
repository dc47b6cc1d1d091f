"""Steps in which kubelets and agents report: conditions, and pods that are resized in place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.kube.api.objects import Object, condition, spec_of
from harness.reading.problems import Mark
from harness.scenario.language.models.steps import ConditionStep
from harness.scenario.running.operations import existing
from harness.scenario.running.run import Run

__all__ = ["report_condition", "resized", "with_resources_of"]


def report_condition(run: Run, step: ConditionStep, mark: Mark) -> None:
    """Set a condition of each object that the step names; its last transition is now, unless its status stays as it is."""
    now = run.world.clock.timestamp()
    for obj in run.matching(step.of) or [existing(run, step.of, mark)]:
        before = condition(obj, step.type) or {}
        since = before.get("lastTransitionTime", now) if before.get("status") == step.status else now
        reported = {
            "type": step.type,
            "status": step.status,
            "reason": step.reason or "Reported",
            "message": step.message or "",
            "lastTransitionTime": since,
            **({"lastHeartbeatTime": now} if obj["kind"] == "Node" else {}),
        }
        others = [
            condition
            for condition in (obj.get("status") or {}).get("conditions") or ()
            if condition["type"] != step.type
        ]
        run.refused(run.world.report(obj, {"status": {"conditions": [*others, reported]}}), step.of)


def resized(pod: Object, changed: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the containers whose requests change, as the subresource `resize` takes them."""
    before = {container["name"]: container.get("resources") or {} for container in spec_of(pod).get("containers") or ()}
    wanted = [(container.get("name"), container.get("resources") or {}) for container in _containers(changed)]
    return [
        {"name": name, "resources": resources}
        for name, resources in wanted
        if name in before and resources != before[name]
    ]


def with_resources_of(changed: Mapping[str, Any], pod: Object) -> dict[str, Any]:
    """The changed pod with the resources that its containers have by now."""
    present = {container["name"]: container.get("resources") for container in spec_of(pod).get("containers") or ()}
    containers = []
    for container in _containers(changed):
        without = {key: value for key, value in container.items() if key != "resources"}
        resources = present.get(container.get("name"))
        containers.append(without if resources is None else {**without, "resources": resources})
    return {**changed, "spec": {**changed["spec"], "containers": containers}}


def _containers(pod: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    containers: Sequence[Mapping[str, Any]] = (pod.get("spec") or {}).get("containers") or ()
    return containers
