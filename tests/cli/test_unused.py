"""NodePools that take no part and objects that change nothing are named with the reason, also when no pod waits."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.command import POOL, as_json, call

GONE = POOL.replace(
    "name: default}\nspec",
    'name: gone, deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: [foregroundDeletion]}\nspec',
    1,
)
FIXED = POOL.replace("name: default}\nspec:", "name: fixed}\nspec:\n  replicas: 2", 1)
LOST = POOL.replace("name: default}\nspec", "name: lost}\nspec", 1).replace(
    "AKSNodeClass, name: default", "AKSNodeClass, name: none"
)
OVERLAY = """
apiVersion: karpenter.sh/v1alpha1
kind: NodeOverlay
metadata: {name: cheap}
spec: {requirements: [{key: kubernetes.io/arch, operator: In, values: [amd64]}], priceAdjustment: "-10%"}
"""
POD = "\napiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: [{name: c, image: pause}]}\n"

NOT_USED = {
    "gone": "it is being deleted",
    "fixed": "it is static (spec.replicas), so no pod makes it grow",
    "lost": "NodeClassReady: NodeClass not found on cluster",
}
INERT = "NodeOverlay cheap changes nothing: the feature gate NodeOverlay is off, as by default"
LINES = [*(f"NodePool {name} is not used: {why}" for name, why in NOT_USED.items()), INERT]


@pytest.mark.parametrize("command", ["explain", "simulate"])
def test_named_although_every_pod_is_bound(here: Path, capsys: pytest.CaptureFixture[str], command: str) -> None:
    (here / "a.yaml").write_text("---".join([GONE, FIXED, LOST, OVERLAY, POOL, POD]))
    code, out, _ = call(capsys, command, "a.yaml")
    assert code == 0
    assert "1 bound" in out or "1 pod bound" in out
    assert [line for line in out.splitlines() if line in LINES] == LINES
    assert as_json(capsys, command, "a.yaml")["unused"] == LINES


@pytest.mark.parametrize("command", ["explain", "simulate"])
def test_once_where_a_pod_waits_for_them(here: Path, capsys: pytest.CaptureFixture[str], command: str) -> None:
    (here / "a.yaml").write_text("---".join([GONE, OVERLAY, POD]))
    _, out, _ = call(capsys, command, "a.yaml")
    assert out.count("NodePool gone is not used") == 1
    assert INERT in out.splitlines()


def test_each_nodepool_where_there_are_no_pods(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "a.yaml").write_text("---".join([GONE, FIXED, LOST, OVERLAY, POOL]))
    code, out, _ = call(capsys, "explain", "a.yaml")
    assert code == 1
    for name, why in NOT_USED.items():
        assert f"NodePool {name}: not used, because {why}" in out.splitlines()
    assert INERT in out.splitlines()


@pytest.mark.parametrize("command", ["explain", "simulate"])
def test_a_kind_that_the_release_lacks_is_a_mistake(
    here: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    (here / "a.yaml").write_text("---".join([POOL, OVERLAY]))
    code, out, err = call(capsys, command, "a.yaml", "--release", "1.6.5")
    assert (code, out) == (2, "")
    (line,) = err.splitlines()
    assert line.startswith("a.yaml:12:")
    assert 'no matches for kind "NodeOverlay" in version "karpenter.sh/v1alpha1", which the CRDs of 1.6.5 lack' in line


@pytest.mark.parametrize("command", ["explain", "simulate"])
def test_an_overlay_that_another_one_contradicts(here: Path, capsys: pytest.CaptureFixture[str], command: str) -> None:
    (here / "a.yaml").write_text("---".join([POOL, OVERLAY, OVERLAY.replace("cheap", "dear"), POD]))
    _, out, _ = call(capsys, command, "a.yaml", "--option", "feature-gates=NodeOverlay=true")
    lines = [line for line in out.splitlines() if line.startswith("NodeOverlay")]
    assert lines == ["NodeOverlay cheap changes nothing: conflict with another overlay"]
