"""`given`: the releases and the state of Azure that a scenario starts from. Everything has a default (`harness defaults`)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag

from harness.scenario.models.base import Duration, Integer, Model, Number, Text
from harness.scenario.models.matchers import _shape

__all__ = ["Azure", "Capacity", "Fault", "Given", "Price", "Quota", "Restriction"]


class QuotaState(Model):
    """A quota with vCPUs that others have already taken."""

    limit: Integer = Field(description="vCPUs allowed.")
    used: Integer = Field(0, description="vCPUs already in use by others.")


Quota = Annotated[Annotated[Integer, Tag("value")] | Annotated[QuotaState, Tag("conditions")], Discriminator(_shape)]


class Restriction(Model):
    """A size that this subscription may not use, everywhere in the region or in some zones."""

    size: Text = Field(description="VM size, for example Standard_D4s_v5.")
    zones: list[Text] | None = Field(
        None, min_length=1, description="Zones it is closed in, 1 to 3; the whole region when absent."
    )


class Capacity(Model):
    """How many VMs of a size can still be had; matches every zone and priority that it does not name."""

    size: Text = Field(description="VM size.")
    zone: Text | None = Field(None, description="Zone, 1 to 3.")
    priority: Literal["Regular", "Spot"] | None = Field(None, description="Priority of the VM.")
    vms: Integer = Field(description="VMs left; 0 is a dry zone.")


class PriceState(Model):
    """Prices of one size in USD per hour."""

    regular: Number | None = Field(None, description="On demand.")
    spot: Number | None = Field(None, description="Spot.")


Price = Annotated[Annotated[Number, Tag("value")] | Annotated[PriceState, Tag("conditions")], Discriminator(_shape)]


class Fault(Model):
    """A failure of Azure, declared in advance. A fault that never happens fails the scenario."""

    call: Text = Field(description="Method and resource type it strikes, for example `PUT virtualMachines`.")
    error: Text = Field(
        description="Azure's error code, for example SkuNotAvailable, OperationNotAllowed, TooManyRequests."
    )
    status: Integer | None = Field(None, description="HTTP status; the usual one of the code when absent.")
    message: Text | None = Field(None, description="The text of the error; Azure's own when absent.")
    size: Text | None = Field(None, description="Only VMs of this size.")
    zone: Text | None = Field(None, description="Only in this zone.")
    priority: Literal["Regular", "Spot"] | None = Field(None, description="Only VMs of this priority.")
    phase: Literal["accept", "finish"] = Field(
        "accept", description="`accept`: the call is refused; `finish`: its long-running operation fails at the end."
    )
    after: Integer = Field(0, description="Calls that pass before the first failure.")
    times: Integer | None = Field(None, description="Failures before it is over; without end when absent.")
    retry_after: Duration | None = Field(None, description="Retry-After of the answer.")


class Azure(Model):
    """What Azure is short of, and what it charges."""

    quota: dict[Text, Quota] = Field(
        default_factory=dict,
        description="vCPU limits by usage name: cores, lowPriorityCores, or a family such as standardDSv5Family.",
    )
    restrictions: list[Restriction] = Field(default_factory=list, description="Sizes closed to the subscription.")
    capacity: list[Capacity] = Field(
        default_factory=list, description="Stock that is short; everything else is plentiful."
    )
    prices: dict[Text, Price] = Field(
        default_factory=dict, description="Prices by size that replace the region's list."
    )
    faults: list[Fault] = Field(default_factory=list, description="Failures to happen.")


class Given(Model):
    """Releases, region and options. What is left out has the release's default."""

    karpenter: Text | None = Field(None, description="Release of karpenter-provider-azure, for example 1.14.0.")
    crds: Text | None = Field(None, description="Release that the CRDs come from, when they lag behind the controller.")
    kubernetes: Text | None = Field(None, description="Kubernetes version, for example 1.34.2.")
    region: Text | None = Field(None, description="Azure region, for example eastus.")
    provision_mode: Literal["aksscriptless", "bootstrappingclient", "aksmachineapi"] | None = Field(
        None, description="How Karpenter makes machines."
    )
    options: dict[Text, Text] = Field(
        default_factory=dict, description="Options of the controller, by their flag's name."
    )
    azure: Azure | None = Field(None, description="What Azure is short of.")
    seed: Integer | None = Field(None, description="Seed of all that is random upstream.")
