"""Which world answers: decorated classes and coroutines, nesting, threads, tasks, fixtures; and whose credentials are taken."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
import unittest
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from fakeazure import mock_azure
from fakeazure.mock import MockAzure
from tests.cloud.driver import CATALOGUE

OWN_SUBSCRIPTION = "deadbeef-0000-0000-0000-000000000001"
OWN_TENANT = "deadbeef-0000-0000-0000-000000000002"


def call(method: str, path: str, body: object = None, token: str = "", **headers: str) -> tuple[int, Any]:
    if token:
        headers["Authorization"] = f"Bearer {token}"
    data = body if isinstance(body, bytes) else None if body is None else json.dumps(body).encode()
    url = path if "://" in path else f"https://management.azure.com{path}"
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data, headers, method=method), timeout=5) as answer:
            return answer.status, json.loads(answer.read() or b"null")
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.loads(error.read() or b"null")


def make(azure: MockAzure, name: str) -> int:
    path = f"/subscriptions/{azure.subscription}/resourceGroups/{name}?api-version=2021-04-01"
    return call("PUT", path, {"location": "eastus"}, azure.token().token)[0]


def made(azure: MockAzure) -> list[str]:
    """The groups that a client sees, which has the token of `azure` and knows nothing of worlds."""
    _, body = call(
        "GET", f"/subscriptions/{azure.subscription}/resourcegroups?api-version=2021-04-01", token=azure.token().token
    )
    return sorted(group["name"] for group in body["value"] if group["name"].startswith("t"))


@mock_azure(catalogue=CATALOGUE)
class TestDecoratedClass:
    def test_each_begins_anew(self, azure: MockAzure) -> None:
        assert make(azure, "t1") == 201
        assert made(azure) == ["t1"]

    def test_each_begins_anew_again(self, azure: MockAzure) -> None:
        assert made(azure) == []

    def test_without_a_world_of_the_name(self) -> None:
        assert os.environ["AZURE_CLIENT_SECRET"] == "fakeazure"


@mock_azure(catalogue=CATALOGUE)
class TestDecoratedClassWithSetUp:
    def setup_method(self, azure: MockAzure) -> None:
        assert make(azure, "t1") == 201

    def test_what_was_set_up_is_there(self, azure: MockAzure) -> None:
        assert made(azure) == ["t1"]
        assert make(azure, "t2") == 201

    def test_and_nothing_else(self, azure: MockAzure) -> None:
        assert made(azure) == ["t1"]

    @staticmethod
    def test_static(azure: MockAzure) -> None:
        assert made(azure) == ["t1"]

    def teardown_method(self, method: Any) -> None:
        assert os.environ["AZURE_CLIENT_SECRET"] == "fakeazure"
        assert method.__name__.startswith("test_")


class Base(unittest.TestCase):
    def test_inherited(self, azure: Any = None) -> None:
        assert azure is None or made(azure) == ["t1"]


@mock_azure(catalogue=CATALOGUE)
class DecoratedCase(Base):
    @classmethod
    def setUpClass(cls, azure: Any = None) -> None:
        assert make(azure, "t1") == 201

    def test_own(self, azure: Any = None) -> None:
        assert made(azure) == ["t1"]


def test_a_decorated_class_stays_a_class_and_its_base_as_it_was() -> None:
    assert isinstance(DecoratedCase, type)
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(DecoratedCase).run(result)
    assert (result.testsRun, result.errors, result.failures) == (2, [], [])
    assert not hasattr(Base.test_inherited, "__wrapped__")


def test_a_decorated_coroutine_runs_within_its_mock() -> None:
    @mock_azure(catalogue=CATALOGUE)
    async def work(azure: MockAzure) -> int:
        await asyncio.sleep(0)
        return make(azure, "t1")

    assert [asyncio.run(work()), asyncio.run(work())] == [201, 201]
    assert asyncio.iscoroutinefunction(work)


def test_coroutines_that_run_together_have_a_world_each() -> None:
    async def work(number: int) -> list[str]:
        with mock_azure(catalogue=CATALOGUE) as azure:
            await asyncio.sleep(0)
            await asyncio.to_thread(make, azure, f"t{number}")
            await asyncio.sleep(0)
            return made(azure)

    async def all_of_them() -> list[list[str]]:
        return await asyncio.gather(*(work(number) for number in range(4)))

    assert asyncio.run(all_of_them()) == [["t0"], ["t1"], ["t2"], ["t3"]]


def test_threads_that_enter_a_mock_have_a_world_each() -> None:
    barrier = threading.Barrier(4)

    def work(number: int) -> list[str]:
        with mock_azure(catalogue=CATALOGUE) as azure:
            barrier.wait(10)
            make(azure, f"t{number}")
            with ThreadPoolExecutor(1) as helpers:  # a thread has the world of its starter
                helpers.submit(make, azure, f"t{number}-of-a-helper").result()
            barrier.wait(10)
            return made(azure)

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(work, range(4))) == [[f"t{n}", f"t{n}-of-a-helper"] for n in range(4)]


def test_threads_that_enter_none_share_the_one_that_is_on() -> None:
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(abs, range(8)))  # they run already
        with mock_azure(catalogue=CATALOGUE) as azure:
            assert set(threads.map(lambda number: make(azure, f"t{number}"), range(8))) == {201}
            assert made(azure) == [f"t{number}" for number in range(8)]


def test_threads_that_call_one_decorated_function_share_its_world() -> None:
    mock, barrier = mock_azure(catalogue=CATALOGUE), threading.Barrier(4)

    @mock
    def work(number: int) -> list[str]:
        barrier.wait(10)
        make(mock, f"t{number}")
        barrier.wait(10)
        return made(mock)

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(work, range(4))) == [["t0", "t1", "t2", "t3"]] * 4


def test_a_mock_within_another_is_a_world_of_its_own() -> None:
    with mock_azure(catalogue=CATALOGUE) as outer:
        make(outer, "t1")
        with mock_azure(catalogue=CATALOGUE) as inner:
            make(inner, "t2")
            assert made(inner) == ["t2"]
            with outer:
                assert made(outer) == ["t1"]
            assert made(inner) == ["t2"]
        assert made(outer) == ["t1"]


def identity(tenant: str) -> tuple[int, Any]:
    form = b"client_id=a&client_secret=b&grant_type=client_credentials&scope=https://management.azure.com/.default"
    return call("POST", f"https://login.microsoftonline.com/{tenant}/oauth2/v2.0/token", form)


def test_any_tenant_and_any_subscription_is_known() -> None:
    with mock_azure(catalogue=CATALOGUE) as azure:
        status, body = identity(OWN_TENANT)
        assert status == 200
        path = f"/subscriptions/{OWN_SUBSCRIPTION}/resourceGroups/g?api-version=2021-04-01"
        assert call("PUT", path, {"location": "eastus"}, body["access_token"])[0] == 201
        assert call("GET", path, token=body["access_token"])[0] == 200
        azure.reset()
        assert call("GET", path, token=body["access_token"])[0] == 404
        assert call("GET", "/subscriptions/x?api-version=2022-12-01", token=body["access_token"])[0] in (400, 404)


def test_a_strict_mock_knows_its_own_only() -> None:
    with mock_azure(catalogue=CATALOGUE, strict=True) as azure:
        assert identity(OWN_TENANT)[0] == 400
        path = f"/subscriptions/{OWN_SUBSCRIPTION}?api-version=2022-12-01"
        status, body = call("GET", path, token=azure.token().token)
        assert (status, body["error"]["code"]) == (404, "SubscriptionNotFound")


def test_a_managed_identity_has_a_token_of_imds() -> None:
    with mock_azure(catalogue=CATALOGUE) as azure:
        where = "http://169.254.169.254/metadata/identity/oauth2/token?api-version=2018-02-01"
        status, body = call("GET", f"{where}&resource=https://management.azure.com/", Metadata="true")
        assert status == 200
        path = f"/subscriptions/{azure.subscription}?api-version=2022-12-01"
        assert call("GET", path, token=body["access_token"])[0] == 200


def test_the_environment_has_credentials_and_gets_its_own_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_SUBSCRIPTION_ID", OWN_SUBSCRIPTION)
    monkeypatch.setenv("AZURE_CLIENT_SECRET", "a real one")
    monkeypatch.setenv("IDENTITY_ENDPOINT", "http://elsewhere")
    monkeypatch.delenv("AZURE_TENANT_ID", raising=False)
    before = dict(os.environ)
    with mock_azure(catalogue=CATALOGUE, tenant=OWN_TENANT):
        assert os.environ["AZURE_SUBSCRIPTION_ID"] == OWN_SUBSCRIPTION  # the user's own ids will do
        assert os.environ["AZURE_TENANT_ID"] == OWN_TENANT
        assert os.environ["AZURE_CLIENT_SECRET"] == "fakeazure"
        assert "IDENTITY_ENDPOINT" not in os.environ
    assert dict(os.environ) == before


SCOPES = """
import pytest
from fakeazure import mock_azure
from tests.transports.test_mock_worlds import made, make

