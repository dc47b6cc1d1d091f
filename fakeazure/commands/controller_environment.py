"""The environment that points karpenter-provider-azure, the Azure SDKs and the az CLI at a served cloud.

Sources: kaz pkg/operator/options/options.go, pkg/auth/config.go, pkg/operator/operator.go; core pkg/operator/options/options.go. Without
one of these variables the controller ends at its start.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from atomicfiles.inputs import read_input
from fakeazure.aks.managed_clusters import NAMESPACE
from fakeazure.catalog.errors import CatalogueError
from fakeazure.cloud import FakeAzure
from fakeazure.commands.outputs import write_text
from fakeazure.seed import subnet_id
from fakeazure.transports.tokens import GALLERY_PATH

__all__ = ["DESCRIPTION", "MODES", "check_description", "controller_variables"]

DESCRIPTION = "cloud.json"
"""The file of `--state` that describes the cloud to Go's SDK."""
_FIELDS = ("name", "resourceManagerEndpoint", "activeDirectoryEndpoint", "tokenAudience")
AUDIENCE = "https://management.core.windows.net/"

_VM_MODES = ("aksscriptless", "bootstrappingclient")
_MACHINE_MODES = ("aksmachineapi", "aksmachineapiheaderbatch")
MODES = (*_VM_MODES, *_MACHINE_MODES)

_GALLERY_SUBSCRIPTION = "10945678-1234-1234-1234-123456789012"  # the one of kaz pkg/test/nodeclass.go


def controller_variables(
    cloud: FakeAzure, *, plain: str, secure: str, secret: str, state: Path, mode: str, api_server: str
) -> Iterator[tuple[str, str]]:
    """Names and values. `plain` and `secure` are the cloud's URLs, `state` has its certificates and gets `cloud.json`.

    `secret` is the one that its guard knows.

    `api_server` is HOST:PORT of the cluster's; the controller reads its kubeconfig from KUBECONFIG, which is the user's own.
    """
    names = cloud.state.settings
    path = state / DESCRIPTION
    description = {
        "name": "AzurePublicCloud",  # nodes of clouds with Azure's own names get AKS's billing extension
        "resourceManagerEndpoint": secure,
        "activeDirectoryEndpoint": f"{secure}/",
        "tokenAudience": AUDIENCE,
    }
    write_text(path, json.dumps(description, indent=2) + "\n")
    yield "AZURE_ENVIRONMENT_FILEPATH", str(path.resolve())
    yield "SSL_CERT_FILE", str((state / "ca.pem").resolve())
    yield "REQUESTS_CA_BUNDLE", str((state / "ca.pem").resolve())
    yield "AZURE_CORE_INSTANCE_DISCOVERY", "false"  # az trusts only login hosts that it knows, unless told not to look
    yield "AZURE_TOKEN_CREDENTIALS", "ManagedIdentityCredential"
    yield "IDENTITY_ENDPOINT", f"{plain}/msi/token"
    yield "IDENTITY_HEADER", secret
    yield "AZURE_SUBSCRIPTION_ID", names.subscription
    yield "AZURE_TENANT_ID", names.tenant
    yield "ARM_RESOURCE_GROUP", names.resource_group
    yield "LOCATION", names.location
    yield "AZURE_NODE_RESOURCE_GROUP", names.node_resource_group
    yield "VNET_SUBNET_ID", subnet_id(cloud.state)
    yield "NODEBOOTSTRAPPING_SERVER_URL", plain.partition("://")[2]
    yield from _cluster(cloud)
    yield "PROVISION_MODE", mode
    if mode in _MACHINE_MODES:
        yield "AKS_MACHINES_POOL_NAME", _machines_pool(cloud)
        yield "USE_SIG", "true"
        yield "SIG_SUBSCRIPTION_ID", _GALLERY_SUBSCRIPTION
        yield "SIG_ACCESS_TOKEN_SERVER_URL", f"{plain}{GALLERY_PATH}/{secret}"
    host, _, port = api_server.rpartition(":")
    yield "KUBERNETES_SERVICE_HOST", host
    yield "KUBERNETES_SERVICE_PORT", port
    yield "DISABLE_LEADER_ELECTION", "true"
    yield "METRICS_PORT", "8086"
    yield "HEALTH_PROBE_PORT", "8087"


def check_description(state: Path) -> None:
    """Refuse to write over a description of another cloud than a fake one. CatalogueError, which names the file."""
    path = state / DESCRIPTION
    try:
        there = json.loads(read_input(path))
    except FileNotFoundError:
        return
    except (OSError, ValueError):
        there = None
    if not isinstance(there, dict) or tuple(there) != _FIELDS:
        raise CatalogueError(
            f"--state {state}: {path} is not of fakeazure, and is not written over: name another folder"
        )


def _cluster(cloud: FakeAzure) -> Iterator[tuple[str, str]]:
    """Yield the variables of the cluster's nodes, from the cluster's own resource."""
    properties = _managed_cluster(cloud)["properties"]
    identity: Mapping[str, str] = properties["identityProfile"]["kubeletidentity"]
    yield "CLUSTER_NAME", cloud.state.settings.cluster
    yield "CLUSTER_ENDPOINT", f"https://{properties['fqdn']}:443"
    yield "KUBELET_BOOTSTRAP_TOKEN", "abcdef.0123456789abcdef"
    yield "SSH_PUBLIC_KEY", "ssh-rsa AAAA"
    yield "KUBELET_IDENTITY_CLIENT_ID", identity["clientId"]
    yield "NODE_IDENTITIES", identity["resourceId"]


def _managed_cluster(cloud: FakeAzure) -> Mapping[str, Any]:
    return next(entry.document for entry in cloud.state.store.list(f"{NAMESPACE}/managedClusters"))


def _machines_pool(cloud: FakeAzure) -> str:
    """The agent pool that holds machines rather than a scale set."""
    pools = cloud.state.store.list(f"{NAMESPACE}/managedClusters/agentPools")
    return next(entry.id.name for entry in pools if entry.document["properties"].get("mode") == "Machines")
