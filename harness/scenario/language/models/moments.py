"""Expectations about virtual time: how much lies between two moments, and what holds at some, every or no moment in between."""

from typing import Self

from pydantic import Field, model_validator
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from harness.scenario.language.models.base import Body, Duration, Integer, Model, Reference
from harness.scenario.language.models.looks import Looks
from harness.scenario.language.models.matchers import DurationMatch
from harness.scenario.language.models.observed import CallMatch

__all__ = ["Always", "Elapsed", "Eventually", "Moment", "Never", "OverTime"]


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


class Elapsed(Body):
    """The virtual time between two moments. Skipped on clusters of real time."""

    from_: Moment | None = Field(None, alias="from", description="Where it begins; the start of the world when absent.")
    to: Moment = Field(description="Where it ends: the first such moment from there on.")
    takes: DurationMatch = Field(description="How long: 1s, or {atLeast: 500ms, below: 2s}.")


class OverTime(Looks, Body):
    """An expectation that is looked at again at every moment at which something has happened.

    Beside `from`, `until` and `within` it has exactly one key, as an entry of `then` has.
    """

    from_: Moment | None = Field(
        None,
        alias="from",
        description="The first moment that counts; the start of the world when absent. Of decisions, events, log lines and "
        "calls, those before it are not counted.",
    )
    until: Moment | None = Field(
        None,
        description="The moment before which it must hold: the first such one from `from` on; the end when absent.",
    )
    within: Duration | None = Field(None, description="How long after `from` the last moment that counts is.")

    @model_validator(mode="after")
    def _looks_at_one(self) -> Self:
        if len(self.model_fields_set & Looks.model_fields.keys()) != 1:
            keys = ", ".join(to_camel(key) for key in Looks.model_fields)
            raise PydanticCustomError("one_of", "exactly one of {keys} is expected", {"keys": keys})
        if self.until is not None and self.within is not None:
            raise PydanticCustomError("one_end", "one of until, within is expected, not both")
        if self.within is not None and self.within <= 0:
            raise PydanticCustomError("no_time", "'within' is longer than 0s")
        if self.until is not None and self.until.at is not None:
            start = 0.0 if self.from_ is None else self.from_.at
            if start is not None and self.until.at <= start:
                raise PydanticCustomError("no_time", "'until' comes after 'from'")
        body: Body = getattr(self, self.looks_at)
        if body.only is not None:
            raise PydanticCustomError(
                "inner_only", "'only' stands beside {key}, not in it", {"key": to_camel(self.looks_at)}
            )
        return self

    @property
    def looks_at(self) -> str:
        """The key of what is looked at."""
        return next(iter(self.model_fields_set & Looks.model_fields.keys()))


class Eventually(OverTime):
    """Something that holds at some moment; it may be over again in the end."""


class Always(OverTime):
    """Something that holds at every moment."""


class Never(OverTime):
    """Something that holds at no moment."""
