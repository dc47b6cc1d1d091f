"""Machines as plain virtual machines: a network interface, the VM, and its extensions.

Source: kaz pkg/providers/instance/vminstance.go.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from harness.engine.clock import SECOND, parse
from harness.engine.names import VmId
from harness.karpenter.labels.core import NODEPOOL
from harness.karpenter.launch import LaunchError, VmPlan
from harness.karpenter.launch.bodies.names import provider_id
from harness.karpenter.launch.bodies.tags import NODEPOOL_TAG
from harness.karpenter.launch.bodies.vm import BILLING_EXTENSION, CUSTOM_SCRIPT_EXTENSION
from harness.karpenter.lifecycle.instance_provider import CloudProviderError, Instance, InstanceNotFound
from harness.karpenter.provider.arm import COMPUTE, NETWORK, Answer, Arm, Asking
from harness.karpenter.provider.failures import Phase
from harness.karpenter.provider.promises import Promise, Step

Classify = Callable[[Answer, Phase, str, str], LaunchError]
"""The error of an answer, given the phase, the name of the resource, and its path."""


class VirtualMachines:
    """Creates, reads and deletes the VMs of NodeClaims."""

    def __init__(self, arm: Arm) -> None:
        self._arm = arm
        self._read: dict[int, tuple[Mapping[str, Any], Instance]] = {}
        """The rows of the last list, by identity since bodies are never changed, with the instances made from them."""

    def create(self, plan: VmPlan, classify: Classify) -> Asking[Promise]:
        """Create network interface and VM. Return the promise of the unfinished part. Raises LaunchError."""
        arm, name = self._arm, plan.given.name
        command = ""
        if plan.provision is not None:
            answer = arm.call("GET", f"{arm.options.cluster_id}/nodeBootstrapping", body=plan.provision)
            if not answer.ok:
                raise classify(answer, Phase.BOOTSTRAPPING, name, arm.options.cluster_id)
            plan = plan.bootstrapped(str(answer.body["customData"]))
            command = str(answer.body.get("cse") or "")
        nic = yield from arm.ask("PUT", arm.nic(name), NETWORK, body=plan.nic)
        if not nic.ok:
            raise classify(nic, Phase.NIC, name, arm.nic(name))
        path = arm.vm(name)
        claim = plan.launch.nodeclaim

        def failed(ended: Answer) -> LaunchError:
            return classify(ended, Phase.VM_OPERATION, name, path)

        there = yield from arm.ask("GET", path, COMPUTE)
        if there.status == 200:
            return Promise(claim, None, failed, lambda: self.clean_up(name), found=there.body)
        answer = yield from arm.ask("PUT", path, COMPUTE, body=plan.vm)
        if not answer.ok:
            for step in self.clean_up(name):
                step()
            raise classify(answer, Phase.VM, name, path)
        steps: deque[Step] = deque([lambda: arm.call("GET", path, COMPUTE)])
        if command:
            extension = plan.custom_script_extension(command)
            steps.append(
                lambda: arm.call("PUT", f"{path}/extensions/{CUSTOM_SCRIPT_EXTENSION}", COMPUTE, body=extension)
            )
        steps.append(
            lambda: arm.call("PUT", f"{path}/extensions/{BILLING_EXTENSION}", COMPUTE, body=plan.billing_extension)
        )
        return Promise(claim, answer.operation, failed, lambda: self.clean_up(name), steps, pause=answer.retry_after)

    def get(self, name: str) -> Instance:
        """A VM. Raises InstanceNotFound, CloudProviderError."""
        answer = self._arm.call("GET", self._arm.vm(name), COMPUTE)
        if answer.status == 404:
            raise InstanceNotFound(f'getting instance, virtual machine "{name}" not found')
        if not answer.ok:
            raise CloudProviderError(f"getting instance, {answer.error}")
        return _instance(answer.body)

    def list(self) -> Sequence[Instance]:
        """All VMs of NodePools. Raises CloudProviderError."""
        before, self._read = self._read, {}
        for row in self._arm.resources("microsoft.compute/virtualmachines"):
            self._read[id(row)] = before.get(id(row)) or (row, _instance(row))
        return [instance for _, instance in self._read.values()]

    def delete(self, name: str) -> None:
        """Start the deletion of a VM; its NIC and disk go with it. Raises InstanceNotFound once it is gone."""
        try:
            if self.get(name).deleting:
                return
        except InstanceNotFound:
            self._delete_nic(name)
            raise
        answer = self._arm.call("DELETE", self._arm.vm(name), COMPUTE, query={"forceDeletion": "true"})
        if not answer.ok and answer.status != 404:
            raise CloudProviderError(f"deleting instance, {answer.error}")

    def clean_up(self, name: str) -> Sequence[Step]:
        """The calls that remove what a failed launch left behind: the VM, which takes its NIC along, then a NIC that is left."""
        return lambda: self._delete_vm(name), lambda: self._delete_nic(name)

    def _delete_vm(self, name: str) -> Answer:
        """Delete a VM if it exists (deleteVirtualMachineIfExists)."""
        answer = self._arm.call("GET", self._arm.vm(name), COMPUTE)
        if answer.status != 200:
            return answer
        return self._arm.call("DELETE", self._arm.vm(name), COMPUTE, query={"forceDeletion": "true"})

    def _delete_nic(self, name: str) -> Answer:
        """Delete a NIC if it still exists; usually its VM took it along (deleteNicIfExists)."""
        answer = self._arm.call("GET", self._arm.nic(name), NETWORK)
        return answer if answer.status != 200 else self._arm.call("DELETE", self._arm.nic(name), NETWORK)


def _instance(vm: Mapping[str, Any]) -> Instance:
    properties = vm.get("properties") or {}
    created = properties.get("timeCreated")
    tags = vm.get("tags") or {}
    return Instance(
        name=str(vm.get("name") or ""),
        provider_id=provider_id(VmId(str(vm.get("id") or ""))),
        labels={NODEPOOL: tags[NODEPOOL_TAG]} if NODEPOOL_TAG in tags else {},
        created=_moment(created) if created else None,
        deleting=properties.get("provisioningState") == "Deleting",
    )


def _moment(text: str) -> int:
    """An ARM time, which has up to seven decimals, in nanoseconds since the start of the world."""
    head, _, rest = text.partition(".")
    digits = rest[: len(rest) - len(rest.lstrip("0123456789"))]
    zone = rest[len(digits) :]
    return parse(f"{head}{zone}") + int(float(f"0.{digits}") * SECOND)
