"""Why a pod has its Node or none: counts that add up, Karpenter's sentence, and changes that have been tried."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest

from harness import testing
from harness.explain.labels.probes import default_objects
from harness.explain.pods.render import as_text, as_value
from harness.explain.pods.scheduling import Explainer, PodExplanation
from harness.explain.sizes.amounts import amount_text
from harness.kube.api.labels import INSTANCE_TYPE, ZONE
from harness.kube.api.quantity import Quantity
from harness.world import World


def pod(**spec: Any) -> dict[str, Any]:
    """Asks for one CPU, or for `requests` alone."""
    requests = spec.pop("requests", {"cpu": "1"})
    return testing.pod("web", requests.get("cpu", ""), requests.get("memory", ""), **spec)


def pool(*, taints: list[dict[str, str]] | None = None, limits: dict[str, str] | None = None) -> dict[str, Any]:
    _, nodepool = default_objects()
    spec: dict[str, Any] = dict(nodepool["spec"])
    inner = {**spec["template"]["spec"], **({"taints": taints} if taints else {})}
    spec["template"] = {"spec": inner}
    if limits:
        spec["limits"] = limits
    return {**nodepool, "spec": spec}


def explain(
    pending: dict[str, Any], nodepool: dict[str, Any] | None = None, nodeclass: dict[str, Any] | None = None
) -> PodExplanation:
    """The pending pod, with the default NodePool and AKSNodeClass; `nodeclass` is a spec, `{}` leaves it out."""
    world = World()
    explainer = Explainer(world)
    of_pool, default = default_objects()
    if nodeclass is not None:
        of_pool = {
            **{key: of_pool[key] for key in ("apiVersion", "kind", "metadata")},
            **({"spec": nodeclass} if nodeclass else {}),
        }
    assert world.apply(of_pool, nodepool or default, pending) == []
    world.settle(allow_rejections=True)
    (explained,) = explainer.pods()
    return explained


PENDING = [
    # pod, NodePool, Karpenter's sentence begins, the change that is told
    (
        pod(nodeSelector={"team": "blue"}),
        None,
        'incompatible requirements, label "team" does not have known values',
        "set the label team: blue in NodePool default",
    ),
    (
        pod(),
        pool(taints=[{"key": "gpu", "value": "yes", "effect": "NoSchedule"}]),
        "did not tolerate taint",
        "tolerate the taint gpu:NoSchedule of NodePool default",
    ),
    (
        pod(requests={"memory": "1Pi"}),
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
        "raise the cpu limit of NodePool default from 0 to 2",
    ),
    (
        pod(nodeSelector={"karpenter.sh/capacity-type": "spot"}),
        None,
        "incompatible requirements, key karpenter.sh/capacity-type",
        "also allow spot for karpenter.sh/capacity-type in NodePool default",
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
    assert f"Karpenter says: {explained.sentence.partition(', requirements=')[0]}" in text
    assert f"Karpenter says: {explained.sentence}\n" in as_text([explained], verbose=True)
    assert f"would help to {explained.changes[0].text}" in text


def test_a_told_change_really_helps() -> None:
    pending = pod(requests={"memory": "1Pi"})
    change = explain(pending).changes[0]
    fitting = change.text.removeprefix("request at most ").split()[0]
    assert explain(pod(requests={"memory": fitting})).state == "bound"


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


def test_a_pod_that_karpenter_ignores() -> None:
    world = World()
    explainer = Explainer(world)
    world.apply(*default_objects())
    world.apply(pod(nodeSelector={"karpenter.sh/foo": "x"}))
    world.settle(allow_rejections=True)
    (explained,) = explainer.pods()
    assert explained.state == "ignored"
    assert "karpenter.sh/foo" in explained.sentence


def test_one_size_and_its_offerings() -> None:
    text = as_text([explain(pod(nodeSelector={"kubernetes.io/arch": "arm64"}))], size="Standard_D2as_v6")
    assert "Standard_D2as_v6: pod and NodePool together want In [arm64] for kubernetes.io/arch" in text
    assert "spot" in text
    assert "In [spot] is not In [on-demand] for karpenter.sh/capacity-type" in text


def waiting_of(*objects: Mapping[str, Any], **inputs: Any) -> PodExplanation:
    """The explanation of the last object, a pod, in a world of its own."""
    world = World(**inputs)
    explainer = Explainer(world)
    assert world.apply(*objects) == []
    world.settle(allow_rejections=True)
    return explainer.pod(world.list("Pod")[-1])


def test_a_pod_that_waits_for_a_startup_taint() -> None:
    nodeclass, nodepool = default_objects()
    template = nodepool["spec"]["template"]
    inner = {**template["spec"], "startupTaints": [{"key": "example.com/agent", "effect": "NoSchedule"}]}
    nodepool = {**nodepool, "spec": {**nodepool["spec"], "template": {**template, "spec": inner}}}
    explained = waiting_of(nodeclass, nodepool, pod())
    assert (explained.state, explained.sentence) == ("pending", "")
    scheduler, claim, stage, taint = explained.waiting
    assert "node(s) had untolerated taint {example.com/agent: }" in scheduler
    assert claim.startswith("Karpenter made NodeClaim default-")
    assert stage.endswith('is not Initialized: StartupTaint "example.com/agent:NoSchedule" still exists')
    assert "a startup taint of NodePool default" in taint
    assert f"  {taint}" in as_text([explained])
    assert as_value([explained])[0]["waiting"] == list(explained.waiting)


def test_a_pod_whose_launches_fail() -> None:
    explained = waiting_of(*default_objects(), pod(), azure={"quota": {"cores": 0}})
    assert explained.sentence == ""
    _, refused, claim = explained.waiting
    assert refused.endswith("with OperationNotAllowed: Azure's quota cores in eastus has 0 of 0 vCPUs left")
    assert claim.startswith("Karpenter made NodeClaim default-")


def test_no_usable_nodepool_is_told_with_its_condition() -> None:
    nodeclass, nodepool = default_objects()
    reference = {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "gone"}
    template = nodepool["spec"]["template"]
    template = {**template, "spec": {**template["spec"], "nodeClassRef": reference}}
    explained = waiting_of(nodeclass, {**nodepool, "spec": {**nodepool["spec"], "template": template}}, pod())
    assert explained.waiting[-1] == "NodePool default is not used: NodeClassReady: NodeClass not found on cluster"
    assert waiting_of(nodeclass, pod()).waiting[-1] == "there is no NodePool"


def test_a_pod_that_the_simulation_did_not_come_to() -> None:
    explained = waiting_of(*default_objects(), pod(), time_limit=0)
    assert explained.waiting[-1] == "Karpenter's simulation timed out before it came to the pod"


def test_a_pod_that_is_not_karpenters() -> None:
    explained = waiting_of(*default_objects(), pod(schedulingGates=[{"name": "example.com/wait"}]))
    said = "Karpenter does not look at it: scheduling gates hold it back: example.com/wait"
    assert explained.waiting == (
        said,
        "whoever is responsible for example.com/wait takes it out of spec.schedulingGates; no Node is made before",
    )
    explained = waiting_of(*default_objects(), pod(schedulerName="other"))
    assert explained.waiting[0] == "Karpenter does not look at it: scheduler other has not marked it Unschedulable"
    assert explained.waiting[1].startswith("a scheduler other in the cluster has to mark it Unschedulable")


CPU = "karpenter.azure.com/sku-cpu"


def with_requirement(
    *, labels: dict[str, str] | None = None, also: dict[str, int] | None = None, **requirement: Any
) -> dict[str, Any]:
    """The default NodePool with a requirement on the size's CPUs, and with `minValues` of keys."""
    _, nodepool = default_objects()
    template = nodepool["spec"]["template"]
    requirements = [*template["spec"]["requirements"], *([{"key": CPU} | requirement] if requirement else [])]
    requirements += [{"key": key, "operator": "Exists", "minValues": least} for key, least in (also or {}).items()]
    inner = {**template["spec"], "requirements": requirements}
    return {
        **nodepool,
        "spec": {**nodepool["spec"], "template": {"metadata": {"labels": labels or {}}, "spec": inner}},
    }


