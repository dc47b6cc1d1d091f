"""Outcomes of objects and of the whole world: refused, accepted, a loop without end, limits that are broken."""

from pydantic import Field

from harness.scenario.language.models.base import Body, Reference, RejectionLayer, Text, no_items
from harness.scenario.language.models.matchers import CountMatch, TextMatch

__all__ = ["Accepted", "Limits", "Rejected", "Runaway"]


class Rejected(Body):
    """An object that is refused: by which layer, for which key, with which text. Only what is given is compared."""

    object: Reference = Field(
        description="The refused object, as Kind/name; `*` stands for any text: NodeClaim/default-*."
    )
    layer: RejectionLayer | None = Field(None, description="Who refuses it.")
    key: Text | None = Field(None, description="The label key at fault.")
    path: Text | None = Field(None, description="The field, as the refusal names it.")
    rule: Text | None = Field(None, description="The harness's name of the rule.")
    message: TextMatch | None = Field(None, description="The message alone, without object and path.")
    text: TextMatch | None = Field(None, description="The whole line, as the API server or Karpenter prints it.")
    since: Text | None = Field(None, description="First release that refuses; older cases must accept.")
    until: Text | None = Field(None, description="First release that accepts again.")


class Accepted(Body):
    """An object that no layer refuses."""

    object: Reference = Field(description="The object, as Kind/name.")


class Runaway(Body):
    """A world that never comes to rest: Nodes are made again and again for pods that they do not help."""

    key: Text | None = Field(None, description="The label key at fault.")
    loops: CountMatch | None = Field(None, description="How many loops were seen before it was stopped.")


class Limits(Body):
    """Limits of Karpenter's concepts document that `given.cluster` breaks: exactly these."""

    violated: list[Text] = Field(default_factory=no_items, description="Broken, and still limits of this release.")
    outdated: list[Text] = Field(
        default_factory=no_items, description="Broken by the document's word, and no limits of this release any more."
    )
