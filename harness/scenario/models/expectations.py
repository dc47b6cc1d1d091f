"""`then`: what must hold. Every entry has one key, which says what is looked at; every row of a table is a verdict of its own."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Discriminator, Field, Tag, WithJsonSchema, model_validator
from pydantic_core import PydanticCustomError

from harness.scenario.models.base import Flag, Integer, Model, Reference, Text
from harness.scenario.models.matchers import (
    CountMatch,
    NumberMatch,
    Partial,
    QuantityMatch,
    RequirementMatch,
    TextConditions,
    TextMatch,
)

__all__ = [
    "Accepted",
    "AzureExpectation",
    "Cost",
    "Events",
    "Expectation",
    "ExpectationMap",
    "LabelRow",
    "LabelTable",
    "LabelWrite",
    "Limits",
    "NodeClaims",
    "NodeExpectation",
    "NodeLabel",
    "Objects",
    "Pods",
    "Rejected",
    "RequirementsExpectation",
    "Runaway",
]

Layer = Literal["crd-schema", "crd-cel", "nodepool-runtime", "nodepool-filter", "pod", "nodeclaim-cel", "launch"]
WRITERS = ("kubelet", "karpenter", "cloud-node-manager", "other")
Writer = Literal["kubelet", "karpenter", "cloud-node-manager", "other"]


class Body(Model):
    """What every expectation may say beside its own fields."""

    source: Text | None = Field(
        None, description="Where the expected values come from: a document, a recording, an upstream file."
    )
    only: dict[Text, list[Text]] | None = Field(
        None,
        description="The cases it is for, by axis of the matrix (or `case`): {karpenter: [1.13.0, 1.14.0]}. All when absent.",
    )


class OfferingMatch(Model):
    """One way to buy a size."""

    zone: TextMatch | None = Field(None, description="Zone label, for example eastus-1; 0 in a region without zones.")
    capacity_type: Literal["on-demand", "spot"] | None = Field(None, description="Capacity type.")
    price: NumberMatch | None = Field(None, description="USD per hour.")
    available: Flag | None = Field(None, description="Whether Karpenter may choose it now.")


class RequirementsExpectation(Body):
    """What Karpenter computes for a size: its requirements, capacity and offerings, or the filter that drops it."""

    of: Text = Field(description="VM size, for example Standard_D4s_v5.")
    nodepool: Text | None = Field(
        None, description="Intersect with this NodePool of the file: what a NodeClaim could ask for."
    )
    nodeclass: Text | None = Field(
        None, description="Compute with this AKSNodeClass of the file (image, disk, pods, FIPS)."
    )
    are: dict[Text, RequirementMatch] = Field(
        default_factory=dict, description="Requirement by key: its only value, or conditions."
    )
    absent: list[Text] = Field(
        default_factory=list, description="Keys that it has no value for: no requirement, or DoesNotExist."
    )
    capacity: dict[Text, QuantityMatch] = Field(default_factory=dict, description="Capacity by resource.")
    allocatable: dict[Text, QuantityMatch] = Field(default_factory=dict, description="Allocatable by resource.")
    offerings: list[OfferingMatch] = Field(default_factory=list, description="Offerings that exist, in any order.")
    offering_count: CountMatch | None = Field(None, description="How many offerings there are.")
    dropped: TextMatch | None = Field(None, description="The size is no instance type, because of this filter.")


class Rejected(Body):
    """An object that is refused: by which layer, for which key, with which text. Only what is given is compared."""

    object: Reference = Field(
        description="The refused object, as Kind/name; `*` stands for any text: NodeClaim/default-*."
    )
    layer: Layer | None = Field(None, description="Who refuses it.")
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


class LabelWrite(Model):
    """One write of a label."""

    by: Writer | None = Field(None, description="The identity that the API server saw.")
    from_: Text | None = Field(
        None, alias="from", description="The source inside the sender: base, vm, nodeclaim-label, ..."
    )
    value: TextMatch | None = Field(None, description="The value written.")
    kind: Literal["set", "same", "overwrote", "removed", "refused", "withheld"] | None = Field(
        None,
        description="What became of it. Only set, overwrote and removed are compared unless an entry names another.",
    )


class NodeLabelMap(Model):
    """A label of a Node: its value and how it came there."""

    value: TextMatch | None = Field(None, description="The value in the end.")
    by: Writer | None = Field(None, description="Who wrote that value first.")
    from_: Text | None = Field(None, alias="from", description="The source inside that sender.")
    writes: list[LabelWrite] | None = Field(None, min_length=1, description="All writes that changed it, in order.")
    withheld: Writer | None = Field(None, description="Who had it to write and did not.")
    refused: Writer | None = Field(None, description="Whose write the API server refused.")

    @model_validator(mode="after")
    def _given(self) -> NodeLabelMap:
        if not self.model_fields_set:
            raise PydanticCustomError(
                "no_condition", "at least one of value, by, from, writes, withheld, refused is expected"
            )
        return self


_CONDITIONS = frozenset(field.alias or name for name, field in TextConditions.model_fields.items())


def _label_shape(value: Any) -> str:
    return "map" if isinstance(value, dict) else "value"


NodeLabel = Annotated[Annotated[Text, Tag("value")] | Annotated[NodeLabelMap, Tag("map")], Discriminator(_label_shape)]


class NodeExpectation(Body):
    """A Node: its labels with their writers, its taints, size, zone."""

    of: Reference = Field(
        description="Pod/name: the Node it runs on; Node/name; NodeClaim/name; NodePool/name when it has one Node."
    )
    labels: dict[Text, NodeLabel] = Field(default_factory=dict, description="Labels: value, or value with its writers.")
    absent: list[Text] = Field(default_factory=list, description="Label keys that the Node does not have.")
    annotations: dict[Text, TextMatch] = Field(default_factory=dict, description="Annotations.")
    taints: list[Partial] | None = Field(None, description="Taints it has; [] for none at all.")
    size: TextMatch | None = Field(None, description="VM size.")
    zone: TextMatch | None = Field(None, description="Zone label.")
    capacity_type: Literal["on-demand", "spot"] | None = Field(None, description="Capacity type.")
    ready: Flag | None = Field(None, description="Whether it is Ready.")
    capacity: dict[Text, QuantityMatch] = Field(default_factory=dict, description="status.capacity by resource.")
    allocatable: dict[Text, QuantityMatch] = Field(default_factory=dict, description="status.allocatable by resource.")


def _names_shape(value: Any) -> str:
    if isinstance(value, list):
        return "names"
    if isinstance(value, dict) and not value.keys() <= {"atLeast", "atMost", "above", "below"}:
        return "table"
    return "count"


class Pods(Body):
    """Which pods run and which do not, with Karpenter's own sentence. Names are `name` or `namespace/name`."""

    bound: (
        Annotated[
            Annotated[CountMatch, Tag("count")]
            | Annotated[list[Text], Tag("names")]
            | Annotated[dict[Text, Text], Tag("table")],
            Discriminator(_names_shape),
        ]
        | None
    ) = Field(None, description="How many, which, or which on which NodePool ({web: default}).")
    pending: (
        Annotated[
            Annotated[CountMatch, Tag("count")]
            | Annotated[list[Text], Tag("names")]
            | Annotated[dict[Text, TextMatch], Tag("table")],
            Discriminator(_names_shape),
        ]
        | None
    ) = Field(None, description="How many, which, or which for which reason: Karpenter's sentence.")

    @model_validator(mode="after")
    def _given(self) -> Pods:
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
    requirements: dict[Text, RequirementMatch] = Field(default_factory=dict, description="Requirements of its spec.")
    absent: list[Text] = Field(default_factory=list, description="Keys that its spec has no requirement for.")
    conditions: dict[Text, TextMatch] = Field(
        default_factory=dict, description="Status of its conditions: {Launched: 'True'}."
    )
    pods: list[Text] | None = Field(None, description="Pods on its Node: these among others.")


