"""`python -m tests.catalog compare [DIR]`: agreement of the catalogue with the recorded files. `record`: the digests anew.

`prices`: how right restored and guessed prices are, with each recorded region left out in turn; `--write` puts the figures into the page
of the catalogue.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

from tests.catalog.agreement import DIGESTS, digests, recorded_capabilities, recorded_zones, report
from tests.catalog.prices import PAGE, all_held_out, figures, page_with


def main() -> int:
    """Exit code 0 if all agrees, 1 if not, 2 if the files are missing."""
    parser = argparse.ArgumentParser(prog="python -m tests.catalog", description=__doc__)
    parser.add_argument("command", choices=("compare", "record", "prices"))
    parser.add_argument("folder", nargs="?", default=os.environ.get("HARNESS_DATA"), help="default: HARNESS_DATA")
    parser.add_argument("--write", action="store_true", help="of prices: into the page of the catalogue")
    options = parser.parse_args()
    if options.command == "prices":
        text = figures(all_held_out())
        print(text, end="")
        if options.write:
            PAGE.write_text(page_with(text), encoding="utf-8")
        return 0
    folder = Path(options.folder or "") / "recorded"
    if not options.folder or not folder.is_dir():
        print(f"tests.catalog: no folder {folder}; name one that has it, or set HARNESS_DATA", file=sys.stderr)
        return 2
    if options.command == "record":
        found = digests(recorded_capabilities(folder), recorded_zones(folder))
        DIGESTS.write_text(json.dumps(found, indent=1) + "\n")
        return 0
    lines, well = report(folder)
    print("\n".join(lines))
    return 0 if well else 1


if __name__ == "__main__":
    raise SystemExit(main())
