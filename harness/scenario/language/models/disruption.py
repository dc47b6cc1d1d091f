"""`disrupted` and `notDisrupted`: which nodes Karpenter made go, why, and what kept the others."""

from typing import Literal

from pydantic import Field

from harness.scenario.language.models.base import Body, Model, Reference, Text
from harness.scenario.language.models.matchers import CountMatch, NumberMatch, TextMatch

__all__ = ["Disrupted", "NotDisrupted", "ReplacementMatch"]


class ReplacementMatch(Model):
    """A replacement of the nodes that go."""

    nodepool: Text | None = Field(None, description="Its NodePool.")
    size: TextMatch | None = Field(None, description="Size that was launched.")
    zone: TextMatch | None = Field(None, description="Zone label of the launched machine.")
    capacity_type: Literal["on-demand", "spot"] | None = Field(None, description="Capacity type that was launched.")


class Disrupted(Body):
    """A decision of Karpenter that nodes go. What is not said may be anything."""

    node: Reference | None = Field(
        None,
        description="One of the nodes: Node/name, NodeClaim/name or NodePool/name; `*` stands for any text: Node/aks-default-*.",
    )
    reason: Literal["Empty", "Drifted", "Underutilized", "Expired", "Unhealthy"] | None = Field(
        None, description="Why. The last two ask no budget, and nothing comes in their place first."
    )
    drift: TextMatch | None = Field(
        None, description="Of which kind a drift is: NodePoolDrifted, RequirementsDrifted, NodeClassDrift, …"
    )
    decision: Literal["delete", "replace"] | None = Field(None, description="Whether replacements are made.")
    method: TextMatch | None = Field(
        None, description="Method: Emptiness, StaticDrift, Drift, MultiNodeConsolidation, SingleNodeConsolidation."
    )
    nodes: CountMatch | None = Field(None, description="How many nodes go by this one decision.")
    size: TextMatch | None = Field(None, description="Size of each node that goes.")
    replacement: ReplacementMatch | None = Field(None, description="One of the replacements.")
    savings: NumberMatch | None = Field(None, description="Karpenter's own figure, in USD per hour.")
    taken_back: TextMatch | None = Field(
        None, description="Why the nodes stay after all; without it only decisions count that were not taken back."
    )
    count: CountMatch | None = Field(None, description="How many such decisions; at least one when absent.")


class NotDisrupted(Body):
    """Nodes that are there, and that no decision is about."""

    node: Reference = Field(
        description="Pod/name: the Node it runs on; Node/name; NodeClaim/name; NodePool/name or a workload: all of its Nodes."
    )
    because: TextMatch | None = Field(
        None,
        description="What Karpenter said about each of them, in the message of an event on the Node, its NodeClaim or its NodePool.",
    )
