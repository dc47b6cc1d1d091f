"""Instance types and launches for the ops that karpenter-provider-azure answers: `instance_types` and `labels`."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from tests.conformance.cases.draw import Draw

__all__ = ["instance_types_case", "labels_case", "with_trusted_launch"]

Json = dict[str, Any]


def options(draw: Draw) -> Json:
    o: Json = {}
    if draw.chance(0.4):
        o["networkPlugin"] = draw.choice(["azure", "none"])
    if draw.chance(0.4):
        o["networkPluginMode"] = draw.choice(["overlay", ""])
    if draw.chance(0.3):
        o["networkDataplane"] = draw.choice(["cilium", "azure"])
    if draw.chance(0.3):
        o["vmMemoryOverheadPercent"] = draw.choice([0, 0.05, 0.075, 0.1, 0.2])
    if draw.chance(0.3):
        o["nodeResourceGroup"] = draw.choice(
            ["MC_rg_(cluster)_eastus", "MC_" + "x" * 70, "MC_" + "y" * 59 + "-", "abc_."]
        )
    return o


def nodeclass(draw: Draw) -> Json:
    s: Json = {}
    if draw.chance(0.5):
        s["imageFamily"] = draw.choice(["Ubuntu", "Ubuntu2204", "Ubuntu2404", "AzureLinux"])
    if draw.chance(0.4):
        s["osDiskSizeGB"] = draw.choice([30, 60, 100, 128, 256, 2048])
    if draw.chance(0.4):
        s["maxPods"] = draw.choice([10, 30, 110, 250])
    if draw.chance(0.25):
        s["fipsMode"] = draw.choice(["FIPS", "Disabled"])
    if draw.chance(0.2):
        s["security"] = {"encryptionAtHost": draw.choice([True, False])}
    if draw.chance(0.2):
        s["gpu"] = {"mode": draw.choice(["Driver", "None"])}
    if draw.chance(0.2):
        s["artifactStreaming"] = {"enabled": draw.chance(0.5)}
    nc: Json = {"metadata": {"name": "default"}, "spec": s}
    if draw.chance(0.2):
        nc["status"] = {"localDNSState": draw.choice(["Enabled", "Disabled"])}
        s["localDNS"] = {"mode": draw.choice(["Required", "Disabled", "Preferred"])}
    return nc


def with_trusted_launch(draw: Draw, case: Json) -> Json:
    """The case with Trusted Launch of its AKSNodeClass, often; for releases that have the field."""
    if not draw.chance(0.6):
        return case
    spec = case["nodeclass"]["spec"]
    asked = {name: draw.chance(0.6) for name in draw.some(("vtpm", "secureBoot"), 0, 2)}
    security = {**spec.get("security", {}), "trustedLaunch": asked}
    return {**case, "nodeclass": {**case["nodeclass"], "spec": {**spec, "security": security}}}


# values on both sides of what the provider's filters and formulas look at
CAPABILITIES: Mapping[str, tuple[str, ...]] = {
    "vCPUs": ("0", "1", "2", "3", "4", "5", "8", "64", "65", "416", "x"),
    "vCPUsAvailable": ("0", "1", "2", "8", "96"),
    "MemoryGB": (
        "0",
        "0.75",
        "1.75",
        "3.5",
        "4",
        "7",
        "8",
        "16",
        "31.9",
        "448",
        "3892",
        "1.6e1",
        "3.2E1",
        "800e-2",
        "x",
    ),
    "CpuArchitectureType": ("x64", "Arm64", "arm64", ""),
    "HyperVGenerations": ("V1", "V2", "V1,V2", ""),
    "GPUs": ("0", "1", "8", "x"),
    "LowPriorityCapable": ("True", "False", "true"),
    "PremiumIO": ("True", "False"),
    "EncryptionAtHostSupported": ("True", "False"),
    "UltraSSDAvailable": ("True", "False"),
    "AcceleratedNetworkingEnabled": ("True", "False"),
    "EphemeralOSDiskSupported": ("True", "False"),
    "SupportedEphemeralOSDiskPlacements": ("ResourceDisk", "ResourceDisk,CacheDisk", "NvmeDisk", "CacheDisk", ""),
    "CachedDiskBytes": ("0", "32212254720", "137438953472", "137438953473"),
    "MaxResourceVolumeMB": ("0", "7168", "131072", "2097152"),
    "NvmeDiskSizeInMiB": ("0", "122880", "7208960"),
    "ConfidentialComputingType": ("SNP", "TDX", ""),
}


def changed_skus(draw: Draw, location: str, records: Sequence[Json]) -> list[Json]:
    """A few records, some of them with other capabilities, zones or restrictions than the real ones."""
    chosen = [copy.deepcopy(record) for record in draw.some(records, 2, 6)]
    for record in chosen:
        for _ in range(draw.choice((0, 1, 1, 2, 3))):
            change_sku(draw, location, record)
    return chosen


def change_sku(draw: Draw, location: str, record: Json) -> None:
    what = draw.choice(("set", "set", "set", "drop", "zones", "restriction", "nowhere"))
    if what == "set":
        name = draw.choice(sorted(CAPABILITIES))
        capabilities = [item for item in record["capabilities"] if item["name"] != name]
        record["capabilities"] = [*capabilities, {"name": name, "value": draw.choice(CAPABILITIES[name])}]
    elif what == "drop":
        gone = draw.choice(sorted(CAPABILITIES))
        record["capabilities"] = [item for item in record["capabilities"] if item["name"] != gone]
    elif what == "zones":
        record["locationInfo"] = [{"location": location, "zones": draw.choice(([], ["1"], ["2", "3"], ["3", "1"]))}]
    elif what == "restriction":
        kind = draw.choice(("Location", "Zone"))
        info: Json = {"locations": [draw.choice((location, location, "brazilsouth"))]}
        if kind == "Zone":
            info["zones"] = draw.choice((["1"], ["1", "2"], ["1", "2", "3"]))
        reason = draw.choice(("NotAvailableForSubscription", "QuotaId"))
        record["restrictions"] = [
            {"type": kind, "values": info["locations"], "restrictionInfo": info, "reasonCode": reason}
        ]
    else:
        record["locationInfo"] = []


def instance_types_case(draw: Draw, types: Mapping[str, Sequence[Json]], records: Mapping[str, Sequence[Json]]) -> Json:
    """A region's sizes under a node class and the provider's options.

    `types`: instance types by location, the location with zones first; `records`: the SKU records by location.
    """
    zonal, non_zonal = types
    loc = draw.choice([zonal, zonal, non_zonal])
    c: Json = {"location": loc, "nodeclass": nodeclass(draw), "options": options(draw)}
    if draw.chance(0.3):
        c["sku_json"] = changed_skus(draw, loc, records[loc])
    if draw.chance(0.3):
        listed = [record["name"] for record in c.get("sku_json", ())] or [item["name"] for item in types[loc]]
        c["unavailable"] = [
            {
                "sku": draw.choice(listed),
                "zone": draw.choice(["0", loc + "-1", loc + "-2"]),
                "capacity_type": draw.choice(["spot", "on-demand"]),
            }
            for _ in range(draw.randint(1, 5))
        ]
    if draw.chance(0.25):
        c["usages"] = [
            {"family": f, "current": draw.choice([0, 90, 100]), "limit": 100}
            for f in draw.sample(
                [
                    "standardDSv3Family",
                    "standardDSv2Family",
                    "standardDv5Family",
                    "standardBSFamily",
                    "standardFSv2Family",
                    "cores",
                ],
                3,
            )
        ]
    return c


# labels that a NodeClaim may carry beside Karpenter's own, of each kind that a layer treats differently
CLAIM_LABELS: tuple[tuple[str, str], ...] = (
    ("team", "a"),
    ("example.com/x", "y"),
    ("kubernetes.io/custom", "1"),
    ("node.kubernetes.io/custom", "2"),
    ("kubelet.kubernetes.io/custom", "3"),
    ("sub.node.kubernetes.io/custom", "4"),
    ("k8s.io/custom", "5"),
    ("kubernetes.azure.com/mode", "system"),
    ("kubernetes.azure.com/ebpf-dataplane", "none"),
    ("kubernetes.azure.com/custom", "6"),
    ("beta.kubernetes.io/arch", "amd64"),
    ("agentpool", "p"),
    ("node-restriction.kubernetes.io/z", "q"),
    ("karpenter.azure.com/sku-cpu", "99"),
    ("empty", ""),
)

# single-valued requirements become labels, the others must not
CLAIM_REQUIREMENTS: tuple[Json, ...] = (
    {"key": "karpenter.azure.com/sku-storage-ultra-ssd", "operator": "In", "values": ["true"]},
    {"key": "karpenter.azure.com/sku-storage-ultra-ssd", "operator": "In", "values": ["false"]},
    {"key": "kubernetes.azure.com/mode", "operator": "In", "values": ["system"]},
    {"key": "kubernetes.azure.com/os-sku", "operator": "In", "values": ["Ubuntu"]},
    {"key": "example.com/pinned", "operator": "In", "values": ["v"]},
    {"key": "example.com/two", "operator": "In", "values": ["v", "w"]},
    {"key": "example.com/not", "operator": "NotIn", "values": ["v"]},
    {"key": "example.com/there", "operator": "Exists"},
    {"key": "example.com/absent", "operator": "DoesNotExist"},
    {"key": "karpenter.azure.com/sku-cpu", "operator": "Gt", "values": ["1"]},
    {"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64", "arm64"]},
)
CLAIM_TAINTS: tuple[Json, ...] = (
    {"key": "dedicated", "value": "gpu", "effect": "NoSchedule"},
    {"key": "soft", "effect": "PreferNoSchedule"},
    {"key": "evict", "value": "x", "effect": "NoExecute"},
)
ZONE = "topology.kubernetes.io/zone"


def labels_case(draw: Draw, types: Mapping[str, Sequence[Json]]) -> Json:
    """A NodeClaim that pins instance type, zone and capacity type, so that nothing is left to chance.

    `types`: instance types by location, the location with zones first.
    """
    zonal, regional = types
    location = draw.choice((zonal, zonal, zonal, regional))
    chosen = draw.choice(types[location])
    zones = next(item["values"] for item in chosen["requirements"] if item["key"] == ZONE)
    zone = draw.choice(zones) if draw.chance(0.9) else draw.choice(("0", f"{location}-1", f"{location}-3"))
    requirements: list[Json] = [
        {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": [chosen["name"]]},
        {"key": ZONE, "operator": "In", "values": [zone]},
        {"key": "karpenter.sh/capacity-type", "operator": "In", "values": [draw.choice(("spot", "on-demand"))]},
        *copy.deepcopy(draw.some(CLAIM_REQUIREMENTS, 0, 3)),
    ]
    labels = {"karpenter.sh/nodepool": "default", "karpenter.azure.com/aksnodeclass": "default"}
    labels.update(draw.some(CLAIM_LABELS, 0, 4))
    spec: Json = {"requirements": requirements}
    for name in ("taints", "startupTaints"):
        if draw.chance(0.2):
            spec[name] = draw.some(CLAIM_TAINTS, 1, 2)
    used = nodeclass(draw)
    used["spec"].pop("artifactStreaming", None)
    if draw.chance(0.8):  # the provider's test images exist for these families only
        used["spec"]["imageFamily"] = draw.choice(("Ubuntu2204", "AzureLinux"))
        used["spec"].pop("fipsMode", None)
    if draw.chance(0.2):
        used["spec"]["tags"] = {"team": "a", "karpenter.azure.com/x": "y"}
    case: Json = {
        "location": location,
        "nodeclass": used,
        "options": {**options(draw), "provisionMode": draw.choice(("aksscriptless", "aksscriptless", "aksmachineapi"))},
        "kubernetes_version": draw.choice(("1.31.2", "1.33.5", "1.34.0", "1.34.0-beta.1", "1.34.1-rc.1", "1.35.1")),
        "nodeclaim": {"metadata": {"name": "default-abcde", "labels": labels}, "spec": spec},
    }
    if location == regional:
        case["non_zonal"] = True
    return case
