"""`given.agentPools` and the step `agentPool`: the pools of scale sets beside Karpenter's machines, by the names of AKS's API."""

from typing import Literal, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from harness.scenario.language.models.base import Flag, Integer, Model, Text, no_entries, no_items

__all__ = ["AgentPool", "AgentPoolStep"]

_TAINTS = "As the Azure CLI writes them: key=value:NoSchedule."


class AgentPool(Model):
    """One agent pool. Its Nodes are there and Ready when the scenario begins, with AKS's labels, taints, reserves and names."""

    name: Text = Field(description="1 to 12 small letters and digits.")
    count: Integer = Field(description="How many machines it has.")
    vm_size: Text = Field(description="Their size, for example Standard_D4s_v5.")
    mode: Literal["User", "System"] | None = Field(None, description="User when absent.")
    availability_zones: list[Text] = Field(
        default_factory=no_items, description='Numbers of zones, which the machines take in turn: ["1", "2"].'
    )
    node_labels: dict[Text, Text] = Field(default_factory=no_entries, description="Labels of its Nodes beside AKS's.")
    node_taints: list[Text] = Field(default_factory=no_items, description=_TAINTS)
    scale_set_priority: Literal["Regular", "Spot"] | None = Field(
        None, description="Regular when absent; Nodes of spot pools have AKS's taint."
    )
    max_pods: Integer | None = Field(None, description="Pods of a Node; 250 when absent.")
    os_sku: Text | None = Field(None, alias="osSKU", description="Ubuntu when absent.")
    os_disk_size_gb: Integer | None = Field(None, alias="osDiskSizeGB", description="128 when absent.")
    os_disk_type: Literal["Managed", "Ephemeral"] | None = Field(None, description="Managed when absent.")
    enable_fips: Flag | None = Field(None, alias="enableFIPS", description="Whether its images are FIPS images.")
    vnet_subnet_id: Text | None = Field(
        None, alias="vnetSubnetID", description="The subnet of its machines; the cluster's when absent."
    )


class AgentPoolStep(Model):
    """Something that is done to an agent pool with the Azure CLI: exactly one key beside `name`."""

    name: Text = Field(description="The pool.")
    count: Integer | None = Field(
        None, description="Another count; what is too much is drained first, the highest numbers of all."
    )
    delete: Flag | None = Field(None, description="true: its Nodes are drained, then it is gone.")
    taint: list[Text] | None = Field(
        None, description=f"Other taints of the pool and of its Nodes, [] for none. {_TAINTS}"
    )

    @model_validator(mode="after")
    def _one(self) -> Self:
        if len(self.model_fields_set - {"name"}) != 1:
            raise PydanticCustomError("one_key", "exactly one of count, delete, taint is expected")
        if self.delete is False:
            raise PydanticCustomError("one_key", "delete: true is expected")
        return self
