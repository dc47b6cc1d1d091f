"""Reasons why pods run or wait."""

from __future__ import annotations

from collections.abc import Sequence

from harness.explain.pods.render import as_text
from harness.explain.pods.unused import refused_lines
from harness.kube.api.objects import shorter, spec_of
from harness.scenario.language.models.base import WORKLOADS
from harness.scenario.running.reasons.failed_expectation import ITEMS, PODS, FailedExpectation, pod_key

__all__ = ["failure_lines", "named", "running", "waiting"]


def failure_lines(failure: FailedExpectation) -> list[str]:
    """Return, for pods that wait, Karpenter's and Azure's reasons and the change that would help; for running ones, the decision."""
    key, _, name = failure.part.partition(".")
    pods = named(failure, name) if name else _all(failure)
    on_nodes = {pod_key(pod) for pod in failure.run.world.list("Pod") if spec_of(pod).get("nodeName")}
    if key == "pending" and (name or not set(pods) - on_nodes):
        lines = running(failure, [pod for pod in pods if pod in on_nodes])
        return lines or waiting(failure, pods)
    waits = [pod for pod in pods if pod not in on_nodes]
    lines = waiting(failure, waits) if waits else running(failure, pods)
    lines = [*_refused(failure, name), *lines]
    return lines or [f"nobody applied or made Pod/{shorter(pod)}" for pod in pods[:PODS]]


def _refused(failure: FailedExpectation, name: str) -> list[str]:
    """Return why workloads get fewer pods than they want: all of them, or the one in question."""
    kind, bare = name.partition("/")[0], name.rpartition("/")[2]
    return [line for line in refused_lines(failure.run.world) if not name or line.startswith(f"{kind}/{bare} ")]


def _all(failure: FailedExpectation) -> list[str]:
    """Return the pods that the expectation names, or else all of them."""
    parts = (getattr(failure.body, key, None) for key in ("bound", "pending"))
    names = [name for part in parts if isinstance(part, (list, dict)) for name in part]
    return [pod for name in names for pod in named(failure, name)] or [
        pod_key(pod) for pod in failure.run.world.list("Pod")
    ]


def named(failure: FailedExpectation, name: str) -> list[str]:
    """Return the pods that a name or a workload stands for, as `namespace/name`."""
    if name.partition("/")[0] in WORKLOADS:
        return [pod_key(pod) for pod in failure.run.pods_of(name)]
    return [name if "/" in name else f"default/{name}"]


def running(failure: FailedExpectation, pods: Sequence[str]) -> list[str]:
    """Return the Nodes of pods, with the time and the reason of the binding."""
    lines = [line for pod in pods[:PODS] for line in failure.why.runs(pod)]
    return [*dict.fromkeys(lines), *([f"… and {len(pods) - PODS} more pods"] if len(pods) > PODS else [])]


def waiting(failure: FailedExpectation, pods: Sequence[str]) -> list[str]:
    """Return Azure's refusals first, then Karpenter's sentence with the smallest change that would help; for gone pods, the time of their
    end."""
    there = {pod_key(pod) for pod in failure.run.world.list("Pod")}
    gone = [line for pod in pods if pod not in there for line in failure.why.gone(pod)][:ITEMS]
    lines = list(dict.fromkeys(line for pod in pods[:PODS] if pod in there for line in failure.why.waits(pod)))
    if failure.run.explainer is None:
        return [*gone, *lines]
    wanted = set(pods)
    explained = [failure.run.explainer.pod(pod) for pod in failure.run.world.list("Pod") if pod_key(pod) in wanted]
    explanation = [line.rstrip() for line in as_text(explained).splitlines() if line.strip()] if explained else []
    own_lines = [line for line in lines if " said: " not in line] if explanation else lines
    return [*gone, *own_lines, *explanation]
