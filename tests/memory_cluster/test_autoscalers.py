"""HorizontalPodAutoscalers in a cluster: what they do to a workload whose load is given, and what they say."""

from __future__ import annotations

import re
from typing import Any

import pytest

from harness import World
from harness.kube.api.objects import Key
from harness.world.loads import curves
from tests.clusters.stories.memory import told_in_memory
from tests.clusters.stories.story import Step, Story

Object = dict[str, Any]
NAME = "HorizontalPodAutoscaler/web"


def workload(replicas: int | None = 2, kind: str = "Deployment", name: str = "web") -> Object:
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}}}
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [container]}}
    spec = {"selector": {"matchLabels": {"app": "web"}}, "template": template}
    if replicas is not None:
        spec["replicas"] = replicas
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name}, "spec": spec}


def autoscaler(*metrics: Object, name: str = "web", target: str = "web", **spec: Any) -> Object:
    reference = {"apiVersion": "apps/v1", "kind": "Deployment", "name": target}
    listed = list(metrics) or [cpu(50)]
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": name},
        "spec": {"scaleTargetRef": reference, "maxReplicas": 10, "metrics": listed, **spec},
    }


def cpu(percent: int) -> Object:
    target = {"type": "Utilization", "averageUtilization": percent}
    return {"type": "Resource", "resource": {"name": "cpu", "target": target}}


def told(*steps: Step, kubernetes: str = "1.36.3") -> Object:
    """The facts at the last rest."""
    story = Story("shop", "HorizontalPodAutoscaler", steps)
    return told_in_memory(story, kubernetes)[-1]


def load(value: Any) -> Step:
    return Step("load", {"of": {"Deployment/web": value}, "seconds": 0})


def sizes(facts: Object) -> list[str]:
    return [event.partition(": New size: ")[2] for event in facts["events"] if "SuccessfulRescale" in event]


def test_the_load_is_shared_so_that_a_size_is_enough() -> None:
    facts = told(Step("apply", [workload(), autoscaler()]), load("200%"), Step("wait", 120))
    assert facts["pods"] == {" Running": 8}
    status = facts["status"][NAME]
    assert (status["currentReplicas"], status["desiredReplicas"]) == (8, 8)
    current = {"averageValue": "50m", "averageUtilization": 50}
    assert status["metrics"] == [{"type": "Resource", "resource": {"name": "cpu", "current": current}}]
    why = "cpu resource utilization (percentage of request) above target"
    assert sizes(facts) == [f"4; reason: {why}", f"8; reason: {why}"]


def test_less_load_takes_pods_away_after_five_minutes() -> None:
    begin = (Step("apply", [workload(), autoscaler()]), load("200%"), Step("wait", 120), load("50%"))
    early = told(*begin, Step("wait", 280))
    assert early["pods"] == {" Running": 8}
    assert "AbleToScale=True ScaleDownStabilized" in early["status"][NAME]["conditions"]
    late = told(*begin, Step("wait", 340))
    assert late["pods"] == {" Running": 2}
    assert "2; reason: All metrics below target" in sizes(late)


@pytest.mark.parametrize(("replicas", "expected"), [(4, 8), (None, 2)])
def test_a_share_is_of_the_first_size(replicas: int | None, expected: int) -> None:
    facts = told(Step("apply", [workload(replicas), autoscaler()]), load("100%"), Step("wait", 120))
    assert facts["pods"] == {" Running": expected}


def test_an_amount_is_of_all_pods() -> None:
    facts = told(Step("apply", [workload(), autoscaler()]), load({"cpu": "310m"}), Step("wait", 120))
    assert facts["pods"] == {" Running": 7}


def test_without_a_load_nothing_changes() -> None:
    facts = told(Step("apply", [workload(3), autoscaler()]), Step("wait", 600))
    assert facts["pods"] == {" Running": 3}
    assert facts["status"][NAME]["conditions"] == []


def test_bounds_hold_whatever_the_load() -> None:
    facts = told(Step("apply", [workload(1), autoscaler(minReplicas=3)]), load("1%"), Step("wait", 60))
    assert facts["pods"] == {" Running": 3}
    assert sizes(facts) == ["3; reason: Current number of replicas below Spec.MinReplicas"]
    assert "ScalingLimited=True TooFewReplicas" in facts["status"][NAME]["conditions"]
    facts = told(Step("apply", [workload(7), autoscaler(maxReplicas=5)]), load("1%"), Step("wait", 20))
    assert sizes(facts) == ["5; reason: Current number of replicas above Spec.MaxReplicas"]


def test_a_workload_of_no_pods_is_left_alone() -> None:
    facts = told(Step("apply", [workload(0), autoscaler()]), load("100%"), Step("wait", 60))
    assert facts["pods"] == {}
    assert "ScalingActive=False ScalingDisabled" in facts["status"][NAME]["conditions"]


