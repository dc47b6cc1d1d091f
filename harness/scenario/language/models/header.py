"""The header of a scenario: its name, its inputs, what happens and what must hold."""

from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Tag, WithJsonSchema, model_validator
from pydantic_core import PydanticCustomError

from harness.scenario.language.models.base import (
    Integer,
    Later,
    Model,
    Text,
    no_entries,
    no_items,
)
from harness.scenario.language.models.expectations import ExpectationMap
from harness.scenario.language.models.given import Given
from harness.scenario.language.models.steps import Step, Texts

__all__ = ["Axes", "Case", "CaseName", "ExpectedFailure", "Header", "Seeds"]


def _tag(value: Any) -> Any:
    if isinstance(value, str) and not value.replace("_", "").isalnum():
        message = "a tag is one word of letters, digits and _, not '{text}'"
        raise PydanticCustomError("tag", message, {"text": value})
    return value


Word = Annotated[Text, BeforeValidator(_tag), WithJsonSchema({"type": "string", "pattern": "^[A-Za-z0-9_]+$"})]


class ExpectedFailure(Model):
    """A scenario that is known to fail; it fails when it passes."""

    reason: Text = Field(description="Why it fails today.")
    issue: Text | None = Field(None, description="Where that is tracked.")


class CaseName(Model):
    """A case's own name and reasons, before any value is filled in."""

    case: Text = Field(description="Its name, part of the test's id.")
    values: dict[Text, Text] = Field(
        default_factory=no_entries, description="Values for $(NAME) in the manifests and in `then`."
    )
    skip: Text | None = Field(None, description="Why this case is not run.")
    xfail: Later["ExpectedFailure"] | None = Field(None, description="This case is known to fail.")


class Case(CaseName):
    """One variant of the scenario. Its maps are laid over the scenario's; its lists are added to them."""

    given: Given | None = Field(None, description="Laid over the scenario's `given`.")
    when: list[Step] = Field(default_factory=no_items, description="Steps after the scenario's.")
    then: list[ExpectationMap] = Field(default_factory=no_items, description="Expectations beside the scenario's.")


class Axes(Model):
    """`matrix` and `cases`, which decide what the rest of a header looks like."""

    matrix: dict[Text, Annotated[list[Text], Field(min_length=1)]] = Field(default_factory=no_entries)
    cases: list[CaseName] = Field(default_factory=no_items)


def _most(value: int) -> int:
    if 1 <= value <= _MOST_SEEDS:
        return value
    raise PydanticCustomError(
        "seeds", "a number of seeds from 1 to {most} is expected, not {value}", {"most": _MOST_SEEDS, "value": value}
    )


_MOST_SEEDS = 1000
Count = Annotated[
    Integer, AfterValidator(_most), WithJsonSchema({"type": "integer", "minimum": 1, "maximum": _MOST_SEEDS})
]


class Seeds(Model):
    """Several runs of every case, each under another seed, from `given.seed` on: for what upstream leaves to chance."""

    count: Count = Field(description="How many seeds.")
    hold: Literal["all", "some"] = Field(
        "all", description="Under how many of them everything expected must hold: `all`, or `some`."
    )


class Header(Model):
    """A scenario. The Kubernetes manifests that follow it, as YAML documents of their own, belong to it."""

    scenario: Text = Field(description="Its name, in plain words; the test's id. Unique in the file.")
    description: Text | None = Field(None, description="What it shows and why it matters, for a reader.")
    source: Text | None = Field(None, description="Where the expected values come from.")
    tags: list[Word] = Field(default_factory=no_items, description="Words to select by: `pytest -m spot`.")
    issue: Texts | None = Field(
        None, description="Issues it reproduces, for example Azure/karpenter-provider-azure#1707."
    )
    matrix: dict[Text, list[Text]] = Field(
        default_factory=no_entries,
        description="Axis → values; one case for each combination. An axis is a key of `given`, or a name used as $(NAME).",
    )
    cases: list[Later["Case"]] = Field(
        default_factory=no_items, description="Named variants, combined with the matrix."
    )
    given: Given = Field(
        default_factory=lambda: Given.model_validate({}), description="Releases, region, options, the state of Azure."
    )
    when: list[Step] = Field(
        default_factory=no_items,
        description="What happens, after the manifests are applied. Without it, the world settles and that is all.",
    )
    then: list[ExpectationMap] = Field(default_factory=no_items, description="What must hold.")
    seeds: (
        Annotated[
            Annotated[Count, Tag("count")] | Annotated[Seeds, Tag("seeds")],
            Discriminator(lambda value: "count" if isinstance(value, str | int) else "seeds"),
        ]
        | None
    ) = Field(
        None,
        description="Under how many seeds it must hold: `20`, or `{count: 20, hold: some}` for what may be but need not. One when absent.",
    )
    needs: list[Literal["virtual-time", "simulated-kubelets", "memory"]] = Field(
        default_factory=no_items,
        description="What a cluster must offer for it to make sense; elsewhere it is skipped. kind has no `simulated-kubelets`.",
    )
    skip: Text | None = Field(None, description="Why it is not run.")
    xfail: Later["ExpectedFailure"] | None = Field(None, description="It is known to fail.")

    @model_validator(mode="after")
    def _expects(self) -> Self:
        if not self.then and not any(case.then for case in self.cases):
            raise PydanticCustomError("no_expectation", "nothing is expected: 'then' is missing or empty")
        return self


class SweepHeader(Header):
    """The header of a sweep's plan: its result is a table, so nothing has to be expected."""

    @model_validator(mode="after")
    def _expects(self) -> Self:
        return self