def test_a_nodepool_that_suits_no_size_has_its_ledger() -> None:
    explained = explain(pod(), with_requirement(operator="In", values=["3"]))
    assert explained.sentence == "nodepool requirements filtered out all available instance types"
    (only,) = explained.pools
    assert only.filtered
    assert only.kept == ()
    assert sum(only.deciding.values()) == len(only.verdicts) > 0
    text = as_text([explained])
    assert f"NodePool default: none of {len(only.verdicts)} sizes suits it, so no pod is tried with it" in text
    assert f"{len(only.verdicts)} the NodePool wants In [3] for {CPU}" in text
    assert explained.changes[0].text == f"also allow 2 for {CPU} in NodePool default"
    assert as_value([explained])[0]["nodepools"][0]["filtered_out"] is True


def test_min_values_that_filter_everything_out() -> None:
    explained = explain(pod(requests={"cpu": "100m"}), with_requirement(operator="Exists", minValues=40))
    (only,) = explained.pools
    ((key, (asked, present)),) = only.unmet.items()
    assert (key, asked) == (CPU, 40)
    assert 0 < present < 40
    text = as_text([explained])
    assert f"minValues asks for 40 values of {CPU}, the sizes that suit have {present}" in text
    # fewer than are present will do: a NodeClaim names at most 600 sizes
    assert explained.changes[0].text == f"remove minValues (40) of {CPU} from NodePool default"


