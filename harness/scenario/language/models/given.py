"""`given`: the releases and the state of Azure that a scenario starts from. Everything has a default (`harness defaults`)."""

from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import Discriminator, Field, Tag, model_validator
from pydantic_core import PydanticCustomError

from harness.scenario.language.models.base import Flag, Integer, Later, Model, Reference, Text, no_entries, no_items
from harness.scenario.language.models.loads import GivenLoad

if TYPE_CHECKING:
    from harness.scenario.language.models.agent_pools import AgentPool, AutoScalerProfile
    from harness.scenario.language.models.azure import Azure
    from harness.scenario.language.models.cluster import Cluster
    from harness.scenario.language.models.patch import Patch
    from harness.scenario.language.models.timing import GivenTiming, Simulation

__all__ = ["Given"]


class Given(Model):
    """Releases, region and options. What is left out has the release's default."""

    karpenter: Text | None = Field(None, description="Release of karpenter-provider-azure, for example 1.14.0.")
    crds: Text | None = Field(
        None,
        description="Release that the CRDs come from, when they lag behind the controller; or a directory of CRD files.",
    )
    kubernetes: Text | None = Field(None, description="Kubernetes version, for example 1.34.2.")
    region: Text | None = Field(None, description="Azure region, for example eastus.")
    provision_mode: (
        Literal["aksscriptless", "bootstrappingclient", "aksmachineapi", "aksmachineapiheaderbatch"] | None
    ) = Field(None, description="How Karpenter makes machines.")
    options: dict[Text, Text] = Field(
        default_factory=no_entries,
        description="Options of the controller, by their flag's name; `harness options --release R` lists those of a release.",
    )
    policy: Literal["design-2025-10-30", "design-2025-11-07"] | None = Field(
        None, description="Design document whose decisions are laid over the release (1.6.5 when absent)."
    )
    hosting: Literal["self-hosted", "nap"] | None = Field(
        None, description="Who runs Karpenter; self-hosted when absent."
    )
    cluster: Later["Cluster"] | None = Field(None, description="The AKS cluster, checked against documented limits.")
    agent_pools: list[Later["AgentPool"]] = Field(
        default_factory=no_items, description="Agent pools whose Nodes are there from the start, beside Karpenter's."
    )
    cluster_autoscaler: (
        Annotated[
            Annotated[Flag, Tag("value")] | Annotated[Later["AutoScalerProfile"], Tag("map")],
            Discriminator(lambda value: "map" if isinstance(value, dict) else "value"),
        ]
        | None
    ) = Field(
        None,
        description="true: Kubernetes' cluster autoscaler looks after the agent pools with enableAutoScaling, with AKS's defaults; "
        "or its settings, as in autoScalerProfile.",
    )
    azure: Later["Azure"] | None = Field(
        None, description="What Azure is short of, what it charges, and its lists of a day."
    )
    simulation: Later["Simulation"] | None = Field(None, description="How long the scheduling simulation takes.")
    timing: Later["GivenTiming"] | None = Field(None, description="How long launches, boots and registrations take.")
    load: dict[Reference, GivenLoad] = Field(
        default_factory=no_entries,
        description="What the pods of workloads with a HorizontalPodAutoscaler have to do, as in the step `load`; or a list of "
        "{at: 10m, load: 80%}, over the time of the world.",
    )
    storage_classes: Flag | None = Field(
        None, description="Whether the StorageClasses of disks that AKS makes are there; true when absent."
    )
    seed: Integer | None = Field(None, description="Seed of all that is random upstream.")
    manifests: list[Text] = Field(
        default_factory=no_items,
        description="Files of manifests, from the scenario's folder: names, patterns such as ../pools/*.yaml, folders; dumps, too.",
    )
    patches: list[Later["Patch"]] = Field(
        default_factory=no_items,
        description="Merge patches on manifests of this file or of `manifests`, before anything is applied.",
    )

    @model_validator(mode="after")
    def _autoscaled(self) -> Self:
        autoscaled = any(pool.enable_auto_scaling for pool in self.agent_pools)
        if autoscaled and not self.cluster_autoscaler:
            raise PydanticCustomError("autoscaler", "agentPools with enableAutoScaling need clusterAutoscaler: true")
        if self.cluster_autoscaler and not autoscaled:
            raise PydanticCustomError(
                "autoscaler", "clusterAutoscaler needs an agent pool with enableAutoScaling: true"
            )
        return self

    @property
    def autoscaler_settings(self) -> dict[str, str] | None:
        """The settings of the cluster autoscaler by AKS's keys; None where it does not run."""
        if not self.cluster_autoscaler:
            return None
        return {} if self.cluster_autoscaler is True else self.cluster_autoscaler.settings()