def test_the_most_of_several_metrics_counts() -> None:
    memory = {
        "type": "Resource",
        "resource": {"name": "memory", "target": {"type": "AverageValue", "averageValue": "32Mi"}},
    }
    given = load({"cpu": "100%", "memory": "192Mi"})
    facts = told(Step("apply", [workload(), autoscaler(cpu(50), memory)]), given, Step("wait", 120))
    assert facts["pods"] == {" Running": 6}
    assert [status["resource"]["name"] for status in facts["status"][NAME]["metrics"]] == ["cpu", "memory"]
    assert facts["status"][NAME]["metrics"][1]["resource"]["current"] == {"averageValue": "32Mi"}


def test_a_metric_that_fails_keeps_pods_from_going() -> None:
    queue = {"type": "External", "external": {"metric": {"name": "queue"}, "target": {"type": "Value", "value": "1"}}}
    begin = Step("apply", [workload(4), autoscaler(cpu(50), queue)])
    up = told(begin, load("100%"), Step("wait", 120))
    assert up["pods"] == {" Running": 8}
    down = told(begin, load("10%"), Step("wait", 600))
    assert down["pods"] == {" Running": 4}
    assert "ScalingActive=False FailedGetExternalMetric" in down["status"][NAME]["conditions"]


def test_two_that_scale_the_same_pods_do_nothing() -> None:
    both = [workload(2), autoscaler(), autoscaler(name="again")]
    facts = told(Step("apply", both), load("400%"), Step("wait", 60))
    text = "pods by selector app=web are controlled by multiple HPAs: [NAMESPACE/web NAMESPACE/again]"
    assert any(text in event for event in facts["events"])
    assert "ScalingActive=False AmbiguousSelector" in facts["status"][NAME]["conditions"]


def test_a_workload_that_is_not_there_is_said() -> None:
    facts = told(Step("apply", [autoscaler()]), load("100%"), Step("wait", 30))
    text = 'HorizontalPodAutoscaler: FailedGetScale: deployments.apps "web" not found'
    assert facts["events"] == [text]
    assert facts["status"][NAME]["conditions"] == ["AbleToScale=False FailedGetScale"]


@pytest.mark.parametrize(("kubernetes", "expected"), [("1.34.2", 3), ("1.35.0", 4)])
def test_a_tolerance_counts_from_1_35(kubernetes: str, expected: int) -> None:
    strict = autoscaler(behavior={"scaleUp": {"tolerance": "0"}})
    facts = told(Step("apply", [workload(3), strict]), load("54%"), Step("wait", 120), kubernetes=kubernetes)
    assert facts["pods"] == {" Running": expected}


def test_loads_are_named_by_workload() -> None:
    points = [{"at": 60, "load": "20%"}, {"at": 0, "load": "10%"}]
    ((key, curve),) = curves({"StatefulSet/shop/db": points})
    assert key == Key("StatefulSet", "shop", "db")
    assert [second for second, _ in curve] == [0.0, 60.0]


@pytest.mark.parametrize(
    ("reference", "value", "message"),
    [
        ("DaemonSet/web", "80%", "'DaemonSet/web' is no workload that can be scaled"),
        ("Deployment/web", "80", "a load such as 80%"),
        ("Deployment/web", {"gpu": "1"}, "a load is one of cpu and memory, not 'gpu'"),
        ("Deployment/web", {"cpu": "-1"}, "cpu: a share such as 80% or a quantity is expected"),
        ("Deployment/web", {}, "a load is one of cpu and memory"),
    ],
)
def test_a_load_that_is_none_is_refused(reference: str, value: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message.replace("(", "\\(")):
        list(curves({reference: value}))


ENTRY = "loads: Deployment/web: [0]: an entry such as {'at': 60, 'load': '80%'} is expected, not "


@pytest.mark.parametrize(
    ("loads", "message"),
    [
        ({"Deployment/web": [{"load": "50%"}]}, ENTRY + "{'load': '50%'}"),
        ({"Deployment/web": [{"at": 0}]}, ENTRY + "{'at': 0}"),
        ({"Deployment/web": ["x"]}, ENTRY + "'x'"),
        ({"Deployment/web": []}, "loads: Deployment/web: a list of loads has at least one entry"),
        ({"Deployment/web": None}, "loads: Deployment/web: a load such as 80%"),
        ({"Deployment/web": [{"at": float("nan"), "load": "1%"}]}, "[0].at: seconds from 0 are expected, not nan"),
        ({"Deployment/web": [{"at": 10**400, "load": "1%"}]}, "[0].at: seconds from 0 are expected, not 1000"),
        (
            {"Deployment/web": [{"at": 10**5000, "load": "1%"}]},
            "[0].at: seconds from 0 are expected, not a number too long to show",
        ),
        ({"Deployment/web": [{"at": "0", "load": "1%"}]}, "[0].at: seconds from 0 are expected, not '0'"),
        ({"Deployment/web": [{"at": 0, "load": "x"}]}, "loads: Deployment/web: [0].load: a load such as 80%"),
        ({"Deployment/web": {"cpu": "1e400"}}, "loads: Deployment/web: cpu: '1e400' is more than can be measured"),
        ({"Deployment/web": {"memory": "9" * 500}}, "9999…' is more than can be measured"),
        ({5: "50%"}, "loads: '5' is no workload that can be scaled: one of Deployment,"),
        ("x", "loads must be a mapping"),
        (None, "loads must be a mapping"),
    ],
)
def test_loads_of_any_other_form_are_one_clear_mistake(loads: Any, message: str) -> None:
    world = World()
    world.apply({**workload(), "metadata": {"name": "web", "namespace": "default"}})
    with pytest.raises(ValueError, match=re.escape(message)) as refused:
        world.change_load(loads)
    assert "\n" not in str(refused.value)
    if loads is not None:
        with pytest.raises(ValueError, match="loads"):
            World(loads=loads)


