"""A NodeClaim that the API server refuses to a real controller is a refusal of the world, as it is in the simulation."""

from __future__ import annotations

from contextlib import suppress

import pytest

from harness.engine.ports import Identity
from harness.karpenter.validation.rejections import RejectionLayer
from harness.kube.api.status import ApiError
from harness.world.refused import ObjectsRefused
from tests.real.conftest import NewWorld


def claim(name: str, key: str) -> dict[str, object]:
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodeClaim",
        "metadata": {"name": name},
        "spec": {
            "nodeClassRef": {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"},
            "requirements": [{"key": key, "operator": "NotIn", "values": ["batch"]}],
        },
    }


def test_a_refusal_is_recorded_once(idle_world: NewWorld) -> None:
    world = idle_world()
    writer = world.cluster.writer(Identity("system:serviceaccount:kube-system:karpenter"))
    for _ in range(2):
        with pytest.raises(ApiError):
            writer.create(claim("apps-x", "agentpool"))
    writer.create(claim("apps-y", "team"))
    with suppress(ApiError):
        writer.create(claim("apps-y", "team"))
    world.advance(0.1)
    (refused,) = world.rejections
    assert (refused.object, refused.layer) == ("NodeClaim/apps-x", RejectionLayer.NODECLAIM_CEL)
    with pytest.raises(ObjectsRefused, match="NodeClaim/apps-x"):
        world.settle()
