"""The base of all models of the file format: strict, closed, frozen; scalars arrive as text and are read here.

Numbers, durations and flags are read by validators, so that a mistake is reported at its place with the rest of them. The annotations of
models are no texts (`from __future__ import annotations`): pydantic would compile each of them again at every start.
"""

import math
import re
from collections.abc import Iterator
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, GetJsonSchemaHandler, WithJsonSchema
from pydantic.alias_generators import to_camel
from pydantic_core import CoreSchema, PydanticCustomError
from pydantic_core.core_schema import (
    definition_reference_schema,
    definitions_schema,
    no_info_plain_validator_function,
)

__all__ = [
    "WORKLOADS",
    "Body",
    "Duration",
    "Flag",
    "Integer",
    "Later",
    "LaterModel",
    "MaybeNever",
    "Model",
    "Number",
    "Reference",
    "RejectionLayer",
    "Text",
    "Usd",
    "no_entries",
    "no_items",
    "parse_duration",
    "split_reference",
]


class Model(BaseModel):
    """A map with known keys, in camelCase."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, alias_generator=to_camel, defer_build=True, regex_engine="python-re"
    )


_HOMES = {
    "agent_pools": ("AgentPool", "AgentPoolStep", "AutoScalerProfile"),
    "azure": ("Azure", "Market"),
    "cluster": ("Cluster",),
    "header": ("Case", "ExpectedFailure"),
    "loads": ("LoadPoint",),
    "patch": ("Patch",),
    "steps": ("ConditionStep", "MachineStep", "Rollout", "Scale"),
    "timing": ("GivenTiming", "Simulation", "Timing"),
}
"""Models that are made at their first use, by their module of this package."""


class LaterModel:
    """A model by its name: imported, with all that it is made of, when a file first has such a map, and its validator made then.

    The name is one of `_HOMES`, or that of a model in a module of `harness.scenario.expectations`: ``pods.Pods``.
    """

    def __init__(self, name: str) -> None:
        self._module, _, self._name = name.rpartition(".")

    @property
    def home(self) -> str:
        """Return the name of the model's module."""
        if self._module:
            return f"harness.scenario.expectations.{self._module}"
        home = next(home for home, names in _HOMES.items() if self._name in names)
        return f"harness.scenario.language.models.{home}"

    @cached_property
    def model(self) -> type[BaseModel]:
        """The model itself."""
        model: type[BaseModel] = getattr(import_module(self.home), self._name)
        return model

    def __get_pydantic_core_schema__(self, source: object, handler: object) -> CoreSchema:
        return no_info_plain_validator_function(self._validate)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        self.model.model_rebuild()
        return handler(_named(self.model))

    def _validate(self, value: Any) -> BaseModel:
        return self.model.model_validate(value)


def _named(model: type[BaseModel]) -> CoreSchema:
    """A model's schema as a definition and a reference to it; pydantic leaves the name out of one that refers to itself nowhere."""
    schema, name = model.__pydantic_core_schema__, f"{model.__module__}.{model.__qualname__}:{id(model)}"
    others: list[CoreSchema] = []
    if schema["type"] == "definitions":
        schema, others = schema["schema"], schema["definitions"]
    named: Any = {**schema, "ref": name}
    return definitions_schema(definition_reference_schema(name), [*others, named])


if TYPE_CHECKING:
    M = TypeVar("M", bound=BaseModel)
    Later = Annotated[M, "later"]
else:

    class Later:
        """A map that few files have: `Later["Market"]`, by the name of a model in `_HOMES`.

        The model is made when a file first has such a map: the models of all such maps take a fifth of every start.
        """

        def __class_getitem__(cls, name: str) -> Any:
            return Annotated[Any, LaterModel(name)]


def no_items() -> list[Any]:
    """An empty list, as `list()` is; for that pydantic would read the signature out of a text, 0.1 ms for each field."""
    return []


def no_entries() -> dict[Any, Any]:
    """An empty map, as `dict()` is; see `no_items`."""
    return {}


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    raise PydanticCustomError("text_type", "a text is expected, not {found}", {"found": _found(value)})


def _found(value: Any) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, (dict, list)):
        return "a map" if isinstance(value, dict) else "a list"
    return type(value).__name__


def read_integer(value: Any) -> int:
    text = _text(value)
    if re.fullmatch(r"\d{1,18}", text):
        return int(text)
    raise PydanticCustomError("integer", "a whole number from 0 is expected, not '{text}'", {"text": text})


def _number(value: Any) -> float:
    text = _text(value)
    if re.fullmatch(r"\d+(\.\d+)?", text):
        return float(text)
    raise PydanticCustomError("number", "a number from 0 is expected, not '{text}'", {"text": text})


def _flag(value: Any) -> bool:
    text = _text(value)
    if text in ("true", "false"):
        return bool(text == "true")
    raise PydanticCustomError("flag", "'true' or 'false' is expected, not '{text}'", {"text": text})


