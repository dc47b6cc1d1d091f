"""`harness explain --prices`: the sizes of a region for which Karpenter may believe another price than Azure bills."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from harness.cli.output import print_json
from plainlines import print_line

__all__ = ["show_price_risks"]


def show_price_risks(arguments: argparse.Namespace) -> int:
    """Print them; exit code 0. Raises InputError."""
    from harness.cli.worlds import create_world
    from harness.explain.sizes.believed import at_risk
    from harness.trace.prices import hourly
    from harness.wording import counted

    world = create_world(karpenter=arguments.release, region=arguments.region)
    risks = at_risk(world)
    if arguments.format == "json":
        print_json({"region": world.region, "sizes": [asdict(risk) for risk in risks]})
        return 0
    cells = [("SIZE", "CAPACITY TYPE", "AZURE BILLS", "KARPENTER MAY BELIEVE")]
    for risk in risks:
        others = " or ".join(map(hourly, risk.rows))
        cells.append((risk.size, risk.capacity_type, hourly(risk.billed) if risk.billed is not None else "-", others))
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for row in cells if risks else ():
        print_line("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip())
    guess = next((f" (guessed: {risk.guess})" for risk in risks if risk.guess), "")
    print_line(
        f"{counted(len(risks), 'price')} in {world.region}, USD/h, with several rows in Azure's price list{guess}"
    )
    if risks:
        print_line(
            "each controller takes one of them at each reading, every 12 hours; a NodePool that leaves such sizes out is free of it"
        )
    return 0
