"""`then`: what must hold. Every entry has one key, which says what is looked at; every row of a table is a verdict of its own.

A line for each key names its model, and with it the module of ``harness.scenario.expectations`` that has the model, its check and the
reasons of a failure.
"""

from typing import Annotated, Self, get_args

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from harness.scenario.language.models.base import Body, LaterModel, Model

__all__ = ["ExpectationMap", "Looks"]


class Looks(Model):
    """The keys of what can be looked at at any moment."""

    node: Annotated[Body, LaterModel("node.NodeExpectation")] | None = Field(
        None, description="A Node, its labels and who wrote them."
    )
    pods: Annotated[Body, LaterModel("pods.Pods")] | None = Field(None, description="Pods that run or wait.")
    nodeclaims: Annotated[Body, LaterModel("nodeclaims.NodeClaims")] | None = Field(None, description="NodeClaims.")
    events: Annotated[Body, LaterModel("events.Events")] | None = Field(None, description="Events.")
    log: Annotated[Body, LaterModel("log.Log")] | None = Field(None, description="Log lines.")
    objects: Annotated[Body, LaterModel("objects.Objects")] | None = Field(None, description="Any other object.")
    azure: Annotated[Body, LaterModel("azure.AzureExpectation")] | None = Field(
        None, description="Calls to Azure and quotas."
    )
    cost: Annotated[Body, LaterModel("cost.Cost")] | None = Field(None, description="What it costs.")
    metric: Annotated[Body, LaterModel("metric.Metric")] | None = Field(None, description="A metric of Karpenter's.")
    disrupted: Annotated[Body, LaterModel("disruption.Disrupted")] | None = Field(
        None, description="Nodes that Karpenter made go."
    )
    not_disrupted: Annotated[Body, LaterModel("disruption.NotDisrupted")] | None = Field(
        None, description="Nodes that stay, and what keeps them."
    )


class ExpectationMap(Looks):
    """One expectation: exactly one key."""

    requirements: Annotated[Body, LaterModel("requirements.RequirementsExpectation")] | None = Field(
        None, description="What is computed for a size."
    )
    rejected: Annotated[Body, LaterModel("rejections.Rejected")] | None = Field(
        None, description="An object that is refused."
    )
    accepted: Annotated[Body, LaterModel("rejections.Accepted")] | None = Field(
        None, description="An object that is taken."
    )
    labels: Annotated[Body, LaterModel("labels.LabelTable")] | None = Field(None, description="A table of label keys.")
    eventually: Annotated[Body, LaterModel("over_time.Eventually")] | None = Field(
        None, description="What holds at some moment."
    )
    always: Annotated[Body, LaterModel("over_time.Always")] | None = Field(
        None, description="What holds at every moment."
    )
    never: Annotated[Body, LaterModel("over_time.Never")] | None = Field(None, description="What holds at no moment.")
    elapsed: Annotated[Body, LaterModel("elapsed.Elapsed")] | None = Field(
        None, description="Virtual time between two moments."
    )
    runaway: Annotated[Body, LaterModel("runaway.Runaway")] | None = Field(
        None, description="The same loop again and again, without end."
    )
    limits: Annotated[Body, LaterModel("limits.Limits")] | None = Field(
        None, description="Documented limits that the cluster breaks."
    )

    @model_validator(mode="after")
    def _one(self) -> Self:
        if len(self.model_fields_set) != 1:
            raise PydanticCustomError("one_key", "one expectation has exactly one key")
        return self

    @property
    def kind(self) -> str:
        """The key of this entry."""
        return next(iter(self.model_fields_set))

    @property
    def body(self) -> Body:
        """The expectation under that key."""
        body: Body = getattr(self, self.kind)
        return body

    @property
    def home(self) -> str:
        """Return the name of the module that has the model under that key, its check and its reasons."""
        later: LaterModel
        (later,) = get_args(get_args(type(self).model_fields[self.kind].annotation)[0])[1:]
        return later.home
