"""All cells of a release or of a policy."""

from __future__ import annotations

from collections.abc import Iterator

from tests.corpus.mutations.cells import Cell
from tests.corpus.mutations.constant_cells import constant_cells
from tests.corpus.mutations.crd_cells import cells_of_crds
from tests.corpus.mutations.flag_cells import flag_cells, value_cells
from tests.corpus.mutations.label_cells import label_cells
from tests.corpus.mutations.policy_cells import policy_cells
from tests.corpus.mutations.set_cells import set_cells

__all__ = ["POLICIES_ON", "every_cell"]

POLICIES_ON = (
    "design-2025-10-30@1.6.5",
    "design-2025-10-30@1.14.0",
    "design-2025-11-07@1.6.5",
    "design-2025-11-07@1.14.0",
)
"""The policies, and the releases that scenarios lay them over."""


def every_cell(name: str) -> Iterator[Cell]:
    """The cells of ``1.14.0``, or of ``design-2025-11-07@1.6.5``."""
    policy, sign, base = name.partition("@")
    if sign:
        yield from policy_cells(policy, base)
    else:
        yield from set_cells(name)
        yield from value_cells(name)
        yield from flag_cells(name)
        yield from cells_of_crds(name)
        yield from constant_cells(name)
        yield from label_cells(name)
