"""The provider that the NodeClaim lifecycle calls: create, get, list and delete, over VMs or AKS machines.

Source: kaz pkg/cloudprovider/cloudprovider.go.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableSequence, Sequence
from functools import cached_property
from typing import Any

from harness.engine.clock import Clock
from harness.engine.names import ProviderId, zone_label
from harness.engine.ports import Sink, View
from harness.engine.rng import Rng
from harness.karpenter.cloudprovider import Offering, UnevaluatedNodePool
from harness.karpenter.instancetypes import NoInstanceTypes
from harness.karpenter.labels.azure import REGIONAL_ZONE, capacity_type_of
from harness.karpenter.labels.core import CAPACITY_TYPE
from harness.karpenter.launch import (
    Choice,
    Created,
    Labels,
    Launch,
    LaunchEnvironment,
    LaunchError,
    LaunchTypes,
    MachinePlan,
    VmPlan,
    plan,
    populated_labels,
)
from harness.karpenter.launch.bodies.names import machine_name, resource_name
from harness.karpenter.lifecycle.instance_provider import CloudProviderError, Instance
from harness.karpenter.lifecycle.names import nodeclass_of
from harness.karpenter.provider.arm import NETWORK, Answer, Arm, Asking
from harness.karpenter.provider.failures import Failures, Phase
from harness.karpenter.provider.instance_types import InstanceTypeProvider
from harness.karpenter.provider.load_balancers import backend_pool_ids
from harness.karpenter.provider.machines import AksMachines
from harness.karpenter.provider.nodeclasses import why_not_found
from harness.karpenter.provider.promises import Promises
from harness.karpenter.provider.selection import best_types
from harness.karpenter.provider.virtual_machines import VirtualMachines
from harness.karpenter.releases import ProviderRelease
from harness.kube.api.labels import INSTANCE_TYPE, ZONE
from harness.kube.api.objects import Object, condition, metadata_of, name_of, spec_of, status_of
from harness.kube.api.resources import render

_MANAGEMENT = "https://management.azure.com"


class AzureProvider:
    """Launches NodeClaims on Azure. Failures mark offerings unavailable, so that the next attempt picks others."""

    def __init__(
        self,
        view: View,
        sink: Sink,
        clock: Clock,
        arm: Arm,
        instance_types: InstanceTypeProvider,
        promises: Promises,
        rng: Rng,
        region: str,
    ) -> None:
        self._view = view
        self._sink = sink
        self._arm = arm
        arm.jitter = rng.stream("retries").random
        self._instance_types = instance_types
        self._promises = promises
        self._rng = rng
        self._clock = clock
        self._region = region
        self._machine_api = arm.options.machine_api
        self._vms = VirtualMachines(arm)
        self._machines = AksMachines(arm)
        self.failures: dict[str, str] = {}
        """The last failure of each NodeClaim, by its name."""
        self._failures = Failures(instance_types, sink, clock)

    def create(self, claim: Object) -> Asking[Instance]:
        """Launches a NodeClaim. Raises LaunchError."""
        try:
            return (yield from self._create(claim))
        except LaunchError as error:
            self.failures[name_of(claim)] = str(error)
            raise

    def _create(self, claim: Object) -> Asking[Instance]:
        nodeclass = self._nodeclass(claim)
        _check_readiness(nodeclass)
        types = self._types(claim, nodeclass)
        planned = self._plan(claim, nodeclass, types)
        choice = planned.choice

        def classify(answer: Answer, phase: Phase, name: str, path: str) -> LaunchError:
            error = self._failures.error(answer, phase, choice, name, f"{_MANAGEMENT}{path}")
            self.failures[name_of(claim)] = str(error)
            return error

        if isinstance(planned, VmPlan):
            promise = yield from self._vms.create(planned, classify)
            created = planned.created()
            vm = planned.given.name
        else:
            promise, vm_id = yield from self._machines.create(planned, classify)
            created = planned.created(vm_id)
            vm = vm_id.rpartition("/")[2]
        if promise.found is not None:
            planned = self._plan(self._as_found(claim, promise.found), nodeclass, types)
            choice = planned.choice
            created = planned.created() if isinstance(planned, VmPlan) else planned.created(vm_id)
        self._promises.add(promise)
        self._tell(claim, vm, planned.labels, created)
        return _instance(claim, choice, created, self._instance_types.release)

    def _types(self, claim: Object, nodeclass: Object) -> LaunchTypes:
        release = self._instance_types.release
        try:
            return self._instance_types.for_launch(claim, nodeclass)
        except NoInstanceTypes as error:
            raise _unresolved(str(error)) from error
        except UnevaluatedNodePool as error:
            text = error.text(quoted=release.core.unevaluated_quoted)
            if release.filters_overlaid_types:
                raise _unresolved(f"applying instance type overlays, {text}") from error
            raise LaunchError(f"creating instance, {text}") from error

    def _plan(self, claim: Object, nodeclass: Object, types: LaunchTypes) -> VmPlan | MachinePlan:
        return plan(
            Launch(
                nodeclaim=claim,
                nodeclass=nodeclass,
                types=best_types(claim, types, self._instance_types.release, self._instance_types.price_orders),
                skus=self._instance_types.region.skus,
                options=self._arm.options,
                release=self._instance_types.release,
                environment=self._environment,
                shuffle=self._shuffle,
                created_at=f"{self._clock.timestamp().removesuffix('Z')}.00Z",
            )
        )

    def _as_found(self, claim: Object, machine: Mapping[str, Any]) -> Object:
        """The NodeClaim with requirements that allow only the size, zone and priority of a machine that exists already."""
        properties = machine.get("properties") or {}
        size = (properties.get("hardwareProfile") or properties.get("hardware") or {}).get("vmSize")
        zones = machine.get("zones") or ()
        regional = REGIONAL_ZONE if self._instance_types.release.regional_offerings else ""
        facts = {
            INSTANCE_TYPE: size,
            ZONE: zone_label(self._region, zones[0]) if zones else regional,
            CAPACITY_TYPE: capacity_type_of(properties.get("priority")),
        }
        narrowed = [{"key": key, "operator": "In", "values": [value]} for key, value in facts.items()]
        spec = spec_of(claim)
        return {**claim, "spec": {**spec, "requirements": [*(spec.get("requirements") or ()), *narrowed]}}

    def get(self, provider_id: ProviderId) -> Instance:
        """The instance of this id. Raises InstanceNotFound."""
        name = provider_id.rpartition("/")[2]
        if not self._machine_api:
            return self._vms.get(name)
        try:
            listed = self._machines.list()
        except CloudProviderError:
            listed = ()
        return next(
            (instance for instance in listed if instance.provider_id == provider_id), None
        ) or self._machines.get(name)

    def list(self) -> Sequence[Instance]:
        """All instances that were launched for NodePools. Raises CloudProviderError."""
        return self._machines.list() if self._machine_api else self._vms.list()

    def delete(self, claim: Object) -> None:
        """Start the deletion of a NodeClaim's instance. Raises InstanceNotFound once there is none."""
        if self._machine_api:
            self._machines.delete(machine_name(name_of(claim), self._instance_types.release.machine_name_limit))
        else:
            self._vms.delete(resource_name(name_of(claim)))

    def delete_instance(self, instance: Instance) -> None:
        """Start the deletion of an instance that has no NodeClaim. Raises InstanceNotFound."""
        if self._machine_api:
            self._machines.delete(instance.name)
        else:
            self._vms.delete(instance.name)

    def _nodeclass(self, claim: Object) -> Object:
        name = nodeclass_of(claim)
        nodeclass = self._view.get("AKSNodeClass", name)
        problem = why_not_found(name, nodeclass, lookup_told=self._instance_types.release.nodeclass_lookup_told)
        if nodeclass is None or problem is not None:
            self._sink.event(claim, "Warning", "NodeClassResolutionError", "Failed resolving NodeClass")
            raise LaunchError.capacity(f"resolving node class, {problem}")
        return nodeclass

    def _shuffle(self, offerings: MutableSequence[Offering]) -> None:
        self._rng.shuffle("offerings", offerings)

    @cached_property
    def _environment(self) -> LaunchEnvironment:
        """The cluster's network security group, which the launch template names, and its load balancer, for the NIC; read once."""
        groups = self._arm.call(
            "GET", f"{self._arm.options.node_group_id}/providers/Microsoft.Network/networkSecurityGroups", NETWORK
        )
        group = next((str(item["id"]) for item in groups.body.get("value") or ()), "")
        balancers = self._arm.call(
            "GET", f"{self._arm.options.node_group_id}/providers/Microsoft.Network/loadBalancers", NETWORK
        )
        pools = tuple(backend_pool_ids(balancers.body.get("value") or ()))
        return LaunchEnvironment(self._region, backend_pool_ids=pools, network_security_group_id=group)

    def _tell(self, claim: Object, vm: str, labels: Labels, created: Created) -> None:
        self._sink.launched(vm, "kubelet", labels.layers, labels.withheld)
        own = populated_labels(claim, created, self._instance_types.release)
        self._sink.launched(vm, "nodeclaim", own.layers, ())


