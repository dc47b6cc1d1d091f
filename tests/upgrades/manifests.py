"""Drawn manifests: objects that admission may refuse, a platform that a cluster takes, and changes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from harness.karpenter.validation.crds import crd_set, openapi_of
from harness.testing import deployment, nodeclass, nodepool, pod, requirement
from tests.conformance.cases.draw import Draw
from tests.conformance.cases.nodepools import nodepool_case
from tests.conformance.cases.objects import object_case

__all__ = ["Case", "drawn_case"]

Object = dict[str, Any]

_CUSTOM = ("karpenter.sh/v1/NodePool", "karpenter.sh/v1/NodeClaim", "karpenter.azure.com/v1beta1/AKSNodeClass")
_SIZES = ("Standard_D2s_v5", "Standard_D4s_v5", "Standard_D8s_v5", "Standard_D4ps_v5", "Standard_NC4as_T4_v3")
_REQUIREMENTS = (
    requirement("karpenter.azure.com/sku-version", "3", operator="Gt"),
    requirement("karpenter.azure.com/sku-cpu", "9", operator="Lt"),
    requirement("kubernetes.io/arch", "amd64"),
    requirement("kubernetes.io/arch", "amd64", "arm64"),
    requirement("topology.kubernetes.io/zone", "eastus-1", "eastus-2"),
    requirement("kubernetes.azure.com/mode", "user"),
    requirement("kubernetes.azure.com/os-sku", "Ubuntu"),
    requirement("kubernetes.azure.com/ebpf-dataplane", operator="DoesNotExist"),
    requirement("team", "blue", "red"),
)
_LABELS = (
    {},
    {"team": "blue"},
    {"kubernetes.azure.com/mode": "user"},
    {"kubernetes.azure.com/storageprofile": "managed"},
    {"node-restriction.kubernetes.io/tier": "a"},
    {"node.kubernetes.io/exclude-from-external-load-balancers": "true"},
)
_SELECTORS = ({}, {}, {}, {"kubernetes.io/arch": "arm64"}, {"team": "red"}, {"karpenter.azure.com/sku-version": "5"})
_CLASSES: tuple[Mapping[str, Any], ...] = (
    {},
    {"imageFamily": "Ubuntu2204"},
    {"imageFamily": "AzureLinux"},
    {"imageFamily": "Ubuntu2404"},
    {"maxPods": 20, "tags": {"team": "blue"}},
    {"osDiskSizeGB": 60, "kubelet": {"cpuCFSQuota": False, "allowedUnsafeSysctls": ["net.core.somaxconn"]}},
    {"fipsMode": "FIPS"},
    {"localDNS": {"mode": "Preferred"}},
)
_SPREAD = {
    "maxSkew": 1,
    "topologyKey": "topology.kubernetes.io/zone",
    "whenUnsatisfiable": "DoNotSchedule",
    "labelSelector": {"matchLabels": {"app": "web-0"}},
    "matchLabelKeys": ["pod-template-hash"],
}
_PODS: tuple[Mapping[str, Any], ...] = (
    {},
    {"tolerations": [{"operator": "Exists"}]},
    {"topologySpreadConstraints": [_SPREAD]},
    {"runtimeClassName": "none"},
    {"nodeName": "Bad_Name"},
    {"terminationGracePeriodSeconds": -1},
)


@dataclass(frozen=True, slots=True)
class Case:
    """`judged` are objects for admission alone, `platform` runs, `changes` are applied when it has come to rest."""

    judged: tuple[Object, ...]
    platform: tuple[Object, ...]
    changes: tuple[Object, ...]
    labels: Mapping[str, str]
    """Labels that a kubelet wants on its Node."""

    @property
    def size(self) -> int:
        """How many manifests it has."""
        return len(self.judged) + len(self.platform) + len(self.changes)


def _schemas() -> dict[tuple[str, str], Any]:
    names = [name.rpartition("/") for name in _CUSTOM]
    return {
        (api_version, kind): openapi_of(crd_set("1.14.0"), f"{api_version}/{kind}", lambda _: "true")
        for api_version, _, kind in names
    }


def drawn_case(seed: int) -> Case:
    """The case of a seed."""
    draw = Draw(seed)
    schemas = _schemas()
    judged = [nodepool_case(draw)["object"] for _ in range(3)]
    judged += [object_case(draw, schemas)["object"] for _ in range(3)]
    judged += [pod(f"judged-{number}", **draw.choice(_PODS)) for number in range(2)]
    for number, obj in enumerate(judged):
        if obj["metadata"].get("name") == "default":
            obj["metadata"]["name"] = f"judged-{number}"
    pools = [_pool(draw, number) for number in range(draw.choice((1, 1, 2)))]
    webs = [_workload(draw, number) for number in range(draw.choice((1, 2, 3)))]
    changed = draw.choice(pools)
    template = changed["spec"]["template"]
    labels = {**template["metadata"]["labels"], "example.com/changed": "yes"}
    drifted = {**changed, "spec": {**changed["spec"], "template": {**template, "metadata": {"labels": labels}}}}
    smaller = {**webs[0], "spec": {**webs[0]["spec"], "replicas": draw.choice((0, 1))}}
    kubelet = draw.choice(({"node-restriction.kubernetes.io/tier": "a"}, {"kubernetes.io/x": "y"}, {"team": "blue"}))
    classes = [nodeclass(**draw.choice(_CLASSES))]
    return Case(tuple(judged), (*classes, *pools, *webs), tuple(draw.some([drifted, smaller], 1, 2)), kubelet)


def _pool(draw: Draw, number: int) -> Object:
    fields: dict[str, Any] = {}
    if draw.chance(0.4):
        fields["disruption"] = {
            "consolidateAfter": draw.choice(("0s", "1m", "Never")),
            "budgets": [{"nodes": draw.choice(("0", "1", "50%", "100%"))}],
        }
    if draw.chance(0.2):
        fields["expireAfter"] = draw.choice(("40m", "Never"))
    if draw.chance(0.2):
        fields["startupTaints"] = [{"key": "example.com/starting", "effect": "NoSchedule"}]
    if draw.chance(0.2):
        fields["weight"] = draw.choice((1, 50, 100, 101))
    if draw.chance(0.1):
        fields["limits"] = {"cpu": draw.choice(("3", "8", "100"))}
    sizes = requirement("node.kubernetes.io/instance-type", *draw.some(_SIZES, 2, 4))
    kinds = requirement("karpenter.sh/capacity-type", *draw.choice((("on-demand",), ("spot",), ("spot", "on-demand"))))
    more = draw.some(_REQUIREMENTS, 0, 2)
    return nodepool(sizes, kinds, *more, name=f"pool-{number}", labels=draw.choice(_LABELS), **fields)


def _workload(draw: Draw, number: int) -> Object:
    spec: dict[str, Any] = dict(draw.choice(_PODS[:3]))
    if selector := draw.choice(_SELECTORS):
        spec["nodeSelector"] = dict(selector)
    cpu, memory = draw.choice((("1", "1Gi"), ("3", "2Gi"), ("500m", "")))
    return deployment(f"web-{number}", draw.choice((1, 2, 4)), cpu, memory, **spec)
