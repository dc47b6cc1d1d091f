"""Volumes of pods: bound, to be bound, shared, ephemeral, in other zones, or unusable in one of the ways that Karpenter tells."""

from __future__ import annotations

from collections.abc import Callable

from tests.conformance.cases.clusters.scene import HOST, STARTED, ZONE, Json, Scene
from tests.conformance.cases.draw import Draw

__all__ = ["csinodes", "volume_drawer"]

DISK_ZONE = "topology.disk.csi.azure.com/zone"
DISK, FILE = "disk.csi.azure.com", "file.csi.azure.com"
BOUND = {"pv.kubernetes.io/bind-completed": "yes"}


def volume_drawer(draw: Draw, scene: Scene, namespace: str, *, run: bool = False) -> Callable[[str], list[Json]]:
    """Draws the volumes of one workload's pods, by the pod's name; their claims, volumes and classes are added to the scene.

    Those of pods that `run` can be used.
    """
    kinds = [draw.choice(["claim", "claim", "claim", "shared", "ephemeral"]) for _ in range(draw.choice([1, 1, 1, 2]))]
    bound, broken = draw.chance(0.5), not run and draw.chance(0.12)
    shared = f"shared-{len(scene.claims)}"

    def volumes_of(pod: str) -> list[Json]:
        found: list[Json] = []
        for number, kind in enumerate(kinds):
            name = f"v{number}"
            if kind == "ephemeral":
                claim = f"{pod}-{name}"
                found.append({"name": name, "ephemeral": {"volumeClaimTemplate": {"spec": {}}}})
            else:
                claim = f"{shared}-{name}" if kind == "shared" else f"pvc-{pod}-{name}"
                found.append({"name": name, "persistentVolumeClaim": {"claimName": claim}})
            known = any(
                (each["metadata"]["namespace"], each["metadata"]["name"]) == (namespace, claim) for each in scene.claims
            )
            if not known:
                _add_claim(draw, scene, namespace, claim, bound=bound, broken=broken and draw.chance(0.5))
        if draw.chance(0.1):
            found.append({"name": "scratch", "emptyDir": {}})
        return found

    return volumes_of


def _add_claim(draw: Draw, scene: Scene, namespace: str, name: str, *, bound: bool, broken: bool) -> None:
    claim: Json = {
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }
    class_name = _class(draw, scene)
    claim["spec"]["storageClassName"] = class_name
    volume = None
    if bound:
        claim["metadata"]["annotations"] = dict(BOUND)
        claim["spec"]["volumeName"] = f"pv-{namespace}-{name}"
        volume = _volume(draw, scene, claim["spec"]["volumeName"])
    if broken:
        volume = _break(draw, scene, claim, volume)
        if draw.chance(0.1):
            return  # the claim does not exist
    scene.claims.append(claim)
    if volume is not None:
        scene.volumes.append(volume)


def _break(draw: Draw, scene: Scene, claim: Json, volume: Json | None) -> Json | None:
    """Makes the claim unusable; returns the volume that is left."""
    deleted = {"deletionTimestamp": STARTED, "finalizers": ["example.com/kept"]}
    c = draw.randrange(6)
    if c == 0:
        claim["metadata"].update(deleted)
    elif c == 1:
        claim["status"] = {"phase": "Lost"}
    elif c == 2:
        claim["spec"]["storageClassName"] = draw.choice(["", "missing", "immediate"])
        scene.classes["immediate"] = {
            "metadata": {"name": "immediate"},
            "provisioner": DISK,
            "volumeBindingMode": "Immediate",
        }
    elif c == 3:
        claim["metadata"].pop("annotations", None)
    elif c == 4 and volume is not None:
        volume["metadata"].update(deleted)
    else:
        return None
    return volume


def _class(draw: Draw, scene: Scene) -> str:
    name = draw.choice(["sc", "sc", "sc", "sc-other", "sc-old"])
    if name not in scene.classes:
        made: Json = {
            "metadata": {"name": name},
            "provisioner": {"sc": DISK, "sc-other": FILE, "sc-old": "kubernetes.io/azure-disk"}[name],
            "volumeBindingMode": "WaitForFirstConsumer",
        }
        if draw.chance(0.4):
            made["allowedTopologies"] = [
                {"matchLabelExpressions": [{"key": _zone_key(draw), "values": draw.some(scene.zones, 1, 2)}]}
                for _ in range(draw.choice([1, 1, 2, 3]))
            ]
        scene.classes[name] = made
    return name


def _zone_key(draw: Draw) -> str:
    return draw.choice([DISK_ZONE, DISK_ZONE, DISK_ZONE, ZONE, "failure-domain.beta.kubernetes.io/zone"])


def _volume(draw: Draw, scene: Scene, name: str) -> Json:
    spec: Json = draw.choice(
        [
            {"csi": {"driver": DISK, "volumeHandle": f"h-{name}"}},
            {"csi": {"driver": DISK, "volumeHandle": f"h-{name}"}},
            {"csi": {"driver": FILE, "volumeHandle": f"h-{name}"}},
            {"local": {"path": "/mnt"}},
            {"hostPath": {"path": "/mnt"}},
            {"azureDisk": {"diskName": "d", "diskURI": "u"}},
        ]
    )
    wanted: list[list[Json]] = []
    if "local" in spec or "hostPath" in spec:
        wanted = [[{"key": HOST, "operator": "In", "values": [draw.choice(["node0", "gone"])]}]]
        if draw.chance(0.4):
            wanted[0].append({"key": ZONE, "operator": "In", "values": [draw.choice(scene.zones)]})
    elif draw.chance(0.8):
        zones = draw.some(scene.zones[:3], 1, 2)
        wanted = [[{"key": _zone_key(draw), "operator": "In", "values": [zone]}] for zone in (*zones, "")]
        if draw.chance(0.3):
            wanted.reverse()
        if draw.chance(0.3):
            wanted = wanted[:1]
        if draw.chance(0.1):
            wanted[0].append({"key": "team", "operator": draw.choice(["In", "NotIn"]), "values": ["red"]})
    if wanted:
        terms: list[Json] = [{"matchExpressions": expressions} for expressions in wanted]
        if draw.chance(0.1):
            fields = [{"key": "metadata.name", "operator": "In", "values": ["node0"]}]
            terms.insert(draw.choice((0, len(terms))), draw.choice(({}, {"matchFields": fields})))
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": terms}}
    return {"metadata": {"name": name}, "spec": spec}


def csinodes(draw: Draw, nodes: list[Json]) -> list[Json]:
    """How many volumes of a driver some of the nodes can attach."""
    found = []
    for node in nodes:
        if draw.chance(0.5):
            continue
        drivers = [
            {
                "name": driver,
                "nodeID": "n",
                "topologyKeys": None,
                **({"allocatable": {"count": draw.choice([0, 1, 2, 4])}} if draw.chance(0.8) else {}),
            }
            for driver in draw.some([DISK, FILE], 1, 2)
        ]
        found.append({"metadata": {"name": node["metadata"]["name"]}, "spec": {"drivers": drivers}})
    return found
