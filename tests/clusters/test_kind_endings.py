"""kind clusters end with the process that wanted them, say what died when something dies, and leave nothing behind."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.clusters.client.connection import ClusterLost
from harness.clusters.control_plane.pki import MissingTool
from harness.clusters.leases import leftovers
from harness.clusters.waiting import poll
from harness.engine.ports import ADMIN
from harness.nodes.boot import BootPlan
from tests.clusters.conftest import RealClusters, absent
from tests.clusters.test_endings import lives

pytestmark = pytest.mark.real_cluster

ROOT = Path(__file__).parents[2]
OWNER = """
import sys
from harness.clusters.leases import start
cluster = start("kind")
print(cluster.folder, cluster.container.node_name, cluster._reaper.pid, flush=True)
sys.stdin.read()
"""
LONG = 600


@pytest.fixture
def asked(request: pytest.FixtureRequest) -> None:
    if not request.config.getoption("--run-clusters", default=False):
        pytest.skip("real clusters are asked for with --run-clusters")
    from harness.clusters.kind.cluster import docker_available

    try:
        docker_available()
    except MissingTool as error:
        absent(str(error), request.config.getoption("--require-cluster"))


def there(name: str) -> bool:
    """Whether Docker has anything of a cluster: containers, volumes, networks."""
    from harness.clusters.kind.container import LABEL, OWNER
    from harness.clusters.kind.reaper import labelled

    return name in labelled(LABEL, OWNER)


@dataclass
class Started:
    process: subprocess.Popen[str]
    folder: Path
    name: str
    reaper: int


@pytest.fixture
def owner(asked: None) -> Iterator[Started]:
    process = subprocess.Popen(
        [sys.executable, "-c", OWNER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    assert process.stdout is not None
    assert process.stdin is not None
    folder, name, reaper = process.stdout.readline().split()
    yield Started(process, Path(folder), name, int(reaper))
    process.kill()
    process.wait()
    process.stdin.close()
    process.stdout.close()


def test_kill_9_of_the_owner_leaves_nothing(owner: Started) -> None:
    assert there(owner.name)
    assert owner.folder.exists()
    owner.process.kill()
    owner.process.wait()
    poll(lambda: not there(owner.name), "containers, volumes and network to go", seconds=LONG)
    poll(lambda: not owner.folder.exists(), "the folder to go", seconds=LONG)
    poll(lambda: not lives(owner.reaper), "the reaper to end", seconds=LONG)


def test_kill_9_of_the_reaper_too_leaves_what_is_found(owner: Started) -> None:
    here = dict(leftovers())
    assert f"kind cluster {owner.name}" not in here
    assert f"folder {owner.folder}" not in here
    os.kill(owner.reaper, signal.SIGKILL)
    owner.process.kill()
    owner.process.wait()
    found = dict(leftovers())
    for what in (f"kind cluster {owner.name}", f"folder {owner.folder}"):
        found[what]()
    assert not there(owner.name)
    assert not owner.folder.exists()


@pytest.mark.smoke
def test_the_message_says_what_died_and_nothing_stays(asked: None) -> None:
    from harness.clusters.kind.cluster import KindCluster

    cluster = KindCluster()
    try:
        admin = cluster.writer(ADMIN)
        assert cluster.deaths() == ""
        plan = BootPlan("w", "1.36.3", {"team": "a"}, (), 110)
        cluster.boot(plan)
        worker = cluster.container.nodes["w"]
        worker.get_wrapped_container().kill("SIGKILL")
        said = cluster.deaths()
        assert f"container {worker.container_name} is exited with exit code 137" in said
        assert "journal of kubelet on w:\n    " in said
        cluster.reset()
        assert cluster.deaths() == ""
        admin.delete("Node", "w")
        cluster.boot(plan)
        assert cluster.container.joins == 2
        cluster.halt("w")
        admin.delete("Node", "w")
        cluster.boot(BootPlan("w", "1.36.3", {"team": "b"}, (), 110))
        assert cluster.machine_counts() == (2, 3)
        node = cluster.view.get("Node", "w")
        assert node is not None
        assert node["metadata"]["labels"]["team"] == "b"
        cluster.reset()

        cluster.container.sh("pkill", "-9", "kube-apiserver")
        with pytest.raises(ClusterLost) as caught:
            admin.delete("Node", "n")
        said = str(caught.value)
        # the kubelet starts it again about a second later, perhaps more than once
        ended = r"kube-apiserver (does not run|ended and was started again \(\d+ times\)); the end of its log:\n    "
        assert re.search(ended, said), said
        assert "journal of kubelet" in said

        cluster.container.get_wrapped_container().kill("SIGKILL")
        with pytest.raises(ClusterLost) as caught:
            admin.delete("Node", "n")
        said = str(caught.value)
        assert f"container {cluster.container.node_name} is exited with exit code 137" in said
        assert "journal of kubelet on" in said
        assert "kube-apiserver" in said.partition("journal of kubelet on")[2]
    finally:
        cluster.stop()
    assert not there(cluster.container.node_name)
    assert not cluster.folder.exists()


def test_an_image_that_nobody_has_is_one_line(asked: None) -> None:
    from harness.clusters.kind.cluster import KindCluster

    with pytest.raises(MissingTool) as caught:
        KindCluster(image="registry.invalid/node:v1.36.3")
    said = str(caught.value)
    assert said.startswith("the node image registry.invalid/node:v1.36.3 is not here and cannot be pulled (")
    assert said.endswith("name one that is, with HARNESS_KIND_IMAGE, --kind-image or KindContainer(image)")
    assert "\n" not in said


SCENARIOS = ("scenarios/labels/kubelet-may-not.yaml", "scenarios/labels/machine-api.yaml")


def test_two_workers_have_a_cluster_each_and_leave_nothing(
    asked: None, real_clusters: RealClusters, tmp_path: Path
) -> None:
    pytest.importorskip("xdist")
    real_clusters.end(
        "kind"
    )  # three clusters with machines need about all inotify instances that Linux gives by default
    from harness.clusters.kind.container import LABEL, OWNER
    from harness.clusters.kind.reaper import labelled

    before = processes()
    run = subprocess.Popen(
        [sys.executable, "-m", "pytest", *SCENARIOS, "--cluster", "kind", "--require-cluster", "-n", "2", "-v"],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    output, _ = run.communicate()
    assert run.returncode == 0, output
    assert output.count("kind: started in") == 2, output
    assert "nodes joined: " in output
    assert " PASSED scenarios" in output
    owners = [owner for owner in labelled(LABEL, OWNER).values() if owner.partition("@")[0] == str(run.pid)]
    assert owners == []
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("karpenter-harness-")] == []
    assert [line for line in processes() - before if str(tmp_path) in line] == []


def processes() -> set[str]:
    """The command lines of all processes of this machine."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.add(path.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace"))
        except OSError:
            continue
    return found
