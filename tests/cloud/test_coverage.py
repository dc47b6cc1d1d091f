"""The list of what is emulated: it comes from the routes, its notes are about something, and what is not there names what is."""

from __future__ import annotations

import json

import pytest

from fakeazure import coverage
from fakeazure.cli import run
from fakeazure.coverage import operations, page
from fakeazure.routing import router
from tests.cloud.driver import Driver, error_of
from tests.project.tree import ROOT


def test_every_route_is_an_operation_and_every_note_is_about_one() -> None:
    found = operations(router().routes)
    assert len(found) == len({(route.method, route.pattern) for route in router().routes}) > 250
    assert set(coverage._PARTLY) <= {f"{route.namespace}/{route.type}" for route in router().routes}
    assert {one.provider for one in found} >= {"Microsoft.Compute", "Microsoft.Network", "Microsoft.Authorization"}


def test_the_page_is_the_one_in_the_documentation() -> None:
    assert (ROOT / "docs/reference/fakeazure-coverage.md").read_text() == "\n".join(
        page(operations(router().routes))
    ) + "\n"


@pytest.mark.parametrize(
    ("method", "path", "like"),
    [
        ("GET", "Microsoft.Compute/virtualMachine", "GET Microsoft.Compute/virtualMachines"),
        ("POST", "Microsoft.Compute/virtualMachines/a/restarts", "POST Microsoft.Compute/virtualMachines/restart"),
        ("GET", "Contoso.Tea/pots", None),
    ],
)
def test_what_is_not_there_names_the_nearest(method: str, path: str, like: str | None) -> None:
    driver = Driver()
    answer = driver.call(method, driver.path(path))
    assert error_of(answer)[0] == 404
    assert answer.headers.get("x-fakeazure-nearest") == like


def test_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["coverage", "--provider", "microsoft.compute", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {one["provider"] for one in found} == {"Microsoft.Compute"}
    assert {"method": "POST", "type": "virtualMachines/runCommand", "state": "partly"}.items() <= next(
        one for one in found if one["type"] == "virtualMachines/runCommand"
    ).items()
    assert run(["coverage"]) == 0
    assert "Microsoft.Network" in capsys.readouterr().out
