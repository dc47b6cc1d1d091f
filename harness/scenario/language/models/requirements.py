"""`requirements`: what Karpenter computes for a size."""

from typing import Literal

from pydantic import Field

from harness.scenario.language.models.base import (
    Body,
    Flag,
    Model,
    Text,
    no_entries,
    no_items,
)
from harness.scenario.language.models.matchers import (
    CountMatch,
    NumberMatch,
    QuantityMatch,
    RequirementMatch,
    TextMatch,
)

__all__ = ["OfferingMatch", "RequirementsExpectation"]


class OfferingMatch(Model):
    """One way to buy a size."""

    zone: TextMatch | None = Field(None, description="Zone label, for example eastus-1; 0 in a region without zones.")
    capacity_type: Literal["on-demand", "spot"] | None = Field(None, description="Capacity type.")
    price: NumberMatch | None = Field(None, description="USD per hour.")
    available: Flag | None = Field(None, description="Whether Karpenter may choose it now.")


class RequirementsExpectation(Body):
    """Karpenter's result for a size: its requirements, capacity and offerings, or the filter that drops it."""

    of: Text = Field(description="VM size, for example Standard_D4s_v5.")
    nodepool: Text | None = Field(
        None, description="Intersect with this NodePool of the file: what a NodeClaim could ask for."
    )
    nodeclass: Text | None = Field(
        None, description="Compute with this AKSNodeClass of the file (image, disk, pods, FIPS)."
    )
    are: dict[Text, RequirementMatch] = Field(
        default_factory=no_entries, description="Requirement by key: its only value, or conditions."
    )
    absent: list[Text] = Field(
        default_factory=no_items, description="Keys that it has no value for: no requirement, or DoesNotExist."
    )
    capacity: dict[Text, QuantityMatch] = Field(default_factory=no_entries, description="Capacity by resource.")
    allocatable: dict[Text, QuantityMatch] = Field(default_factory=no_entries, description="Allocatable by resource.")
    offerings: list[OfferingMatch] = Field(default_factory=no_items, description="Offerings that exist, in any order.")
    offering_count: CountMatch | None = Field(None, description="How many offerings there are.")
    dropped: TextMatch | None = Field(None, description="The size is no instance type, because of this filter.")
