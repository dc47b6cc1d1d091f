"""What all of ARM shares: versions, not found, methods, throttling, paging, filters, the journal."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from fakeazure.arm.filters import FilterError, parse_filter
from fakeazure.arm.ids import ResourceId
from fakeazure.arm.messages import Response
from fakeazure.arm.routes import Route, Router
from fakeazure.arm.throttling import Bucket
from fakeazure.beginning import SUBSCRIPTION
from fakeazure.cloud import FakeAzure
from fakeazure.market.restrictions import Restriction
from tests.cloud.driver import CATALOGUE, Driver, error_of

SUB = f"/subscriptions/{SUBSCRIPTION}"
GROUP = f"{SUB}/resourceGroups/MC_rg_c_eastus/providers"


@pytest.mark.parametrize(
    ("method", "path", "version", "status", "code", "part"),
    [
        ("GET", f"{SUB}/providers/Microsoft.Compute/skus", "", 400, "MissingApiVersionParameter", "api-version"),
        ("GET", f"{SUB}/providers/Microsoft.Compute/skus", "latest", 400, "InvalidApiVersionParameter", "'latest'"),
        (
            "GET",
            "/subscriptions/nope/providers/Microsoft.Compute/skus",
            "2021-07-01",
            400,
            "InvalidSubscriptionId",
            "'nope'",
        ),
        (
            "GET",
            f"/subscriptions/{SUBSCRIPTION[:-1]}9/providers/Microsoft.Compute/skus",
            "2021-07-01",
            404,
            "SubscriptionNotFound",
            f"{SUBSCRIPTION[:-1]}9",
        ),
        (
            "GET",
            f"{SUB}/resourceGroups/nope/providers/Microsoft.Compute/virtualMachines/a",
            "2025-04-01",
            404,
            "ResourceGroupNotFound",
            "Resource group 'nope' could not be found.",
        ),
        (
            "GET",
            f"{GROUP}/Microsoft.Compute/virtualMachines/a",
            "2025-04-01",
            404,
            "ResourceNotFound",
            "The Resource 'Microsoft.Compute/virtualMachines/a' under resource group 'MC_rg_c_eastus' was not found.",
        ),
        ("GET", f"{GROUP}/Microsoft.Compute/teapots/a", "2025-04-01", 404, "InvalidResourceType", "microsoft.compute"),
        ("GET", f"{GROUP}/Contoso.Tea/pots/a", "2025-04-01", 404, "InvalidResourceNamespace", "contoso.tea"),
        ("POST", f"{SUB}/providers/Microsoft.Compute/skus", "2021-07-01", 405, "MethodNotAllowed", "'POST'"),
        ("PUT", f"{GROUP}/Microsoft.Compute/virtualMachines/a", "2025-04-01", 400, "InvalidRequestContent", "body"),
        (
            "GET",
            f"{SUB}/providers/Microsoft.Compute/locations/mars/usages",
            "2025-04-01",
            400,
            "NoRegisteredProviderFound",
            "mars",
        ),
        ("GET", f"{SUB}/providers/Microsoft.Compute/locations/eastus/operations/x", "2025-04-01", 404, "NotFound", "x"),
        ("GET", "/", "2025-04-01", 404, "InvalidResourceType", ""),
        (
            "GET",
            f"{SUB}/providers/Microsoft.Compute/locations/eastus/usages",
            "2025-04-02",
            400,
            "NoRegisteredProviderFound",
            "for location 'eastus' and API version '2025-04-02' for type 'locations/usages'. The supported api-versions are '2015-",
        ),
        (
            "GET",
            f"{SUB}/resourceGroups",
            "2021-04-02",
            400,
            "InvalidApiVersionParameter",
            "supported versions are '2025-",
        ),
        ("GET", f"{GROUP}/Microsoft.Network/networkInterfaces", "2099-01-01", 400, "NoRegisteredProviderFound", "2099"),
        (
            "GET",
            f"{GROUP}/Microsoft.Network/networkInterfaces",
            "2026-02-01",
            400,
            "NoRegisteredProviderFound",
            "2026-02",
        ),
    ],
)
def test_refusals_have_arms_codes(method: str, path: str, version: str, status: int, code: str, part: str) -> None:
    answer = Driver().call(method, path, None, version)
    assert error_of(answer)[:2] == (status, code)
    assert part in error_of(answer)[2]
    assert answer.headers["x-ms-error-code"] == code
    assert answer.headers["x-ms-request-id"]


def test_versions_newer_than_all_that_are_known_are_served() -> None:
    """A client may be newer than the list, but not by decades."""
    driver = Driver()
    path = f"{SUB}/providers/Microsoft.Compute/locations/eastus/usages"
    assert driver.call("GET", path, None, "2027-11-01").status == 200
    assert driver.call("GET", path, None, "2025-04-01-PREVIEW").status == 400
    assert driver.call("GET", path, None, "2026-08-06-Preview").status == 200


def test_long_conditions_are_read_and_deep_ones_refused() -> None:
    item = {"a": "x"}
    assert parse_filter(" and ".join(["a eq 'x'"] * 100))(item)
    assert parse_filter("(" * 30 + "a eq 'x'" + ")" * 30)(item)
    for deep in ("(" * 5000 + "a eq 'x'", "not " * 5000 + "a eq 'x'"):
        with pytest.raises(FilterError, match="nested more than 64 deep"):
            parse_filter(deep)


def test_paths_compare_without_case_and_ids_keep_theirs() -> None:
    driver = Driver()
    driver.put_vm("Aks-A")
    answer = driver.call("get", driver.vm_path("aks-a").upper().replace("/SUBSCRIPTIONS", "/subscriptions"))
    assert answer.body is not None
    assert answer.body["id"] == driver.vm_path("Aks-A")


def test_each_type_of_an_id_has_a_name() -> None:
    with pytest.raises(ValueError, match="shorter"):
        ResourceId("s", "g", "Microsoft.Compute", ("virtualMachines", "extensions"), ("vm",))


@pytest.mark.parametrize(
    ("status", "body", "code", "message"),
    [
        (409, {"error": {"code": "Busy", "message": "Try again."}}, "Busy", "Try again."),
        (409, {"code": "Busy", "message": "Try again."}, "Busy", "Try again."),
        (409, {"error": {"code": "Busy"}}, "Busy", ""),
        (409, {"error": "Busy"}, None, ""),
        (409, None, None, ""),
        (200, {"message": "All is well."}, None, ""),
        (200, None, None, ""),
    ],
)
def test_what_an_answer_says_of_its_error(status: int, body: Any, code: str | None, message: str) -> None:
    answer = Response(status, body=body)
    assert (answer.error_code, answer.error_message) == (code, message)


@pytest.mark.parametrize(
    ("pattern", "resource", "namespace", "type_"),
    [
        ("/tenancies", "tenancies", "Microsoft.Resources", "tenancies"),
        ("/tenancies/{tenancy}", "tenancies", "Microsoft.Resources", "tenancies"),
        ("/tenancies/{tenancy}/providers/Acme.Tea/pots", "pots", "Acme.Tea", "pots"),
        ("/tenancies/{tenancy}/providers/Acme.Tea/pots/{pot}/lids/{lid}", "lids", "Acme.Tea", "pots/lids"),
        ("/providers/Acme.Tea/pots/{pot}/providers/Acme.Milk/jugs/{jug}", "jugs", "Acme.Milk", "jugs"),
        ("/tenancies/{tenancy}/providers/{namespace}", "providers", "Microsoft.Resources", "tenancies/providers"),
        ("/tenancies/{tenancy}/providers/{namespace}/join", "join", "Microsoft.Resources", "tenancies/providers/join"),
        ("/providers/{namespace}/places/{place}/doings/{doing}", "doings", "", "providers/places/doings"),
        ("/{scope}", "", "Microsoft.Resources", ""),
    ],
)
def test_a_route_is_about_what_its_last_provider_has(pattern: str, resource: str, namespace: str, type_: str) -> None:
    route = Route[None]("GET", pattern, lambda _, __: Response(200))
    assert (route.resource, route.namespace, route.type) == (resource, namespace, type_)


def test_throttling_refills_with_virtual_time() -> None:
    driver = Driver(throttle={"reads": Bucket(2, 0.5)})
    path = f"{SUB}/providers/Microsoft.Compute/skus"
    seen = [driver.call("GET", path) for _ in range(3)]
    assert [answer.status for answer in seen] == [200, 200, 429]
    remaining = [answer.headers["x-ms-ratelimit-remaining-subscription-reads"] for answer in seen[:2]]
    assert remaining == ["1", "0"]
    assert (seen[2].headers["Retry-After"], seen[2].error_code) == ("2", "SubscriptionRequestsThrottled")
    assert seen[2].headers["x-ms-failure-cause"] == "gateway"  # who refused: ARM itself, not the service behind it
    driver.cloud.advance(1)
    assert driver.call("GET", path).headers["Retry-After"] == "1"
    driver.cloud.advance(1)
    assert driver.call("GET", path).status == 200
    driver.cloud.advance(1.5)
    assert driver.call("GET", path).headers["Retry-After"] == "1"  # of the half second that is left
    assert driver.put_nic("a").status == 201  # writes have a bucket of their own


def _nothing(state: object, request: object) -> Response:
    return Response(204)


@pytest.mark.parametrize("patterns", [("/a/{x}", "/{x}/b"), ("/{x}/b", "/a/{x}")])
def test_of_two_rows_that_a_path_has_the_first_counts(patterns: tuple[str, str]) -> None:
    router = Router([Route("GET", pattern, _nothing) for pattern in patterns])
    found = router.find("GET", "/A/b")
    assert found is not None
    assert (found.route.pattern, found.params) == (patterns[0], {"x": "b" if patterns[0] == "/a/{x}" else "A"})
    assert (router.find("GET", "/a"), router.find("PUT", "/a/b"), router.methods("/a/b/c")) == (None, None, ())


def machines(records: Iterable[Mapping[str, Any]]) -> list[str]:
    """The names of those of a list of SKUs that are sizes of machines."""
    return [record["name"] for record in records if record["resourceType"] == "virtualMachines"]


def test_paging_by_absolute_next_link() -> None:
    driver = Driver(page_size=3, base_url="https://arm.test")
    path, query = (
        f"{SUB}/providers/Microsoft.Compute/skus",
        {"api-version": "2021-07-01", "$filter": "location eq 'eastus'"},
    )
    items, pages = list[Any](), 0
    while path:
        body = driver.cloud.request("GET", path, query=query).body
        assert body is not None
        items += body["value"]
        pages += 1
        link = body.get("nextLink", "")
        assert not link or link.startswith(f"https://arm.test{path}?")
        path, query = (path, query | {"$skiptoken": link.rpartition("=")[2]}) if link else ("", query)
    names = machines(items)
    assert (len(names), len(set(names)), pages) == (7, 7, math.ceil(len(items) / 3))
    bad = driver.cloud.request(
        "GET", f"{SUB}/providers/Microsoft.Compute/skus", query={"api-version": "2021-07-01", "$skiptoken": "x"}
    )
    assert error_of(bad)[1] == "InvalidRequestContent"


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 7),
        ("location eq 'eastus'", 7),
        ("location eq 'East US'", 7),
        ("location eq 'westus'", 2),
        ("location eq 'mars'", 0),
    ],
)
def test_sku_list_is_filtered_by_location(text: str, count: int) -> None:
    query = {"api-version": "2021-07-01"} | ({"$filter": text} if text else {})
    body = Driver().cloud.request("GET", f"{SUB}/providers/Microsoft.Compute/skus", query=query).body
    assert body is not None
    assert len(machines(body["value"])) == count


def test_sku_list_without_filter_has_the_regions_that_are_served() -> None:
    for regions, count in ((None, 7), (("West US",), 2), (("eastus", "westus"), 9)):
        body = Driver(sku_regions=regions).call("GET", f"{SUB}/providers/Microsoft.Compute/skus").body
        assert body is not None
        assert len(machines(body["value"])) == count


def test_sku_list_follows_the_restrictions() -> None:
    driver = Driver()
    assert all(not sku["restrictions"] for sku in driver.skus().values())
    driver.cloud.market.restrictions.add(Restriction(size="Standard_D2s_v5"))
    assert [name for name, sku in driver.skus().items() if sku["restrictions"]] == ["Standard_D2s_v5"]
    driver.cloud.market.restrictions.add(Restriction(size="Standard_D4s_v5", zones=("1",)))
    assert [name for name, sku in driver.skus().items() if sku["restrictions"]] == [
        "Standard_D2s_v5",
        "Standard_D4s_v5",
    ]


ITEM = {"a": "x", "n": 2.0, "deep": {"b": "y's"}}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a eq 'x' and n eq 2", True),
        ("a eq 'X'", False),
        ("a ne 'x' or n gt 1", True),
        ("not (a eq 'x')", False),
        ("deep/b eq 'y''s'", True),
        ("contains(a, 'x') and startswith(deep/b, 'y')", True),
        ("missing lt 3", False),
        ("missing eq 'x'", False),
    ],
)
def test_filter_expressions(text: str, expected: bool) -> None:
    assert parse_filter(text)(ITEM) is expected


@pytest.mark.parametrize("text", ["a eq", "a like 'x'", "a eq 'x' b", "(a eq 'x'", "a eq ]", "a eq b"])
def test_filter_mistakes(text: str) -> None:
    with pytest.raises(FilterError):
        parse_filter(text)
    query = {"api-version": "2021-07-01", "$filter": text}
    answer = Driver().cloud.request("GET", f"{SUB}/providers/Microsoft.Compute/skus", query=query)
    assert error_of(answer)[:2] == (400, "InvalidFilterInQueryString")


def test_unregistered_namespace_is_refused_until_registered() -> None:
    driver = Driver()
    driver.cloud.state.subscriptions[SUBSCRIPTION].add("Microsoft.Network")
    assert error_of(driver.put_nic("a"))[:2] == (409, "MissingSubscriptionRegistration")
    provider = f"{SUB}/providers/Microsoft.Network"
    shown = driver.call("GET", provider).body
    assert shown is not None
    assert shown["registrationState"] == "NotRegistered"
    registered = driver.call("POST", f"{provider}/register").body
    assert registered is not None
    assert registered["registrationState"] == "Registered"
    assert driver.put_nic("a").status == 201


def test_journal_keeps_every_call() -> None:
    driver = Driver()
    driver.put_vm("aks-a", priority="Spot")
    driver.cloud.advance(1)
    driver.get_vm("aks-b")
    nic, vm, missing = driver.cloud.journal
    assert (nic.method, nic.resource, nic.status, nic.code) == ("PUT", "networkInterfaces", 201, None)
    assert (vm.number, vm.name, vm.api_version) == (2, "aks-a", "2025-04-01")
    assert vm.summary == {"size": "Standard_D2s_v5", "zones": ["1"], "priority": "Spot"}
    assert (missing.time - vm.time, missing.code) == (1, "ResourceNotFound")
    assert str(vm) == "PUT virtualMachines/aks-a 201 size=Standard_D2s_v5 zones=['1'] priority=Spot"
    assert driver.cloud.journal.find(method="GET", status=404) == [missing]


def test_subscription_and_group_reads() -> None:
    driver = Driver()
    for path, count in ((f"{SUB}/locations", 2), (f"{SUB}/resourceGroups", 2), ("/subscriptions", 1), ("/tenants", 1)):
        body = driver.call("GET", path).body
        assert body is not None
        assert len(body["value"]) == count
    assert driver.call("PUT", f"{SUB}/resourceGroups/new", {"location": "westus"}).status == 201
    assert driver.call("GET", f"{SUB}/resourceGroups/NEW").status == 200
    resources = driver.call("GET", f"{SUB}/resourceGroups/MC_rg_c_eastus/resources").body
    assert resources is not None
    assert "aks-vnet-12345678" in {item["name"] for item in resources["value"]}


def test_plain_resources_are_kept_as_they_are_put() -> None:
    driver = Driver()
    path = driver.path("Microsoft.Compute/diskEncryptionSets", "des")
    body = {"location": "East US", "properties": {"encryptionType": "EncryptionAtRestWithCustomerKey"}}
    assert driver.call("PUT", path, body).status == 201
    shown = driver.call("GET", path).body
    assert shown is not None
    assert (shown["location"], shown["properties"]["encryptionType"]) == ("eastus", "EncryptionAtRestWithCustomerKey")
    assert driver.call("PUT", path, body).status == 200
    assert driver.call("DELETE", path).status == 200
    assert driver.call("DELETE", path).status == 204


def test_unknown_region_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="did you mean 'eastus'"):
        FakeAzure(region="eastuss")
    with pytest.raises(KeyError):
        FakeAzure(region="mars", catalogue=CATALOGUE)


@pytest.mark.parametrize(
    ("headers", "on_new", "on_old"),
    [
        ({"If-None-Match": "*"}, 201, 412),
        ({"If-Match": "*"}, 412, 200),
        ({"If-Match": '"stale"'}, 412, 412),
        ({}, 201, 200),
    ],
)
def test_conditional_puts(headers: dict[str, str], on_new: int, on_old: int) -> None:
    driver = Driver()
    driver.put_vm("old")
    driver.put_nic("new")
    for name, status in (("new", on_new), ("old", on_old)):
        answer = driver.cloud.request(
            "PUT", driver.vm_path(name), query={"api-version": "2025-04-01"}, body=driver.vm_body(name), headers=headers
        )
        assert answer.status == status
    for name, status in (("other", on_new), ("old", on_old)):
        answer = driver.cloud.request(
            "PUT",
            driver.nic_path(name),
            query={"api-version": "2022-01-01"},
            body=driver.nic_body(name),
            headers=headers,
        )
        assert answer.status == status


def test_current_etag_matches_until_the_next_change() -> None:
    driver = Driver()
    answer = driver.put_vm("a")
    assert answer.body is not None
    etag = answer.body["etag"]
    for status in (200, 412):
        answer = driver.cloud.request(
            "PATCH",
            driver.vm_path("a"),
            query={"api-version": "2025-04-01"},
            body={"tags": {"a": "b"}},
            headers={"if-match": etag},
        )
        assert answer.status == status
