"""Recorded files, and the day that they name: it stays as long as the real code answers the same."""

from __future__ import annotations

import re
from pathlib import Path

__all__ = ["write_recording"]

_DAY = re.compile(r"\brecorded on \d{4}-\d{2}-\d{2}\b")


def write_recording(path: Path, text: str) -> Path:
    """Writes the file unless it says the same already, of whatever day, so that a recording that changes nothing leaves no difference."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.is_file() or _DAY.sub("", path.read_text()) != _DAY.sub("", text):
        path.write_text(text)
    return path
