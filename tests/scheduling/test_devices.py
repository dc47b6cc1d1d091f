"""Dynamic resource allocation: what is not simulated is refused in plain words, and the controller's option decides what Karpenter does."""

from __future__ import annotations

from typing import Any

import pytest

from harness.testing import nodeclass, nodepool, pod
from harness.world import World
from harness.world.inputs import typed_options

KINDS = ("DeviceClass", "ResourceClaim", "ResourceClaimTemplate", "ResourceSlice")


def claiming() -> dict[str, Any]:
    """Return a pod that claims a device, in a version of Kubernetes whose scheduler knows nothing of claims by itself."""
    obj = pod("gpu", cpu="1")
    obj["spec"]["resourceClaims"] = [{"name": "gpu", "resourceClaimName": "claim"}]
    obj["spec"]["containers"][0]["resources"]["claims"] = [{"name": "gpu"}]
    return obj


@pytest.mark.parametrize("kind", KINDS)
def test_objects_of_devices_are_refused_in_our_own_name(kind: str) -> None:
    obj = {"apiVersion": "resource.k8s.io/v1", "kind": kind, "metadata": {"name": "a"}, "spec": {}}
    (refused,) = World().apply(obj)
    assert refused.text == f"{kind} of resource.k8s.io/v1 is not simulated: devices are not allocated"


def test_a_kind_that_no_api_server_has_is_refused_in_its_name() -> None:
    (refused,) = World().apply({"apiVersion": "resource.k8s.io/v1", "kind": "Device", "metadata": {"name": "a"}})
    assert refused.text == 'no matches for kind "Device" in version "resource.k8s.io/v1"'


@pytest.mark.parametrize(
    ("release", "options", "nodes"),
    [
        ("1.6.5", {}, 1),
        ("1.7.2", {}, 0),
        ("1.7.2", {"ignore-dra-requests": "false"}, 1),
        ("1.13.1", {"ignore-dra-requests": "false"}, 1),
        ("1.14.0", {"ignore-dra-requests": "true"}, 0),
    ],
)
def test_the_option_lets_pods_with_claims_have_nodes(release: str, options: dict[str, str], nodes: int) -> None:
    world = World(karpenter=release, kubernetes="1.33.0", options=typed_options(options, release)[0])
    world.apply(nodeclass(), nodepool(), claiming())
    world.settle(allow_rejections=True)
    assert len(world.list("NodeClaim")) == nodes


@pytest.mark.parametrize(
    ("release", "text"),
    [
        ("1.6.5", "provider 1.6.5 has no option 'ignore-dra-requests'"),
        ("1.14.0", "Karpenter allocates devices in 1.14.0 with ignore-dra-requests=false, which is not simulated"),
    ],
)
def test_where_the_option_means_something_else_it_is_refused(release: str, text: str) -> None:
    (mistake,) = typed_options({"ignore-dra-requests": "false"}, release)[1]
    assert mistake.what == text
