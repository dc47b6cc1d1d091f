"""What the provider makes of Azure's answers: when it asks again, what is over, what is gone, and what is an error."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from harness.engine.ports import ADMIN
from harness.karpenter.launch import LaunchError
from harness.karpenter.lifecycle.instance_provider import CloudProviderError, InstanceNotFound
from harness.karpenter.provider.arm import Answer, Arm
from harness.karpenter.provider.instances import ArmInstances
from harness.karpenter.provider.virtual_machines import VirtualMachines
from harness.testing import nodeclass
from harness.world import World
from tests.launch.conftest import OPTIONS
from tests.launch.test_found_machines import claim, launched

Said = tuple[int, Mapping[str, str], Mapping[str, Any] | None]
WRONG = {"error": {"code": "Wrong", "message": "it is wrong"}}


class Cloud:
    """Gives the answers that it was given, one after the other and the last again and again, and keeps what was asked."""

    def __init__(self, *answers: Said) -> None:
        self._answers = list(answers)
        self.asked: list[tuple[str, str]] = []
        self.headers: list[Mapping[str, str]] = []

    def request(self, method: str, path: str, *, headers: Mapping[str, str] | None = None, **_: Any) -> Answer:
        self.asked.append((method, path.rpartition("/providers/")[2]))
        self.headers.append(headers or {})
        said = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        return Answer(*said)


def arm(*answers: Said, jitter: float = 0.5, **options: Any) -> tuple[Arm, Cloud]:
    cloud: Any = Cloud(*answers)
    made = Arm(cloud, replace(OPTIONS, **options))
    made.jitter = lambda: jitter
    return made, cloud


@pytest.mark.parametrize(("status", "ok"), [(200, True), (202, True), (299, True), (300, False), (404, False)])
def test_what_is_a_success(status: int, ok: bool) -> None:
    assert Answer(status, {}, None).ok is ok


@pytest.mark.parametrize(("body", "text"), [(WRONG, "it is wrong"), ({"error": {}}, "409"), ({}, "409"), (None, "409")])
def test_the_error_is_the_message_or_the_status(body: Mapping[str, Any] | None, text: str) -> None:
    assert Answer(409, {}, body).error == text


def test_headers_are_read_in_any_case() -> None:
    both = {"location": "https://a/l", "Azure-AsyncOperation": "https://a/o", "RETRY-AFTER": "7"}
    assert (Answer(202, both, None).operation, Answer(202, both, None).retry_after) == ("https://a/o", 7.0)
    assert Answer(202, {"Location": "https://a/l"}, None).operation == "https://a/l"
    assert (Answer(202, {}, None).operation, Answer(202, {"Retry-After": "soon"}, None).retry_after) == (None, 0.0)


def waits(made: Arm) -> tuple[list[float], int]:
    """The seconds between the tries, and the status of the last answer."""
    asking, found = made.ask("GET", "/x"), []
    while True:
        try:
            found.append(round(next(asking), 3))
        except StopIteration as end:
            answer: Answer = end.value
            return found, answer.status


@pytest.mark.parametrize(
    ("jitter", "expected"), [(0.0, [0.64, 1.92, 4.48]), (0.5, [0.84, 2.52, 5.88]), (1.0, [1.04, 3.12, 7.28])]
)
def test_a_transient_failure_is_tried_four_times_with_growing_pauses(jitter: float, expected: list[float]) -> None:
    """0.8 s, 2.4 s and 5.6 s, four fifths of it to 1.3 times as much (azcore runtime/policy_retry.go)."""
    made, cloud = arm((503, {}, None), jitter=jitter)
    assert waits(made) == (expected, 503)
    assert len(cloud.asked) == 4


def test_without_chance_a_pause_is_in_the_middle() -> None:
    cloud: Any = Cloud((503, {}, None))
    assert waits(Arm(cloud, OPTIONS)) == ([0.84, 2.52, 5.88], 503)


def test_what_azure_says_about_the_pause_counts_up_to_a_minute() -> None:
    for said, expected in (("60", [60.0] * 3), ("61", [])):
        assert waits(arm((429, {"Retry-After": said}, None))[0]) == (expected, 429)
    assert waits(arm((500, {}, None), (200, {}, None))[0]) == ([0.84], 200)
    assert waits(arm((409, {}, None))[0]) == ([], 409)


OPERATION = "https://management.azure.com/providers/Microsoft.Compute/operations/1?api-version=x"
STARTED: Said = (202, {"Azure-AsyncOperation": OPERATION}, None)


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        ((200, {}, {"status": "Running"}), "Running"),
        ((202, {}, {"status": "Failed"}), "Failed"),
        ((202, {}, None), "InProgress"),
        ((200, {}, None), "Succeeded"),
        ((204, {}, None), "Succeeded"),
    ],
)
def test_how_an_operation_is(answer: Said, status: str) -> None:
    assert arm(answer)[0].poll(OPERATION)[1] == status


@pytest.mark.parametrize(
    ("last", "fails"),
    [
        ((200, {}, {"status": "Succeeded"}), False),
        ((200, {}, {"status": "Failed", **WRONG}), True),
        ((200, {}, {"status": "Canceled"}), True),
        ((404, {}, WRONG), True),
    ],
)
def test_an_operation_is_polled_until_it_is_over(last: Said, fails: bool) -> None:
    made, _ = arm((200, {}, {"status": "InProgress"}), (202, {}, None), last)
    asking, pauses = made.until_ended(Answer(*STARTED)), []
    while True:
        try:
            pauses.append(next(asking))
        except StopIteration as end:
            break_off: Answer | None = end.value
            break
    assert pauses == [3.0, 3.0]
    assert (break_off is not None and (break_off.status, break_off.body) == (last[0], last[2])) is fails
    with pytest.raises(StopIteration) as over:
        next(made.until_ended(Answer(200, {}, None)))
    assert over.value.value is None


VM = {"id": "/x", "name": "aks-x", "properties": {"provisioningState": "Succeeded"}}


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        ((202, {}, None), None),
        ((200, {}, None), None),
        ((404, {}, WRONG), None),
        ((409, {}, WRONG), "deleting instance, it is wrong"),
    ],
)
def test_the_deletion_of_a_vm(answer: Said, error: str | None) -> None:
    """One that has gone meanwhile is deleted."""
    made, cloud = arm((200, {}, VM), answer)
    if error is None:
        VirtualMachines(made).delete("aks-x")
    else:
        with pytest.raises(CloudProviderError) as refused:
            VirtualMachines(made).delete("aks-x")
        assert str(refused.value) == error
    assert [method for method, _ in cloud.asked] == ["GET", "DELETE"]


def test_a_vm_that_goes_is_not_deleted_again_and_the_interface_of_one_that_is_gone_goes() -> None:
    going, cloud = arm((200, {}, {**VM, "properties": {"provisioningState": "Deleting"}}))
    VirtualMachines(going).delete("aks-x")
    assert [method for method, _ in cloud.asked] == ["GET"]
    gone, cloud = arm((404, {}, WRONG), (200, {}, {}), (202, {}, None))
    with pytest.raises(InstanceNotFound):
        VirtualMachines(gone).delete("aks-x")
    nic = "Microsoft.Network/networkInterfaces/aks-x"
    assert cloud.asked[1:] == [("GET", nic), ("DELETE", nic)]


@pytest.mark.parametrize(
    ("vm", "nic", "calls"),
    [
        (200, 200, ["GET", "DELETE", "GET", "DELETE"]),
        (404, 200, ["GET", "GET", "DELETE"]),
        (200, 404, ["GET", "DELETE", "GET"]),
        (404, 404, ["GET", "GET"]),
    ],
)
def test_what_a_failed_launch_left_behind_is_deleted(vm: int, nic: int, calls: list[str]) -> None:
    """Kaz pkg/providers/instance/vminstance.go, cleanupAzureResources: the VM if it exists, then the interface if it still does."""
    answers: list[Said] = [(vm, {}, {}), (nic, {}, {})]
    for place, status in ((1, vm), (len(answers) + (vm == 200), nic)):
        if status == 200:
            answers.insert(place, (202, {}, None))
    made, cloud = arm(*answers)
    for step in VirtualMachines(made).clean_up("aks-x"):
        step()
    assert [method for method, _ in cloud.asked] == calls


def test_the_vms_of_all_pages_are_listed() -> None:
    """Those of NodePools (kaz pkg/providers/instance/azureresourcegraphlist.go; Resource Graph goes on where it is given its token)."""
    rows = [{**VM, "name": name, "tags": {"karpenter.sh_nodepool": "blue"}} for name in ("a", "b", "c")]
    made, cloud = arm((200, {}, {"data": rows[:2], "$skipToken": "t"}), (200, {}, {"data": rows[2:]}))
    found = [(each.name, each.labels) for each in VirtualMachines(made).list()]
    assert found == [(name, {"karpenter.sh/nodepool": "blue"}) for name in ("a", "b", "c")]
    assert len(cloud.asked) == 2
    assert VirtualMachines(arm((200, {}, {"data": []}))[0]).list() == []


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-01-01T00:00:10+00:00", 10_000_000_000),
        ("2026-01-01T00:00:10Z", 10_000_000_000),
        ("2026-01-01T00:00:10.25+00:00", 10_250_000_000),
        ("2026-01-01T01:00:10.2500000+01:00", 10_250_000_000),
        ("2026-01-01T00:00:10.25Z", 10_250_000_000),
        (None, None),
    ],
)
def test_when_a_vm_was_created(text: str | None, moment: int | None) -> None:
    """As ARM writes times (RFC 3339, of seven decimals)."""
    vm = {**VM, "properties": {"timeCreated": text}}
    assert VirtualMachines(arm((200, {}, vm))[0]).get("aks-x").created == moment


def test_what_azure_wants_done_with_machines_is_told_by_name() -> None:
    def said(*rows: dict[str, Any]) -> object:
        return ArmInstances(arm((200, {}, {"value": list(rows)}), provision_mode="aksmachineapi")[0]).states()

    rows = [{"name": "a", "properties": {"status": {"driftAction": "Recreate"}}}, {"name": "b", "properties": {}}]
    assert said(*rows, {"name": "c"}) == (("a", "Recreate"), ("b", ""), ("c", ""))
    assert ArmInstances(arm((200, {}, {"value": rows}))[0]).states() == ()


def configuration(subnet: str | None) -> dict[str, Any]:
    return {"properties": {"subnet": {"id": subnet}}} if subnet is not None else {}


@pytest.mark.parametrize(
    ("answer", "subnet"),
    [
        ((404, {}, WRONG), None),
        ((200, {}, {}), ""),
        ((200, {}, {"properties": {"ipConfigurations": [configuration(None), configuration("/s")]}}), "/s"),
    ],
)
def test_the_subnet_of_an_interface(answer: Said, subnet: str | None) -> None:
    assert ArmInstances(arm(answer)[0]).subnet(claim()) == subnet


@pytest.mark.parametrize(
    ("of_aks", "properties", "image"),
    [
        (True, {"nodeImageVersion": "AKSUbuntu-2404-1"}, "AKSUbuntu-2404-1"),
        (True, {"nodeImageVersion": ""}, None),
        (True, {}, None),
        (False, {"storageProfile": {"imageReference": {"communityGalleryImageId": "/c", "id": "/g"}}}, "/c"),
        (False, {"storageProfile": {"imageReference": {"id": "/g"}}}, "/g"),
        (False, {"storageProfile": {"imageReference": {}}}, None),
        (False, {}, None),
    ],
)
def test_the_image_that_a_machine_was_made_of(of_aks: bool, properties: dict[str, Any], image: str | None) -> None:
    """Kaz pkg/cloudprovider/drift.go: AKS's name of it, or the id in either gallery."""
    made, cloud = arm((200, {}, {"properties": properties}))
    key = "karpenter.azure.com/aks-machine-resource-id"
    annotations = {"annotations": {key: "/machines/m"}} if of_aks else {}
    asked = {"metadata": {"name": "x", **annotations}, "status": {"providerID": "azure:///vms/aks-x"}}
    assert ArmInstances(made).image(asked) == image
    assert [path.rpartition("/")[2] for _, path in cloud.asked] == ["m" if of_aks else "aks-x"]


