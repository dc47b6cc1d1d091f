"""`then`: what must hold. Every entry has one key, which says what is looked at; every row of a table is a verdict of its own."""

from typing import TYPE_CHECKING, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from harness.scenario.language.models.base import Later
from harness.scenario.language.models.looks import Looks

if TYPE_CHECKING:
    from harness.scenario.language.models.labels import LabelTable
    from harness.scenario.language.models.looks import Look
    from harness.scenario.language.models.moments import Always, Elapsed, Eventually, Never, OverTime
    from harness.scenario.language.models.outcomes import Accepted, Limits, Rejected, Runaway
    from harness.scenario.language.models.requirements import RequirementsExpectation

__all__ = ["ExpectationMap"]


class ExpectationMap(Looks):
    """One expectation: exactly one key."""

    requirements: Later["RequirementsExpectation"] | None = Field(None, description="What is computed for a size.")
    rejected: Later["Rejected"] | None = Field(None, description="An object that is refused.")
    accepted: Later["Accepted"] | None = Field(None, description="An object that is taken.")
    labels: Later["LabelTable"] | None = Field(None, description="A table of label keys.")
    eventually: Later["Eventually"] | None = Field(None, description="What holds at some moment.")
    always: Later["Always"] | None = Field(None, description="What holds at every moment.")
    never: Later["Never"] | None = Field(None, description="What holds at no moment.")
    elapsed: Later["Elapsed"] | None = Field(None, description="Virtual time between two moments.")
    runaway: Later["Runaway"] | None = Field(None, description="The same loop again and again, without end.")
    limits: Later["Limits"] | None = Field(None, description="Documented limits that the cluster breaks.")

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
    def over_time(self) -> "OverTime | None":
        """Return the expectation that holds at some, every or no moment, where the entry is one."""
        return self.eventually or self.always or self.never

    @property
    def body(self) -> "Expectation":
        """The expectation under that key."""
        body: Expectation = getattr(self, self.kind)
        return body


if TYPE_CHECKING:
    Expectation = (
        Look | RequirementsExpectation | Rejected | Accepted | LabelTable | OverTime | Elapsed | Runaway | Limits
    )
