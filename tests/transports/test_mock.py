"""`mock_azure()`: Azure for the code inside."""

from __future__ import annotations

from typing import Any

import pytest

requests = pytest.importorskip("requests")

from fakeazure import mock_azure  # noqa: E402
from fakeazure.mock import MockAzure  # noqa: E402
from tests.cloud.driver import CATALOGUE  # noqa: E402


def group(azure: MockAzure, method: str, name: str) -> int:
    """As an SDK would: with a token of the credential it was given."""
    token = azure.credential().get_token("https://management.azure.com/.default").token
    url = (
        f"https://management.azure.com/subscriptions/{azure.subscription}/resourceGroups/{name}?api-version=2021-04-01"
    )
    body = {"location": "eastus"} if method == "PUT" else None
    return int(requests.request(method, url, json=body, headers={"Authorization": f"Bearer {token}"}).status_code)


def test_context() -> None:
    with mock_azure(catalogue=CATALOGUE) as azure:
        assert group(azure, "PUT", "new") == 201
        assert group(azure, "GET", "new") == 200
        azure.reset()
        assert group(azure, "GET", "new") == 404
    assert azure.cloud.journal.find(resource="resourceGroups", status=404)
    with pytest.raises(RuntimeError, match="not entered"):
        azure.token()


@mock_azure(catalogue=CATALOGUE)
def test_decorator_gives_the_world(azure: MockAzure) -> None:
    assert group(azure, "PUT", "new") == 201


def test_each_call_of_a_decorated_function_begins_anew() -> None:
    mock = mock_azure(catalogue=CATALOGUE)

    @mock
    def once(number: int, azure: MockAzure) -> int:
        return number + group(azure, "PUT", "new")

    assert [once(1), once(2)] == [202, 203]  # created, both times

    @mock
    def silent() -> Any:
        return group(mock, "PUT", "new")

    assert silent() == 201
