"""Labels of Nodes, compared with their value, their writers and all their writes."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import Discriminator, Field, Tag, model_validator
from pydantic_core import PydanticCustomError

from harness.reading.problems import did_you_mean
from harness.scenario.expectations.matching import ABSENT, Difference, as_written, differences
from harness.scenario.language.models.base import Model, Text
from harness.scenario.language.models.matchers import TextConditions, TextMatch

if TYPE_CHECKING:
    pass
__all__ = ["LabelWrite", "NodeLabel", "NodeLabelMap", "label_differences", "render_writes"]

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

_CHANGING = ("set", "overwrote", "removed")


def label_differences(
    wanted: str | TextConditions | NodeLabelMap, key: str, labels: Mapping[str, str], writes: Sequence[Any]
) -> list[Difference]:
    """Return the differences of a label and its history from the expected ones."""
    actual = labels.get(key, ABSENT)
    note = did_you_mean(key, labels, limit=0) if actual is ABSENT else ""
    if not isinstance(wanted, NodeLabelMap):
        return [
            Difference(difference.path, difference.expected, difference.actual, note)
            for difference in differences(wanted, actual)
        ]
    wrong: list[Difference] = []
    if wanted.value is not None:
        wrong += [
            Difference("value", difference.expected, difference.actual, note)
            for difference in differences(wanted.value, actual)
        ]
    if wanted.by is not None or wanted.from_ is not None:
        wrong += _writer(wanted, actual, writes)
    for kind in ("withheld", "refused"):
        who = getattr(wanted, kind)
        if who is not None and not any(str(write.kind) == kind and write.by == who for write in writes):
            wrong.append(Difference(kind, f"a write that {who} {_PASSIVE[kind]}", render_writes(writes)))
    if wanted.writes is not None:
        wrong += _sequence(wanted.writes, writes)
    return wrong


_PASSIVE = {"withheld": "withheld", "refused": "was refused"}


def _writer(wanted: NodeLabelMap, actual: Any, writes: Sequence[Any]) -> list[Difference]:
    changes = [write for write in writes if str(write.kind) in _CHANGING]
    last = changes[-1] if changes and actual is not ABSENT else None
    wrong: list[Difference] = []
    history = render_writes(writes)
    if wanted.by is not None and (last is None or last.by != wanted.by):
        wrong.append(Difference("by", wanted.by, last.by if last else "nobody", history))
    if wanted.from_ is not None and (last is None or last.from_ != wanted.from_):
        wrong.append(Difference("from", wanted.from_, str(last.from_) if last else "nowhere", history))
    return wrong


def _sequence(wanted: Sequence[LabelWrite], writes: Sequence[Any]) -> list[Difference]:
    kinds = {*_CHANGING, *(write_wanted.kind for write_wanted in wanted if write_wanted.kind is not None)}
    compared = [write for write in writes if str(write.kind) in kinds]
    history = render_writes(writes)
    if len(compared) != len(wanted):
        return [Difference("writes", f"{len(wanted)} writes", history)]
    wrong: list[Difference] = []
    for index, (wanted_write, write) in enumerate(zip(wanted, compared, strict=True)):
        actual = {"by": write.by, "from": write.from_, "value": write.value, "kind": str(write.kind)}
        expected = as_written(wanted_write)
        wrong += [
            Difference(difference.path, difference.expected, difference.actual, history)
            for difference in differences(expected, actual, f"writes[{index}]")
        ]
    return wrong


def render_writes(writes: Sequence[Any]) -> str:
    """The history of a label in one line: `kubelet (base) set regular, karpenter (vm) overwrote spot`."""
    parts = []
    for write in writes:
        source = f" ({write.from_})" if write.from_ else ""
        parts.append(f"{write.by}{source} {write.kind} {'' if write.value is None else write.value}".rstrip())
    return "written: " + (", ".join(parts) if parts else "by nobody")
