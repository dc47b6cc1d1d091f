"""Expected values: the value itself, or a map of conditions that must all hold."""

from collections.abc import Iterable, Iterator
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Tag, WithJsonSchema, model_validator
from pydantic_core import InitErrorDetails, PydanticCustomError, ValidationError

from harness.kube.api.quantity import Quantity, QuantityError
from harness.kube.go.patterns import PatternError, searcher
from harness.scenario.language.models.base import Duration, Integer, Model, Number, Text

__all__ = [
    "CONDITIONS",
    "CountConditions",
    "CountMatch",
    "DurationMatch",
    "Partial",
    "QuantityMatch",
    "RequirementConditions",
    "RequirementMatch",
    "TextConditions",
    "TextMatch",
]


CONDITIONS = frozenset(
    {"in", "not", "contains", "matches", "atLeast", "atMost", "above", "below", "count", "exactly", "inOrder", "absent"}
)
"""Keys of a map that stands for a value, where all of its keys are among them."""


def value_or_conditions(value: Any) -> str:
    return "conditions" if isinstance(value, dict) else "value"


def _at_least_one(model: Model) -> None:
    if not model.model_fields_set:
        raise PydanticCustomError("no_condition", "at least one condition is expected")


def _pattern(text: str) -> str:
    try:
        searcher(text)
    except PatternError as error:
        raise PydanticCustomError("pattern", "{error}", {"error": str(error)}) from None
    return text


Pattern = Annotated[Text, AfterValidator(_pattern)]


class TextConditions(Model):
    """Conditions on one text; all that are given must hold."""

    in_: list[Text] | None = Field(None, alias="in", min_length=1, description="One of these.")
    not_: list[Text] | None = Field(None, alias="not", min_length=1, description="None of these.")
    contains: Text | None = Field(None, description="This text is a part of it.")
    matches: Pattern | None = Field(None, description="This regular expression (RE2's, as Go's) is found in it.")
    at_least: Text | None = Field(None, description="A number or quantity, this or more.")
    at_most: Text | None = Field(None, description="A number or quantity, this or less.")
    above: Text | None = Field(None, description="A number or quantity, more than this.")
    below: Text | None = Field(None, description="A number or quantity, less than this.")

    @model_validator(mode="after")
    def _given(self) -> Self:
        _at_least_one(self)
        return self


class CountConditions(Model):
    """Conditions on a number of things."""

    at_least: Integer | None = Field(None, description="This many or more.")
    at_most: Integer | None = Field(None, description="This many or fewer.")
    above: Integer | None = Field(None, description="More than this many.")
    below: Integer | None = Field(None, description="Fewer than this many.")

    @model_validator(mode="after")
    def _given(self) -> Self:
        _at_least_one(self)
        return self


class NumberConditions(Model):
    """Conditions on a number."""

    at_least: Number | None = Field(None, description="This or more.")
    at_most: Number | None = Field(None, description="This or less.")
    above: Number | None = Field(None, description="More than this.")
    below: Number | None = Field(None, description="Less than this.")

    @model_validator(mode="after")
    def _given(self) -> Self:
        _at_least_one(self)
        return self


class DurationConditions(Model):
    """Conditions on a length of time; all that are given must hold."""

    at_least: Duration | None = Field(None, description="This long or longer.")
    at_most: Duration | None = Field(None, description="This long or shorter.")
    above: Duration | None = Field(None, description="Longer than this.")
    below: Duration | None = Field(None, description="Shorter than this.")

    @model_validator(mode="after")
    def _given(self) -> Self:
        _at_least_one(self)
        return self


class RequirementConditions(Model):
    """Conditions on one requirement. `in` and `notIn` name all of its values; `contains` names some."""

    in_: list[Text] | None = Field(
        None, alias="in", min_length=1, description="Operator In, with exactly these values."
    )
    not_in: list[Text] | None = Field(None, min_length=1, description="Operator NotIn, with exactly these values.")
    contains: list[Text] | None = Field(None, min_length=1, description="These values are allowed by it.")
    excludes: list[Text] | None = Field(None, min_length=1, description="These values are not allowed by it.")
    operator: Literal["In", "NotIn", "Exists", "DoesNotExist"] | None = Field(
        None, description="The operator that Karpenter keeps, where its values do not matter."
    )
    gte: Integer | None = Field(None, description="The lower bound (a Gt 4 is kept as 5).")
    lte: Integer | None = Field(None, description="The upper bound (an Lt 4 is kept as 3).")
    min_values: Integer | None = Field(None, description="The minValues of it.")

    @model_validator(mode="after")
    def _given(self) -> Self:
        _at_least_one(self)
        return self


