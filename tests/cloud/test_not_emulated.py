"""Operations of Azure that are not emulated are refused as such; those that Azure has not, in Azure's words."""

from __future__ import annotations

from fakeazure.arm.real_namespaces import _operations as real_operations
from fakeazure.arm.real_namespaces import real_operation
from fakeazure.beginning import SUBSCRIPTION
from fakeazure.routing import router
from tests.cloud.driver import Driver, error_of

GROUP = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/rg/providers"


def test_each_operation_of_azure_is_served_or_said_not_to_be() -> None:
    """Names stand behind types, and actions behind names: both readings of a path are tried."""
    missing = []
    for (namespace, type_), (name, methods) in real_operations().items():
        parts = type_.split("/")
        for method in methods:
            for tail in ("/".join(f"{part}/n" for part in parts), "/n/".join(parts)):
                path = f"{GROUP}/{namespace}/{tail}"
                if router().find(method, path) is None and real_operation(method, path) != name:
                    missing.append((method, path))
    assert not missing, missing[:5]


def test_such_an_operation_answers_so() -> None:
    driver = Driver()
    for method, path, name in (
        ("PUT", "Microsoft.Network/azureFirewalls/f", "Microsoft.Network/azureFirewalls"),
        ("GET", "microsoft.network/AZUREFIREWALLS", "Microsoft.Network/azureFirewalls"),
        ("PUT", "Microsoft.Compute/virtualMachines/v/runCommands/r", "Microsoft.Compute/virtualMachines/runCommands"),
        ("DELETE", "Microsoft.Resources/deploymentScripts/d", "Microsoft.Resources/deploymentScripts"),
    ):  # fmt: skip
        status, code, message = error_of(driver.call(method, f"{GROUP}/{path}"))
        assert (status, code) == (501, "NotEmulated")
        assert message.startswith(f"'{name}' is real")


def test_what_azure_has_not_is_refused_in_its_words() -> None:
    driver = Driver()
    table = f"{GROUP}/Microsoft.Network/routeTables/r"
    assert error_of(driver.call("POST", table))[:2] == (405, "MethodNotAllowed")
    assert error_of(driver.call("GET", f"{GROUP}/Microsoft.Network/teapots"))[:2] == (404, "InvalidResourceType")
    assert error_of(driver.call("POST", f"{table}/brew"))[:2] == (404, "InvalidResourceType")
