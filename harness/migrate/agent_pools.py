"""Agent pools and the cluster that they are of, whichever file describes them. Names of fields are those of AKS's API."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from harness.kube.api.objects import mapping_in
from harness.reading.problems import Mark
from lazyrecords import dataclass

__all__ = ["POOLS_BLOCK", "AgentPool", "ManagedCluster"]

POOLS_BLOCK = "autoscaling.azure.com/cas-block"
"""Key of the taint that keeps workloads off agent pools while the cluster autoscaler and Karpenter run side by side (AKS's how-to)."""


_SIMULATED = (
    "vmSize",
    "mode",
    "availabilityZones",
    "nodeLabels",
    "nodeTaints",
    "scaleSetPriority",
    "maxPods",
    "osSKU",
    "osDiskSizeGB",
    "osDiskType",
    "enableFIPS",
)
_WORDS = ("mode", "scaleSetPriority", "osDiskType")


@dataclass(frozen=True, slots=True)
class AgentPool:
    """One agent pool. `properties` are all that its file says, by AKS's names, without what is null or empty.

    `mark`: where it stands; `source`: which form the file has, for people (`az`, `ARM template`, `Terraform`, `Nodes`); `undecided`: the
    properties that a plan of Terraform's has without their values.
    """

    name: str
    properties: Mapping[str, Any]
    mark: Mark
    source: str
    undecided: tuple[str, ...] = ()

    def text(self, name: str, default: str = "") -> str:
        """Return a property that is a text."""
        return str(self.properties.get(name) or default)

    def number(self, name: str, default: int = 0) -> int:
        """Return a property that is a whole number."""
        return int(self.properties.get(name) or default)

    @property
    def is_system(self) -> bool:
        """Return whether AKS keeps the cluster's own pods on it."""
        return self.text("mode").lower() == "system"

    @property
    def is_karpenters(self) -> bool:
        """Return whether it only holds the machines that Karpenter asks AKS for."""
        return self.text("mode").lower() == "machines"

    @property
    def is_windows(self) -> bool:
        """Return whether its machines run Windows."""
        return self.text("osType", "Linux").lower() == "windows"

    @property
    def is_spot(self) -> bool:
        """Return whether its machines are spot machines."""
        return self.text("scaleSetPriority").lower() == "spot"

    @property
    def scales(self) -> bool:
        """Return whether the cluster autoscaler may change its count."""
        return bool(self.properties.get("enableAutoScaling"))

    @property
    def sizes(self) -> tuple[str, ...]:
        """The VM sizes: one for a scale set, any number for a pool of single VMs (`virtualMachinesProfile`)."""
        scale = mapping_in(mapping_in(self.properties.get("virtualMachinesProfile")).get("scale"))
        manual, autoscale = scale.get("manual"), scale.get("autoscale")
        rows = [
            *(manual if isinstance(manual, list) else ()),
            *(autoscale if isinstance(autoscale, list) else (autoscale,)),  # a list in older previews
        ]
        named = [mapping_in(row).get("sizes") or [mapping_in(row).get("size")] for row in rows]
        names = [str(name) for sizes in named for name in (sizes if isinstance(sizes, list) else ()) if name]
        return tuple(dict.fromkeys([*([self.text("vmSize")] if self.text("vmSize") else ()), *names]))

    @property
    def zones(self) -> tuple[str, ...]:
        """The numbers of its zones; none for a pool whose machines are in no zone."""
        return tuple(str(zone) for zone in self.properties.get("availabilityZones") or ())

    @property
    def labels(self) -> Mapping[str, str]:
        """Return the labels that it is told to give its Nodes."""
        return {str(key): str(value) for key, value in (self.properties.get("nodeLabels") or {}).items()}

    @property
    def simulated(self) -> Mapping[str, Any]:
        """Return the properties that `given.agentPools` of a scenario knows, in its words, without the count.

        The subnet is left out, for the pool's Nodes differ in nothing by it.
        """
        properties = {name: self.properties[name] for name in _SIMULATED if self.properties.get(name) not in (None, 0)}
        words = {name: str(properties[name]).capitalize() for name in _WORDS if name in properties}
        return {**properties, "vmSize": self.sizes[0], **words}

    def taints(self, name: str = "nodeTaints") -> list[dict[str, str]]:
        """Return the taints of `nodeTaints` or `nodeInitializationTaints` as a Node has them; raises ValueError for what is none."""
        return [_taint(str(text)) for text in self.properties.get(name) or ()]


@dataclass(frozen=True, slots=True)
class ManagedCluster:
    """The description of a cluster in files: its agent pools, and what else decides. Empty texts are what they do not say.

    `autoscaler` is its autoscaler profile by AKS's names (`scale-down-unneeded-time`), without what is null; `undecided` as of a pool.
    """

    pools: tuple[AgentPool, ...]
    location: str = ""
    kubernetes: str = ""
    autoscaler: Mapping[str, str] = field(default_factory=dict)
    network: Mapping[str, str] = field(default_factory=dict)
    mark: Mark | None = None
    undecided: tuple[str, ...] = ()


def _taint(text: str) -> dict[str, str]:
    """`key=value:Effect`, or `key:Effect` (AKS's API, nodeTaints)."""
    pair, colon, effect = text.rpartition(":")
    key, _, value = pair.partition("=")
    if not colon or not key or effect not in ("NoSchedule", "PreferNoSchedule", "NoExecute"):
        raise ValueError(f"'{text}' is no taint: KEY=VALUE:NoSchedule, PreferNoSchedule or NoExecute is expected")
    return {"key": key, **({"value": value} if value else {}), "effect": effect}
