"""Where a bound is: the last that is taken, and the first that is not; what comes back from what is asked twice or too early."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fakeazure.arm.api_versions import API_VERSIONS
from fakeazure.arm.ids import ResourceId
from fakeazure.arm.json_text import read
from fakeazure.beginning import SUBSCRIPTION
from fakeazure.resources.deployments.template_expressions import TemplateError, evaluate
from fakeazure.resources.graph.kql import QueryError, compile_query
from fakeazure.resources.graph.kql_expressions import DEEPEST
from fakeazure.store import Store
from fakeazure.timers import ManualClock, Timers
from fakeazure.timing import INSTANT
from tests.cloud.aks_machine import get, machine_body, put
from tests.cloud.aks_machine import properties as shown
from tests.cloud.driver import Driver, error_of
from tests.cloud.test_resource_graph import ask, rows
from tests.cloud.test_scale_sets import KIND as SETS
from tests.cloud.test_scale_sets import body as set_body


@pytest.mark.parametrize("namespace", ["Microsoft.Compute", "Microsoft.Network"])
def test_a_preview_of_the_last_day_is_served_and_one_of_the_newest_day_is_not(namespace: str) -> None:
    newest = API_VERSIONS[namespace][-1]
    driver = Driver()
    path = f"/subscriptions/{SUBSCRIPTION}/providers/{namespace}/locations/eastus/usages"
    last = f"{int(newest[:4]) + 2}{newest[4:10]}"
    for version, status in ((f"{last}-preview", 200), (last, 200), (f"{newest[:10]}-privatepreview", 400)):
        assert driver.call("GET", path, None, version).status == status, version


def test_pages_that_are_just_full() -> None:
    driver = Driver(timing=INSTANT, page_size=2)
    path = driver.path("Microsoft.Compute/virtualMachines")
    for names, more in (("ab", False), ("c", True)):
        for name in names:
            driver.put_vm(name)
        body = driver.call("GET", path).body
        assert body is not None
        assert (len(body["value"]), "nextLink" in body) == (2, more)


def test_many_shallow_lists_are_not_deep() -> None:
    assert read(b'{"a":[' + b"[]," * 50 + b"[]]}", 3) == {"a": [[]] * 51}
    with pytest.raises(ValueError, match="MaxDepth of 2"):
        read(b'{"a":[' + b"[]," * 50 + b"[]]}", 2)


def deepest(text: Callable[[int], str], refusal: type[Exception], read_: Callable[[str], object]) -> int:
    """How deep a text may be nested."""
    depth = 0
    while True:
        try:
            read_(text(depth + 1))
        except refusal:
            return depth
        depth += 1


def test_how_deep_queries_and_expressions_may_be() -> None:
    nested = deepest(lambda n: "T | where " + "(" * n + "a == 1" + ")" * n, QueryError, compile_query)
    joins = deepest(lambda n: "T | join (" * n + "T" + ") on a" * n, QueryError, compile_query)
    calls = deepest(
        lambda n: "[" + "not(" * n + "true()" + ")" * n + "]", TemplateError, lambda text: evaluate(text, {})
    )
    assert (nested, joins, calls) == (DEEPEST - 1, 4, 63)


def test_terms_beside_each_other_are_not_deep() -> None:
    compile_query("T | where " + " and ".join(["(a == 1)"] * 500))
    parts = ", ".join(["concat('a', 'b')"] * 200)
    assert evaluate(f"[length(createArray({parts}))]", {}) == 200


@pytest.mark.parametrize("index", [-1, 2])
def test_a_place_outside_of_an_array_is_refused(index: int) -> None:
    with pytest.raises(TemplateError, match=f"property '{index}' doesn't exist"):
        evaluate(f"[createArray(1, 2)[{index}]]", {})


def test_numbers_of_a_query() -> None:
    driver = Driver(timing=INSTANT)
    driver.put_nic("a")
    query = "Resources | where type == 'microsoft.network/networkinterfaces' | project x = {}"
    for text, value in (("-1.5", -1.5), ("-10", -10), (str(2**63 - 1), 2**63 - 1)):
        assert [row["x"] for row in rows(ask(driver, query.format(text)))] == [value]
    with pytest.raises(QueryError):
        compile_query(query.format(str(2**63)))


def test_of_the_left_each_key_is_joined_once_unless_inner_is_said() -> None:
    driver = Driver(timing=INSTANT)
    for name in ("a", "b"):
        driver.put_nic(name)
    nics = "Resources | where type == 'microsoft.network/networkinterfaces' | project name, type"
    counts = [
        [row["name"] for row in rows(ask(driver, f"{nics} | join {kind} ({nics}) on type"))]
        for kind in ("", "kind=innerunique", "kind=inner", "kind=leftouter")
    ]
    assert counts == [["a", "a"], ["a", "a"], ["a", "a", "b", "b"], ["a", "a", "b", "b"]]


@pytest.mark.parametrize("named", ["/x/images/y", "/x/versions/1", "/x/images/y/versions"])
def test_an_image_needs_a_name_and_a_version(named: str) -> None:
    driver = Driver(timing=INSTANT)
    driver.put_nic("a")
    answer = driver.call("PUT", driver.vm_path("a"), driver.vm_body("a", image=named))
    assert error_of(answer)[:2] == (404, "GalleryImageNotFound")


@pytest.mark.parametrize(
    ("size", "change", "said"),
    [
        ("Standard_D2s_v5", {"operatingSystem": {"osDiskType": "Ephemeral", "osDiskSizeGB": 30}}, "phemeral"),
        ("Standard_E2s_v5", {"security": {"enableEncryptionAtHost": True}}, ""),
        ("Standard_A2_v2", {"security": {"enableEncryptionAtHost": True}, "nodeImageVersion": ""}, "ncryption"),
    ],
)
def test_a_machine_that_its_size_cannot_be(size: str, change: dict[str, Any], said: str) -> None:
    driver = Driver()
    body = machine_body(size)
    for name, value in change.items():
        before = body["properties"].get(name)
        body["properties"][name] = {**before, **value} if isinstance(value, dict) else value
    put(driver, "m", body)
    driver.cloud.advance(900)
    found = shown(get(driver, "m"))
    assert found["provisioningState"] == ("Failed" if said else "Succeeded")
    assert said in found["status"].get("provisioningError", {}).get("message", "")


def test_a_size_is_changed_though_the_quota_has_become_smaller_than_what_is_used() -> None:
    driver = Driver(timing=INSTANT)
    driver.put_vm("a")
    driver.cloud.market.quota.set_limit("cores", 1)
    assert driver.resize_vm("a", "Standard_D2ds_v5").status == 200
    larger = driver.resize_vm("a", "Standard_D4s_v5")
    assert error_of(larger)[:2] == (409, "OperationNotAllowed")


def test_lists_of_sizes_are_made_once_for_each_region() -> None:
    market = Driver({"restrictions": [{"size": "Standard_D2s_v5", "location": "eastus"}]}).cloud.market
    first, other = market.skus("eastus"), market.skus("westus")
    assert first is not other
    assert (market.skus("eastus") is first, market.skus("westus") is other) == (True, True)


def test_a_scale_set_of_vms_tells_what_is_wrong_with_a_vm() -> None:
    driver = Driver(timing=INSTANT)
    sent = set_body(driver, 1, orchestrationMode="Flexible")
    sent["sku"]["name"] = "Standard_A2_v2"
    refused = driver.call("PUT", driver.path(SETS, "s"), sent)
    assert error_of(refused)[0] == 400
    assert driver.cloud.vms() == []


def test_a_refused_change_leaves_nothing_to_be_gone() -> None:
    driver = Driver(timing=INSTANT)
    driver.put_vm("a")
    driver.call("PUT", driver.vm_path("a"), {"location": "eastus", "properties": 5})
    refused = driver.cloud.calls.where(method="PUT", resource="virtualMachines", accepted=False)
    assert [call.status for call in refused] == [400]
    refused.all_gone()


def test_a_snapshot_is_written_into_folders_that_are_not_there_yet(tmp_path: Path) -> None:
    cloud, folder = Driver().cloud, tmp_path / "a" / "b"
    for _ in range(2):
        cloud.save(folder)
    assert folder.joinpath("world.json.gz").read_bytes() == cloud.snapshot()


def test_the_changes_after_a_revision() -> None:
    store = Store()
    ids = [ResourceId.parse(f"/subscriptions/s/resourceGroups/g/providers/A.B/cs/{name}") for name in "abc"]
    for id_ in ids:
        store.put(id_, {})
    revision = store.revision
    store.remove(ids[0])
    store.put(ids[1], {"x": 1})
    changes = store.since(revision)
    assert changes is not None
    assert [(key, None if entry is None else entry.document) for key, entry in changes] == [
        (ids[0].key, None),
        (ids[1].key, {"x": 1}),
    ]
    assert [*(store.since(store.revision) or ())] == []
    assert len([*(store.since(0) or ())]) == store.revision


def test_how_many_actions_ran() -> None:
    clock = ManualClock(0)
    timers, inner = Timers(clock), list[int]()
    for seconds in (1, 2, 3):
        timers.after(seconds, lambda: inner.append(timers.run_until(10)))
    assert timers.due() == 0
    clock.advance(2)
    assert (timers.due(), timers.run_until(), timers.run_until()) == (2, 2, 0)
    assert inner == [0, 0]
    assert (timers.run_until(3), timers.next_due()) == (1, None)
