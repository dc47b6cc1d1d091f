"""Labels in layers: every value that some source asks for, in the order in which they are applied, and the result.

A value that a later layer overwrites stays in the list, so that a node's label can be traced to its source.
"""

from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum

from harness.engine.label_layers import LabelLayer, winners
from harness.karpenter.requirements import Requirements
from lazyrecords import dataclass

__all__ = ["Labels", "Source", "single_values"]


class Source(StrEnum):
    """The part of the sender that a label value comes from."""

    BASE = "base"
    NODECLAIM_LABEL = "nodeclaim-label"
    CLAIM_REQUIREMENT = "claim-requirement"
    INSTANCE_TYPE = "instance-type"
    OFFERING = "offering"
    VM = "vm"


@dataclass(frozen=True)
class Labels:
    """Layers in order of application, later ones win; ``withheld`` are winning values that the sender does not send."""

    layers: tuple[LabelLayer, ...] = ()
    withheld: tuple[LabelLayer, ...] = ()

    @classmethod
    def stack(cls, *parts: tuple[Source, Mapping[str, str]]) -> "Labels":
        """Labels of these parts in order, the keys of each part sorted."""
        return cls(tuple(LabelLayer(key, values[key], source) for source, values in parts for key in sorted(values)))

    def on_top(self, *parts: tuple[Source, Mapping[str, str]]) -> "Labels":
        """Return these labels with further layers."""
        return Labels(self.layers + Labels.stack(*parts).layers, self.withheld)

    def withhold(self, held_back: Callable[[str], bool]) -> "Labels":
        """Return these labels without the keys that ``held_back`` names; their winning values are kept in ``withheld``."""
        gone = tuple(layer for key, layer in sorted(self.winners().items()) if held_back(key))
        keys = {layer.key for layer in gone}
        return Labels(tuple(layer for layer in self.layers if layer.key not in keys), self.withheld + gone)

    def winners(self) -> dict[str, LabelLayer]:
        """By key, the layer whose value counts: the last; among equal values at the end, the first of them."""
        return winners(self.layers)

    def values(self) -> dict[str, str]:
        """The labels themselves."""
        return {layer.key: layer.value for layer in self.layers}

    def history(self, key: str) -> tuple[LabelLayer, ...]:
        """All layers for one key, in order."""
        return tuple(layer for layer in self.layers if layer.key == key)


def single_values(requirements: Requirements, keep: Iterable[str] | None = None) -> dict[str, str]:
    """The keys that have exactly one allowed value, with it; only those in ``keep`` when given."""
    wanted = None if keep is None else frozenset(keep)
    return {
        key: next(iter(requirement.values))
        for key, requirement in requirements.items()
        if not requirement.complement and len(requirement.values) == 1 and (wanted is None or key in wanted)
    }