def test_min_values_are_lowered_to_what_there_is() -> None:
    key = "karpenter.azure.com/sku-family"
    explained = explain(pod(), with_requirement(operator="In", values=["64"], also={key: 40}))
    present = explained.pools[0].unmet[key][1]
    assert explained.changes[0].text == f"lower minValues of {key} from 40 to {present} in NodePool default"


def test_a_label_that_filters_everything_out() -> None:
    explained = explain(pod(), with_requirement(labels={"kubernetes.azure.com/sku-cpu": "3"}))
    assert explained.changes[0].text == "remove the label kubernetes.azure.com/sku-cpu: 3 from NodePool default"


def test_two_changes_together_when_no_single_one_is_enough() -> None:
    explained = explain(pod(nodeSelector={"team": "blue", "stage": "one"}))
    assert [change.text for change in explained.changes] == [
        "set the label stage: one in NodePool default and to set the label team: blue in NodePool default"
    ]


def test_when_not_even_two_changes_are_enough_that_is_told() -> None:
    explained = explain(pod(nodeSelector={"team": "blue", "stage": "one", "kubernetes.io/os": "windows"}))
    assert explained.tried > 3
    kinds = (
        "labels and fields that are missing; smaller requests and fewer features; the pod without its selectors and affinity terms; "
        "NodePools without their requirements, the pod without its rules about other pods"
    )
    assert as_text([explained]).endswith(
        f"  No change, nor two together, would be enough: {explained.tried} were tried ({kinds})"
    )


A100 = "karpenter.azure.com/sku-gpu-name"
GPU = {"name": "c", "image": "train", "resources": {"limits": {"nvidia.com/gpu": "1"}}}


def test_the_key_that_karpenter_takes_for_meant_is_a_change() -> None:
    explained = explain(
        pod(nodeSelector={"kubernetes.azure.com/sku-gpu-name": "A100"}), nodeclass={"imageFamily": "Ubuntu"}
    )
    assert explained.changes[0].text == (
        f"ask for {A100}: A100 in place of kubernetes.azure.com/sku-gpu-name in the pod's nodeSelector"
    )


def test_a_node_class_without_an_image_family_has_no_gpu_sizes_and_is_told_what_to_set() -> None:
    explained = explain(pod(nodeSelector={A100: "A100"}, containers=[GPU]), nodeclass={})
    assert explained.pools[0].dropped["gpu-image-family"] > 0
    assert explained.changes[0].text == "set spec.imageFamily: Ubuntu, which has GPU drivers, in AKSNodeClass default"
    assert "A100" in explained.changes[0].size


def test_what_a_node_class_and_a_nodepool_keep_away_are_two_changes_in_any_order() -> None:
    pool = with_requirement(key="karpenter.azure.com/sku-family", operator="In", values=["D"])
    explained = explain(pod(nodeSelector={A100: "A100"}, containers=[GPU]), pool, nodeclass={})
    assert explained.changes[0].text == (
        "set spec.imageFamily: Ubuntu, which has GPU drivers, in AKSNodeClass default"
        " and to remove karpenter.azure.com/sku-family In [D] from NodePool default"
    )


def test_amounts_are_written_as_users_write_them() -> None:
    explained = explain(pod(requests={"cpu": "1", "memory": "1Pi"}))
    (change, *_) = explained.changes
    fitting = change.text.removeprefix("request at most ").split()[0]
    assert fitting.endswith("Gi")
    assert explain(pod(requests={"cpu": "1", "memory": fitting})).state == "bound"


