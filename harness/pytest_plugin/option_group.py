"""What options are declared in, and which ones there are."""

from __future__ import annotations

from typing import Any, Protocol

import pytest

__all__ = ["OptionGroup", "declared_names"]


class OptionGroup(Protocol):
    """A group of pytest's options."""

    def addoption(self, name: str, **attributes: Any) -> None:
        """Declare one; its value is `config.getoption("scenarios_…")`."""


def declared_names(parser: pytest.Parser) -> set[str]:
    """The names of all options that are declared."""
    groups = [*getattr(parser, "_groups", ()), getattr(parser, "_anonymous", None)]
    return {name for group in groups if group is not None for option in group.options for name in option.names()}
