"""What options are declared in."""

from __future__ import annotations

from typing import Any, Protocol

__all__ = ["OptionGroup"]


class OptionGroup(Protocol):
    """A group of pytest's options."""

    def addoption(self, name: str, **attributes: Any) -> None:
        """Declares one; its value is `config.getoption("scenarios_…")`."""
