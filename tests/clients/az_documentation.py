"""The commands of az's public documentation, one after the other as they stand there (`documentation/*.txt`). Run in az's own Python.

A line may begin with `refused PART: ` where Azure refuses the command, too, in words that have the part; and with `left out PART: ` where
the command needs what is not emulated: then it fails, if PART is given with that.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from tests.clients.az_cli import Az, connect
from tests.clients.operation import LeftOut, Suite, tell

HERE = Path(__file__).parent / "documentation"
PAGES = ("machines", "network", "clusters")
_MARK = re.compile(r"(?P<kind>refused|left out) (?P<part>[^:]*): ")


def declare(suite: Suite, line: str, folder: str) -> None:
    """Declare a line of a page as an operation."""
    mark = _MARK.match(line)
    command = line[mark.end() :] if mark is not None else line
    filled = command.replace("{here}", str(HERE)).replace("{folder}", folder)

    def run(az: Az) -> None:
        try:
            az.run(filled)
        except RuntimeError as error:
            if mark is None:
                raise
            assert mark["part"] in str(error), str(error)
            if mark["kind"] == "left out":
                raise LeftOut(str(error)) from None
        else:
            assert mark is None, "it succeeded"

    suite.operation(f"az {command}")(run)


def suite_of(folder: str) -> Suite:
    """All pages; the first one begins with signing in."""
    suite = Suite("az CLI, documentation")
    for page in PAGES:
        for line in (HERE / f"{page}.txt").read_text().splitlines():
            declare(suite, line, folder)
    return suite


if __name__ == "__main__":
    tell(suite_of(sys.argv[1]).run(connect(sys.argv[1])))
