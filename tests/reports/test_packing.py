"""Pages of many pictures stay small: worlds lie in them compressed, and come out as they went in."""

from __future__ import annotations

import json
import zlib
from base64 import b64decode
from typing import Any

from harness.reports.picture.packing import EACH, packs
from harness.reports.picture.world import world_value
from tests.reports.test_picture_world import STORY


def unpacked(found: list[str], number: int) -> dict[str, Any]:
    """What `picture/src/packing.js` does."""
    pack = json.loads(zlib.decompress(b64decode(found[number // EACH])))
    world = {key: values[number % EACH] for key, values in pack["columns"].items()}
    return {**world, "sizes": {name: pack["lists"][place] for name, place in world["sizes"].items()}}


def worlds(count: int) -> list[dict[str, Any]]:
    names = [f"Standard_D{number}s_v5" for number in range(1000)]
    story = [{**line, "offered": names} if line.get("fact") == "sizes" else line for line in STORY]
    header, *facts = story
    return [world_value([{**header, "seed": seed}, *facts]) for seed in range(count)]


def test_what_is_packed_comes_out_again() -> None:
    made = worlds(EACH + 3)
    found = packs(made)
    assert len(found) == 2
    assert [unpacked(found, number) for number in range(len(made))] == json.loads(json.dumps(made))


def test_a_pack_is_small_where_cases_are_alike() -> None:
    made = worlds(EACH)
    (found,) = packs(made)
    assert len(found) < len(json.dumps(made)) / 40
    assert packs([]) == []
