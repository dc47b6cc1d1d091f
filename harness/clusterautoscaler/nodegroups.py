"""Node groups: what the autoscaler makes larger and smaller, and its words about a change of size.

Sources: autoscaler cloudprovider/cloud_provider.go (NodeGroup), processors/nodegroupset/nodegroup_set_processor.go (ScaleUpInfo).
"""

from __future__ import annotations

from lazyrecords import dataclass

__all__ = ["NodeGroup", "Resize"]


@dataclass(frozen=True, slots=True)
class NodeGroup:
    """A group of equal nodes with its bounds; `id` is the name of its scale set, `target` the size that was asked for last."""

    id: str
    minimum: int
    maximum: int
    target: int

    @property
    def capacity(self) -> int:
        """The number of nodes that can still be added."""
        return max(0, self.maximum - self.target)


@dataclass(frozen=True, slots=True)
class Resize:
    """A group that grows."""

    group: NodeGroup
    size: int

    def __str__(self) -> str:
        return f"{{{self.group.id} {self.group.target}->{self.size} (max: {self.group.maximum})}}"