def test_a_vm_that_is_gone_has_no_image() -> None:
    with pytest.raises(InstanceNotFound):
        ArmInstances(arm((404, {}, WRONG))[0]).image(claim())


def test_an_interface_that_cannot_be_read_is_an_error() -> None:
    with pytest.raises(CloudProviderError, match="getting instance, it is wrong"):
        ArmInstances(arm((403, {}, WRONG))[0]).subnet(claim())


@pytest.mark.parametrize(
    ("status", "text"),
    [
        ("False", "NodeClassRef not ready, no subnet"),
        ("Unknown", "creating nodeclaim, resolving NodeClass readiness, NodeClass is in Ready=Unknown, no subnet"),
    ],
)
def test_a_nodeclass_that_is_not_ready_says_why_nothing_is_launched(status: str, text: str) -> None:
    world = World(karpenter="1.14.0")
    world.apply(nodeclass())
    world.settle()
    ready = {"type": "Ready", "status": status, "reason": "Why", "message": "no subnet"}
    known = [{**ready, "lastTransitionTime": "2026-01-01T00:00:00Z"}]
    patch = {"status": {"conditions": known}}
    world.cluster.writer(ADMIN).patch("AKSNodeClass", "default", patch, subresource="status")
    with pytest.raises(LaunchError) as refused:
        launched(world, claim())
    assert str(refused.value) == text


