"""Questions for the op `azure_drift`: AKSNodeClasses whose images, Kubernetes version and fields have moved on, or not."""

from __future__ import annotations

from tests.conformance.cases.disruption.scene import ARCH, AZURE, POOL, Json, ago
from tests.conformance.cases.draw import Draw
from tests.conformance.cases.objects import Schemas, spec_of

__all__ = ["azure_drift_case"]

_IDENTITY = "61f71907-753f-4802-a901-47361c3664f2"
_SUBSCRIPTION = "/subscriptions/10945678-1234-1234-1234-123456789012"
_GALLERY = f"{_SUBSCRIPTION}/resourceGroups/AKS-Ubuntu/providers/Microsoft.Compute/galleries/AKSUbuntu"
_IMAGE = "/images/2204gen2containerd/versions/"
_SHARED = _GALLERY + _IMAGE
_COMMUNITY = "/CommunityGalleries/AKSUbuntu-38d80f77-467a-481f-a8d4-09b6d4220bd2" + _IMAGE
_VERSIONS = ["202501.01.0", "202505.27.0", "202512.01.0"]
_HASHED, _VERSION = AZURE + "aksnodeclass-hash", AZURE + "aksnodeclass-hash-version"
_KIND = ("karpenter.azure.com/v1beta1", "AKSNodeClass")
_SPECS: list[Json] = [
    {},
    {},
    {"imageFamily": "AzureLinux"},
    {"osDiskSizeGB": 256},
    {"tags": {"a": "b"}},
    {"maxPods": 30, "kubelet": {"cpuManagerPolicy": "static"}},
    {"tags": {}},
    {"kubelet": {}},
    {"kubelet": {"allowedUnsafeSysctls": []}},
    {"localDNS": {"mode": "Required", "vnetDNSOverrides": [], "kubeDNSOverrides": []}},
]


def azure_drift_case(draw: Draw, schemas: Schemas) -> Json:
    """AKSNodeClasses, and NodeClaims that were made of them some time ago."""
    classes = [
        _node_class(draw, name, schemas) for name in draw.choice([["default"], ["default"], ["default", "other"]])
    ]
    pools = [
        _nodepool(number, name)
        for number, name in enumerate(["default", "other", "missing"][: draw.choice([1, 1, 2, 3])])
    ]
    claims: list[Json] = []
    nodes: list[Json] = []
    machines: Json = {}
    for number in range(draw.randint(1, 6)):
        claims.append(_claim(draw, number, draw.choice(pools), machines))
        nodes += [_node(draw, number, copy) for copy in range(draw.choice([0, 1, 1, 1, 1, 1, 1, 1, 2]))]
    made: Json = {"nodeclasses": classes, "nodepools": pools, "nodeclaims": claims, "nodes": nodes}
    made |= {"machines": machines, "options": {}}
    if draw.chance(0.1):
        made["options"] = {"kubeletIdentityClientID": "another"}
    if draw.chance(0.12):
        made[draw.choice(["not_ready", "stale"])] = [draw.choice(["ImagesReady", "KubernetesVersionReady"])]
    return made


def _node_class(draw: Draw, name: str, schemas: Schemas) -> Json:
    where = draw.choice([_SHARED, _SHARED, _COMMUNITY])
    amd64 = [{"key": ARCH, "operator": "In", "values": ["amd64"]}]
    versions = draw.sample(_VERSIONS, draw.choice([0, 1, 1, 2]))
    images = [{"id": where + version, "requirements": amd64} for version in versions]
    annotations = {_HASHED: draw.choice(["$HASH", "$HASH", "$HASH", "1"]), _VERSION: draw.choice(["v3", "v3", "v2"])}
    if draw.chance(0.08):
        del annotations[draw.choice([_HASHED, _VERSION])]
    status: Json = {"images": images, "kubernetesVersion": draw.choice(["1.34.0", "1.34.0", "1.33.5", ""])}
    if draw.chance(0.04):
        del status["kubernetesVersion"]
    metadata = {"name": name, "uid": f"uid-{name}", "annotations": annotations}
    spec = spec_of(draw, _KIND, schemas) if _KIND in schemas and draw.chance(0.4) else draw.choice(_SPECS)
    return {"metadata": metadata, "spec": spec, "status": status}


def _nodepool(number: int, name: str) -> Json:
    reference = {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": name}
    template = {"spec": {"requirements": [], "nodeClassRef": reference}}
    return {"metadata": {"name": f"pool-{number}"}, "spec": {"template": template}}


def _claim(draw: Draw, number: int, pool: Json, machines: Json) -> Json:
    machine = draw.chance(0.4)
    where = draw.choice([_SHARED] * 5 + [_COMMUNITY])
    image = draw.choice(_VERSIONS)
    annotations = {_HASHED: draw.choice(["$HASH", "$HASH", "$HASH", "1"]), _VERSION: draw.choice(["v3"] * 6 + ["v2"])}
    if draw.chance(0.08):
        del annotations[draw.choice([_HASHED, _VERSION])]
    if machine:
        annotations[AZURE + "aks-machine-resource-id"] = f"/subscriptions/s/machines/machine-{number}"
        if draw.chance(0.9):
            machines[f"machine-{number}"] = draw.choice(
                [{}, {}, {"action": "Synced"}, {"action": "Recreate", "reason": "x"}, {"action": "Reimage"}]
            )
    labels = {POOL: pool["metadata"]["name"]} if draw.chance(0.94) else draw.choice([{}, {POOL: "gone"}])
    used = f"AKSUbuntu-2204gen2containerd-{image}" if machine else where + image
    status = {"providerID": f"azure:///vm/{number}", "imageID": used}
    if draw.chance(0.06):
        status.pop(draw.choice(["providerID", "imageID"]))
    name = f"claim-{number}"
    reference = pool["spec"]["template"]["spec"]["nodeClassRef"]
    return {
        "metadata": {"name": name, "uid": f"uid-{name}", "labels": labels, "annotations": annotations},
        "spec": {"nodeClassRef": reference, "requirements": []},
        "status": status,
    }


def _node(draw: Draw, number: int, copy: int) -> Json:
    version = draw.choice(["v1.34.0"] * 5 + ["1.34.0", "v1.33.5"])
    labels: Json = {}
    if draw.chance(0.85):
        identity = draw.choice([_IDENTITY] * 6 + ["another", ""])
        labels["kubernetes.azure.com/kubelet-identity-client-id"] = identity
    metadata: Json = {"name": f"node-{number}-{copy}", "uid": f"n{number}{copy}", "labels": labels}
    if draw.chance(0.06):
        metadata |= {"deletionTimestamp": ago(seconds=5), "finalizers": ["oracle/held"]}
    spec = {"providerID": f"azure:///vm/{number}"}
    return {"metadata": metadata, "spec": spec, "status": {"nodeInfo": {"kubeletVersion": version}}}