def _quantity(value: Any) -> str:
    if not isinstance(value, str):
        raise PydanticCustomError("text_type", "a quantity such as 4, 500m or 8Gi is expected")
    try:
        quantity = Quantity.parse(value)
    except QuantityError:
        message = "'{text}' is not a quantity; a number such as 4, 500m or 8Gi is expected"
        raise PydanticCustomError("quantity", message, {"text": value}) from None
    if quantity.negative:
        raise PydanticCustomError("quantity", "the quantity {text} is negative", {"text": value})
    return value


QuantityText = Annotated[str, BeforeValidator(_quantity), WithJsonSchema({"type": ["string", "number"]})]


class QuantityConditions(Model):
    """Conditions on a quantity; all that are given must hold."""

    at_least: QuantityText | None = Field(None, description="This or more.")
    at_most: QuantityText | None = Field(None, description="This or less.")
    above: QuantityText | None = Field(None, description="More than this.")
    below: QuantityText | None = Field(None, description="Less than this.")

    @model_validator(mode="after")
    def _given(self) -> Self:
        _at_least_one(self)
        return self


TextMatch = Annotated[
    Annotated[Text, Tag("value")] | Annotated[TextConditions, Tag("conditions")], Discriminator(value_or_conditions)
]
CountMatch = Annotated[
    Annotated[Integer, Tag("value")] | Annotated[CountConditions, Tag("conditions")], Discriminator(value_or_conditions)
]
NumberMatch = Annotated[
    Annotated[Number, Tag("value")] | Annotated[NumberConditions, Tag("conditions")], Discriminator(value_or_conditions)
]
DurationMatch = Annotated[
    Annotated[Duration, Tag("value")] | Annotated[DurationConditions, Tag("conditions")],
    Discriminator(value_or_conditions),
]
RequirementMatch = Annotated[
    Annotated[Text, Tag("value")] | Annotated[RequirementConditions, Tag("conditions")],
    Discriminator(value_or_conditions),
]
QuantityMatch = Annotated[
    Annotated[QuantityText, Tag("value")] | Annotated[QuantityConditions, Tag("conditions")],
    Discriminator(value_or_conditions),
]


def _partial(value: dict[str, Any]) -> dict[str, Any]:
    """Refuse a pattern that RE2 does not know anywhere in it, at its place."""
    wrong = [
        InitErrorDetails(type=PydanticCustomError("pattern", "{error}", {"error": str(error)}), loc=path, input=text)
        for path, text, error in _wrong_patterns(value, ())
    ]
    if wrong:
        raise ValidationError.from_exception_data("Partial", wrong)
    return value


def _wrong_patterns(
    value: Any, path: tuple[str | int, ...]
) -> Iterator[tuple[tuple[str | int, ...], str, PatternError]]:
    parts: Iterable[tuple[str | int, Any]] = ()
    if isinstance(value, dict):
        parts = value.items()
        if value.keys() <= CONDITIONS and isinstance(text := value.get("matches"), str):
            try:
                searcher(text)
            except PatternError as error:
                yield (*path, "matches"), text, error
    elif isinstance(value, list):
        parts = enumerate(value)
    for key, part in parts:
        yield from _wrong_patterns(part, (*path, key))


Partial = Annotated[
    dict[str, Any],
    AfterValidator(_partial),
    WithJsonSchema(
        {
            "type": "object",
            "description": "Part of an object. Maps may hold more than is written; list items are found in any order; a map of "
            "conditions (in, not, contains, matches, atLeast, atMost, above, below, count, exactly, absent) stands for a value.",
        }
    ),
]