@pytest.mark.parametrize(
    ("resource", "amount", "text"),
    [
        ("memory", "2112670924", "2014Mi"),
        ("memory", "14078472Mi", "14078472Mi"),  # written by a person, or exact
        ("memory", "15032385536", "14Gi"),
        ("memory", "1G", "1G"),
        ("memory", "-2112670924", "-2014Mi"),
        ("memory", "1500", "1500"),
        ("ephemeral-storage", "128849018880", "120Gi"),
        ("cpu", "1900m", "1900m"),
        ("nvidia.com/gpu", "12345678", "12345678"),
    ],
)
def test_amount_text(resource: str, amount: str, text: str) -> None:
    assert amount_text(resource, Quantity.parse(amount)) == text


def test_limits_are_raised_by_what_is_missing() -> None:
    change = explain(pod(), pool(limits={"cpu": "1"})).changes[0]
    assert change.text == "raise the cpu limit of NodePool default from 1 to 2"
    assert explain(pod(), pool(limits={"cpu": "2"})).state == "bound"
    change = explain(pod(), pool(limits={"nodes": "0"})).changes[0]
    assert change.text == "raise the nodes limit of NodePool default from 0 to 1"


def test_sizes_that_are_sold_out_say_so() -> None:
    fault = {"what": "SkuNotAvailable", "times": "always"}
    explained = waiting_of(*default_objects(), pod(nodeSelector={CPU: "96"}), azure={"faults": [fault]})
    causes = {cause.rule: count for cause, count in explained.pools[0].deciding.items()}
    assert causes["offerings"] > 10
    assert "nodepool" not in causes


def test_what_azure_refuses_is_counted_of_what_the_nodepool_allows() -> None:
    """A refusal closes sizes that the NodePool rules out as well: these are no reason that the pod waits."""
    nodeclass, nodepool = default_objects()
    inner = nodepool["spec"]["template"]["spec"]
    sizes = {"key": INSTANCE_TYPE, "operator": "In", "values": ["Standard_D2as_v6", "Standard_D2_v3"]}
    only = {**inner, "requirements": [*inner["requirements"], sizes]}
    nodepool = {**nodepool, "spec": {**nodepool["spec"], "template": {"spec": only}}}
    fault = {"what": "SkuNotAvailable", "times": "always"}
    explained = waiting_of(nodeclass, nodepool, pod(), azure={"faults": [fault]})
    (tried,) = explained.pools
    assert sum(tried.deciding_allowed.values()) == 2
    lines = [line.strip() for line in as_text([explained]).splitlines()]
    assert "2 Azure refuses it with SkuNotAvailable" in lines
    others = len(tried.verdicts) - 2
    assert f"{others} the NodePool wants In [Standard_D2_v3 Standard_D2as_v6] for {INSTANCE_TYPE}" in lines


def test_a_size_counts_once_and_the_rest_is_told() -> None:
    text = as_text([explain(pod(nodeSelector={"kubernetes.io/arch": "arm64"}, requests={"cpu": "64"}))], verbose=True)
    (line,) = [line for line in text.splitlines() if "too small" in line]
    match = re.search(r"^ +(\d+) too small: .* \((\d+) in all, (\d+) of them counted for another reason\)$", line)
    assert match is not None
    first, everything, elsewhere = map(int, match.groups())
    assert first + elsewhere == everything


@pytest.mark.parametrize("spread", [True, False])
def test_a_spread_that_chose_no_zone_is_named(spread: bool) -> None:
    """Zone 0 is a domain like others, and no machine of a zonal NodePool lies there."""
    world = World(region="westeurope")
    explainer = Explainer(world)
    requirements = [("karpenter.azure.com/placement-scope", "zonal"), (INSTANCE_TYPE, "Standard_D4s_v5")]
    nodeclass, pool = default_objects()
    pool["spec"]["template"]["spec"]["requirements"] = [
        {"key": key, "operator": "In", "values": [value]} for key, value in requirements
    ]
    constraint = {
        "maxSkew": 1,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "a"}},
    }
    pods = [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": f"p{number}", "labels": {"app": "a"}},
            "spec": {
                "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}],
                **({"topologySpreadConstraints": [constraint]} if spread else {"nodeSelector": {ZONE: "0"}}),
            },
        }
        for number in range(4)
    ]
    world.apply(nodeclass, pool, *pods)
    world.settle(allow_rejections=True)
    told = {pool.chosen for one in explainer.pods() for pool in one.pools if pool.sentence}
    said = f"the topology spread over {ZONE} chose zone 0: a machine in no availability zone"
    assert (said in told) == spread
    assert (said in as_text(explainer.pods())) == spread
