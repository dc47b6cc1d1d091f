"""Moments of a run: the creation of an object, the binding of a pod, a call of Azure, a step."""

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from harness.engine.clock import EPOCH, SECOND
from harness.scenario.expectations.azure import CallMatch, call_differences
from harness.scenario.expectations.matching import as_written, show
from harness.scenario.language.models.base import Duration, Integer, Model, Reference, split_reference
from harness.wording import duration_text
from lazyrecords import dataclass

if TYPE_CHECKING:
    from harness.scenario.running.run import Run

__all__ = ["START", "Moment", "Reached", "first", "moment_text", "named_moments"]


class Moment(Model):
    """Something that happens: exactly one key. The first time counts."""

    created: Reference | None = Field(
        None, description="The API server takes a new object; `*` stands for any text: NodeClaim/default-*."
    )
    bound: Reference | None = Field(None, description="A pod gets its Node: Pod/name; `*` stands for any text.")
    call: CallMatch | None = Field(None, description="Azure answers such a call (`count` does not matter).")
    step: Integer | None = Field(None, description="The step of this number in `when`, from 1, has been taken.")
    at: Duration | None = Field(None, description="So long after the start of the world.")

    @model_validator(mode="after")
    def _one(self) -> Self:
        if len(self.model_fields_set) != 1:
            raise PydanticCustomError("one_of", "exactly one of created, bound, call, step, at is expected")
        return self


@dataclass(frozen=True, slots=True)
class Reached:
    """The time of an event: in seconds since the start of the world, and its number in the journal that has it."""

    seconds: float
    journal: str
    number: int


START = Reached(0.0, "", 0)
"""The start of the world."""


def first(moment: Moment, run: "Run", start: Reached | None = None) -> Reached | None:
    """Return the first such moment, from `start` on; None when there is none."""
    reached = _reached(moment, run)
    return next(
        (moment_reached for moment_reached in reached if start is None or _follows(moment_reached, start)), None
    )


def _reached(moment: Moment, run: "Run") -> Iterator[Reached]:
    """Yield all events that a moment describes, oldest first."""
    if moment.at is not None:
        yield Reached(moment.at, "at", round(moment.at * SECOND))
        return
    if moment.step is not None:
        if 0 < moment.step <= len(run.taken):
            yield Reached(run.taken[moment.step - 1], "step", moment.step)
        return
    if moment.call is not None:
        began = EPOCH.timestamp()
        for call in run.world.calls():
            if not call_differences(moment.call, call):
                yield Reached(call.time - began, "azure", call.number)
        return
    happened = _created if moment.created is not None else _bound
    reference = moment.created or moment.bound or ""
    for number, write in enumerate(run.world.journal):
        if write.error is None and _is(write.key, reference) and happened(write):
            yield Reached(write.at / SECOND, "cluster", number)


def _created(write: Any) -> bool:
    return bool(write.verb == "create" and not write.subresource)


def _bound(write: Any) -> bool:
    return bool(_node_of(write.after) and not _node_of(write.before))


def _follows(event: Reached, start: Reached) -> bool:
    if event.journal == start.journal:
        return event.number > start.number
    return event.seconds >= start.seconds


def _is(key: Any, reference: str) -> bool:
    kind, namespace, name = split_reference(reference)
    return key.kind == kind and fnmatchcase(key.name, name) and key.namespace in ("", namespace or "default")


def _node_of(pod: Any) -> str:
    return str(((pod or {}).get("spec") or {}).get("nodeName") or "")


def named_moments(moments: Mapping[str, Moment | None]) -> Iterator[tuple[str, Moment]]:
    """Yield the moments that are given, with their keys."""
    return ((key, moment) for key, moment in moments.items() if moment is not None)


def moment_text(moment: Moment) -> str:
    """Return a moment as the file writes it."""
    return show({key: _word(key, value) for key, value in as_written(moment).items()})


def _word(key: str, value: Any) -> Any:
    if key == "at":
        return duration_text(value)
    return as_written(value) if key == "call" else value
