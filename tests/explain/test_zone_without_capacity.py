"""A zone in which Azure allocates nothing: the advice names the other zones, although a trial that goes on for ever comes before."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.command import as_json, call

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  nodeSelector: {topology.kubernetes.io/zone: eastus-1}
  containers: [{name: c, image: c, resources: {requests: {cpu: "1"}}}]
"""
FAULT = ("--fault", "ZonalAllocationFailed,zone=1,times=always")


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pod.yaml").write_text(POD)
    return "pod.yaml"


def test_other_zones_are_named(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = call(capsys, "explain", file, *FAULT)
    assert code == 0
    for start, zone in (("It", "eastus-2"), ("Or: it", "eastus-3")):
        asked = f"  {start} would help to ask for topology.kubernetes.io/zone: {zone} in place of eastus-1 in the pod's nodeSelector"
        assert asked in out
    assert "No change" not in out


def test_a_nodepool_whose_nodes_do_not_register_is_used_all_the_same(
    file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """NodeRegistrationHealthy is no part of Ready (core pkg/apis/v1/nodepool_status.go StatusConditions)."""
    assert as_json(capsys, "explain", file, *FAULT)["unused"] == []
