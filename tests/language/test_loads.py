"""The load of workloads in scenarios: what is refused, what is simulated, and what is said not to be."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from harness.reading.problems import ScenarioError
from harness.scenario.language.cases import Case
from harness.scenario.language.files import load, load_text
from harness.scenario.language.inputs import world_arguments

DEPLOYMENT = """
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: web}]}
"""
AUTOSCALER = """
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  maxReplicas: 10
"""
THEN = "\nthen: [{objects: {kind: Pod, count: 1}}]\n"
NOT_SIMULATED = "not simulated: HorizontalPodAutoscaler web (replicas stay as written)"


def cases(header: str, *manifests: str) -> Sequence[Case]:
    (scenario,) = load_text(f"scenario: s\n{header}{THEN}{''.join(manifests)}", file="s.yaml")
    return scenario.cases


def test_without_a_load_it_is_said_that_nothing_scales() -> None:
    (case,) = cases("", DEPLOYMENT, AUTOSCALER)
    assert case.notes == (NOT_SIMULATED,)
    assert not case.needs_virtual_time


@pytest.mark.parametrize(
    "header", ["given: {load: {Deployment/web: 80%}}", "when: [{load: {Deployment/web: {cpu: 2, memory: 60%}}}]"]
)
def test_with_a_load_it_is_simulated(header: str) -> None:
    (case,) = cases(header, DEPLOYMENT, AUTOSCALER)
    assert case.notes == ()
    assert case.needs_virtual_time


def test_an_autoscaler_of_a_file_is_simulated_too(tmp_path: Path) -> None:
    (tmp_path / "m.yaml").write_text(DEPLOYMENT + AUTOSCALER, encoding="utf-8")
    for given, notes in (("", (NOT_SIMULATED,)), (", load: {Deployment/web: 80%}", ())):
        path = tmp_path / "s.yaml"
        path.write_text(f"scenario: s\ngiven: {{manifests: [m.yaml]{given}}}{THEN}", encoding="utf-8")
        ((case,),) = [scenario.cases for scenario in load(path, "s.yaml")]
        assert case.notes == notes
        assert [manifest.kind for manifest in case.manifests][1:] == ["HorizontalPodAutoscaler"] * (not notes)


def test_a_curve_has_its_moments_in_seconds() -> None:
    points = "[{at: 0s, load: 40%}, {at: 10m, load: {cpu: 6}}]"
    (case,) = cases(f"given: {{load: {{Deployment/web: {points}}}}}", DEPLOYMENT, AUTOSCALER)
    expected = [{"at": 0.0, "load": "40%"}, {"at": 600.0, "load": {"cpu": "6"}}]
    assert world_arguments(case.given)["loads"] == {"Deployment/web": expected}


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("given: {load: {Deployment/web: 80}}", "a load such as 80% or {cpu: 80%, memory: 6Gi} is expected, not '80'"),
        ("given: {load: {Deployment/web: {gpu: 1}}}", "a load is one of cpu and memory, not 'gpu'"),
        ("given: {load: {Deployment/web: [{load: 80%}]}}", "load.Deployment/web[0].at: 'at' is missing"),
        (
            "when: [{load: {Deployment/web: {cpu: much}}}]",
            "cpu: a share such as 80% or a quantity is expected, not 'much'",
        ),
        (
            "given: {load: {Deployment/web: []}}",
            "s.yaml:2:16: given.load.Deployment/web: a list of loads has at least one entry",
        ),
        (
            "given: {load: {Deployment/web: {cpu: '1e400'}}}",
            "s.yaml:2:16: given.load.Deployment/web: cpu: '1e400' is more",
        ),
        ("given: {load: {Deployment/wbe: 80%}}", "did you mean 'Deployment/web'"),
        ("when: [{load: {DaemonSet/web: 80%}}]", "a DaemonSet has no load"),
    ],
)
def test_a_load_that_is_none_is_a_mistake(header: str, message: str) -> None:
    with pytest.raises(ScenarioError) as refused:
        cases(header, DEPLOYMENT, AUTOSCALER)
    (problem,) = refused.value.problems
    assert message in str(problem)


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("  scaleTargetRef: web\n", "spec.scaleTargetRef: a map is expected, not 'web'"),
        ("  scaleTargetRef: [web]\n", "spec.scaleTargetRef: a map is expected"),
    ],
)
def test_an_autoscaler_of_another_shape_is_said_with_its_place(written: str, message: str) -> None:
    reference = "  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}\n"
    other = AUTOSCALER.replace(reference, written)
    with pytest.raises(ScenarioError) as refused:
        cases("given: {load: {Deployment/web: 80%}}", DEPLOYMENT, other)
    assert any(message in str(problem) for problem in refused.value.problems), refused.value.problems


@pytest.mark.parametrize("whole", ["spec: web", "spec: [web]", "spec:", "metadata: web"])
def test_whatever_an_autoscaler_is_no_reader_falls_over_it(whole: str) -> None:
    other = f"\n---\napiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {{name: web}}\n{whole}\n"
    if whole.startswith("metadata"):
        other = other.replace("metadata: {name: web}\n", "")
    with pytest.raises(ScenarioError):
        cases("given: {load: {Deployment/web: 80%}}", DEPLOYMENT, other)


def test_a_load_by_which_nothing_scales_is_a_mistake() -> None:
    with pytest.raises(
        ScenarioError, match="no HorizontalPodAutoscaler scales Deployment/web, so its load changes nothing"
    ):
        cases("given: {load: {Deployment/web: 80%}}", DEPLOYMENT)


def test_a_load_does_not_make_more_pods_than_a_file_may_ask_for() -> None:
    large = AUTOSCALER.replace("maxReplicas: 10", "maxReplicas: 10000000")
    with pytest.raises(ScenarioError, match="10,000,000 pods are more than the"):
        cases("given: {load: {Deployment/web: 80%}}", DEPLOYMENT, large)
    (case,) = cases("", DEPLOYMENT, large)
    assert case.notes == (NOT_SIMULATED,)


@pytest.mark.parametrize("value", ["80%", "[{at: 5m, load: 80%}]", "{cpu: 60%, memory: 6Gi}"])
def test_a_share_of_no_pods_is_a_mistake_with_the_way_out(value: str) -> None:
    none = DEPLOYMENT.replace("spec:\n  selector", "spec:\n  replicas: 0\n  selector")
    with pytest.raises(ScenarioError, match=r"Deployment/web comes with 0 replicas.*cpu: 6"):
        cases(f"given: {{load: {{Deployment/web: {value}}}}}", none, AUTOSCALER)
    assert cases("given: {load: {Deployment/web: {cpu: 6}}}", none, AUTOSCALER)


def test_a_load_of_what_is_not_measured_is_a_mistake() -> None:
    message = "measures cpu alone, so that a load of memory changes nothing"
    with pytest.raises(ScenarioError, match=message):
        cases("when: [{load: {Deployment/web: {memory: 6Gi}}}]", DEPLOYMENT, AUTOSCALER)
    target = "{type: Utilization, averageUtilization: 50}"
    both = f"{AUTOSCALER}  metrics: [{{type: Resource, resource: {{name: memory, target: {target}}}}}]\n"
    assert cases("when: [{load: {Deployment/web: {memory: 6Gi}}}]", DEPLOYMENT, both)
    with pytest.raises(ScenarioError, match="measures memory alone, so that a load of cpu changes nothing"):
        cases("when: [{load: {Deployment/web: {cpu: 6}}}]", DEPLOYMENT, both)


@pytest.mark.parametrize(
    "workload", [DEPLOYMENT, DEPLOYMENT.replace("{name: web}", "{name: web, namespace: default}", 1)]
)
@pytest.mark.parametrize("reference", ["Deployment/web", "Deployment/default/web"])
def test_the_namespace_default_may_be_left_out_on_either_side(workload: str, reference: str) -> None:
    (case,) = cases(
        f"when: [{{load: {{{reference}: 80%}}}}, {{scale: {{of: {reference}, replicas: 2}}}}]", workload, AUTOSCALER
    )
    assert case.notes == ()
