"""Large clusters for benchmarks, as requests for `oracle consolidate`."""

from __future__ import annotations

from tests.conformance.cases.disruption.nodepools import offers
from tests.conformance.cases.disruption.nodes import machine
from tests.conformance.cases.disruption.pods import fill, pod
from tests.conformance.cases.disruption.scene import CAPACITY, HASH, HASH_VERSION, Json, Scene, ago
from tests.conformance.cases.disruption.sizes import disruption_catalogs
from tests.conformance.cases.draw import Draw

__all__ = ["FLEETS", "fleet"]

#: mixed: nodes 20 to 95 % full; packed: about 93 %; tight: all full and of the cheapest size, so that nothing can be done; empty: no pods
FLEETS = ("mixed", "packed", "tight", "empty")


class _Calm(Scene):
    """A scene in which nothing happens by chance."""

    def chance(self, probability: float) -> bool:
        return False


def fleet(nodes: int, seed: int, kind: str) -> Json:
    """`nodes` nodes of one NodePool, one of `FLEETS`; the same for the same seed."""
    draw = Draw(f"{seed} bench {nodes} {kind}")
    types = disruption_catalogs()["wide"]
    scene = _Calm(draw, dict.fromkeys(disruption_catalogs(), types), "bench")
    scene.computes = False
    scene.input = {"instance_types": types}
    requirement: Json = {"key": CAPACITY, "operator": "In", "values": ["spot", "on-demand"]}
    spec = {
        "requirements": [requirement],
        "nodeClassRef": {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"},
        "expireAfter": "720h",
    }
    pool: Json = {
        "metadata": {"name": "pool-a", "uid": "pool-a", "annotations": {HASH: "4711", HASH_VERSION: "v3"}},
        "spec": {
            "template": {"spec": spec},
            "disruption": {
                "consolidationPolicy": "WhenEmptyOrUnderutilized",
                "consolidateAfter": "0s",
                "budgets": [{"nodes": "100%"}],
            },
        },
    }
    scene.pools.append(pool)
    like = None
    if kind == "tight":
        requirement["values"] = ["on-demand"]
        fitting = [each for each in offers(scene, [requirement]) if int(each[0]["capacity"]["cpu"]) >= 8]
        like = min(fitting, key=lambda offer: (offer[3], offer[0]["name"], offer[1]))[:3]
    for _ in range(nodes):
        at = machine(scene, pool, least=0.1, most=0.9, kinds=("on-demand",), like=like)
        assert at.node is not None
        assert at.claim is not None
        at.node["status"]["conditions"][0]["status"] = "True"
        since = {"lastTransitionTime": ago(hours=1)}
        consolidatable = {"type": "Consolidatable", "status": "True", "reason": "Consolidatable", "message": ""}
        at.claim["status"]["conditions"].append({**consolidatable, **since})
        part = {"packed": 0.93, "empty": 0.0}.get(kind, draw.choice([0.2, 0.4, 0.6, 0.8, 0.95]))
        if kind == "tight":
            for number in range(8):
                share = at.free["cpu"] // 100 * 100 // max(1, 8 - number)
                pod(scene, at, share, 512, plain=True, owner="ReplicaSet")
        else:
            fill(scene, at, part, plain=True, owner="ReplicaSet")
    scene.options |= {"skipValidation": True, "spotToSpotConsolidation": True}
    return scene.request()
