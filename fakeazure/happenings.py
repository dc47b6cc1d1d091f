"""Events of a world of Azure that come without a request, and its machines as tests see them: a part of FakeAzure."""

from __future__ import annotations

from fakeazure.aks.machines import drift
from fakeazure.aks.managed_clusters import NAMESPACE
from fakeazure.arm.ids import ResourceId
from fakeazure.events import VirtualMachine
from fakeazure.guids import guid_of
from fakeazure.market.faults import Fault
from fakeazure.market.market import Market
from fakeazure.resources.compute import vm_lifecycle
from fakeazure.state import State

__all__ = ["Happenings"]


class Happenings:
    """Evictions, upgrades, losses of machines; faults that never fired."""

    state: State
    market: Market

    def unfired(self) -> list[Fault]:
        """Declared faults that never fired."""
        return self.market.faults.unfired()

    def vm_id(self, name: str) -> ResourceId:
        """The id of a VM by its name. LookupError if there is none."""
        for entry in self.state.store.list(vm_lifecycle.FULL_TYPE):
            if entry.id.name.lower() == name.lower():
                return entry.id
        raise LookupError(f"there is no VM {name}")

    def vm(self, name: str) -> VirtualMachine:
        """A VM as events show it. LookupError if there is none."""
        return vm_lifecycle.snapshot(self.state, self.vm_id(name))

    def vms(self) -> list[VirtualMachine]:
        """All VMs, oldest first."""
        return [vm_lifecycle.snapshot(self.state, entry.id) for entry in self.state.store.list(vm_lifecycle.FULL_TYPE)]

    def evict(self, name: str) -> None:
        """Evict a spot VM, after the notice of `timing.eviction_notice`. LookupError for no such VM, ValueError if it is not spot."""
        vm_lifecycle.evict(self.state, self.vm_id(name))

    def vanish(self, name: str) -> None:
        """Remove a VM at once and without notice, as when a host is lost or somebody deletes it in the portal."""
        vm_lifecycle.remove(self.state, self.vm_id(name))

    def upgrade_cluster(self, kubernetes: str) -> None:
        """Let the cluster's control plane run another version of Kubernetes; its machines are behind from then on."""
        names = self.state.settings
        cluster = ResourceId(
            names.subscription, names.resource_group, NAMESPACE, ("managedClusters",), (names.cluster,)
        )
        document = self.state.found(cluster).document
        versions = {"kubernetesVersion": kubernetes, "currentKubernetesVersion": kubernetes}
        self.state.store.put(cluster, {**document, "properties": {**document["properties"], **versions}})

    def attach_kubeconfig(self, text: str) -> None:
        """Let the cluster's credentials be this kubeconfig, that of the real cluster behind it."""
        names = self.state.settings
        cluster = (names.subscription, names.resource_group, NAMESPACE, ("managedClusters",), (names.cluster,))
        self.state.kubeconfigs[ResourceId(*cluster).key] = text

    def drift_machine(self, machine: str, reason: str) -> None:
        """Let AKS ask for a machine (its ARM id) to be recreated, as when the cluster moves on. ArmError if there is none."""
        drift(self.state, ResourceId.parse(machine), reason)

    def publish_image(self, definition: str, version: str) -> None:
        """Publish a newer version of an image definition. KeyError for a definition that AKS does not have."""
        self.market.images.publish(definition, version)

    def guid_of(self, text: str) -> str:
        """The guid that always belongs to `text`."""
        return guid_of(text)
