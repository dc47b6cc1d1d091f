"""Decisions of the Job controller at one look (kubernetes pkg/controller/job/job_controller_test.go has the same cases)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from harness.kube.api.objects import annotations_of, name_of
from harness.kube.workloads.job_failures import Backoff, finished_time, match_policy
from harness.kube.workloads.job_indexes import INDEX, format_indexes, parse_indexes
from harness.kube.workloads.job_pods import FINALIZER
from harness.kube.workloads.jobs import JobPlan, plan_job, seconds_to_live

Object = dict[str, Any]
NOW = datetime(2026, 1, 1, 1, tzinfo=UTC)
LONG_AGO = "2026-01-01T00:00:00Z"
FAILURES = "batch.kubernetes.io/job-index-failure-count"


def job(status: Object | None = None, **spec: Any) -> Object:
    given = {"parallelism": 1, "backoffLimit": 6, "template": {"spec": {"restartPolicy": "Never", "containers": []}}}
    if not {"parallelism", "completions"} & spec.keys():
        given["completions"] = 1
    meta = {"name": "j", "namespace": "default", "uid": "j", "creationTimestamp": LONG_AGO}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": meta,
        "spec": {**given, **spec},
        "status": status or {},
    }


def job_pod(
    name: str, phase: str, *, ended: str = LONG_AGO, code: int = 1, deleted: bool = False, **annotations: str
) -> Object:
    meta: Object = {"name": name, "namespace": "default", "uid": name, "finalizers": [FINALIZER]}
    meta |= {"creationTimestamp": LONG_AGO, "annotations": annotations}
    if deleted:
        meta |= {"deletionTimestamp": LONG_AGO, "deletionGracePeriodSeconds": 30}
    status: Object = {"phase": phase}
    if phase in ("Succeeded", "Failed"):
        exit_code = 0 if phase == "Succeeded" else code
        status["containerStatuses"] = [
            {"name": "c", "state": {"terminated": {"exitCode": exit_code, "finishedAt": ended}}}
        ]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": {"nodeName": "n"}, "status": status}


def indexed(name: str, phase: str, index: int, *, failures: int = 0, **more: Any) -> Object:
    made = job_pod(name, phase, **more)
    made["metadata"]["annotations"] = {INDEX: str(index), FAILURES: str(failures)}
    return made


def plan(owner: Object, *pods: Object, backoff: Backoff | None = None, now: datetime = NOW) -> JobPlan:
    return plan_job(owner, pods, backoff or Backoff(), now)


def kinds(found: JobPlan) -> list[str]:
    return [f"{each['type']} {each['reason']}" for each in found.status["conditions"] or ()]


@pytest.mark.parametrize(
    ("spec", "phases", "created"),
    [
        ({}, [], 1),
        ({}, ["Running"], 0),
        ({}, ["Succeeded"], 0),
        ({}, ["Failed"], 1),
        ({"parallelism": 3}, [], 3),
        ({"parallelism": 3}, ["Running"], 2),
        ({"parallelism": 3}, ["Succeeded", "Running"], 0),
        ({"parallelism": 3}, ["Failed", "Running"], 2),
        ({"completions": 0}, [], 0),
        ({"parallelism": 0, "completions": 2}, [], 0),
        ({"parallelism": 2, "completions": 5}, [], 2),
        ({"parallelism": 2, "completions": 5}, ["Succeeded", "Succeeded", "Running"], 1),
        ({"parallelism": 2, "completions": 3}, ["Succeeded", "Succeeded"], 1),
        ({"parallelism": 2, "completions": 2}, ["Succeeded", "Succeeded"], 0),
        ({"completions": 2}, [], 1),
        ({"suspend": True}, [], 0),
    ],
)
def test_a_job_has_pods_while_completions_are_missing(spec: Object, phases: list[str], created: int) -> None:
    found = plan(job(**spec), *(job_pod(f"p{number}", phase) for number, phase in enumerate(phases)))
    assert (len(found.create), found.delete, found.retire) == (created, (), ())


def test_a_job_whose_pods_have_succeeded_is_complete() -> None:
    found = plan(job(completions=2, parallelism=2), job_pod("a", "Succeeded"), job_pod("b", "Succeeded"))
    assert kinds(found) == ["SuccessCriteriaMet CompletionsReached", "Complete CompletionsReached"]
    assert (found.status["succeeded"], found.status["active"], found.status["completionTime"]) == (
        2,
        None,
        "2026-01-01T01:00:00Z",
    )
    assert [name_of(each) for each in found.release] == ["a", "b"]
    assert found.events == (("Normal", "Completed", "Job completed"),)


def test_a_job_without_completions_waits_for_the_pods_that_still_run() -> None:
    running = plan(job(parallelism=2), job_pod("a", "Succeeded"), job_pod("b", "Running"))
    assert (kinds(running), running.create) == ([], ())
    assert kinds(plan(job({"succeeded": 1}, parallelism=2)))[-1] == "Complete CompletionsReached"


def test_a_counted_pod_does_not_count_again() -> None:
    counted = job_pod("a", "Succeeded")
    counted["metadata"]["finalizers"] = []
    found = plan(job({"succeeded": 1}, completions=2), counted)
    assert (found.status["succeeded"], len(found.create), found.release) == (1, 1, ())


def test_the_next_pod_waits_after_a_failure_longer_each_time() -> None:
    just_now = "2026-01-01T00:59:58Z"
    first = plan(job(), job_pod("a", "Failed", ended=just_now))
    assert (first.create, first.wait, first.status["failed"]) == ((), 8.0, 1)
    assert first.backoff == Backoff(1, datetime(2026, 1, 1, 0, 59, 58, tzinfo=UTC))
    third = plan(job({"failed": 2}), job_pod("c", "Failed", ended=just_now), backoff=Backoff(2, NOW))
    assert third.wait == 38.0
    assert len(plan(job({"failed": 1}), backoff=first.backoff, now=NOW + timedelta(seconds=8)).create) == 1


def test_a_success_ends_the_wait() -> None:
    record = Backoff(4, NOW)
    assert record.after([job_pod("a", "Succeeded")], []) == Backoff()
    later = job_pod("b", "Failed", ended="2026-01-01T00:30:00Z")
    assert record.after([job_pod("a", "Succeeded")], [later]) == Backoff(1, finished_time(later))
    assert record.after([later], [job_pod("c", "Failed")]) == Backoff()


def test_more_failures_than_backoff_limit_end_the_job_and_its_pods() -> None:
    found = plan(job({"failed": 1}, backoffLimit=1, parallelism=2), job_pod("a", "Failed"), job_pod("b", "Running"))
    assert [name_of(each) for each in found.delete] == ["b"]
    assert kinds(found) == ["FailureTarget BackoffLimitExceeded"]  # until the last pod is gone
    assert (found.status["failed"], found.status["terminating"], found.status["active"]) == (3, 1, None)
    waiting = job({"failed": 3, "conditions": found.status["conditions"]}, backoffLimit=1, parallelism=2)
    after = plan(waiting)
    assert kinds(after)[-1] == "Failed BackoffLimitExceeded"
    assert after.events == (("Warning", "BackoffLimitExceeded", "Job has reached the specified backoff limit"),)


def test_containers_that_are_started_again_count_against_the_limit() -> None:
    running = job_pod("a", "Running")
    running["status"]["containerStatuses"] = [{"name": "c", "restartCount": 2}]
    template = {"spec": {"restartPolicy": "OnFailure", "containers": []}}
    assert kinds(plan(job(backoffLimit=2, template=template), running)) == ["FailureTarget BackoffLimitExceeded"]
    assert kinds(plan(job(backoffLimit=3, template=template), running)) == []
    assert kinds(plan(job(backoffLimit=0, template=template), job_pod("a", "Running"))) == []


def test_a_deadline_ends_a_job_and_is_waited_for() -> None:
    started = {"startTime": "2026-01-01T00:59:00Z"}
    assert plan(job(started, activeDeadlineSeconds=100), job_pod("a", "Running")).alarm == 40.0
    late = plan(job(started, activeDeadlineSeconds=60), job_pod("a", "Running"))
    assert kinds(late) == ["FailureTarget DeadlineExceeded"]
    suspended = plan(job(started, activeDeadlineSeconds=60, suspend=True))
    assert (kinds(suspended), suspended.alarm) == (["Suspended JobSuspended"], None)


def test_suspension_removes_the_pods_which_do_not_count_as_failed() -> None:
    found = plan(job({"startTime": LONG_AGO}, suspend=True), job_pod("a", "Running"))
    assert [name_of(each) for each in found.retire] == ["a"]
    assert (found.status["failed"], found.status["active"], found.status["startTime"]) == (None, None, None)
    before = plan_job(job({"startTime": LONG_AGO}, suspend=True), [], Backoff(), NOW, forgets_start=False)
    assert before.status["startTime"] == LONG_AGO  # until Kubernetes 1.36
    resumed = plan(job({"conditions": found.status["conditions"]}))
    assert (resumed.status["conditions"][0]["status"], len(resumed.create)) == ("False", 1)
    assert [event[1] for event in resumed.events] == ["Resumed"]
    assert resumed.status["startTime"] == "2026-01-01T01:00:00Z"


def test_a_smaller_parallelism_removes_those_that_are_not_ready_first() -> None:
    ready = job_pod("a", "Running")
    ready["status"]["conditions"] = [{"type": "Ready", "status": "True", "lastTransitionTime": LONG_AGO}]
    found = plan(job(parallelism=1, completions=5), ready, job_pod("b", "Running"), job_pod("c", "Pending"))
    assert [name_of(each) for each in found.retire] == ["c", "b"]


@pytest.mark.parametrize(("policy", "created"), [("TerminatingOrFailed", 1), ("Failed", 0)])
def test_when_a_pod_that_is_being_deleted_is_replaced(policy: str, created: int) -> None:
    found = plan(job(podReplacementPolicy=policy), job_pod("a", "Running", deleted=True))
    assert len(found.create) == created
    assert found.status["terminating"] == 1


def indexed_job(status: Object | None = None, **spec: Any) -> Object:
    return job(status, **{"completionMode": "Indexed", "completions": 4, "parallelism": 2, **spec})


def test_an_indexed_job_makes_the_lowest_missing_indexes() -> None:
    made = plan(indexed_job({"completedIndexes": "0,2"})).create
    assert [each["metadata"]["generateName"] for each in made] == ["j-1-", "j-3-"]
    assert [each["spec"]["hostname"] for each in made] == ["j-1", "j-3"]
    assert [each["metadata"]["labels"][INDEX] for each in made] == ["1", "3"]
    (more,) = plan(indexed_job(), indexed("a", "Running", 0)).create
    assert annotations_of(more)[INDEX] == "1"


def test_the_index_is_in_the_environment() -> None:
    template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "env": [{"name": "A", "value": "b"}]}]}}
    (made, _) = plan(indexed_job(template=template)).create
    (container,) = made["spec"]["containers"]
    assert [each["name"] for each in container["env"]] == ["A", "JOB_COMPLETION_INDEX"]
    assert container["env"][1]["valueFrom"]["fieldRef"]["fieldPath"] == f"metadata.labels['{INDEX}']"


def test_succeeded_indexes_are_counted_once() -> None:
    twice = [indexed("a", "Succeeded", 1), indexed("b", "Succeeded", 1), indexed("c", "Succeeded", 9)]
    found = plan(indexed_job({"completedIndexes": "0"}), *twice)
    assert (found.status["completedIndexes"], found.status["succeeded"]) == ("0,1", 2)


def test_of_pods_with_one_index_one_stays() -> None:
    pods = [indexed("a", "Pending", 0), indexed("b", "Running", 0), indexed("c", "Running", 1), job_pod("d", "Running")]
    found = plan(indexed_job(), *pods)
    assert sorted(name_of(each) for each in found.retire) == ["a", "d"]


def test_an_index_fails_by_itself() -> None:
    per_index: Object = {"backoffLimitPerIndex": 1, "backoffLimit": (1 << 31) - 1}
    first = plan(indexed_job(**per_index, parallelism=1), indexed("a", "Failed", 0))
    assert [annotations_of(each)[FAILURES] for each in first.create] == ["1"]
    assert first.release == ()  # until its successor is there
    second = plan(indexed_job(**per_index), indexed("b", "Failed", 0, failures=1))
    assert second.status["failedIndexes"] == "0"
    assert [annotations_of(each)[INDEX] for each in second.create] == ["1", "2"]
    over = plan(indexed_job({"failedIndexes": "0", "completedIndexes": "1-3"}, **per_index))
    assert kinds(over)[-1] == "Failed FailedIndexes"
    most = plan(indexed_job(**per_index, maxFailedIndexes=0), indexed("b", "Failed", 0, failures=1))
    assert kinds(most)[-1] == "Failed MaxFailedIndexesExceeded"


def test_a_failed_index_waits_and_others_do_not() -> None:
    just_now = indexed("a", "Failed", 0, ended="2026-01-01T00:59:59Z")
    per_index = {"backoffLimitPerIndex": 3, "backoffLimit": 9}
    found = plan(indexed_job(**per_index), just_now)
    assert [annotations_of(each)[INDEX] for each in found.create] == ["1"]
    alone = plan(indexed_job({"completedIndexes": "1-3"}, **per_index), just_now)
    assert (alone.create, alone.wait) == ((), 9.0)


def test_a_success_policy_ends_a_job_early() -> None:
    policy = {"rules": [{"succeededIndexes": "0-1", "succeededCount": 1}]}
    found = plan(indexed_job(successPolicy=policy), indexed("a", "Succeeded", 1), indexed("b", "Running", 2))
    assert (kinds(found), len(found.delete)) == (["SuccessCriteriaMet SuccessPolicy"], 1)
    assert found.status["failed"] is None  # whoever runs on is not a failure
    assert (
        kinds(plan(indexed_job(successPolicy={"rules": [{"succeededIndexes": "0-1"}]}), indexed("a", "Succeeded", 1)))
        == []
    )
    assert kinds(plan(indexed_job({"completedIndexes": "0,2"}, successPolicy={"rules": [{"succeededCount": 2}]})))[
        0
    ] == ("SuccessCriteriaMet SuccessPolicy")


def policy(action: str, **on: Any) -> Object:
    return {"podFailurePolicy": {"rules": [{"action": action, **on}]}, "podReplacementPolicy": "Failed"}


CODES = {"onExitCodes": {"operator": "In", "values": [42]}}
LOST = {"onPodConditions": [{"type": "DisruptionTarget"}]}


def test_a_pod_failure_policy() -> None:
    failed = job_pod("a", "Failed", code=42)
    whole = plan(job(**policy("FailJob", **CODES)), failed)
    assert kinds(whole) == ["FailureTarget PodFailurePolicy", "Failed PodFailurePolicy"]
    message = "Container c for pod default/a failed with exit code 42 matching FailJob rule at index 0"
    assert whole.events == (("Warning", "PodFailurePolicy", message),)
    ignored = plan(job(**policy("Ignore", **CODES), backoffLimit=0), failed)
    assert (ignored.status["failed"], len(ignored.create), len(ignored.release)) == (None, 1, 1)
    counted = plan(job(**policy("Count", **CODES), backoffLimit=0), failed)
    assert kinds(counted)[-1] == "Failed BackoffLimitExceeded"
    assert plan(job(**policy("FailJob", **CODES)), job_pod("a", "Failed", code=1)).status["failed"] == 1


def test_a_pod_failure_policy_sees_disruptions() -> None:
    lost = job_pod("a", "Failed")
    lost["status"]["conditions"] = [{"type": "DisruptionTarget", "status": "True"}]
    assert match_policy(job(**policy("Ignore", **LOST)), lost).counts is False
    assert match_policy(job(**policy("FailJob", **LOST)), lost).message == (
        "Pod default/a has condition DisruptionTarget matching FailJob rule at index 0"
    )
    assert match_policy(job(**policy("Ignore", **LOST)), job_pod("b", "Failed")).counts
    by_index = plan(indexed_job(**policy("FailIndex", **LOST), backoffLimitPerIndex=5), indexed_lost())
    assert by_index.status["failedIndexes"] == "0"


def indexed_lost() -> Object:
    made = indexed("a", "Failed", 0)
    made["status"]["conditions"] = [{"type": "DisruptionTarget", "status": "True"}]
    return made


def test_a_job_that_is_deleted_lets_its_pods_go() -> None:
    going = job()
    going["metadata"]["deletionTimestamp"] = LONG_AGO
    found = plan(going, job_pod("a", "Running"))
    assert (found.create, found.delete, [name_of(each) for each in found.release]) == ((), (), ["a"])


def test_an_ended_job_lives_as_long_as_it_says() -> None:
    ended = [{"type": "Complete", "status": "True", "lastTransitionTime": "2026-01-01T00:59:30Z"}]
    assert seconds_to_live(job({"conditions": ended}, ttlSecondsAfterFinished=40), NOW) == 10.0
    assert seconds_to_live(job({"conditions": ended}), NOW) is None
    assert seconds_to_live(job(ttlSecondsAfterFinished=0), NOW) is None


@pytest.mark.parametrize(
    ("text", "indexes"),
    [("", []), ("1", [1]), ("1,3-5,7", [1, 3, 4, 5, 7]), ("2,3", [2, 3]), ("0-9", range(10))],
)
def test_indexes_as_text(text: str, indexes: list[int]) -> None:
    assert parse_indexes(text, 100) == set(indexes)
    assert format_indexes(indexes) == text


def test_indexes_that_no_job_has() -> None:
    assert parse_indexes("0-5,9", 4) == {0, 1, 2, 3}
    assert parse_indexes("a,1-b,3", 4) == {3}
    assert len(parse_indexes("0-2147483646", (1 << 31) - 1)) == 1_000_000
