"""A region by its display name or in other letters is the same region, wherever one is named."""

from pathlib import Path
from typing import Any

import pytest

from fakeazure import FakeAzure
from fakeazure.catalog import UnknownRegion
from harness import World, simulate
from harness.cli import main
from harness.kube.api.labels import REGION
from harness.sweep.situation import Situation
from harness.testing import nodeclass, nodepool, pod

SPELT = pytest.mark.parametrize("spelt", ["WestUS2", "West US 2", "westus2"])
PLATFORM = (nodeclass(), nodepool(), pod())
MANIFESTS = """apiVersion: karpenter.azure.com/v1beta1
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


@SPELT
def test_a_world(spelt: str) -> None:
    world = World(region=spelt)
    world.apply(*PLATFORM)
    world.settle()
    (node,) = world.list("Node")
    assert (world.region, node["metadata"]["labels"][REGION]) == ("westus2", "westus2")
    assert world.fresh(region="East US").region == "eastus"


@SPELT
def test_a_cloud(spelt: str) -> None:
    azure = FakeAzure(region=spelt, azure={"sizes": {"Standard_New1": {"like": "Standard_D2s_v5", "regions": [spelt]}}})
    assert "Standard_New1" in azure.market.catalogue.names("westus2")
    assert azure.market.usages("s", spelt) == azure.market.usages("s", "westus2")


@SPELT
def test_a_situation(spelt: str) -> None:
    result = simulate(*PLATFORM, situation=Situation(region=spelt))
    assert [node.zone.rpartition("-")[0] for node in result.nodes] == ["westus2"]


@SPELT
@pytest.mark.parametrize("command", ["simulate", "explain", "upgrade-check"])
def test_a_command(
    spelt: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pools.yaml").write_text(MANIFESTS)
    releases = ["--from", "1.14.0", "--to", "1.14.1"] if command == "upgrade-check" else []
    assert main([command, "pools.yaml", "--region", spelt, *releases]) == 0
    assert "westus2" in capsys.readouterr().out.splitlines()[0]


@SPELT
def test_a_scenario(spelt: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    header = f"scenario: a region\ngiven: {{region: {spelt}}}\nwhen: [settle]\n"
    expected = "then:\n- node: {of: Pod/web, labels: {topology.kubernetes.io/region: westus2}}\n---\n"
    (tmp_path / "region.yaml").write_text(header + expected + MANIFESTS)
    assert main(["run", "region.yaml"]) == 0


@pytest.mark.parametrize(
    "make", [lambda name: World(region=name), lambda name: FakeAzure(region=name)], ids=["World", "FakeAzure"]
)
def test_a_region_that_does_not_exist_is_refused_at_once(make: Any) -> None:
    with pytest.raises(UnknownRegion, match="eastus"):
        make("Eastuss")
