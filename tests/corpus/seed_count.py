"""How much of the design documents' tables a run of scenarios tried: rows by release and by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import yaml

from harness.karpenter.releases import ALL_PROVIDER_RELEASES, ProvisionMode
from harness.scenario.language.cases import Case

__all__ = ["SIDES", "Cell", "cells_of", "lines", "seed_keys"]

ROOT = Path(__file__).resolve().parents[2]
POD, SETS, REQUIRES, VM, MACHINE = "pod asks", "NodePool sets", "NodePool requires", "Node (VM)", "Node (AKS machine)"
SIDES = (POD, SETS, REQUIRES, VM, MACHINE)
"""Who asks for the key, and how the Node that may have the label was made: the two ways of writing labels."""

Cell = tuple[str, str, str]
"""Release, key, side."""

_MACHINES = (ProvisionMode.AKS_MACHINE_API, ProvisionMode.AKS_MACHINE_API_HEADER_BATCH)


@cache
def seed_keys() -> frozenset[str]:
    """The keys of both tables, by docs/seeds.yaml."""
    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)  # the pure Python one where libyaml is missing
    tables = yaml.load((ROOT / "docs" / "seeds.yaml").read_text(), Loader=loader)["rows"]
    return frozenset(key for table in tables.values() for key in table)


def cells_of(case: Case) -> Iterator[Cell]:
    """What a case tries, if it is about the documents' rows: rows of label tables, and requirements of the recorded lists."""
    release = (case.given.karpenter or "").removeprefix("v")
    if release not in ALL_PROVIDER_RELEASES or case.given.policy is not None:
        return
    if "required-keys-" in case.file:
        yield release, case.axes.get("case", ""), REQUIRES
    written = MACHINE if case.given.provision_mode in _MACHINES else VM
    for entry in case.then:
        table = entry.expectation.labels
        for key, row in (table.are if table is not None else {}).items():
            for side, cell in ((POD, row.pod), (SETS, row.nodepool), (written, row.written)):
                if cell is not None:
                    yield release, key, side


def lines(tried: Iterable[Cell], held: Iterable[Cell], skipped: Iterable[Cell] = ()) -> Iterator[str]:
    """A table of the rows that held, by release and side, and the sum; nothing where no row was tried."""
    wanted = seed_keys()
    all_tried = {cell for cell in tried if cell[1] in wanted}
    all_held = {cell for cell in held if cell in all_tried}
    if not all_tried:
        return
    counts = dict.fromkeys(((release, side) for release, _, side in all_tried), 0)
    counts.update(Counter((release, side) for release, _, side in all_held))
    releases = [name for name in ALL_PROVIDER_RELEASES if any(name == release for release, _ in counts)]
    yield "release " + "".join(f"{side:>20}" for side in SIDES)
    for release in releases:
        yield f"{release:8}" + "".join(f"{counts.get((release, side), '-'):>20}" for side in SIDES)
    keys = {key for _, key, _ in all_held}
    left = len({cell for cell in skipped if cell[1] in wanted})
    more = f"; {left} cells skipped" if left else ""
    yield f"{len(all_held)} of {len(all_tried)} cells held: {len(keys)} of the {len(wanted)} rows, {len(releases)} releases{more}"
