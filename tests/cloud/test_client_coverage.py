"""The page of operations × clients is made of what was found, and all of that is served."""

from __future__ import annotations

import json

from fakeazure.routing import router
from tests.clients.coverage import FILE, PAGE, operations, page


def test_the_page_is_made_of_the_runs() -> None:
    assert PAGE.read_text() == "\n".join(page(json.loads(FILE.read_text()))) + "\n"


def test_what_clients_did_is_served() -> None:
    served = {f"{route.method} {route.pattern}" for route in router().routes}
    for name, client in json.loads(FILE.read_text()).items():
        assert set(client["operations"]) <= served, name
        assert client["counts"]["works"] > 10, name
        assert not client["counts"].get("wrong"), name


def test_operations_are_those_that_were_answered() -> None:
    calls = [
        {"method": "GET", "path": "/subscriptions", "status": 200},
        {"method": "GET", "path": "/tenants", "status": 401},
        {"method": "GET", "path": "/nothing", "status": 200},
    ]
    assert operations(calls) == ["GET /subscriptions"]
