"""Warnings: of manifests that are taken, each with its reason, and none of those that do what they say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from harness import testing
from harness.explain.labels.probes import default_objects
from harness.explain.lint.checks import findings_of
from harness.explain.lint.findings import ALLOW, CODES, Finding
from harness.testing import requirement
from harness.world import World
from tests.project.tree import ROOT

ARCH, SIZE = "kubernetes.io/arch", "node.kubernetes.io/instance-type"
AMD64, ON_DEMAND = requirement(ARCH, "amd64"), requirement("karpenter.sh/capacity-type", "on-demand")
NODECLASS = default_objects()[0]
DEDICATED = {"key": "example.com/dedicated", "value": "batch", "effect": "NoSchedule"}
OF_AKS = {"key": "kubernetes.azure.com/scalesetpriority", "value": "spot", "effect": "NoSchedule"}


def found(*objects: Mapping[str, Any], allowed: tuple[str, ...] = ()) -> list[Finding]:
    world = World()
    return findings_of([NODECLASS, *objects], lambda: world, allowed)


def nodepool(*requirements: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    return testing.nodepool(*(requirements or (AMD64,)), name="default", **more)


def budgets(*given: Mapping[str, Any]) -> dict[str, Any]:
    return nodepool(disruption={"consolidateAfter": "1m", "budgets": list(given)})


def referring(**reference: str) -> dict[str, Any]:
    full = {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"} | reference
    return nodepool(nodeClassRef=full)


def web(memory: str = "1Gi", **spec: Any) -> dict[str, Any]:
    containers = [{"name": "c", "image": "c", "resources": {"requests": {"memory": memory}}}]
    return {**testing.pod("web"), "spec": {"containers": containers, **spec}}


CLOSED = {"nodes": "0"}
WARNED: Mapping[str, tuple[str, tuple[Any, ...], str]] = {
    # code, objects, a part of the text
    "a NodeClass that is misspelt": ("nodeclass-missing", (referring(name="defautl"),), "did you mean 'default'?"),
    "a kind that is misspelt": ("nodeclass-missing", (referring(kind="AKSNodeclass"),), "names AKSNodeclass of group"),
    "a NodeClass of AWS": (
        "nodeclass-missing",
        (referring(group="karpenter.k8s.aws", kind="EC2NodeClass"),),
        "names EC2NodeClass of group karpenter.k8s.aws",
    ),
    "a day that is misspelt": (
        "budget-schedule",
        (budgets({"nodes": "10%"}, CLOSED | {"schedule": "0 8 * * mon-fr", "duration": "10h"}),),
        "fr: did you mean 'fri'?",
    ),
    "a budget that is closed": ("budget-never", (budgets(CLOSED),), "for Underutilized or Empty or Drifted"),
    "a percentage of nothing": ("budget-never", (budgets({"nodes": "0%", "reasons": ["Drifted"]}),), "for Drifted"),
    "windows that follow one another": (
        "budget-never",
        (budgets(CLOSED | {"schedule": "@daily", "duration": "24h"}),),
        "in windows that follow one another",
    ),
    "a limit of one CPU": ("limit-below-node", (nodepool(AMD64, limits={"cpu": "1"}),), "limit cpu 1: the smallest of"),
    "a limit for a large size": (
        "limit-below-node",
        (nodepool(requirement(SIZE, "Standard_D16s_v5"), limits={"memory": "32Gi"}),),
        "Standard_D16s_v5, has",
    ),
    "a limit of no node": ("limit-below-node", (nodepool(AMD64, limits={"nodes": "0"}),), "makes no node"),
    "a taint without its pods": (
        "taint-untolerated",
        (nodepool(AMD64, taints=[DEDICATED]), web()),
        "taint example.com/dedicated=batch:NoSchedule: no pod that is given tolerates it",
    ),
    "a taint of AKS's": (
        "azure-taint",
        (nodepool(AMD64, taints=[OF_AKS]), web(tolerations=[{"operator": "Exists"}])),
        "AKS keeps the domain kubernetes.azure.com to itself",
    ),
    "arm64 that is allowed": (
        "arm64-unasked",
        (nodepool(requirement(ARCH, "amd64", "arm64")), testing.deployment("web", 2)),
        "Deployment web asks for no architecture",
    ),
    "arm64 that nobody excluded": ("arm64-unasked", (nodepool(ON_DEMAND), web()), "Pod web asks for no architecture"),
    "memory in bytes": ("memory-bytes", (web("16"),), "which is 16 bytes; 16Mi or 16Gi?"),
}


@pytest.mark.parametrize(("code", "objects", "part"), WARNED.values(), ids=WARNED)
def test_a_warning_and_its_silence(code: str, objects: tuple[dict[str, Any], ...], part: str) -> None:
    (one,) = found(*objects)
    assert one.code == code
    assert part in one.text
    assert found(*objects, allowed=(code,)) == []
    own = [{**obj, "metadata": {**obj["metadata"], "annotations": {ALLOW: f"other, {code}"}}} for obj in objects]
    assert found(*own) == []


def test_every_code_is_tried() -> None:
    assert {code for code, _, _ in WARNED.values()} == CODES.keys()


def test_the_page_explains_every_code() -> None:
    page = (ROOT / "docs" / "how-to" / "pull-requests.md").read_text(encoding="utf-8")
    assert all(f"| `{code}` | {text} |" in page for code, text in CODES.items())


RIGHT: Mapping[str, tuple[Any, ...]] = {
    "names in lower and upper case, as robfig/cron reads them": (
        budgets({"nodes": "1"}, CLOSED | {"schedule": "0 8 * JAN-mar mon-FRI", "duration": "10h"}),
    ),
    "windows with a gap": (budgets({"nodes": "1"}, CLOSED | {"schedule": "@daily", "duration": "23h"}),),
    "a budget of some percent": (budgets({"nodes": "1%"}),),
    "a limit of one small node": (nodepool(AMD64, limits={"cpu": "2", "nodes": "1"}),),
    "a taint and no pods at all": (nodepool(AMD64, taints=[DEDICATED]),),
    "a taint that a workload tolerates": (
        nodepool(AMD64, taints=[DEDICATED]),
        testing.deployment("web", 1, tolerations=[{"key": "example.com/dedicated", "operator": "Exists"}]),
    ),
    "a taint that is a preference": (nodepool(AMD64, taints=[DEDICATED | {"effect": "PreferNoSchedule"}]), web()),
    "pods that ask for an architecture": (nodepool(ON_DEMAND), web(nodeSelector={ARCH: "amd64"})),
    "pods that ask for a size": (nodepool(ON_DEMAND), web(nodeSelector={SIZE: "Standard_D4s_v5"})),
    "pods that the NodePool does not take": (nodepool(ON_DEMAND), web(nodeSelector={"team": "blue"})),
    "sizes of amd64 alone": (nodepool(requirement(SIZE, "Standard_D4s_v5")), web()),
}


@pytest.mark.parametrize("objects", RIGHT.values(), ids=RIGHT)
def test_no_warning(objects: tuple[dict[str, Any], ...]) -> None:
    assert found(*objects) == []
