"""Expectations about any moment of a world: its Nodes, pods, NodeClaims and other objects, its messages, its costs."""

from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Discriminator, Field, Tag, WithJsonSchema, model_validator
from pydantic_core import PydanticCustomError

from harness.scenario.language.models.base import (
    Body,
    Flag,
    Integer,
    Model,
    Reference,
    Text,
    no_entries,
    no_items,
)
from harness.scenario.language.models.labels import NodeLabel
from harness.scenario.language.models.matchers import (
    CountMatch,
    NumberMatch,
    Partial,
    QuantityMatch,
    RequirementMatch,
    TextMatch,
)

__all__ = [
    "AzureExpectation",
    "CallMatch",
    "Cost",
    "Events",
    "Log",
    "Metric",
    "NodeClaims",
    "NodeExpectation",
    "Objects",
    "Pods",
]


class NodeExpectation(Body):
    """A Node: its labels with their writers, its taints, size, zone."""

    of: Reference = Field(
        description="Pod/name: the Node it runs on; Node/name; NodeClaim/name; "
        "NodePool/name, or a workload such as Deployment/name, when it has one Node. `*` stands for any text: Node/aks-spot-*."
    )
    every: Flag = Field(False, description="`of` may lead to several Nodes: this holds of each of them.")
    labels: dict[Text, NodeLabel] = Field(
        default_factory=no_entries, description="Labels: value, or value with its writers."
    )
    absent: list[Text] = Field(default_factory=no_items, description="Label keys that the Node does not have.")
    annotations: dict[Text, TextMatch] = Field(default_factory=no_entries, description="Annotations.")
    taints: list[Partial] | None = Field(None, description="Taints it has; [] for none at all.")
    size: TextMatch | None = Field(None, description="VM size.")
    zone: TextMatch | None = Field(None, description="Zone label.")
    capacity_type: Literal["on-demand", "spot"] | None = Field(None, description="Capacity type.")
    ready: Flag | None = Field(None, description="Whether it is Ready.")
    capacity: dict[Text, QuantityMatch] = Field(default_factory=no_entries, description="status.capacity by resource.")
    allocatable: dict[Text, QuantityMatch] = Field(
        default_factory=no_entries, description="status.allocatable by resource."
    )


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


Names = Annotated[
    list[Text],
    BeforeValidator(_listed),
    WithJsonSchema(
        {"anyOf": [{"type": "string", "pattern": "^[A-Za-z]"}, {"type": "array", "items": {"type": "string"}}]}
    ),
]


def _names_shape(value: Any) -> str:
    if isinstance(value, list) or (isinstance(value, str) and value[:1].isalpha()):
        return "names"
    if isinstance(value, dict) and not value.keys() <= {"atLeast", "atMost", "above", "below"}:
        return "table"
    return "count"


class Pods(Body):
    """The pods that run and those that do not, with Karpenter's own sentence.

    Names are `name`, `namespace/name`, or a workload such as `Deployment/web`, which stands for all of its pods.
    """

    bound: (
        Annotated[
            Annotated[CountMatch, Tag("count")]
            | Annotated[Names, Tag("names")]
            | Annotated[dict[Text, Text], Tag("table")],
            Discriminator(_names_shape),
        ]
        | None
    ) = Field(None, description="How many, which (a name or several), or which on which NodePool ({web: default}).")
    pending: (
        Annotated[
            Annotated[CountMatch, Tag("count")]
            | Annotated[Names, Tag("names")]
            | Annotated[dict[Text, TextMatch], Tag("table")],
            Discriminator(_names_shape),
        ]
        | None
    ) = Field(None, description="How many, which (a name or several), or which for which reason: Karpenter's sentence.")

    @model_validator(mode="after")
    def _given(self) -> Self:
        if self.bound is None and self.pending is None:
            raise PydanticCustomError("no_condition", "at least one of bound, pending is expected")
        return self


class NodeClaimMatch(Model):
    """One NodeClaim."""

    nodepool: Text | None = Field(None, description="Its NodePool.")
    size: TextMatch | None = Field(None, description="The size that was launched.")
    sizes: Partial | list[Text] | None = Field(
        None, description="Sizes that it allows: these among others, or {exactly: [...]}, {count: n}."
    )
    zone: TextMatch | None = Field(None, description="Zone label of the launched machine.")
    capacity_type: Literal["on-demand", "spot"] | None = Field(
        None, description="Capacity type of the launched machine."
    )
    requirements: dict[Text, RequirementMatch] = Field(
        default_factory=no_entries, description="Requirements of its spec."
    )
    absent: list[Text] = Field(default_factory=no_items, description="Keys that its spec has no requirement for.")
    conditions: dict[Text, TextMatch] = Field(
        default_factory=no_entries, description="Status of its conditions: {Launched: 'True'}."
    )
    pods: list[Text] | None = Field(None, description="Pods on its Node: these among others.")


