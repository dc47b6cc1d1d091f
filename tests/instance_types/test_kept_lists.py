"""How long AKSNodeClasses share a list of instance types where the provider's cache takes them for the same."""

from harness.testing import nodeclass
from harness.world import World

PLAIN = nodeclass("plain", imageFamily="Ubuntu2204")
FIPS = nodeclass("fips", imageFamily="Ubuntu2204", fipsMode="FIPS")
HOUR = 3600


def test_the_list_of_the_first_nodeclass_is_kept_for_23_hours() -> None:
    """FIPS is no part of the key in 1.12.0 (kaz pkg/providers/instancetype)."""
    world = World(karpenter="1.12.0")
    types = world.instance_types
    world.advance(12 * HOUR)
    shared = types.cached(PLAIN).types
    assert types.cached(FIPS).types is shared
    world.advance(23 * HOUR - 1)
    assert types.cached(FIPS).types is shared
    world.advance(1)
    own = types.cached(FIPS).types
    assert own is not shared
    assert types.cached(PLAIN).types is own


def test_releases_that_tell_them_apart_share_nothing() -> None:
    types = World(karpenter="1.14.0").instance_types
    assert types.cached(PLAIN).types is not types.cached(FIPS).types
