"""Observations of a world: its objects, the writers of labels, events and refusals. Callers get copies."""

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
        """Return the view of the cluster's objects themselves, for readers of many who change none; `get` and `list` make copies."""
        return self.ports.view

    def get(self, kind: str, name: str, namespace: str | None = None) -> dict[str, Any] | None:
        """A copy of an object, None when there is none. The namespace defaults to `default` where the kind has one."""
        stored = self.ports.view.get(kind, name, place_of(kind, namespace))
        return copy_json(stored) if stored is not None else None

    def list(
        self,
        kind: str,
        *,
        namespace: str | None = None,
        labels: Mapping[str, str] | str | None = None,
        fields: Mapping[str, str] | str | None = None,
    ) -> Objects:
        """Return copies of all objects of a kind, in order of creation."""
        stored = self.ports.view.list(kind, namespace=namespace, labels=labels, fields=fields)
        return [copy_json(obj) for obj in stored]

    def requirements_of(
        self, size: str, nodepool: Object | None = None, nodeclass: Object | None = None
    ) -> InstanceType | DroppedSize:
        """Return Karpenter's result for a size: its instance type, or the filter that drops it.

        `nodeclass` (default: the one that `nodepool` names, or `default`, or an empty one) decides image family, pods and disk.
        Raises LookupError for a size that the region does not sell.
        """
        if nodeclass is None:
            nodeclass = nodeclass_of(self.ports.view, nodepool, self.release.crds, self.kubernetes)
        result = self.instance_types.one(size, nodeclass)
        if result is None:
            raise LookupError(f"{self.region} does not sell {size}")
        return result

    def writes(self, node: str) -> Mapping[str, tuple[Write, ...]]:
        """Return for each label key of a Node the writes in order: kind, by, from_, value."""
        entries = self.cluster.evidence(node)
        return label_writes(node, entries, self.recorder.assertions, self.recorder.launches)

    def layers(self, node: str, path: str = "kubelet") -> Sequence[LabelLayer]:
        """Every label layer of a launch, overwritten ones included: path `kubelet` (the machine) or `nodeclaim`."""
        for launch in self.recorder.launches:
            if launch.vm.lower() == node and launch.path == path:
                return launch.layers
        return ()

    @property
    def applied(self) -> Sequence[Object]:
        """Return the applied and not deleted manifests, in the order in which they first came."""
        return self.kubectl.applied

    @property
    def rejections(self) -> Sequence[Rejection]:
        """Return all refusals so far, in order."""
        return tuple(self.recorder.rejections)

    @property
    def disruptions(self) -> Sequence[Disruption]:
        """Return every decision of Karpenter that nodes go, in order."""
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
        """Return the journal of every write to the cluster, with its user."""
        return self.cluster.journal

    @property
    def revision(self) -> int:
        """The resourceVersion of the last write to the cluster."""
        return self.ports.view.revision
