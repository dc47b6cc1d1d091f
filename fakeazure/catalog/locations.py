"""The names of Azure's locations."""

from __future__ import annotations

__all__ = ["location_key"]


def location_key(text: str) -> str:
    """The short name of a location: `East US` and `EastUS` → `eastus`, as ARM takes one for the other."""
    return text.replace(" ", "").lower()
