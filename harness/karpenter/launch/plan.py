"""From a NodeClaim to the bodies that are sent to Azure for it: the provider's part of CloudProvider.Create, without the calls."""

import base64
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from harness.engine.names import VmId
from harness.karpenter.instancetypes.computed import architecture_of, ephemeral_disk
from harness.karpenter.instancetypes.sku import Ephemeral
from harness.karpenter.labels import azure as keys
from harness.karpenter.launch.bodies.machine import MachineInput, machine_body
from harness.karpenter.launch.bodies.names import machine_name, provider_id, resource_name
from harness.karpenter.launch.bodies.tags import machine_tags, resource_tags
from harness.karpenter.launch.bodies.vm import VmInput, billing_extension, custom_script_extension, nic_body, vm_body
from harness.karpenter.launch.boot.bootstrapping import BootstrapInput, provision_values
from harness.karpenter.launch.boot.custom_data import ScriptInput, script
from harness.karpenter.launch.boot.kubelet import kubelet_flags
from harness.karpenter.launch.choice import Choice, choose, claim_requirements
from harness.karpenter.launch.failures.errors import CREATING_MACHINE, LaunchError, LaunchPanic
from harness.karpenter.launch.images import (
    ImageDefinition,
    image_definition_of,
    resolve_image,
)
from harness.karpenter.launch.inputs import Launch
from harness.karpenter.launch.labels.base import base_labels
from harness.karpenter.launch.labels.layers import Labels
from harness.karpenter.launch.labels.node import machine_leaves_out, node_labels
from harness.karpenter.launch.labels.taints import claim_taints
from harness.karpenter.launch.nodeclaim import Created, created_from_machine, created_from_vm
from harness.karpenter.launch.subnets import Subnet
from harness.karpenter.releases import ProviderOptions, ProvisionMode
from harness.karpenter.requirements import Requirements
from lazyrecords import dataclass

__all__ = ["MachinePlan", "VmPlan", "plan"]


@dataclass(frozen=True)
class VmPlan:
    """A virtual machine to be made: PUT ``nic``, PUT ``vm``, and once it is up the extensions.

    ``labels`` are those that the kubelet gets, with their layers and those withheld. In bootstrapping-client mode ``provision`` is the
    body of the request to the bootstrapping service, and :meth:`bootstrapped` takes its answer.
    """

    launch: Launch
    choice: Choice
    labels: Labels
    given: VmInput
    provision: Mapping[str, Any] | None = None

    @property
    def nic(self) -> dict[str, Any]:
        return nic_body(self.given)

    @property
    def vm(self) -> dict[str, Any]:
        return vm_body(self.given)

    @property
    def billing_extension(self) -> dict[str, Any]:
        return billing_extension(self.given)

    def custom_script_extension(self, command: str) -> dict[str, Any]:
        return custom_script_extension(self.given, command)

    def bootstrapped(self, custom_data: str) -> "VmPlan":
        """The plan with the service's base64 custom data; its token placeholder is filled in."""
        text = base64.b64decode(custom_data).decode()
        return replace(self, given=replace(self.given, custom_data=hydrated(text, self.launch.options)))

    def created(self, vm: Mapping[str, Any] | None = None) -> Created:
        """The NodeClaim that the launch returns, from the VM as Azure answered or, without one, as it was sent."""
        launch = self.launch
        return created_from_vm(
            vm if vm is not None else self.vm,
            launch.nodeclaim,
            launch.nodeclass,
            self.choice,
            options=launch.options,
            release=launch.release,
            provider_id=provider_id(self.given.vm_id),
        )


@dataclass(frozen=True)
class MachinePlan:
    """An AKS machine to be made with one PUT; ``labels`` are those sent to AKS, which adds its own."""

    launch: Launch
    choice: Choice
    labels: Labels
    given: MachineInput

    @property
    def body(self) -> dict[str, Any]:
        return machine_body(self.given)

    def created(self, vm_id: VmId) -> Created:
        """The NodeClaim that the launch returns; ``vm_id`` is the ARM id of the VM that AKS made for the machine."""
        launch = self.launch
        return created_from_machine(
            self.body,
            launch.nodeclaim,
            launch.nodeclass,
            self.choice,
            options=launch.options,
            release=launch.release,
            machine_id=self.given.machine_id,
            provider_id=provider_id(vm_id),
        )


def plan(launch: Launch) -> VmPlan | MachinePlan:
    """Chooses size, zone and capacity type, stacks the labels and prepares the bodies. Raises LaunchError, LaunchPanic."""
    wanted = claim_requirements(launch.nodeclaim, launch.release)
    if not launch.types:
        raise LaunchError.capacity("all requested instance types were unavailable during launch")
    machine = launch.machines
    try:
        if machine:
            machine_name(launch.name, launch.release.machine_name_limit)  # the first thing that can go wrong
        choice = choose(wanted, launch.types, launch.release, launch.shuffle)
        return _machine_plan(launch, wanted, choice) if machine else _vm_plan(launch, wanted, choice)
    except LaunchError as error:
        context = CREATING_MACHINE if machine else "creating instance failed"
        raise error.as_create_error(context) from error


