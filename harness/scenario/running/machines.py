"""The step `machine`: events of machines in Azure that no object of the cluster shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.karpenter.labels.azure import AKS_MACHINE_ID
from harness.kube.api.objects import annotations_of, name_of, spec_of, status_of
from harness.reading.problems import Mark, Problem, ScenarioError
from harness.scenario.language.models.steps import MachineStep
from harness.scenario.running.run import Run

__all__ = ["happen"]

_COMPUTE = "2025-04-01"


def happen(run: Run, step: MachineStep, mark: Mark) -> None:
    """Take the step. Raises ScenarioError where there is no such machine."""
    nodes, missing = run.nodes_of(step.of)
    if not nodes:
        raise ScenarioError([Problem(mark, "when", missing)])
    for node in nodes:
        machine = str(spec_of(node).get("providerID") or "").removeprefix("azure://")
        if "/virtualMachineScaleSets/" in machine:
            text = f"Node/{name_of(node)} is of an agent pool: the step agentPool changes that"
            raise ScenarioError([Problem(mark, "when", text)])
        if step.becomes == "lost":
            run.world.cloud.vanish(machine.rpartition("/")[2])
        elif step.becomes == "stopped":
            run.world.cloud.request("POST", f"{machine}/powerOff", query={"api-version": _COMPUTE})
        else:
            run.world.cloud.drift_machine(_machine(run, node, mark), "ClusterConfig")


def _machine(run: Run, node: Mapping[str, Any], mark: Mark) -> str:
    """Return the id of a Node's AKS machine."""
    provider_id = spec_of(node).get("providerID")
    for claim in run.world.list("NodeClaim"):
        if status_of(claim).get("providerID") == provider_id and AKS_MACHINE_ID in annotations_of(claim):
            return str(annotations_of(claim)[AKS_MACHINE_ID])
    text = f"Node/{name_of(node)} is no AKS machine; provisionMode: aksmachineapi makes them"
    raise ScenarioError([Problem(mark, "when", text)])