def _instance(claim: Object, choice: Choice, created: Created, release: ProviderRelease) -> Instance:
    return Instance(
        name=name_of(claim),
        provider_id=created.provider_id,
        labels=populated_labels(claim, created, release).values(),
        annotations=created.annotations,
        image_id=created.image_id,
        capacity=render(created.capacity),
        allocatable=render(created.allocatable),
    )


def _unresolved(text: str) -> LaunchError:
    """The error of a launch whose instance types could not be resolved."""
    return LaunchError.create(f"resolving instance types, {text}", "InstanceTypeResolutionFailed", text)


def _check_readiness(nodeclass: Object) -> None:
    """Raise LaunchError where an AKSNodeClass is not ready to launch from (validateNodeClass)."""
    ready = condition(nodeclass, "Ready")
    state = ready["status"] if ready is not None else "Unknown"
    message = str(ready.get("message") or "") if ready is not None else ""
    if state == "False":
        raise LaunchError.nodeclass_not_ready(message)
    if state != "True":
        text = f"resolving NodeClass readiness, NodeClass is in Ready=Unknown, {message}"
        raise LaunchError.create(text, "NodeClassReadinessUnknown", "NodeClass is in Ready=Unknown")
    _check_condition(nodeclass, "KubernetesVersionReady")
    if not status_of(nodeclass).get("kubernetesVersion"):
        raise LaunchError("NodeClass KubernetesVersion is uninitialized")
    _check_condition(nodeclass, "ImagesReady")


def _check_condition(nodeclass: Object, kind: str) -> None:
    """Raise LaunchError unless a condition is True for the present generation (kaz pkg/apis/v1beta1/aksnodeclass_status.go)."""
    state = condition(nodeclass, kind) or {"status": "Unknown", "message": "object is awaiting reconciliation"}
    if state["status"] != "True":
        raise LaunchError(f"NodeClass condition {kind}, is in Ready={state['status']}, {state.get('message') or ''}")
    observed, generation = state.get("observedGeneration") or 0, metadata_of(nodeclass).get("generation")
    if observed != generation:
        text = f"ObservedGeneration {observed} does not match the NodeClass Generation {generation}"
        raise LaunchError(f"NodeClass condition {kind} {text}")
