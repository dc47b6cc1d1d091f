"""`harness attach` before it writes anything: whether it is the right cluster, whether it is free, and what would be done."""

from __future__ import annotations

import io
import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from harness import testing
from harness.cli import main
from harness.cli.attaching import write_private
from harness.kube.api.kinds import KINDS
from harness.kube.api.objects import Object
from tests.clusters.attached import NOTHING, Karpenter, Place, class_of_ours, pool_of, same

Output = pytest.CaptureFixture[str]


def obj(kind: str, name: str, **fields: Any) -> Object:
    known = KINDS[kind]
    place = {"namespace": "prod"} if known.namespaced else {}
    return {"apiVersion": known.api_version, "kind": kind, "metadata": {"name": name, **place}, **fields}


def of_each_kind() -> list[Object]:
    """An object of every kind that a scenario may have and a cluster keeps as it is."""
    selector = {"matchLabels": {"app": "a"}}
    template = {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    workload = {"spec": {"selector": selector, "template": template}}
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    disk = {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}, "hostPath": {"path": "/tmp"}}
    return [
        obj("Namespace", "prod"),
        obj("PriorityClass", "high", value=5),
        obj("RuntimeClass", "gvisor", handler="runsc"),
        obj("StorageClass", "fast", provisioner="x.example.com"),
        obj("PersistentVolume", "disk", spec=disk),
        obj("PersistentVolumeClaim", "data", spec=claim),
        obj("ConfigMap", "settings", data={"a": "b"}),
        obj("Secret", "password", stringData={"a": "b"}),
        obj("ServiceAccount", "robot"),
        obj("Service", "front", spec={"ports": [{"port": 80}]}),
        obj("Deployment", "web", **workload),
        obj("StatefulSet", "db", spec={**workload["spec"], "serviceName": "db"}),
        obj("DaemonSet", "agent", **workload),
        obj(
            "Job", "once", spec={"suspend": True, "template": {"spec": {**template["spec"], "restartPolicy": "Never"}}}
        ),
        obj("PodDisruptionBudget", "web", spec={"selector": selector, "minAvailable": 1}),
        obj("Pod", "bare", spec=template["spec"]),
        class_of_ours(),
        pool_of(),
    ]


@pytest.mark.smoke
def test_it_does_not_begin_where_anything_of_it_exists_and_names_all(place: Place, capsys: Output) -> None:
    theirs = of_each_kind()
    for each in theirs:
        place.create(each)
    place.scenario(*theirs)
    before = place.state()
    assert place.attach("--yes") == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    for each in theirs:
        scope = "prod/" if KINDS[each["kind"]].namespaced else ""
        assert f"{each['kind']}/{scope}{each['metadata']['name']}" in said
    after = place.state()
    written = {"Deployment", "StatefulSet", "DaemonSet", "Job", "Pod", "ReplicaSet", "PodDisruptionBudget", "Event"}
    written |= {"PersistentVolume", "PersistentVolumeClaim"}  # by the cluster's own controllers
    assert {key: after.get(key) for key in before if key.partition("/")[0] not in written} == {
        key: version for key, version in before.items() if key.partition("/")[0] not in written
    }
    assert after.keys() >= before.keys()
    assert not any(labels_of_run(each) for kind in KINDS for each in place.list(kind))


def labels_of_run(each: Object) -> str | None:
    return (each["metadata"].get("labels") or {}).get("karpenter-harness/run")


def test_what_a_step_would_create_counts_too(place: Place, capsys: Output) -> None:
    theirs = place.create(obj("Namespace", "prod")), place.create(obj("ConfigMap", "settings", data={}))
    place.scenario(
        class_of_ours(),
        obj("ConfigMap", "settings", data={"a": "b"}),
        header=f"when:\n- apply: [ConfigMap/prod/settings]\n{NOTHING}",
    )
    assert place.attach("--yes") == 2
    assert "ConfigMap/prod/settings is on context" in capsys.readouterr().err
    assert same(theirs[1], place.get("ConfigMap", "settings", "prod"))


