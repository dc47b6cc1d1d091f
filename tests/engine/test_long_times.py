"""A CronJob of every minute runs for a week, and each command that runs a world heeds the limits of steps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.cli import main
from harness.limits import VARIABLE
from harness.testing import nodeclass, nodepool
from harness.world import World

CRON: dict[str, Any] = {
    "apiVersion": "batch/v1",
    "kind": "CronJob",
    "metadata": {"name": "each-minute", "namespace": "default"},
    "spec": {
        "schedule": "* * * * *",
        "jobTemplate": {
            "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "pause"}]}}}
        },
    },
}
HOURS = 4


def test_a_cron_job_of_each_minute_takes_more_steps_than_an_hour_may(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "steps=6000")
    world = World()
    world.apply(nodeclass(), nodepool(), CRON)
    settled = world.advance(HOURS * 3600)
    assert settled.steps > 6000
    assert (settled.exhausted, settled.seconds) == (None, HOURS * 3600)


OBJECTS = """\
apiVersion: karpenter.azure.com/v1beta1
kind: AKSNodeClass
metadata: {name: default}
spec: {}
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, name: default}
      requirements: []
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec: {containers: [{name: c, image: pause, resources: {requests: {cpu: "1"}}}]}
"""
FILES = {
    "objects": OBJECTS,
    "scenario": f"scenario: s\nwhen: [settle]\nthen: [{{pods: {{pending: 0}}}}]\n---\n{OBJECTS}",
    "plan": "scenario: s\ngiven: {manifests: [objects.yaml]}\nmatrix: {seed: [1]}\n",
}
COMMANDS = [
    "run scenario.yaml",
    "simulate objects.yaml",
    "simulate objects.yaml --until 1h",
    "explain objects.yaml",
    "sweep plan.yaml --format json",
    "compare objects.yaml --release 1.13.1,1.14.0",
    "compare scenario.yaml --release 1.13.1,1.14.0",
    "watch objects.yaml --plain",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_heeds_the_limit(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, text in FILES.items():
        (tmp_path / f"{name}.yaml").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(VARIABLE, "steps=7")
    main(command.split())
    captured = capsys.readouterr()
    assert "still moving after 7 steps within " in captured.out + captured.err
    assert "HARNESS_LIMITS=steps=N in the environment raises that" in captured.out + captured.err
