"""`harness attach`: the commands of its page on a real API server, and what is said where it cannot work."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.cli import main
from harness.clusters.apiserver.cluster import ApiServerCluster
from harness.clusters.control_plane.pki import MissingTool
from harness.clusters.http.cluster import HttpCluster
from harness.clusters.waiting import poll
from harness.engine.clock import Clock
from harness.engine.ports import ADMIN
from harness.karpenter.releases import DEFAULT_RELEASE, provider
from harness.karpenter.validation.crds import crd_set
from harness.world.real.binaries import VARIABLE, binaries
from harness.world.recorder import Recorder

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "karpenter-branch.md"
FILE = PAGE.read_text().partition("```yaml a-pod.yaml\n")[2].partition("```")[0]
NODECLASS = {
    "apiVersion": "karpenter.azure.com/v1beta1",
    "kind": "AKSNodeClass",
    "metadata": {"name": "mine"},
    "spec": {},
}


def commands(word: str) -> list[list[str]]:
    """The commands of the page's indented blocks that begin with this word."""
    lines = [line.strip() for line in PAGE.read_text().splitlines() if line.startswith("    ")]
    return [shlex.split(line) for line in lines if line.startswith(word)]


def as_kind_names_it(config: dict[str, Any]) -> dict[str, Any]:
    """The kubeconfig with the context that kind makes."""
    (context,) = config["contexts"]
    return {**config, "contexts": [{**context, "name": "kind-kind"}], "current-context": "kind-kind"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    pytest.importorskip("kubernetes")
    (tmp_path / "a-pod.yaml").write_text(FILE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("KUBECONFIG", raising=False)
    return tmp_path


@pytest.fixture
def http(folder: Path) -> Iterator[HttpCluster]:
    """A cluster of the http kind, and its kubeconfig as the page calls it."""
    release = provider(DEFAULT_RELEASE)
    with HttpCluster(Recorder(Clock()), crds=crd_set(release.crds), kubernetes=release.defaults.kubernetes) as cluster:
        (folder / "kind.kubeconfig").write_text(json.dumps(as_kind_names_it(cluster.server.kubeconfig())))
        yield cluster


@pytest.fixture(scope="module")
def apiserver() -> Iterator[ApiServerCluster]:
    """A real API server with the CRDs of the release."""
    if DEFAULT_RELEASE not in binaries():
        pytest.skip(f"{VARIABLE} names no controller of {DEFAULT_RELEASE}")
    try:
        cluster = ApiServerCluster()
    except MissingTool as error:
        pytest.skip(str(error))
    with cluster:
        cluster.install(crd_set(provider(DEFAULT_RELEASE).crds))
        yield cluster


@pytest.fixture
def checkout(folder: Path, apiserver: ApiServerCluster) -> Path:
    """The folder as the page's first three commands leave it."""
    (folder / "kind.kubeconfig").write_text(json.dumps(as_kind_names_it(apiserver.kubeconfig())))
    (folder / "controller").symlink_to(binaries()[DEFAULT_RELEASE])
    return folder


def attach(*options: str) -> int:
    """`harness attach` on free ports."""
    return main(
        ["attach", "--kubeconfig", "kind.kubeconfig", "--yes", "--http-port", "0", "--https-port", "0", *options]
    )


def left(cluster: ApiServerCluster) -> list[str]:
    """What of Karpenter's is on the cluster."""
    cluster.view.pump(0.5)
    return [
        each["metadata"]["name"]
        for kind in ("NodePool", "NodeClaim", "AKSNodeClass", "Node", "Pod")
        for each in cluster.view.list(kind)
    ]


def test_the_page_has_five_commands() -> None:
    block = textwrap.dedent(PAGE.read_text().split("\n\n")[2])
    assert len(block.strip().splitlines()) == 5


def test_the_command_of_the_page(
    checkout: Path, apiserver: ApiServerCluster, capsys: pytest.CaptureFixture[str]
) -> None:
    (command,) = [each for each in commands("harness attach") if "--controller" in each]
    assert main([*command[1:], "--http-port", "0", "--https-port", "0"]) == 0
    assert "1 passed" in capsys.readouterr().out
    assert left(apiserver) == []


TOO_LARGE = "then:\n- pods: {pending: 1}\n- nodeclaims: {count: 0}\n---" + FILE.partition("\n---")[2].replace(
    'cpu: "1"', "cpu: 10k"
)


def test_a_case_without_a_nodeclaim_leaves_nothing(
    checkout: Path, apiserver: ApiServerCluster, capsys: pytest.CaptureFixture[str]
) -> None:
    """A pod that no size takes. Its AKSNodeClass stayed behind, Terminating, and the next run could not begin."""
    (checkout / "too-large.yaml").write_text(f"scenario: too large\n{TOO_LARGE}")
    for _ in range(2):
        assert attach("--expect", "too-large.yaml", "--controller", "./controller") == 0
        assert left(apiserver) == []
    assert "left on context" not in capsys.readouterr().err


def test_clean_has_karpenter_let_go_of_what_a_run_left(
    checkout: Path, apiserver: ApiServerCluster, capsys: pytest.CaptureFixture[str]
) -> None:
    assert attach("--expect", "a-pod.yaml", "--controller", "./controller", "--keep") == 0
    run = re.findall(r"^run (\S+) on", capsys.readouterr().err, re.MULTILINE)[0]
    assert {"default", "web"} <= set(left(apiserver))
    assert attach("--clean", run) == 3  # nobody takes the finalizers away
    said = capsys.readouterr().err
    assert "waits for karpenter.sh/termination" in said
    assert "--controller PROGRAM" in said
    assert attach("--clean", run, "--controller", "./controller") == 0
    assert left(apiserver) == []
    assert attach("--clean", run) == 0


def test_what_does_not_hold_is_named(
    checkout: Path, apiserver: ApiServerCluster, capsys: pytest.CaptureFixture[str]
) -> None:
    changed = FILE.replace("karpenter.sh/capacity-type: on-demand", "karpenter.sh/capacity-type: spot")
    (checkout / "other.yaml").write_text(changed)
    assert attach("--expect", "other.yaml", "--controller", "./controller") == 1
    said = capsys.readouterr().out
    assert "karpenter.sh/capacity-type" in said
    assert "1 failed" in said
    assert left(apiserver) == []


def test_somebody_else_starts_the_controller(checkout: Path, apiserver: ApiServerCluster) -> None:
    command = next(each for each in commands("harness attach") if "--environment" in each)
    shell = next(line.strip() for line in PAGE.read_text().splitlines() if line.startswith("    . ./azure.env"))
    programs = checkout / "bin"
    programs.mkdir()
    (programs / "harness").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m harness "$@"\n')
    (programs / "harness").chmod(0o755)
    environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
    attached = subprocess.Popen([*command, "--http-port", "0", "--https-port", "0"], env=environment)
    try:
        poll((checkout / "azure.env").exists, "the environment of a controller", seconds=60)
        with (checkout / "log").open("w") as log:
            controller = subprocess.Popen(
                ["sh", "-c", shell.replace("harness launch", "exec harness launch")],
                env=environment,
                stdout=log,
                stderr=log,
            )
        try:
            assert attached.wait() == 0
        finally:
            controller.kill()
            controller.wait()
    finally:
        attached.kill()
        attached.wait()
    assert left(apiserver) == []


def test_without_a_controller_it_says_so(http: HttpCluster, capsys: pytest.CaptureFixture[str]) -> None:
    assert attach("--expect", "a-pod.yaml", "--wait", "0.2") == 3
    assert "harness attach: no controller has asked Azure anything in" in capsys.readouterr().err
    variables = Path("azure.env").read_text()
    assert "export KUBECONFIG=" in variables
    assert "export ARM_SUBSCRIPTION_ID=" in variables


def test_objects_of_others_are_left_alone(http: HttpCluster, capsys: pytest.CaptureFixture[str]) -> None:
    http.writer(ADMIN).create(NODECLASS)
    assert attach("--expect", "a-pod.yaml") == 2
    assert "AKSNodeClass/mine is on context kind-kind already" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        ("needs: [virtual-time]", "it needs virtual time"),
        ("skip: not now", "not now"),
        ("seeds: 3", "it is about several seeds"),
    ],
)
def test_what_cannot_be_asserted_is_left_out(
    http: HttpCluster, header: str, reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("unfit.yaml").write_text(FILE.replace("given:", f"{header}\ngiven:", 1))
    assert attach("--expect", "unfit.yaml") == 2
    said = capsys.readouterr().err
    assert f"left out: a pod gets a Node: {reason}" in said
    assert "no case can be asserted on a cluster" in said


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--kubeconfig", "nowhere"], 2, "--kubeconfig: nowhere"),
        (["--context", "none"], 2, "there is no context none"),
        (["--release", "9.9.9"], 2, "9.9.9"),
        (["-k", "another case"], 2, "no case has 'another case' in its name"),
        (["--controller", "./nothing"], 2, "--controller: nothing is no program that can be executed"),
    ],
)
def test_mistakes_are_one_line(
    http: HttpCluster, options: list[str], code: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert attach("--expect", "a-pod.yaml", *options) == code
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1


def test_a_file_that_is_not_there(http: HttpCluster, capsys: pytest.CaptureFixture[str]) -> None:
    assert attach("--expect", "nothing.yaml") == 2
    assert "nothing.yaml" in capsys.readouterr().err
