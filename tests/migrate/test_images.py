"""Images for arm64: no dump says whether there are any, so that pods which may newly get such a Node are named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.migrate.judging.architectures import unproven_images
from harness.testing import deployment
from tests.cli.command import as_json
from tests.migrate.pools import cluster, pool

AMD, ARM = pool("amd"), pool("arm", vmSize="Standard_D4ps_v5")


def test_what_ran_on_one_architecture_is_proven_there_alone() -> None:
    amd, arm, both = frozenset({"amd64"}), frozenset({"arm64"}), frozenset({"amd64", "arm64"})
    assert list(unproven_images(both, both, both)) == []
    assert list(unproven_images(both, amd, amd)) == []
    assert list(unproven_images(amd, frozenset(), amd)) == []
    (text,) = unproven_images(both, amd, both)
    assert text.startswith(
        "its pods may get arm64 Nodes, for which nothing says that there are images: they ran on amd64"
    )
    (text,) = unproven_images(both, frozenset(), both)
    assert "no file says where they ran" in text
    (text,) = unproven_images(amd, amd, arm)
    assert text.endswith("nodeSelector kubernetes.io/arch: amd64 decides it")


@pytest.mark.parametrize(
    ("spec", "named"),
    [
        pytest.param({}, True, id="nothing asked"),
        pytest.param({"nodeSelector": {"kubernetes.io/arch": "amd64"}}, False, id="the architecture"),
        pytest.param({"nodeSelector": {"agentpool": "amd"}}, False, id="the pool"),
    ],
)
def test_pods_that_may_get_another_architecture_are_named(
    spec: Any, named: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("cluster.json").write_text(json.dumps(cluster(AMD, ARM, currentKubernetesVersion="1.34.2")))
    Path("dump.yaml").write_text(yaml.safe_dump(deployment("web", 1, **spec)))
    (web,) = as_json(capsys, "migrate", "cluster.json", "dump.yaml")["workloads"]
    assert web["verdict"] in ("moves as it is", "needs a line")
    assert any("images" in note for note in web["notes"]) == named