def test_it_does_not_begin_beside_other_nodepools(place: Place, capsys: Output) -> None:
    theirs = place.create(testing.nodeclass("theirs"))
    place.scenario(class_of_ours())
    assert place.attach("--yes") == 2
    assert f"AKSNodeClass/theirs is on context {place.context} already" in capsys.readouterr().err
    assert same(theirs, place.get("AKSNodeClass", "theirs"))


@pytest.mark.smoke
def test_without_a_context_it_needs_a_yes_where_nobody_can_answer(
    place: Place, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))  # no terminal
    place.scenario(class_of_ours())
    before = place.state()
    assert place.attach() == 2
    said = capsys.readouterr().err
    assert "--context: none is named, and nobody can be asked here" in said
    assert f"--context {place.context}" in said
    assert place.clean("a-run") == 0  # --yes
    assert place.state() == before


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("answer", "goes_on"), [("\n", False), ("n\n", False), ("", False), ("y\n", True)])
def test_on_a_terminal_it_names_the_context_and_asks(
    place: Place, monkeypatch: pytest.MonkeyPatch, answer: str, goes_on: bool
) -> None:
    shown = Terminal()
    monkeypatch.setattr("sys.stdin", Terminal(answer))
    monkeypatch.setattr("sys.stderr", shown)
    place.scenario(class_of_ours())
    assert place.attach("--wait", "0.1") == (3 if goes_on else 2)
    said = shown.getvalue()
    assert f"create the objects of s.yaml on context {place.context} (" in said
    assert "go on? [y/N]" in said
    assert ("no controller has asked Azure anything" in said) is goes_on
    assert ("nothing was done on" in said) is not goes_on
    assert place.list("AKSNodeClass") == []


@pytest.mark.smoke
def test_a_dry_run_says_what_would_be_done_and_does_nothing(place: Place, capsys: Output) -> None:
    place.scenario(
        class_of_ours(),
        pool_of(),
        testing.deployment("web", 1, "1"),
        header=f"when:\n- scale: {{of: Deployment/web, replicas: 2}}\n{NOTHING}",
    )
    before = place.state()
    assert place.attach("--dry-run") == 0
    said = capsys.readouterr().out
    for line in ("create AKSNodeClass/mine", "create NodePool/mine", "create Deployment/default/web"):
        assert f"  {line}\n" in said
    assert "  step scale: {of: Deployment/web, replicas: 2}\n" in said
    assert f"on context {place.context}" in said
    assert place.state() == before
    assert not Path("az.env").exists()

    place.create(pool_of())
    assert place.attach("--dry-run", "--format", "json") == 2
    plan = json.loads(capsys.readouterr().out)
    assert plan["inTheWay"] == ["NodePool/mine"]
    assert plan["cases"][0]["creates"] == ["AKSNodeClass/mine", "NodePool/mine", "Deployment/default/web"]


def test_the_file_with_the_token_is_its_owners_alone(place: Place) -> None:
    place.scenario(class_of_ours())
    with Karpenter(place):
        assert place.attach("--context", place.context) == 0
    assert stat.S_IMODE(Path("az.env").stat().st_mode) == 0o600
    assert "IDENTITY_HEADER" in Path("az.env").read_text()
    os.chmod("az.env", 0o644)
    write_private(Path("az.env"), "anew")
    assert stat.S_IMODE(Path("az.env").stat().st_mode) == 0o600
    assert os.listdir() == [each for each in os.listdir() if "new" not in each]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--clean", "a run"], "'a run' is no name of a run"),
        (["--clean", "../etc"], "is no name of a run"),
        (["--clean", "r", "--expect", "s.yaml", "--keep"], "does not go with --expect, --keep"),
        ([], "--expect FILE is needed"),
    ],
)
def test_options_that_do_not_fit(options: list[str], message: str, capsys: Output) -> None:
    assert main(["attach", *options]) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1
