"""One label of one source, as a sender stacks them: of several values for a key the last one wins."""

from __future__ import annotations

from collections.abc import Iterable

from lazyrecords import dataclass

__all__ = ["LabelLayer", "winners"]


@dataclass(frozen=True, slots=True)
class LabelLayer:
    """One value for one key, and where inside the sender it comes from."""

    key: str
    value: str
    source: str


def winners(layers: Iterable[LabelLayer]) -> dict[str, LabelLayer]:
    """By key, the layer whose value counts: the last; among equal values at the end, the first of them."""
    winning: dict[str, LabelLayer] = {}
    for layer in layers:
        present = winning.get(layer.key)
        if present is None or present.value != layer.value:
            winning[layer.key] = layer
    return winning
