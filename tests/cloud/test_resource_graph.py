"""Resource Graph: the two queries that the controller sends, the language around them, paging and lag."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from fakeazure.arm.messages import Response
from fakeazure.cloud import SUBSCRIPTION
from fakeazure.resources.kql import QueryError, compile_query
from fakeazure.timing import INSTANT, Timing
from tests.cloud.driver import Driver, error_of

VMS = (
    'Resources | where type == "microsoft.compute/virtualmachines" | where resourceGroup == "mc_rg_c_eastus" '
    '| where tags has_cs "karpenter.sh_nodepool" | where not(tags has_cs "karpenter.azure.com_aksmachine_nodeclaim")'
)
NICS = VMS.replace("microsoft.compute/virtualmachines", "microsoft.network/networkinterfaces")


def ask(driver: Driver, query: str, **options: Any) -> Response:
    body = {"query": query, "options": {"resultFormat": "objectArray", **options}, "subscriptions": [SUBSCRIPTION]}
    return driver.call("POST", "/providers/Microsoft.ResourceGraph/resources", body, "2024-04-01")


def rows(answer: Response) -> list[Mapping[str, Any]]:
    assert answer.body is not None
    data = answer.body["data"]
    assert isinstance(data, list)
    return data


def test_controller_finds_its_vms_and_nics() -> None:
    driver = Driver(timing=INSTANT)
    driver.put_vm("aks-a")
    driver.put_nic("aks-alone")
    foreign = driver.vm_body("other") | {"tags": {"owner": "karpenter.sh_nodepools"}}
    driver.put_nic("other")
    driver.call("PUT", driver.vm_path("other"), foreign)
    [row] = rows(ask(driver, VMS))
    shown = driver.get_vm("aks-a").body
    assert shown is not None
    assert (row["id"], row["type"], row["resourceGroup"]) == (
        shown["id"],
        "microsoft.compute/virtualmachines",
        "mc_rg_c_eastus",
    )
    assert row["properties"] == shown["properties"]
    assert row["tags"]["karpenter.sh_nodepool"] == "default"
    assert {row["name"] for row in rows(ask(driver, NICS))} == {"aks-a", "aks-alone", "other"}


def test_vms_behind_aks_machines_are_left_out() -> None:
    driver = Driver(timing=INSTANT)
    driver.put_vm("aks-a")
    tags = {"karpenter.sh_nodepool": "default", "karpenter.azure.com_aksmachine_nodeclaim": "x"}
    driver.call("PATCH", driver.vm_path("aks-a"), {"tags": tags})
    assert rows(ask(driver, VMS)) == []


def test_other_subscriptions_see_nothing() -> None:
    driver = Driver(timing=INSTANT)
    driver.put_vm("aks-a")
    body = {"query": VMS, "subscriptions": ["11111111-1111-1111-1111-111111111111"]}
    answer = driver.call("POST", "/providers/Microsoft.ResourceGraph/resources", body, "2024-04-01")
    assert rows(answer) == []


def test_pages_by_skip_token() -> None:
    driver = Driver(timing=INSTANT)
    for name in "abcde":
        driver.put_vm(name)
    names, token = [], None
    for _ in range(3):
        answer = ask(driver, VMS, **{"$top": 2} | ({"$skipToken": token} if token else {}))
        names += [row["name"] for row in rows(answer)]
        assert answer.body is not None
        assert answer.body["totalRecords"] == 5
        token = answer.body.get("$skipToken")
    assert (names, token) == (list("abcde"), None)
    assert error_of(ask(driver, VMS, **{"$skipToken": "x"}))[:2] == (400, "BadRequest")


def test_learns_late_of_what_comes_and_goes() -> None:
    driver = Driver(timing=Timing(vm_create=0, vm_delete=0, graph_lag=30))
    driver.cloud.advance(100)
    driver.put_vm("aks-a")
    assert rows(ask(driver, VMS)) == []
    driver.cloud.advance(29)
    assert rows(ask(driver, VMS)) == []
    driver.cloud.advance(1)
    assert len(rows(ask(driver, VMS))) == 1
    driver.delete_vm("aks-a")
    assert len(rows(ask(driver, VMS))) == 1
    driver.cloud.advance(30)
    assert rows(ask(driver, VMS)) == []


ROWS = [
    {
        "name": "a",
        "type": "t/one",
        "tags": {"k": "v", "karpenter.sh_nodepool": "x"},
        "properties": {"priority": "Spot"},
    },
    {"name": "B", "type": "T/Two", "tags": {}, "properties": {"priority": "Regular"}},
    {"name": "c", "type": "t/one", "properties": {}},
]


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("Resources", "aBc"),
        ("Resources | where type == 't/one'", "ac"),
        ("Resources | where type =~ 't/two'", "B"),
        ("Resources | where type != 't/one' or name == 'a'", "aB"),
        ("Resources | where tags['k'] == 'v' and name == 'a'", "a"),
        ("Resources | where tags has_cs 'karpenter.sh_nodepool'", "a"),
        ("Resources | where tags has_cs 'karpenter.sh_node'", ""),  # `has` takes whole terms
        ("Resources | where tags has_cs 'arpenter.sh_nodepool'", ""),
        ("Resources | where tags has_cs 'Karpenter.sh_nodepool'", ""),
        ("Resources | where tags has 'KARPENTER.sh_nodepool'", "a"),
        ("Resources | where tags contains 'nodepo'", "a"),
        ("Resources | where isnotempty(tags)", "a"),
        ("Resources | where isnull(tags)", "c"),
        ("Resources | where properties.priority in~ ('spot', 'low')", "a"),
        ("Resources | where name in ('b', 'c')", "c"),
        ("Resources | where not(name startswith 'b')", "ac"),
        ("Resources | order by name desc | take 2", "ca"),
        ("Resources | limit 1", "a"),
    ],
)
def test_query_language(query: str, names: str) -> None:
    table, run = compile_query(query)
    assert table == "Resources"
    assert "".join(row["name"] for row in run(list(ROWS))) == names


def test_query_can_project_and_count() -> None:
    _, run = compile_query("Resources | where isnotempty(tags) | project name, properties.priority")
    assert run(list(ROWS)) == [{"name": "a", "properties.priority": "Spot"}]
    assert compile_query("Resources | count")[1](list(ROWS)) == [{"Count": 3}]


@pytest.mark.parametrize(
    "query",
    [
        "",
        "Resources |",
        "Resources | summarize x",
        "Resources | where",
        "Resources | where a == b",
        "Resources | take x",
        "R | where ;",
    ],
)
def test_query_mistakes(query: str) -> None:
    with pytest.raises(QueryError):
        compile_query(query)
    answer = ask(Driver(), query)
    assert error_of(answer)[:2] == (400, "BadRequest")
    assert answer.body is not None
    assert [detail["code"] for detail in answer.body["error"]["details"]] == ["InvalidQuery", "ParserFailure"]
    assert error_of(ask(Driver(), "Teapots"))[:2] == (400, "BadRequest")