@pytest.mark.parametrize(
    ("changed", "status", "text"),
    [
        (
            {"KubernetesVersionReady": {"status": "False", "message": "no"}},
            {},
            "condition KubernetesVersionReady, is in Ready=False, no",
        ),
        (
            {"KubernetesVersionReady": {"status": "Unknown", "message": "soon"}},
            {},
            "condition KubernetesVersionReady, is in Ready=Unknown, soon",
        ),
        (
            {"KubernetesVersionReady": None},
            {},
            "condition KubernetesVersionReady, is in Ready=Unknown, object is awaiting reconciliation",
        ),
        (
            {"KubernetesVersionReady": {"observedGeneration": 7}},
            {},
            "condition KubernetesVersionReady ObservedGeneration 7 does not match the NodeClass Generation 1",
        ),
        ({}, {"kubernetesVersion": ""}, "KubernetesVersion is uninitialized"),
        ({"ImagesReady": {"status": "False", "message": "none"}}, {}, "condition ImagesReady, is in Ready=False, none"),
        (
            {"ImagesReady": {"observedGeneration": 0}},
            {},
            "condition ImagesReady ObservedGeneration 0 does not match the NodeClass Generation 1",
        ),
    ],
)
def test_what_a_launch_takes_from_the_nodeclass_must_be_current(
    changed: dict[str, Any], status: dict[str, Any], text: str
) -> None:
    """Kaz pkg/apis/v1beta1/aksnodeclass_status.go, the same in all releases; operatorpkg takes conditions that lack for Unknown."""
    world = World(karpenter="1.14.0")
    world.apply(nodeclass())
    world.settle()
    (there,) = world.list("AKSNodeClass")
    conditions = [
        {**each, **(changed.get(each["type"]) or {})}
        for each in there["status"]["conditions"]
        if changed.get(each["type"], {}) is not None
    ]
    patch = {"status": {**status, "conditions": conditions}}
    world.cluster.writer(ADMIN).patch("AKSNodeClass", "default", patch, subresource="status")
    with pytest.raises(LaunchError) as refused:
        launched(world, claim())
    assert (str(refused.value), refused.value.condition_reason) == (f"NodeClass {text}", "LaunchFailed")


def test_a_nodeclass_that_is_missing_or_goes_is_not_found() -> None:
    world = World(karpenter="1.14.0")
    for there in (False, True):
        if there:
            world.apply(nodeclass())
            world.settle()
            finalizers = {"metadata": {"finalizers": ["example.com/stay"]}}
            world.cluster.writer(ADMIN).patch("AKSNodeClass", "default", finalizers)
            world.cluster.writer(ADMIN).delete("AKSNodeClass", "default")
        with pytest.raises(LaunchError) as refused:
            launched(world, claim())
        missing = 'getting AKSNodeClass default: AKSNodeClass.karpenter.azure.com "default" not found'
        going = 'aksnodeclasses.karpenter.azure.com "default" is terminating, treating as not found'
        assert str(refused.value) == f"insufficient capacity, resolving node class, {going if there else missing}"
