"""What an import of the default path leaves of Python's search for garbage: it goes on, and passes over what stays anyway."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import gc
{before}
import harness.world
print(gc.isenabled(), gc.get_freeze_count() > 0)
"""


@pytest.mark.parametrize(
    ("before", "then"),
    [
        ("", "True True"),
        ("gc.disable()", "False True"),  # whoever has switched it off finds it so
        ("mine = [[] for _ in range(30_000)]", "True False"),  # what others made may become garbage
    ],
)
def test_what_is_imported_is_not_looked_through_in_a_process_that_has_just_started(before: str, then: str) -> None:
    command = [sys.executable, "-c", PROGRAM.format(before=before)]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() == then
