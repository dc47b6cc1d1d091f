"""`python -m tests.real.load`: the table of load and faults, of the simulated loop beside the real controller.

With `--write FILE` the table is put between `<!-- load -->` and `<!-- /load -->` of a page. `--only TEXT` leaves the other situations out;
their rows on the page stay.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from harness.karpenter.releases import DEFAULT_RELEASE
from harness.world import World
from harness.world.real.binaries import VARIABLE, binaries
from harness.world.real.world import CLOUD_TIMING, TIMING, RealWorld
from tests.real.pages import part, replaced
from tests.real.situations import SITUATIONS, Figures, Situation, measured

HEAD = (
    "| situation | Karpenter | pods bound | NodeClaims, Nodes, VMs, NICs | PUTs | until bound | slowest answer | left over |",
    "|---|---|---|---|---|---|---|---|",
)


def rows(situation: Situation, authority: Path) -> Iterator[str]:
    """Two rows: of the simulated loop, where it can happen to it, and of the real controller."""
    if situation.simulated:
        world = World(**situation.inputs, timing=TIMING, cloud_timing=CLOUD_TIMING)
        yield row(situation, "simulated", measured(world, situation))
    with RealWorld(binaries()[DEFAULT_RELEASE], authority, **situation.inputs) as real:
        yield row(situation, "real", measured(real, situation))


def row(situation: Situation, who: str, found: Figures) -> str:
    """One row of the table."""
    counts = f"{found.nodeclaims}, {found.nodes}, {found.machines}, {found.interfaces}"
    slowest = f"{found.slowest:.2f} s" if who == "real" else ""
    cells = (
        situation.name,
        who,
        f"{found.bound}",
        counts,
        f"{found.puts}",
        f"{found.seconds:.0f} s",
        slowest,
        f"{found.left_over}",
    )
    return f"| {' | '.join(cells)} |"


def merged(before: Sequence[str], lines: Sequence[str]) -> list[str]:
    """The table of a page with new rows in the places of those of the same situation and Karpenter; others at its end."""
    rows = {_of(line): line for line in (*before, *lines)}
    return list(rows.values())


def _of(line: str) -> str:
    return "|".join(line.split("|")[:3])


def main() -> int:
    """Prints the table; 3 without a controller."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", metavar="TEXT")
    parser.add_argument("--write", type=Path, metavar="FILE")
    options = parser.parse_args()
    if DEFAULT_RELEASE not in binaries():
        print(f"{VARIABLE} names no controller of {DEFAULT_RELEASE}", file=sys.stderr)
        return 3
    lines = list(HEAD)
    print(*lines, sep="\n", flush=True)
    with TemporaryDirectory(prefix="harness-load-") as folder:
        for situation in SITUATIONS:
            if options.only in situation.name:
                for line in rows(situation, Path(folder)):
                    print(line, flush=True)
                    lines.append(line)
    print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.0f}")
    if options.write is not None:
        page = options.write.read_text()
        options.write.write_text(replaced(page, "load", merged(part(page, "load"), lines)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