class NodeClaims(Body):
    """The NodeClaims that exist in the end."""

    count: CountMatch | None = Field(None, description="How many there are.")
    created: CountMatch | None = Field(None, description="How many were ever created; tells a runaway.")
    nodepool: Text | None = Field(None, description="Count only those of this NodePool.")
    are: list[NodeClaimMatch] = Field(
        default_factory=list, description="NodeClaims that exist, each another one, in any order."
    )


class Events(Body):
    """Events that were recorded."""

    of: Reference | None = Field(None, description="The object they are about.")
    reason: TextMatch | None = Field(None, description="Reason.")
    type: Literal["Normal", "Warning"] | None = Field(None, description="Type.")
    message: TextMatch | None = Field(None, description="Message.")
    count: CountMatch | None = Field(None, description="How many different ones; at least one when absent.")


class Objects(Body):
    """Any objects of the cluster: one by name, or all of a kind."""

    of: Reference | None = Field(None, description="One object, as Kind/name.")
    kind: Text | None = Field(None, description="All objects of this kind.")
    labels: dict[Text, Text] = Field(default_factory=dict, description="Only those with these labels.")
    match: Partial | None = Field(None, description="What it looks like; of several, only those that do are counted.")
    count: CountMatch | None = Field(None, description="How many; with `of`, 0 says that it is gone.")

    @model_validator(mode="after")
    def _one(self) -> Objects:
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
    count: CountMatch | None = Field(None, description="How many such calls; at least one when absent.")


class UsageMatch(Model):
    """A quota as Azure reports it."""

    used: CountMatch | None = Field(None, description="vCPUs in use.")
    limit: CountMatch | None = Field(None, description="vCPUs allowed.")


class AzureExpectation(Body):
    """What Azure was asked and what it has left."""

    calls: list[CallMatch] = Field(
        default_factory=list, description="Calls it received; each entry is counted by itself."
    )
    usage: dict[Text, UsageMatch] = Field(default_factory=dict, description="Quotas by usage name.")
    vms: CountMatch | None = Field(None, description="Virtual machines that exist in the end.")


