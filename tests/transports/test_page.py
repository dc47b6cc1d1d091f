"""The page at `/`: what of the world it shows, cut off where nobody reads on."""

from __future__ import annotations

import re

from fakeazure.timing import INSTANT
from fakeazure.transports.status_page import render
from tests.cloud.driver import Driver


def page(driver: Driver) -> str:
    return render(driver.cloud).decode()


def tables(text: str) -> dict[str, list[list[str]]]:
    """The cells of each table's rows below its header, by title."""
    found = {}
    for part in text.split("<h2>")[1:]:
        title, _, below = part.partition("</h2>")
        rows = re.findall(r"<tr[^>]*>(.*?)(?=<tr|</table)", below, re.DOTALL)
        found[title.partition(":")[0]] = [re.findall(r"<td[^>]*>([^<]*)</td>", row) for row in rows[1:]]
    return found


def test_an_empty_world_says_so() -> None:
    text = page(Driver())
    assert "<p>2026-01-01 00:00:00 UTC</p>" in text
    for title in (
        "Virtual machines: 0",
        "Quota in use",
        "Stock that is counted",
        "Declared faults",
        "Calls: 0, the last first",
    ):
        assert f"<h2>{title}</h2>\n<p>none</p>" in text
    assert "more</p>" not in text


def test_machines_quota_and_calls_are_shown() -> None:
    driver = Driver(azure={"quota": {"cores": 2}}, timing=INSTANT)
    driver.put_vm("aks-a", zone="2", priority="Spot")
    driver.put_vm("aks-b", zone="")
    driver.put_vm("aks-c")
    text = page(driver)
    found = tables(text)
    assert found["Virtual machines"] == [
        ["aks-a", "Standard_D2s_v5", "2", "Spot", "Succeeded"],
        ["aks-b", "Standard_D2s_v5", "regional", "Regular", "Succeeded"],
    ]
    used = [row[:2] for row in found["Quota in use"]]
    assert used == [[name, "2"] for name in ("cores", "virtualMachines", "lowPriorityCores", "standardDSv5Family")]
    last = found["Calls"][0]
    assert (last[:2], last[3:5]) == (["00:00:00", "PUT"], ["409", "OperationNotAllowed"])
    assert len(found["Calls"]) == 6
    full = re.findall(r"<tr class=bad>\n((?:<td[^>]*>[^<]*</td>)+)", text)
    assert [re.findall(r">([^<]+)<", row)[0] for row in full] == ["cores", "00:00:00"]
    assert "<td class=number>409</td>" in text
    assert "<td>PUT</td>" in text


def test_resources_are_those_at_the_top_but_machines() -> None:
    driver = Driver(timing=INSTANT)
    driver.put_vm("aks-a")
    kinds = [row[0] for row in tables(page(driver))["Other resources"]]
    assert "Microsoft.Network/networkInterfaces" in kinds
    assert "Microsoft.Compute/virtualMachines" not in kinds
    assert all(kind.count("/") == 1 for kind in kinds)


def test_two_hundred_rows_are_enough() -> None:
    driver = Driver(timing=INSTANT)
    for number in range(200):
        driver.put_nic(f"nic-{number:03}")
    assert len(tables(page(driver))["Calls"]) == 200
    assert "more</p>" in page(driver)  # of the resources: there is a network beside the interfaces
    assert "<h2>Calls: 200, the last first</h2>" in page(driver)
    driver.put_nic("one-more")
    text = page(driver)
    assert len(tables(text)["Calls"]) == 200
    assert text.partition("Calls: 201")[2].count("<p>and 1 more</p>") == 1


def test_long_paths_are_cut_in_their_middle() -> None:
    driver = Driver()
    short, long = "n" * (90 - len("Microsoft.Network/networkInterfaces/")), "x" * 80
    driver.call("GET", driver.nic_path(short))
    driver.call("GET", driver.nic_path(long))
    cut, whole = (row[2] for row in tables(page(driver))["Calls"])
    assert whole == f"Microsoft.Network/networkInterfaces/{short}"
    assert cut == f"Microsoft.Network/networkInterfaces/{long}"[:60] + "…" + "x" * 29


def test_what_runs_is_shown_until_it_is_over() -> None:
    driver = Driver()
    driver.cloud.advance(61)
    driver.put_vm("aks-a")
    rows = tables(page(driver))["Long operations that are running"]
    assert [row[1:] for row in rows] == [["eastus", "00:01:01"]]
    driver.cloud.advance(60)
    assert tables(page(driver))["Long operations that are running"] == []
