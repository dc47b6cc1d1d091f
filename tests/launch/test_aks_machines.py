"""AKS machines: what is made of what AKS says about one, before it is accepted, right after, and later."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from harness.engine.clock import parse
from harness.karpenter.launch import LaunchError
from harness.karpenter.lifecycle.instance_provider import CloudProviderError, InstanceNotFound
from harness.karpenter.provider.arm import Answer
from harness.karpenter.provider.failures import Failures, Phase, failure_of
from harness.karpenter.provider.machines import AksMachines
from harness.karpenter.releases import provider
from tests.launch.conftest import OPTIONS, nodeclaim
from tests.launch.test_answers_of_azure import WRONG, Said, arm

Launcher = Callable[..., Any]
MISSING: Said = (404, {}, WRONG)
PROBLEM = {"code": "AllocationFailed", "message": "no room"}


def machine(**properties: Any) -> Said:
    return 200, {}, {"name": "m", "properties": {"resourceId": "/vms/aks-x", **properties}}


@pytest.mark.parametrize(
    ("answer", "error", "text"),
    [
        (MISSING, InstanceNotFound, 'nodeclaim not found, getting AKS machine instance, machine "m" not found'),
        ((403, {}, WRONG), CloudProviderError, "getting AKS machine instance, 403"),
    ],
)
def test_a_machine_that_cannot_be_read(answer: Said, error: type[Exception], text: str) -> None:
    with pytest.raises(error) as raised:
        AksMachines(arm(answer)[0]).get("m")
    assert (type(raised.value), str(raised.value)) == (error, text)


def test_without_an_agent_pool_there_are_no_machines() -> None:
    assert AksMachines(arm(MISSING)[0]).list() == []
    with pytest.raises(CloudProviderError, match="failed to list AKS machines: it is wrong"):
        AksMachines(arm((403, {}, WRONG))[0]).list()


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        ((202, {}, None), None),
        (MISSING, None),  # gone meanwhile
        ((409, {}, WRONG), 'failed to begin delete AKS machine "m": 409'),
    ],
)
def test_the_deletion_of_a_machine(answer: Said, error: str | None) -> None:
    made, cloud = arm(machine(), answer)
    if error is None:
        AksMachines(made).delete("m")
    else:
        with pytest.raises(CloudProviderError) as refused:
            AksMachines(made).delete("m")
        assert str(refused.value) == error
    assert [method for method, _ in cloud.asked] == ["GET", "POST"]


def test_a_machine_that_goes_is_not_deleted_again() -> None:
    made, cloud = arm(machine(provisioningState="Deleting"))
    AksMachines(made).delete("m")
    assert len(cloud.asked) == 1


class Seen(LaunchError):
    """What was to be classified."""

    def __init__(self, answer: Answer, phase: Phase, name: str, path: str) -> None:
        super().__init__(name)
        self.body, self.phase = answer.body, phase


def created(launch: Launcher, *answers: Said) -> tuple[Any, list[str]]:
    """The outcome of a creation, and the methods of the calls."""
    made, cloud = arm(*answers)
    plan = launch(nodeclaim(size=["Standard_D2s_v3"]), provision_mode="aksmachineapi")
    going = AksMachines(made).create(plan, Seen)
    try:
        next(going)
    except StopIteration as end:
        return end.value, [method for method, _ in cloud.asked]
    except LaunchError as error:
        return error, [method for method, _ in cloud.asked]
    raise AssertionError("it waits")


def failed(error: dict[str, Any]) -> dict[str, Any]:
    return {"status": "Failed", "error": error}


ACCEPTED: Said = (201, {}, {})


def test_a_machine_that_is_accepted_and_fails_at_once_is_deleted(launch: Launcher) -> None:
    now = machine(provisioningState="Failed", status={"provisioningError": PROBLEM})
    error, calls = created(launch, MISSING, ACCEPTED, now, (202, {}, None))
    assert (error.phase, error.body) == (Phase.MACHINE_EARLY, failed(PROBLEM))
    assert calls == ["GET", "PUT", "GET", "POST"]


@pytest.mark.parametrize(
    "properties",
    [
        {},
        {"status": None},
        {"status": {"vmState": "Running"}},
        {"provisioningState": "Creating", "status": {"provisioningError": PROBLEM}},
    ],
)
def test_a_machine_that_is_accepted_is_followed(launch: Launcher, properties: dict[str, Any]) -> None:
    (promise, vm), calls = created(launch, MISSING, ACCEPTED, machine(**properties))
    assert (vm, promise.found, calls) == ("/vms/aks-x", None, ["GET", "PUT", "GET"])


@pytest.mark.parametrize(
    ("now", "phase", "body"),
    [
        (machine(status={"provisioningError": PROBLEM}), Phase.MACHINE_OPERATION, failed(PROBLEM)),
        (machine(), Phase.MACHINE_SILENT, WRONG),  # only the operation says why
    ],
)
def test_the_machine_says_why_its_operation_failed(
    launch: Launcher, now: Said, phase: Phase, body: dict[str, Any]
) -> None:
    (promise, _), _ = created(launch, MISSING, ACCEPTED, machine(), now)
    error = promise.failed(Answer(200, {}, WRONG))
    assert (error.phase, error.body) == (phase, body)


def test_a_machine_that_was_there_and_has_failed_is_deleted(launch: Launcher) -> None:
    there = machine(provisioningState="Failed", status={"provisioningError": PROBLEM})
    found, calls = created(launch, there, (202, {}, None))
    assert (found.phase, found.body, calls) == (Phase.MACHINE_FOUND, failed(PROBLEM), ["GET", "POST"])


@pytest.mark.parametrize("status", [{}, None, {"provisioningError": None}])
@pytest.mark.parametrize(
    ("there", "text"),
    [
        (True, "found existing AKS machine default-abcde, but it is in Failed state and ProvisioningError is nil"),
        (
            False,
            'failed to get AKS machine "default-abcde" once after begin creation: AKS machine is in Failed state but ProvisioningError '
            "is nil",
        ),
    ],
)
def test_a_machine_that_has_failed_for_no_reason(launch: Launcher, there: bool, text: str, status: Any) -> None:
    """Kaz pkg/providers/instance/aksmachineinstance.go, the same in all releases that have AKS machines."""
    silent = machine(provisioningState="Failed", status=status)
    before: list[Said] = [] if there else [MISSING, ACCEPTED]
    error, calls = created(launch, *before, silent, (202, {}, None))
    assert str(error) == f"creating nodeclaim, creating AKS machine failed, {text}"
    assert calls[-2:] == ["GET", "POST"]


def test_a_machine_that_was_there_is_taken_as_it_is(launch: Launcher) -> None:
    there = machine(provisioningState="Creating", status={"provisioningError": None})
    (promise, vm), calls = created(launch, there)
    assert (promise.found, promise.operation, vm, calls) == (there[2], None, "/vms/aks-x", ["GET"])


INNER = {"code": "Inner", "message": "why", "details": [{"code": "Innermost", "message": "really"}]}
OUTER = {"code": "Outer", "message": "what"}


@pytest.mark.parametrize(
    ("problem", "told"),
    [
        ({**OUTER, "details": [INNER, {"code": "Second"}]}, INNER),
        ({**OUTER, "details": [{"message": "why"}]}, {"message": "why"}),
        ({**OUTER, "details": []}, {**OUTER, "details": []}),
        (OUTER, OUTER),
    ],
    ids=["first detail", "without a code", "no details", "none told"],
)
def test_the_first_detail_of_a_provisioning_error_is_that_of_the_vm(
    launch: Launcher, problem: dict[str, Any], told: dict[str, Any]
) -> None:
    """And no detail of it (kaz pkg/providers/instance/aksmachineinstance.go, handleMachineProvisioningError)."""
    now = machine(provisioningState="Failed", status={"provisioningError": problem})
    error, _ = created(launch, MISSING, ACCEPTED, now, (202, {}, None))
    assert error.body == failed(told)


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (failed({**OUTER, "details": [INNER]}), ("Outer", "what")),
        (failed({}), ("", "")),
        ({"error": {**OUTER, "details": [INNER]}}, ("Outer", "what")),
        ({}, ("", "")),
    ],
    ids=["of an operation", "nothing", "of a request", "no body"],
)
def test_the_error_of_an_answer(body: dict[str, Any], found: tuple[str, str]) -> None:
    """The SDK takes the code of the error itself, whatever its details say (azcore internal/exported, extractErrorCodeJSON)."""
    failure = failure_of(Answer(400, {}, body), "PUT", "https://x")
    assert (failure.code, failure.message) == found


@pytest.mark.parametrize(
    ("status", "created_at"),
    [
        ({"creationTimestamp": "2026-11-02T10:20:30.123Z"}, parse("2026-11-02T10:20:30Z")),
        ({"creationTimestamp": "2026-11-02T10:20:30Z"}, parse("2026-11-02T10:20:30Z")),
        ({"creationTimestamp": None}, None),
        (None, None),
    ],
)
def test_when_a_machine_was_created(status: Any, created_at: float | None) -> None:
    found = AksMachines(arm(machine(status=status))[0]).get("m")
    assert (found.name, found.provider_id, found.created) == ("m", "azure:///vms/aks-x", created_at)


RULE = "-" * 80


@pytest.mark.parametrize(
    ("status", "body", "lines"),
    [
        (
            409,
            {"error": {"code": "Conflict", "details": []}},
            [
                "RESPONSE 409: 409 Conflict",
                "ERROR CODE: Conflict",
                RULE,
                "{",
                '  "error": {',
                '    "code": "Conflict",',
                '    "details": []',
                "  }",
                "}",
            ],
        ),
        (
            503,
            None,
            ["RESPONSE 503: 503 Service Unavailable", "ERROR CODE UNAVAILABLE", RULE, "Response contained no body"],
        ),
    ],
)
def test_the_text_of_an_error_is_that_of_the_sdk(status: int, body: Any, lines: list[str]) -> None:
    """Azcore internal/exported/response_error.go, ResponseError.Error."""
    text = failure_of(Answer(status, {}, body), "PUT", "https://x/y").text
    assert text == "\n".join(["PUT https://x/y", RULE, *lines, RULE, ""])


FAILED = 'failed to create AKS machine "m" during'
CREATING = f"creating nodeclaim, creating AKS machine failed, {FAILED}"
HANDLED = ", handled provisioning error: creating nodeclaim, unable to allocate resources"


@pytest.mark.parametrize(
    ("phase", "mode", "start", "reason"),
    [
        (
            Phase.MACHINE_EARLY,
            "aksmachineapi",
            f"{CREATING} get once after begin creation{HANDLED}",
            "AllocationFailure",
        ),
        (
            Phase.MACHINE_FOUND,
            "aksmachineapi",
            f"{CREATING} reusing existing AKS machine{HANDLED}",
            "AllocationFailure",
        ),
        (Phase.MACHINE_OPERATION, "aksmachineapi", f"{FAILED} LRO{HANDLED}", "AllocationFailure"),
        (
            Phase.MACHINE_OPERATION,
            "aksmachineapiheaderbatch",
            f"{FAILED} LRO (GET poller){HANDLED}",
            "AllocationFailure",
        ),
        (
            Phase.MACHINE_SILENT,
            "aksmachineapi",
            'failed to create AKS machine "m" during LRO, AKS API returned error: GET https://x\n',
            "LaunchFailed",
        ),
    ],
)
def test_when_a_machine_failed_stands_in_its_error(
    launch: Launcher, phase: Phase, mode: str, start: str, reason: str
) -> None:
    """What only the operation says is read by nobody (kaz pkg/providers/instance/aksmachineinstance.go, beginCreateMachine)."""

    class Types:
        release = provider("1.14.0")
        options = replace(OPTIONS, provision_mode=mode)

        def sku(self, name: str) -> None:
            return None

    types: Any = Types()
    nothing: Any = None
    made = launch(nodeclaim(size=["Standard_D2s_v3"]), provision_mode="aksmachineapi")
    answer = Answer(200, {}, failed(PROBLEM))
    error = Failures(types, nothing, nothing).error(answer, phase, made.choice, "m", "https://x")
    assert str(error).startswith(start)
    assert error.condition_reason == reason
