"""What each refusal of Azure leads to: reason, marks, time and words, as the real controller shows them."""

from collections.abc import Callable
from copy import copy
from typing import Any

import pytest

from harness.engine.clock import Clock
from harness.karpenter.instancetypes import UnavailableOfferings
from harness.karpenter.launch import AzureFailure, FailureKind, LaunchError, classify
from harness.karpenter.launch.failures.handlers import (
    codes_of,
    machine_begin_error,
    machine_provisioning_error,
    vm_error,
)
from harness.karpenter.provider.arm import Answer
from harness.karpenter.provider.failures import Failures, Phase
from harness.karpenter.releases import provider
from tests.launch.conftest import nodeclaim

Launcher = Callable[..., Any]
LATEST = provider("1.14.0")
ZONES = ("southcentralus-1", "southcentralus-2", "southcentralus-3")
BOTH = ("on-demand", "spot")


def offerings(zones: tuple[str, ...], capacity_types: tuple[str, ...]) -> set[tuple[str, str]]:
    return {(zone, capacity_type) for zone in zones for capacity_type in capacity_types}


def quota(text: str) -> AzureFailure:
    return AzureFailure("OperationNotAllowed", text)


FAMILY = "Operation could not be completed as it results in exceeding approved standardDSv3Family Cores quota. Current Limit: {}, ..."
HERE = ("southcentralus-2",)


@pytest.mark.parametrize(
    ("failure", "reason", "hours", "marked", "start"),
    [
        (
            quota(FAMILY.format(0)),
            "SubscriptionQuotaReached",
            1,
            offerings(("0", *ZONES), ("on-demand",)),
            "subscription level on-demand vCPU quota for Standard_D2s_v3 has been",
        ),
        (
            quota(FAMILY.format(8)),
            "SubscriptionQuotaReached",
            1 / 6,
            offerings(("0", *ZONES), ("on-demand",)),
            "subscription level on-demand",
        ),
        (
            quota("LowPriorityCores"),
            "SubscriptionQuotaReached",
            1,
            set(),
            "this subscription has reached the regional vCPU quota for spot",
        ),
        (
            AzureFailure("SkuNotAvailable", ""),
            "SKUNotAvailable",
            23,
            offerings(ZONES, ("on-demand",)),
            "the requested SKU is unavailable for instance type Standard_D2s_v3 in zone southcentralus-2 with",
        ),
        (
            AzureFailure("ZonalAllocationFailed", ""),
            "ZonalAllocationFailure",
            1,
            offerings(HERE, BOTH),
            "unable to allocate resources in the selected zone (southcentralus-2). (will try",
        ),
        (
            AzureFailure("AllocationFailed", ""),
            "AllocationFailure",
            1,
            offerings(ZONES, BOTH),
            "unable to allocate resources with selected VM size (Standard_D2s_v3)",
        ),
        (
            AzureFailure("OverconstrainedZonalAllocationRequest", ""),
            "OverconstrainedZonalAllocationFailure",
            1,
            offerings(HERE, ("on-demand",)),
            "unable to allocate resources in the selected zone (southcentralus-2) with on-demand capacity type and",
        ),
        (
            AzureFailure("OverconstrainedAllocationRequest", ""),
            "OverconstrainedAllocationFailure",
            1,
            offerings(ZONES, ("on-demand",)),
            "unable to allocate resources in all zones with on-demand capacity type",
        ),
    ],
)
def test_refusals_of_a_vm(
    launch: Launcher, failure: AzureFailure, reason: str, hours: float, marked: set[tuple[str, str]], start: str
) -> None:
    made = launch(nodeclaim(size=["Standard_D2s_v3"], capacity_type=["on-demand"]), prefer_zone="southcentralus-2")
    verdict = classify(failure, made.choice, LATEST)
    assert verdict is not None
    assert (verdict.reason, verdict.ttl) == (reason, hours * 3600)
    assert set(verdict.offerings(made.choice, LATEST)) == marked
    error = vm_error("aks-x", failure, verdict)
    assert error.kind is FailureKind.CREATE
    assert error.condition_reason == reason
    assert error.condition_message.startswith(start)
    assert str(error) == f"creating nodeclaim, creating instance failed, creating nodeclaim, {error.condition_message}"
    sku = made.launch.skus["Standard_D2s_v3"]
    marks = UnavailableOfferings()
    verdict.mark(marks, sku, made.choice, LATEST, now=0.0)
    for zone, capacity_type in offerings(("0", *ZONES), BOTH):
        expected = (zone, capacity_type) in marked or (capacity_type == "spot" and "LowPriority" in failure.message)
        assert (marks.why(sku, zone, capacity_type) is not None) is expected


