"""What is being deleted refuses changes in Azure's words; whatever order requests come in, nothing is raised and nothing stays open."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakeazure.arm.errors import Failure
from tests.cloud.changes import CHANGES, SETS, prepared, wrong
from tests.cloud.driver import NETWORK, error_of

DELETIONS = sorted(name for name in CHANGES if "delete" in name)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(sorted(CHANGES)), st.sampled_from((0, 1, 10, 600))), min_size=1, max_size=7))
def test_in_any_order_nothing_is_raised_and_nothing_stays_open(changes: list[tuple[str, float]]) -> None:
    driver = prepared()
    for name, pause in changes:
        answer = CHANGES[name](driver)
        assert answer.status < 500, (name, answer.body)
        driver.cloud.advance(pause)
    driver.cloud.advance(86_400)
    assert wrong(driver.cloud) == []


@pytest.mark.parametrize("first", DELETIONS)
def test_a_deletion_before_any_other_change(first: str) -> None:
    for second in CHANGES:
        driver = prepared()
        CHANGES[first](driver)
        assert CHANGES[second](driver).status < 500, second
        driver.cloud.advance(86_400)
        assert wrong(driver.cloud) == [], second


@pytest.mark.parametrize(
    ("delete", "put", "end"),
    [
        ("set delete", "set put", "/virtualmachinescalesets/s"),
        ("vm delete", "vm put", "/virtualmachines/v"),
        ("disk delete", "disk put", "/disks/d"),
        ("subnet delete", "subnet put", "/subnets/s"),
        ("pool delete", "pool put", "/agentpools/p"),
        ("machine delete", "machine put", "/machines/m"),
    ],
)
def test_a_resource_made_anew_stays_when_a_second_deletion_ends(delete: str, put: str, end: str) -> None:
    """The second one was asked for while the first was under way, and ends after it."""
    driver = prepared()

    def there() -> bool:
        return any(entry.id.key.endswith(end) for entry in driver.cloud.state.store.all())

    assert there()
    assert CHANGES[delete](driver).status in (200, 202)
    first = driver.cloud.next_due()
    assert first is not None
    driver.cloud.advance((first - driver.cloud.now()) / 2)
    assert CHANGES[delete](driver).status in (200, 202)
    while there() and (due := driver.cloud.next_due()) is not None:
        driver.cloud.run_until(due)
        driver.cloud.advance(max(0.0, due - driver.cloud.now()))
    assert not there()
    if put == "vm put":
        CHANGES["nic put"](driver)
    assert CHANGES[put](driver).status in (200, 201, 202)
    driver.cloud.advance(86_400)
    assert there()
    assert wrong(driver.cloud) == []


def test_a_group_made_anew_stays_when_a_second_deletion_ends() -> None:
    driver = prepared()
    assert CHANGES["group delete"](driver).status == 202
    driver.cloud.advance(1)
    assert CHANGES["group delete"](driver).status == 202
    driver.cloud.advance(29)
    assert CHANGES["group put"](driver).status == 201
    driver.cloud.advance(3600)
    assert CHANGES["group put"](driver).status == 200


SET_WORDS = (
    "Operation 'Update Virtual Machine Scale Set' is not allowed on Virtual Machine Scale Set 's' since it is marked for deletion. "
    "For more information on your operations, please refer to https://aka.ms/activitylog."
)
VM_WORDS = (
    "Operation 'Update VM' is not allowed on VM 'v' since the VM is marked for deletion. You can only retry the Delete "
    "operation (or wait for an ongoing one to complete)."
)
AKS_WORDS = (
    "Operation is not allowed: Another operation (c - Deleting) is in progress, please wait for it to finish before "
    "starting a new operation. See https://aka.ms/aks-pending-operation for more details"
)


@pytest.mark.parametrize(
    ("deletion", "changes", "code", "words"),
    [
        ("set delete", ("set put", "set scale"), "OperationNotAllowed", SET_WORDS),
        ("set delete", ("set stop", "set delete some", "set reimage"), "OperationNotAllowed", "marked for deletion"),
        (
            "set delete",
            ("set delete one",),
            "OperationNotAllowed",
            "'delete' is not allowed on Virtual Machine Scale Set 's'",
        ),
        ("vm delete", ("vm extension delete",), "OperationNotAllowed", "'delete' is not allowed on VM 'v'"),
        ("cluster delete", ("pool delete",), "OperationNotAllowed", AKS_WORDS),
        ("set delete one", ("set stop",), "OperationNotAllowed", "not allowed on VM '0' since the VM is marked for"),
        ("vm delete", ("vm put", "vm patch", "vm resize", "vm attach"), "OperationNotAllowed", VM_WORDS),
        ("vm delete", ("vm stop", "vm restart", "vm command", "vm evict", "vm extension"), "OperationNotAllowed", "VM"),
        ("disk delete", ("disk put", "disk patch"), "OperationNotAllowed", "Operation 'Update Disk' is not allowed on"),
        ("disk delete", ("vm attach",), "OperationNotAllowed", "Disk 'd' since the Disk is marked for deletion"),
        ("cluster delete", ("cluster patch", "pool put", "machine put"), "OperationNotAllowed", AKS_WORDS),
        ("machine delete", ("machine put",), "OperationNotAllowed", "(m - Deleting)"),
        ("subnet delete", ("subnet put",), "AnotherOperationInProgress", "is being deleted"),
        ("group delete", ("group put", "vm patch", "nic put"), "ResourceGroupBeingDeleted", "in deprovisioning state"),
    ],
)
def test_what_is_being_deleted_refuses_changes(deletion: str, changes: tuple[str, ...], code: str, words: str) -> None:
    driver = prepared()
    assert CHANGES[deletion](driver).status == 202
    for change in changes:
        status, error, message = error_of(CHANGES[change](driver))
        assert (status, error) == (409, code), change
        assert words in message
    driver.cloud.advance(86_400)
    assert wrong(driver.cloud) == []


def test_it_can_be_read_and_deleted_again_meanwhile() -> None:
    driver = prepared()
    path = driver.path(SETS, "s")
    for _ in range(2):
        assert driver.call("DELETE", path).status == 202
    shown = driver.call("GET", path).body
    assert shown is not None
    assert shown["properties"]["provisioningState"] == "Deleting"
    driver.cloud.advance(3600)
    assert driver.call("GET", path).status == 404
    assert driver.call("DELETE", path).status == 204


@pytest.mark.parametrize(
    ("resource", "deletion", "path"),
    [
        ("virtualMachineScaleSets", "set delete", lambda d: d.path(SETS, "s")),
        ("disks", "disk delete", lambda d: d.path("Microsoft.Compute/disks", "d")),
        ("managedClusters", "cluster delete", lambda d: d.cluster_path()),
        ("agentPools", "pool delete", lambda d: d.pool_path("p")),
        ("deleteMachines", "machine delete", lambda d: f"{d.pool_path()}/machines/m"),
        ("subnets", "subnet delete", lambda d: d.path("Microsoft.Network/virtualNetworks", "w") + "/subnets/s"),
    ],
)
def test_a_deletion_that_fails_leaves_the_resource_failed(resource: str, deletion: str, path) -> None:  # type: ignore[no-untyped-def]
    method = "POST" if resource == "deleteMachines" else "DELETE"
    fault = {"what": "InternalOperationError", "where": {"resource": resource, "method": method}, "at": "end"}
    driver = prepared(azure={"faults": [fault]})
    answer = driver.poll(CHANGES[deletion](driver))
    driver.cloud.advance(86_400)
    assert answer.status == 200
    shown = driver.call("GET", path(driver), None, NETWORK if "Network" in path(driver) else None).body
    assert shown is not None
    assert shown["properties"]["provisioningState"] == "Failed"


def test_what_an_action_raises_ends_its_operation_and_reaches_the_caller() -> None:
    driver = prepared()

    def refuse(event: object) -> None:
        raise RuntimeError("a subscriber of the user's")

    driver.cloud.subscribe(refuse)
    CHANGES["vm delete"](driver)
    CHANGES["set delete"](driver)
    with pytest.raises(RuntimeError, match="a subscriber"):
        driver.cloud.advance(86_400)
    driver.cloud.advance(86_400)
    assert wrong(driver.cloud) == []
    failed = [operation.failure for operation in driver.cloud.state.operations._by_id.values() if operation.failure]
    assert [failure.code for failure in failed if isinstance(failure, Failure)] == ["InternalOperationError"]
