"""Resource Graph: the two queries that the controller sends, the language around them, paging and lag."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

import pytest

from fakeazure.arm.ids import ResourceId
from fakeazure.arm.messages import Response
from fakeazure.beginning import SUBSCRIPTION
from fakeazure.graph_rows import GraphRows
from fakeazure.resources.graph.kql import QueryError, compile_query
from fakeazure.store import Entry, Store
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


def test_the_past_within_the_lag_is_the_same_when_what_came_before_is_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("fakeazure.store._CHANGES", 5)
    chance, moment, lag = Random(3), [0.0], 7.0
    kept = Store()
    kept.remember(lambda: moment[0], lag)
    changes: list[tuple[float, str, bool]] = []
    for _ in range(500):
        moment[0] += chance.choice((0.0, 0.5, 1.0, 2.0))
        id_ = ResourceId("s", "g", "n", ("t",), (str(chance.randrange(6)),))
        goes = chance.random() < 0.4 and kept.get(id_) is not None
        if goes:
            kept.remove(id_)
        else:
            kept.put(id_, {})
        changes.append((moment[0], id_.key, goes))
        for behind in (0.0, 3.0, lag):
            past: dict[str, None] = {}
            for at, key, gone in changes:
                if at <= moment[0] - behind and gone:
                    past.pop(key)
                elif at <= moment[0] - behind:
                    past[key] = None
            assert [entry.id.key for entry in kept.as_of(moment[0] - behind)] == list(past)
    assert len(kept.history) < 60


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
    assert "".join(row["name"] for row in answer_of(query)) == names


def answer_of(query: str) -> list[Mapping[str, Any]]:
    return compile_query(query)({"Resources": list(ROWS), "Prices": PRICES}.__getitem__)


PRICES: list[Mapping[str, Any]] = [{"priority": "Spot", "usd": 1}, {"priority": "Regular", "usd": 4.5}]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("where isnotempty(tags) | project name, properties.priority", [{"name": "a", "properties_priority": "Spot"}]),
        ("where name == 'a' | project key = tags['k'], upper = toupper(name)", [{"key": "v", "upper": "A"}]),
        ("count", [{"Count": 3}]),
        ("summarize count() by type", [{"type": "t/one", "count_": 2}, {"type": "T/Two", "count_": 1}]),
        ("summarize all = count(), kinds = dcount(type)", [{"all": 3, "kinds": 2}]),
        ("where name == 'nope' | summarize count()", [{"count_": 0}]),
        ("summarize names = make_list(name) by lower = tolower(substring(type, 2, 1))", [
            {"lower": "o", "names": ["a", "c"]}, {"lower": "t", "names": ["B"]},
        ]),
        ("extend spot = iff(properties.priority == 'Spot', 1, 0) | summarize sum(spot), max(name)", [{"sum_spot": 1, "max_name": "c"}]),
        ("distinct type | order by type asc", [{"type": "T/Two"}, {"type": "t/one"}]),
        ("top 1 by name", [{**ROWS[2]}]),
        ("project-away tags, properties, type | where name !in ('a')", [{"name": "B"}, {"name": "c"}]),
        ("where name !contains 'a' | project name | project-rename called = name", [{"called": "B"}, {"called": "c"}]),
        ("where name == 'a' | extend part = split(type, '/')[1] | project part, n = array_length(split(type, '/'))", [
            {"part": "one", "n": 2},
        ]),
        ("where name == 'a' | mv-expand letter = split('x,y', ',') | project name, letter", [
            {"name": "a", "letter": "x"}, {"name": "a", "letter": "y"},
        ]),
        ("extend priority = tostring(properties.priority) | join kind=leftouter (Prices) on priority | project name, usd", [
            {"name": "a", "usd": 1}, {"name": "B", "usd": 4.5}, {"name": "c", "usd": None},
        ]),
        ("project p = tostring(properties.priority) | join (Prices | where usd > 2) on $left.p == $right.priority | project usd", [
            {"usd": 4.5},
        ]),
        ("where name == 'a' | project p = split('x/y/z', '/')[1], last = split('x/y/z', '/')[-1], none = split('x/y/z', '/')[3]", [
            {"p": "y", "last": "z", "none": None},
        ]),
        ("where name == 'a' | project tags['k'], toupper(name), tolower(type), upper=name", [
            {"tags_k": "v", "Column1": "A", "Column2": "t/one", "upper": "a"},
        ]),
        ("project n = toint(name), b = true | limit 1", [{"n": None, "b": True}]),
        ("where name == 'a' | project minus = -2, less = 1 - 2, raw = @'x\\y', no = false", [
            {"minus": -2, "less": -1, "raw": "x\\y", "no": False},
        ]),
        ("where name == 'a' | project first = split('x/y/z', '/', 1), rest = substring('abcd', 2)", [{"first": ["y"], "rest": "cd"}]),
        ("extend p = tostring(properties.priority), n = iff(name == 'a', 2, iff(name == 'B', 10, 1)) | order by n asc | project n", [
            {"n": 1}, {"n": 2}, {"n": 10},
        ]),
        ("extend k = properties.priority | order by k asc | project name", [{"name": "c"}, {"name": "B"}, {"name": "a"}]),
        ("where strlen(name) + 1 >= 2 and 3 - 1 == 2 | project name | limit 1", [{"name": "a"}]),
    ],
)  # fmt: skip
def test_what_queries_make_of_rows(query: str, found: list[Mapping[str, Any]]) -> None:
    assert answer_of(f"Resources | {query}") == found


def test_containers_are_a_table() -> None:
    driver = Driver()
    query = "ResourceContainers | where type =~ 'microsoft.resources/subscriptions/resourceGroups' | project name | order by name asc"
    assert [row["name"] for row in rows(ask(driver, query))] == ["MC_rg_c_eastus", "rg"]


def test_vms_are_counted_by_size() -> None:
    driver = Driver(timing=INSTANT)
    for name, size in (("a", "Standard_D2s_v5"), ("b", "Standard_D2s_v5"), ("c", "Standard_D4s_v5")):
        driver.put_vm(name, size=size)
    query = f"{VMS} | summarize n = count() by tostring(properties.hardwareProfile.vmSize)"
    assert [row["n"] for row in rows(ask(driver, query))] == [2, 1]


@pytest.mark.parametrize(
    "query",
    [
        "",
        "Resources |",
        "Resources | summarize x",
        "Resources | where",
        "Resources | take x",
        "R | where ;",
        "Resources | where " + "(" * 500 + "a == 1",
        "Resources | where frob(a) == 1",
        "Resources | join (Resources | join (Resources | join (Resources | join (Resources | join (Resources) on a) on a) on a) on a) on a",
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


def test_what_was_found_before_is_what_looking_anew_finds() -> None:
    random, driver = Random(7), Driver(timing=INSTANT)
    queries = (VMS, NICS, "Resources | where name startswith 'aks' | project name, tags", "Resources | count")
    for number in range(120):
        name = f"aks-{random.randrange(6)}"
        what = random.choice(["put", "put", "tag", "delete", "delete", "nothing"])
        if what == "put" and driver.get_vm(name).status == 404:
            driver.put_vm(name)
        elif what == "tag":
            tags = random.choice([{}, {"karpenter.sh_nodepool": "default", "turn": str(number)}])
            driver.call("PATCH", driver.vm_path(name), {"tags": tags})
        elif what == "delete":
            driver.call("DELETE", driver.vm_path(name))
        if number % 3:
            continue  # more than one change before somebody asks again
        remembered = [rows(ask(driver, query)) for query in queries]
        driver.cloud.state.graph = GraphRows()
        assert remembered == [rows(ask(driver, query)) for query in queries]
    assert any(remembered)


@pytest.mark.parametrize("changes", [100, 5000])
def test_rows_are_judged_once_each_and_stand_in_the_order_of_the_store(changes: int) -> None:
    random, store, remembered = Random(changes), Store(), GraphRows()
    judged: list[str] = []

    def judge(entry: Entry) -> Mapping[str, Any] | None:
        judged.append(entry.document["name"])
        return entry.document if entry.document["shown"] else None

    for number in range(4 * changes):
        id_ = ResourceId("s", "g", "Microsoft.Compute", ("virtualMachines",), (f"vm-{random.randrange(50)}",))
        if random.random() < 0.4:
            store.remove(id_)
        else:
            store.put(id_, {"name": f"{id_.name} {number}", "shown": random.random() < 0.7})
        if number % changes == 0:
            found = remembered.passing("all", store, 0.0, judge)
            assert found == [each.document for each in store.all() if each.document["shown"]]
            asked = len(judged)
            assert remembered.passing("all", store, 0.0, judge) == found
            assert len(judged) == asked


def test_has_finds_a_word_at_the_end_of_a_text() -> None:
    rows = [{"name": "a-b"}, {"name": "a-bc"}]
    assert list(compile_query("Resources | where name has 'b'")({"Resources": rows}.__getitem__)) == [{"name": "a-b"}]