def test_regional_quota_is_about_capacity(launch: Launcher) -> None:
    made = launch(nodeclaim(size=["Standard_D2s_v3"], capacity_type=["on-demand"]))
    failure = quota("... exceeding approved Total Regional Cores quota ...")
    verdict = classify(failure, made.choice, LATEST)
    assert verdict is not None
    assert not verdict.offerings(made.choice, LATEST)
    error = vm_error("aks-x", failure, verdict)
    assert error.kind is FailureKind.CAPACITY
    assert str(error) == (
        "creating nodeclaim, creating instance failed, insufficient capacity, regional on-demand vCPU quota limit for subscription has "
        "been "
        "reached. To scale beyond this limit, please review the quota increase process here: "
        "https://learn.microsoft.com/en-us/azure/quotas/regional-quota-requests"
    )


def test_regional_placement_is_a_scope_of_its_own(launch: Launcher) -> None:
    made = launch(nodeclaim(size=["Standard_D2s_v3"], zone=["0"], capacity_type=["spot"]))
    verdict = classify(AzureFailure("SkuNotAvailable", ""), made.choice, LATEST)
    assert verdict is not None
    assert verdict.ttl == 3600
    assert verdict.offerings(made.choice, LATEST) == (("0", "spot"),)


def test_unknown_refusals(launch: Launcher) -> None:
    made = launch(nodeclaim(size=["Standard_D2s_v3"]))
    failure = AzureFailure("Conflict", "no", "PUT https://x\nRESPONSE 409: 409 Conflict\nERROR CODE: Conflict\n")
    assert classify(failure, made.choice, LATEST) is None
    error = vm_error("aks-x", failure, None)
    assert error.condition_reason == "CreateInstanceFailed"
    assert str(error).startswith(
        'creating nodeclaim, creating instance failed, virtualMachine.BeginCreateOrUpdate for VM "aks-x" failed: PUT https://x'
    )


def test_older_releases_do_not_name_the_reason(launch: Launcher) -> None:
    release = provider("1.13.1")
    made = launch(nodeclaim(size=["Standard_D2s_v3"]), release="1.13.1")
    failure = AzureFailure("AllocationFailed", "")
    error = vm_error("aks-x", failure, classify(failure, made.choice, release))
    assert error.condition_reason == "CreateInstanceFailed"
    assert str(error).startswith(
        "creating nodeclaim, creating instance failed, unable to allocate resources with selected VM size"
    )


@pytest.mark.parametrize(("release", "seconds"), [("1.7.2", 180.0), ("1.10.2", 600.0)])
def test_how_long_a_small_quota_blocks(launch: Launcher, release: str, seconds: float) -> None:
    made = launch(nodeclaim(size=["Standard_D2s_v3"]), release=release)
    verdict = classify(quota(FAMILY.format(8)), made.choice, provider(release))
    assert verdict is not None
    assert verdict.ttl == seconds


@pytest.mark.parametrize(
    "code",
    [
        "ZonalAllocationFailed",
        "AllocationFailed",
        "OverconstrainedZonalAllocationRequest",
        "OverconstrainedAllocationRequest",
    ],
)
@pytest.mark.parametrize(("release", "seconds"), [("1.4.0", 180.0), ("1.5.0", 3600.0)])
def test_how_long_missing_room_is_remembered(launch: Launcher, code: str, release: str, seconds: float) -> None:
    made = launch(nodeclaim(size=["Standard_D2s_v3"]), release=release)
    verdict = classify(AzureFailure(code, ""), made.choice, provider(release))
    assert verdict is not None
    assert verdict.ttl == seconds


@pytest.mark.parametrize(("release", "sibling"), [("1.5.2", False), ("1.6.1", True), ("1.10.0", True)])
def test_no_room_in_a_zone_is_about_the_family_from_1_6_1_on(launch: Launcher, release: str, sibling: bool) -> None:
    known = provider(release)
    made = launch(nodeclaim(size=["Standard_D2s_v3"]), release=release)
    verdict = classify(AzureFailure("ZonalAllocationFailed", ""), made.choice, known)
    assert verdict is not None
    marks = UnavailableOfferings(family_with_size=known.family_marked_with_size)
    verdict.mark(marks, made.launch.skus["Standard_D2s_v3"], made.choice, known, now=0.0)
    skus = made.launch.skus
    mine = skus["Standard_D2s_v3"]
    others = [sku for sku in skus.values() if sku.family == mine.family and sku is not mine]
    assert others
    assert marks.why(mine, made.choice.zone, "spot") is not None
    assert all((marks.why(sku, made.choice.zone, "spot") is not None) == sibling for sku in others)


