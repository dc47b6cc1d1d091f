"""The commands for somebody in front of a cluster where the real Karpenter runs: `explain`, `capture` and kubectl's plugin.

Each command is a process of its own, and the real controller works meanwhile. `served` is the memory cluster behind a socket.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from harness.clusters.control_plane.cluster import RealCluster
from harness.clusters.remote.attaching import attach
from harness.clusters.waiting import Patience
from harness.karpenter.releases import DEFAULT_RELEASE
from harness.kube.api.objects import labels_of, name_of
from harness.world import World
from harness.world.real.binaries import VARIABLE, binaries
from harness.world.real.process import missing_tools
from harness.world.real.world import RealWorld
from lazyrecords import dataclass
from tests.clusters.conftest import RealClusters, absent
from tests.project.tree import ROOT
from tests.real.situations import NODECLASS, POOL, pods, settled

pytest.importorskip("kubernetes")

LONELY = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "acme-lonely", "namespace": "default"},
    "spec": {"nodeSelector": {"acme.example/rack": "9"}, "containers": [{"name": "main", "image": "web"}]},
}
GIVEN = ("--release", DEFAULT_RELEASE, "--region", "eastus")
"""Options for what no object of the cluster says: its Karpenter is a process outside of it."""


@dataclass(frozen=True)
class Shop:
    """A cluster on which the real controller has made a Node for a Deployment, and has none for a lonely pod."""

    world: RealWorld
    folder: Path
    environment: Mapping[str, str]
    context: str

    def starts(self, *words: str) -> subprocess.Popen[bytes]:
        """Start a command whose output goes to the file `output`."""
        with (self.folder / "output").open("wb") as output:
            return subprocess.Popen(words, cwd=self.folder, env=self.environment, stdout=output, stderr=output)

    def says(self) -> str:
        """Return the output of the last command as far as it has come."""
        return (self.folder / "output").read_text(encoding="utf-8")

    def does(self, *words: str) -> tuple[int, str]:
        """Run a command to its end, while the cluster goes on. Return its exit code and output."""
        process = self.starts(*words)
        patience = Patience(120.0)
        while process.poll() is None:
            if patience.passed:
                process.kill()
            self.world.advance(0.1)
        return process.returncode, self.says()


@pytest.fixture(scope="module", params=["served", pytest.param("kind", marks=pytest.mark.real_cluster)])
def shop(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, azure_authority: Path
) -> Iterator[Shop]:
    folder = tmp_path_factory.mktemp("shop")
    binary, inputs = binaries().get(DEFAULT_RELEASE), dict[str, Any]()
    kind: RealCluster | None = None
    if request.param == "kind":
        if not request.config.getoption("--run-clusters", default=False):
            pytest.skip("kind: a real cluster, asked for with --run-clusters")
        clusters: RealClusters = request.getfixturevalue("real_clusters")
        kind = clusters.for_worlds("kind")
        inputs = {"cluster": attach(kind, live=True), "kubernetes": kind.version()}
    lacking = missing_tools() or ("" if binary else f"{VARIABLE} names no controller of {DEFAULT_RELEASE}")
    if lacking:
        absent(lacking, request.config.getoption("--require-cluster", default=False))
    with RealWorld(binary, azure_authority, region="eastus", **inputs) as world:
        world.apply(NODECLASS, POOL, pods(1), LONELY)
        settled(world, 1)
        served = Path(world.environment["KUBECONFIG"])
        config = kind.kubeconfig() if kind else json.loads(served.read_text(encoding="utf-8"))
        (folder / "config").write_text(json.dumps(config), encoding="utf-8")
        folders = (sysconfig.get_path("scripts"), os.environ.get("KUBEBUILDER_ASSETS", ""), os.environ["PATH"])
        environment = {
            **os.environ,
            "KUBECONFIG": str(folder / "config"),
            "PATH": os.pathsep.join(filter(None, folders)),
            "PYTHONPATH": str(ROOT),
            "PYTHONUNBUFFERED": "1",
        }
        yield Shop(world, folder, environment, config["current-context"])
    if kind:
        World(cluster=attach(kind))  # empties it


HARNESS = (sys.executable, "-m", "harness")


def test_explain_says_what_it_read_and_why_who_is_where(shop: Shop) -> None:
    code, text = shop.does(*HARNESS, "explain", "--context", shop.context, *GIVEN)
    assert code == 0, text
    (read,) = (line for line in text.splitlines() if line.startswith(f"read from context {shop.context}: "))
    assert {"AKSNodeClass 1", "NodeClaim 1", "NodePool 1"} <= set(read.partition("(")[2].rstrip(")").split(", "))
    assert "Secret" not in read
    assert "Deployment/web, 1 pod: bound" in text
    assert "Pod/acme-lonely: pending" in text


def test_explain_says_why_a_node_of_the_real_controller_stays(shop: Shop) -> None:
    (node,) = (name_of(node) for node in shop.world.list("Node") if "karpenter.sh/nodepool" in labels_of(node))
    code, text = shop.does(*HARNESS, "explain", "--context", shop.context, "--node", node, *GIVEN)
    assert code == 1, text
    assert "Node isn't managed by karpenter" not in text
    assert f"Node {node} (" in text
    assert 'It stays: NodePool "default" has consolidation disabled' in text


def test_kubectl_asks_about_a_pod(shop: Shop) -> None:
    kubectl = shutil.which("kubectl", path=shop.environment["PATH"])
    program = (kubectl, "karpenter-explain") if kubectl else ("kubectl-karpenter_explain",)
    text = shop.does(*program, "acme-lonely", *GIVEN)[1]
    assert "Pod/acme-lonely: pending" in text
    assert "Deployment/web" not in text


def test_a_captured_cluster_is_a_case_that_holds(shop: Shop) -> None:
    case = ("-o", "case.yaml", "--anonymise", "--pod", "default/acme-lonely")
    code, text = shop.does(*HARNESS, "capture", "--context", shop.context, *GIVEN, *case)
    assert code == 0, text
    assert "acme" not in (shop.folder / "case.yaml").read_text(encoding="utf-8")
    code, text = shop.does(*HARNESS, "run", "case.yaml")
    assert code == 0, text
    assert "1 passed" in text


def test_a_session_is_told_when_the_answer_changes(shop: Shop) -> None:
    watching = shop.starts(*HARNESS, "explain", "--context", shop.context, "--watch", "1s", *GIVEN)

    def comes(words: str) -> None:
        patience = Patience(120.0)
        while words not in shop.says():
            assert watching.poll() is None, shop.says()
            assert not patience.passed, shop.says()
            shop.world.advance(0.1)

    try:
        comes("Pod/acme-lonely: pending")
        shop.world.apply({**LONELY, "metadata": {"name": "second", "namespace": "default"}})
        comes("(Pod/second)")
    finally:
        watching.terminate()
        watching.wait(60)
    assert shop.says().count("read from context") == 2