@pytest.fixture(scope="session")
def whole():
    with mock_azure() as azure:
        make(azure, "t0")
        yield azure

@pytest.fixture(scope="module", autouse=True)
def module(whole):
    with mock_azure() as azure:
        make(azure, "t1")
        yield azure

@pytest.mark.parametrize("number", range(2))
def test_scopes(whole, module, fake_azure, number):
    assert made(fake_azure) == []
    make(fake_azure, "t2")
    with whole:
        assert made(whole) == ["t0"]
    assert made(fake_azure) == ["t2"]

def test_of_the_module(module):
    assert made(module) == ["t1"]
"""


@pytest.mark.parametrize("distributed", [[], ["-p", "xdist", "-n", "2"]], ids=["one process", "xdist"])
def test_fixtures_of_every_scope(tmp_path: Path, distributed: list[str]) -> None:
    if distributed:
        pytest.importorskip("xdist")
    (tmp_path / "test_it.py").write_text(SCOPES)
    root = Path(__file__).parents[2]
    plain = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PATH": os.environ["PATH"], "PYTHONPATH": str(root)}
    options = ["-p", "fakeazure.pytest_entry", "-p", "no:cacheprovider", "-q", *distributed, "test_it.py"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options], cwd=tmp_path, env=plain, capture_output=True, text=True, check=False
    )
    assert "3 passed" in done.stdout, done.stdout + done.stderr


def test_a_call_while_its_mock_is_on_has_the_world_as_it_is() -> None:
    mock = mock_azure(catalogue=CATALOGUE)

    @mock
    def names() -> list[str]:
        return made(mock)

    with mock:
        make(mock, "t1")
        assert names() == ["t1"]
    assert names() == []
