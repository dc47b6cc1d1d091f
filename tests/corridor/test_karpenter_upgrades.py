"""Another release of Karpenter takes over a running cluster."""

import pytest

from harness import World
from harness.karpenter.releases import UnknownRelease, provider
from harness.testing import nodeclass, nodepool, pod


def test_it_goes_on_with_what_is_there() -> None:
    world = World(karpenter="1.7.2")
    world.apply(nodeclass(imageFamily="Ubuntu2204"), nodepool(disruption={"consolidateAfter": "Never"}), pod())
    world.settle()
    nodes = [node["metadata"]["name"] for node in world.list("Node")]
    world.upgrade_karpenter("1.14.0")
    world.update_crds("1.14.0")
    world.apply(pod("late", cpu="2"))
    world.advance(600)
    assert [node["metadata"]["name"] for node in world.list("Node")][:1] == nodes
    assert all(one["spec"].get("nodeName") for one in world.list("Pod"))
    stored = world.get("AKSNodeClass", "default")
    assert stored is not None
    version = provider("1.14.0").nodeclass_hash_version
    assert stored["metadata"]["annotations"]["karpenter.azure.com/aksnodeclass-hash-version"] == version


def test_kubernetes_stays_and_another_world_like_it_runs_the_new_release() -> None:
    world = World(karpenter="1.4.0")
    world.upgrade_karpenter("1.14.0")
    again = world.fresh()
    assert (
        (world.release.version, world.kubernetes) == (again.release.version, again.kubernetes) == ("1.14.0", "1.33.0")
    )


def test_an_unknown_release_changes_nothing() -> None:
    world = World()
    with pytest.raises(UnknownRelease):
        world.upgrade_karpenter("9.9.9")
    assert world.release.version == World().release.version
