"""Changes of a running machine: the tags that it has by now, and identities that it lacks.

Sources: kaz pkg/controllers/nodeclaim/inplaceupdate/patch.go, pkg/providers/instance/{vminstance,aksmachineinstance}.go (Update).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from harness.engine.ports import Sink
from harness.karpenter.labels.azure import AKS_MACHINE_ID
from harness.karpenter.launch.bodies.tags import (
    MACHINE_CREATED_TAG,
    hashed_tags,
    in_place_update_hash,
    machine_tags,
    resource_tags,
)
from harness.karpenter.launch.bodies.vm import BILLING_EXTENSION, CUSTOM_SCRIPT_EXTENSION
from harness.karpenter.lifecycle.instance_provider import CloudProviderError, InstanceNotFound
from harness.karpenter.provider.arm import COMPUTE, MACHINES, NETWORK, Answer, Arm, Asking
from harness.karpenter.provider.failures import failure_of
from harness.karpenter.releases import InPlaceTags, ProviderRelease
from harness.karpenter.releases.flag_values import ProvisionMode
from harness.kube.api.field_errors import go_json
from harness.kube.api.objects import Object, annotations_of, name_of, status_of
from harness.kube.go.text import quote

__all__ = ["CONTROLLER", "MachineUpdates", "machine_update", "vm_update"]

CONTROLLER = "nodeclaim.inplaceupdate"
_MANAGEMENT = "https://management.azure.com"
_CREATED = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d\dZ")
_NEVER = "1970-01-01T00:00:00.00Z"


class MachineUpdates:
    """Brings the resources of a NodeClaim's machine to what they would be made with now."""

    def __init__(self, arm: Arm, sink: Sink, release: ProviderRelease) -> None:
        self._arm = arm
        self._sink = sink
        self._release = release

    @property
    def tags_count(self) -> bool:
        """Return whether tags are updated; before 1.6.2 they are drift, and only identities are looked at."""
        return self._release.in_place_hash_tags is not InPlaceTags.NONE

    def goal(self, claim: Object, nodeclass: Object) -> str:
        """The in-place hash of a machine that is as it should be (HashFromNodeClaim)."""
        options, release = self._arm.options, self._release
        tags = hashed_tags(resource_tags(claim, nodeclass, options, release), nodeclass, options, release)
        return in_place_update_hash(tags, options.node_identities if self._machine(claim) is None else None)

    def apply(self, claim: Object, nodeclass: Object) -> Asking[None]:
        """Updates what is not as it should be. Raises CloudProviderError with what the controller says of it."""
        machine, name = self._machine(claim), name_of(claim)
        try:
            if machine is None:
                yield from self._apply_to_vm(claim, nodeclass)
            else:
                yield from self._apply_to_machine(claim, nodeclass, machine)
        except CloudProviderError as error:
            if self._release.in_place_hash_tags is not InPlaceTags.ALL:
                raise
            kind = "VM" if machine is None else "AKS machine"
            raise CloudProviderError(f"processing {kind} instance for nodeClaim {name}: {error}") from error

    def _machine(self, claim: Object) -> str | None:
        """The name of its AKS machine; None for a plain VM."""
        resource = annotations_of(claim).get(AKS_MACHINE_ID)
        if resource is None or self._release.in_place_hash_tags is not InPlaceTags.ALL:
            return None
        return resource.rpartition("/")[2]

    # A plain VM.

    def _apply_to_vm(self, claim: Object, nodeclass: Object) -> Asking[None]:
        options, name = self._arm.options, name_of(claim)
        vm = str(status_of(claim).get("providerID") or "").rpartition("/")[2]
        there = yield from self._arm.ask("GET", self._arm.vm(vm), COMPUTE)
        where = (
            f"getting VM for nodeClaim {name}: getting azure VM {vm}: "
            if self.tags_count
            else "getting azure VM for machine, "
        )
        _check(there, where, "GET", self._arm.vm(vm), otherwise="failed to get VM instance, ")
        tags = resource_tags(claim, nodeclass, options, self._release) if self.tags_count else None
        update = vm_update(there.body, tags, options.node_identities)
        shown = go_json(update) if update is not None else "<nil>"
        if self.tags_count:
            self._sink.log("debug", CONTROLLER, "patching Azure VM", NodeClaim=name, vmPatch=shown)
        else:
            self._sink.log("debug", CONTROLLER, f"applying patch to Azure VM: {shown}", NodeClaim=name)
        if update is None:
            return
        try:
            yield from self._update_vm(claim, vm, update)
        except CloudProviderError as error:
            applying = f"applying patch to VM for nodeClaim {name}: " if self.tags_count else ""
            raise CloudProviderError(f"{applying}failed to apply update to VM, {error}") from error

    def _update_vm(self, claim: Object, vm: str, update: Mapping[str, Any]) -> Asking[None]:
        """The tags of what belongs to the VM come first: as long as the VM lacks them, all is tried again."""
        tags = update.get("tags")
        path = self._arm.vm(vm)
        if tags is not None:
            nic = self._arm.nic(vm)
            answer = yield from self._arm.ask("PATCH", nic, NETWORK, body={"tags": tags})
            _check(answer, f"updating NIC tags for {quote(vm)}: ", "PATCH", nic)
            yield from self._update_extensions(claim, vm, tags)
        answer = yield from self._arm.ask("PATCH", path, COMPUTE, body=update)
        _check(answer, "", "PATCH", path)
        yield from self._end(answer, "", path)

    def _update_extensions(self, claim: Object, vm: str, tags: Mapping[str, str]) -> Asking[None]:
        begun: list[tuple[str, Answer]] = []
        for extension in self._extensions():
            path = f"{self._arm.vm(vm)}/extensions/{extension}"
            answer = yield from self._arm.ask("PATCH", path, COMPUTE, body={"tags": tags})
            if answer.status == 404 and extension == BILLING_EXTENSION and self._release.billing_extension_may_lack:
                message = "extension not found when updating tags"
                self._sink.log(
                    "info", CONTROLLER, message, NodeClaim=name_of(claim), extensionName=extension, vmName=vm
                )
                continue
            _check(answer, f"updating VM extension {quote(extension)} for VM {quote(vm)}: ", "PATCH", path)
            begun.append((extension, answer))
        for extension, answer in begun:
            path = f"{self._arm.vm(vm)}/extensions/{extension}"
            prefix = f"polling VM extension {quote(extension)} for VM {quote(vm)}: "
            yield from self._end(answer, prefix, path, of_extension=True)

    def _extensions(self) -> Sequence[str]:
        """Return the extensions that Karpenter installs itself (GetManagedExtensionNames)."""
        if self._arm.options.provision_mode == ProvisionMode.BOOTSTRAPPING_CLIENT:
            return BILLING_EXTENSION, CUSTOM_SCRIPT_EXTENSION
        return (BILLING_EXTENSION,)

    # An AKS machine.

    def _apply_to_machine(self, claim: Object, nodeclass: Object, machine: str) -> Asking[None]:
        name, path = name_of(claim), f"{self._arm.options.machines_id}/{machine}"
        there = yield from self._arm.ask("GET", path, MACHINES)
        _check(there, f"getting AKS machine {machine} from instance provider: ", "GET", path)
        created = (there.properties.get("tags") or {}).get(MACHINE_CREATED_TAG) or ""
        created = created if _CREATED.fullmatch(created) else _NEVER
        tags = machine_tags(claim, nodeclass, self._arm.options, self._release, created_at=created)
        body = machine_update(there.body, tags)
        if body is None:
            return
        self._sink.log("debug", CONTROLLER, "patching AKS machine", NodeClaim=name)
        applying = (
            f"applying patch to AKS machine for nodeClaim {name}: failed to apply update to AKS machine {machine}, "
        )
        etag = there.properties.get("eTag")
        headers = {"If-Match": str(etag)} if etag is not None else None
        answer = yield from self._arm.ask("PUT", path, MACHINES, body=body, headers=headers)
        _check(answer, f"{applying}failed to begin update AKS machine {quote(machine)}: ", "PUT", path)
        yield from self._end(answer, f"{applying}failed to update AKS machine {quote(machine)} during LRO: ", path)
        message = "successfully updated AKS machine"
        self._sink.log("debug", CONTROLLER, message, NodeClaim=name, aksMachineName=machine)

    def _end(self, accepted: Answer, prefix: str, path: str, *, of_extension: bool = False) -> Asking[None]:
        """Wait until an operation is over. Raises CloudProviderError."""
        failed = yield from self._arm.until_ended(accepted, of_extension=of_extension)
        if failed is not None:
            raise CloudProviderError(f"{prefix}{failure_of(failed, 'GET', f'{_MANAGEMENT}{path}').text}")


