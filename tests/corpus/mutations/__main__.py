"""Changes every input cell of the label tables in turn and looks for a scenario that fails."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence

from harness.karpenter.releases import ALL_PROVIDER_RELEASES
from tests.corpus.mutations.cells import Cell
from tests.corpus.mutations.equivalent import Equivalents
from tests.corpus.mutations.every import POLICIES_ON, every_cell
from tests.corpus.mutations.hunt import Hunt
from tests.corpus.mutations.units import units_of


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code 1 when a change is noticed by no scenario, or when one that should not matter is noticed."""
    parser = argparse.ArgumentParser(prog="python -m tests.corpus.mutations", description=__doc__)
    parser.add_argument("--releases", default="", help="comma-separated, policies as NAME@RELEASE (default: all)")
    parser.add_argument("--table", default="", help="only tables with this in their name")
    parser.add_argument("--key", default="", help="only keys with this in their name")
    parser.add_argument("--verbose", action="store_true", help="name the scenario that noticed each change")
    options = parser.parse_args(arguments)
    names = options.releases.split(",") if options.releases else [*ALL_PROVIDER_RELEASES, *POLICIES_ON]
    hunt, equivalents = Hunt(), Equivalents()
    wrong: list[str] = []
    total = killed = equal = 0
    for name in names:
        cells = [cell for cell in every_cell(name) if options.table in cell.table and options.key in cell.key]
        start = time.process_time()
        survivors = _hunted(cells, hunt, verbose=options.verbose)
        for cell in cells:
            reason = equivalents.reason(cell)
            if (cell in survivors) != (reason is not None):
                wrong.append(f"{'survived' if cell in survivors else 'noticed, though equivalent'}: {cell}")
                print(f"  {wrong[-1]}", flush=True)
        total, killed = total + len(cells), killed + len(cells) - len(survivors)
        equal += sum(equivalents.reason(cell) is not None for cell in survivors)
        print(
            f"{name}: {len(cells)} cells, {len(survivors)} unnoticed, {time.process_time() - start:.0f} s", flush=True
        )
    print(
        f"{total} cells: {killed} noticed, {equal} equivalent, {total - killed - equal} survived; {hunt.tried} scenarios run"
    )
    for name in sorted(hunt.broken):
        print(f"fails without any change, so it was not asked: {name}")
    return 1 if wrong or hunt.broken else 0


def _hunted(cells: Sequence[Cell], hunt: Hunt, *, verbose: bool) -> set[Cell]:
    units = units_of(cells[0].release) if cells else ()
    survivors = set()
    for cell in cells:
        witness = hunt.witness(cell, units)
        if witness is None:
            survivors.add(cell)
        if verbose:
            print(f"    {cell}  ← {witness or 'nobody'}", flush=True)
    return survivors


if __name__ == "__main__":
    sys.exit(main())
