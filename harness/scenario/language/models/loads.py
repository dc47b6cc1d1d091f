"""`given.load` and the step `load`: what the pods of workloads have to do, by which HorizontalPodAutoscalers scale."""

from typing import Annotated, Any

from pydantic import BeforeValidator, Discriminator, Field, Tag, WithJsonSchema
from pydantic_core import PydanticCustomError

from harness.kube.workloads.loads import RESOURCES, load_from
from harness.scenario.language.models.base import Duration, Later, Model

__all__ = ["GivenLoad", "LoadPoint", "LoadValue"]


def _load(value: Any) -> Any:
    try:
        load_from(value)
    except ValueError as error:
        raise PydanticCustomError("load", "{why}", {"why": str(error)}) from None
    return value


_SHARE = {"type": "string", "pattern": "^[0-9]{1,9}%$"}
_AMOUNT = {"type": ["string", "number"]}
LoadValue = Annotated[
    Any,
    BeforeValidator(_load),
    WithJsonSchema(
        {
            "anyOf": [
                _SHARE,
                {
                    "type": "object",
                    "properties": dict.fromkeys(RESOURCES, _AMOUNT),
                    "additionalProperties": False,
                    "minProperties": 1,
                },
            ]
        }
    ),
]
"""`80%`, or `{cpu: 80%, memory: 6Gi}`."""


class LoadPoint(Model):
    """A load from a moment on, until that of the next entry."""

    at: Duration = Field(description="How long after the start of the world it begins.")
    load: LoadValue = Field(description="A load, as in the step `load`: 80%, or {cpu: 80%, memory: 6Gi}.")


GivenLoad = Annotated[
    Annotated[LoadValue, Tag("value")] | Annotated[list[Later["LoadPoint"]], Tag("names")],
    Discriminator(lambda value: "names" if isinstance(value, list) else "value"),
]
"""A load that stays, or one that changes at the given times."""
