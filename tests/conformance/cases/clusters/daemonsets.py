"""DaemonSets, whose pods take room on every node that they run on."""

from __future__ import annotations

from tests.conformance.cases.clusters.constraints import node_affinity
from tests.conformance.cases.clusters.scene import ARCH, FAMILY, TOLERATIONS, Json, Scene
from tests.conformance.cases.draw import Draw

__all__ = ["daemonsets"]


def daemonsets(draw: Draw, scene: Scene) -> list[Json]:
    """None to three; some with pods that run already are called ``ds0`` (see nodes.py)."""
    return [_daemonset(draw, scene, number) for number in range(draw.choice([0, 0, 1, 2, 2, 3]))]


def _daemonset(draw: Draw, scene: Scene, number: int) -> Json:
    requests = {"cpu": draw.choice(["50m", "100m", "1"]), "memory": draw.choice(["64Mi", "200Mi"])}
    container: Json = {"name": "c", "image": "i", "resources": {"requests": requests}}
    spec: Json = {"containers": [container]}
    if draw.chance(0.05):
        container["resources"] = draw.choice(
            [{}, {"limits": requests}, {"requests": {"nvidia.com/gpu": "1"}}, {"requests": {"example.com/device": "1"}}]
        )
    if draw.chance(0.05):
        spec["initContainers"] = [{"name": "i", "image": "i", "resources": {"limits": {"cpu": "2"}}}]
        if draw.chance(0.5):
            spec["initContainers"][0]["restartPolicy"] = "Always"
    if draw.chance(0.03):
        spec["resources"] = {"requests": {"cpu": "1500m"}}
    if draw.chance(0.03):
        spec["overhead"] = {"cpu": "100m"}
    if draw.chance(0.5):
        spec["tolerations"] = [{"operator": "Exists"}] if draw.chance(0.8) else draw.some(TOLERATIONS, 1, 2)
    if draw.chance(0.25):
        spec["nodeSelector"] = draw.choice(
            [
                {ARCH: "amd64"},
                {FAMILY: "D"},
                {"team": "red"},
                {"karpenter.sh/initialized": "true"},
                {"karpenter.sh/registered": "true"},
            ]
        )
    affinity = node_affinity(draw, scene, required=0.2, preferred=0.05)
    if affinity:
        spec["affinity"] = {"nodeAffinity": affinity}
    if draw.chance(0.1):
        container["ports"] = [{"containerPort": 8080, "hostPort": draw.choice([8080, 9090]), "protocol": "TCP"}]
    if draw.chance(0.03):
        container["resources"]["claims"] = [{"name": "gpu"}]
    labels = {"d": str(number)}
    return {
        "metadata": {"name": f"ds{number}", "namespace": "kube-system", "uid": f"ds{number}"},
        "spec": {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": spec}},
    }
