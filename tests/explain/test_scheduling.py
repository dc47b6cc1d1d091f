"""Why a pod has its Node or none: counts that add up, Karpenter's sentence, and changes that have been tried."""

from __future__ import annotations

from typing import Any

import pytest

from harness.explain.labels import default_objects
from harness.explain.render import as_text, as_value
from harness.explain.scheduling import Explainer, PodExplanation
from harness.world import World


def pod(**spec: Any) -> dict[str, Any]:
    requests = spec.pop("requests", {"cpu": "1"})
    container = {"name": "c", "image": "pause", "resources": {"requests": requests}}
    metadata = {"name": "web", "namespace": "default"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [container], **spec}}


def pool(*, taints: list[dict[str, str]] | None = None, limits: dict[str, str] | None = None) -> dict[str, Any]:
    _, nodepool = default_objects()
    spec: dict[str, Any] = dict(nodepool["spec"])
    inner = {**spec["template"]["spec"], **({"taints": taints} if taints else {})}
    spec["template"] = {"spec": inner}
    if limits:
        spec["limits"] = limits
    return {**nodepool, "spec": spec}


def explain(pending: dict[str, Any], nodepool: dict[str, Any] | None = None) -> PodExplanation:
    world = World()
    explainer = Explainer(world)
    nodeclass, default = default_objects()
    assert world.apply(nodeclass, nodepool or default, pending) == []
    world.settle()
    (explained,) = explainer.pods()
    return explained


PENDING = [
    # pod, NodePool, Karpenter's sentence begins, the change that is told
    (
        pod(nodeSelector={"team": "blue"}),
        None,
        'incompatible requirements, label "team" does not have known values',
        "remove team: blue from the pod's nodeSelector",
    ),
    (
        pod(),
        pool(taints=[{"key": "gpu", "value": "yes", "effect": "NoSchedule"}]),
        "did not tolerate taint",
        "tolerate the taint gpu:NoSchedule of NodePool default",
    ),
    (
        pod(requests={"cpu": "2000"}),
        None,
        "no instance type has enough resources",
        "request at most ",
    ),
    (
        pod(nodeSelector={"kubernetes.io/arch": "arm64", "karpenter.azure.com/sku-gpu-count": "1"}),
        None,
        "no instance type met all requirements",
        "remove karpenter.azure.com/sku-gpu-count: 1 from the pod's nodeSelector",
    ),
    (
        pod(),
        pool(limits={"cpu": "0"}),
        "all available instance types exceed limits",
        "raise the limits of NodePool default",
    ),
    (
        pod(nodeSelector={"karpenter.sh/capacity-type": "spot"}),
        None,
        "incompatible requirements, key karpenter.sh/capacity-type",
        "remove karpenter.sh/capacity-type: spot from the pod's nodeSelector",
    ),
]


@pytest.mark.parametrize(("pending", "nodepool", "sentence", "change"), PENDING)
def test_pending(pending: dict[str, Any], nodepool: dict[str, Any] | None, sentence: str, change: str) -> None:
    explained = explain(pending, nodepool)
    assert explained.state == "pending"
    assert explained.sentence.startswith(sentence)
    assert explained.changes
    assert explained.changes[0].text.startswith(change)
    assert explained.changes[0].size
    assert explained.changes[0].price > 0
    text = as_text([explained])
    assert f"Karpenter says: {explained.sentence}" in text
    assert f"It would help to {explained.changes[0].text}" in text


def test_a_told_change_really_helps() -> None:
    pending = pod(requests={"cpu": "2000"})
    change = explain(pending).changes[0]
    fitting = change.text.removeprefix("request at most ").split()[0]
    assert explain(pod(requests={"cpu": fitting})).state == "bound"


def test_counts_add_up() -> None:
    explained = explain(pod(nodeSelector={"kubernetes.io/arch": "arm64"}, requests={"cpu": "16"}))
    (only,) = explained.pools
    assert explained.state == "bound"
    assert only.sentence == ""
    assert len(only.kept) + sum(only.deciding.values()) == len(only.verdicts)
    assert all(only.all_causes[cause] >= count for cause, count in only.deciding.items())
    assert {cause.rule for cause in only.deciding} >= {"pod", "resources"}
    assert sum(only.dropped.values()) > 0
    (value,) = as_value([explained])
    assert len(value["nodepools"][0]["excluded"]) == len(only.verdicts) - len(only.kept)


def test_nothing_helps_when_two_things_are_wrong() -> None:
    explained = explain(pod(nodeSelector={"team": "blue", "stage": "one"}))
    assert explained.changes == ()


def test_a_pod_that_karpenter_ignores() -> None:
    world = World()
    explainer = Explainer(world)
    world.apply(*default_objects())
    world.apply(pod(nodeSelector={"karpenter.sh/foo": "x"}))
    world.settle()
    (explained,) = explainer.pods()
    assert explained.state == "ignored"
    assert "karpenter.sh/foo" in explained.sentence


def test_one_size_and_its_offerings() -> None:
    text = as_text([explain(pod(nodeSelector={"kubernetes.io/arch": "arm64"}))], size="Standard_D2as_v6")
    assert "Standard_D2as_v6: pod and NodePool together want In [arm64] for kubernetes.io/arch" in text
    assert "spot" in text
    assert "In [spot] is not In [on-demand] for karpenter.sh/capacity-type" in text
