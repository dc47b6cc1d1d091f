"""NodePool validations per second: by our tables, and by a real CEL engine.

The goals are 5,000 and 1,000 on one core. The engine reads the rules from CRD files: those of the directory that ``HARNESS_CRDS`` names,
such as a release's ``pkg/apis/crds``, or else what we write of our tables for real API servers.
"""

import json
import os
from pathlib import Path
from time import process_time
from typing import Any

import pytest

from harness.karpenter.validation import Crds, admit, crd_set

CAPACITY = {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["spot", "on-demand"]}
FAMILY = {"key": "karpenter.azure.com/sku-family", "operator": "In", "values": ["D", "E"], "minValues": 2}
CPU = {"key": "karpenter.azure.com/sku-cpu", "operator": "Gt", "values": ["4"]}
ARCH = {"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"]}


def nodepool(name: str, labels: dict[str, str], **spec: Any) -> dict[str, Any]:
    template = {
        "nodeClassRef": {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"},
        "requirements": [CAPACITY, FAMILY, CPU, ARCH],
        "taints": [{"key": "dedicated", "value": "batch", "effect": "NoSchedule"}],
        "expireAfter": "720h",
    }
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": name},
        "spec": {
            "template": {"metadata": {"labels": labels}, "spec": template},
            "disruption": {"consolidateAfter": "5m", "budgets": [{"nodes": "10%", "reasons": ["Empty"]}]},
            "limits": {"cpu": "100", "memory": "1000Gi"},
            **spec,
        },
    }


POOLS = [
    nodepool("accepted", {"team": "a", "example.com/tier": "gold"}, weight=10),
    nodepool("restricted", {"team": "a", "kubernetes.azure.com/foo": "x"}),
    nodepool("schema", {"team": "a b"}, weight=101),
    nodepool("static", {"team": "a"}, replicas=3, weight=1),
]


def validate_all(crds: Crds) -> list[bool]:
    return [admit(pool, crds=crds).accepted for pool in POOLS]


def measure(benchmark: Any, capsys: pytest.CaptureFixture[str], crds: Crds, engine: str, goal: int) -> None:
    """Times a round in CPU seconds, so that what else runs on the machine does not count, and prints the best round's rate."""
    assert benchmark.pedantic(validate_all, (crds,), rounds=200, warmup_rounds=5) == [True, False, False, False]
    rate = round(len(POOLS) / benchmark.stats.stats.min)
    benchmark.extra_info["NodePools per second"] = rate
    with capsys.disabled():
        print(f"\nNodePool validations per second by {engine}: {rate:,} (goal {goal:,})")


@pytest.mark.benchmark(timer=process_time)
def test_tables(benchmark: Any, capsys: pytest.CaptureFixture[str]) -> None:
    measure(benchmark, capsys, crd_set("1.14.0"), "our tables", 5000)


@pytest.mark.benchmark(timer=process_time)
def test_cel(benchmark: Any, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    pytest.importorskip("cel_expr_python")
    from harness.clusters.crd_files import CrdFiles

    directory = Path(os.environ["HARNESS_CRDS"]) if "HARNESS_CRDS" in os.environ else generated(tmp_path)
    measure(benchmark, capsys, CrdFiles(directory), "a CEL engine", 1000)


def generated(directory: Path) -> Path:
    """A release's CRDs as files, with the CEL of its rules."""
    from harness.clusters.control_plane.crds import crd_manifests

    for manifest in crd_manifests(crd_set("1.14.0")):
        (directory / f"{manifest['metadata']['name']}.yaml").write_text(json.dumps(manifest))
    return directory
