"""AKS machines as the provider asks for them, and the requests about them."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from fakeazure.arm.messages import Response
from tests.cloud.driver import MACHINES, Driver

TAINTS = ["example.com/dedicated=x:NoSchedule", "karpenter.sh/unregistered:NoExecute"]


def machine_body(
    size: str = "Standard_D2s_v5", zone: str = "1", priority: str = "Regular", **labels: str
) -> dict[str, Any]:
    return {
        "zones": [zone] if zone else [],
        "properties": {
            "hardware": {"vmSize": size, "ultraSsdEnabled": False},
            "kubernetes": {
                "nodeInitializationTaints": TAINTS,
                "nodeLabels": {"team": "alpha", "karpenter.sh/nodepool": "default", **labels},
                "nodeTaints": [],
                "orchestratorVersion": "1.34.2",
            },
            "mode": "User",
            "network": {},
            "nodeImageVersion": "AKSUbuntu-2404gen2containerd-202512.18.0",
            "operatingSystem": {"osDiskSizeGB": 128, "osDiskType": "Managed", "osSKU": "Ubuntu2404", "osType": "Linux"},
            "priority": priority,
            "security": {"enableEncryptionAtHost": False, "sshAccess": "LocalUser"},
            "tags": {"karpenter.sh_nodepool": "default"},
        },
    }


def put(driver: Driver, name: str, body: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> Response:
    path = f"{driver.pool_path()}/machines/{name}"
    return driver.cloud.request("PUT", path, query={"api-version": MACHINES}, body=body, headers=headers)


def get(driver: Driver, name: str) -> Response:
    return driver.call("GET", f"{driver.pool_path()}/machines/{name}", None, MACHINES)


def script_of(custom_data: str) -> str:
    return base64.b64decode(custom_data).decode()


def labels_of(script: str) -> dict[str, str]:
    """The labels that a kubelet is told."""
    line = next(line for line in script.splitlines() if line.startswith("KUBELET_NODE_LABELS="))
    return dict(pair.split("=", 1) for pair in line.partition("=")[2].strip('"').split(","))


def properties(answer: Response) -> Mapping[str, Any]:
    assert answer.body is not None
    found = answer.body["properties"]
    assert isinstance(found, Mapping)
    return found


PROFILE = {
    "name": "",
    "vmSize": "Standard_D2s_v5",
    "osType": 0,
    "osSku": 1,
    "storageProfile": "ManagedDisks",
    "distro": "aks-ubuntu-containerd-24.04-gen2",
    "orchestratorVersion": "1.34.2",
    "vnetCidrs": [],
    "vnetSubnetID": "x",
    "mode": 1,
    "architecture": "amd64",
    "maxPods": 250,
    "customNodeLabels": {"b": "2", "a": "1"},
    "nodeTaints": ["t=1:NoSchedule"],
    "nodeInitializationTaints": ["karpenter.sh/unregistered:NoExecute"],
}
