"""The cloud node manager: initialises Nodes with the platform's facts about their VM.

While a Node has the taint `node.cloudprovider.kubernetes.io/uninitialized`, it gets provider id, instance type, zone and
region, new and beta labels alike and over whatever is there, and loses the taint.
Source: k8s.io/cloud-provider controllers/node/node_controller.go (syncNode, getNodeModifiersFromCloudProvider).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping

from harness.engine.clock import SECOND, Clock, nanoseconds
from harness.engine.engine import DONE, ReconcileError, Result
from harness.engine.ports import Change, Sink, View, Writer
from harness.kube.api.labels import (
    BETA_INSTANCE_TYPE,
    BETA_REGION,
    BETA_ZONE,
    INSTANCE_TYPE,
    REGION,
    UNINITIALIZED,
    ZONE,
)
from harness.kube.api.objects import Object, assign, labels_of, name_of, spec_of, with_metadata
from harness.kube.api.status import ApiError
from harness.nodes.machine import Machine
from harness.nodes.registry import Machines


def cloud_labels(machine: Machine) -> dict[str, str]:
    """The labels that the platform's facts give a Node."""
    return {
        BETA_INSTANCE_TYPE: machine.size,
        INSTANCE_TYPE: machine.size,
        BETA_ZONE: machine.topology_zone,
        ZONE: machine.topology_zone,
        BETA_REGION: machine.region,
        REGION: machine.region,
    }


def initialized(node: Object, machine: Machine) -> Object:
    """The Node after initialisation."""
    taints = [taint for taint in spec_of(node).get("taints") or () if taint.get("key") != UNINITIALIZED]
    spec = {**spec_of(node), "taints": taints, "providerID": spec_of(node).get("providerID") or machine.provider_id}
    if not taints:
        del spec["taints"]
    labelled = with_metadata(node, labels={**labels_of(node), **cloud_labels(machine)})
    return assign(labelled, spec=spec)


class CloudNodeManager:
    """Initialises each Node once; a key is a Node's name."""

    name = "cloud-node-manager"
    backoff = (0.1, 100.0)

    def __init__(
        self, view: View, writer: Writer, sink: Sink, machines: Machines, clock: Clock, delay: Callable[[], float]
    ) -> None:
        """`delay` returns the seconds from the first sight of a Node to its initialisation, infinity for never."""
        self._clock = clock
        self._delay = delay
        self._seen: dict[str, int] = {}
        self._view = view
        self._writer = writer
        self._sink = sink
        self._machines = machines

    def watches(self) -> Mapping[str, Callable[[Change], Iterable[Hashable]]]:
        """Watch Nodes that wait for the cloud provider."""
        return {"Node": self._keys}

    def _keys(self, change: Change) -> Iterable[Hashable]:
        if _waits(change.object):  # the time of a gone one is forgotten
            yield name_of(change.object)

    def reconcile(self, key: Hashable) -> Result:
        """Initialise the Node if it still waits and its machine is known."""
        name = str(key)
        node = self._view.get("Node", name)
        running = self._machines.of_node(name)
        if node is None or running is None or not _waits(node):
            self._seen.pop(name, None)
            return DONE
        delay = self._delay()
        if math.isinf(delay):
            return DONE
        left = self._seen.setdefault(name, self._clock.now) + nanoseconds(delay) - self._clock.now
        if left > 0:
            return Result(left / SECOND)
        machine = running.machine
        self._sink.asserted(name, "cloud-node-manager", {k: (v, "vm") for k, v in cloud_labels(machine).items()})
        try:
            self._writer.update(initialized(node, machine))
        except ApiError as error:
            if error.code != 404:
                raise ReconcileError(error.message) from error
        del self._seen[name]
        return DONE


def _waits(node: Object) -> bool:
    return any(taint.get("key") == UNINITIALIZED for taint in spec_of(node).get("taints") or ())