def vm_update(
    vm: Mapping[str, Any], tags: Mapping[str, str] | None, identities: Sequence[str]
) -> dict[str, Any] | None:
    """The PATCH of a VM; None where it is as it should be.

    Tags (None: they do not count) are replaced as a whole, so that those of others go, too. Identities are added, never taken away.
    """
    update: dict[str, Any] = {}
    present = (vm.get("identity") or {}).get("userAssignedIdentities") or {}
    if lacking := [identity for identity in identities if identity not in present]:
        update["identity"] = {"type": "UserAssigned", "userAssignedIdentities": {identity: {} for identity in lacking}}
    if tags is not None and dict(tags) != (vm.get("tags") or {}):
        update["tags"] = dict(tags)
    return update or None


def machine_update(machine: Mapping[str, Any], tags: Mapping[str, str]) -> dict[str, Any] | None:
    """The body of an AKS machine with these tags and no others; None where it has them. There is no PATCH of machines."""
    properties = machine.get("properties") or {}
    if dict(tags) == (properties.get("tags") or {}):
        return None
    return {**machine, "properties": {**properties, "tags": dict(tags)}}


def _check(answer: Answer, prefix: str, method: str, path: str, *, otherwise: str = "") -> None:
    """Raise CloudProviderError with Azure's error after ``prefix`` unless a call succeeded.

    An object that is not there is a NodeClaim that is not found; ``otherwise`` stands before other errors.
    """
    if answer.ok:
        return
    text = failure_of(answer, method, f"{_MANAGEMENT}{path}").text
    if method == "GET" and answer.status == 404:
        raise CloudProviderError(f"{prefix}{InstanceNotFound(text)}")
    raise CloudProviderError(f"{prefix}{otherwise}{text}")
