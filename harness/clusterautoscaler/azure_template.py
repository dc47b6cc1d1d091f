"""The node that a pool without nodes would bring, as the autoscaler's Azure provider describes it: by size, labels and taints.

Its allocatable amounts are its capacity, so more seems to fit than will.
Source: autoscaler cloudprovider/azure/azure_template.go (buildNodeFromTemplate, buildGenericLabels, constructTaintFromString).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from harness.clusterautoscaler.gpus import GPU, GPU_LABELS
from harness.engine.names import zone_label
from harness.kube.api.labels import (
    ARCH,
    BETA_ARCH,
    BETA_INSTANCE_TYPE,
    BETA_OS,
    BETA_REGION,
    BETA_ZONE,
    INSTANCE_TYPE,
    OS,
    REGION,
    ZONE,
)
from lazyrecords import dataclass

__all__ = ["PoolShape", "described_node"]

_CSI_ZONE = "topology.disk.csi.azure.com/zone"
_PODS = "110"
_EFFECT = re.compile(r"(.*):(?:NoSchedule|NoExecute|PreferNoSchedule)")


@dataclass(frozen=True, slots=True)
class PoolShape:
    """The facts of a pool that the description is made from; `labels` are those that AKS names to the autoscaler."""

    size: str
    arch: str
    cpus: int
    memory_mib: int
    gpus: int
    region: str
    zone: str
    """The number of one of its zones, by chance where it has several; empty without zones."""
    labels: Mapping[str, str]
    taints: Iterable[str]
    os_disk_gb: int


def described_node(shape: PoolShape) -> dict[str, Any]:
    """Return the node, Ready and without a name."""
    capacity = {
        "pods": _PODS,
        "cpu": str(shape.cpus),
        GPU: str(shape.gpus),
        "memory": f"{shape.memory_mib}Mi",
        "ephemeral-storage": f"{shape.os_disk_gb}Gi",
    }
    gpu = dict.fromkeys(GPU_LABELS, "nvidia") if shape.gpus else {}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"labels": {**_generic_labels(shape), **shape.labels, **gpu}},
        "spec": {"taints": [taint for text in dict.fromkeys(shape.taints) for taint in _taint(text)]},
        "status": {
            "capacity": capacity,
            "allocatable": capacity,
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }


def _generic_labels(shape: PoolShape) -> dict[str, str]:
    zone = zone_label(shape.region, shape.zone) if shape.zone else "0"
    return {
        **dict.fromkeys((BETA_ARCH, ARCH), shape.arch),
        **dict.fromkeys((BETA_OS, OS), "linux"),
        **dict.fromkeys((BETA_INSTANCE_TYPE, INSTANCE_TYPE), shape.size),
        **dict.fromkeys((BETA_REGION, REGION), shape.region),
        **dict.fromkeys((BETA_ZONE, ZONE), zone),
        _CSI_ZONE: zone if shape.zone else "",
    }


def _taint(text: str) -> Iterable[dict[str, str]]:
    """Yield the taint of `key=value:Effect`; upstream reads none without `=`."""
    parts = text.split("=")
    if len(parts) == 2 and _EFFECT.search(parts[1]):
        value, effect = parts[1].split(":", 1)
        yield {"key": parts[0], "value": value, "effect": effect}
