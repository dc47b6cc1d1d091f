"""Labels in `then`: a label of a Node with its writers, and the table of label keys."""

from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Discriminator, Field, Tag, WithJsonSchema, model_validator
from pydantic_core import PydanticCustomError

from harness.scenario.language.models.base import Body, Model, RejectionLayer, Text
from harness.scenario.language.models.matchers import TextConditions, TextMatch

__all__ = ["LabelRow", "LabelTable", "LabelWrite", "NodeLabel", "NodeLabelMap", "PodCell", "PoolCell"]

Writer = Literal["kubelet", "karpenter", "cloud-node-manager", "other"]


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
    def _given(self) -> Self:
        if not self.model_fields_set:
            raise PydanticCustomError(
                "no_condition", "at least one of value, by, from, writes, withheld, refused is expected"
            )
        return self


_CONDITIONS = frozenset(field.alias or name for name, field in TextConditions.model_fields.items())


def _label_shape(value: Any) -> str:
    if isinstance(value, dict):
        return "conditions" if value and value.keys() <= _CONDITIONS else "map"
    return "value"


NodeLabel = Annotated[
    Annotated[Text, Tag("value")] | Annotated[TextConditions, Tag("conditions")] | Annotated[NodeLabelMap, Tag("map")],
    Discriminator(_label_shape),
]


def _cell(value: Any) -> str:
    return "map" if isinstance(value, dict) else "value"


YesNo = Annotated[Literal["yes", "no"], WithJsonSchema({"enum": ["yes", "no", True, False]})]


def _yes_no(value: Any) -> Any:
    if isinstance(value, str) and value not in ("yes", "no"):
        raise PydanticCustomError("yes_no", "'yes', 'no' or a map is expected, not '{text}'", {"text": value})
    return value


class PodCell(Model):
    """The outcome of a pod that asks for a label."""

    outcome: Literal["bound", "no-known-values", "ignored", "runaway", "stuck", "incompatible"] = Field(
        description="`bound`; `no-known-values` or `incompatible`: it stays pending for that; `ignored`: pod validation refuses it; "
        "`runaway`: Nodes are made for it again and again; `stuck`: a Node is made, and kube-scheduler does not put it there."
    )
    message: TextMatch | None = Field(None, description="Karpenter's sentence.")


class PoolCell(Model):
    """The outcome of a NodePool that sets a label."""

    settable: Annotated[YesNo, BeforeValidator(_yes_no)] = Field(description="Whether it is taken.")
    layer: RejectionLayer | None = Field(None, description="Who refuses it.")
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
    def _given(self) -> Self:
        if self.pod is None and self.nodepool is None and self.written is None:
            raise PydanticCustomError("no_condition", "at least one of pod, nodepool, written is expected")
        return self


class LabelTable(Body):
    """Label keys in a table: key → {pod, nodepool, written}. Each cell is found out by trying, on a world like the scenario's."""

    are: dict[Text, LabelRow] = Field(min_length=1, description="Row by label key.")
