"""The cells of the tables that give labels their values: the provider's base labels and those that AKS puts on its machines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from fakeazure.aks.node_labels import ABSENT, TABLE, AksLabel
from harness.karpenter.launch.labels import base as base_labels
from harness.karpenter.releases import ALL_PROVIDER_RELEASES, provider
from tests.corpus.mutations.cells import RECORDED, Cell

__all__ = ["label_cells"]

_OTHER = "changed"


def label_cells(version: str) -> Iterator[Cell]:
    """Each base label with another value, where it is recorded; AKS's own labels with the newest release."""
    if version == ALL_PROVIDER_RELEASES[-1]:
        yield from _aks_labels(version)
    if version not in RECORDED:
        return
    formulas = base_labels._FORMULAS
    for key in sorted(provider(version).base_keys):
        changed = {**formulas, key: _other(formulas[key])}
        target = f"{base_labels.__name__}._FORMULAS"
        yield Cell(version, "base-label values", key, "has another value", patches=((target, changed),))


def _aks_labels(version: str) -> Iterator[Cell]:
    for at, row in enumerate(TABLE):
        others = (*TABLE[:at], *TABLE[at + 1 :])
        yield _of_aks(version, row.key, "is missing", others)
        yield _of_aks(version, row.key, "has another value", (*others, replace(row, value=_other(row.value))))
    for key in ABSENT:
        yield _of_aks(version, key, "is there", (*TABLE, AksLabel(key, lambda _: _OTHER, "")))


def _of_aks(version: str, key: str, change: str, table: tuple[AksLabel, ...]) -> Cell:
    return Cell(version, "labels of AKS", key, change, patches=(("fakeazure.aks.node_labels.TABLE", table),))


def _other(value: Callable[[Any], str | None]) -> Callable[[Any], str | None]:
    """Another value where there is one."""
    return lambda facts: None if value(facts) is None else _OTHER
