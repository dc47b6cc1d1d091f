"""NodePools for the op `validate_nodepool`: most with at most one thing wrong, the others with anything wrong anywhere."""

from __future__ import annotations

from typing import Any

from tests.conformance.cases.draw import Draw

__all__ = ["nodepool_case"]

Json = dict[str, Any]

KEYS = [
    "karpenter.sh/capacity-type",
    "topology.kubernetes.io/zone",
    "kubernetes.io/arch",
    "karpenter.azure.com/sku-family",
    "karpenter.azure.com/sku-cpu",
    "team",
    "example.com/x",
    "karpenter.sh/nodepool",
    "karpenter.sh/custom",
    "kubernetes.io/hostname",
    "karpenter.azure.com/foo",
    "kubernetes.azure.com/agentpool",
    "kubernetes.azure.com/mode",
    "kubernetes.azure.com/scalesetpriority",
    "kubernetes.azure.com/ebpf-dataplane",
    "agentpool",
    "beta.kubernetes.io/arch",
    "node.kubernetes.io/x",
    "node-restriction.kubernetes.io/x",
    "bad key",
    "a/b/c",
    "x" * 64,
    "-x",
    "topology.disk.csi.azure.com/zone",
    "karpenter.azure.com/aksnodeclass",
    "kubernetes.azure.com/os-sku",
    "karpenter.azure.com/sku-gpu-manufacturer",
    "kubernetes.azure.com/fips_enabled",
    "sub.karpenter.sh/x",
    "tëam",
    "x" * 254 + "/y",
    "Karpenter.sh/x",
    "",
]
VALUES = [
    "spot",
    "on-demand",
    "reserved",
    "amd64",
    "D",
    "4",
    "-1",
    "1.5",
    "x",
    "user",
    "system",
    "Ubuntu",
    "true",
    "nvidia",
    "a b",
    "x" * 64,
    "",
    "_x",
    "é",
    "reg-1",
]
GOOD_KEYS = [
    "karpenter.sh/capacity-type",
    "topology.kubernetes.io/zone",
    "kubernetes.io/arch",
    "team",
    "example.com/x",
    "kubernetes.azure.com/mode",
    "node.kubernetes.io/x",
    "kubernetes.azure.com/ebpf-dataplane",
    "node-restriction.kubernetes.io/x",
    "topology.disk.csi.azure.com/zone",
    "kubernetes.azure.com/os-sku",
]
GOOD_VALUES = ["spot", "on-demand", "x", "system", "Ubuntu", "4", "reg-1"]


