"""How ARM describes regions."""

from __future__ import annotations

from fakeazure.catalog.geography import place
from fakeazure.catalog.regions import REGIONS
from tests.cloud.driver import SUBSCRIPTION, Driver


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
