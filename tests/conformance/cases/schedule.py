"""Whole clusters for the op `schedule`: NodePools, pending pods of a few workloads, nodes with their pods, daemonsets, volumes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tests.conformance.cases.draw import Draw

__all__ = ["schedule_case"]

Json = dict[str, Any]

Z = "topology.kubernetes.io/zone"
H = "kubernetes.io/hostname"
CT = "karpenter.sh/capacity-type"
IT = "node.kubernetes.io/instance-type"
ARCH = "kubernetes.io/arch"
FAM = "karpenter.azure.com/sku-family"
CPU = "karpenter.azure.com/sku-cpu"
VER = "karpenter.azure.com/sku-version"


def node_requirement(draw: Draw, zones: list[str], its: list[str], pods: bool = False) -> Json:
    c = draw.randrange(9)
    if c == 0:
        return {"key": Z, "operator": draw.choice(["In", "NotIn"]), "values": draw.some(zones, 1, 2)}
    if c == 1:
        return {"key": CT, "operator": "In", "values": draw.some(["spot", "on-demand"], 1, 2)}
    if c == 2:
        return {
            "key": ARCH,
            "operator": draw.choice(["In", "In", "NotIn"]),
            "values": draw.some(["amd64", "arm64"], 1, 1),
        }
    if c == 3:
        return {
            "key": FAM,
            "operator": draw.choice(["In", "NotIn", "NotIn"]),
            "values": draw.some(["D", "E", "F", "B", "N", "L"], 1, 2),
        }
    if c == 4:
        return {
            "key": CPU,
            "operator": draw.choice(["Gt", "Lt", "Gte", "Lte"] if not pods else ["Gt", "Lt"]),
            "values": [str(draw.choice([2, 4, 8, 16, 32, 64]))],
        }
    if c == 5:
        return {"key": IT, "operator": draw.choice(["In", "NotIn"]), "values": draw.some(its, 1, 4)}
    if c == 6:
        return {
            "key": VER,
            "operator": draw.choice(["In", "NotIn", "Exists"]),
            "values": draw.some(["3", "5", "6"], 1, 2),
        }
    if c == 7:
        return {
            "key": "team",
            "operator": draw.choice(["In", "NotIn", "Exists", "DoesNotExist"]),
            "values": draw.some(["red", "blue"], 1, 2),
        }
    return {"key": "karpenter.azure.com/sku-gpu-count", "operator": "Lt", "values": ["1"]}


def fix(r: Json) -> Json:
    if r["operator"] in ("Exists", "DoesNotExist"):
        r.pop("values", None)
    return r


TAINTS = [
    {"key": "dedicated", "value": "gpu", "effect": "NoSchedule"},
    {"key": "dedicated", "value": "batch", "effect": "NoExecute"},
    {"key": "soft", "effect": "PreferNoSchedule"},
    {"key": "team", "value": "red", "effect": "NoSchedule"},
]
TOLS = [
    {"key": "dedicated", "operator": "Exists"},
    {"key": "dedicated", "operator": "Equal", "value": "gpu", "effect": "NoSchedule"},
    {"operator": "Exists"},
    {"key": "team", "value": "red"},
    {"key": "soft", "operator": "Exists", "effect": "PreferNoSchedule"},
]


def nodepool(draw: Draw, i: int, zones: list[str], its: list[str]) -> Json:
    spec = {"requirements": [fix(node_requirement(draw, zones, its)) for _ in range(draw.choice([0, 1, 1, 2, 3]))]}
    for r in spec["requirements"]:
        if r["operator"] != "DoesNotExist" and draw.chance(0.15):
            r["minValues"] = draw.randint(1, 4)
    if draw.chance(0.25):
        spec["taints"] = draw.some(TAINTS, 1, 2)
    if draw.chance(0.1):
        spec["startupTaints"] = [{"key": "startup", "effect": "NoSchedule"}]
    spec["nodeClassRef"] = {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"}
    t = {"spec": spec}
    if draw.chance(0.4):
        t["metadata"] = {"labels": {"team": draw.choice(["red", "blue"])}}
    np = {"metadata": {"name": f"np{i}"}, "spec": {"template": t}}
    if draw.chance(0.4):
        np["spec"]["weight"] = draw.choice([1, 10, 10, 50])
    if draw.chance(0.25):
        np["spec"]["limits"] = draw.choice(
            [
                {"cpu": "16"},
                {"cpu": "40", "memory": "128Gi"},
                {"memory": "64Gi"},
                {"nodes": "2"},
                {"cpu": "4"},
                {"cpu": "100"},
            ]
        )
    return np


def selector(draw: Draw, app: str) -> Json:
    return draw.choice(
        [{"matchLabels": {"app": app}}] * 4
        + [
            {"matchExpressions": [{"key": "app", "operator": "In", "values": [app, "zzz"]}]},
            {"matchExpressions": [{"key": "tier", "operator": "Exists"}]},
            {},
        ]
    )


def pod_affinity_term(draw: Draw, app: str, apps: list[str]) -> Json:
    t = {
        "topologyKey": draw.choice([Z, Z, H, H, CT]),
        "labelSelector": selector(draw, draw.choice([app, app, draw.choice(apps)])),
    }
    if draw.chance(0.07):
        t["namespaces"] = ["other"]
    return t


def shape(draw: Draw, j: int, zones: list[str], its: list[str], apps: list[str]) -> tuple[Json, Json]:
    """Labels and spec of the pods of one workload."""
    app = f"app{j}"
    s = {
        "containers": [
            {
                "name": "c",
                "image": "i",
                "resources": {
                    "requests": {
                        "cpu": draw.choice(["100m", "250m", "500m", "1", "1500m", "2", "3500m", "7"]),
                        "memory": draw.choice(["128Mi", "512Mi", "1Gi", "2Gi", "4Gi", "12Gi"]),
                    }
                },
            }
        ]
    }
    labels = {"app": app}
    if draw.chance(0.3):
        labels["tier"] = draw.choice(["web", "db"])
    if draw.chance(0.05):
        s["containers"][0]["resources"]["requests"]["nvidia.com/gpu"] = "1"
        s["containers"][0]["resources"]["limits"] = {"nvidia.com/gpu": "1"}
    if draw.chance(0.07):
        s["containers"].append({"name": "d", "image": "i", "resources": {"limits": {"cpu": "300m", "memory": "64Mi"}}})
    if draw.chance(0.07):
        s["initContainers"] = [
            {
                "name": "in",
                "image": "i",
                "resources": {"requests": {"cpu": draw.choice(["4", "200m"])}},
                **({"restartPolicy": "Always"} if draw.chance(0.4) else {}),
            }
        ]
    if draw.chance(0.05):
        s["overhead"] = {"cpu": "250m", "memory": "100Mi"}
    if draw.chance(0.08):
        s["containers"][0]["ports"] = [
            {"containerPort": 8080, "hostPort": draw.choice([8080, 9090]), "protocol": "TCP"}
        ]
    if draw.chance(0.2):
        s["nodeSelector"] = draw.choice(
            [
                {Z: draw.choice(zones)},
                {CT: draw.choice(["spot", "on-demand"])},
                {ARCH: draw.choice(["amd64", "arm64"])},
                {"team": draw.choice(["red", "blue", "green"])},
                {FAM: draw.choice(["D", "E", "F"])},
                {"karpenter.sh/nodepool": "np0"},
                {H: "x"},
                {"foo": "bar"},
                {"kubernetes.azure.com/mode": draw.choice(["user", "system"])},
            ]
        )
    na = {}
    if draw.chance(0.25):
        na["requiredDuringSchedulingIgnoredDuringExecution"] = {
            "nodeSelectorTerms": [
                {"matchExpressions": [fix(node_requirement(draw, zones, its, True)) for _ in range(draw.randint(1, 2))]}
                for _ in range(draw.choice([1, 1, 2, 3]))
            ]
        }
    if draw.chance(0.25):
        na["preferredDuringSchedulingIgnoredDuringExecution"] = [
            {"weight": w, "preference": {"matchExpressions": [fix(node_requirement(draw, zones, its, True))]}}
            for w in draw.sample(range(1, 101), draw.randint(1, 3))
        ]
    aff = {}
    if na:
        aff["nodeAffinity"] = na
    for k, p in (("podAffinity", 0.2), ("podAntiAffinity", 0.22)):
        if draw.chance(p):
            d = {}
            if draw.chance(0.65):
                d["requiredDuringSchedulingIgnoredDuringExecution"] = [
                    pod_affinity_term(draw, app, apps) for _ in range(draw.choice([1, 1, 1, 2]))
                ]
            else:
                d["preferredDuringSchedulingIgnoredDuringExecution"] = [
                    {"weight": w, "podAffinityTerm": pod_affinity_term(draw, app, apps)}
                    for w in draw.sample(range(1, 101), draw.choice([1, 1, 2]))
                ]
            aff[k] = d
    if aff:
        s["affinity"] = aff
    if draw.chance(0.3):
        s["tolerations"] = draw.some(TOLS, 1, 2)
    if draw.chance(0.35):
        t = []
        for key in draw.sample([Z, Z, H, CT, "team"], draw.choice([1, 1, 1, 2])):
            if any(x["topologyKey"] == key for x in t):
                continue
            c = {
                "maxSkew": draw.choice([1, 1, 1, 2, 3]),
                "topologyKey": key,
                "whenUnsatisfiable": draw.choice(["DoNotSchedule", "DoNotSchedule", "ScheduleAnyway"]),
                "labelSelector": selector(draw, app),
            }
            if c["whenUnsatisfiable"] == "DoNotSchedule" and draw.chance(0.12):
                c["minDomains"] = draw.randint(1, 5)
            if draw.chance(0.12):
                c["nodeTaintsPolicy"] = draw.choice(["Honor", "Ignore"])
            if draw.chance(0.12):
                c["nodeAffinityPolicy"] = draw.choice(["Honor", "Ignore"])
            if draw.chance(0.08) and c["labelSelector"]:
                c["matchLabelKeys"] = ["tier"]
            t.append(c)
        s["topologySpreadConstraints"] = t
    return labels, s


def schedule_case(draw: Draw, catalogs: Mapping[str, list[Json]], zone_names: Mapping[str, list[str]]) -> Json:
    """A whole cluster: NodePools, pending pods of a few workloads, nodes with their pods, daemonsets, volumes."""
    cat = draw.choice(sorted(catalogs))
    types = catalogs[cat]
    zones = sorted(zone_names[cat], key=lambda zone: (zone == "0", zone))  # real zones first
    its = [t["name"] for t in types]
    nps = [nodepool(draw, i, zones, its) for i in range(draw.choice([1, 1, 2, 2, 3]))]
    if draw.chance(0.6):  # one permissive pool, so that not everything fails
        sp = nps[0]["spec"]
        sp["template"]["spec"]["requirements"] = sp["template"]["spec"]["requirements"][:1] if draw.chance(0.4) else []
        sp["template"]["spec"].pop("taints", None)
        if draw.chance(0.8):
            sp.pop("limits", None)
    apps = [f"app{j}" for j in range(draw.randint(1, 6))]
    pods = []
    uid = 0
    uids = draw.sample(range(1, 100000), 99)
    big = draw.chance(0.15)

    def uidgen() -> str:
        nonlocal uid
        uid += 1
        return "00000000-0000-4000-8000-%012x" % (uids[uid % 99] * 1000 + uid)

    extra = {}
    for j, app in enumerate(apps):
        labels, s = shape(draw, j, zones, its, apps)
        vol = draw.chance(0.06)
        for k in range(draw.choice([1, 2, 3, 4, 6, 8] + ([15, 25] if big else []))):
            p = {
                "metadata": {
                    "name": f"{app}-{k}",
                    "namespace": "default",
                    "uid": uidgen(),
                    "labels": dict(labels),
                    "creationTimestamp": f"2026-01-01T00:00:{draw.choice([0, 0, 0, 5]):02d}Z",
                },
                "spec": json.loads(json.dumps(s)),
            }
            if vol:
                p["spec"]["volumes"] = [{"name": "v", "persistentVolumeClaim": {"claimName": f"pvc-{app}-{k}"}}]
                z = draw.choice(zones[:3])
                bound = draw.chance(0.5)
                pvc = {
                    "metadata": {"name": f"pvc-{app}-{k}", "namespace": "default"},
                    "spec": {
                        "accessModes": ["ReadWriteOnce"],
                        "resources": {"requests": {"storage": "1Gi"}},
                        "storageClassName": "sc",
                    },
                }
                if bound:
                    pvc["metadata"]["annotations"] = {"pv.kubernetes.io/bind-completed": "yes"}
                    pvc["spec"]["volumeName"] = f"pv-{app}-{k}"
                    extra.setdefault("pvs", []).append(
                        {
                            "metadata": {"name": f"pv-{app}-{k}"},
                            "spec": {
                                "csi": {"driver": "disk.csi.azure.com", "volumeHandle": f"h-{app}-{k}"},
                                "nodeAffinity": {
                                    "required": {
                                        "nodeSelectorTerms": [
                                            {
                                                "matchExpressions": [
                                                    {
                                                        "key": "topology.disk.csi.azure.com/zone",
                                                        "operator": "In",
                                                        "values": [z],
                                                    }
                                                ]
                                            },
                                            {
                                                "matchExpressions": [
                                                    {
                                                        "key": "topology.disk.csi.azure.com/zone",
                                                        "operator": "In",
                                                        "values": [""],
                                                    }
                                                ]
                                            },
                                        ]
                                    }
                                },
                            },
                        }
                    )
                extra.setdefault("pvcs", []).append(pvc)
                extra["storageclasses"] = [
                    {
                        "metadata": {"name": "sc"},
                        "provisioner": "disk.csi.azure.com",
                        "volumeBindingMode": "WaitForFirstConsumer",
                        **(
                            {
                                "allowedTopologies": [
                                    {
                                        "matchLabelExpressions": [
                                            {"key": "topology.disk.csi.azure.com/zone", "values": zones[:2]}
                                        ]
                                    }
                                ]
                            }
                            if draw.chance(0.3) and "storageclasses" not in extra
                            else (
                                {
                                    k: v
                                    for k, v in extra.get("storageclasses", [{}])[0].items()
                                    if k == "allowedTopologies"
                                }
                            )
                        ),
                    }
                ]
            pods.append(p)
    region = next(zone.rpartition("-")[0] for zone in zones if zone != "0")
    nodes, ncs = [], []
    for k in range(draw.choice([0, 0, 0, 1, 2, 4])):
        t = draw.choice([t for t in types if int(float(t["capacity"]["cpu"])) <= 16])
        managed = draw.chance(0.75)
        np = draw.choice(nps)
        state = draw.choice(["init", "init", "init", "registered", "nodeless"])
        zv = [z for r in t["requirements"] if r["key"] == Z for z in r["values"]]
        lab = {
            IT: t["name"],
            Z: draw.choice(zv),
            CT: draw.choice(["on-demand", "spot"]),
            ARCH: next(r["values"][0] for r in t["requirements"] if r["key"] == ARCH),
            "kubernetes.io/os": "linux",
            "topology.kubernetes.io/region": region,
            FAM: next(r["values"][0] for r in t["requirements"] if r["key"] == FAM),
        }
        taints = []
        if managed:
            lab["karpenter.sh/nodepool"] = np["metadata"]["name"]
            lab.update(np["spec"]["template"].get("metadata", {}).get("labels", {}))
            taints = list(np["spec"]["template"]["spec"].get("taints", []))
        if draw.chance(0.15):
            taints.append({"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"})
        if draw.chance(0.1):
            taints.append(draw.choice(TAINTS))
        name = f"node{k}"
        pid = f"azure:///vm/{name}"
        if managed:
            ncs.append(
                {
                    "metadata": {
                        "name": f"nc{k}",
                        "uid": uidgen(),
                        "labels": dict(lab),
                        "creationTimestamp": "2025-12-31T00:00:00Z",
                    },
                    "spec": {
                        "requirements": [{"key": IT, "operator": "In", "values": [t["name"]]}],
                        "resources": {"requests": {"cpu": "1"}},
                        "nodeClassRef": {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"},
                        "taints": list(np["spec"]["template"]["spec"].get("taints", [])),
                        "startupTaints": np["spec"]["template"]["spec"].get("startupTaints", []),
                    },
                    "status": {
                        "providerID": pid,
                        "nodeName": name if state != "nodeless" else "",
                        "capacity": t["capacity"],
                        "allocatable": t["allocatable"],
                        "conditions": [
                            {
                                "type": "Launched",
                                "status": "True",
                                "reason": "Launched",
                                "lastTransitionTime": "2025-12-31T00:00:00Z",
                                "message": "",
                            }
                        ],
                    },
                }
            )
        if managed and state == "nodeless":
            continue
        nl = dict(lab)
        nl[H] = name
        if managed:
            nl["karpenter.sh/registered"] = "true"
        if state == "init":
            nl["karpenter.sh/initialized"] = "true"
        nodes.append(
            {
                "metadata": {"name": name, "uid": uidgen(), "labels": nl, "creationTimestamp": "2025-12-31T00:00:00Z"},
                "spec": {"providerID": pid, "taints": taints},
                "status": {
                    "capacity": t["capacity"],
                    "allocatable": t["allocatable"],
                    "conditions": [
                        {
                            "type": "Ready",
                            "status": "True",
                            "reason": "r",
                            "message": "",
                            "lastHeartbeatTime": None,
                            "lastTransitionTime": None,
                        }
                    ],
                },
            }
        )
        for q in range(draw.choice([0, 0, 1, 2])):
            labels, s = shape(draw, 90 + q, zones, its, apps)
            s["nodeName"] = name
            s.pop("tolerations", None)
            labels["app"] = draw.choice(apps)
            own = draw.chance(0.3)
            pods.append(
                {
                    "metadata": {
                        "name": f"run-{name}-{q}",
                        "namespace": "default",
                        "uid": uidgen(),
                        "labels": labels,
                        "creationTimestamp": "2025-12-31T01:00:00Z",
                        **(
                            {
                                "ownerReferences": [
                                    {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "ds0", "uid": "ds0"}
                                ]
                            }
                            if own
                            else {}
                        ),
                    },
                    "spec": s,
                    "status": {"phase": "Running"},
                }
            )
    dss = []
    for k in range(draw.choice([0, 0, 1, 2])):
        ts = {
            "containers": [
                {
                    "name": "c",
                    "image": "i",
                    "resources": {
                        "requests": {"cpu": draw.choice(["50m", "100m", "1"]), "memory": draw.choice(["64Mi", "200Mi"])}
                    },
                }
            ]
        }
        if draw.chance(0.5):
            ts["tolerations"] = [{"operator": "Exists"}]
        if draw.chance(0.25):
            ts["nodeSelector"] = draw.choice(
                [{ARCH: "amd64"}, {FAM: "D"}, {"team": "red"}, {"karpenter.sh/initialized": "true"}]
            )
        if draw.chance(0.15):
            ts["affinity"] = {
                "nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [
                            {"matchExpressions": [fix(node_requirement(draw, zones, its, True))]}
                            for _ in range(draw.choice([1, 2]))
                        ]
                    }
                }
            }
        if draw.chance(0.1):
            ts["containers"][0]["ports"] = [{"containerPort": 8080, "hostPort": 8080, "protocol": "TCP"}]
        dss.append(
            {
                "metadata": {"name": f"ds{k}", "namespace": "kube-system", "uid": f"ds{k}"},
                "spec": {
                    "selector": {"matchLabels": {"d": str(k)}},
                    "template": {"metadata": {"labels": {"d": str(k)}}, "spec": ts},
                },
            }
        )
    o: Json = {}
    if draw.chance(0.15):
        o["preferencePolicy"] = "Ignore"
    if draw.chance(0.15):
        o["minValuesPolicy"] = "BestEffort"
    return dict(
        {
            "catalog": cat,
            "nodepools": nps,
            "pods": pods,
            "nodes": nodes,
            "nodeclaims": ncs,
            "daemonsets": dss,
            "namespaces": [{"metadata": {"name": "default"}}, {"metadata": {"name": "other"}}],
            "options": o,
        },
        **extra,
    )
