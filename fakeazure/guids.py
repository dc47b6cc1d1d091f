"""Guids that are the same in every run: derived from a seed and a counter."""

from __future__ import annotations

import hashlib
import re

from fakeazure.short_texts import remember_short

_KEPT = 8192
"""Guids that are remembered: one world after the other asks for those of the same names, and for the first of a sequence."""
_GUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


def is_guid(text: str) -> bool:
    """Tell whether a text is a guid, as Azure writes those of tenants and subscriptions."""
    return _GUID.fullmatch(text) is not None


class Guids:
    """A sequence of version-4-shaped guids, repeatable under its seed."""

    def __init__(self, seed: int | str = 0) -> None:
        """Start the sequence of `seed`."""
        self._seed = seed
        self._count = 0

    def __call__(self) -> str:
        """The next guid."""
        self._count += 1
        return guid_of(f"{self._seed}/{self._count}")


@remember_short(_KEPT, len)
def guid_of(text: str) -> str:
    """The guid that always belongs to `text`."""
    return new_guid(text)


def new_guid(text: str) -> str:
    """Calculate the same anew: for texts of which there are more than are remembered."""
    digits = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:32]}"