def test_a_load_of_a_workload_that_is_not_there_is_refused() -> None:
    with pytest.raises(LookupError, match="there is no Deployment/wbe in namespace default"):
        World().change_load({"Deployment/wbe": "50%"})


@pytest.mark.parametrize(("seconds", "expected"), [(500, 2), (700, 8)])
def test_a_curve_that_begins_later_scales_from_then_on(seconds: int, expected: int) -> None:
    points = [{"at": 600, "load": "200%"}]
    facts = told(Step("apply", [workload(), autoscaler()]), load(points), Step("wait", seconds))
    assert facts["pods"] == {" Running": expected}
    assert bool(facts["status"][NAME]["conditions"]) == (expected == 8)


@pytest.mark.parametrize(
    ("selector", "text"),
    [
        (None, "nil"),
        ({}, "&LabelSelector{MatchLabels:map[string]string{},MatchExpressions:[]LabelSelectorRequirement{},}"),
        (
            {
                "matchLabels": {"queue": "jobs", "env": "prod"},
                "matchExpressions": [
                    {"key": "tier", "operator": "In", "values": ["a", "b"]},
                    {"key": "old", "operator": "DoesNotExist"},
                ],
            },
            "&LabelSelector{MatchLabels:map[string]string{env: prod,queue: jobs,},MatchExpressions:[]LabelSelectorRequirement{"
            "LabelSelectorRequirement{Key:tier,Operator:In,Values:[a b],},"
            "LabelSelectorRequirement{Key:old,Operator:DoesNotExist,Values:[],},},}",
        ),
    ],
)
def test_the_selector_of_an_external_metric_is_printed_as_go_does(selector: Object | None, text: str) -> None:
    metric = {"name": "queue", **({} if selector is None else {"selector": selector})}
    queue = {"type": "External", "external": {"metric": metric, "target": {"type": "Value", "value": "1"}}}
    facts = told(Step("apply", [workload(), autoscaler(queue)]), load("200%"), Step("wait", 60))
    (message,) = (line for line in facts["status"][NAME]["messages"] if "external metric" in line)
    assert f"unable to get external metric NAMESPACE/queue/{text}: " in message


@pytest.mark.parametrize(
    ("requirement", "mistake"),
    [
        ({"operator": "Foo"}, '"Foo" is not a valid label selector operator'),
        ({"operator": "In"}, "values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty"),
    ],
)
@pytest.mark.parametrize(
    ("kind", "more", "target", "before"),
    [
        (
            "External",
            {},
            {"type": "Value", "value": "1"},
            "failed to get queue external metric value: failed to get external metric queue: ",
        ),
        (
            "External",
            {},
            {"type": "AverageValue", "averageValue": "1"},
            "failed to get queue external metric value: failed to get queue external metric: ",
        ),
        ("Pods", {}, {"type": "AverageValue", "averageValue": "1"}, "failed to get pods metric value: "),
        (
            "Object",
            {"describedObject": {"apiVersion": "v1", "kind": "Service", "name": "web"}},
            {"type": "Value", "value": "1"},
            "failed to get object metric value: ",
        ),
    ],
)
def test_the_selector_of_a_metric_is_parsed_first(
    kind: str, more: Object, target: Object, before: str, requirement: Object, mistake: str
) -> None:
    selector = {"matchExpressions": [{"key": "tier", **requirement}]}
    queue = {"type": kind, kind.lower(): {"metric": {"name": "queue", "selector": selector}, "target": target, **more}}
    facts = told(Step("apply", [workload(), autoscaler(queue)]), load("200%"), Step("wait", 60))
    summary = f"invalid metrics (1 invalid out of 1), first error is: {before}{mistake}"
    assert f"HorizontalPodAutoscaler: FailedComputeMetricsReplicas: {summary}" in facts["events"]
    assert f"HorizontalPodAutoscaler: FailedGet{kind}Metric: {mistake}" in facts["events"]
