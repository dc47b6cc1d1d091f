"""When a pod's containers are ready, and what its status says until then."""

from __future__ import annotations

from typing import Any

import pytest

from harness.nodes.pod_status import missing_gates, readiness_seconds, run_conditions
from harness.testing import nodeclass, nodepool, pod
from harness.world import World

READY = {"httpGet": {"port": 80}, "initialDelaySeconds": 20}
STARTUP = {"httpGet": {"port": 80}, "initialDelaySeconds": 5}
TWICE = {**READY, "successThreshold": 3, "periodSeconds": 4}


def with_spec(**spec: Any) -> dict[str, Any]:
    made = pod("p")
    return {**made, "spec": {**made["spec"], **spec}}


@pytest.mark.parametrize(
    ("spec", "seconds"),
    [
        ({}, 0),
        ({"containers": [{"name": "c", "readinessProbe": READY}]}, 20),
        ({"containers": [{"name": "c", "readinessProbe": TWICE}]}, 28),
        ({"containers": [{"name": "c", "readinessProbe": READY, "startupProbe": STARTUP}]}, 25),
        # the slowest container counts
        ({"containers": [{"name": "a", "readinessProbe": READY}, {"name": "b", "startupProbe": STARTUP}]}, 20),
        # a sidecar has to have started before the containers do; an init container that ends takes no time
        (
            {
                "initContainers": [{"name": "i", "restartPolicy": "Always", "startupProbe": STARTUP}],
                "containers": [{"name": "c", "readinessProbe": READY}],
            },
            25,
        ),
        ({"initContainers": [{"name": "i", "startupProbe": STARTUP}], "containers": [{"name": "c"}]}, 0),
    ],
)
def test_probes_take_their_delays(spec: dict[str, Any], seconds: float) -> None:
    assert readiness_seconds(with_spec(**spec)) == seconds


def test_a_gate_is_closed_until_somebody_opens_it() -> None:
    gated = with_spec(readinessGates=[{"conditionType": "example.com/open"}])
    closed = {each["type"]: each for each in run_conditions(gated, True, "now")}
    assert closed["ContainersReady"]["status"] == "True"
    assert (closed["Ready"]["status"], closed["Ready"]["reason"]) == ("False", "ReadinessGatesNotReady")
    assert (
        closed["Ready"]["message"] == 'corresponding condition of pod readiness gate "example.com/open" does not exist.'
    )
    opened = {**gated, "status": {"conditions": [{"type": "example.com/open", "status": "True"}]}}
    assert missing_gates(opened) == []


def test_a_pod_becomes_ready_when_its_probe_and_its_gate_allow() -> None:
    world = World()
    gated = with_spec(
        readinessGates=[{"conditionType": "example.com/open"}],
        containers=[{**pod("p")["spec"]["containers"][0], "readinessProbe": READY}],
    )
    world.apply(nodeclass(), nodepool(), gated)

    def ready() -> tuple[str, str]:
        [found] = world.list("Pod")
        said = {each["type"]: each["status"] for each in found["status"]["conditions"]}
        return said.get("ContainersReady", ""), said.get("Ready", "")

    world.settle()
    assert ready() == ("True", "False")
    [found] = world.list("Pod")
    conditions = [*found["status"]["conditions"], {"type": "example.com/open", "status": "True"}]
    assert world.report(found, {"status": {"conditions": conditions}}) == []
    world.settle()
    assert ready() == ("True", "True")
