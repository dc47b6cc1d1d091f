"""What a reader learns of a runaway: how a loop goes, why it does not help, and what comes of it in time."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from harness import testing
from harness.testing import requirement
from tests.cli.command import as_json, call

EBPF = "kubernetes.azure.com/ebpf-dataplane"
SIZE, CAPACITY = "node.kubernetes.io/instance-type", "karpenter.sh/capacity-type"


def objects(labels: dict[str, str] | None = None, cpu: str = "1700m") -> str:
    """A pod that fits the only size but for a DaemonSet that asks for a label which kubelet writes."""
    pool = testing.nodepool(
        requirement(CAPACITY, "on-demand"), requirement(SIZE, "Standard_D2s_v5"), labels=labels or {}
    )
    cilium = testing.daemonset("cilium", "400m", nodeSelector={EBPF: "cilium"}, tolerations=[{"operator": "Exists"}])
    return yaml.safe_dump_all([testing.nodeclass(), pool, cilium, testing.pod("web", cpu)])


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "all.yaml").write_text(objects())
    return tmp_path / "all.yaml"


def test_the_circle_and_the_daemonset_behind_it_are_named(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = call(capsys, "explain", file.name)
    assert (code, err) == (0, "")
    assert "\n  again and again: a NodeClaim is made for the pod, does not take it, and the next one is made; " in out
    assert "did not take the pod: Insufficient cpu beside the pods of DaemonSet cilium\n" in out
    assert f'says nothing of what it asks for: label "{EBPF}" does not have known values\n' in out


def test_a_daemonset_that_is_counted_is_not_blamed(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(objects({EBPF: "cilium"}, cpu="1200m"))
    _, out, _ = call(capsys, "explain", file.name)
    assert "runaway" not in out
    assert "did not count" not in out


def test_time_passes_in_a_circle_too(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = call(capsys, "simulate", file.name, "--until", "1h")
    assert out.count("runaway: ") == 1
    moves = as_json(capsys, "simulate", file.name, "--until", "1h")["until"]
    assert moves["seconds"] == 3600
    assert len(moves["moves"]) > 40
    assert f"\n1h later: {len(moves['moves'])} moves\n" in out
    assert f"\n  … {len(moves['moves']) - 20} more (--format json has all)\n" in out
    assert out.count("  Empty   ") == 20
