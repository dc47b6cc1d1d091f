"""Fields of an agent pool that no field of a NodePool or an AKSNodeClass takes over, and why."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from harness.migrate.proposing.rows import Row, Verdict, value_text
from lazyrecords import dataclass

__all__ = ["Rule", "left_row"]

_PROVIDER = "kaz pkg/apis/v1beta1/aksnodeclass.go"
_MACHINES = "kaz pkg/providers/instance/aksmachineinstancehelpers.go"
_CLOUDPROVIDER = "kaz pkg/cloudprovider/drift.go"


@dataclass(frozen=True, slots=True)
class Rule:
    """`text` says why a field is not carried over. `harmless`: whether a value says only what holds of Karpenter's machines, too."""

    text: str
    source: str = _PROVIDER
    harmless: Callable[[Any], bool] = lambda value: False


def _false(value: Any) -> bool:
    return value is False


def _named(*names: str) -> Callable[[Any], bool]:
    return lambda value: str(value).lower() in {name.lower() for name in names}


def _anything(value: Any) -> bool:
    return True


_RULES: Mapping[str, Rule] = {
    "count": Rule(
        "Karpenter makes as many machines as pending pods need", "core pkg/controllers/provisioning", _anything
    ),
    "creationData": Rule("a NodePool makes no machines of a snapshot; images follow the cluster's version"),
    "currentOrchestratorVersion": Rule(
        "Nodes follow the control plane's version and are replaced by drift", _CLOUDPROVIDER, _anything
    ),
    "diskEncryptionSetID": Rule(
        "the disk encryption set is an option of the controller for all NodePools: --node-osdisk-diskencryptionset-id",
        "kaz pkg/operator/options/options.go",
    ),
    "eTag": Rule("the version of the pool's own record", "ARM", _anything),
    "enableNodePublicIP": Rule("Karpenter's machines have no public addresses", harmless=_false),
    "gatewayProfile": Rule("gateway pools are AKS's own; they stay"),
    "gpuInstanceProfile": Rule("a NodePool splits no GPU into instances (MIG)"),
    "hostGroupID": Rule("a NodePool places no machine on dedicated hosts"),
    "kubeletDiskType": Rule(
        "the AKSNodeClass has no such field; the kubelet's files lie on the OS disk", harmless=_named("OS")
    ),
    "messageOfTheDay": Rule("no field takes it"),
    "mode": Rule(
        "Karpenter's machines are user Nodes unless a NodePool asks for kubernetes.azure.com/mode", _MACHINES, _anything
    ),
    "networkProfile": Rule("ports and application security groups of Nodes have no field"),
    "nodeCustomizationProfile": Rule("no field runs scripts on Nodes; a DaemonSet can"),
    "nodeImageVersion": Rule(
        "the AKSNodeClass follows the newest image of its family within the maintenance window",
        _CLOUDPROVIDER,
        _anything,
    ),
    "nodePublicIPPrefixID": Rule("Karpenter's machines have no public addresses"),
    "orchestratorVersion": Rule(
        "Nodes follow the control plane's version and are replaced by drift", _CLOUDPROVIDER, _anything
    ),
    "podIPAllocationMode": Rule("pods of Karpenter's Nodes get addresses as the cluster's network profile says"),
    "podSubnetID": Rule("the AKSNodeClass has vnetSubnetID for Nodes and no subnet for pods"),
    "powerState": Rule("whether the pool runs now", "AKS's API", _anything),
    "provisioningState": Rule("whether AKS is changing the pool now", "AKS's API", _anything),
    "proximityPlacementGroupID": Rule("a NodePool places no machine in a proximity placement group"),
    "capacityReservationGroupID": Rule(
        "the provider buys on demand and spot only, nothing of a capacity reservation group"
    ),
    "scaleDownMode": Rule(
        "a machine that Karpenter removes is deleted, never deallocated", "kaz pkg/providers/instance", _named("Delete")
    ),
    "scaleSetEvictionPolicy": Rule(
        "an evicted spot machine is deleted, never deallocated", "kaz pkg/providers/instance", _named("Delete")
    ),
    "spotMaxPrice": Rule(
        "spot machines are asked for at any price up to that on demand (-1)",
        "kaz pkg/providers/instance/vminstance.go",
        lambda value: float(value) == -1 if isinstance(value, int | float) else str(value) in ("-1", "-1.0", "nan"),
    ),
    "status": Rule("the pool's state now", "AKS's API", _anything),
    "type": Rule("Karpenter's machines are single VMs", _MACHINES, _anything),
    "upgradeSettings": Rule(
        "there is no surge: drifted Nodes are replaced within disruption.budgets",
        "core pkg/controllers/disruption",
        _anything,
    ),
    "upgradeSettingsBlueGreen": Rule(
        "there is no blue-green upgrade; drifted Nodes are replaced within disruption.budgets"
    ),
    "upgradeStrategy": Rule("drifted Nodes are replaced within disruption.budgets", harmless=_named("Rolling")),
    "virtualMachineNodesStatus": Rule("the pool's state now", "AKS's API", _anything),
    "windowsProfile": Rule("the provider makes Linux Nodes only"),
    "workloadRuntime": Rule("no field asks for another runtime than containers", harmless=_named("OCIContainer")),
    "securityProfile.sshAccess": Rule("machines always have sshAccess LocalUser", _MACHINES, _named("LocalUser")),
    "kubeletConfig.seccompDefault": Rule("spec.kubelet has no such field", harmless=_named("Unconfined")),
    "gpuProfile.driverType": Rule("spec.gpu has a mode only"),
    "gpuProfile.nvidia": Rule("spec.gpu has a mode only"),
    "localDNSProfile.state": Rule("whether the local DNS runs now", "AKS's API", _anything),
}
"""Field → why it is not carried over; fields of blocks with the block's name before them."""


def left_row(pool: str, field: str, value: Any) -> Row:
    """Return the row of a field that nothing takes over; one that is in no table is unknown."""
    rule = _RULES.get(field)
    if rule is None:
        text = "a field that is not known here; look whether an AKSNodeClass has something like it"
        return Row(pool, field, value_text(value), Verdict.UNKNOWN, text)
    verdict = Verdict.NO_EFFECT if rule.harmless(value) else Verdict.NO_EQUIVALENT
    return Row(pool, field, value_text(value), verdict, rule.text, rule.source)
