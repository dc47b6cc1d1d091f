"""Launches that Azure has accepted: what follows when a call after them is refused (kaz handleInstancePromise)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from harness.engine.engine import DONE, Result
from harness.engine.ports import Change, ChangeType
from harness.karpenter.launch import LaunchError
from harness.karpenter.provider.arm import Answer, Polling
from harness.karpenter.provider.in_place import InPlaceUpdates
from harness.karpenter.provider.promises import Promise, Promises
from harness.karpenter.releases import provider
from harness.kube.api.status import ApiError
from tests.launch.test_answers_of_azure import Said, arm

CLAIM: dict[str, Any] = {"apiVersion": "karpenter.sh/v1", "kind": "NodeClaim", "metadata": {"name": "x", "uid": "u"}}
HASH = "karpenter.azure.com/in-place-update-hash"


class Cluster:
    """One NodeClaim, and what was written, said and asked for again."""

    def __init__(self, present: Mapping[str, Any] | None, refusal: ApiError | None = None) -> None:
        self.present, self.refusal = present, refusal
        self.written: list[Any] = []
        self.said: list[str] = []

    def get(self, kind: str, name: str) -> Mapping[str, Any] | None:
        return self.present if (kind, name) == ("NodeClaim", "x") else None

    def delete(self, kind: str, name: str, uid: str) -> None:
        if self.refusal is not None:
            raise self.refusal
        self.written.append((kind, name, uid))

    def patch(self, kind: str, name: str, patch: Mapping[str, Any]) -> None:
        self.written.append((kind, name, patch))

    def event(self, claim: Any, kind: str, reason: str, message: str) -> None:
        self.said.append(f"{reason}: {message}")

    def log(self, *_: Any, **__: Any) -> None:
        pass

    def enqueue(self, *_: Any) -> None:
        pass


def claim(status: str | None, uid: str = "u") -> dict[str, Any]:
    conditions = [] if status is None else [{"type": "Launched", "status": status}]
    return {**CLAIM, "metadata": {"name": "x", "uid": uid}, "status": {"conditions": conditions}}


def refused(
    present: Mapping[str, Any] | None,
    *answers: Said,
    refusal: ApiError | None = None,
    looks: int = 1,
    why: str = "refused: 403",
) -> tuple[Cluster, Result, list[str]]:
    """A launch whose next call Azure refuses, looked at so often."""
    cluster: Any = Cluster(present, refusal)
    made, _ = arm(*(answers or ((200, {}, None),)))
    promises = Promises(cluster, cluster, cluster, cluster, made)
    cleaned: list[str] = []

    def clean() -> Answer:
        cleaned.append("x")
        return made.call("DELETE", "/x")

    promise = Promise(CLAIM, None, lambda answer: LaunchError(why), lambda: [clean])
    promise.steps.append(lambda: Answer(403, {}, None))
    promises.add(promise)
    results = [promises.reconcile("x") for _ in range(looks)]
    return cluster, results[-1], cleaned


@pytest.mark.parametrize(
    ("ended", "left"),
    [
        ((200, {}, {"status": "Succeeded"}), []),
        ((200, {}, {"status": "Failed"}), ["x"]),
        ((200, {}, {"status": "Canceled"}), ["x"]),
        ((404, {}, None), ["x"]),
    ],
)
def test_a_machine_whose_operation_fails_is_cleaned_up_at_once(ended: Said, left: list[str]) -> None:
    """Without a further poll (kaz pkg/cloudprovider/cloudprovider.go, handleInstancePromise)."""
    cluster: Any = Cluster(claim("True"))
    made, _ = arm((200, {}, {"status": "InProgress"}), ended, (200, {}, None))
    promises, cleaned = Promises(cluster, cluster, cluster, cluster, made), []

    def clean() -> Answer:
        cleaned.append("x")
        return made.call("DELETE", "/x")

    operation = "https://management.azure.com/operations/1"
    promises.add(Promise(CLAIM, operation, lambda answer: LaunchError("why"), lambda: [clean]))
    assert (promises.reconcile("x").after, cleaned) == (3.0, [])
    assert (promises.reconcile("x"), cleaned) == (DONE, left)
    assert cluster.written == [("NodeClaim", "x", "u")] * len(left)


OPERATION = "https://management.azure.com/operations/1"
RUNNING: Said = (200, {}, {"status": "InProgress"})
DONE_WELL: Said = (200, {}, {"status": "Succeeded"})


@pytest.mark.parametrize(
    ("release", "machine", "extension"),
    [("1.6.8", 30.0, 30.0), ("1.7.2", 30.0, 3.0), ("1.10.0", 3.0, 3.0), ("1.14.0", 3.0, 3.0)],
)
def test_operations_are_looked_at_as_often_as_the_release_does(release: str, machine: float, extension: float) -> None:
    """Azcore runtime/poller.go PollUntilDone without options, kaz pkg/providers/instance/{poller,azureresourcemanagerutils}.go."""
    cluster: Any = Cluster(claim("True"))
    made, _ = arm(RUNNING, DONE_WELL, RUNNING, DONE_WELL)
    known = provider(release)
    made.polling = Polling(known.poll_seconds, known.extension_poll_seconds)
    promises = Promises(cluster, cluster, cluster, cluster, made)
    promise = Promise(CLAIM, OPERATION, lambda answer: LaunchError("why"), list)
    promise.steps.append(lambda: Answer(201, {"azure-asyncoperation": OPERATION}, None))
    promises.add(promise)
    assert [promises.reconcile("x").after for _ in range(2)] == [machine, extension]
    assert promises.reconcile("x") == DONE


def test_azure_says_when_to_look_again() -> None:
    """Also before the first look, which else comes at once."""
    cluster: Any = Cluster(claim("True"))
    made, _ = arm((200, {"Retry-After": "7"}, {"status": "InProgress"}), RUNNING, DONE_WELL)
    promises = Promises(cluster, cluster, cluster, cluster, made)
    promises.add(Promise(CLAIM, OPERATION, lambda answer: LaunchError("why"), list, pause=15.0))
    assert [promises.reconcile("x").after for _ in range(3)] == [15.0, 7.0, 3.0]
    assert promises.reconcile("x") == DONE
    answer = Answer(201, {"azure-asyncoperation": OPERATION, "retry-after": "15"}, None)
    made, _ = arm((200, {"Retry-After": "7"}, {"status": "InProgress"}), DONE_WELL)
    assert list(made.until_ended(answer)) == [15.0, 7.0]


TOLD = ["AsyncProvisioningError: Failed to register: refused: 403"]


@pytest.mark.parametrize("status", ["True", "False"])
def test_the_machine_and_its_nodeclaim_go_at_once(status: str) -> None:
    cluster, result, cleaned = refused(claim(status))
    assert (result, cleaned, cluster.said) == (DONE, ["x"], TOLD)
    assert cluster.written == [("NodeClaim", "x", "u")]


@pytest.mark.parametrize(("length", "shown"), [(499, "x" * 499), (500, "x" * 500 + "..."), (600, "x" * 500 + "...")])
def test_an_event_says_the_start_of_a_long_failure(length: int, shown: str) -> None:
    """Kaz pkg/cloudprovider/events/events.go, truncateMessage."""
    cluster, _, _ = refused(claim("True"), why="x" * length)
    assert cluster.said == [f"AsyncProvisioningError: Failed to register: {shown}"]


@pytest.mark.parametrize("status", [None, "Unknown"])
def test_they_stay_until_the_nodeclaim_is_known_to_be_launched(status: str | None) -> None:
    cluster, result, cleaned = refused(claim(status))
    assert (result, cleaned, cluster.said, cluster.written) == (DONE, [], [], [])


@pytest.mark.parametrize("present", [None, claim(None, uid="of another")])
def test_the_machine_of_a_nodeclaim_that_is_gone_goes(present: Mapping[str, Any] | None) -> None:
    cluster, result, cleaned = refused(present)
    assert (result, cleaned, cluster.written) == (DONE, ["x"], [])


@pytest.mark.parametrize("code", [404, 409])
def test_a_nodeclaim_that_goes_or_is_another_meanwhile_is_let_alone(code: int) -> None:
    assert refused(claim("True"), refusal=ApiError(code, "Why", "why"))[1] == DONE


def test_a_nodeclaim_that_may_not_be_deleted_is_an_error() -> None:
    with pytest.raises(ApiError):
        refused(claim("True"), refusal=ApiError(403, "Forbidden", "no"))


def test_a_nodeclaim_stays_until_its_machine_is_gone_and_the_failure_is_told_once() -> None:
    going: Said = (202, {"Azure-AsyncOperation": "https://management.azure.com/operations/1"}, None)
    cluster, result, cleaned = refused(claim("True"), going, (200, {}, {"status": "InProgress"}), looks=3)
    assert (result.after, cleaned, cluster.said, cluster.written) == (3.0, ["x"], TOLD, [])


def test_where_tags_do_not_count_nothing_can_change_during_an_update() -> None:
    class Updates:
        tags_count = False

        def goal(self, *_: Any) -> str:
            return "new"

        def apply(self, *_: Any) -> Any:
            return iter(())

    ref = {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"}
    cluster: Any = Cluster({**CLAIM, "spec": {"nodeClassRef": ref}, "status": {"providerID": "azure:///x"}})
    updates: Any = Updates()
    assert InPlaceUpdates(cluster, cluster, cluster, updates).reconcile("x") == DONE
    assert cluster.written == [("NodeClaim", "x", {"metadata": {"annotations": {HASH: "new"}}})]


@pytest.mark.parametrize(("status", "keys"), [("Succeeded", []), ("InProgress", []), ("Failed", ["x"])])
def test_a_launch_that_has_failed_is_looked_at_when_its_nodeclaim_changes(status: str, keys: list[str]) -> None:
    """It waits until the NodeClaim says that it is launched (waitUntilLaunched); one that goes on is polled."""
    cluster: Any = Cluster(claim(None))
    promises = Promises(cluster, cluster, cluster, cluster, arm((200, {}, {"status": status}))[0])
    operation = "https://management.azure.com/operations/1"
    promises.add(Promise(CLAIM, operation, lambda answer: LaunchError("why"), list))
    promises.reconcile("x")
    change = Change(ChangeType.MODIFIED, claim("True"), claim(None), 1)
    assert list(promises.watches()["NodeClaim"](change)) == keys
