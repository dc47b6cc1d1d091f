"""What a run came to, as the expectations that say so: the `then` of a scenario that was made by a program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.kube.api.objects import short_name
from harness.scenario.running.checks.pods import sentence
from harness.scenario.running.run import Run
from harness.world.refused import is_mistake

__all__ = ["stated"]

_FEW = 3
_LONGEST = 160  # characters of Karpenter's sentence


def stated(run: Run, named: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Expectations that hold in this run: refusals, how many pods are bound and pending, and of `named` pods where or why not.

    Up to three pending pods of the files are named, too; names of pods that a workload makes are drawn.
    """
    found: list[dict[str, Any]] = []
    for refusal in run.refusals:
        one = refusal.rejection
        if not is_mistake(one):
            continue
        text = {
            "object": refusal.manifest.reference if refusal.manifest is not None else one.object,
            "layer": str(one.layer),
            **({"key": one.key} if one.key else {"path": one.path} if one.path else {}),
        }
        if {"rejected": text} not in found:
            found.append({"rejected": text})
    if run.runaways:
        found.append({"runaway": {}})
    pods = run.world.list("Pod")
    pending = [pod for pod in pods if not (pod.get("spec") or {}).get("nodeName")]
    if pods or not found:
        found.append({"pods": {"bound": len(pods) - len(pending), "pending": len(pending)}})
    own = {
        (manifest.namespace or "default", manifest.name) for manifest in run.case.manifests if manifest.kind == "Pod"
    }
    waiting = [
        pod for pod in pending if (pod["metadata"].get("namespace") or "default", pod["metadata"]["name"]) in own
    ]
    told = [pod for pod in waiting if short_name(pod) in named] or (waiting if len(waiting) <= _FEW else [])
    reasons = {short_name(pod): _reason(pod, run) for pod in told}
    if reasons:
        found.append({"pods": {"pending": reasons if all(reasons.values()) else list(reasons)}})
    return found


def _reason(pod: Mapping[str, Any], run: Run) -> Any:
    """Karpenter's sentence, as far as it is about causes; empty where it said nothing."""
    said = sentence(pod, run)
    cause = said.partition(", requirements=")[0]
    if not cause or (cause == said and len(said) <= _LONGEST):
        return cause
    return {"contains": cause[:_LONGEST].rpartition(" ")[0] if len(cause) > _LONGEST else cause}