class Cost(Body):
    """What the Nodes that exist in the end cost."""

    per_hour: NumberMatch = Field(description="USD per hour.")


def _cell(value: Any) -> str:
    return "map" if isinstance(value, dict) else "value"


YesNo = Annotated[Literal["yes", "no"], WithJsonSchema({"enum": ["yes", "no", True, False]})]


def _yes_no(value: Any) -> Any:
    if isinstance(value, str) and value not in ("yes", "no"):
        raise PydanticCustomError("yes_no", "'yes', 'no' or a map is expected, not '{text}'", {"text": value})
    return value


class Runaway(Body):
    """A world that never comes to rest: Nodes are made again and again for pods that they do not help."""

    key: Text | None = Field(None, description="The label key at fault.")
    loops: CountMatch | None = Field(None, description="How many turns were seen before it was stopped.")


class Limits(Body):
    """Limits of Karpenter's concepts document that `given.cluster` breaks: exactly these."""

    violated: list[Text] = Field(default_factory=list, description="Broken, and still limits of this release.")
    outdated: list[Text] = Field(
        default_factory=list, description="Broken by the document's word, and no limits of this release any more."
    )


class PodCell(Model):
    """What happens to a pod that asks for a label."""

    outcome: Literal["bound", "no-known-values", "ignored", "endless", "stuck", "incompatible"] = Field(
        description="`bound`; `no-known-values` or `incompatible`: it stays pending for that; `ignored`: pod validation refuses it; "
        "`endless`: Nodes are made for it again and again; `stuck`: a Node is made, and kube-scheduler does not put it there."
    )
    message: TextMatch | None = Field(None, description="Karpenter's sentence.")


class PoolCell(Model):
    """What happens to a NodePool that sets a label."""

    settable: Annotated[YesNo, BeforeValidator(_yes_no)] = Field(description="Whether it is taken.")
    layer: Layer | None = Field(None, description="Who refuses it.")
    message: TextMatch | None = Field(None, description="With which message.")


class LabelRow(Model):
    """One label key: who may ask for it, who may set it, who writes it."""

    pod: (
        Annotated[
            Annotated[YesNo, BeforeValidator(_yes_no), Tag("value")] | Annotated[PodCell, Tag("map")],
            Discriminator(_cell),
        ]
        | None
    ) = Field(None, description="May a pod ask for it (exists) when the NodePool does not set it?")
    nodepool: (
        Annotated[
            Annotated[YesNo, BeforeValidator(_yes_no), Tag("value")] | Annotated[PoolCell, Tag("map")],
            Discriminator(_cell),
        ]
        | None
    ) = Field(None, description="May a NodePool set it as a label?")
    written: (
        Annotated[
            Annotated[YesNo, BeforeValidator(_yes_no), Tag("value")] | Annotated[NodeLabelMap, Tag("map")],
            Discriminator(_cell),
        ]
        | None
    ) = Field(None, description="Is it on a Node, when nobody asked for it; by whom, with which value?")
    value: Text | None = Field(None, description="The value to ask for and to set; a known or plain one when absent.")
    source: Text | None = Field(None, description="Where this row comes from, when it differs from the table's.")

    @model_validator(mode="after")
    def _given(self) -> LabelRow:
        if self.pod is None and self.nodepool is None and self.written is None:
            raise PydanticCustomError("no_condition", "at least one of pod, nodepool, written is expected")
        return self


class LabelTable(Body):
    """Label keys in a table: key → {pod, nodepool, written}. Each cell is found out by trying, on a world like the scenario's."""

    are: dict[Text, LabelRow] = Field(min_length=1, description="Row by label key.")


class ExpectationMap(Model):
    """One expectation: exactly one key."""

    requirements: RequirementsExpectation | None = Field(None, description="What is computed for a size.")
    rejected: Rejected | None = Field(None, description="An object that is refused.")
    accepted: Accepted | None = Field(None, description="An object that is taken.")
    node: NodeExpectation | None = Field(None, description="A Node, its labels and who wrote them.")
    pods: Pods | None = Field(None, description="Pods that run or wait.")
    nodeclaims: NodeClaims | None = Field(None, description="NodeClaims.")
    labels: LabelTable | None = Field(None, description="A table of label keys.")
    events: Events | None = Field(None, description="Events.")
    objects: Objects | None = Field(None, description="Any other object.")
    azure: AzureExpectation | None = Field(None, description="Calls to Azure and quotas.")
    cost: Cost | None = Field(None, description="What it costs.")
    runaway: Runaway | None = Field(None, description="A loop without end.")
    limits: Limits | None = Field(None, description="Documented limits that the cluster breaks.")

    @model_validator(mode="after")
    def _one(self) -> ExpectationMap:
        if len(self.model_fields_set) != 1:
            raise PydanticCustomError("one_key", "one expectation has exactly one key")
        return self

    @property
    def kind(self) -> str:
        """The key of this entry."""
        return next(iter(self.model_fields_set))

    @property
    def body(self) -> Expectation:
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
    | Objects
    | AzureExpectation
    | Cost
    | Runaway
    | Limits
)
