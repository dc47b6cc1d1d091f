"""Clusters end with the process that wanted them, say what died when something dies, and leave nothing behind."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.clusters.client.connection import ClusterLost
from harness.clusters.control_plane.pki import MissingTool
from harness.clusters.leases import leftovers
from harness.clusters.waiting import poll
from harness.engine.ports import ADMIN
from tests.clusters.conftest import absent

pytestmark = [pytest.mark.real_cluster, pytest.mark.smoke]

OWNER = """
import sys
from harness.clusters.leases import start
cluster = start("apiserver")
print(cluster.folder, cluster.processes.supervisor_pid, *cluster.processes.pids.values(), flush=True)
sys.stdin.read()
"""


@pytest.fixture
def asked(request: pytest.FixtureRequest) -> None:
    if not request.config.getoption("--run-clusters", default=False):
        pytest.skip("real clusters are asked for with --run-clusters")
    from harness.clusters.apiserver.cluster import assets

    try:
        assets()
    except MissingTool as error:
        absent(str(error), request.config.getoption("--require-cluster"))


def lives(pid: int) -> bool:
    """Whether a process runs; a zombie that nobody has waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.fixture
def owner(asked: None) -> Iterator[tuple[subprocess.Popen[str], Path, list[int]]]:
    process = subprocess.Popen([sys.executable, "-c", OWNER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdin is not None
    folder, *pids = process.stdout.readline().split()
    yield process, Path(folder), [int(pid) for pid in pids]
    process.kill()
    process.wait()
    process.stdin.close()
    process.stdout.close()


def test_kill_9_of_the_owner_leaves_nothing(owner: tuple[subprocess.Popen[str], Path, list[int]]) -> None:
    process, folder, pids = owner
    assert folder.exists()
    assert all(map(lives, pids))
    process.kill()
    poll(lambda: not any(map(lives, pids)), "all programs to end", seconds=20)
    poll(lambda: not folder.exists(), "the folder to go", seconds=20)


def test_kill_9_of_the_supervisor_too_leaves_a_folder_that_is_found(
    owner: tuple[subprocess.Popen[str], Path, list[int]],
) -> None:
    process, folder, pids = owner
    os.kill(pids[0], signal.SIGKILL)
    process.kill()
    process.wait()
    poll(lambda: not any(map(lives, pids)), "all programs to end", seconds=20)
    found = dict(leftovers())
    assert f"folder {folder}" in found
    found[f"folder {folder}"]()
    assert not folder.exists()


def test_the_message_says_what_died(asked: None) -> None:
    from harness.clusters.apiserver.cluster import ApiServerCluster

    with ApiServerCluster() as cluster:
        os.kill(cluster.processes.pids["kube-apiserver"], signal.SIGKILL)
        with pytest.raises(ClusterLost) as caught:
            cluster.writer(ADMIN).delete("Node", "n")
        assert "kube-apiserver was killed by signal 9; the end of its log:" in str(caught.value)


def test_a_port_that_somebody_takes_meanwhile(asked: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ports are found free before the programs take them: when one is gone by then, all is tried again on others."""
    from harness.clusters.apiserver import cluster as module

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port, free, asked_for = int(taken.getsockname()[1]), module.free_ports, []

        def ports(count: int) -> list[int]:
            found = free(count)
            if not asked_for:
                found[2] = port  # the API server's
            asked_for.append(found)
            return found

        monkeypatch.setattr(module, "free_ports", ports)
        with module.ApiServerCluster() as cluster:
            assert cluster.port == asked_for[1][2]
        assert len(asked_for) == 2
