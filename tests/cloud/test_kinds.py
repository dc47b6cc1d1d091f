"""Disks, security groups, addresses, identities, keys, images: what Azure fills in, refuses and keeps together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from fakeazure.arm.messages import Response
from fakeazure.beginning import SUBSCRIPTION
from fakeazure.timing import Timing
from tests.cloud.driver import Driver, error_of

SUB = f"/subscriptions/{SUBSCRIPTION}"


def put(driver: Driver, kind: str, name: str, **body: Any) -> Response:
    return driver.call("PUT", driver.path(kind, name), {"location": "eastus", **body})


def properties(answer: Response) -> Mapping[str, Any]:
    assert answer.body is not None
    assert answer.status < 300, answer.body
    found: Mapping[str, Any] = answer.body["properties"]
    return found


def test_disk_is_a_long_operation_with_a_tier() -> None:
    driver = Driver(timing=Timing(resource=2))
    answer = put(
        driver,
        "Microsoft.Compute/disks",
        "d",
        sku={"name": "Premium_LRS"},
        properties={"creationData": {"createOption": "Empty"}, "diskSizeGB": 200},
    )
    assert answer.status == 202
    assert {"Location", "Azure-AsyncOperation"} <= set(answer.headers)
    assert (properties(answer)["tier"], properties(answer)["diskIOPSReadWrite"]) == ("P15", 1100)
    poll = driver.poll(answer)
    assert poll.body is not None
    assert poll.body["status"] == "InProgress"
    driver.cloud.advance(2)
    last = driver.poll(answer, "Location")
    assert (last.status, properties(last)["diskSizeGB"]) == (200, 200)
    path = driver.path("Microsoft.Compute/disks", "d")
    patched = driver.call("PATCH", path, {"properties": {"diskSizeGB": 600}, "tags": {"a": "b"}})
    assert patched.status == 202
    assert (properties(driver.call("GET", path))["tier"], properties(patched)["diskState"]) == ("P30", "Unattached")
    assert error_of(driver.call("PATCH", path, {"properties": {"diskSizeGB": 1}}))[:2] == (409, "OperationNotAllowed")
    assert driver.call("DELETE", path).status == 202


@pytest.mark.parametrize("size", [0, -1, 40_000])
def test_disk_size_has_bounds(size: int) -> None:
    answer = put(
        Driver(),
        "Microsoft.Compute/disks",
        "d",
        properties={"creationData": {"createOption": "Empty"}, "diskSizeGB": size},
    )
    assert error_of(answer)[:2] == (400, "InvalidParameter")


def test_disks_of_a_vm_belong_to_it_and_survive_it_unless_told() -> None:
    driver = Driver()
    put(
        driver,
        "Microsoft.Compute/disks",
        "old",
        properties={"creationData": {"createOption": "Empty"}, "diskSizeGB": 8},
    )
    disks = [
        {"lun": 0, "name": "new", "createOption": "Empty", "diskSizeGB": 4, "deleteOption": "Delete"},
        {"lun": 1, "createOption": "Attach", "managedDisk": {"id": driver.path("Microsoft.Compute/disks", "old")}},
    ]
    body = driver.vm_body("aks-a")
    body["properties"]["storageProfile"]["dataDisks"] = disks
    driver.put_nic("aks-a")
    assert driver.call("PUT", driver.vm_path("aks-a"), body).status == 201
    owners = {}
    for name in ("aks-a", "new", "old"):
        shown = driver.call("GET", driver.path("Microsoft.Compute/disks", name)).body
        assert shown is not None
        owners[name] = (shown["managedBy"], shown["properties"]["diskState"])
    assert set(owners.values()) == {(driver.vm_path("aks-a"), "Attached")}
    assert error_of(driver.call("DELETE", driver.path("Microsoft.Compute/disks", "old")))[:2] == (
        409,
        "OperationNotAllowed",
    )
    driver.cloud.vanish("aks-a")
    left = {entry.id.name: entry.document for entry in driver.cloud.state.store.list("Microsoft.Compute/disks")}
    assert set(left) == {"old"}
    assert ("managedBy" in left["old"], left["old"]["properties"]["diskState"]) == (False, "Unattached")


def test_data_disks_can_be_attached_and_detached_by_patch() -> None:
    driver = Driver()
    driver.put_vm("aks-a")
    disk = {"lun": 0, "name": "new", "createOption": "Empty", "diskSizeGB": 4}
    for disks, state in (([disk], "Attached"), ([], "Unattached")):
        driver.call("PATCH", driver.vm_path("aks-a"), {"properties": {"storageProfile": {"dataDisks": disks}}})
        assert properties(driver.call("GET", driver.path("Microsoft.Compute/disks", "new")))["diskState"] == state
    os_disk = properties(driver.get_vm("aks-a"))["storageProfile"]["osDisk"]
    assert os_disk["name"] == "aks-a"


def test_security_rules_have_priorities_of_their_own() -> None:
    driver = Driver()
    group = driver.path("Microsoft.Network/networkSecurityGroups", "g")
    answer = put(driver, "Microsoft.Network/networkSecurityGroups", "g")
    assert len(properties(answer)["defaultSecurityRules"]) == 6
    rule = {"priority": 200, "direction": "Inbound", "access": "Allow", "protocol": "Tcp"}
    assert driver.call("PUT", f"{group}/securityRules/a", {"properties": rule}).status == 201
    assert error_of(driver.call("PUT", f"{group}/securityRules/b", {"properties": rule}))[1] == "SecurityRuleConflict"
    outbound = {**rule, "direction": "Outbound"}
    assert driver.call("PUT", f"{group}/securityRules/b", {"properties": outbound}).status == 201
    wrong = {**rule, "priority": 5000}
    assert (
        error_of(driver.call("PUT", f"{group}/securityRules/c", {"properties": wrong}))[1]
        == "SecurityRuleInvalidPriority"
    )
    assert [one["name"] for one in properties(driver.call("GET", group))["securityRules"]] == ["a", "b"]
    missing = driver.path("Microsoft.Network/networkSecurityGroups", "nope")
    assert (
        error_of(driver.call("PUT", f"{missing}/securityRules/a", {"properties": rule}))[1] == "ParentResourceNotFound"
    )


def test_public_addresses_have_an_address() -> None:
    driver = Driver()
    addresses, standard = "Microsoft.Network/publicIPAddresses", {"name": "Standard"}
    found = [properties(put(driver, addresses, name, sku=standard))["ipAddress"] for name in ("a", "b")]
    assert len(set(found)) == 2
    wrong = put(driver, addresses, "d", sku=standard, properties={"publicIPAllocationMethod": "Dynamic"})
    assert error_of(wrong)[1] == "StandardSkuPublicIPAddressesMustBeStatic"
    six = put(driver, addresses, "six", properties={"publicIPAddressVersion": "IPv6"})
    assert "ipAddress" not in properties(six)  # a basic one is dynamic


@pytest.mark.parametrize("sku", [{}, {"sku": {"name": "Basic"}}])
def test_basic_public_addresses_are_made_no_more(sku: dict[str, Any]) -> None:
    driver = Driver()
    refused = put(driver, "Microsoft.Network/publicIPAddresses", "a", **sku)
    assert error_of(refused)[:2] == (400, "IPv4BasicSkuPublicIpCountLimitReached")
    put(driver, "Microsoft.Network/publicIPAddresses", "a", sku={"name": "Standard"})
    again = driver.call("PUT", driver.path("Microsoft.Network/publicIPAddresses", "a"), {"location": "eastus"})
    assert again.body is not None
    assert again.body["sku"]["name"] == "Standard"


def test_subnet_in_use_stays() -> None:
    driver = Driver()
    driver.put_nic("a")
    vnet = driver.path("Microsoft.Network/virtualNetworks", "aks-vnet-12345678")
    assert error_of(driver.call("DELETE", f"{vnet}/subnets/aks-subnet"))[1] == "InUseSubnetCannotBeDeleted"
    driver.call("DELETE", driver.nic_path("a"))
    assert driver.call("DELETE", f"{vnet}/subnets/aks-subnet").status == 202
    assert driver.call("DELETE", f"{vnet}/subnets/aks-subnet").status == 204


def test_lists_show_what_is_nested_too() -> None:
    driver = Driver()
    for path in (
        driver.path("Microsoft.Network/virtualNetworks"),
        f"{SUB}/providers/Microsoft.Network/virtualNetworks",
    ):
        body = driver.call("GET", path).body
        assert body is not None
        assert [subnet["name"] for subnet in body["value"][0]["properties"]["subnets"]] == ["aks-subnet"]
    group = driver.path("Microsoft.Network/networkSecurityGroups", "aks-agentpool-12345678-nsg")
    rule = {"priority": 200, "direction": "Inbound", "access": "Allow", "protocol": "Tcp"}
    driver.call("PUT", f"{group}/securityRules/a", {"properties": rule})
    body = driver.call("GET", driver.path("Microsoft.Network/networkSecurityGroups")).body
    assert body is not None
    assert [one["name"] for one in body["value"][0]["properties"]["securityRules"]] == ["a"]


def test_operations_are_asked_for_in_their_namespaces_versions() -> None:
    driver = Driver(timing=Timing(resource=1))
    answer = put(
        driver, "Microsoft.Compute/disks", "d", properties={"creationData": {"createOption": "Empty"}, "diskSizeGB": 1}
    )
    url = answer.headers["Azure-AsyncOperation"].replace("https://management.azure.com", "").partition("?")[0]
    for version, status in (("2025-01-02", 200), ("2021-03-02", 400)):
        assert driver.call("GET", url, None, version).status == status


def test_double_slashes_are_read_as_one() -> None:
    driver = Driver()
    path = driver.path("Microsoft.Network/virtualNetworks", "aks-vnet-12345678")
    assert driver.call("GET", path.replace("Network/virtual", "Network//virtual")).status == 200


def test_network_usages_count_what_is_there() -> None:
    driver = Driver()
    driver.put_nic("a")
    body = driver.call("GET", f"{SUB}/providers/Microsoft.Network/locations/eastus/usages").body
    assert body is not None
    counts = {item["name"]["value"]: item["currentValue"] for item in body["value"]}
    assert (counts["NetworkInterfaces"], counts["VirtualNetworks"], counts["PublicIPAddresses"]) == (1, 1, 0)


def test_identities_have_ids_that_vms_show() -> None:
    driver = Driver()
    made = put(driver, "Microsoft.ManagedIdentity/userAssignedIdentities", "i")
    ids = properties(made)
    assert len({ids["clientId"], ids["principalId"], ids["tenantId"]}) == 3
    name = driver.path("Microsoft.ManagedIdentity/userAssignedIdentities", "i")
    driver.put_nic("aks-a")
    body = driver.vm_body("aks-a") | {
        "identity": {"type": "SystemAssigned, UserAssigned", "userAssignedIdentities": {name: {}}}
    }
    shown = driver.call("PUT", driver.vm_path("aks-a"), body).body
    assert shown is not None
    identity = shown["identity"]
    assert identity["userAssignedIdentities"][name]["clientId"] == ids["clientId"]
    assert identity["principalId"]
    assert identity["tenantId"] == driver.cloud.state.settings.tenant


def test_a_patch_adds_identities_and_only_null_takes_one_away() -> None:
    """Karpenter counts on it (kaz pkg/controllers/nodeclaim/inplaceupdate/patch.go, patchVMIdentities)."""
    driver = Driver()
    driver.put_vm("aks-a")
    path = driver.vm_path("aks-a")

    def users(changes: dict[str, object]) -> list[str]:
        body = {"identity": {"type": "UserAssigned", "userAssignedIdentities": changes}}
        patched = driver.call("PATCH", path, body)
        assert patched.status == 200
        assert patched.body is not None
        return sorted(patched.body["identity"]["userAssignedIdentities"])

    assert users({"/first": {}}) == ["/first"]
    assert users({"/second": {}}) == ["/first", "/second"]
    assert users({"/first": None}) == ["/second"]


def test_federated_credentials_and_roles() -> None:
    driver = Driver()
    put(driver, "Microsoft.ManagedIdentity/userAssignedIdentities", "i")
    path = driver.path("Microsoft.ManagedIdentity/userAssignedIdentities", "i") + "/federatedIdentityCredentials"
    body = {"properties": {"issuer": "https://i", "subject": "s", "audiences": ["a"]}}
    assert driver.call("PUT", f"{path}/a", body).status == 201
    assert error_of(driver.call("PUT", f"{path}/b", body))[:2] == (409, "Conflict")
    assert error_of(driver.call("PUT", f"{path}/c", {"properties": {}}))[1] == "InvalidRequestContent"
    role = f"{SUB}/providers/Microsoft.Authorization/roleDefinitions/acdd72a7-3385-48ef-bd42-f606fba81ae7"
    given = {"properties": {"roleDefinitionId": role, "principalId": "p"}}
    for scope in (SUB, f"{SUB}/resourceGroups/rg", driver.nic_path("x")):
        one = f"{scope}/providers/Microsoft.Authorization/roleAssignments/11111111-1111-1111-1111-111111111111"
        assert driver.call("PUT", one, given).status == 201
        assert properties(driver.call("GET", one))["scope"] == scope
        again = one.replace("1111-1111-1111", "2222-2222-2222")
        assert error_of(driver.call("PUT", again, given))[1] == "RoleAssignmentExists"
    listed = driver.call(
        "GET", f"{SUB}/providers/Microsoft.Authorization/roleAssignments", **{"$filter": "principalId eq 'p'"}
    )
    assert listed.body is not None
    assert len(listed.body["value"]) == 3
    taken = driver.call("DELETE", one)
    assert (taken.status, properties(taken)["principalId"]) == (200, "p")
    assert driver.call("DELETE", one).status == 204
    unknown = {"properties": {"roleDefinitionId": "x/00", "principalId": "p"}}
    assert error_of(driver.call("PUT", one, unknown))[1] == "RoleDefinitionDoesNotExist"


def test_marketplace_images_are_found_and_refused() -> None:
    driver = Driver()
    head = f"{SUB}/providers/Microsoft.Compute/locations/eastus/publishers"
    offers = driver.call("GET", f"{head}/canonical/artifacttypes/vmimage/offers")
    assert offers.array is not None
    assert [item["name"] for item in offers.array] == ["0001-com-ubuntu-server-jammy", "ubuntu-24_04-lts"]
    nope = driver.call("GET", f"{head}/Nobody/artifacttypes/vmimage/offers")
    assert error_of(nope) == (404, "NotFound", "Artifact: VMImage was not found.")
    driver.put_nic("aks-a")
    for offer, sku, version, code in (
        ("ubuntu-24_04-lts", "server", "latest", None),
        ("ubuntu-24_04-lts", "server", "1.2.3", "PlatformImageNotFound"),
        ("0001-com-ubuntu-server-jammy", "nope", "latest", "PlatformImageNotFound"),
        ("0001-com-Ubuntu-Server-Jammy", "nope", "latest", "PlatformImageNotFound"),
        ("ubuntu-24_04-lts", "ubuntu-pro", "1.0.0", None),  # of this offer some SKUs are listed
        ("ubuntu-24_04-lts", "server-arm64", "latest", "BadRequest"),
        ("an offer that is not listed here", "any", "1.0.0", None),
    ):
        reference = {"publisher": "canonical", "offer": offer, "sku": sku, "version": version}
        body = driver.vm_body("aks-a")
        body["properties"]["storageProfile"]["imageReference"] = reference
        answer = driver.call("PUT", driver.vm_path("aks-a"), body)
        assert answer.error_code == code, answer.body
        if code is None:
            exact = "24.04.202511150" if version == "latest" else None
            assert properties(answer)["storageProfile"]["imageReference"].get("exactVersion") == exact
            driver.delete_vm("aks-a")
            driver.cloud.advance(10)
            driver.put_nic("aks-a")


GEN1, EITHER, ARM = "Standard_A2_v2", "Standard_D2s_v5", "Standard_D2ps_v5"


@pytest.mark.parametrize(
    ("urn", "boots", "refused"),
    [
        ("MicrosoftWindowsServer:WindowsServer:2019-Datacenter", (GEN1, EITHER), (ARM,)),
        ("MicrosoftWindowsServer:WindowsServer:2022-datacenter-azure-edition", (EITHER,), (GEN1,)),
        ("MicrosoftWindowsServer:WindowsServer:2025-datacenter-g2", (EITHER,), (GEN1,)),
        ("Canonical:UbuntuServer:18.04-LTS", (GEN1, EITHER), (ARM,)),  # its name tells no generation
        ("Canonical:UbuntuServer:18_04-lts-gen2", (EITHER,), (GEN1,)),
        ("Debian:debian-12:12", (GEN1, EITHER), ()),
        ("Debian:debian-13:13-arm64", (ARM,), (EITHER, GEN1)),
        ("RedHat:rhel-arm64:9_4", (ARM,), (EITHER, GEN1)),
        ("almalinux:almalinux-arm:9-arm-gen2", (ARM,), (EITHER, GEN1)),
        ("somebody:alarm-server:charm", (GEN1, EITHER), (ARM,)),
        ("MicrosoftWindowsServer:WindowsServer:2019-datacenter-core-g2-of-another-day", (EITHER,), (GEN1, ARM)),
    ],
)
def test_the_name_of_an_image_tells_which_sizes_boot_it(
    urn: str, boots: tuple[str, ...], refused: tuple[str, ...]
) -> None:
    publisher, offer, sku = urn.split(":")
    for size in (*boots, *refused):
        driver = Driver()
        driver.put_nic("aks-a")
        body = driver.vm_body("aks-a", size=size)
        body["properties"]["storageProfile"]["imageReference"] = {
            "publisher": publisher,
            "offer": offer,
            "sku": sku,
            "version": "latest",
        }
        answer = driver.call("PUT", driver.vm_path("aks-a"), body)
        assert answer.error_code == ("BadRequest" if size in refused else None), (size, answer.body)


def test_placement_scores_follow_the_stock() -> None:
    few = (
        {"size": "Standard_D2s_v5", "zone": zone, "priority": "spot", "vms": vms} for zone, vms in (("1", 0), ("2", 2))
    )
    driver = Driver({"capacity": [*few]})
    path = f"{SUB}/providers/Microsoft.Compute/locations/eastus/placementScores/spot/generate"
    sizes = [{"sku": "Standard_D2s_v5"}, {"sku": "Standard_E2s_v5"}]
    body = {"desiredLocations": ["eastus"], "desiredSizes": sizes, "desiredCount": 3, "availabilityZones": True}
    answer = driver.call("POST", path, body).body
    assert answer is not None
    scores = {(item["sku"], item["availabilityZone"]): item["score"] for item in answer["placementScores"]}
    assert [scores["Standard_D2s_v5", zone] for zone in "123"] == ["Low", "Medium", "High"]
    assert scores["Standard_E2s_v5", "1"] == "DataNotFoundOrStale"
    quota = {item["sku"]: item["isQuotaAvailable"] for item in answer["placementScores"]}
    assert quota == {"Standard_D2s_v5": True, "Standard_E2s_v5": False}
    driver.cloud.market.quota.set_limit("lowPriorityCores", 1)
    answer = driver.call("POST", path, body).body
    assert answer is not None
    assert not any(item["isQuotaAvailable"] for item in answer["placementScores"])
