"""What is said of a word in a market that nothing is called: the nearest one, all where they are few, a few where they are many."""

from __future__ import annotations

from typing import Any

import pytest

from fakeazure.market.wording import FEW, SOME, MarketError, hint
from tests.cloud.driver import Driver


@pytest.mark.parametrize(
    ("azure", "said"),
    [
        ({"qouta": {}}, "; did you mean 'quota'?"),
        ({"quota": {"CORSE": 1}}, "; did you mean 'cores'?"),
        ({"restrictions": [{"size": "d4s_v5"}]}, "; did you mean 'Standard_D4s_v5'?"),
        ({"restrictions": [{"location": "mars"}]}, "; known are eastus, westus"),
        ({"capacity": [{"size": "Standard_D4s_v5", "priority": "cheap", "vms": 0}]}, "; known are "),
    ],
)
def test_a_word_that_nothing_is_called(azure: dict[str, Any], said: str) -> None:
    with pytest.raises(MarketError) as mistake:
        Driver(azure)
    assert said in str(mistake.value)


def test_few_words_are_all_named_and_of_many_some() -> None:
    few = [f"word{number:02}" for number in range(FEW)]
    assert hint("zzz", few) == f"; known are {', '.join(few)}"
    assert hint("zzz", [*few, "more"]) == ""
    assert hint("zzz", few, some=True) == f"; known are {', '.join(few)}"
    assert hint("zzz", [*few, "zoo"], some=True) == f"; known are {', '.join(few[:SOME])} and {FEW + 1 - SOME} more"
    assert hint("zzz", []) == ""
    assert hint("zzz", ["one"]) == "; known are one"


SUBNET = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/v/subnets"


@pytest.mark.parametrize(
    "id_",
    [
        "nope",
        SUBNET.replace("Network/", "Compute/") + "/a",
        SUBNET.rpartition("/")[0],
        f"{SUBNET}/a/b/c",
    ],
)
def test_what_is_no_subnet(id_: str) -> None:
    with pytest.raises(MarketError, match="is not the id of a subnet"):
        Driver({"subnets": [id_]})


def test_declared_subnets_are_there() -> None:
    """Beside one another, in a network and a group that are made for them or are there already."""
    own = Driver().path("Microsoft.Network/virtualNetworks", "aks-vnet-12345678/subnets/more")
    driver = Driver({"subnets": [f"{SUBNET}/a", f"{SUBNET}/b", own, f"{SUBNET}/a"]})
    for place in (f"{SUBNET}/a", f"{SUBNET}/b", own):
        entry = driver.cloud.state.store.get(place)
        assert entry is not None
        assert entry.document["properties"]["addressPrefix"].startswith("10.")
    prefixes = {
        str(entry.document["properties"]["addressPrefix"])
        for place in (f"{SUBNET}/a", f"{SUBNET}/b", own)
        if (entry := driver.cloud.state.store.get(place)) is not None
    }
    assert prefixes == {"10.1.0.0/16", "10.2.0.0/16", "10.3.0.0/16"}