def test_no_room_for_a_size_of_unknown_cores_is_about_its_whole_family(launch: Launcher) -> None:
    known = provider("1.6.1")
    made = launch(nodeclaim(size=["Standard_D2s_v3"]), release="1.6.1")
    verdict = classify(AzureFailure("ZonalAllocationFailed", ""), made.choice, known)
    assert verdict is not None
    size = copy(made.launch.skus["Standard_D2s_v3"])
    size.vcpus = None
    marked = verdict.mark(UnavailableOfferings(), size, made.choice, known, now=0.0)
    assert [(one.capacity_type, one.size, one.vcpus) for one in marked] == [
        ("on-demand", False, 0),
        ("spot", False, 0),
    ]


@pytest.mark.parametrize(
    ("length", "shown"), [(1199, "x" * 1199), (1200, "x" * 1200 + "..."), (1300, "x" * 1200 + "...")]
)
def test_a_condition_says_the_start_of_a_long_text(length: int, shown: str) -> None:
    error = LaunchError("x" * length)
    assert (str(error), error.condition_message) == ("x" * length, shown)


def test_older_releases_do_not_know_what_aks_refuses(launch: Launcher) -> None:
    made = launch(nodeclaim(size=["Standard_D2s_v3"]), provision_mode="aksmachineapi", release="1.10.2")
    failure = AzureFailure("VMSizeNotSupported", "")
    assert classify(failure, made.choice, provider("1.10.2"), machine_request=True) is None
    assert classify(failure, made.choice, provider("1.12.0"), machine_request=True) is not None


@pytest.mark.parametrize(
    "failure",
    [
        AzureFailure("VMSizeNotSupported", ""),
        AzureFailure("BadRequest", "Virtual Machine size: 'x' is not supported for subscription y"),
    ],
)
def test_sizes_that_aks_refuses(launch: Launcher, failure: AzureFailure) -> None:
    made = launch(nodeclaim(size=["Standard_D2s_v3"]), provision_mode="aksmachineapi")
    verdict = classify(failure, made.choice, LATEST, machine_request=True)
    assert verdict is not None
    assert verdict.ttl == 23 * 3600
    everywhere = tuple((zone, kind) for zone in (*ZONES, "0") for kind in BOTH)
    assert verdict.offerings(made.choice, LATEST) == everywhere  # in this order they are marked and told
    error = machine_begin_error("default-abcde", failure, verdict, LATEST)
    assert error.condition_reason == "SKUNotAvailable"
    assert str(error).startswith(
        "creating nodeclaim, creating AKS machine failed, "
        'failed to begin create AKS machine "default-abcde", handled error: creating nodeclaim, VM size'
    )
    assert classify(failure, made.choice, LATEST) is None


def test_machines_that_fail_later(launch: Launcher) -> None:
    made = launch(nodeclaim(size=["Standard_D2s_v3"]), provision_mode="aksmachineapi")
    failure = AzureFailure("AllocationFailed", "x")
    handled = machine_provisioning_error("m", failure, classify(failure, made.choice, LATEST), phase="LRO")
    assert str(handled).startswith(
        'failed to create AKS machine "m" during LRO, handled provisioning error: creating nodeclaim, unable to allocate'
    )
    unknown = machine_provisioning_error("m", AzureFailure("Boom", "why"), None, phase="LRO")
    assert (
        str(unknown)
        == 'failed to create AKS machine "m" during LRO, unhandled provisioning error: code=Boom, message=why'
    )


class Told(list[dict[str, Any]]):
    """What was logged."""

    def log(self, level: str, controller: str, message: str, **values: str) -> None:
        self.append({"message": message, **{name.replace("_", "-"): value for name, value in values.items()}})


