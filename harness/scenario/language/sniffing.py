"""Which YAML files are scenarios, told from their first bytes: what a test run asks of every YAML file that it comes across."""

from __future__ import annotations

from pathlib import Path

__all__ = ["is_scenario_file", "names_scenario"]

_SNIFFED = 4096


def is_scenario_file(path: Path) -> bool:
    """Whether a YAML file means to be one: it says so, or lies in a folder `scenarios` and is no Kubernetes manifest."""
    head = _head(path)
    if head is None or _says_so(head):
        return head is not None
    return "scenarios" in path.parts and b"\napiVersion:" not in head


def names_scenario(path: Path) -> bool:
    """Whether a YAML file says that it is one."""
    head = _head(path)
    return head is not None and _says_so(head)


def _says_so(head: bytes) -> bool:
    return b"\nscenario:" in head or b"scenario.schema.json" in head


def _head(path: Path) -> bytes | None:
    """How the file begins, after a line break; None when it cannot be read."""
    try:
        with path.open("rb") as stream:
            return b"\n" + stream.read(_SNIFFED)
    except OSError:
        return None
