"""Many worlds in a page that stays small: compressed in packs, of which a reader's browser opens the one that is asked for."""

from __future__ import annotations

import json
import zlib
from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["EACH", "packs"]

EACH = 20
"""Worlds in a pack. Cases of one file are alike, so that they take little room together."""


def packs(worlds: Sequence[Mapping[str, Any]]) -> list[str]:
    """Every EACH worlds as base64 of a zlib stream of JSON (`picture/src/packing.js` reads it).

    `columns` has for each key of a world its values in order, so that what is alike stands together; of `sizes` only the numbers of
    `lists`, which are told once.
    """
    return [_pack(worlds[start : start + EACH]) for start in range(0, len(worlds), EACH)]


def _pack(worlds: Sequence[Mapping[str, Any]]) -> str:
    lists: dict[str, tuple[int, Any]] = {}
    columns: dict[str, list[Any]] = {key: [world[key] for world in worlds] for key in worlds[0]}
    columns["sizes"] = [
        {name: _number(lists, sizes_of_fact) for name, sizes_of_fact in sizes.items()} for sizes in columns["sizes"]
    ]
    text = json.dumps({"lists": [value for _, value in lists.values()], "columns": columns}, separators=(",", ":"))
    return b64encode(zlib.compress(text.encode(), 9)).decode()


def _number(lists: dict[str, tuple[int, Any]], value: Any) -> int:
    return lists.setdefault(json.dumps(value, sort_keys=True), (len(lists), value))[0]
