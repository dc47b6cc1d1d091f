"""CRDs replaced while objects are stored: what is judged anew, on every kind of write, with ratcheting and without."""

import copy
from typing import Any

import pytest

from harness.clusters.memory.cluster import MemoryCluster
from harness.engine.clock import Clock
from harness.engine.engine import Engine
from harness.engine.ids import Ids
from harness.engine.ports import ADMIN, Writer
from harness.engine.rng import Rng
from harness.karpenter.validation import crd_set
from harness.kube.api.status import ApiError
from harness.world.recorder import Recorder

POOL: dict[str, Any] = {
    "apiVersion": "karpenter.sh/v1",
    "kind": "NodePool",
    "metadata": {"name": "old", "finalizers": ["example.com/held"]},
    "spec": {
        "disruption": {"consolidateAfter": "Never"},
        "template": {
            "metadata": {"labels": {"agentpool": "x"}},
            "spec": {
                "nodeClassRef": {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"},
                "requirements": [],
            },
        },
    },
}


def before(kubernetes: str) -> tuple[MemoryCluster, Writer]:
    """A cluster with 1.12.2's CRDs and a NodePool that later ones refuse."""
    rng, engine = Rng(0), Engine(Clock())
    cluster = MemoryCluster(
        engine, rng, Ids(rng), Recorder(engine.clock), crds=crd_set("1.12.2"), kubernetes=kubernetes
    )
    admin = cluster.writer(ADMIN)
    admin.create(POOL)
    return cluster, admin


WRITES: list[tuple[str, dict[str, Any], str]] = [
    ("weight", {"spec": {"weight": 7}}, ""),
    ("annotation", {"metadata": {"annotations": {"example.com/note": "a"}}}, ""),
    ("last finalizer", {"metadata": {"finalizers": None}}, ""),
    ("status", {"status": {"resources": {"cpu": "1"}}}, "status"),
]


@pytest.mark.parametrize(("patch", "subresource"), [each[1:] for each in WRITES], ids=[each[0] for each in WRITES])
@pytest.mark.parametrize("kubernetes", ["1.29.9", "1.30.0", "1.33.0"])
def test_every_write_of_an_old_object_is_judged(kubernetes: str, patch: dict[str, Any], subresource: str) -> None:
    """Kubernetes 1.29 refuses even the removal of a finalizer, 1.30 the status still, 1.33 nothing that stays as it is."""
    cluster, admin = before(kubernetes)
    admin.patch("NodePool", "old", patch, subresource=subresource, dry_run=True)
    cluster.update_crds(crd_set("1.14.0"))
    if kubernetes == "1.33.0" or (kubernetes == "1.30.0" and subresource == ""):
        admin.patch("NodePool", "old", patch, subresource=subresource)
        return
    with pytest.raises(ApiError) as caught:
        admin.patch("NodePool", "old", patch, subresource=subresource)
    assert caught.value.message.endswith('label "agentpool" is restricted')


def test_a_changed_label_map_is_judged_whole_and_may_be_mended() -> None:
    cluster, admin = before("1.34.0")
    cluster.update_crds(crd_set("1.14.0"))
    labels = {"spec": {"template": {"metadata": {"labels": {"team": "a"}}}}}
    with pytest.raises(ApiError):
        admin.patch("NodePool", "old", labels)
    labels["spec"]["template"]["metadata"]["labels"]["agentpool"] = None  # type: ignore[assignment]
    assert admin.patch("NodePool", "old", labels)["spec"]["template"]["metadata"]["labels"] == {"team": "a"}


def test_older_crds_open_what_newer_ones_closed() -> None:
    cluster, admin = before("1.34.0")
    cluster.update_crds(crd_set("1.14.0"))
    another = copy.deepcopy(POOL)
    another["metadata"]["name"] = "new"
    with pytest.raises(ApiError):
        admin.create(another)
    cluster.update_crds(crd_set("1.12.2"))
    admin.create(another)


@pytest.mark.parametrize(
    ("patch", "subresource", "text"),
    [
        ({"metadata": {"labels": {"team": "a b"}}}, "", 'metadata.labels: Invalid value: "a b"'),
        ({"status": {"conditions": [{"type": "Ready"}]}}, "status", "status.conditions[0].status: Required value"),
    ],
)
def test_metadata_and_status_are_judged_without_an_update_too(
    patch: dict[str, Any], subresource: str, text: str
) -> None:
    _, admin = before("1.34.0")
    with pytest.raises(ApiError) as caught:
        admin.patch("NodePool", "old", patch, subresource=subresource)
    assert text in caught.value.message


def test_a_status_is_pruned_and_defaulted() -> None:
    _, admin = before("1.34.0")
    stored = admin.patch(
        "NodePool", "old", {"status": {"resources": {"cpu": "1"}, "mood": "fine"}}, subresource="status"
    )
    assert stored["status"] == {"resources": {"cpu": "1"}, "nodes": 0}  # the schema of this field has a default
