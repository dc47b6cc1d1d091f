"""The cluster autoscaler's profile as the disruption settings of a NodePool, and what of it has no equivalent."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from harness.clusterautoscaler.profile import DEFAULTS
from harness.migrate.proposing.rows import AUTOSCALER_POOL, Row, Verdict
from lazyrecords import dataclass

__all__ = ["autoscaler_rows", "disruption_of"]

_SOURCE = "core pkg/apis/v1/nodepool.go"
_DEFAULT_SHARE = "10%"


def disruption_of(profile: Mapping[str, str]) -> dict[str, Any]:
    """Return `spec.disruption` of a NodePool that goes by the profile, AKS's defaults where it says nothing."""
    settings = {**DEFAULTS, **profile}
    empty_only = _number(settings["scale-down-utilization-threshold"]) == 0
    return {
        "consolidationPolicy": "WhenEmpty" if empty_only else "WhenEmptyOrUnderutilized",
        "consolidateAfter": _duration(settings["scale-down-unneeded-time"]),
        "budgets": [
            {"nodes": str(int(_number(settings["max-empty-bulk-delete"]))), "reasons": ["Empty"]},
            {"nodes": _DEFAULT_SHARE, "reasons": ["Underutilized", "Drifted"]},
        ],
    }


@dataclass(frozen=True, slots=True)
class _Setting:
    """The meaning of a key of the profile: the verdict, and its words, made of the value."""

    verdict: Verdict
    text: Callable[[str], str]


def _none(text: str) -> _Setting:
    return _Setting(Verdict.NO_EQUIVALENT, lambda value: text)


_SETTINGS: Mapping[str, _Setting] = {
    "scale-down-unneeded-time": _Setting(
        Verdict.MAPPED, lambda value: f"disruption.consolidateAfter: {_duration(value)}"
    ),
    "scale-down-utilization-threshold": _Setting(
        Verdict.MAPPED,
        lambda value: (
            "disruption.consolidationPolicy: WhenEmpty"
            if _number(value) == 0
            else "disruption.consolidationPolicy: WhenEmptyOrUnderutilized, which has no threshold: "
            "a node goes when its pods fit elsewhere, or on a cheaper one"
        ),
    ),
    "max-empty-bulk-delete": _Setting(
        Verdict.MAPPED, lambda value: f"a budget of {int(_number(value))} nodes for the reason Empty"
    ),
    "max-graceful-termination-sec": _none(
        "template.spec.terminationGracePeriod ends pods too, but also against their PodDisruptionBudgets; "
        "it is left out, so that pods are waited for"
    ),
    "scale-down-unready-time": _none(
        "unready Nodes are replaced by node repair (feature gate NodeRepair), after times that the provider fixes"
    ),
    "ok-total-unready-count": _none(
        "Karpenter does not stop when many Nodes are unready; budgets count them as disrupted"
    ),
    "max-total-unready-percentage": _none(
        "Karpenter does not stop when many Nodes are unready; budgets count them as disrupted"
    ),
    "skip-nodes-with-local-storage": _Setting(
        Verdict.NO_EQUIVALENT, lambda value: _annotation(value, "pods with local storage")
    ),
    "skip-nodes-with-system-pods": _Setting(
        Verdict.NO_EQUIVALENT, lambda value: _annotation(value, "pods of kube-system")
    ),
    "balance-similar-node-groups": _none("pods balance themselves with topology spread constraints"),
    "expander": _none("the cheapest size that fits the pods is taken; NodePools have weights"),
    "max-node-provision-time": _none("a machine that does not register within 15 minutes is given up"),
    "new-pod-scale-up-delay": _none(
        "pods are gathered for 1 to 10 seconds (--batch-idle-duration, --batch-max-duration)"
    ),
    "scan-interval": _none("Karpenter looks at pending pods as they come"),
    "scale-down-delay-after-add": _none("consolidateAfter counts from the last pod that came or went on each node"),
    "scale-down-delay-after-delete": _none("budgets limit how many nodes go at a time"),
    "scale-down-delay-after-failure": _none("a disruption that fails is tried again"),
    "daemonset-eviction-for-empty-nodes": _none(
        "DaemonSet pods are not evicted from a node that is removed, unless they tolerate nothing"
    ),
    "daemonset-eviction-for-occupied-nodes": _none("DaemonSet pods are evicted with the others when a node is removed"),
    "ignore-daemonsets-utilization": _none("no share of use is looked at"),
}


def autoscaler_rows(profile: Mapping[str, str]) -> Iterator[Row]:
    """Yield a row for each setting of the profile; one that says AKS's default and has no equivalent is of no concern."""
    for key, value in profile.items():
        setting = _SETTINGS.get(key)
        if setting is None:
            yield Row(AUTOSCALER_POOL, key, value, Verdict.UNKNOWN, "a setting that is not known here")
            continue
        default = setting.verdict is Verdict.NO_EQUIVALENT and _same(value, DEFAULTS.get(key, ""))
        text = setting.text(value)
        if default:
            yield Row(AUTOSCALER_POOL, key, value, Verdict.NO_EFFECT, f"AKS's default; {text}", _SOURCE)
        else:
            yield Row(AUTOSCALER_POOL, key, value, setting.verdict, text, _SOURCE)


def _annotation(value: str, pods: str) -> str:
    if value == "true":
        return f'nothing keeps nodes with {pods}: annotate those pods with karpenter.sh/do-not-disrupt: "true"'
    return f"nodes with {pods} are removed, as before"


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 1.0


def _duration(text: str) -> str:
    """A duration as consolidateAfter takes it: seconds, minutes, hours (core ``pkg/apis/v1/nodepool.go``)."""
    plain = text.strip().lower()
    return f"{plain}s" if plain.isdecimal() else plain


def _same(value: str, default: str) -> bool:
    try:
        return float(value) == float(default)
    except ValueError:
        return value.lower() == default
