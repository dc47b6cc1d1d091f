"""Pairs of requirement lists for the op `requirements`: all operators over few keys, with the corners of values and bounds."""

from __future__ import annotations

from typing import Any

from tests.conformance.cases.draw import Draw

__all__ = ["requirements_case"]

Json = dict[str, Any]

KEYS = [
    "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/zone",
    "topology.disk.csi.azure.com/zone",
    "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/region",
    "kubernetes.io/arch",
    "beta.kubernetes.io/arch",
    "beta.kubernetes.io/os",
    "node.kubernetes.io/instance-type",
    "beta.kubernetes.io/instance-type",
    "karpenter.sh/capacity-type",
    "karpenter.azure.com/sku-cpu",
    "karpenter.azure.com/sku-family",
    "karpenter.azure.com/sku-gpu-count",
    "kubernetes.azure.com/mode",
    "karpenter.sh/nodepool",
    "kubernetes.io/hostname",
    "team",
    "example.com/team",
    "zone",
    "sku-cpu",
    "arch",
    "karpenter.azure.com/sku",
    "node.kubernetes.io/windows-build",
    "",
    "tëam",
    "x" * 64,
    "a/b/c",
]
VALS = [
    "",
    "0",
    "a",
    "b",
    "c",
    "d",
    "e",
    "f",
    "1",
    "2",
    "4",
    "8",
    "16",
    "05",
    "+7",
    "-3",
    "1.5",
    "spot",
    "on-demand",
    "amd64",
    "9223372036854775807",
    "9223372036854775808",
    "eastus-1",
    "eastus-2",
    "A",
    "true",
    "é",
    " 4",
    "x" * 64,
]


def random_requirement(draw: Draw) -> Json:
    op = draw.choices(["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Gte", "Lte"], [6, 3, 2, 2, 2, 2, 2, 2])[0]
    k = draw.choice(KEYS)
    r: Json = {"key": k, "operator": op}
    if op in ("In", "NotIn"):
        r["values"] = [draw.choice(VALS) for _ in range(draw.choice([0, 1, 1, 2, 2, 3, 4, 7, 9]))]
    elif op in ("Gt", "Lt", "Gte", "Lte"):
        r["values"] = [
            draw.choice(
                ["0", "1", "2", "4", "8", "16", "-1", "9223372036854775807", "x", "-9223372036854775808"]
                if draw.chance(0.2)
                else ["0", "1", "2", "3", "4", "8", "16"]
            )
        ]
    if draw.chance(0.15):
        r["minValues"] = draw.randint(1, 5)
    return r


def requirements_case(draw: Draw) -> Json:
    """Two lists of requirements, over few keys in most cases, and strings to probe Has with."""
    pool = draw.sample(KEYS, draw.randint(1, 6)) if draw.chance(0.7) else KEYS

    def some_requirements() -> list[Json]:
        o = []
        for _ in range(draw.choice([0, 1, 1, 2, 2, 3, 4, 6])):
            r = random_requirement(draw)
            r["key"] = draw.choice(pool)
            o.append(r)
        return o

    return {"a": some_requirements(), "b": some_requirements(), "probe": draw.sample(VALS, 8)}
