"""What an index over a list of instance types says of offerings, prices and volumes, type by type."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.karpenter.requirements import Requirements
from harness.karpenter.scheduling.catalog import CatalogIndex
from tests.scheduling.test_since_core_1_15 import DISK, KNOWN, reserved
from tests.scheduling.workload import CAPACITY, VOCABULARY, ZONE, need, size

TWO = (size("a", 2, zones=("z1",), capacity_types=("spot",)), size("b", 4, zones=("z2",), capacity_types=("spot",)))


def test_every_type_has_one_bit() -> None:
    assert CatalogIndex(TWO, VOCABULARY).full == 0b11
    assert CatalogIndex((), VOCABULARY).full == 0


@pytest.mark.parametrize("unavailable", [False, True])
def test_what_is_sold_names_the_types_that_sell_it(unavailable: bool) -> None:
    types = [size(each.name, 2, zones=(zone,), capacity_types=("spot",), unavailable=[(zone, "spot")] * unavailable)
             for each, zone in zip(TWO, ("z1", "z2"), strict=True)]  # fmt: skip
    sold = CatalogIndex(types, VOCABULARY).sold
    assert [(min(offering.get(ZONE).values), mask) for offering, mask in sold] == [("z1", 0b01), ("z2", 0b10)]


@pytest.mark.parametrize(
    ("offered", "asked", "accepted"),
    [
        ([need("team", "In", "red")], [], False),
        ([need("team", "NotIn", "red")], [], True),
        ([need("team", "DoesNotExist")], [], True),
        ([need(ZONE, "In", "z1")], [], True),
        ([need("team", "In", "red")], [need("team", "In", "red", "blue")], True),
        ([need("team", "In", "red")], [need("team", "In", "blue")], False),
        ([need("team", "NotIn", "red")], [need("team", "DoesNotExist")], True),
    ],
)
def test_offerings_that_requirements_accept(
    offered: list[dict[str, object]], asked: list[dict[str, object]], accepted: bool
) -> None:
    """Core ``pkg/scheduling/requirements.go`` Compatible with AllowUndefinedWellKnownLabels."""
    wanted, offering = (Requirements.from_node_selector(each, vocabulary=VOCABULARY) for each in (asked, offered))
    assert CatalogIndex((), VOCABULARY).accepts(dict(wanted.items()), offering) is accepted


def test_a_type_without_a_limit_has_no_most_volumes() -> None:
    index = CatalogIndex([*TWO, replace(size("c", 8), attach_limits={DISK: 4})], VOCABULARY)
    assert [index.most_attached(DISK, mask) for mask in (0, 0b11, 0b111)] == [-1, -1, 4]


@pytest.mark.parametrize("left", [(0, 1), (1, 0), (0, 0), (1, 1)])
def test_a_reservation_costs_something_at_launch_where_it_has_room(left: tuple[int, int]) -> None:
    """Core ``pkg/cloudprovider/types.go`` WorstLaunchPrice of launchable offerings, since core 1.15."""
    types = [reserved(name, each) for name, each in zip("ab", left, strict=True)]
    index = CatalogIndex(types, KNOWN, launchable=True)
    accepted = index.offered({})[1]
    on_demand = [0.2, 0.2]
    expected = [0.000001 if each else price for each, price in zip(left, on_demand, strict=True)]
    assert index.launch_prices(accepted) == expected
    assert [index.offering_requirements(at).get(CAPACITY).values for at in accepted] == [{"on-demand"}, {"reserved"}]
