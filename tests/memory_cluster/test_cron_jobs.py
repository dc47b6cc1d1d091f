"""When CronJobs make Jobs, and which of them stay (kubernetes pkg/controller/cronjob)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from harness.kube.api.objects import name_of, spec_of, status_of
from harness.kube.api.status import ApiError
from harness.kube.api.time_zones import time_zone
from harness.kube.go.cron import Schedule
from harness.kube.workloads.cron_jobs import job_of, plan_cron_job
from tests.memory_cluster.conftest import Cluster

Object = dict[str, Any]
START = datetime(2026, 1, 1, tzinfo=UTC)  # of every clock
MINUTE = 60.0
TEMPLATE = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "c"}]}}


def cron_job(schedule: str = "*/10 * * * *", *, job: Object | None = None, **spec: Any) -> Object:
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"template": TEMPLATE, **(job or {})}}
    meta = {"name": "cron", "namespace": "default"}
    body = {"schedule": schedule, "jobTemplate": template, **spec}
    return {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": meta, "spec": body}


def jobs(cluster: Cluster) -> list[str]:
    return [name_of(job) for job in cluster.view.list("Job")]


def numbered(*minutes: int) -> list[str]:
    return [f"cron-{int((START + timedelta(minutes=minute)).timestamp()) // 60}" for minute in minutes]


def finish(cluster: Cluster, phase: str = "Succeeded") -> None:
    """Ends all pods."""
    for pod in cluster.view.list("Pod"):
        if status_of(pod)["phase"] == "Pending":
            patch = {"status": {"phase": phase}}
            cluster.admin.patch("Pod", name_of(pod), patch, namespace="default", subresource="status")
    cluster.settle()


def events(cluster: Cluster) -> list[str]:
    return [event.reason for event in cluster.recorder.events if event.object.kind == "CronJob"]


def test_a_job_is_made_when_it_is_due(cluster: Cluster) -> None:
    cluster.admin.create(cron_job())
    cluster.settle()
    assert jobs(cluster) == []  # time is not driven by it
    cluster.advance(10 * MINUTE)
    assert jobs(cluster) == []  # a tenth of a second later
    cluster.advance(1.0)
    assert jobs(cluster) == numbered(10)
    (job,) = cluster.view.list("Job")
    assert job["metadata"]["labels"] == {"a": "b"}
    assert job["metadata"]["annotations"] == {"batch.kubernetes.io/cronjob-scheduled-timestamp": "2026-01-01T00:10:00Z"}
    cluster.advance(20 * MINUTE)
    assert jobs(cluster) == numbered(10, 20, 30)
    owner = cluster.view.get("CronJob", "cron", "default")
    assert owner is not None
    assert (len(status_of(owner)["active"]), status_of(owner)["lastScheduleTime"]) == (3, "2026-01-01T00:30:00Z")


@pytest.mark.parametrize(
    ("policy", "left"), [("Allow", numbered(10, 20, 30)), ("Forbid", numbered(10)), ("Replace", numbered(30))]
)
def test_jobs_that_still_run(cluster: Cluster, policy: str, left: list[str]) -> None:
    cluster.admin.create(cron_job(concurrencyPolicy=policy))
    cluster.advance(31 * MINUTE)
    assert jobs(cluster) == left
    assert len([pod for pod in cluster.view.list("Pod") if not pod["metadata"].get("deletionTimestamp")]) == len(left)


def test_forbidden_jobs_come_once_the_first_is_over(cluster: Cluster) -> None:
    cluster.admin.create(cron_job(concurrencyPolicy="Forbid"))
    cluster.advance(25 * MINUTE)
    finish(cluster)
    assert jobs(cluster) == numbered(10, 20)  # late: no startingDeadlineSeconds
    assert "JobAlreadyActive" in events(cluster)
    assert "SawCompletedJob" in events(cluster)


def test_a_late_job_does_not_come_after_its_deadline(cluster: Cluster) -> None:
    cluster.admin.create(cron_job(concurrencyPolicy="Forbid", startingDeadlineSeconds=60))
    cluster.advance(25 * MINUTE)
    finish(cluster)
    assert jobs(cluster) == numbered(10)
    cluster.advance(6 * MINUTE)
    assert jobs(cluster) == numbered(10, 30)


def test_a_suspended_cron_job_makes_none_until_it_is_resumed(cluster: Cluster) -> None:
    cluster.admin.create(cron_job(suspend=True))
    cluster.advance(35 * MINUTE)
    assert jobs(cluster) == []
    cluster.admin.patch("CronJob", "cron", {"spec": {"suspend": False}}, namespace="default")
    cluster.settle()
    assert jobs(cluster) == numbered(30)  # the last one that was missed


@pytest.mark.parametrize(("phase", "kept"), [("Succeeded", numbered(30, 40)), ("Failed", numbered(40))])
def test_as_many_ended_jobs_stay_as_the_history_has_room_for(cluster: Cluster, phase: str, kept: list[str]) -> None:
    cluster.admin.create(cron_job(job={"backoffLimit": 0}, successfulJobsHistoryLimit=2))
    for _ in range(4):
        cluster.advance(10 * MINUTE + 1)
        finish(cluster, phase)
    assert jobs(cluster) == kept
    assert len(cluster.view.list("Pod")) == len(kept)


def test_an_ended_job_goes_after_its_time_to_live(cluster: Cluster) -> None:
    cluster.admin.create(cron_job(job={"ttlSecondsAfterFinished": 60}))
    cluster.advance(10 * MINUTE + 1)
    finish(cluster)
    cluster.advance(58)
    assert jobs(cluster) == numbered(10)
    cluster.advance(5)
    assert (jobs(cluster), cluster.view.list("Pod")) == ([], [])


def test_jobs_go_with_their_cron_job(cluster: Cluster) -> None:
    cluster.admin.create(cron_job())
    cluster.advance(11 * MINUTE)
    cluster.admin.delete("CronJob", "cron", namespace="default")
    cluster.settle()
    assert (jobs(cluster), cluster.view.list("Pod")) == ([], [])


def test_the_schedule_is_read_by_the_clocks_of_its_time_zone() -> None:
    """In Berlin clocks skip 02:00 to 03:00 on 2026-03-29, and show it twice on 2026-10-25."""
    berlin = time_zone("Europe/Berlin")
    schedule = Schedule.parse("30 2 * * *")

    def after(*date: int) -> str:
        hit = schedule.next_after(datetime(*date, tzinfo=UTC), berlin)  # type: ignore[misc, arg-type]
        return "" if hit is None else f"{hit:%m-%dT%H:%M}"

    assert after(2026, 1, 1) == "01-01T01:30"
    assert after(2026, 3, 28, 2) == "03-30T00:30"
    assert after(2026, 10, 25) == "10-25T00:30"
    assert after(2026, 10, 25, 0, 30) == "10-25T01:30"
    assert after(2026, 10, 25, 1, 30) == "10-26T01:30"
    local = Schedule.parse("0 0 1 * *").next_after(datetime(2026, 6, 15, tzinfo=UTC), berlin)
    assert local == datetime(2026, 6, 30, 22, tzinfo=UTC)


def test_a_job_names_its_moment_in_its_time_zone() -> None:
    owner = {**cron_job(), "metadata": {"name": "cron", "namespace": "default", "uid": "u"}}
    made = job_of(owner, datetime(2026, 6, 30, 22, tzinfo=UTC), time_zone("Europe/Berlin"))
    assert made["metadata"]["annotations"] == {
        "batch.kubernetes.io/cronjob-scheduled-timestamp": "2026-07-01T00:00:00+02:00"
    }


def test_of_many_missed_moments_the_last_one_counts() -> None:
    """A controller that has slept for a day (mostRecentScheduleTime)."""
    owner = cron_job("* * * * *")
    owner["metadata"] |= {"uid": "u", "creationTimestamp": "2026-01-01T00:00:00Z"}
    now = START + timedelta(days=1, seconds=30)
    plan = plan_cron_job(owner, [], Schedule.parse("* * * * *"), None, now)
    assert plan.due == START + timedelta(days=1)
    assert [reason for _, reason, _ in plan.events] == ["TooManyMissedTimes"]
    assert plan.wait == pytest.approx(30.1)


@pytest.mark.parametrize(
    ("spec", "cause"),
    [
        (
            {"schedule": "61 * * * *"},
            'spec.schedule: Invalid value: "61 * * * *": end of range (61) above maximum (59): 61',
        ),
        ({"timeZone": "Nowhere/Land"}, 'spec.timeZone: Invalid value: "Nowhere/Land": unknown time zone Nowhere/Land'),
        (
            {"schedule": "TZ=UTC 0 0 * * *"},
            'spec.schedule: Invalid value: "TZ=UTC 0 0 * * *": cannot use TZ or CRON_TZ in schedule, use timeZone field instead',
        ),
        (
            {"concurrencyPolicy": "Never"},
            'spec.concurrencyPolicy: Unsupported value: "Never": supported values: "Allow", "Forbid", "Replace"',
        ),
        (
            {"startingDeadlineSeconds": -1},
            "spec.startingDeadlineSeconds: Invalid value: -1: must be greater than or equal to 0",
        ),
    ],
)
def test_what_a_cron_job_may_not_say(cluster: Cluster, spec: Object, cause: str) -> None:
    with pytest.raises(ApiError) as refused:
        cluster.admin.create(cron_job(**{"schedule": "@daily", **spec}))
    assert refused.value.message == f'CronJob.batch "cron" is invalid: {cause}'


def test_the_pods_of_a_cron_job_are_judged_where_they_stand(cluster: Cluster) -> None:
    wrong = cron_job(job={"template": {"spec": {"containers": [{"name": "c", "image": "c"}]}}})
    with pytest.raises(ApiError) as refused:
        cluster.admin.create(wrong)
    place = "spec.jobTemplate.spec.template.spec.restartPolicy"
    assert refused.value.message.endswith(f'{place}: Required value: valid values: "OnFailure", "Never"')


def test_defaults_of_a_cron_job(cluster: Cluster) -> None:
    made = spec_of(cluster.admin.create(cron_job()))
    assert (made["concurrencyPolicy"], made["failedJobsHistoryLimit"], made["suspend"]) == ("Allow", 1, False)
