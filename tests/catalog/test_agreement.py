"""The catalogue agrees with what was recorded: by digests of the recorded files here, value by value where the files are (HARNESS_DATA)."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.catalog.agreement import (
    DIGESTS,
    capabilities_of,
    compared,
    digests,
    recorded_capabilities,
    recorded_zones,
    report,
    zones_of,
)

RECORDED = Path(os.environ.get("HARNESS_DATA", "")) / "recorded"
needs_files = pytest.mark.skipif(
    "HARNESS_DATA" not in os.environ or not RECORDED.is_dir(),
    reason="needs the recorded files: HARNESS_DATA names the folder that has recorded/sku-capabilities-*.jsonl.gz",
)


def test_every_value_is_the_recorded_one() -> None:
    assert digests(capabilities_of(), zones_of()) == json.loads(DIGESTS.read_text())


def test_a_changed_value_an_order_and_a_zone_are_noticed() -> None:
    known = json.loads(DIGESTS.read_text())
    capabilities, zones = capabilities_of(), zones_of()
    size = {**capabilities["Standard_D4ds_v5"], "MaxResourceVolumeMB": "1"}
    changed = digests({**capabilities, "Standard_D4ds_v5": size}, zones)
    assert [name for name in known["fields"] if known["fields"][name] != changed["fields"][name]] == [
        "MaxResourceVolumeMB"
    ]
    turned = dict(reversed(capabilities["Standard_D4ds_v5"].items()))
    changed = digests({**capabilities, "Standard_D4ds_v5": turned}, zones)
    assert (changed["fields"], changed["order"] == known["order"]) == (known["fields"], False)
    changed = digests(capabilities, {**zones, "eastus": {**zones["eastus"], "Standard_D4ds_v5": "1"}})
    assert [name for name in known["zones"] if known["zones"][name] != changed["zones"][name]] == ["eastus"]


def test_a_comparison_counts_what_is_other_missing_and_more() -> None:
    counts = compared({"a": {"x": "1", "y": "2"}, "b": {"x": "1"}}, {"a": {"x": "1", "y": "3", "z": "4"}})
    assert {name: (one.same, one.other, one.missing, one.more) for name, one in counts.items()} == {
        "x": (1, 0, 0, 1),
        "y": (0, 1, 0, 0),
        "z": (0, 0, 1, 0),
    }
    assert counts["y"].examples == ["a: 2, recorded 3"]


@needs_files
def test_the_digests_are_those_of_the_recorded_files() -> None:
    recorded = RECORDED
    assert digests(recorded_capabilities(recorded), recorded_zones(recorded)) == json.loads(DIGESTS.read_text())


@needs_files
def test_every_difference_from_a_record_has_its_reason() -> None:
    lines, well = report(RECORDED)
    assert well, "\n".join(lines)
