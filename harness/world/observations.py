"""What can be seen of a world: its objects, who wrote what, what was told and refused. What is handed out are copies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from harness.clusters.memory.journal import Journal
from harness.clusters.provenance import Write, label_writes
from harness.engine.disruptions import Disruption
from harness.engine.label_layers import LabelLayer
from harness.engine.ports import View
from harness.karpenter.cloudprovider import DroppedSize, InstanceType
from harness.karpenter.validation.rejections import Rejection
from harness.kube.api.kinds import place_of
from harness.kube.api.objects import Object, copy_json
from harness.world.azure.observations import AzureObservations
from harness.world.nodeclasses import nodeclass_of
from harness.world.recorder import Event, LogLine

__all__ = ["Observations"]

Objects: TypeAlias = list[dict[str, Any]]


class Observations(AzureObservations):
    """Questions about a world; none of them changes it."""

    @property
    def view(self) -> View:
        """The cluster's objects themselves, for those who read many and change none; `get` and `list` make copies."""
        return self.ports.view

    def get(self, kind: str, name: str, namespace: str | None = None) -> dict[str, Any] | None:
        """A copy of an object, None when there is none. The namespace defaults to `default` where the kind has one."""
        found = self.ports.view.get(kind, name, place_of(kind, namespace))
        return copy_json(found) if found is not None else None

    def list(
        self,
        kind: str,
        *,
        namespace: str | None = None,
        labels: Mapping[str, str] | str | None = None,
        fields: Mapping[str, str] | str | None = None,
    ) -> Objects:
        """Copies of all objects of a kind, in order of creation."""
        found = self.ports.view.list(kind, namespace=namespace, labels=labels, fields=fields)
        return [copy_json(each) for each in found]

    def requirements_of(
        self, size: str, nodepool: Object | None = None, nodeclass: Object | None = None
    ) -> InstanceType | DroppedSize:
        """What Karpenter computes for a size: its instance type, or the filter that drops it.

        `nodeclass` (default: the one that `nodepool` names, or `default`, or an empty one) decides image family, pods and disk.
        Raises LookupError for a size that the region does not sell.
        """
        if nodeclass is None:
            nodeclass = nodeclass_of(self.ports.view, nodepool, self.release.crds, self.kubernetes)
        found = self.instance_types.one(size, nodeclass)
        if found is None:
            raise LookupError(f"{self.region} does not sell {size}")
        return found

    def writes(self, node: str) -> Mapping[str, tuple[Write, ...]]:
        """For each label key of a Node the writes in order: kind, by, from_, value."""
        entries = self.cluster.evidence(node)
        return label_writes(node, entries, self.recorder.assertions, self.recorder.launches)

    def layers(self, node: str, path: str = "kubelet") -> Sequence[LabelLayer]:
        """Every label layer of a launch, overwritten ones included: path `kubelet` (the machine) or `nodeclaim`."""
        for each in self.recorder.launches:
            if each.vm.lower() == node and each.path == path:
                return each.layers
        return ()

    @property
    def applied(self) -> Sequence[Object]:
        """What was applied and not deleted since, as it was given, in the order in which it first came."""
        return self.kubectl.applied

    @property
    def rejections(self) -> Sequence[Rejection]:
        """Everything that was refused so far, in order."""
        return tuple(self.recorder.rejections)

    @property
    def disruptions(self) -> Sequence[Disruption]:
        """Every decision of Karpenter that nodes go, in order."""
        return tuple(self.recorder.disruptions)

    @property
    def events(self) -> Sequence[Event]:
        """The Kubernetes Events so far, in order."""
        return tuple(self.recorder.events)

    @property
    def log(self) -> Sequence[LogLine]:
        """The log lines of the controllers so far, in order."""
        return tuple(self.recorder.lines)

    @property
    def journal(self) -> Journal:
        """Every write to the cluster, with who asked for it."""
        return self.cluster.journal

    @property
    def revision(self) -> int:
        """The resourceVersion of the last write to the cluster."""
        return self.ports.view.revision
