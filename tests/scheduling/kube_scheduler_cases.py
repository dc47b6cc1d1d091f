"""Random small clusters and a pod for each, to ask kube-scheduler's plugins about, and what we say about them.

kube_scheduler.go says how the real ones are asked, and how their answers are recorded.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

from harness.kube.api.versions import Version
from harness.kube.scheduling.filters import UNTOLERATED_TAINT, Filters
from harness.kube.scheduling.placement import NodeInfo
from harness.kube.scheduling.scheduler import scores
from harness.kube.scheduling.soft_spread import sibling_selector
from harness.kube.scheduling.volume_binding import PodVolumes

HOSTNAME, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
KEYS = (HOSTNAME, ZONE, ZONE, "rack")
APPS = ("a", "b", "c")
HELPLESS = "helpless"

Json = dict[str, Any]


def _node(random: Random, number: int) -> Json:
    labels: Json = {}
    if random.random() < 0.95:
        labels[HOSTNAME] = f"n{number}"
    if random.random() < 0.85:
        labels[ZONE] = random.choice("123")
    if random.random() < 0.6:
        labels["rack"] = random.choice("xy")
    spec: Json = {}
    taints = [
        {"key": key, "value": "v", "effect": effect}
        for key, effect, chance in (
            ("hard", "NoSchedule", 0.1),
            ("soft", "PreferNoSchedule", 0.2),
            ("tired", "PreferNoSchedule", 0.1),
        )
        if random.random() < chance
    ]
    if taints:
        spec["taints"] = taints
    if random.random() < 0.05:
        spec["unschedulable"] = True
    amounts = {"cpu": random.choice(["1", "2", "3920m", "8"]), "memory": random.choice(["2Gi", "7Gi", "14961532Ki"])}
    amounts["pods"] = random.choice(["4", "30", "110"])
    return {"metadata": {"name": f"n{number}", "labels": labels}, "spec": spec, "status": {"allocatable": amounts}}


def _container(random: Random, name: str) -> Json:
    requests: Json = {}
    if random.random() < 0.8:
        requests["cpu"] = random.choice(["50m", "100m", "250m", "333m", "1"])
    if random.random() < 0.75:
        requests["memory"] = random.choice(["64Mi", "200Mi", "1Gi", "1500M"])
    found: Json = {"name": name, "resources": {"requests": requests}}
    if random.random() < 0.06:
        found["ports"] = [{"hostPort": random.choice([80, 443]), "containerPort": 80, "protocol": "TCP"}]
    return found


def _selector(random: Random) -> Json:
    if random.random() < 0.08:
        return {}
    if random.random() < 0.2:
        return {"matchExpressions": [{"key": "app", "operator": random.choice(["In", "NotIn"]), "values": ["a", "b"]}]}
    return {"matchLabels": {"app": random.choice(APPS)}}


def _term(random: Random) -> Json:
    found: Json = {"topologyKey": random.choice(KEYS), "labelSelector": _selector(random)}
    if random.random() < 0.15:
        found["namespaces"] = ["shop"]
    if random.random() < 0.15:
        found["namespaceSelector"] = random.choice(
            [{}, {"matchLabels": {"team": "shop"}}, {"matchLabels": {"team": "no"}}]
        )
    return found


def _weighted(random: Random) -> list[Json]:
    return [
        {"weight": random.choice([1, 10, 50, 100]), "podAffinityTerm": _term(random)}
        for _ in range(random.choice([1, 1, 2]))
    ]


def _affinity(random: Random, eager: float) -> Json:
    found: Json = {}
    for kind in ("podAffinity", "podAntiAffinity"):
        terms: Json = {}
        if random.random() < eager * (0.3 if kind == "podAffinity" else 0.2):
            terms["requiredDuringSchedulingIgnoredDuringExecution"] = [_term(random)]
        if random.random() < eager:
            terms["preferredDuringSchedulingIgnoredDuringExecution"] = _weighted(random)
        if terms:
            found[kind] = terms
    if random.random() < 0.2:
        found["nodeAffinity"] = {
            "preferredDuringSchedulingIgnoredDuringExecution": [
                {
                    "weight": random.choice([1, 20, 70]),
                    "preference": {}
                    if random.random() < 0.1
                    else {
                        "matchExpressions": [
                            {"key": random.choice(KEYS[1:]), "operator": "In", "values": ["1", "2", "x"]}
                        ]
                    },
                }
                for _ in range(random.choice([1, 2]))
            ]
        }
    return found


def _constraint(random: Random) -> Json:
    found: Json = {
        "topologyKey": random.choice(KEYS),
        "maxSkew": random.choice([1, 1, 2, 5]),
        "whenUnsatisfiable": random.choice(["ScheduleAnyway", "ScheduleAnyway", "DoNotSchedule"]),
        "labelSelector": _selector(random),
    }
    if random.random() < 0.2:
        found["matchLabelKeys"] = ["hash"]
    if found["whenUnsatisfiable"] == "DoNotSchedule" and random.random() < 0.2:
        found["minDomains"] = random.choice([2, 4])
    if random.random() < 0.2:
        found["nodeAffinityPolicy"] = random.choice(["Honor", "Ignore"])
    if random.random() < 0.2:
        found["nodeTaintsPolicy"] = random.choice(["Honor", "Ignore"])
    return found


def _pod(random: Random, name: str, node: str | None) -> Json:
    spec: Json = {"containers": [_container(random, f"c{number}") for number in range(random.choice([1, 1, 2]))]}
    if random.random() < 0.1:
        spec["initContainers"] = [_container(random, "init")]
        spec["initContainers"][0].pop("ports", None)
        if random.random() < 0.4:
            spec["initContainers"][0]["restartPolicy"] = "Always"
    if random.random() < 0.1:
        spec["resources"] = {"requests": {random.choice(["cpu", "memory"]): "1G"}}
    if random.random() < 0.1:
        spec["overhead"] = {"cpu": "20m"}
    affinity = _affinity(random, 0.1 if node else 0.25)
    if affinity:
        spec["affinity"] = affinity
    if random.random() < 0.3:
        spec["tolerations"] = [
            random.choice(
                [
                    {"operator": "Exists"},
                    {"key": "soft", "operator": "Equal", "value": "v"},
                    {"key": "hard", "operator": "Exists"},
                ]
            )
        ]
    labels = {"app": random.choice(APPS), "hash": random.choice("12")}
    meta: Json = {
        "name": name,
        "namespace": random.choice(["default", "default", "default", "shop"]),
        "uid": name,
        "labels": labels,
    }
    if node:
        spec["nodeName"] = node
        if random.random() < 0.08:
            meta |= {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["a/b"]}
    else:
        if random.random() < 0.15:
            spec["nodeSelector"] = {ZONE: random.choice("123")}
        if random.random() < 0.08:
            names = random.sample(["n0", "n1", "n2"], random.choice([1, 2]))
            fields = [{"key": "metadata.name", "operator": "In", "values": [name]} for name in names]
            terms = {"nodeSelectorTerms": [{"matchFields": [each]} for each in fields]}
            named = spec.setdefault("affinity", {}).setdefault("nodeAffinity", {})
            named["requiredDuringSchedulingIgnoredDuringExecution"] = terms
        if random.random() < 0.4:
            spec["topologySpreadConstraints"] = list(
                {
                    (each["topologyKey"], each["whenUnsatisfiable"]): each
                    for each in (_constraint(random) for _ in range(random.choice([1, 2, 3])))
                }.values()
            )
        if random.random() < 0.6:
            meta["ownerReferences"] = [
                {
                    "apiVersion": "apps/v1",
                    "kind": "ReplicaSet",
                    "name": f"set-{labels['app']}",
                    "uid": "s",
                    "controller": True,
                }
            ]
    if random.random() < 0.04:
        spec["volumes"] = [{"name": "v", "persistentVolumeClaim": {"claimName": "alone"}}]
    elif random.random() < 0.03:
        spec["volumes"] = [
            {"name": "v", "iscsi": {"targetPortal": "t", "iqn": "i", "lun": 0, "readOnly": random.random() < 0.5}}
        ]
    return {"metadata": meta, "spec": spec}


def question(random: Random) -> Json:
    """A cluster and a pod for it."""
    nodes = [_node(random, number) for number in range(random.randint(2, 7))]
    pods = [
        _pod(random, f"p{number}", random.choice(nodes)["metadata"]["name"]) for number in range(random.randint(0, 16))
    ]
    namespaces = [{"metadata": {"name": "default"}}, {"metadata": {"name": "shop", "labels": {"team": "shop"}}}]
    sets = [
        {
            "metadata": {"name": f"set-{app}", "namespace": namespace},
            "spec": {"selector": {"matchLabels": {"app": app}}},
        }
        for app in APPS
        for namespace in ("default", "shop")
    ]
    services = [
        {"metadata": {"name": f"to-{number}", "namespace": "default"}, "spec": {"selector": {key: value}}}
        for number, (key, value) in enumerate((("app", "a"), ("hash", "1")))
        if random.random() < 0.3
    ]
    claims = [
        {
            "metadata": {
                "name": "alone",
                "namespace": namespace,
                "annotations": {"pv.kubernetes.io/bind-completed": "yes"},
            },
            "spec": {"accessModes": ["ReadWriteOncePod"], "volumeName": f"pv-{namespace}"},
            "status": {"phase": "Bound"},
        }
        for namespace in ("default", "shop")
    ]
    volumes = [
        {
            "metadata": {"name": f"pv-{namespace}"},
            "spec": {"claimRef": {"name": "alone", "namespace": namespace}, "accessModes": ["ReadWriteOncePod"]},
        }
        for namespace in ("default", "shop")
    ]
    pod = _pod(random, "asking", None)
    return {
        "nodes": nodes,
        "pods": pods,
        "namespaces": namespaces,
        "services": services,
        "replicaSets": sets,
        "claims": claims,
        "volumes": volumes,
        "pod": pod,
    }


def answer(asked: Json, version: Version) -> Json:
    """What we say: by node the reasons why it does not take the pod, or its scores by plugin, those of NodeResources added up."""
    kinds = {"PersistentVolumeClaim": "claims", "PersistentVolume": "volumes", "ReplicaSet": "replicaSets"}

    def find(kind: str, name: str, namespace: str) -> Json | None:
        listed: Sequence[Json] = asked.get(kinds.get(kind, ""), ())
        return next(
            (
                each
                for each in listed
                if (each["metadata"]["name"], each["metadata"].get("namespace", "")) == (name, namespace)
            ),
            None,
        )

    infos = [
        NodeInfo(node, [pod for pod in asked["pods"] if pod["spec"]["nodeName"] == node["metadata"]["name"]])
        for node in asked["nodes"]
    ]
    pod = asked["pod"]
    filters = Filters.for_pod(pod, infos, PodVolumes.for_pod(pod, find), asked["namespaces"], version)
    failures = {info.name: filters.failure(info) for info in infos}
    fitting = [info for info in infos if failures[info.name] is None]
    siblings = sibling_selector(pod, asked["services"], find)
    given = scores(filters, infos, fitting, version, siblings) if fitting else {}
    return {
        "refused": {
            name: sorted([*map(_worded, each.reasons), *([HELPLESS] if each.helpless else [])])
            for name, each in failures.items()
            if each is not None
        },
        "scores": {
            name: [each.taints, each.affinity, each.allocation, each.spread, each.together]
            for name, each in given.items()
        },
    }


def _worded(reason: str) -> str:
    return f"{UNTOLERATED_TAINT}(s)" if reason.startswith(UNTOLERATED_TAINT) else reason


_PLUGINS = (
    ("TaintToleration",),
    ("NodeAffinity",),
    ("NodeResourcesFit", "NodeResourcesBalancedAllocation"),
    ("PodTopologySpread",),
    ("InterPodAffinity",),
)


def heard(said: Json) -> Json:
    """Returns an answer of the real plugins in the form that ours have."""
    return {
        "refused": {name: sorted(reasons) for name, reasons in said["refused"].items()},
        "scores": {
            name: [sum(each.get(plugin, 0) for plugin in group) for group in _PLUGINS]
            for name, each in said["scores"].items()
        },
    }


RECORDED = Path(__file__).with_name("kube_scheduler.jsonl.gz")


def recorded() -> list[tuple[Json, Json, Version]]:
    """Questions, what Go said, and under which version of Kubernetes."""
    lines = gzip.decompress(RECORDED.read_bytes()).decode().splitlines()
    return [(asked, said, Version.parse(version)) for asked, said, version in map(json.loads, lines)]


def record(questions: Path, answers: Path, version: str) -> None:
    """Adds Go's answers under a version of Kubernetes to the recorded ones, in the place of those that it had."""
    known = [each for each in recorded() if str(each[2]) != version] if RECORDED.exists() else []
    lines = [[asked, said, str(under)] for asked, said, under in known]
    for question_line, answer_line in zip(
        *(path.read_text().splitlines() for path in (questions, answers)), strict=True
    ):
        lines.append([json.loads(question_line), heard(json.loads(answer_line)), version])
    text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
    RECORDED.write_bytes(gzip.compress(text.encode(), mtime=0))


def main(arguments: Sequence[str]) -> None:
    """Prints questions (COUNT SEED), or records answers (--record QUESTIONS ANSWERS VERSION)."""
    if arguments[0] == "--record":
        record(Path(arguments[1]), Path(arguments[2]), arguments[3])
        return
    random = Random(int(arguments[1]))
    for _ in range(int(arguments[0])):
        print(json.dumps(question(random), separators=(",", ":")))


if __name__ == "__main__":
    main(sys.argv[1:])
