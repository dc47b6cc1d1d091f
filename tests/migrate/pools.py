"""Descriptions of agent pools as their tools print them, and generated ones."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from typing import Any

from harness.migrate.agent_pools import ManagedCluster
from harness.migrate.reading.clusters import described_cluster
from harness.reading.documents import documents

SUBNET = (
    "/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/net/providers/Microsoft.Network"
    "/virtualNetworks/hub/subnets/apps"
)


def pool(name: str = "apps", **properties: Any) -> dict[str, Any]:
    """A user pool of two machines in three zones; keywords are AKS's names."""
    plain = {
        "name": name,
        "mode": "User",
        "osType": "Linux",
        "osSKU": "Ubuntu",
        "vmSize": "Standard_D4s_v5",
        "count": 2,
        "availabilityZones": ["1", "2", "3"],
    }
    return {**plain, **properties}


def cluster(*pools: dict[str, Any], **properties: Any) -> dict[str, Any]:
    """A cluster as `az aks show` prints it."""
    return {"name": "prod", "location": "westeurope", "agentPoolProfiles": list(pools), **properties}


def read(*values: Any) -> ManagedCluster:
    """The cluster that files with these values describe."""
    found = [
        document
        for number, value in enumerate(values)
        for document in documents(json.dumps(value, indent=1), f"file{number}.json")[0]
    ]
    return described_cluster(found, lambda template: [])


SIZES = (
    "Standard_D2s_v5",
    "Standard_D4s_v5",
    "Standard_E8s_v5",
    "Standard_F4s_v2",
    "Standard_D4ps_v5",
    "Standard_NC4as_T4_v3",
)
_LABELS = (
    "team",
    "example.com/tier",
    "kubernetes.azure.com/role",
    "agentpool",
    "node-role.kubernetes.io/worker",
    "a.k8s.io/b",
)
_TAINTS = ("team=a:NoSchedule", "gpu:NoExecute", "example.com/x=y:PreferNoSchedule", "sku=gpu:NoSchedule")
_MORE: Sequence[tuple[str, Sequence[Any]]] = (
    ("osDiskSizeGB", (0, 30, 64, 128, 1024, 4095)),
    ("osDiskType", ("Managed", "Ephemeral")),
    ("maxPods", (5, 10, 30, 110, 250)),
    ("osSKU", ("Ubuntu", "Ubuntu2204", "Ubuntu2404", "AzureLinux", "AzureLinux3", "Flatcar", "Mariner")),
    ("enableFIPS", (True, False)),
    ("enableEncryptionAtHost", (True, False)),
    ("enableUltraSSD", (True, False)),
    ("vnetSubnetID", (SUBNET, "not-an-id")),
    ("podSubnetID", (SUBNET,)),
    ("tags", ({}, {"cost": "a"}, {"x" * 300: "y"})),
    (
        "kubeletConfig",
        ({"cpuManagerPolicy": "static"}, {"imageGcHighThreshold": 10, "imageGcLowThreshold": 90}, {"podMaxPids": 9}),
    ),
    ("kubeletConfig", ({"cpuManagerPolicy": "nonsense"}, {"containerLogMaxFiles": 1, "containerLogMaxSizeMB": 10})),
    (
        "linuxOSConfig",
        ({"swapFileSizeMB": 1500}, {"sysctls": {"vmMaxMapCount": 70000}}, {"sysctls": {"vmMaxMapCount": 1}}),
    ),
    ("linuxOSConfig", ({"transparentHugePageEnabled": "always"}, {"transparentHugePageEnabled": "no"})),
    ("securityProfile", ({"enableVTPM": True, "enableSecureBoot": False}, {"sshAccess": "Disabled"})),
    ("localDNSProfile", ({"mode": "Required"}, {"mode": "Often"})),
    ("gpuProfile", ({"driver": "None"}, {"driver": "Install"})),
    ("scaleSetPriority", ("Spot", "Regular")),
    ("nodeInitializationTaints", (["init:NoSchedule"],)),
    ("proximityPlacementGroupID", ("/x",)),
    ("somethingNew", ({"a": 1},)),
)


def generated_pool(chance: random.Random, name: str) -> dict[str, Any]:
    """A pool with some of everything, also with what no AKSNodeClass takes."""
    found = pool(name, vmSize=chance.choice(SIZES), mode=chance.choice(("User", "User", "User", "User", "System")))
    for key, values in chance.sample(_MORE, chance.randint(0, 8)):
        found[key] = chance.choice(values)
    if chance.random() < 0.7:
        least = chance.randint(0, 3)
        found |= {"enableAutoScaling": True, "minCount": least, "maxCount": least + chance.randint(1, 20)}
    if chance.random() < 0.5:
        found["nodeLabels"] = {key: chance.choice(("a", "b")) for key in chance.sample(_LABELS, chance.randint(1, 3))}
    if chance.random() < 0.5:
        found["nodeTaints"] = chance.sample(_TAINTS, chance.randint(1, 3))
    if chance.random() < 0.3:
        found["availabilityZones"] = chance.choice(([], ["1"], ["2", "3"]))
    return found
