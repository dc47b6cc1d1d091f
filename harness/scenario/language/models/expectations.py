"""`then`: what must hold. Every entry has one key, which says what is looked at; every row of a table is a verdict of its own."""

from typing import Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from harness.scenario.language.models.base import (
    Body,
    Later,
    Reference,
    RejectionLayer,
    Text,
    no_items,
)
from harness.scenario.language.models.disruption import Disrupted, NotDisrupted
from harness.scenario.language.models.labels import LabelTable
from harness.scenario.language.models.matchers import CountMatch, TextMatch
from harness.scenario.language.models.moments import Always, Elapsed, Eventually, Moment, Never, OverTime
from harness.scenario.language.models.observed import (
    AzureExpectation,
    Cost,
    Events,
    Log,
    Looks,
    Metric,
    NodeClaims,
    NodeExpectation,
    Objects,
    Pods,
)
from harness.scenario.language.models.requirements import RequirementsExpectation

__all__ = [
    "Accepted",
    "Always",
    "AzureExpectation",
    "Cost",
    "Elapsed",
    "Events",
    "Eventually",
    "Expectation",
    "ExpectationMap",
    "Limits",
    "Log",
    "Moment",
    "Never",
    "NodeClaims",
    "NodeExpectation",
    "Objects",
    "OverTime",
    "Pods",
    "Rejected",
    "RequirementsExpectation",
    "Runaway",
]


class Rejected(Body):
    """An object that is refused: by which layer, for which key, with which text. Only what is given is compared."""

    object: Reference = Field(
        description="The refused object, as Kind/name; `*` stands for any text: NodeClaim/default-*."
    )
    layer: RejectionLayer | None = Field(None, description="Who refuses it.")
    key: Text | None = Field(None, description="The label key at fault.")
    path: Text | None = Field(None, description="The field, as the refusal names it.")
    rule: Text | None = Field(None, description="The harness's name of the rule.")
    message: TextMatch | None = Field(None, description="The message alone, without object and path.")
    text: TextMatch | None = Field(None, description="The whole line, as the API server or Karpenter prints it.")
    since: Text | None = Field(None, description="First release that refuses; older cases must accept.")
    until: Text | None = Field(None, description="First release that accepts again.")


class Accepted(Body):
    """An object that no layer refuses."""

    object: Reference = Field(description="The object, as Kind/name.")


class Runaway(Body):
    """A world that never comes to rest: Nodes are made again and again for pods that they do not help."""

    key: Text | None = Field(None, description="The label key at fault.")
    loops: CountMatch | None = Field(None, description="How many loops were seen before it was stopped.")


class Limits(Body):
    """Limits of Karpenter's concepts document that `given.cluster` breaks: exactly these."""

    violated: list[Text] = Field(default_factory=no_items, description="Broken, and still limits of this release.")
    outdated: list[Text] = Field(
        default_factory=no_items, description="Broken by the document's word, and no limits of this release any more."
    )


class ExpectationMap(Looks):
    """One expectation: exactly one key."""

    requirements: Later[RequirementsExpectation] | None = Field(None, description="What is computed for a size.")
    rejected: Later[Rejected] | None = Field(None, description="An object that is refused.")
    accepted: Later[Accepted] | None = Field(None, description="An object that is taken.")
    labels: Later[LabelTable] | None = Field(None, description="A table of label keys.")
    eventually: Later[Eventually] | None = Field(None, description="What holds at some moment.")
    always: Later[Always] | None = Field(None, description="What holds at every moment.")
    never: Later[Never] | None = Field(None, description="What holds at no moment.")
    elapsed: Later[Elapsed] | None = Field(None, description="Virtual time between two moments.")
    runaway: Later[Runaway] | None = Field(None, description="The same loop again and again, without end.")
    limits: Later[Limits] | None = Field(None, description="Documented limits that the cluster breaks.")

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
    def body(self) -> "Expectation":
        """The expectation under that key."""
        body: Expectation = getattr(self, self.kind)
        return body


Expectation = (
    RequirementsExpectation
    | Rejected
    | Accepted
    | NodeExpectation
    | Pods
    | NodeClaims
    | LabelTable
    | Events
    | Log
    | Objects
    | AzureExpectation
    | Cost
    | Metric
    | OverTime
    | Elapsed
    | Disrupted
    | NotDisrupted
    | Runaway
    | Limits
)
