"""`pods`: running pods, waiting ones, and Karpenter's sentence about these."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from harness.karpenter.labels.core import NODEPOOL
from harness.kube.api.objects import short_name
from harness.reading.problems import Mark, did_you_mean
from harness.scenario.language.cases import Entry
from harness.scenario.language.models.base import WORKLOADS
from harness.scenario.language.models.observed import Pods
from harness.scenario.running.checks.counts import count_differences
from harness.scenario.running.matching import Difference, differences
from harness.scenario.running.run import Run
from harness.scenario.running.verdicts import Verdict

__all__ = ["check", "sentence"]


def check(body: Pods, entry: Entry, run: Run) -> Iterator[Verdict]:
    """Yield one verdict for each count, and for each pod that is named."""
    pods = {short_name(pod): pod for pod in run.world.list("Pod")}
    bound = {name: pod for name, pod in pods.items() if pod.get("spec", {}).get("nodeName")}
    waiting = {name: pod for name, pod in pods.items() if name not in bound}
    for key, wanted, there in (("bound", body.bound, bound), ("pending", body.pending, waiting)):
        if wanted is None:
            continue
        label = f"{entry.label}.{key}"
        if not wanted or not isinstance(wanted, (list, dict)):
            count = 0 if isinstance(wanted, (list, dict)) else wanted
            wrong = count_differences(count, len(there))
            yield Verdict.compared(
                label, entry.mark(key), [replace(difference, note=_waiting(waiting, run)) for difference in wrong]
            )
        for index, name in enumerate(wanted if isinstance(wanted, (list, dict)) else ()):
            mark = entry.mark(key, index if isinstance(wanted, list) else name)
            value = wanted[name] if isinstance(wanted, dict) else None
            if name.startswith(_WORKLOAD):
                yield _workload(f"{label}.{name}", mark, name, key, value, run)
            elif name.removeprefix("default/") not in there:
                yield Verdict.failed(f"{label}.{name}", mark, f"Pod/{name} {key}", _state(name, pods, run))
            else:
                pod = there[name.removeprefix("default/")]
                yield Verdict.compared(f"{label}.{name}", mark, _differences(key, value, pod, run))


def _waiting(pods: Mapping[str, Any], run: Run) -> str:
    """Return the first pods that wait, each with its reason; empty when none does."""
    reasons = [f"{name}: {sentence(pod, run) or _schedulers(pod, run)}" for name, pod in list(pods.items())[:_FEW]]
    more = f"; and {len(pods) - _FEW} more" if len(pods) > _FEW else ""
    return f"pending are {'; '.join(reasons)}{more}" if reasons else ""


_FEW = 3

_WORKLOAD = tuple(f"{kind}/" for kind in WORKLOADS)


def _workload(label: str, mark: Mark, name: str, key: str, value: Any, run: Run) -> Verdict:
    """Return the verdict on all pods of a workload: all are bound, or pending, and each as expected."""
    pods = run.pods_of(name)
    if not pods:
        return Verdict.failed(label, mark, f"pods of {name} {key}", "it has no pods")
    others = [pod for pod in pods if bool(pod.get("spec", {}).get("nodeName")) != (key == "bound")]
    if others:
        first = short_name(others[0])
        actual = f"{len(others)} of its {len(pods)} are not: {first}, {_state(first, {first: others[0]}, run)}"
        return Verdict.failed(label, mark, f"all pods of {name} {key}", actual)
    for pod in pods:
        wrong = _differences(key, value, pod, run)
        if wrong:
            note = f"pod {short_name(pod)}"
            return Verdict.compared(
                label,
                mark,
                [Difference(difference.path, difference.expected, difference.actual, note) for difference in wrong],
            )
    return Verdict(label, mark)


def _differences(key: str, value: Any, pod: Mapping[str, Any], run: Run) -> list[Difference]:
    if value is None:
        return []
    return differences(value, _nodepool(pod, run) if key == "bound" else sentence(pod, run))


def _nodepool(pod: Mapping[str, Any], run: Run) -> str:
    node = run.world.get("Node", pod["spec"]["nodeName"], "")
    labels = (node or {}).get("metadata", {}).get("labels") or {}
    return str(labels.get(NODEPOOL, "a Node of no NodePool"))


def sentence(pod: Mapping[str, Any], run: Run) -> str:
    """Return Karpenter's sentence why it cannot schedule this pod; empty when there is none."""
    return _last_word(pod, run, "karpenter").removeprefix("Failed to schedule pod, ")


def _schedulers(pod: Mapping[str, Any], run: Run) -> str:
    words = _last_word(pod, run, "default-scheduler")
    return f"Karpenter said nothing, kube-scheduler {words}" if words else "nobody said why"


def _last_word(pod: Mapping[str, Any], run: Run, source: str) -> str:
    name, namespace = pod["metadata"]["name"], pod["metadata"].get("namespace") or "default"
    for event in reversed(run.world.events):
        about = event.object.kind == "Pod" and (event.object.name, event.object.namespace) == (name, namespace)
        if about and event.reason == "FailedScheduling" and event.source == source:
            return event.message
    return ""


def _state(name: str, pods: Mapping[str, Any], run: Run) -> str:
    pod = pods.get(name.removeprefix("default/"))
    if pod is None:
        owners = [f"{kind}/{name}" for kind in WORKLOADS if run.find(f"{kind}/{name}") is not None]
        hint = f"all those of a workload are '{owners[0]}'" if owners else did_you_mean(name, pods)
        return f"no such pod; {hint}" if hint else "no such pod"
    if pod.get("spec", {}).get("nodeName"):
        return f"it runs on {pod['spec']['nodeName']} of NodePool {_nodepool(pod, run)}"
    reason = sentence(pod, run)
    return f"it is pending: {reason}" if reason else "it is pending"
