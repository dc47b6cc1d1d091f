"""Recognising YAML files that are scenarios by their first bytes, as a test run does with every YAML file on its way."""

from __future__ import annotations

import re
from pathlib import Path

from atomicfiles.inputs import is_regular, open_input

__all__ = ["is_scenario_file", "is_scenario_text", "names_scenario"]

_SNIFFED = 1 << 16
_BEGINNING = "\nscenario:"
_HEADER = re.compile(rb"\nscenario:[ \t]+[^ \t\r\n#]")
_KEY = re.compile(rb"\n(then|given|when|cases|matrix):")
_SCHEMA = b"scenario.schema.json"


def is_scenario_file(path: Path) -> bool:
    """Return whether a YAML file means to be a scenario: it names one, or lies in a folder `scenarios` and is no Kubernetes manifest."""
    head = _head(path)
    if head is None:
        return False
    return (
        _BEGINNING.encode() in head or _SCHEMA in head or ("scenarios" in path.parts and b"\napiVersion:" not in head)
    )


def is_scenario_text(text: str) -> bool:
    """Return whether a YAML text names a scenario."""
    return _BEGINNING in f"\n{text}"


def names_scenario(path: Path) -> bool:
    """Return whether a YAML file names a scenario: `scenario: NAME` beside another key of a header, or the schema.

    `scenario` alone is no sign: Molecule's files have a map of that name.
    """
    head = _head(path)
    return head is not None and (_SCHEMA in head or bool(_HEADER.search(head) and _KEY.search(head)))


def _head(path: Path) -> bytes | None:
    """Return the beginning of the file, after a line break; None when it cannot be read, or not once more, as a shell's pipe."""
    if not is_regular(path):
        return None
    try:
        with open_input(path) as stream:
            return b"\n" + stream.read(_SNIFFED)
    except OSError:
        return None
