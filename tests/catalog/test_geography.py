"""Regions as ARM describes them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from fakeazure.catalog.geography import place
from fakeazure.catalog.regions import REGIONS
from fakeazure.resources.subscriptions import _described
from tests.cloud.driver import SUBSCRIPTION, Driver
from tests.conformance.build import find_source


def test_each_region_is_described() -> None:
    places = {name: place(name) for name in REGIONS}
    assert None not in places.values()
    for name, about in places.items():
        assert about is not None
        assert about.display_name.replace(" ", "").lower() == name
        assert about.paired_region in {"", *REGIONS}
        assert about.category in {"Recommended", "Other"}
    assert place("moon") is None


def test_locations_have_names_for_people() -> None:
    body = Driver().call("GET", f"/subscriptions/{SUBSCRIPTION}/locations").body
    assert body is not None
    [found] = [one for one in body["value"] if one["name"] == "eastus"]
    assert (found["displayName"], found["regionalDisplayName"]) == ("East US", "(US) East US")
    assert found["metadata"] == {
        "regionType": "Physical",
        "regionCategory": "Recommended",
        "geography": "United States",
        "geographyGroup": "US",
        "longitude": "-79.8164",
        "latitude": "37.3719",
        "physicalLocation": "Virginia",
        "pairedRegion": [{"name": "westus", "id": f"/subscriptions/{SUBSCRIPTION}/locations/westus"}],
    }


def test_a_region_without_a_pair_has_an_empty_list() -> None:
    assert _described(SUBSCRIPTION, "italynorth")["metadata"]["pairedRegion"] == []


def test_locations_are_those_that_the_provider_recorded(tmp_path: Path) -> None:
    """All that is said of a region, but for the zones of its subscription (kaz pkg/fake/locations.json)."""
    source = find_source("1.14.0") if "KARPENTER_SOURCES" in os.environ else None
    if source is None:
        pytest.skip("KARPENTER_SOURCES names no folder with the sources of 1.14.0")
    source.unpack(tmp_path / "source")
    recorded = json.loads((tmp_path / "source/pkg/fake/locations.json").read_text(encoding="utf-8"))
    subscription = "00000000-0000-0000-0000-000000000000"
    expected = {location["name"]: location for location in recorded if location["name"] in REGIONS}
    assert len(expected) > 50
    for name, location in expected.items():
        for part, described in _described(subscription, name).items():
            assert described == location[part], (name, part)
