"""Pods whose containers end: those of Jobs, and how long they run (kubernetes pkg/kubelet/kubelet_pods.go, getPhase)."""

from __future__ import annotations

from typing import Any

import pytest

from harness.kube.api.objects import condition, conditions_of, status_of
from harness.kube.go.times import seconds_between
from harness.nodes.pod_ends import EXIT_CODE, RUNS_FOR
from harness.nodes.timing import NEVER, Timing
from harness.testing import nodeclass, nodepool, pod
from harness.world import World

Object = dict[str, Any]


def job(policy: str = "Never", annotations: dict[str, str] | None = None, **spec: Any) -> Object:
    container = {"name": "c", "image": "c", "resources": {"requests": {"cpu": "1"}}}
    template = {
        "metadata": {"annotations": annotations or {}},
        "spec": {"restartPolicy": policy, "containers": [container]},
    }
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"}, "spec": {"template": template, **spec}}


def running(*objects: Object, timing: Timing | None = None) -> World:
    """A world whose pods run, and whose clock stands where the last of them began to."""
    world = World(timing=timing or Timing())
    world.apply(nodeclass(), nodepool(), *objects)
    world.settle()
    return world


def status(world: World) -> Object:
    (only,) = world.list("Pod")
    return dict(status_of(only))


@pytest.mark.parametrize(
    ("timing", "annotations", "seconds"),
    [
        (Timing(), {}, 300),
        (Timing(job_pod=60.0), {}, 60),
        (Timing(job_pod=60.0), {RUNS_FOR: "90s"}, 90),
        (Timing(job_pod=NEVER), {RUNS_FOR: "1m30s"}, 90),
    ],
)
def test_a_pod_of_a_job_runs_as_long_as_is_said(timing: Timing, annotations: dict[str, str], seconds: int) -> None:
    world = running(job(annotations=annotations), timing=timing)
    world.advance(seconds - 10)
    assert status(world)["phase"] == "Running"
    world.advance(10)
    assert status(world)["phase"] == "Succeeded"


@pytest.mark.parametrize(
    ("timing", "annotations"),
    [(Timing(job_pod=NEVER), {}), (Timing(), {RUNS_FOR: "never"}), (Timing(), {RUNS_FOR: "soon"})],
)
def test_a_pod_may_run_for_ever(timing: Timing, annotations: dict[str, str]) -> None:
    world = running(job(annotations=annotations), timing=timing)
    world.advance(7200)
    assert status(world)["phase"] == "Running"


def test_other_pods_end_only_where_an_annotation_says_so() -> None:
    plain, short = pod("plain", restartPolicy="Never"), pod("short", restartPolicy="OnFailure")
    short["metadata"]["annotations"] = {RUNS_FOR: "30s"}
    service = pod("service")
    service["metadata"]["annotations"] = {RUNS_FOR: "30s"}  # its containers are started again
    world = running(plain, short, service)
    world.advance(3600)
    phases = {each["metadata"]["name"]: status_of(each)["phase"] for each in world.list("Pod")}
    assert phases == {"plain": "Running", "short": "Succeeded", "service": "Running"}


def test_an_ended_pod_says_how() -> None:
    world = running(job(annotations={RUNS_FOR: "30s", EXIT_CODE: "3"}, backoffLimit=0))
    world.advance(40)
    found = status(world)
    (container,) = found["containerStatuses"]
    assert (found["phase"], container["state"]["terminated"]["exitCode"]) == ("Failed", 3)
    (only,) = world.list("Pod")
    ready = condition(only, "Ready")
    assert ready is not None
    assert (ready["status"], ready["reason"]) == ("False", "PodFailed")
    assert len({each["type"] for each in conditions_of(only)}) == len(conditions_of(only))


def test_containers_that_fail_are_started_again_in_their_pod() -> None:
    world = running(job("OnFailure", annotations={RUNS_FOR: "30s", EXIT_CODE: "1"}, backoffLimit=3))
    world.advance(35)
    assert (status(world)["phase"], status(world)["containerStatuses"][0]["restartCount"]) == ("Running", 1)
    world.advance(40)
    assert status(world)["containerStatuses"][0]["restartCount"] == 2
    world.advance(100)
    assert world.list("Pod") == []
    found = world.get("Job", "j")
    assert found is not None
    assert condition(found, "Failed") is not None


def test_probes_that_do_not_succeed_in_time_hold_no_end_up() -> None:
    slow = job(annotations={RUNS_FOR: "30s"})
    slow["spec"]["template"]["spec"]["containers"][0]["readinessProbe"] = {"initialDelaySeconds": 500}
    world = running(slow)
    found = world.get("Job", "j")
    assert found is not None
    began, ended = status_of(found)["startTime"], status_of(found)["completionTime"]
    assert seconds_between(began, ended) < 100


def test_a_pod_that_is_deleted_has_failed_before_it_goes() -> None:
    world = running(job(podReplacementPolicy="Failed"))
    phases: list[str] = []
    world.cluster.view.subscribe(lambda change: phases.append(change.object.get("status", {}).get("phase", "")))
    world.delete("Pod", world.list("Pod")[0]["metadata"]["name"])
    world.advance(30)
    assert "Failed" in phases
    found = world.get("Job", "j")
    assert found is not None
    assert status_of(found)["failed"] == 1
