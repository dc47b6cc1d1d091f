"""The outcome of a run as expectations: the `then` of a scenario that was made by a program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.kube.api.objects import short_name
from harness.scenario.expectations.pods import sentence
from harness.scenario.running.run import Run
from harness.world.refused import is_mistake

__all__ = ["stated"]

_FEW = 3
_LONGEST = 160  # characters of Karpenter's sentence


def stated(run: Run, named: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Return expectations that hold in this run: refusals, the numbers of bound and pending pods, and the place or reason of `named` pods.

    Up to three pending pods of the files are named, too; names of pods that a workload makes are drawn.
    """
    expectations: list[dict[str, Any]] = []
    for refusal in run.refusals:
        rejection = refusal.rejection
        if not is_mistake(rejection):
            continue
        text = {
            "object": refusal.manifest.reference if refusal.manifest is not None else rejection.object,
            "layer": str(rejection.layer),
            **({"key": rejection.key} if rejection.key else {"path": rejection.path} if rejection.path else {}),
        }
        if {"rejected": text} not in expectations:
            expectations.append({"rejected": text})
    if run.runaways:
        expectations.append({"runaway": {}})
    pods = run.world.list("Pod")
    pending = [pod for pod in pods if not (pod.get("spec") or {}).get("nodeName")]
    if pods or not expectations:
        expectations.append({"pods": {"bound": len(pods) - len(pending), "pending": len(pending)}})
    own = {
        (manifest.namespace or "default", manifest.name) for manifest in run.case.manifests if manifest.kind == "Pod"
    }
    waiting = [
        pod for pod in pending if (pod["metadata"].get("namespace") or "default", pod["metadata"]["name"]) in own
    ]
    named_pods = [pod for pod in waiting if short_name(pod) in named] or (waiting if len(waiting) <= _FEW else [])
    reasons = {short_name(pod): _reason(pod, run) for pod in named_pods}
    if reasons:
        expectations.append({"pods": {"pending": reasons if all(reasons.values()) else list(reasons)}})
    return expectations


def _reason(pod: Mapping[str, Any], run: Run) -> Any:
    """Return Karpenter's sentence, as far as it is about causes; empty where there is none."""
    words = sentence(pod, run)
    cause = words.partition(", requirements=")[0]
    if not cause or (cause == words and len(words) <= _LONGEST):
        return cause
    return {"contains": cause[:_LONGEST].rpartition(" ")[0] if len(cause) > _LONGEST else cause}