def marked(
    launch: Launcher, code: str, message: str, known: bool = True, phase: Phase = Phase.VM
) -> tuple[list[dict[str, Any]], str]:
    """What is logged when the PUT of a VM is refused, or something else, and the error."""
    made = launch(nodeclaim(size=["Standard_D2s_v3"], capacity_type=["spot"]), prefer_zone="southcentralus-2")

    class Types:
        release = LATEST
        unavailable = UnavailableOfferings(family_with_size=True)

        def sku(self, name: str) -> Any:
            return made.launch.skus[name] if known else None

    types: Any = Types()
    told: Any = Told()
    answer = Answer(409, {}, {"error": {"code": code, "message": message}})
    error = Failures(types, told, Clock()).error(answer, phase, made.choice, "aks-x", "https://x")
    return told, str(error)


def test_marks_are_told_one_by_one(launch: Launcher) -> None:
    """Kaz pkg/cache/unavailableofferings.go: a size in a zone, and its family from that size on; or all spot."""
    spot, hour = {"capacity-type": "spot", "ttl": "1h0m0s"}, {"ttl": "1h0m0s", "zone": "southcentralus-2"}
    removing, family = "removing offering from offerings", "marking VM Family unavailable in zone"
    reason = "ZonalAllocationFailure"
    told, error = marked(launch, "ZonalAllocationFailed", "")
    assert "unable to allocate resources in the selected zone" in error
    assert told == [
        each
        for kind in BOTH
        for each in (
            {
                "message": removing,
                "unavailable": reason,
                "instance-type": "Standard_D2s_v3",
                "capacity-type": kind,
                **hour,
            },
            {"message": family, "family": "standardDSv3Family", "capacity-type": kind, "max-cpu": "2", **hour},
        )
    ]
    told, _ = marked(launch, "OperationNotAllowed", "exceeding approved LowPriorityCores quota")
    assert told == [{"message": removing, "unavailable": "SpotUnavailable", **spot}]


@pytest.mark.parametrize(("code", "known"), [("Conflict", True), ("ZonalAllocationFailed", False)])
def test_nothing_is_marked_for_another_refusal_or_of_a_size_that_is_not_sold(
    launch: Launcher, code: str, known: bool
) -> None:
    assert marked(launch, code, "", known)[0] == []


@pytest.mark.parametrize(
    ("reason", "codes"),
    [
        ("AllocationFailure", {"AllocationFailed"}),
        ("SKUNotAvailable", {"SkuNotAvailable", "VMSizeNotSupported", "BadRequest"}),
        ("SubscriptionQuotaReached", {"OperationNotAllowed"}),
        ("Unheard", set()),
    ],
)
def test_what_azure_says_that_leads_to_marks_of_a_reason(reason: str, codes: set[str]) -> None:
    assert codes_of(reason) == codes


@pytest.mark.parametrize(
    ("phase", "code", "start"),
    [
        (
            Phase.VM_OPERATION,
            "AllocationFailed",
            "creating nodeclaim, unable to allocate resources with selected VM size",
        ),
        (Phase.VM_OPERATION, "Strange", "GET https://x\n"),
        (Phase.NIC, "AllocationFailed", "creating nodeclaim, creating instance failed, PUT https://x\n"),
        (Phase.BOOTSTRAPPING, "AllocationFailed", "creating nodeclaim, creating instance failed, "),
        (
            Phase.VM,
            "Strange",
            "creating nodeclaim, creating instance failed, virtualMachine.BeginCreateOrUpdate for VM",
        ),
        (Phase.MACHINE, "AllocationFailed", "creating nodeclaim, creating AKS machine failed, failed to begin create"),
    ],
)
def test_what_is_refused_when(launch: Launcher, phase: Phase, code: str, start: str) -> None:
    """What is said of an interface, of the bootstrapping service, or by AKS of a machine is no matter of capacity."""
    told, error = marked(launch, code, "", phase=phase)
    assert error.startswith(start)
    assert bool(told) is (phase is Phase.VM_OPERATION and code == "AllocationFailed")


@pytest.mark.parametrize(
    ("release", "between"),
    [
        ("1.7.2", ": "),
        ("1.10.2", ": "),
        ("1.12.2", ", unhandled error: Strange: "),
        ("1.14.0", ", unhandled error: Strange: "),
    ],
)
def test_what_aks_refuses_for_another_reason(release: str, between: str) -> None:
    """Kaz pkg/providers/instance/aksmachineinstance.go, beginCreateMachine; its refusals are sorted since 1.12."""
    failure = AzureFailure("Strange", "no", "PUT https://x\nERROR CODE: Strange\n")
    error = machine_begin_error("m", failure, None, provider(release))
    start = 'creating nodeclaim, creating AKS machine failed, failed to begin create AKS machine "m"'
    assert str(error) == f"{start}{between}{failure.text}"