def nodepool_case(draw: Draw) -> Json:
    calm = draw.chance(0.6)
    keys, vals = (GOOD_KEYS, GOOD_VALUES) if calm else (KEYS, VALUES)
    np: Json = {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": draw.choice(["default", "np-1", "Bad_Name", "x" * 70]) if draw.chance(0.2) else "default"},
        "spec": {"template": {"spec": {}}},
    }
    sp = np["spec"]
    t: Json = sp["template"]["spec"]
    t["nodeClassRef"] = {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"}
    if draw.chance(0.06):
        draw.choice(
            [
                lambda: t.pop("nodeClassRef"),
                lambda: t["nodeClassRef"].pop("name"),
                lambda: t["nodeClassRef"].update(name=""),
                lambda: t["nodeClassRef"].update(group="karpenter.azure.com/v1"),
            ]
        )()
    t["requirements"] = []
    for _ in range(draw.choice([0, 1, 1, 2, 3])):
        r: Json = {
            "key": draw.choice(keys),
            "operator": draw.choice(
                ["In", "In", "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Gte", "Lte", "Foo"]
                if draw.chance(0.3)
                else ["In", "In", "NotIn", "Exists", "Gt", "Lt"]
            ),
        }
        if r["operator"] not in ("Exists", "DoesNotExist") or draw.chance(0.1):
            r["values"] = [draw.choice(vals) for _ in range(draw.choice([0, 1, 1, 1, 2, 3]))]
        if draw.chance(0.15):
            r["minValues"] = draw.choice([0, 1, 2, 3, 50, 51, 50.0, 51.0, 2.0])
        t["requirements"].append(r)
    if draw.chance(0.4):
        sp["template"]["metadata"] = {
            "labels": {draw.choice(keys) or "k": draw.choice(vals) for _ in range(draw.randint(1, 2))}
        }
    for f in ("taints", "startupTaints"):
        if draw.chance(0.2):
            t[f] = [
                {
                    "key": draw.choice(["dedicated", "example.com/x", "a b", "", "-x"]),
                    "effect": draw.choice(["NoSchedule", "NoExecute", "PreferNoSchedule", "Bad", ""]),
                    **({"value": draw.choice(["x", "a b", "-"])} if draw.chance(0.5) else {}),
                }
                for _ in range(draw.choice([1, 2]))
            ]
    if draw.chance(0.2):
        t["expireAfter"] = draw.choice(["720h", "Never", "30m", "5x", "-1h", "0s", "1h30m"])
    if draw.chance(0.15):
        t["terminationGracePeriod"] = draw.choice(["30s", "1h", "-1s", "x"])
    if draw.chance(0.2):
        sp["weight"] = draw.choice([0, 1, 50, 100, 101, -1])
    if draw.chance(0.2):
        sp["limits"] = draw.choice(
            [
                {"cpu": "100"},
                {"cpu": 100, "memory": "1Gi"},
                {"cpu": "abc"},
                {"nodes": 3},
                {"cpu": "1e3"},
                {"cpu": "1e6k"},
                {"cpu": "1E3", "memory": "1e3Mi"},
                {"memory": "5E"},
                {"cpu": ".5"},
                {"cpu": "1e-3"},
                {},
            ]
        )
    if draw.chance(0.08):
        sp["replicas"] = draw.choice([0, 3, -1, 2**31 - 1, 2**31, 3_000_000_000, 2.0, "2", None])
    if draw.chance(0.4):
        d: Json = {}
        if draw.chance(0.6):
            d["consolidateAfter"] = draw.choice(["0s", "5m", "Never", "-1s", "x", "1h5m"])
        if draw.chance(0.6):
            d["consolidationPolicy"] = draw.choice(["WhenEmpty", "WhenEmptyOrUnderutilized", "Bad", "Balanced"])
        if draw.chance(0.6):
            d["budgets"] = [
                {
                    k: v
                    for k, v in {
                        "nodes": draw.choice(["10%", "5", "101%", "-1", "abc", "0", "100%"]),
                        "schedule": draw.choice(["* * * * *", "@daily", "bad", None, None]),
                        "duration": draw.choice(["10m", "1h", "30s", None, None, "1h30m10s"]),
                        "reasons": draw.choice([None, None, ["Empty"], ["Drifted", "Underutilized"], ["Bad"]]),
                    }.items()
                    if v is not None
                }
                for _ in range(draw.choice([1, 1, 2]))
            ]
        sp["disruption"] = d
    if calm:  # at most one thing wrong
        for k in ("weight", "limits", "replicas", "disruption"):
            if draw.chance(0.7):
                sp.pop(k, None)
        for k in ("taints", "startupTaints", "expireAfter", "terminationGracePeriod"):
            if draw.chance(0.7):
                t.pop(k, None)
        for r in t["requirements"]:
            if r["operator"] in ("Gt", "Lt", "Gte", "Lte"):
                r["values"] = ["4"]
            elif r["operator"] in ("In", "NotIn") and not r.get("values"):
                r["values"] = ["x"]
            elif r["operator"] in ("Exists", "DoesNotExist"):
                r.pop("values", None)
            if draw.chance(0.7):
                r.pop("minValues", None)
    return {"object": np, "labels": draw.sample([k for k in KEYS if k], 3)}
