"""Whatever moves: pods are bound or named with a reason, labels are kept or named, budgets hold, releases accept the manifests."""

from __future__ import annotations

import pytest

from tests.migrate.moves import moved

SEEDS = (1, 3, 4, 6)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_generated_cluster_moves_as_it_is_said(seed: int) -> None:
    assert list(moved(seed, again=True).broken) == []
