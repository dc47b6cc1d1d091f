"""`given.agentPools` and the step `agentPool`: the pools of scale sets beside Karpenter's machines, by the names of AKS's API."""

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, ValidationInfo, WithJsonSchema, model_validator
from pydantic_core import PydanticCustomError

from harness.clusterautoscaler.profile import EXPANDERS, SettingError, read_setting
from harness.scenario.language.models.base import Flag, Integer, Model, Text, no_entries, no_items

__all__ = ["AgentPool", "AgentPoolStep", "AutoScalerProfile"]

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
    enable_auto_scaling: Flag | None = Field(
        None, description="Whether the cluster autoscaler changes its count; needs minCount and maxCount."
    )
    min_count: Integer | None = Field(None, description="The smallest count of an autoscaled pool.")
    max_count: Integer | None = Field(None, description="The largest count of an autoscaled pool.")

    @model_validator(mode="after")
    def _bounds(self) -> Self:
        if not self.enable_auto_scaling:
            if self.min_count is not None or self.max_count is not None:
                raise PydanticCustomError("bounds", "minCount and maxCount need enableAutoScaling: true")
        elif self.min_count is None or self.max_count is None:
            raise PydanticCustomError("bounds", "enableAutoScaling needs minCount and maxCount")
        elif self.min_count > self.max_count:
            raise PydanticCustomError("bounds", "minCount is larger than maxCount")
        elif not self.min_count <= self.count <= self.max_count:
            raise PydanticCustomError("bounds", "count has to lie between minCount and maxCount")
        elif self.mode == "System" and not self.min_count:
            raise PydanticCustomError("bounds", "a System pool keeps at least one machine: minCount from 1 is expected")
        return self


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


def _setting(value: str, info: ValidationInfo) -> str:
    """Return the text of a setting that AKS takes."""
    try:
        read_setting(str(info.field_name).replace("_", "-"), value)
    except SettingError as error:
        raise PydanticCustomError("setting", "{problem}", {"problem": str(error)}) from None
    return value


_Setting = Annotated[Text, AfterValidator(_setting)]
_Switch = Annotated[_Setting, WithJsonSchema({"type": "boolean"})]
_Expander = Annotated[_Setting, WithJsonSchema({"enum": list(EXPANDERS)})]


class AutoScalerProfile(Model):
    """The settings of the cluster autoscaler as in AKS's `autoScalerProfile`; what is left out has AKS's default.

    For `priority` the ConfigMap kube-system/cluster-autoscaler-priority-expander says which pools come first.
    """

    balance_similar_node_groups: _Switch | None = Field(
        None,
        alias="balance-similar-node-groups",
        description="Whether equal pools, but for their zone, grow alike; false when absent.",
    )
    daemonset_eviction_for_empty_nodes: _Switch | None = Field(
        None,
        alias="daemonset-eviction-for-empty-nodes",
        description="Whether pods of DaemonSets are evicted from empty Nodes that go; false when absent.",
    )
    daemonset_eviction_for_occupied_nodes: _Switch | None = Field(
        None,
        alias="daemonset-eviction-for-occupied-nodes",
        description="Whether they are evicted from other Nodes that go; true when absent.",
    )
    expander: _Expander | None = Field(
        None, description="How a pool is chosen where several would help; random when absent."
    )
    ignore_daemonsets_utilization: _Switch | None = Field(
        None,
        alias="ignore-daemonsets-utilization",
        description="Whether pods of DaemonSets do not count for the use of a Node; false when absent.",
    )
    max_empty_bulk_delete: _Setting | None = Field(
        None, alias="max-empty-bulk-delete", description="How many Nodes may go at a time; 10 when absent."
    )
    max_graceful_termination_sec: _Setting | None = Field(
        None,
        alias="max-graceful-termination-sec",
        description="Seconds that pods of a Node that goes may take to end; 600 when absent.",
    )
    max_node_provision_time: _Setting | None = Field(
        None, alias="max-node-provision-time", description="How long new Nodes are waited for; 15m when absent."
    )
    max_total_unready_percentage: _Setting | None = Field(
        None,
        alias="max-total-unready-percentage",
        description="The part of Nodes that may be unready before all stops, in percent; 45 when absent.",
    )
    new_pod_scale_up_delay: _Setting | None = Field(
        None, alias="new-pod-scale-up-delay", description="How old a pod has to be to count; 0s when absent."
    )
    ok_total_unready_count: _Setting | None = Field(
        None,
        alias="ok-total-unready-count",
        description="How many Nodes may be unready whatever their part is; 3 when absent.",
    )
    scale_down_delay_after_add: _Setting | None = Field(
        None, alias="scale-down-delay-after-add", description="How long no Node goes after a scale-up; 10m when absent."
    )
    scale_down_delay_after_delete: _Setting | None = Field(
        None,
        alias="scale-down-delay-after-delete",
        description="How long no Node goes after others began to; the scan interval when absent.",
    )
    scale_down_delay_after_failure: _Setting | None = Field(
        None,
        alias="scale-down-delay-after-failure",
        description="How long no Node goes after one could not be marked; 3m when absent.",
    )
    scale_down_unneeded_time: _Setting | None = Field(
        None,
        alias="scale-down-unneeded-time",
        description="How long a Node has to be unneeded before it goes; 10m when absent.",
    )
    scale_down_unready_time: _Setting | None = Field(
        None, alias="scale-down-unready-time", description="The same for a Node that is unready; 20m when absent."
    )
    scale_down_utilization_threshold: _Setting | None = Field(
        None,
        alias="scale-down-utilization-threshold",
        description="The requested part of a Node up to which it may be unneeded; 0.5 when absent.",
    )
    scan_interval: _Setting | None = Field(
        None, alias="scan-interval", description="The time from one look at the cluster to the next; 10s when absent."
    )
    skip_nodes_with_local_storage: _Switch | None = Field(
        None,
        alias="skip-nodes-with-local-storage",
        description="Whether pods with an emptyDir or a hostPath keep their Node; false when absent.",
    )
    skip_nodes_with_system_pods: _Switch | None = Field(
        None,
        alias="skip-nodes-with-system-pods",
        description="Whether pods of kube-system without a PodDisruptionBudget keep their Node for an hour; true when absent.",
    )

    def settings(self) -> dict[str, str]:
        """Return the settings of the file by AKS's keys."""
        return {name.replace("_", "-"): getattr(self, name) for name in self.model_fields_set}
