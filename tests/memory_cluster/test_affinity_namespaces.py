"""In which namespaces kube-scheduler looks for the pods of an (anti-)affinity term.

Source: kubernetes staging/src/k8s.io/kube-scheduler/framework/types.go (AffinityTerm.Matches, getNamespacesFromPodAffinityTerm).
"""

from typing import Any

import pytest

from harness.kube.scheduling.placement import NodeInfo
from harness.kube.scheduling.scheduler import Unschedulable, schedule

NAMESPACES = [
    {"metadata": {"name": "own", "labels": {}}},
    {"metadata": {"name": "blue", "labels": {"team": "shop"}}},
    {"metadata": {"name": "red", "labels": {"team": "news"}}},
]
NODE = {
    "metadata": {"name": "a", "labels": {"zone": "1"}},
    "spec": {},
    "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"}},
}
SHOP = {"matchLabels": {"team": "shop"}}
NOBODY = {"matchLabels": {"team": "nobody"}}


def pod(namespace: str, labels: dict[str, str], affinity: dict[str, Any] | None = None) -> dict[str, Any]:
    meta = {"name": f"in-{namespace}", "namespace": namespace, "uid": namespace, "labels": labels}
    return {"metadata": meta, "spec": {"containers": [{"name": "c"}], "affinity": affinity or {}}}


def terms(kind: str, app: str, **where: Any) -> dict[str, Any]:
    term = {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": app}}, **where}
    return {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


WHERE: list[tuple[dict[str, Any], str, bool]] = [
    ({}, "own", True),
    ({}, "blue", False),
    ({"namespaces": ["blue"]}, "blue", True),
    ({"namespaces": ["blue"]}, "own", False),
    ({"namespaceSelector": SHOP}, "blue", True),
    ({"namespaceSelector": SHOP}, "red", False),
    ({"namespaceSelector": SHOP}, "own", False),
    ({"namespaceSelector": SHOP, "namespaces": ["red"]}, "red", True),
    ({"namespaceSelector": NOBODY}, "own", False),
    ({"namespaceSelector": {}}, "red", True),
]


@pytest.mark.parametrize(("where", "namespace", "found"), WHERE)
def test_affinity(where: dict[str, Any], namespace: str, found: bool) -> None:
    node = NodeInfo(NODE, [pod(namespace, {"app": "cache"})])
    asking = pod("own", {}, terms("podAffinity", "cache", **where))
    assert isinstance(schedule(asking, [node], namespaces=NAMESPACES), str) is found


@pytest.mark.parametrize(("where", "namespace", "found"), WHERE)
def test_anti_affinity_of_the_pod_and_of_the_one_that_runs(where: dict[str, Any], namespace: str, found: bool) -> None:
    apart = terms("podAntiAffinity", "cache", **where)
    node = NodeInfo(NODE, [pod(namespace, {"app": "cache"})])
    asked = schedule(pod("own", {}, apart), [node], namespaces=NAMESPACES)
    repelled = NodeInfo(NODE, [pod("own", {}, apart)])
    refused = schedule(pod(namespace, {"app": "cache"}), [repelled], namespaces=NAMESPACES)
    assert [isinstance(each, Unschedulable) for each in (asked, refused)] == [found, found]
