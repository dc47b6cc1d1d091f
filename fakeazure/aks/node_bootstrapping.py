"""The node bootstrapping endpoint: a GET with a body, answered with custom data and a command, both with a token placeholder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fakeazure.aks.kubelet import TOKEN, KubeletText, unique
from fakeazure.aks.managed_clusters import found_cluster
from fakeazure.arm.bodies import body_of, number, pairs, section, texts
from fakeazure.arm.messages import Request, Response
from fakeazure.arm.routes import Route
from fakeazure.arm.texts import refuse
from fakeazure.state import State

PATH = (
    "/subscriptions/{subscription}/resourceGroups/{group}/providers/Microsoft.ContainerService/"
    "managedClusters/{name}/nodeBootstrapping"
)
REQUIRED = (
    ("name", "Name"),
    ("vmSize", "VMSize"),
    ("osType", "OsType"),
    ("osSku", "OsSku"),
    ("storageProfile", "StorageProfile"),
    ("distro", "Distro"),
    ("orchestratorVersion", "OrchestratorVersion"),
    ("vnetCidrs", "VnetCidrs"),
    ("vnetSubnetID", "VnetSubnetID"),
    ("mode", "Mode"),
    ("architecture", "Architecture"),
    ("maxPods", "MaxPods"),
)
"""Field → how the service names it when it is missing (kaz pkg/provisionclients/swagger)."""


def _required(holder: Mapping[str, Any], names: tuple[tuple[str, str], ...]) -> None:
    for field, shown in names:
        if holder.get(field) is None:
            raise refuse("MissingRequiredProperty", field=shown)


def labels_of(profile: Mapping[str, Any]) -> dict[str, str]:
    """The kubelet's labels: the pool's name first, then the custom ones sorted (AgentBaker pkg/agent/datamodel)."""
    name = str(profile["name"])
    custom = pairs(profile, "customNodeLabels")
    return {
        "agentpool": name,
        "kubernetes.azure.com/agentpool": name,
        **{key: custom[key] for key in sorted(custom)},
    }


def _get(state: State, request: Request) -> Response:
    cluster = found_cluster(state, request).document
    body = body_of(request)
    profile, helper = section(body, "provisionProfile"), section(body, "provisionHelperValues")
    _required(profile, REQUIRED)
    _required(helper, (("skuCPU", "SkuCPU"), ("skuMemory", "SkuMemory")))
    text = KubeletText(
        labels=labels_of(profile),
        taints=unique([*texts(profile, "nodeTaints"), *texts(profile, "nodeInitializationTaints")]),
        max_pods=int(number(profile, "maxPods")),
        vcpus=int(number(helper, "skuCPU")),
        memory_gib=number(helper, "skuMemory"),
        kubernetes=str(profile["orchestratorVersion"]),
        cluster_dns=str(section(cluster["properties"], "networkProfile").get("dnsServiceIP") or "10.0.0.10"),
        api_server=str(cluster["properties"].get("fqdn") or ""),
    )
    command = f'TLS_BOOTSTRAP_TOKEN="{TOKEN}" /usr/bin/nohup /bin/bash -c "/bin/bash /opt/azure/containers/provision_start.sh"'
    # The service returns custom data that is encoded already; the client puts the token in after decoding it.
    return Response(
        200,
        body={"customData": text.custom_data(), "cse": command, "osImageConfig": {}, "sigImageConfig": {}},
    )


def routes() -> Iterator[Route[State]]:
    """The rows of the routing table."""
    yield Route("GET", PATH, _get, versioned=False)