_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_LONGEST = 2**63 / 1e9  # the longest time.Duration of Go, 292 years
_PART = r"(\d+(?:\.\d+)?)(ms|s|m|h|d)"


def parse_duration(text: str) -> float:
    """Seconds of `10m`, `1h30m`, `500ms`, `2d`; ValueError for anything else."""
    if not re.fullmatch(f"(?:{_PART})+", text):
        raise ValueError(text)
    seconds = sum(float(number) * _UNITS[unit] for number, unit in re.findall(_PART, text))
    if seconds > _LONGEST:
        raise ValueError(text)
    return seconds


def _duration(value: Any) -> float:
    text = _text(value)
    try:
        return parse_duration(text)
    except ValueError:
        message = "a duration such as 30s, 10m or 1h30m is expected, not '{text}'"
        raise PydanticCustomError("duration", message, {"text": text}) from None


WORKLOADS = ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController", "Job")
"""Kinds that can stand for their pods, since the names of most pods are drawn."""


def split_reference(text: str) -> tuple[str, str, str]:
    """Kind, namespace and name of `Kind/name` or `Kind/namespace/name`; namespace is empty in the first form."""
    kind, _, rest = text.partition("/")
    namespace, slash, name = rest.rpartition("/")
    return (kind, namespace, name) if slash else (kind, "", rest)


def _reference(value: Any) -> str:
    text: str = _text(value)
    if re.fullmatch(r"[A-Z][A-Za-z]*(/[^/\s]+){1,2}", text):
        return text
    message = "an object is named as Kind/name, or Kind/namespace/name, not '{text}'"
    raise PydanticCustomError("reference", message, {"text": text})


_SCALAR = {"type": ["string", "number", "boolean"]}

Text = Annotated[str, BeforeValidator(_text), WithJsonSchema(_SCALAR)]
Integer = Annotated[int, BeforeValidator(read_integer), WithJsonSchema({"type": "integer", "minimum": 0})]
Number = Annotated[float, BeforeValidator(_number), WithJsonSchema({"type": "number", "minimum": 0})]
Usd = Annotated[
    float | None,
    BeforeValidator(lambda value: None if value == "none" else _number(value)),
    WithJsonSchema({"anyOf": [{"type": "number", "minimum": 0}, {"const": "none"}]}),
]
"""USD per hour, or ``none`` for no price at all (None)."""
Flag = Annotated[bool, BeforeValidator(_flag), WithJsonSchema({"type": "boolean"})]
Duration = Annotated[
    float, BeforeValidator(_duration), WithJsonSchema({"type": "string", "pattern": f"^({_PART.replace('?:', '')})+$"})
]
MaybeNever = Annotated[
    float,
    BeforeValidator(lambda value: math.inf if value == "never" else _duration(value)),
    WithJsonSchema({"anyOf": [{"type": "string", "pattern": f"^({_PART.replace('?:', '')})+$"}, {"const": "never"}]}),
]
"""A duration, or ``never`` (infinity)."""
Reference = Annotated[
    str, BeforeValidator(_reference), WithJsonSchema({"type": "string", "pattern": "^[A-Z][A-Za-z]*(/[^/ ]+){1,2}$"})
]

RejectionLayer = Literal[
    "api-server", "crd-schema", "crd-cel", "nodepool-runtime", "nodepool-filter", "pod", "nodeclaim-cel", "launch"
]


class Body(Model):
    """The keys that every expectation may have beside its own fields, and what a file is checked for before it runs."""

    source: Text | None = Field(
        None, description="Where the expected values come from: a document, a recording, an upstream file."
    )
    only: dict[Text, list[Text]] | None = Field(
        None,
        description="The cases it is for, by axis of the matrix (or `case`): {karpenter: [1.13.0, 1.14.0]}. All when absent.",
    )

    @property
    def is_empty(self) -> bool:
        """Return whether none of its own fields is given, so that nothing is expected."""
        own = {name: field for name, field in type(self).model_fields.items() if name not in Body.model_fields}
        return all(getattr(self, name) == field.get_default(call_default_factory=True) for name, field in own.items())

    @property
    def looks_at(self) -> str:
        """Return the key of the expectation inside this one, which is about more than one moment; empty for all others."""
        return ""

    def moments(self) -> Iterator[tuple[str, Any]]:
        """Yield the keys under which moments stand, and the moments."""
        yield from ()

    def refused(self) -> Iterator[str]:
        """Yield the references of objects that are expected to be refused."""
        yield from ()

    def sizes(self) -> Iterator[str]:
        """Yield the VM sizes that stand in `of`."""
        yield from ()

    def workloads(self) -> Iterator[tuple[tuple[str | int, ...], str]]:
        """Yield the workloads that stand for their pods, with the places of their names. Only kinds begin with a capital."""
        yield from ()
