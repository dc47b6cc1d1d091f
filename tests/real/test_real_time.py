"""Worlds in real time, without a controller: who may ask when, what a process is given, how it ends."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import urllib.request
from datetime import UTC, datetime
from pathlib import Path

import pytest

from harness.clusters.waiting import poll
from harness.world.real.process import ControllerDied
from harness.world.real.world import RealWorld

from .conftest import NewWorld


def ask(world: RealWorld, path: str = "/metadata/endpoints?api-version=2020-06-01") -> int:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(f"{world.azure_url}{path}", timeout=60) as answer:
        answer.read()
        return int(answer.status)


def test_azure_answers_while_the_world_waits(idle_world: NewWorld) -> None:
    world = idle_world()
    answers: list[int] = []
    asking = threading.Thread(target=lambda: answers.append(ask(world)), daemon=True)
    asking.start()

    def answered() -> bool:
        world.advance(0.01)
        return bool(answers)

    poll(answered, "an answer of Azure while the world waits", seconds=60)
    assert answers == [200]


def test_nothing_moves_while_the_world_is_looked_at(idle_world: NewWorld) -> None:
    world = idle_world()
    # of the cloud itself: what needs no lock is answered at any time
    path = "/api/retail/prices?$filter=serviceName%20eq%20'Virtual%20Machines'"
    answers: list[int] = []
    asking = threading.Thread(target=lambda: answers.append(ask(world, path)), daemon=True)
    asking.start()
    asking.join(0.3)
    assert answers == []
    poll(lambda: world.advance(0.01) is None or bool(answers), "an answer", seconds=60)
    assert answers == [200]


def test_the_process_has_a_token_file_of_its_own(authority: Path, tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    program = tmp_path / "karpenter"
    program.write_text(
        "#!/bin/sh\n"
        f"cat /var/run/secrets/kubernetes.io/serviceaccount/token > {seen}\n"
        f'echo " $CLUSTER_NAME $LOCATION" >> {seen}\n'
        """echo '{"message":"updated spot pricing"}'; echo '{"controller":"provisioner","message":"Starting workers"}'\nexec sleep 3600\n"""
    )
    program.chmod(0o755)
    before = Path("/var/run/secrets/kubernetes.io").exists()
    with RealWorld(program, authority, region="westeurope", options={"cluster_name": "mine"}):
        assert seen.read_text() == "karpenter mine westeurope\n"
        assert Path("/var/run/secrets/kubernetes.io").exists() == before


def test_launch_becomes_the_program_with_a_token_file(authority: Path, tmp_path: Path) -> None:
    assert authority.exists()  # skipped where no namespaces can be made
    program = tmp_path / "controller"
    program.write_text('#!/bin/sh\ncat /var/run/secrets/kubernetes.io/serviceaccount/token\necho " $LOCATION"\n')
    program.chmod(0o755)
    command = [sys.executable, "-m", "harness", "launch", str(program)]
    environment = {**os.environ, "LOCATION": "westeurope"}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert done.stdout == "karpenter westeurope\n"


def test_a_controller_that_ends_is_told_with_its_log(authority: Path, tmp_path: Path) -> None:
    program = tmp_path / "karpenter"
    program.write_text("#!/bin/sh\necho 'panic: no luck'\nexit 2\n")
    program.chmod(0o755)
    with pytest.raises(ControllerDied) as caught:
        RealWorld(program, authority)
    assert "the controller ended with status 2" in str(caught.value)
    assert "panic: no luck" in str(caught.value)


def test_nothing_is_left_of_a_world(idle_world: NewWorld) -> None:
    world = idle_world()
    pid = next(iter(world.controller._processes.pids.values()))
    folder = world.controller._folder
    assert folder.exists()
    world.close()
    assert not folder.exists()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_dates_are_those_of_the_wall(idle_world: NewWorld) -> None:
    world = idle_world()
    world.apply({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}})
    settled = world.settle()
    assert settled.quiescent
    assert settled.seconds > 0
    node = world.get("Node", "n")
    assert node is not None
    created = datetime.fromisoformat(node["metadata"]["creationTimestamp"])
    assert abs((datetime.now(UTC) - created).total_seconds()) < 3600
