"""Why pods run or wait."""

from __future__ import annotations

from collections.abc import Sequence

from harness.explain.pods.render import as_text
from harness.explain.pods.unused import refused_lines
from harness.kube.api.objects import shorter, spec_of
from harness.scenario.language.models.base import WORKLOADS
from harness.scenario.running.reasons.asked import ITEMS, PODS, Asked, pod_key

__all__ = ["named", "running", "tell", "waiting"]


def tell(asked: Asked) -> list[str]:
    """Of pods that wait, what Karpenter and Azure said and what would help; of those that run, which decision led there."""
    key, _, name = asked.part.partition(".")
    pods = named(asked, name) if name else _all(asked)
    on_nodes = {pod_key(pod) for pod in asked.run.world.list("Pod") if spec_of(pod).get("nodeName")}
    if key == "pending" and (name or not set(pods) - on_nodes):
        found = running(asked, [pod for pod in pods if pod in on_nodes])
        return found or waiting(asked, pods)
    waits = [pod for pod in pods if pod not in on_nodes]
    found = waiting(asked, waits) if waits else running(asked, pods)
    found = [*_refused(asked, name), *found]
    return found or [f"nobody applied or made Pod/{shorter(pod)}" for pod in pods[:PODS]]


def _refused(asked: Asked, name: str) -> list[str]:
    """Return why workloads get fewer pods than they want: all of them, or the one that is asked about."""
    kind, bare = name.partition("/")[0], name.rpartition("/")[2]
    return [line for line in refused_lines(asked.run.world) if not name or line.startswith(f"{kind}/{bare} ")]


def _all(asked: Asked) -> list[str]:
    """The pods that the expectation names, or else all that there are."""
    said = (getattr(asked.body, key, None) for key in ("bound", "pending"))
    names = [name for one in said if isinstance(one, (list, dict)) for name in one]
    return [pod for name in names for pod in named(asked, name)] or [
        pod_key(pod) for pod in asked.run.world.list("Pod")
    ]


def named(asked: Asked, name: str) -> list[str]:
    """The pods that a name or a workload stands for, as `namespace/name`."""
    if name.partition("/")[0] in WORKLOADS:
        return [pod_key(pod) for pod in asked.run.pods_of(name)]
    return [name if "/" in name else f"default/{name}"]


def running(asked: Asked, pods: Sequence[str]) -> list[str]:
    """Which Nodes pods are on, since when and why."""
    told = [line for pod in pods[:PODS] for line in asked.why.runs(pod)]
    return [*dict.fromkeys(told), *([f"… and {len(pods) - PODS} more pods"] if len(pods) > PODS else [])]


def waiting(asked: Asked, pods: Sequence[str]) -> list[str]:
    """What Azure refused first, then Karpenter's sentence with the smallest change that would help; of pods that are gone, when."""
    there = {pod_key(pod) for pod in asked.run.world.list("Pod")}
    gone = [line for pod in pods if pod not in there for line in asked.why.gone(pod)][:ITEMS]
    lines = list(dict.fromkeys(line for pod in pods[:PODS] if pod in there for line in asked.why.waits(pod)))
    if asked.run.explainer is None:
        return [*gone, *lines]
    wanted = set(pods)
    explained = [asked.run.explainer.pod(pod) for pod in asked.run.world.list("Pod") if pod_key(pod) in wanted]
    told = [line.rstrip() for line in as_text(explained).splitlines() if line.strip()] if explained else []
    said = [line for line in lines if " said: " not in line] if told else lines
    return [*gone, *said, *told]