def hydrated(text: str, options: ProviderOptions) -> str:
    """A text of the bootstrapping service with the bootstrap token in its place."""
    return text.replace("{{.TokenID}}.{{.TokenSecret}}", options.bootstrap_token)


def _vm_plan(launch: Launch, wanted: Requirements, choice: Choice) -> VmPlan:
    try:
        base = base_labels(
            launch.nodeclass,
            options=launch.options,
            release=launch.release,
            architecture=architecture_of(choice.instance_type),
        )
        labels = node_labels(launch, wanted, choice, base)
        image_id = _image(launch, choice)
        image = _definition(launch, image_id)
    except LaunchError as error:
        raise error.behind("getting launch template: getting launch templates, ") from error
    try:
        Subnet.parse((launch.nodeclass.get("spec") or {}).get("vnetSubnetID") or launch.options.subnet_id)
    except LaunchError as error:
        raise error.behind("checking if vnet is managed: ") from error
    ephemeral = _ephemeral(launch, choice)
    provision, text = None, ""
    if launch.options.provision_mode == ProvisionMode.BOOTSTRAPPING_CLIENT:
        provision = provision_values(
            BootstrapInput(
                launch.nodeclaim,
                launch.nodeclass,
                choice,
                launch.options,
                launch.release,
                labels.values(),
                launch.family,
                image,
                ephemeral,
            )
        )
    else:
        text = _script(launch, choice, labels)
    inputs = VmInput(
        name=resource_name(launch.name),
        choice=choice,
        nodeclass=launch.nodeclass,
        options=launch.options,
        release=launch.release,
        environment=launch.environment,
        tags=resource_tags(launch.nodeclaim, launch.nodeclass, launch.options, launch.release),
        image_id=image_id,
        ephemeral=ephemeral,
        custom_data=text,
    )
    return VmPlan(launch, choice, labels, inputs, provision)


def _machine_plan(launch: Launch, wanted: Requirements, choice: Choice) -> MachinePlan:
    context = "failed to build AKS machine template from template: "
    try:
        image_id = _image(launch, choice)
    except LaunchError as error:
        raise error.behind(f"{context}failed to resolve VM image ID: ") from error
    everything = node_labels(launch, wanted, choice, {})
    labels = everything.withhold(lambda key: machine_leaves_out(key, launch.release))
    inputs = MachineInput(
        nodeclaim=launch.nodeclaim,
        nodeclass=launch.nodeclass,
        choice=choice,
        options=launch.options,
        release=launch.release,
        labels=labels,
        mode=everything.values().get(keys.AKS_MODE, ""),
        tags=machine_tags(
            launch.nodeclaim, launch.nodeclass, launch.options, launch.release, created_at=launch.created_at
        ),
        image_id=image_id,
        ephemeral=_ephemeral(launch, choice),
    )
    try:
        machine_body(inputs)
    except LaunchError as error:
        raise error.behind(context) from error
    return MachinePlan(launch, choice, labels, inputs)


def _ephemeral(launch: Launch, choice: Choice) -> Ephemeral | None:
    """The disk of the machine itself that becomes the system's, where the AKSNodeClass asks for no larger one."""
    size_gb = (launch.nodeclass.get("spec") or {}).get("osDiskSizeGB")
    if size_gb is None:
        # UseEphemeralDisk follows the pointer, which only an AKSNodeClass without `spec` leaves empty: the API server
        # fills in the rest (kaz v1.14.0 pkg/providers/instancetype/instancetypes.go, v1.4.0 pkg/providers/imagefamily/resolver.go)
        raise LaunchPanic(LaunchPanic.NIL_POINTER)
    disk = ephemeral_disk(launch.skus[choice.instance_type.name], launch.release.ephemeral_rule)
    return disk if disk is not None and size_gb <= disk.size_gb else None


def _image(launch: Launch, choice: Choice) -> str:
    images = (launch.nodeclass.get("status") or {}).get("images") or ()
    image = resolve_image(images, choice.instance_type, launch.release)
    if image is None:
        raise LaunchError(f"no compatible images found for instance type {choice.instance_type.name}")
    return image


def _definition(launch: Launch, image_id: str) -> ImageDefinition:
    name = image_definition_of(image_id)
    for image in launch.family.default_images(launch.spec, launch.release, use_sig=launch.options.use_sig):
        if image.name == name:
            return image
    raise LaunchError(f"no distro found for image id {image_id}")


def _script(launch: Launch, choice: Choice, labels: Labels) -> str:
    general, startup = claim_taints(launch.nodeclaim)
    flags = kubelet_flags(choice.instance_type, launch.nodeclass, general + startup, launch.options, launch.release)
    return script(
        ScriptInput(
            choice.instance_type,
            launch.nodeclass,
            launch.options,
            launch.release,
            launch.environment,
            labels.values(),
            flags,
        )
    )
