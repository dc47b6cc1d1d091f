"""Validation of a document as a model, with pydantic's errors as lines that a person can act on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar, get_args, get_origin

from pydantic import BaseModel, ValidationError

from harness.reading.problems import Mark, Problem, did_you_mean, dotted
from harness.scenario.language.models.base import LaterModel
from harness.scenario.language.models.header import Case, CaseName

__all__ = ["validated"]

M = TypeVar("M", bound=BaseModel)
Locate = Callable[[tuple[str | int, ...]], Mark]
Holds = Callable[[tuple[str | int, ...]], bool]

# names of alternatives, which pydantic puts into the place of an error and which are not in the file
_TAGS = frozenset({"value", "conditions", "map", "count", "names", "table"})


def validated(model: type[M], value: Any, locate: Locate, holds: Holds) -> tuple[M | None, list[Problem]]:
    """The model of a value, or None and every problem. `locate` returns the place of a field, `holds` whether the file has it."""
    try:
        return model.model_validate(value), []
    except ValidationError as error:
        problems = []
        for detail in error.errors(include_url=False):
            path = _without_tags(detail["loc"], holds)
            message, hint = _explained(model, detail, path)
            if message == "":
                continue
            problems.append(Problem(locate(path), dotted(path), message, hint))
        return None, problems


def _without_tags(loc: tuple[str | int, ...], holds: Holds) -> tuple[str | int, ...]:
    path: tuple[str | int, ...] = ()
    for index, part in enumerate(loc):
        last = index == len(loc) - 1
        if part in _TAGS and not holds((*path, part)) and (not last or _is_alternative(loc, index)):
            continue
        path = (*path, part)
    return path


def _is_alternative(loc: tuple[str | int, ...], index: int) -> bool:
    return index > 0 and loc[index] in ("value", "conditions", "map", "names", "table", "count")


def _explained(model: type[BaseModel], detail: Any, path: tuple[str | int, ...]) -> tuple[str, str]:
    kind, actual = detail["type"], detail["input"]
    if kind == "extra_forbidden":
        return f"unknown key '{path[-1]}'", did_you_mean(str(path[-1]), _keys_at(model, detail["loc"][:-1]))
    if kind == "missing":
        return f"'{path[-1]}' is missing", ""
    if kind == "literal_error":
        expected = [word.strip("'") for word in detail["ctx"]["expected"].replace(" or ", ", ").split(", ")]
        if not isinstance(actual, str):
            return "a text is expected", f"one of {', '.join(expected)}"
        return f"unknown value '{actual}'", did_you_mean(actual, expected) or f"one of {', '.join(expected)}"
    if kind in ("model_type", "dict_type", "model_attributes_type"):
        return f"a map is expected, not {_shape(actual)}", ""
    if kind == "list_type":
        return f"a list is expected, not {_shape(actual)}", ""
    if kind == "too_short":
        return "must not be empty", ""
    if kind == "invalid_key":
        return "keys must be texts", ""
    return str(detail["msg"]), ""


def _shape(value: Any) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, (dict, list)):
        return "a map" if isinstance(value, dict) else "a list"
    return f"'{value}'"


def _keys_at(model: type[BaseModel], loc: Sequence[str | int]) -> list[str]:
    """The keys that are known at the place `loc` of a model."""
    here: list[Any] = [model]
    for part in loc:
        here = [deeper for annotation in here for deeper in _deeper(annotation, part)]
    names: list[str] = []
    for annotation in here:
        for candidate in _models(annotation):
            whole = Case if candidate is CaseName else candidate  # a case's other keys are judged later
            names += [field.alias or name for name, field in whole.model_fields.items()]
    return names


def _deeper(annotation: Any, part: str | int) -> list[Any]:
    annotations: list[Any] = []
    for candidate in _models(annotation):
        fields = {field.alias or name: field.annotation for name, field in candidate.model_fields.items()}
        if part in fields:
            annotations.append(fields[str(part)])
    for container in _containers(annotation):
        arguments = get_args(container)
        annotations.append(arguments[-1])
    if part in _TAGS:
        annotations.append(annotation)  # the name of an alternative: still the same place
    return annotations


def _flat(annotation: Any) -> list[Any]:
    """The alternatives of an annotation, without Annotated and unions around them."""
    origin = get_origin(annotation)
    if origin in (list, dict, None) and not hasattr(annotation, "__metadata__"):
        return [annotation]
    if origin in (list, dict):
        return [annotation]
    arguments = get_args(annotation)
    if hasattr(annotation, "__metadata__"):
        later = [marker.model for marker in annotation.__metadata__ if isinstance(marker, LaterModel)]
        arguments = tuple(later) or arguments[:1]
    return [flat for argument in arguments for flat in _flat(argument)] or [annotation]


def _models(annotation: Any) -> list[type[BaseModel]]:
    return [
        alternative
        for alternative in _flat(annotation)
        if isinstance(alternative, type) and issubclass(alternative, BaseModel)
    ]


def _containers(annotation: Any) -> list[Any]:
    return [alternative for alternative in _flat(annotation) if get_origin(alternative) in (list, dict)]
