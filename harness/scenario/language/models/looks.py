"""The keys of what can be looked at at any moment, each with the model of its map."""

from typing import TYPE_CHECKING

from pydantic import Field

from harness.scenario.language.models.base import Later, Model

if TYPE_CHECKING:
    from harness.scenario.language.models.disruption import Disrupted, NotDisrupted
    from harness.scenario.language.models.observed import (
        AzureExpectation,
        Cost,
        Events,
        Log,
        Metric,
        NodeClaims,
        NodeExpectation,
        Objects,
        Pods,
    )

    Look = (
        NodeExpectation
        | Pods
        | NodeClaims
        | Events
        | Log
        | Objects
        | AzureExpectation
        | Cost
        | Metric
        | Disrupted
        | NotDisrupted
    )

__all__ = ["Looks"]


class Looks(Model):
    """The keys of what can be looked at at any moment."""

    node: Later["NodeExpectation"] | None = Field(None, description="A Node, its labels and who wrote them.")
    pods: Later["Pods"] | None = Field(None, description="Pods that run or wait.")
    nodeclaims: Later["NodeClaims"] | None = Field(None, description="NodeClaims.")
    events: Later["Events"] | None = Field(None, description="Events.")
    log: Later["Log"] | None = Field(None, description="Log lines.")
    objects: Later["Objects"] | None = Field(None, description="Any other object.")
    azure: Later["AzureExpectation"] | None = Field(None, description="Calls to Azure and quotas.")
    cost: Later["Cost"] | None = Field(None, description="What it costs.")
    metric: Later["Metric"] | None = Field(None, description="A metric of Karpenter's.")
    disrupted: Later["Disrupted"] | None = Field(None, description="Nodes that Karpenter made go.")
    not_disrupted: Later["NotDisrupted"] | None = Field(None, description="Nodes that stay, and what keeps them.")
