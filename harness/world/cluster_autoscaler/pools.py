"""The agent pools that autoscale, as node groups with their template nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from fakeazure.aks.pool_nodes import pool_taints
from harness.clusterautoscaler.azure_template import PoolShape, described_node
from harness.clusterautoscaler.nodegroups import NodeGroup
from harness.clusterautoscaler.templates import is_good_example, template_from_description, template_from_node
from harness.kube.api.objects import Object
from harness.kube.scheduling.placement import NodeInfo
from harness.world.agent_pools import AgentPools
from harness.world.azure.hardware import hardware_of
from harness.world.caches import Caches

__all__ = ["AutoscaledPools"]


class AutoscaledPools:
    """The pools with `enableAutoScaling`; a group's id is the name of its scale set.

    Templates of pools whose nodes are gone are kept, as upstream's cache keeps them (mixed_nodeinfos_processor.go).
    """

    def __init__(self, pools: AgentPools, caches: Caches, region: str, draw: Callable[[int], int]) -> None:
        self._pools, self._caches, self._region, self._draw = pools, caches, region, draw
        self._examples: dict[str, NodeInfo] = {}

    def groups(self) -> dict[str, NodeGroup]:
        """Return the groups by id."""
        groups: dict[str, NodeGroup] = {}
        for pool in self._pools.pools:
            properties = self._pools.properties(pool)
            if properties.get("enableAutoScaling"):
                id_ = self._pools.scale_set(pool)
                minimum, maximum = int(properties.get("minCount") or 0), int(properties.get("maxCount") or 0)
                groups[id_] = NodeGroup(id_, minimum, maximum, int(properties.get("count") or 0))
        return groups

    def members(self) -> dict[str, str]:
        """Return the group of each node, whether it is registered yet or not."""
        return {
            node: self._pools.scale_set(pool)
            for pool in self._pools.pools
            if self._pools.properties(pool).get("enableAutoScaling")
            for node in self._pools.nodes(pool)
        }

    def resize(self, group: str, size: int) -> None:
        """Let a group grow. Raises PoolRefused."""
        self._pools.scale(self._pool(group), size)

    def remove(self, group: str, node: str) -> None:
        """Delete a node's machine. Raises LookupError where it is gone."""
        self._pools.remove(self._pool(group), node)

    def templates(
        self,
        groups: Mapping[str, NodeGroup],
        infos: Mapping[str, NodeInfo],
        group_of: Mapping[str, str],
        daemon_sets: Sequence[Object],
        now: int,
    ) -> dict[str, NodeInfo]:
        """Return a template for each group: by a good node of it, by one that ran earlier, or by its description."""
        templates: dict[str, NodeInfo] = {}
        for name, info in infos.items():
            group = group_of.get(name)
            if group is not None and group not in templates and is_good_example(info.node, now):
                templates[group] = self._examples[group] = template_from_node(info, group, daemon_sets)
        for group in groups:
            if group not in templates:
                templates[group] = self._examples.get(group) or self._described(group, daemon_sets)
        self._examples = {group: info for group, info in self._examples.items() if group in groups}
        return templates

    def _described(self, group: str, daemon_sets: Sequence[Object]) -> NodeInfo:
        pool = self._pool(group)
        properties = self._pools.properties(pool)
        hardware = hardware_of(str(properties["vmSize"]), self._caches.catalogue, self._region)
        zones = [str(zone) for zone in properties.get("availabilityZones") or ()]
        shape = PoolShape(
            size=str(properties["vmSize"]),
            arch=hardware.arch,
            cpus=hardware.cpus,
            memory_mib=int(hardware.memory_gib * 1024),
            gpus=hardware.gpus,
            region=self._region,
            zone=zones[self._draw(len(zones))] if zones else "",
            labels=self._pools.labels(pool),
            taints=pool_taints(properties),
            os_disk_gb=int(properties.get("osDiskSizeGB") or 128),
        )
        return template_from_description(described_node(shape), group, daemon_sets)

    def _pool(self, group: str) -> str:
        return next(pool for pool in self._pools.pools if self._pools.scale_set(pool) == group)
