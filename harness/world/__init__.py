"""The composition root: where cloud, cluster and Karpenter meet on one clock."""

from harness.world.caches import Caches, default_caches
from harness.world.world import World

__all__ = ["Caches", "World", "default_caches"]
