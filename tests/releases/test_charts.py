"""The charts of the provider: which feature gates they can open, and what they bring for them.

With the gate CapacityBuffer Karpenter watches CapacityBuffers and PodTemplates (core pkg/controllers/capacitybuffer/controller.go), so that
it needs a CRD and rights that no chart brings; when one does, the gate has to be simulated.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
import yaml

from tests.conformance.build import find_source

GATES = ["ReservedCapacity", "SpotToSpotConsolidation", "NodeRepair", "NodeOverlay", "StaticCapacity"]


@pytest.fixture(scope="module", params=["1.14.0", "main"])
def charts(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    release = str(request.param)
    source = (
        find_source("main-352646f5" if release == "main" else release) if "KARPENTER_SOURCES" in os.environ else None
    )
    if source is None:
        pytest.skip(f"KARPENTER_SOURCES names no folder with the sources of {release}")
    folder = tmp_path_factory.mktemp("sources") / release
    source.unpack(folder)
    return folder / "charts"


def test_the_gates_that_the_chart_can_open(charts: Path) -> None:
    deployment = (charts / "karpenter/templates/deployment.yaml").read_text(encoding="utf-8")
    (written,) = re.findall(r'name: FEATURE_GATES\n\s*value: "([^"]*)"', deployment)
    assert [pair.partition("=")[0] for pair in written.split(",")] == GATES


def test_no_crd_and_no_rights_for_capacity_buffers(charts: Path) -> None:
    kinds = {
        yaml.safe_load(path.read_text(encoding="utf-8"))["spec"]["names"]["kind"]
        for path in (charts / "karpenter/crds").glob("*.yaml")
    }
    assert kinds == {"AKSNodeClass", "NodeClaim", "NodeOverlay", "NodePool"}
    roles = "".join(path.read_text(encoding="utf-8") for path in (charts / "karpenter/templates").glob("*role*.yaml"))
    assert "nodeoverlays" in roles
    assert not re.search("capacitybuffers|podtemplates|autoscaling", roles)
