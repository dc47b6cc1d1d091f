"""The replicas that a metric asks for. Figures: kubernetes 1.36 pkg/controller/podautoscaler/replica_calculator_test.go."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from harness.kube.workloads.autoscaler_replicas import (
    MetricError,
    PodUsage,
    Proposal,
    ResourceMetric,
    Tolerances,
    proposal,
)
from lazyrecords import dataclass

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
WINDOW = timedelta(seconds=15)
LINE = (1, 36)


@dataclass(frozen=True, slots=True)
class Case:
    """A workload of pods that request 2 of cpu each: marks are `r`eady, `u`nready, `h`ot (ready since a moment), `p`ending, `f`ailed,
    `d`eleted, with the usage of each in thousandths for one of its two containers, None where no metric was had."""

    name: str
    marks: str
    levels: Sequence[int | None]
    target: int
    replicas: int
    utilization: int


CASES = (
    Case("ScaleUp", "rrr", (300, 500, 700), 30, 5, 50),
    Case("ScaleUpUnreadyLessScale", "urr", (300, 500, 700), 30, 4, 60),
    Case("ScaleUpHotCpuLessScale", "hrr", (300, 500, 700), 30, 4, 60),
    Case("ScaleUpUnreadyNoScale", "ruu", (400, 500, 700), 30, 3, 40),
    Case("ScaleHotCpuNoScale", "rhh", (400, 500, 700), 30, 3, 40),
    Case("ScaleUpIgnoresFailedPods", "rrff", (500, 700, None, None), 30, 4, 60),
    Case("ScaleUpIgnoresDeletionPods", "rrdd", (500, 700, None, None), 30, 4, 60),
    Case("ScaleDown", "rrrrr", (100, 300, 500, 250, 250), 50, 3, 28),
    Case("ScaleDownExcludeUnreadyPods", "rrruu", (100, 300, 500, 250, 250), 50, 2, 30),
    Case("ScaleDownExcludeUnscheduledPods", "rpppp", (100, None, None, None, None), 50, 1, 10),
    Case("ScaleDownIgnoreHotCpuPods", "rrrhh", (100, 300, 500, 250, 250), 50, 2, 30),
    Case("ScaleDownIgnoresFailedPods", "rrrrrff", (100, 300, 500, 250, 250, None, None), 50, 3, 28),
    Case("ScaleDownIgnoresDeletionPods_StillRunning", "rrrrrdd", (100, 300, 500, 250, 250, 900, 900), 50, 3, 28),
    Case("Tolerance", "rrr", (1010, 1030, 1020), 100, 3, 102),
    Case("MissingMetricsNoChangeEq", "rr", (1000, None), 100, 2, 100),
    Case("MissingMetricsNoChangeGt", "rr", (1900, None), 100, 2, 190),
    Case("MissingMetricsNoChangeLt", "rr", (600, None), 100, 2, 60),
    Case("MissingMetricsUnreadyChange", "urr", (100, 450, None), 50, 3, 45),
    Case("MissingMetricsUnreadyScaleUp", "urr", (100, 2000, None), 50, 4, 200),
    Case("MissingMetricsUnreadyScaleDown", "urrr", (100, 100, 100, None), 50, 3, 10),
    Case("DuringRollingUpdateWithMaxSurge", "rrr", (100, 100, None), 50, 2, 10),
)
CURRENT = {"ScaleUpIgnoresFailedPods": 2, "ScaleUpIgnoresDeletionPods": 2, "DuringRollingUpdateWithMaxSurge": 2}
CURRENT |= {"ScaleDownIgnoresFailedPods": 5, "ScaleDownIgnoresDeletionPods_StillRunning": 5}


def marked_pod(number: int, mark: str, request: str | None = "1") -> dict[str, Any]:
    long_ago, just_now = "2026-01-01T10:00:00Z", "2026-01-01T11:59:50Z"
    ready = {"type": "Ready", "status": "False" if mark in "upfd" else "True", "lastTransitionTime": long_ago}
    status = {"phase": {"p": "Pending", "f": "Failed"}.get(mark, "Running"), "startTime": long_ago}
    if mark == "h":
        status["startTime"], ready["lastTransitionTime"] = "2026-01-01T11:59:00Z", just_now
    requests = {} if request is None else {"requests": {"cpu": request}}
    return {
        "metadata": {"name": f"p{number}", **({"deletionTimestamp": just_now} if mark == "d" else {})},
        "spec": {"containers": [{"name": name, "resources": requests} for name in ("a", "b")]},
        "status": {**status, "conditions": [ready]},
    }


def usage(level: int, other: int | None = None) -> PodUsage:
    return PodUsage(NOW, WINDOW, {"a": {"cpu": level}, "b": {"cpu": level if other is None else other}})


def proposed(
    marks: str, levels: Sequence[int | None], metric: ResourceMetric, current: int, tolerances: Tolerances | None = None
) -> Proposal:
    pods = [marked_pod(number, mark) for number, mark in enumerate(marks)]
    usages = {f"p{number}": usage(level) for number, level in enumerate(levels) if level is not None}
    return proposal(metric, pods, usages, current, tolerances or Tolerances(), NOW, LINE)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_replicas_are_upstreams(case: Case) -> None:
    current = CURRENT.get(case.name, len(case.marks))
    made = proposed(case.marks, case.levels, ResourceMetric("cpu", utilization=case.target), current)
    assert (made.replicas, made.utilization) == (case.replicas, case.utilization)


def test_an_average_is_of_the_pods_that_count() -> None:
    made = proposed("rrr", (10, 5, 15), ResourceMetric("cpu", average=15), 3)
    assert made == Proposal(4, None, 20)
    assert proposed("rr", (5, None), ResourceMetric("cpu", average=20), 2).replicas == 2  # the other one as the target


def test_one_container_alone_may_count() -> None:
    pods = [marked_pod(number, "r") for number in range(3)]
    usages = {f"p{number}": usage(1000, level) for number, level in enumerate((300, 500, 700))}
    made = proposal(ResourceMetric("cpu", "b", 30), pods, usages, 3, Tolerances(), NOW, LINE)
    assert (made.replicas, made.utilization, made.average) == (5, 50, 500)


@pytest.mark.parametrize(("level", "expected"), [(1040, 3), (1060, 4), (700, 3), (650, 2)])
def test_tolerances_have_two_sides(level: int, expected: int) -> None:
    wide = Tolerances(down=0.3, up=0.05)
    assert proposed("rrr", (level,) * 3, ResourceMetric("cpu", utilization=100), 3, wide).replicas == expected


def test_a_pod_that_has_just_become_ready_counts_soon() -> None:
    metric = ResourceMetric("cpu", utilization=50)
    assert proposed("rh", (500, 500), metric, 2).settling
    assert not proposed("ru", (500, 500), metric, 2).settling


@pytest.mark.parametrize(
    ("marks", "levels", "container", "request_", "message"),
    [
        (
            "r",
            (None,),
            "",
            "1",
            "unable to get metrics for resource cpu: no metrics returned from resource metrics API",
        ),
        ("u", (100,), "", "1", "did not receive metrics for targeted pods (pods might be unready)"),
        ("r", (100,), "", None, "missing request for cpu in container a of Pod p0"),
    ],
)
def test_without_a_metric_nothing_is_proposed(
    marks: str, levels: Sequence[int | None], container: str, request_: str | None, message: str
) -> None:
    pods = [marked_pod(number, mark, request_) for number, mark in enumerate(marks)]
    usages = {f"p{number}": usage(level) for number, level in enumerate(levels) if level is not None}
    metric = ResourceMetric("cpu", container, 50)
    with pytest.raises(MetricError) as refused:
        proposal(metric, pods, usages, 1, Tolerances(), NOW, LINE)
    assert str(refused.value) == message
