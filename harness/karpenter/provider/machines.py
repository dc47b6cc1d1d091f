"""Machines as AKS machines: one PUT, and AKS makes the VM behind it.

Source: kaz pkg/providers/instance/aksmachineinstance.go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.engine.clock import parse
from harness.engine.names import VmId
from harness.karpenter.labels.core import NODEPOOL
from harness.karpenter.launch import LaunchError, MachinePlan
from harness.karpenter.launch.bodies.names import provider_id
from harness.karpenter.launch.bodies.tags import NODEPOOL_TAG
from harness.karpenter.launch.failures.errors import CREATING_MACHINE
from harness.karpenter.lifecycle.instance_provider import CloudProviderError, Instance, InstanceNotFound
from harness.karpenter.provider.arm import MACHINES, Answer, Arm, Asking
from harness.karpenter.provider.failures import Phase
from harness.karpenter.provider.promises import Promise, Step
from harness.karpenter.provider.virtual_machines import Classify
from harness.kube.go.text import quote


class AksMachines:
    """Creates, reads and deletes the AKS machines of NodeClaims."""

    def __init__(self, arm: Arm) -> None:
        self._arm = arm

    def create(self, plan: MachinePlan, classify: Classify) -> Asking[tuple[Promise, VmId]]:
        """Create the AKS machine. Return its promise and the id of the VM behind it. Raises LaunchError."""
        name = plan.given.name
        path = f"{self._arm.options.machines_id}/{name}"
        there = yield from self._arm.ask("GET", path, MACHINES)
        if there.status == 200:
            return self._reused(plan, there, classify, path)
        headers = {"AllowSpotVMSystemNode": "true"} if plan.launch.release.spot_system_machines else None
        answer = yield from self._arm.ask("PUT", path, MACHINES, body=plan.body, headers=headers)
        if not answer.ok:
            self._delete(name)
            raise classify(answer, Phase.MACHINE, name, path)
        got = yield from self._arm.ask("GET", path, MACHINES)
        if got.properties.get("provisioningState") == "Failed":
            self._delete(name)
            problem = _problem(got)
            if problem is None:
                prefix = f"failed to get AKS machine {quote(name)} once after begin creation: AKS machine is in Failed state but"
                raise LaunchError(f"{prefix} ProvisioningError is nil").as_create_error(CREATING_MACHINE)
            raise classify(_failed(problem), Phase.MACHINE_EARLY, name, path)

        def failed(ended: Answer) -> LaunchError:
            now = self._arm.call("GET", path, MACHINES)
            problem = _problem(now)
            if problem is None:
                return classify(ended, Phase.MACHINE_SILENT, name, path)
            return classify(_failed(problem), Phase.MACHINE_OPERATION, name, path)

        promise = Promise(
            plan.launch.nodeclaim, answer.operation, failed, lambda: self._clean_up(name), pause=answer.retry_after
        )
        return promise, VmId(str(got.properties.get("resourceId") or ""))

    def _reused(self, plan: MachinePlan, there: Answer, classify: Classify, path: str) -> tuple[Promise, VmId]:
        """The machine that the controller created before its restart. Raises LaunchError for one that has failed since."""
        name = plan.given.name
        if there.properties.get("provisioningState") == "Failed":
            self._delete(name)
            problem = _problem(there)
            if problem is None:
                text = f"found existing AKS machine {name}, but it is in Failed state and ProvisioningError is nil"
                raise LaunchError(text).as_create_error(CREATING_MACHINE)
            raise classify(_failed(problem), Phase.MACHINE_FOUND, name, path)

        def failed(ended: Answer) -> LaunchError:
            return classify(ended, Phase.MACHINE_OPERATION, name, path)

        promise = Promise(plan.launch.nodeclaim, None, failed, lambda: self._clean_up(name), found=there.body)
        return promise, VmId(str(there.properties.get("resourceId") or ""))

    def _clean_up(self, name: str) -> Sequence[Step]:
        return (lambda: self._delete(name),)

    def _delete(self, name: str) -> Answer:
        """Delete a machine through its agent pool (deleteMachine)."""
        pool = self._arm.options.machines_id.removesuffix("/machines")
        return self._arm.call("POST", f"{pool}/deleteMachines", MACHINES, body={"machineNames": [name]})

    def get(self, name: str) -> Instance:
        """A machine. Raises InstanceNotFound, CloudProviderError."""
        answer = self._arm.call("GET", f"{self._arm.options.machines_id}/{name}", MACHINES)
        if answer.status == 404:
            raise InstanceNotFound(f'getting AKS machine instance, machine "{name}" not found')
        if not answer.ok:
            raise CloudProviderError(f"getting AKS machine instance, {answer.status}")
        return _instance(answer.body)

    def list(self) -> Sequence[Instance]:
        """All machines of NodePools; none where there is no such agent pool. Raises CloudProviderError."""
        answer = self._arm.call("GET", self._arm.options.machines_id, MACHINES)
        if not answer.ok and answer.status != 404:
            raise CloudProviderError(f"failed to list AKS machines: {answer.error}")
        rows: Sequence[Mapping[str, Any]] = answer.body.get("value") or ()
        instances = [_instance(row) for row in rows]
        return [instance for instance in instances if NODEPOOL in instance.labels]

    def delete(self, name: str) -> None:
        """Start the deletion of a machine. Raises InstanceNotFound once it is gone."""
        if self.get(name).deleting:
            return
        answer = self._delete(name)
        if not answer.ok and answer.status != 404:
            raise CloudProviderError(f"failed to begin delete AKS machine {quote(name)}: {answer.status}")


def _problem(machine: Answer) -> Mapping[str, Any] | None:
    """The provisioning error that AKS tells of a machine."""
    problem: Mapping[str, Any] | None = (machine.properties.get("status") or {}).get("provisioningError")
    return problem


def _failed(error: Mapping[str, Any]) -> Answer:
    """Return the first detail of a provisioning error, which is the VM's, or the error itself (handleMachineProvisioningError)."""
    of_vm = next(iter(error.get("details") or ()), None)
    return Answer(200, {}, {"status": "Failed", "error": error if of_vm is None else of_vm})


def _instance(machine: Mapping[str, Any]) -> Instance:
    properties = machine.get("properties") or {}
    tags = properties.get("tags") or {}
    created = (properties.get("status") or {}).get("creationTimestamp")
    return Instance(
        name=str(machine.get("name") or ""),
        provider_id=provider_id(VmId(str(properties.get("resourceId") or ""))),
        labels={NODEPOOL: tags[NODEPOOL_TAG]} if NODEPOOL_TAG in tags else {},
        created=parse(created[:19] + "Z") if created else None,
        deleting=properties.get("provisioningState") == "Deleting",
    )
