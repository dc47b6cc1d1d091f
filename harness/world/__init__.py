"""The composition root: where cloud, cluster and Karpenter meet on one clock."""

from harness.garbage import Importing

with Importing():
    from harness.world.caches import Caches, default_caches
    from harness.world.refused import ObjectsRefused
    from harness.world.world import World

__all__ = ["Caches", "ObjectsRefused", "World", "default_caches"]
