"""Where pods want to be: node affinity, pod affinity and anti-affinity, topology spread."""

from __future__ import annotations

from collections.abc import Sequence

from tests.conformance.cases.clusters.scene import (
    ARCH,
    CAPACITY,
    FAMILY,
    HOST,
    NODEPOOL,
    REGION,
    SIZE,
    ZONE,
    Json,
    Scene,
    node_requirement,
)
from tests.conformance.cases.draw import Draw

__all__ = ["affinity", "node_affinity", "node_selector", "spread_constraints"]

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def node_selector(draw: Draw, scene: Scene) -> Json:
    """One or two labels."""
    found: Json = {}
    for _ in range(draw.choice([1, 1, 1, 1, 2])):
        found.update(
            draw.choice(
                [
                    {ZONE: draw.choice(scene.zones)},
                    {CAPACITY: draw.choice(["spot", "on-demand"])},
                    {ARCH: draw.choice(["amd64", "arm64"])},
                    {"team": draw.choice(["red", "blue", "green"])},
                    {FAMILY: draw.choice(["D", "E", "F"])},
                    {NODEPOOL: "np0"},
                    {HOST: draw.choice(["x", "node0"])},
                    {"foo": "bar"},
                    {"kubernetes.azure.com/mode": draw.choice(["user", "system"])},
                    {"topology.disk.csi.azure.com/zone": draw.choice(scene.zones)},
                    {"kubernetes.io/os": draw.choice(["linux", "linux", "windows"])},
                ]
            )
        )
    return found


def _term(draw: Draw, scene: Scene) -> Json:
    term: Json = {"matchExpressions": [node_requirement(draw, scene, of_pod=True) for _ in range(draw.randint(1, 2))]}
    if draw.chance(0.01):
        term["matchFields"] = [{"key": "metadata.name", "operator": "In", "values": ["node0"]}]
    return term


def node_affinity(draw: Draw, scene: Scene, *, required: float, preferred: float) -> Json:
    """Node affinity, whose parts are there with the given probabilities."""
    found: Json = {}
    if draw.chance(required):
        found[REQUIRED] = {"nodeSelectorTerms": [_term(draw, scene) for _ in range(draw.choice([1, 1, 2, 3]))]}
    if draw.chance(preferred):
        count = draw.choice([1, 2, 3, 3, 3, 14]) if draw.chance(0.1) else draw.randint(1, 3)
        weights = draw.choices((1, 10, 100), k=count) if draw.chance(0.2) else draw.sample(range(1, 101), count)
        found[PREFERRED] = [
            {"weight": weight, "preference": {"matchExpressions": [node_requirement(draw, scene, of_pod=True)]}}
            for weight in weights
        ]
    return found


def _selector(draw: Draw, app: str) -> Json:
    return draw.choice(
        [{"matchLabels": {"app": app}}] * 8
        + [
            {"matchExpressions": [{"key": "app", "operator": "In", "values": [app, "zzz"]}]},
            {"matchExpressions": [{"key": "app", "operator": "In", "values": [app, "zzz"]}]},
            {"matchExpressions": [{"key": "tier", "operator": "Exists"}]},
            {"matchExpressions": [{"key": "tier", "operator": "DoesNotExist"}]},
            {"matchLabels": {"app": app}, "matchExpressions": [{"key": "tier", "operator": "NotIn", "values": ["db"]}]},
            {},
            {},
        ]
    )


def _topology_key(draw: Draw, usual: Sequence[str]) -> str:
    unusual = ["team", REGION, SIZE, ARCH, NODEPOOL, "tier", FAMILY, "failure-domain.beta.kubernetes.io/zone"]
    return draw.choice(unusual if draw.chance(0.08) else usual)


def _pod_term(draw: Draw, scene: Scene, app: str) -> Json:
    term: Json = {
        "topologyKey": _topology_key(draw, [ZONE, ZONE, HOST, HOST, CAPACITY]),
        "labelSelector": _selector(draw, draw.choice([app, app, draw.choice(scene.apps)])),
    }
    if draw.chance(0.07):
        term["namespaces"] = draw.choice([["other"], ["default", "other"]])
    if draw.chance(0.05):
        term["namespaceSelector"] = draw.choice([{}, {"matchLabels": {"env": "prod"}}, {"matchLabels": {"env": "x"}}])
    if draw.chance(0.02):
        del term["labelSelector"]
    return term


def affinity(draw: Draw, scene: Scene, app: str) -> Json:
    """A pod's affinity: to nodes, to pods, against pods; often none."""
    found: Json = {}
    nodes = node_affinity(draw, scene, required=0.25, preferred=0.25)
    if nodes:
        found["nodeAffinity"] = nodes
    for field, probability in (("podAffinity", 0.2), ("podAntiAffinity", 0.22)):
        if not draw.chance(probability):
            continue
        terms: Json = {}
        if draw.chance(0.65):
            terms[REQUIRED] = [_pod_term(draw, scene, app) for _ in range(draw.choice([1, 1, 1, 2]))]
        if not terms or draw.chance(0.1):
            count = draw.choice([1, 1, 1, 1, 2, 2, 2, 5, 9])
            weights = draw.choices((1, 50), k=count) if draw.chance(0.2) else draw.sample(range(1, 101), count)
            terms[PREFERRED] = [
                {"weight": weight, "podAffinityTerm": _pod_term(draw, scene, app)} for weight in weights
            ]
        found[field] = terms
    return found


def spread_constraints(draw: Draw, scene: Scene, app: str) -> list[Json]:
    """One or two constraints, seldom more; those on one key differ in whether they may be given up."""
    found: list[Json] = []
    for usual in draw.choices([ZONE, ZONE, HOST, CAPACITY, "team"], k=draw.choice([1, 1, 1, 1, 1, 1, 2, 2, 3, 5])):
        key = _topology_key(draw, [usual])
        made: Json = {
            "maxSkew": draw.choice([1, 1, 1, 2, 3]),
            "topologyKey": key,
            "whenUnsatisfiable": draw.choice(["DoNotSchedule", "DoNotSchedule", "ScheduleAnyway"]),
            "labelSelector": _selector(draw, app),
        }
        if made["whenUnsatisfiable"] == "DoNotSchedule" and draw.chance(0.12):
            made["minDomains"] = draw.randint(1, 5)
        if draw.chance(0.12):
            made["nodeTaintsPolicy"] = draw.choice(["Honor", "Ignore"])
        if draw.chance(0.12):
            made["nodeAffinityPolicy"] = draw.choice(["Honor", "Ignore"])
        if draw.chance(0.1) and made["labelSelector"]:
            made["matchLabelKeys"] = draw.choice([["tier"], ["version"], ["tier", "version"], ["absent"]])
        elif draw.chance(0.03):
            del made["labelSelector"]
        if not any(
            (each["topologyKey"], each["whenUnsatisfiable"]) == (key, made["whenUnsatisfiable"]) for each in found
        ):
            found.append(made)
    return found
