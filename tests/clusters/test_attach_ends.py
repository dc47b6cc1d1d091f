"""How a run of `harness attach` ends: all that it made goes, by itself, after a signal, or with `--clean`, and nothing else does."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.clusters.waiting import poll
from harness.kube.api.objects import Object, finalizers_of
from tests.clusters.attached import NODECLASS_FINALIZER, Karpenter, Place, class_of_ours, pool_of

Output = pytest.CaptureFixture[str]
KEEP = "x.example.com/keep"
THEIRS: Object = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "theirs", "namespace": "made"},
    "data": {},
}
OURS: Object = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "ours", "namespace": "made"}, "data": {}}


def left(place: Place) -> list[str]:
    """What is there of a run, or of Karpenter's."""
    made = [key for key in place.state() if "/made/" in key or key == "Namespace//made"]
    return [
        *made,
        *(each["metadata"]["name"] for kind in ("NodePool", "NodeClaim", "AKSNodeClass") for each in place.list(kind)),
    ]


@pytest.mark.smoke
def test_a_case_without_a_nodeclaim_leaves_nothing(place: Place, capsys: Output) -> None:
    """Karpenter takes its finalizer from the nodeclass a moment after the deletion, for which a run has to wait."""
    place.scenario(class_of_ours(), pool_of(), OURS)
    for _ in range(2):  # so that the next run can begin
        Path("az.env").unlink(missing_ok=True)
        with Karpenter(place) as karpenter:
            assert place.attach("--yes") == 0
            assert karpenter.worked.is_set()
        assert left(place) == []
        assert place.get("ServiceAccount", "karpenter", "kube-system") is None
    assert "left on context" not in capsys.readouterr().err


@pytest.mark.smoke
def test_a_finalizer_of_somebody_else_is_never_taken_away(place: Place, capsys: Output) -> None:
    place.scenario(class_of_ours(), OURS)
    with Karpenter(place):
        ours = when(
            lambda: place.get("ConfigMap", "ours", "made") is not None, lambda: hold(place, "ConfigMap", "ours", "made")
        )
        assert place.attach("--yes") == 3
        ours.join()
    said = capsys.readouterr().err
    (run,) = re.findall(r"^run (\S+) on", said, re.MULTILINE)
    assert f"ConfigMap/made/ours (waits for {KEEP})" in said
    assert f"to remove it: harness attach --clean {run} --context {place.context} --kubeconfig kc" in said
    kept = place.get("ConfigMap", "ours", "made")
    assert kept is not None
    assert finalizers_of(kept) == [KEEP]

    assert place.attach("--yes") == 2
    assert f"ConfigMap/made/ours (of run {run})" in capsys.readouterr().err
    assert place.clean(run) == 3
    place.admin.patch("ConfigMap", "ours", {"metadata": {"finalizers": None}}, namespace="made")
    assert place.clean(run) == 0
    assert left(place) == []
    assert place.clean(run) == 0
    assert f"nothing of run {run} is on context" in capsys.readouterr().err


def hold(place: Place, kind: str, name: str, namespace: str = "") -> None:
    place.admin.patch(kind, name, {"metadata": {"finalizers": [KEEP]}}, namespace=namespace)


def when(condition: Callable[[], bool], act: Callable[[], object]) -> threading.Thread:
    """Acts on a thread of its own as soon as something is so."""

    def run() -> None:
        poll(condition, "the moment to act", seconds=60)
        act()

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def test_what_karpenter_does_not_let_go_is_said(place: Place, capsys: Output) -> None:
    place.scenario(class_of_ours())
    with Karpenter(place) as karpenter:
        stopper = when(karpenter.worked.is_set, lambda: setattr(karpenter, "lets_go", False))
        assert place.attach("--yes", "--keep") == 0
        stopper.join()
    said = capsys.readouterr().err
    (run,) = re.findall(r"^run (\S+) on", said, re.MULTILINE)
    assert "AKSNodeClass/mine" in said
    assert place.clean(run) == 3
    said = capsys.readouterr().err
    assert f"AKSNodeClass/mine (waits for {NODECLASS_FINALIZER})" in said
    assert "--controller PROGRAM" in said
    found = place.get("AKSNodeClass", "mine")
    assert found is not None
    assert list(finalizers_of(found)) == [NODECLASS_FINALIZER]
    place.admin.patch("AKSNodeClass", "mine", {"metadata": {"finalizers": None}})


