"""NodePool validations per second: by our tables, and by a real CEL engine on CRD files.

The goals are 5,000 and 1,000 on one core. CRD files are looked for in the directory that ``HARNESS_CRDS`` names, such as a release's
``pkg/apis/crds``; without them only the tables are measured.
"""

import os
from pathlib import Path
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


def measure(benchmark: Any, crds: Crds) -> None:
    assert benchmark(validate_all, crds) == [True, False, False, False]
    benchmark.extra_info["NodePools per second"] = round(len(POOLS) / benchmark.stats.stats.min)


def test_tables(benchmark: Any) -> None:
    measure(benchmark, crd_set("1.14.0"))


@pytest.mark.skipif("HARNESS_CRDS" not in os.environ, reason="HARNESS_CRDS names no directory of CRD files")
def test_crd_files(benchmark: Any) -> None:
    pytest.importorskip("cel_expr_python")
    from harness.clusters.crd_files import CrdFiles

    measure(benchmark, CrdFiles(Path(os.environ["HARNESS_CRDS"])))
