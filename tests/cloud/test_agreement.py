"""The list of sizes, the usages, the prices and the outcome of a PUT never contradict each other, whatever is done in what order."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from fakeazure.timing import Timing
from tests.cloud.driver import SMALL, Driver

SIZES = [sku["name"] for sku in SMALL if sku["name"] not in ("Standard_D2ps_v5", "Standard_A2_v2")]
VCPUS = {"Standard_D4s_v5": 4, "Standard_NC4as_T4_v3": 4}
FAMILIES = {sku["name"]: sku["family"] for sku in SMALL}

launches = st.fixed_dictionaries(
    {
        "size": st.sampled_from(SIZES),
        "zone": st.sampled_from(["", "1", "2", "3"]),
        "priority": st.sampled_from(["Regular", "Spot"]),
    }
)
steps = st.lists(
    st.one_of(
        launches,
        st.fixed_dictionaries({"delete": st.integers(0, 5)}),
        st.fixed_dictionaries({"wait": st.sampled_from([1, 5, 10, 30])}),
    ),
    max_size=14,
)
markets = st.fixed_dictionaries(
    {
        "quota": st.dictionaries(
            st.sampled_from(["cores", "lowPriorityCores", "virtualMachines", *sorted(set(FAMILIES.values()))]),
            st.integers(0, 12),
            max_size=3,
        ),
        "restrictions": st.lists(
            st.fixed_dictionaries(
                {"size": st.sampled_from(SIZES)},
                optional={"zones": st.lists(st.sampled_from(["1", "2", "3"]), min_size=1)},
            ),
            max_size=2,
        ),
        "capacity": st.lists(
            st.fixed_dictionaries(
                {"vms": st.integers(0, 2), "at": st.sampled_from(["start", "end"])},
                optional={
                    "size": st.sampled_from(SIZES),
                    "zone": st.sampled_from(["1", "2", "regional"]),
                    "priority": st.sampled_from(["spot", "on-demand"]),
                },
            ),
            max_size=2,
        ),
    }
)


def _open_in_list(record: Any, zone: str) -> bool:
    closed = [item for item in record["restrictions"] if "eastus" in item["values"]]
    if any(item["type"] == "Location" for item in closed):
        return False
    shut = {shut for item in closed for shut in item["restrictionInfo"].get("zones", ())}
    return not zone or (zone in record["locationInfo"][0]["zones"] and zone not in shut)


@settings(max_examples=60, deadline=None)
@given(market=markets, plan=steps)
def test_list_usages_and_launch_agree(market: dict[str, Any], plan: list[dict[str, Any]]) -> None:
    driver = Driver(market, timing=Timing(vm_create=10, vm_delete=10))
    alive: dict[str, dict[str, str]] = {}
    for number, step in enumerate(plan):
        if "wait" in step:
            driver.cloud.advance(step["wait"])
        elif "delete" in step:
            names = list(alive)
            if names:
                name = names[step["delete"] % len(names)]
                driver.delete_vm(name)
                driver.cloud.advance(10)
                del alive[name]
        else:
            name = f"vm{number}"
            record = driver.skus()[step["size"]]
            needs = {"lowPriorityCores"} if step["priority"] == "Spot" else {"cores", FAMILIES[step["size"]]}
            cores = VCPUS.get(step["size"], 2)
            room = all(used + cores <= limit for used, limit in map(driver.usage, needs))
            used, limit = driver.usage("virtualMachines")
            room = room and used + 1 <= limit
            spot_ok = step["priority"] == "Regular" or any(
                item == {"name": "LowPriorityCapable", "value": "True"} for item in record["capabilities"]
            )
            answer = driver.put_vm(name, **step)
            if answer.status == 201:
                alive[name] = step
                assert _open_in_list(record, step["zone"])  # what was let in, the list had offered
                assert room
                assert spot_ok
            elif answer.error_code == "OperationNotAllowed":
                assert not room  # a quota error only where the usages show none left
            elif answer.error_code == "SkuNotAvailable":
                assert not _open_in_list(record, step["zone"])
            elif answer.error_code == "InvalidParameter":
                assert not spot_ok
            else:
                assert answer.error_code is not None
                assert "Allocat" in answer.error_code
        _usages_are_what_lives(driver, alive)
    assert all(shelf.left >= 0 for shelf in driver.cloud.market.stock.shelves)


def _usages_are_what_lives(driver: Driver, alive: dict[str, dict[str, str]]) -> None:
    """The usages list is the sum over the VMs that exist: nothing lost, nothing counted twice."""
    expected: dict[str, int] = {}
    for launch in alive.values():
        cores = VCPUS.get(launch["size"], 2)
        names = ["lowPriorityCores"] if launch["priority"] == "Spot" else ["cores", FAMILIES[launch["size"]]]
        for name in names:
            expected[name] = expected.get(name, 0) + cores
    for name in ("cores", "lowPriorityCores", *set(FAMILIES.values())):
        assert driver.usage(name)[0] == expected.get(name, 0)
    assert driver.usage("virtualMachines")[0] == len(alive)
    assert [vm.name for vm in driver.cloud.vms()] == list(alive)


@settings(max_examples=40, deadline=None)
@given(
    overlay=st.dictionaries(
        st.sampled_from(SIZES), st.one_of(st.none(), st.floats(0, 100, allow_nan=False)), max_size=3
    )
)
def test_prices_list_says_what_the_market_charges(overlay: dict[str, float | None]) -> None:
    driver = Driver({"prices": overlay})
    body = driver.cloud.request(
        "GET", "/api/retail/prices", query={"$filter": "armRegionName eq 'eastus' and priceType eq 'Consumption'"}
    ).body
    assert body is not None
    listed = {
        item["armSkuName"]: item["retailPrice"] for item in body["Items"] if not item["skuName"].endswith(" Spot")
    }
    region = driver.cloud.market.region("eastus")
    assert region is not None
    assert listed == dict(driver.cloud.market.prices.table(region, "eastus"))
    assert set(listed) == set(driver.skus()) - {size for size, usd in overlay.items() if usd is None}


@settings(max_examples=30, deadline=None)
@given(plan=st.lists(launches, max_size=6), seconds=st.lists(st.sampled_from([0.1, 3.0, 10.0, 25.0]), max_size=4))
def test_same_requests_give_the_same_world(plan: list[dict[str, str]], seconds: list[float]) -> None:
    worlds = []
    for _ in range(2):
        driver = Driver()
        answers = [driver.put_vm(f"vm{number}", **launch) for number, launch in enumerate(plan)]
        for step in seconds:
            driver.cloud.advance(step)
        worlds.append((answers, driver.events, driver.cloud.journal.calls))
    assert worlds[0] == worlds[1]