def test_a_namespace_stays_where_others_have_something_in_it(place: Place, capsys: Output) -> None:
    place.scenario(class_of_ours(), OURS)
    with Karpenter(place):
        guest = when(lambda: place.get("Namespace", "made") is not None, lambda: place.create(THEIRS))
        assert place.attach("--yes") == 3
        guest.join()
    said = capsys.readouterr().err
    (run,) = re.findall(r"^run (\S+) on", said, re.MULTILINE)
    assert "left on context" in said
    assert "Namespace/made (others have ConfigMap/theirs there)" in said
    assert place.get("ConfigMap", "ours", "made") is None
    assert place.get("ConfigMap", "theirs", "made") is not None
    place.admin.delete("ConfigMap", "theirs", namespace="made")
    assert place.clean(run) == 0
    assert left(place) == []


def command(place: Place, *options: str) -> subprocess.Popen[str]:
    """`harness attach` as a process of its own."""
    arguments = ["attach", *place.options, "--yes", "--expect", "s.yaml", "--environment", "az.env", *options]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    return subprocess.Popen(
        [sys.executable, "-m", "harness", *arguments],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        env=environment,
    )


SLOW = "when:\n- advance: 10m\nthen:\n- nodeclaims: {count: 0}"


@pytest.mark.smoke
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_it_says_what_is_there_and_removes_it(place: Place, number: int) -> None:
    pytest.importorskip("kubernetes")
    place.scenario(class_of_ours(), OURS, header=SLOW)
    process = command(place)
    with Karpenter(place) as karpenter:
        assert karpenter.worked.wait(120)
        poll(lambda: place.get("ConfigMap", "ours", "made"), "the objects to be there", seconds=60)
        process.send_signal(number)
        _, said = process.communicate(timeout=120)
    assert process.returncode == 128 + number
    (run,) = re.findall(r"^run (\S+) on", said, re.MULTILINE)
    assert "interrupted; on context" in said
    assert "AKSNodeClass/mine" in said
    assert "ConfigMap/made/ours" in said
    assert f"harness attach --clean {run}" in said
    assert f"nothing is left on context {place.context}" in said
    assert "Traceback" not in said
    assert left(place) == []


@pytest.mark.smoke
def test_what_a_killed_one_left_is_named_and_cleaned(place: Place, capsys: Output) -> None:
    pytest.importorskip("kubernetes")
    place.scenario(class_of_ours(), OURS, header=SLOW)
    process = command(place)
    with Karpenter(place) as karpenter:
        assert karpenter.worked.wait(120)
        poll(lambda: place.get("ConfigMap", "ours", "made"), "the objects to be there", seconds=60)
        process.send_signal(signal.SIGINT)  # the second one does not wait
        assert process.stderr is not None
        poll(lambda: "interrupted" in process.stderr.readline(), "it to say so", seconds=60)
        process.kill()
        process.communicate(timeout=60)
        (place.folder / "az.env").unlink()
        place.create({**THEIRS, "metadata": {"name": "theirs", "namespace": "default"}})
        assert place.attach("--yes") == 2
        (run,) = set(re.findall(r"\(of run (\S+?)\)", capsys.readouterr().err))
        assert place.clean(run, "--dry-run") == 0
        assert "delete AKSNodeClass/mine\n" in capsys.readouterr().out
        assert place.clean(run) == 0
    assert left(place) == []
    assert place.get("ConfigMap", "theirs", "default") is not None
    assert place.clean(run) == 0


def test_a_signal_during_the_wait_for_a_controller_ends_it(place: Place) -> None:
    pytest.importorskip("kubernetes")
    place.scenario(class_of_ours())
    process = command(place, "--wait", "600")
    poll((place.folder / "az.env").exists, "Azure to be served", seconds=120)
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 128 + signal.SIGTERM
    assert "nothing is left" in said
    assert place.list("AKSNodeClass") == []
    assert place.get("ServiceAccount", "karpenter", "kube-system") is None
