"""The system's own Chromium, for pictures and for tests of pages; the extra `browser` has what drives it."""

from __future__ import annotations

import os
import shutil

__all__ = ["chromium", "sandbox"]

_NAMES = ("chromium", "chromium-browser", "google-chrome")


def chromium() -> str | None:
    """The path of the program; None where there is none."""
    return next((found for name in _NAMES if (found := shutil.which(name))), None)


def sandbox() -> list[str]:
    """The arguments about its sandbox, with which it does not start for root."""
    return ["--no-sandbox"] if os.geteuid() == 0 else []
