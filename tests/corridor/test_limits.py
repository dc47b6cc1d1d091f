"""What Karpenter says of a NodePool whose machines exceed its limits: amounts without suffixes, as Go's Quantity.AsDec prints them.

Source: core pkg/apis/v1/nodepool.go (Limits.ExceededBy) of 1.4.0 and 1.14.0.
"""

from functools import partial

import pytest

from harness.clusters.memory.store import Store
from harness.engine.clock import Clock
from harness.engine.ids import Ids
from harness.engine.ports import ADMIN
from harness.engine.rng import Rng
from harness.karpenter.lifecycle.nodepools.usage import exceeded_limit
from harness.karpenter.releases import provider
from harness.kube.api.objects import Key, with_status
from harness.kube.api.quantity import Quantity, places_of


def world_with(*capacities: dict[str, str]) -> Store:
    store = Store(Clock(), Ids(Rng(1)))
    for number, capacity in enumerate(capacities):
        meta = {"name": f"c{number}", "labels": {"karpenter.sh/nodepool": "default"}}
        store.create({"apiVersion": "karpenter.sh/v1", "kind": "NodeClaim", "metadata": meta, "spec": {}}, ADMIN)
        launched = partial(with_status, providerID=f"azure:///{number}", capacity=capacity)
        store.modify("patch", Key("NodeClaim", "", f"c{number}"), launched, ADMIN, subresource="status")
    return store


TWO = ({"cpu": "2", "memory": "8Gi"}, {"cpu": "4", "memory": "16Gi"})


@pytest.mark.parametrize(
    ("release", "limits", "said"),
    [
        ("1.14.0", {"cpu": "6"}, None),
        ("1.14.0", {"cpu": 5}, "resource usage exceeds limit (limit=5, resource-name=cpu, usage=6)"),
        ("1.14.0", {"memory": "16Gi"}, "resource usage exceeds limit (limit=17179869184, resource-name=memory, usage=25769803776)"),
        ("1.14.0", {"nodes": 1}, "resource usage exceeds limit (limit=1, resource-name=nodes, usage=2)"),
        ("1.14.0", {"memory": "16Gi", "cpu": "500m"}, "resource usage exceeds limit (limit=0.500, resource-name=cpu, usage=6)"),
        ("1.4.0", {"memory": "16Gi"}, "memory resource usage of 25769803776 exceeds limit of 17179869184"),
        ("1.5.0", {"cpu": "5k", "memory": "1k"}, "resource usage exceeds limit (limit=1000, resource-name=memory, usage=25769803776)"),
    ],
)  # fmt: skip
def test_the_sentence_about_an_exceeded_limit(release: str, limits: dict[str, str | int], said: str | None) -> None:
    pool = {"kind": "NodePool", "metadata": {"name": "default"}, "spec": {"limits": limits}}
    assert exceeded_limit(world_with(*TWO), pool, provider(release).core) == said


def test_without_limits_nothing_is_exceeded() -> None:
    pool = {"kind": "NodePool", "metadata": {"name": "default"}, "spec": {}}
    assert exceeded_limit(world_with(*TWO), pool, provider("1.14.0").core) is None


@pytest.mark.parametrize(
    ("text", "printed"),
    [("16Gi", "17179869184"), ("5k", "5000"), ("500m", "0.500"), ("0.5", "0.5"), ("-1500m", "-1.500"), ("0", "0"), ("100", "100")],
)  # fmt: skip
def test_amounts_without_suffix(text: str, printed: str) -> None:
    assert Quantity.parse(text).decimal(places_of(text)) == printed
