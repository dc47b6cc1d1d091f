"""The fake cloud's page at `/` in Chromium: it shows what is there, asks for nothing else, and fits a telephone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from fakeazure.transports.server import HttpServer
from fakeazure.transports.wire import Front
from tests.cloud.driver import Driver


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    driver = Driver({"quota": {"cores": 4}, "faults": [{"what": "AllocationFailed", "where": {"zone": "3"}}]})
    for number in range(3):
        driver.put_vm(f"aks-default-{number}", zone="1")
    with HttpServer(Front(driver.cloud)) as server:
        yield f"{server.url}/"


@pytest.mark.smoke
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (400, "dark")])
def test_it_shows_what_is_there(browser: Any, url: str, width: int, scheme: str) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    tab = context.new_page()
    asked: list[str] = []
    complaints: list[str] = []
    tab.on("request", lambda request: asked.append(request.url))
    tab.on("console", lambda said: complaints.append(said.text) if said.type in ("error", "warning") else None)
    tab.goto(url)
    assert (asked, complaints) == ([url], [])
    assert tab.locator("h1").inner_text() == "fakeazure: eastus"
    assert tab.locator("h2").first.inner_text() == "Virtual machines: 2"
    row = tab.locator("tr", has_text="aks-default-0").first
    assert row.locator("td").all_inner_texts() == ["aks-default-0", "Standard_D2s_v5", "1", "Regular", "Creating"]
    refused = tab.locator("tr.bad", has_text="OperationNotAllowed")
    assert refused.locator("td").nth(2).inner_text() == "Microsoft.Compute/virtualMachines/aks-default-2"
    assert tab.locator("tr.bad", has_text="cores").count() == 1  # the quota is full
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    dark = tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(16, 20, 24)"
    assert dark == (scheme == "dark")
    context.close()
