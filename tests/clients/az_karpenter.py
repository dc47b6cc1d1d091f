"""Karpenter's own installation guide (kaz README.md, "Installation (self-hosted)"), command by command. Run in az's own Python.

The commands of Helm and kubectl need a cluster; what they are given is asserted: the values that kaz hack/deploy/configure-values.sh asks
Azure for, and that the roles, the network and the identities which the controller starts with are there.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import Any

from tests.clients.az_cli import Az, connect
from tests.clients.operation import Suite, tell

SUITE = Suite("Karpenter's guide")
_ROLES = ("Virtual Machine Contributor", "Network Contributor", "Managed Identity Operator")


@dataclass
class Guide:
    """The output of the guide's commands, as its variables hold it."""

    az: Az
    identity: Any = None
    cluster: Any = None
    values: dict[str, str] = field(default_factory=dict)

    def run(self, line: str) -> Any:
        return self.az.run(line)


def _signed_in(guide: Guide) -> None:
    for line in ("cloud register -n fake --endpoint-resource-manager {url}", "cloud set -n fake"):
        guide.run(line)
    [account] = guide.run("login --service-principal -u app -p {secret} --tenant {tenant}")
    assert account["state"] == "Enabled"


def _group(guide: Guide) -> None:
    assert guide.run("group create --name karpenter --location {location}")["name"] == "karpenter"


def _identity(guide: Guide) -> None:
    guide.identity = guide.run("identity create --name karpentermsi --resource-group karpenter --location {location}")
    assert len(guide.identity["principalId"]) == len(guide.identity["clientId"]) == 36


def _cluster(guide: Guide) -> None:
    guide.cluster = guide.run(
        "aks create --name karpenter --resource-group karpenter --node-count 3 --generate-ssh-keys --network-plugin azure "
        "--network-plugin-mode overlay --network-dataplane cilium --enable-managed-identity --enable-oidc-issuer "
        "--enable-workload-identity"
    )
    assert guide.cluster["provisioningState"] == "Succeeded"
    assert guide.cluster["securityProfile"]["workloadIdentity"]["enabled"] is True
    network = guide.cluster["networkProfile"]
    assert (network["networkPluginMode"], network["networkDataplane"]) == ("overlay", "cilium")


def _credentials(guide: Guide) -> None:
    guide.run("aks get-credentials --name karpenter --resource-group karpenter --overwrite-existing --file -")


def _federated(guide: Guide) -> None:
    issuer = guide.cluster["oidcIssuerProfile"]["issuerUrl"]
    made = guide.run(
        "identity federated-credential create --name KARPENTER_FID --identity-name karpentermsi --resource-group karpenter "
        f"--issuer {issuer} --subject system:serviceaccount:kube-system:karpenter-sa --audience api://AzureADTokenExchange"
    )
    assert (made["issuer"], made["audiences"]) == (issuer, ["api://AzureADTokenExchange"])


def _role(role: str, guide: Guide) -> None:
    scope = guide.run(f"group show --name {guide.cluster['nodeResourceGroup']}")["id"]
    principal = guide.identity["principalId"]
    made = guide.run(f"role assignment create --assignee {principal} --scope {scope} --role '{role}'")
    assert (made["principalId"], made["scope"]) == (principal, scope)


def _values(guide: Guide) -> None:
    """Return the values that configure-values.sh takes from Azure, by variable."""
    shown = guide.run("aks show --name karpenter --resource-group karpenter")
    nodes = shown["nodeResourceGroup"]
    network = guide.run(f"network vnet list --resource-group {nodes}")[0]
    kubelet = shown["identityProfile"]["kubeletidentity"]
    identity = guide.run("identity show --resource-group karpenter --name karpentermsi")
    guide.values = {
        "AZURE_LOCATION": shown["location"],
        "AZURE_RESOURCE_GROUP_MC": nodes,
        "AZURE_SUBSCRIPTION_ID": guide.run("account show")["id"],
        "VNET_SUBNET_ID": network["subnets"][0]["id"],
        "VNET_GUID": network["resourceGuid"],
        "NETWORK_PLUGIN": shown["networkProfile"]["networkPlugin"],
        "NETWORK_PLUGIN_MODE": shown["networkProfile"]["networkPluginMode"],
        "NETWORK_POLICY": shown["networkProfile"]["networkPolicy"],
        "NODE_IDENTITIES": kubelet["resourceId"],
        "KARPENTER_USER_ASSIGNED_CLIENT_ID": identity["clientId"],
        "KUBELET_IDENTITY_CLIENT_ID": kubelet["clientId"],
    }
    assert all(guide.values.values()), guide.values


def _there(guide: Guide) -> None:
    """The ids among the values name what is there."""
    assert guide.run(f"network vnet subnet show --ids {guide.values['VNET_SUBNET_ID']}")["name"] == "aks-subnet"
    kubelet = guide.run(f"identity show --ids {guide.values['NODE_IDENTITIES']}")
    assert kubelet["clientId"] == guide.values["KUBELET_IDENTITY_CLIENT_ID"]
    [pool] = guide.run("aks nodepool list --cluster-name karpenter --resource-group karpenter")
    assert (pool["count"], pool["mode"]) == (3, "System")


def _assigned(guide: Guide) -> None:
    listed = guide.run(f"role assignment list --assignee {guide.identity['principalId']} --all")
    assert {one["roleDefinitionId"].rpartition("/")[2] for one in listed} == {
        "9980e02c-c2be-4d73-94e8-173b1dc7cf3c",
        "4d97b98b-1d4f-4787-a291-c67834d212e7",
        "f1a07417-d97a-45cb-824c-7a7467783830",
    }


def _deleted(guide: Guide) -> None:
    guide.run("aks delete --name karpenter --resource-group karpenter --yes")
    assert guide.run(f"group exists --name {guide.values['AZURE_RESOURCE_GROUP_MC']}") is False


SUITE.operation("az login")(_signed_in)
SUITE.operation("az group create")(_group)
SUITE.operation("az identity create")(_identity)
SUITE.operation("az aks create, with workload identity")(_cluster)
SUITE.operation("az aks get-credentials")(_credentials)
SUITE.operation("az identity federated-credential create")(_federated)
for _name in _ROLES:
    SUITE.operation(f"az role assignment create: {_name}")(lambda guide, role=_name: _role(role, guide))
SUITE.operation("configure-values.sh")(_values)
SUITE.operation("the controller finds what it is started with")(_there)
SUITE.operation("the controller has its roles")(_assigned)
SUITE.operation("az aks delete")(_deleted)


if __name__ == "__main__":
    tell(SUITE.run(Guide(connect(sys.argv[1]))))
