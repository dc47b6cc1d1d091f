"""A change of an object, in `given` or as a step."""

from pydantic import Field

from harness.scenario.language.models.base import Model, Reference
from harness.scenario.language.models.matchers import Partial

__all__ = ["Patch"]


class Patch(Model):
    """A merge patch: null removes a field."""

    of: Reference = Field(description="The object to change; `*` stands for any text: Node/* is all Nodes there are.")
    to: Partial = Field(description="The fields to set, as a merge patch.")
