"""The composition root: where cloud, cluster and Karpenter meet on one clock."""

import gc

_COLLECTED = gc.isenabled()
gc.disable()  # what is imported here stays; looking for garbage in it again and again takes a tenth of the import
try:
    from harness.world.caches import Caches, default_caches
    from harness.world.refused import ObjectsRefused
    from harness.world.world import World
finally:
    if _COLLECTED:
        gc.enable()

__all__ = ["Caches", "ObjectsRefused", "World", "default_caches"]