class NodeClaims(Body):
    """The NodeClaims that exist in the end."""

    count: CountMatch | None = Field(None, description="How many there are.")
    created: CountMatch | None = Field(None, description="How many were ever created; tells a runaway.")
    nodepool: Text | None = Field(None, description="Count only those of this NodePool.")
    are: list[NodeClaimMatch] = Field(
        default_factory=no_items, description="NodeClaims that exist, each another one, in any order."
    )


class Events(Body):
    """Events that were recorded."""

    of: Reference | None = Field(None, description="The object they are about.")
    reason: TextMatch | None = Field(None, description="Reason.")
    type: Literal["Normal", "Warning"] | None = Field(None, description="Type.")
    message: TextMatch | None = Field(None, description="Message.")
    count: CountMatch | None = Field(None, description="How many different ones; at least one when absent.")


class Log(Body):
    """Lines that the controllers logged."""

    message: TextMatch | None = Field(None, description="Message.")
    level: Literal["debug", "info", "error"] | None = Field(None, description="Level.")
    controller: Text | None = Field(None, description="The controller that logged it.")
    values: dict[Text, TextMatch] = Field(default_factory=no_entries, description="Values logged with it, by name.")
    count: CountMatch | None = Field(None, description="How many; at least one when absent.")


class Objects(Body):
    """Any objects of the cluster: one by name, or all of a kind."""

    of: Reference | None = Field(None, description="One object, as Kind/name.")
    kind: Text | None = Field(None, description="All objects of this kind.")
    labels: dict[Text, Text] = Field(default_factory=no_entries, description="Only those with these labels.")
    match: Partial | None = Field(None, description="What it looks like; of several, only those that do are counted.")
    count: CountMatch | None = Field(None, description="How many; with `of`, 0 says that it is gone.")

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.of is None) == (self.kind is None):
            raise PydanticCustomError("one_of", "exactly one of of, kind is expected")
        return self


class CallMatch(Model):
    """Calls that Azure received."""

    method: Text | None = Field(None, description="GET, PUT, POST, PATCH or DELETE.")
    path: TextMatch | None = Field(None, description="Path of the call, without the host.")
    resource: Text | None = Field(None, description="Type of the resource, for example virtualMachines.")
    status: Integer | None = Field(None, description="HTTP status of the answer.")
    error: Text | None = Field(None, description="Azure's error code in the answer.")
    size: Text | None = Field(None, description="Size of the VM in the body.")
    zone: Text | None = Field(None, description="Zone in the body.")
    priority: TextMatch | None = Field(None, description="Priority in the body: Regular or Spot.")
    body: Partial | None = Field(None, description="Part of the body sent.")
    custom_data: TextMatch | None = Field(
        None, description="The script in the body that a VM starts with, decoded from base64."
    )
    count: CountMatch | None = Field(None, description="How many such calls; at least one when absent.")


class UsageMatch(Model):
    """A quota as Azure reports it."""

    used: CountMatch | None = Field(None, description="vCPUs in use.")
    limit: CountMatch | None = Field(None, description="vCPUs allowed.")


class AzureExpectation(Body):
    """Calls of Azure, its quotas and its machines."""

    calls: list[CallMatch] = Field(
        default_factory=no_items, description="Calls it received; each entry is counted by itself."
    )
    usage: dict[Text, UsageMatch] = Field(default_factory=no_entries, description="Quotas by usage name.")
    vms: CountMatch | None = Field(None, description="Virtual machines that exist in the end.")


class Cost(Body):
    """The costs of the Nodes that exist in the end."""

    per_hour: NumberMatch = Field(description="USD per hour.")
    before: NumberMatch | None = Field(None, description="USD per hour before the first `advance`.")


class Metric(Body):
    """One of Karpenter's metrics in the end: the sum of the series that have these labels (docs/reference/metrics.md)."""

    name: Text = Field(description="Its name, for example karpenter_nodeclaims_created_total.")
    labels: dict[Text, Text] = Field(default_factory=no_entries, description="Labels that its series have.")
    value: NumberMatch = Field(description="The sum; 0 without any series.")
