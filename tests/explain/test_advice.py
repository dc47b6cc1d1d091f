"""Advice: what was meant comes first, what alters a machine says so, and nothing is told that was not tried in the same world."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from harness import testing
from harness.explain.advice.trials import Trials
from harness.explain.labels.probes import default_objects
from harness.explain.pods.render import as_text
from harness.explain.pods.scheduling import Explainer, PodExplanation
from harness.explain.pods.summary import pods_line
from harness.testing import requirement
from harness.world import World

ZONE, SIZE, CAPACITY = "topology.kubernetes.io/zone", "node.kubernetes.io/instance-type", "karpenter.sh/capacity-type"
FAMILY, ARCH = "karpenter.azure.com/sku-family", "kubernetes.io/arch"


def nodepool(*requirements: tuple[str, str], name: str = "default", **more: Any) -> dict[str, Any]:
    """A NodePool whose requirements are keys In values, separated by commas."""
    return testing.nodepool(*(requirement(key, *values.split(",")) for key, values in requirements), name=name, **more)


def deployment(replicas: int = 3, cpu: str = "1", **spec: Any) -> dict[str, Any]:
    return testing.deployment("web", replicas, cpu, **spec)


def first(*objects: Mapping[str, Any], **inputs: Any) -> PodExplanation:
    """The first pending pod of a world with these objects and an AKSNodeClass `default`."""
    world = World(**inputs)
    explainer = Explainer(world)
    world.apply(default_objects()[0], *objects)
    world.settle(allow_rejections=True)
    pods = sorted(world.list("Pod"), key=lambda one: bool(one["spec"].get("nodeName")))
    return explainer.pod(pods[0])


AMD64 = nodepool((CAPACITY, "on-demand"), (ARCH, "amd64"), (FAMILY, "D"), labels={"team": "blue"})

MEANT = [
    # what the pods say, the word that was meant, the change
    ({"nodeSelector": {"taem": "blue"}}, "team", "ask for team: blue in place of taem in the pod's nodeSelector"),
    ({"nodeSelector": {"team": "bleu"}}, "blue", "ask for team: blue in place of bleu in the pod's nodeSelector"),
    ({"nodeSelector": {SIZE: "D4s_v5"}}, "Standard_D4s_v5", f"ask for {SIZE}: Standard_D4s_v5 in place of D4s_v5"),
    ({"nodeSelector": {SIZE: "Standard_D4s_v55"}}, "Standard_D4s_v5", f"ask for {SIZE}: Standard_D4s_v5 in place of"),
    ({"nodeSelector": {ZONE: "eastus2-1"}}, "eastus-1", f"ask for {ZONE}: eastus-1 in place of eastus2-1"),
    ({"nodeSelector": {"karpenter.sh/nodepool": "defualt"}}, "default", "ask for karpenter.sh/nodepool: default in"),
    (
        {
            "affinity": {
                "nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [
                            {"matchExpressions": [{"key": ARCH, "operator": "In", "values": ["adm64"]}]}
                        ]
                    }
                }
            }
        },
        "amd64",
        f"write amd64 in place of adm64 for {ARCH} in the pod's required node affinity",
    ),
]


@pytest.mark.parametrize(("spec", "meant", "change"), MEANT, ids=lambda one: one if isinstance(one, str) else "")
def test_what_was_meant_comes_first(spec: dict[str, Any], meant: str, change: str) -> None:
    explained = first(AMD64, deployment(**spec))
    (only,) = explained.changes
    assert only.meant == meant
    assert only.text.startswith(change)
    assert (only.pods, only.wanted, only.alters) == (3, 3, ())
    assert f"Did you mean {meant}? It would help to {only.text}" in as_text([explained])


def test_a_word_with_which_karpenter_says_the_same_is_not_mentioned() -> None:
    """Standard_D8_v5 is like Standard_D5_v5, and the NodePool does not take it either."""
    pool = nodepool((CAPACITY, "on-demand"), ("karpenter.azure.com/sku-storage-premium-capable", "true"))
    found = first(pool, deployment(nodeSelector={SIZE: "Standard_D5_v5"}))
    assert found.short == ()
    assert found.changes
    assert "Did you mean" not in as_text([found])


def test_a_guess_that_cannot_decide_is_not_mentioned() -> None:
    """Zone 1 is none of the region's, whatever zones are guessed of sizes."""
    assert "guessed" not in as_text([first(nodepool((CAPACITY, "on-demand")), deployment(nodeSelector={ZONE: "1"}))])


def test_what_keeps_the_meaning_comes_before_another_machine() -> None:
    """The other NodePool has cheaper machines, on spot and of another architecture: it is told behind, with both."""
    taint = {"key": "kubernetes.azure.com/scalesetpriority", "value": "spot", "effect": "NoSchedule"}
    spot = nodepool((CAPACITY, "spot"), (ARCH, "amd64,arm64"), (FAMILY, "D"), name="spot", taints=[taint])
    own = nodepool((CAPACITY, "on-demand"), (ARCH, "amd64"), (FAMILY, "D"), limits={"cpu": "4"})
    change = first(spot, own, deployment(replicas=1, cpu="6")).changes[0]
    assert change.text == "raise the cpu limit of NodePool default from 4 to 8"
    text = as_text([first(spot, {**own, "spec": {**own["spec"], "replicas": 0}}, deployment(replicas=1))])
    assert "tolerate the taint kubernetes.azure.com/scalesetpriority:NoSchedule of NodePool spot" in text
    assert "(arm64) on spot at" in text


def test_a_limit_is_raised_before_a_taint_is_tolerated() -> None:
    """The other NodePool has the same machines, behind a taint that somebody put there for others."""
    taints = [{"key": "example.com/dedicated", "value": "batch", "effect": "NoSchedule"}]
    same = ((CAPACITY, "on-demand"), (SIZE, "Standard_D4s_v5"))
    found = first(nodepool(*same, limits={"cpu": "0"}), nodepool(*same, name="other", taints=taints), deployment(1))
    assert [one.text for one in found.changes] == [
        "raise the cpu limit of NodePool default from 0 to 4",
        "tolerate the taint example.com/dedicated:NoSchedule of NodePool other",
    ]


def test_many_candidates_of_one_kind_leave_room_for_the_others() -> None:
    """Fifteen pairs of NodePool and value: removing the affinity is tried all the same."""
    pools = [
        nodepool((CAPACITY, "on-demand"), (FAMILY, "D"), ("team", f"t{n}"), (ZONE, "eastus-1"), name=f"p{n}")
        for n in range(15)
    ]
    terms = [{"matchExpressions": [{"key": "team", "operator": "In", "values": ["none"]}]}]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    found = first(*pools, deployment(replicas=1, affinity={"nodeAffinity": required}))
    assert "remove team In [none] from the pod's required node affinity" in [one.text for one in found.changes]


def gpu_pod(selector: Mapping[str, str]) -> dict[str, Any]:
    gpu = {"requests": {"cpu": "4"}, "limits": {"nvidia.com/gpu": "1"}}
    return {**testing.pod("train"), "spec": {"nodeSelector": selector, "containers": [{"name": "a", "resources": gpu}]}}


def test_what_was_meant_comes_first_although_others_took_its_place_under_the_limit() -> None:
    """Six machines of 4 cpu leave 16 of the limit, an A100 has 24: with the right key it would have been made first."""
    pool = nodepool((CAPACITY, "on-demand"), (FAMILY, "D,N"), limits={"cpu": "40"})
    pod = gpu_pod({"kubernetes.azure.com/sku-gpu-name": "A100"})
    change = first(pool, deployment(6, cpu="3"), pod).changes[0]
    assert change.meant == "karpenter.azure.com/sku-gpu-name"
    assert change.size == "Standard_NC24ads_A100_v4"


def test_what_was_meant_is_told_with_what_karpenter_says_then_where_it_is_not_enough() -> None:
    pool = nodepool((CAPACITY, "on-demand"), (FAMILY, "D,N"), limits={"cpu": "16"})
    found = first(pool, gpu_pod({"kubernetes.azure.com/sku-gpu-name": "A100"}))
    assert [one.meant for one in found.short] == ["karpenter.azure.com/sku-gpu-name"]
    text = as_text([found])
    assert text.index("Did you mean karpenter.azure.com/sku-gpu-name? To ask for") < text.index("t would help to")
    assert "is not enough: Karpenter then says: " in text


def test_a_toleration_that_is_misspelt() -> None:
    pool = nodepool((CAPACITY, "on-demand"), taints=[{"key": "dedicated", "value": "batch", "effect": "NoSchedule"}])
    tolerations = [{"key": "dedicatd", "operator": "Exists"}]
    (change,) = first(pool, deployment(tolerations=tolerations)).changes
    assert change.text == "write dedicated in place of dedicatd as key of the pod's toleration"


def test_an_aksnodeclass_that_is_misspelt() -> None:
    explained = first(nodepool((CAPACITY, "on-demand"), nodeclass="defautl"), deployment())
    assert explained.waiting[-1] == "NodePool default is not used: NodeClassReady: NodeClass not found on cluster"
    (change,) = explained.changes
    assert change.text == "name AKSNodeClass default in place of defautl in NodePool default"


def test_a_value_of_a_nodepool_that_no_size_has() -> None:
    (change,) = first(
        nodepool((CAPACITY, "on-demand"), ("karpenter.azure.com/sku-series", "Dsv5")), deployment()
    ).changes
    assert change.text == "write Ds_v5 in place of Dsv5 for karpenter.azure.com/sku-series in NodePool default"


def test_another_architecture_is_said() -> None:
    explained = first(AMD64, deployment(nodeSelector={ARCH: "arm64", "karpenter.azure.com/sku-version": "3"}))
    assert all(any("architecture amd64" in one for one in change.alters) for change in explained.changes)
    assert "which gives another machine than was asked for" in as_text([explained])


def test_a_dear_machine_has_its_price_first() -> None:
    explained = first(AMD64, deployment(replicas=1, nodeSelector={SIZE: "Standard_ND96isr_H100_v5"}))
    (change,) = explained.changes
    assert change.text == f"also allow N for {FAMILY} in NodePool default"
    assert f"For {change.price:.2f} USD/h it would help to also allow N" in as_text([explained])


KINDS = {
    # what the pods and the NodePool say → the changes, the smallest kind first
    "a label that is nowhere": (
        (AMD64, deployment(nodeSelector={"env": "prod"})),
        ["set the label env: prod in NodePool default", "remove env: prod from the pod's nodeSelector"],
    ),
    "a zone that the NodePool does not allow": (
        (nodepool((CAPACITY, "on-demand"), (ZONE, "eastus-1")), deployment(nodeSelector={ZONE: "eastus-2"})),
        [
            f"also allow eastus-2 for {ZONE} in NodePool default",
            f"ask for {ZONE}: eastus-1 in place of eastus-2 in the pod's nodeSelector",
            f"remove {ZONE}: eastus-2 from the pod's nodeSelector",
        ],
    ),
    "another machine is no alternative": (
        (AMD64, deployment(nodeSelector={ARCH: "arm64"})),
        [f"also allow arm64 for {ARCH} in NodePool default"],
    ),
}


@pytest.mark.parametrize(("objects", "changes"), KINDS.values(), ids=KINDS)
def test_changes_of_other_kinds_are_alternatives(objects: tuple[Any, ...], changes: list[str]) -> None:
    explained = first(*objects)
    assert [change.text for change in explained.changes] == changes
    assert all((change.pods, change.wanted, change.price > 0) == (3, 3, True) for change in explained.changes)
    text = as_text([explained])
    assert text.count("It would help to") == 1
    assert all(f"\n  Or: it would help to {change}" in text for change in changes[1:])


def test_a_quota_is_named_and_raised_to_what_all_replicas_need() -> None:
    quota = {"cores": 4}
    objects = (nodepool((CAPACITY, "on-demand"), (SIZE, "Standard_D4s_v5")), deployment(replicas=3, cpu="3"))
    explained = first(*objects, azure={"quota": quota})
    assert any(
        "OperationNotAllowed: Azure's quota cores in eastus has 0 of 4 vCPUs left" in one for one in explained.waiting
    )
    (change,) = explained.changes
    assert change.text == "raise Azure's quota cores in eastus from 4 to 12"
    world = World(azure={"quota": {"cores": 12}})
    world.apply(default_objects()[0], *objects)
    world.settle(allow_rejections=True)
    assert all(pod["spec"].get("nodeName") for pod in world.list("Pod"))


def test_advice_that_azure_would_refuse_is_not_told() -> None:
    """Another zone suits the scheduler, and the same fault waits there; another size is what works."""
    faults = [{"what": "SkuNotAvailable", "where": {"size": "Standard_D4s_v5"}, "times": "always"}]
    pool = nodepool((CAPACITY, "on-demand"), (SIZE, "Standard_D4s_v5"))
    explained = first(pool, deployment(replicas=1, nodeSelector={ZONE: "eastus-1"}), azure={"faults": faults})
    assert any("SkuNotAvailable" in cause.text for cause in explained.pools[0].deciding)
    assert explained.changes
    assert not any(ZONE in change.text for change in explained.changes)
    assert all(change.size != "Standard_D4s_v5" for change in explained.changes)


def test_where_nothing_helps_azures_error_is_told() -> None:
    faults = [{"what": "SkuNotAvailable", "times": "always"}]
    explained = first(
        nodepool((CAPACITY, "on-demand"), (SIZE, "Standard_D4s_v5")), deployment(), azure={"faults": faults}
    )
    assert explained.changes == ()
    assert explained.refused == ("SkuNotAvailable",)
    assert "Azure refuses it: SkuNotAvailable" in as_text([explained])


def test_a_limit_is_raised_for_all_replicas() -> None:
    pool = nodepool((CAPACITY, "on-demand"), (SIZE, "Standard_D4s_v5"), limits={"cpu": "0"})
    (change,) = first(pool, deployment(replicas=3, cpu="3")).changes
    assert change.text == "raise the cpu limit of NodePool default from 0 to 12"
    assert (change.pods, change.nodes, change.size) == (3, 3, "Standard_D4s_v5")


def test_a_size_that_the_region_does_not_sell_says_where_it_is_sold() -> None:
    pool = nodepool((CAPACITY, "on-demand"))
    explained = first(pool, deployment(nodeSelector={SIZE: "Standard_ND96isr_H100_v5"}), region="qatarcentral")
    assert explained.places[0].startswith(
        "Standard_ND96isr_H100_v5 is not sold in qatarcentral; sold in australiaeast, "
    )
    assert not any(change.meant for change in explained.changes)
    explained = first(
        pool, deployment(nodeSelector={"karpenter.azure.com/sku-gpu-name": "H100"}), region="qatarcentral"
    )
    assert explained.places[0].startswith("no size with the GPU H100 is sold in qatarcentral; sold in ")


def test_a_filter_is_named_of_a_size_that_is_asked_for() -> None:
    explained = first(nodepool((CAPACITY, "on-demand")), deployment(nodeSelector={SIZE: "Standard_DC4as_v5"}))
    assert explained.places[0].startswith(
        "Standard_DC4as_v5 is no instance type with AKSNodeClass default: the filter confidential drops it"
    )


def test_many_sizes_that_a_filter_drops_share_a_line() -> None:
    sizes = ["Standard_DC4as_v5", "Standard_DC8as_v5", "Standard_DC16as_v5", "Standard_EC8as_v5", "Standard_D1"]
    pool = nodepool((CAPACITY, "on-demand"), (SIZE, ",".join(sizes)))
    told = first(pool, deployment(replicas=1)).places
    assert len(told) == 2
    assert any(
        one.endswith(" and 1 more are no instance types with AKSNodeClass default: the filter confidential drops them")
        for one in told
    )
    assert any("the filter too-few-vcpus drops it, vcpus: 1, minimum: 2" in one for one in told)


def test_replicas_whose_nodeclaims_fail_alike_wait_for_one_reason() -> None:
    """Each names its own NodeClaim; the reason, and the paragraph, is one."""
    world = World(azure={"quota": {"cores": 4}})
    explainer = Explainer(world)
    world.apply(
        default_objects()[0],
        nodepool((CAPACITY, "on-demand"), (SIZE, "Standard_D4s_v5")),
        deployment(replicas=4, cpu="3"),
    )
    world.settle()
    pods = explainer.pods()
    assert pods_line(pods) == "4 pods: 1 bound, 3 pending for 1 reason"
    assert as_text([one for one in pods if one.state == "pending"]).startswith("Deployment/web, 3 pods: pending\n")


def test_replicas_are_one_paragraph_under_the_name_of_their_workload() -> None:
    world = World()
    explainer = Explainer(world)
    world.apply(default_objects()[0], AMD64, deployment(replicas=5, nodeSelector={"nobody": "has"}))
    world.settle(allow_rejections=True)
    text = as_text(explainer.pods())
    assert text.startswith("Deployment/web, 5 pods: pending\n")
    assert text.count("pending") == 1


def pods_of_different_sizes(count: int, **spec: Any) -> list[dict[str, Any]]:
    return [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": f"p{number}", "namespace": "default", "labels": {"app": f"a{number}"}},
            "spec": {
                "containers": [{"name": "c", "image": "c", "resources": {"requests": {"cpu": f"{number + 1}00m"}}}],
                **spec,
            },
        }
        for number in range(count)
    ]


def test_pods_that_wish_for_the_same_are_advised_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever they request: no size was looked at. The advice is tried for all of them at once."""
    runs = []
    run = Trials.run

    def counted(self: Trials, *arguments: Any, **keywords: Any) -> Any:
        runs.append(arguments)
        return run(self, *arguments, **keywords)

    monkeypatch.setattr(Trials, "run", counted)
    world = World()
    explainer = Explainer(world)
    world.apply(default_objects()[0], AMD64, *pods_of_different_sizes(30, nodeSelector={"taem": "blue"}))
    world.settle(allow_rejections=True)
    explained = explainer.pods()
    assert len({one.changes for one in explained}) == 1
    (change,) = explained[0].changes
    assert (change.meant, change.pods, change.wanted) == ("team", 30, 30)
    assert len(runs) < 5
    assert as_text(explained).count("Did you mean") == 1


def test_pods_that_are_too_large_are_advised_one_by_one() -> None:
    pool = nodepool((CAPACITY, "on-demand"), ("karpenter.azure.com/sku-cpu", "2"))
    world = World()
    explainer = Explainer(world)
    world.apply(default_objects()[0], pool, *pods_of_different_sizes(40)[36:])
    world.settle(allow_rejections=True)
    told = [change.text for one in explainer.pods() for change in one.changes if "request at most" in change.text]
    assert len(told) == 4


def test_a_taint_and_pods_of_replicasets_that_are_not_given() -> None:
    """As in a dump: the edit reaches pods whose owner no file has."""
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-5d", "uid": "u", "controller": True}
    pods = pods_of_different_sizes(3)
    for pod in pods:
        pod["metadata"]["ownerReferences"] = [owner]
        pod["metadata"]["labels"] = {"pod-template-hash": "5d"}
    pool = nodepool((CAPACITY, "on-demand"), taints=[{"key": "dedicated", "effect": "NoSchedule"}])
    explained = first(pool, *pods)
    (change,) = explained.changes
    assert change.text == "tolerate the taint dedicated:NoSchedule of NodePool default"
    assert (change.pods, change.wanted) == (3, 3)


REFUSED = {"what": "SkuNotAvailable", "times": "always"}


def test_another_zone_is_named() -> None:
    fault = {"what": "ZonalAllocationFailed", "where": {"zone": "1"}, "times": "always"}
    pool = nodepool((CAPACITY, "on-demand"), (SIZE, "Standard_D4s_v5"))
    changes = first(pool, deployment(nodeSelector={ZONE: "eastus-1"}), azure={"faults": [fault]}).changes
    assert [change.text for change in changes] == [
        *(f"ask for {ZONE}: eastus-{zone} in place of eastus-1 in the pod's nodeSelector" for zone in "23"),
        f"remove {ZONE}: eastus-1 from the pod's nodeSelector",
    ]
    pool = nodepool((CAPACITY, "on-demand"), (SIZE, "Standard_D4s_v5"), (ZONE, "eastus-1"))
    (change, _) = first(pool, deployment(), azure={"faults": [fault]}).changes
    assert change.text == f"ask for {ZONE}: eastus-2 in place of eastus-1 in NodePool default"


def test_another_size_like_the_one_that_is_not_to_be_had() -> None:
    fault = {**REFUSED, "where": {"size": "Standard_D4s_v5"}}
    changes = first(AMD64, deployment(nodeSelector={SIZE: "Standard_D4s_v5"}), azure={"faults": [fault]}).changes
    *others, last = changes
    assert len(others) == 2
    assert last.text == f"remove {SIZE}: Standard_D4s_v5 from the pod's nodeSelector"
    for change in others:
        assert change.text == f"ask for {SIZE}: {change.size} in place of Standard_D4s_v5 in the pod's nodeSelector"
        assert change.size.startswith("Standard_D4")
        assert change.alters == ()


def test_another_region_sells_it() -> None:
    """Only for a cluster without Nodes: those are where they are."""
    gpu = deployment(nodeSelector={"karpenter.azure.com/sku-gpu-name": "H100", ZONE: "qatarcentral-1"}, replicas=1)
    pool = nodepool((CAPACITY, "on-demand"))
    explained = first(pool, gpu, region="qatarcentral")
    told = [change for change in explained.changes if change.region]
    assert told
    for change in told:
        assert change.text == f"have the cluster in region {change.region}, which sells H100"
        assert "H100" in change.size
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "1"}}}
    assert not [change for change in first(pool, gpu, node, region="qatarcentral").changes if change.region]


def test_a_disk_in_another_zone_is_named_and_its_zone_allowed() -> None:
    term = {"matchExpressions": [{"key": "topology.disk.csi.azure.com/zone", "operator": "In", "values": ["eastus-2"]}]}
    disk = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": "pvc-1"},
        "spec": {
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"],
            "csi": {"driver": "disk.csi.azure.com", "volumeHandle": "d"},
            "claimRef": {"name": "data", "namespace": "default"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [term]}},
        },
    }
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "volumeName": "pvc-1",
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }
    pool = nodepool((CAPACITY, "on-demand"), (ZONE, "eastus-1"))
    volumes = [{"name": "d", "persistentVolumeClaim": {"claimName": "data"}}]
    explained = first(disk, claim, pool, deployment(replicas=1, volumes=volumes))
    assert explained.places == ("its PersistentVolumeClaim data has the disk pvc-1, which is only in eastus-2",)
    assert explained.changes[0].text == f"also allow eastus-2 for {ZONE} in NodePool default"


def test_windows_is_never_to_be_had() -> None:
    explained = first(AMD64, deployment(nodeSelector={"kubernetes.io/os": "windows"}))
    (line,) = explained.places
    assert line == "Karpenter on Azure makes Linux machines only: kubernetes.io/os: windows needs an agent pool of AKS"
    assert explained.changes == ()


def test_a_machine_whose_gpu_has_no_name_is_one_with_a_gpu_and_the_rest_is_told() -> None:
    """The limit lets two of four machines through once the taint is tolerated."""
    taint = {"key": "sku", "value": "gpu", "effect": "NoSchedule"}
    pool = nodepool((SIZE, "Standard_NC6s_v3"), taints=[taint], limits={"nvidia.com/gpu": "2"})
    gpu = {"requests": {"cpu": "4"}, "limits": {"nvidia.com/gpu": "1"}}
    explained = first(pool, deployment(replicas=4, containers=[{"name": "c", "image": "c", "resources": gpu}]))
    change = explained.changes[0]
    assert (change.pods, change.wanted, change.alters) == (2, 4, ())
    assert "; of the others Karpenter then says: all available instance types exceed limits for nodepool" in as_text(
        [explained]
    )


def test_spot_by_the_label_of_aks_is_a_wish_for_spot() -> None:
    explained = first(AMD64, deployment(nodeSelector={"kubernetes.azure.com/scalesetpriority": "spot"}))
    (allow,) = explained.changes  # without the label it would be another machine than was asked for
    assert allow.text == f"also allow spot for {CAPACITY} in NodePool default"
    assert allow.alters == ()


LEFT_ALONE = [
    # a selector that Karpenter refuses before it looks at any NodePool, the word that was meant, and what is told of it
    ({"karpenter.azure.com/sku-familly": "D"}, FAMILY, f"It would help to ask for {FAMILY}: D in place of"),
    ({"karpenter.sh/capacitytype": "on-demand"}, CAPACITY, f"It would help to ask for {CAPACITY}: on-demand in place"),
    ({CAPACITY: "spott"}, "spot", f"is not enough: Karpenter then says: incompatible requirements, key {CAPACITY}"),
    (
        {"kubernetes.azure.com/os-sku": "Ubunto"},
        "Ubuntu",
        "It would help to ask for kubernetes.azure.com/os-sku: Ubuntu",
    ),
]


@pytest.mark.parametrize(("selector", "meant", "told"), LEFT_ALONE, ids=lambda one: one if isinstance(one, str) else "")
def test_what_was_meant_by_a_pod_that_is_left_alone(selector: dict[str, str], meant: str, told: str) -> None:
    explained = first(AMD64, deployment(nodeSelector=selector))
    assert explained.state == "ignored"
    text = as_text([explained])
    assert f"Did you mean {meant}?" in text
    assert told in text


def test_a_selector_that_means_nothing_is_told_to_go() -> None:
    explained = first(AMD64, deployment(nodeSelector={"karpenter.sh/of-mine": "yes"}))
    assert explained.state == "ignored"
    assert [one.text for one in explained.changes] == ["remove karpenter.sh/of-mine: yes from the pod's nodeSelector"]


def test_daemonsets_are_named_that_leave_too_little() -> None:
    small = nodepool((SIZE, "Standard_D2s_v5"))
    names = {"agent": "500m", "log": "300m", "net": "200m", "proxy": "100m", "csi": "50m"}
    explained = first(small, *(testing.daemonset(name, cpu) for name, cpu in names.items()), deployment(1, "1"))
    text = as_text([explained])
    assert (
        "1 too small: 2150m cpu requested (of it 500m for DaemonSets agent, 300m for log, 200m for net, 150m for 2 more)"
        in text
    )
    assert [one.text.partition(" in container")[0] for one in explained.changes] == [
        "request at most 750m cpu",
        # with what the DaemonSets take there: no size of 2 vCPUs, and none of another architecture
        f"ask for {SIZE}: Standard_D4s_v5 in place of Standard_D2s_v5 in NodePool default",
    ]


def test_without_daemonsets_nothing_is_said_of_them() -> None:
    text = as_text([first(nodepool((SIZE, "Standard_D2s_v5")), deployment(1, "2"))])
    assert "too small: 2 cpu requested\n" in text


def test_a_size_that_is_asked_for_says_the_architecture() -> None:
    """To be allowed any size gives an Arm machine; the NodePool had an amd64 one."""
    small = nodepool((SIZE, "Standard_D2s_v5"))
    for change in first(small, deployment(1, "3")).changes:
        assert "Standard_B4pls_v2" not in change.size or "architecture arm64, not amd64" in change.alters


def beside(kind: str, label: str, key: str = "kubernetes.io/hostname") -> dict[str, Any]:
    """A required rule about pods with `app: label`."""
    term = {"topologyKey": key, "labelSelector": {"matchLabels": {"app": label}}}
    return {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def test_pods_that_wait_for_each_other() -> None:
    a = testing.pod("a", "1", labels={"app": "a"}, affinity=beside("podAffinity", "b"))
    b = testing.pod("b", "1", labels={"app": "b"}, affinity=beside("podAffinity", "a"))
    explained = first(AMD64, a, b)
    (change,) = explained.changes
    assert change.text == "prefer, and not require, to be beside pods with app=b by kubernetes.io/hostname"


def test_more_pods_that_keep_apart_than_zones() -> None:
    """The pods that have Nodes keep others away, too: the change is made to all of the Deployment."""
    web = deployment(5, affinity=beside("podAntiAffinity", "web", ZONE))
    (change,) = first(AMD64, web).changes
    assert change.text == f"prefer, and not require, to be apart from pods with app=web by {ZONE}"
    assert (change.pods, change.wanted) == (1, 1)


def test_no_advice_takes_the_room_of_others() -> None:
    """Without the selector kube-scheduler would have put web on the Node that db has; db is there already, and web gets one of its own."""
    room = {"cpu": "2", "memory": "8Gi", "pods": "110"}
    there = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "aks-system-1", "labels": {"pool": "system", "kubernetes.io/hostname": "aks-system-1"}},
        "status": {"capacity": room, "allocatable": room, "conditions": [{"type": "Ready", "status": "True"}]},
    }
    db = testing.deployment("db", 1, "1500m", nodeSelector={"pool": "system"})
    web = testing.deployment("a-web", 1, "1500m", nodeSelector={"kubernetes.io/hostname": "gone"})
    explained = first(there, AMD64, web, db)
    assert explained.workload == "Deployment/a-web"
    assert not any(one.lost for one in explained.changes)
    assert [(one.text, one.nodes) for one in explained.changes if one.text.startswith("remove")] == [
        ("remove kubernetes.io/hostname: gone from the pod's nodeSelector", 1)
    ]


def test_a_machine_that_others_have_does_not_make_advice_dear() -> None:
    """Together with a large pod a small one would share its machine; but that is there, elsewhere."""
    pool = nodepool((CAPACITY, "on-demand"), (ZONE, "eastus-1"))
    web = testing.deployment("a-web", 1, "1", nodeSelector={ZONE: "eastus-2"})
    explained = first(pool, web, testing.deployment("large", 1, "90"))
    assert explained.workload == "Deployment/a-web"
    assert all(one.price < 1 for one in explained.changes)
    assert explained.changes


def test_a_word_that_was_meant_says_whose_room_it_takes() -> None:
    pool = nodepool((SIZE, "Standard_D2s_v5"), limits={"cpu": "2"}, labels={"team": "blue"})
    web = testing.deployment("a-web", 1, "1600m", nodeSelector={"taem": "blue"})
    explained = first(pool, web, testing.deployment("db", 1, "1500m"))
    assert explained.workload == "Deployment/a-web"
    change = explained.changes[0]
    assert (change.meant, change.lost) == ("team", (("Deployment/db", 1),))
    assert "; without a Node then: 1 pod of Deployment/db)" in as_text([explained])


@pytest.mark.parametrize(("cpu", "meant"), [("2000", "2000m"), ("500M", "500m")])
def test_cpus_without_the_letter_for_thousandths(cpu: str, meant: str) -> None:
    change = first(AMD64, deployment(1, cpu)).changes[0]
    assert change.meant == meant
    assert change.text.startswith(f"request {meant} cpu, not ")
    assert change.price < 1


def test_as_many_cpus_as_some_size_has_are_meant() -> None:
    assert not any(one.meant for one in first(AMD64, deployment(1, "400")).changes)


def test_names_that_others_have_for_architectures_and_capacity_types() -> None:
    pool = nodepool((FAMILY, "d"), (ARCH, "x86_64"), (CAPACITY, "on-demand"))
    explained = first(pool, deployment(1))
    assert explained.changes[0].meant == "D and amd64"
    regular = first(AMD64, deployment(1, nodeSelector={CAPACITY: "regular"}))
    assert regular.changes[0].meant == "on-demand"


def claim(name: str, storageclass: str) -> dict[str, Any]:
    spec = {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": storageclass,
        "resources": {"requests": {"storage": "8Gi"}},
    }
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name}, "spec": spec}


def test_a_claim_and_a_nodeclass_that_are_called_otherwise() -> None:
    """Also where that alone is not enough: one mistake does not hide the other."""
    volume = {"name": "v", "persistentVolumeClaim": {"claimName": "dta"}}
    ignored = first(AMD64, claim("data", "manged-csi"), deployment(1, volumes=[volume]))
    assert [one.meant for one in ignored.short] == ["data"]
    assert 'StorageClass.storage.k8s.io "manged-csi" not found' in ignored.short[0].rest
    pool = nodepool((FAMILY, "d"), nodeclass="defualt")
    assert [one.meant for one in first(pool, deployment(1)).short] == ["default"] or first(pool, deployment(1)).changes


OTHERS_WORDS = [
    ({"karpenter.sh/provisioner-name": "default"}, ["karpenter.sh/nodepool"]),
    ({"karpenter.k8s.aws/instance-family": "D"}, [FAMILY]),
    ({"kubernetes.azure.com/agentpool": "user"}, []),  # a long domain in common makes no likeness to `mode`
]


@pytest.mark.parametrize(("selector", "meant"), OTHERS_WORDS)
def test_keys_of_others(selector: dict[str, str], meant: list[str]) -> None:
    explained = first(AMD64, deployment(1, nodeSelector=selector))
    assert [one.meant for one in (*explained.changes, *explained.short) if one.meant] == meant


def test_a_nodepool_of_another_cloud() -> None:
    pool = nodepool((FAMILY, "D"))
    pool["spec"]["template"]["spec"]["nodeClassRef"] = {
        "group": "karpenter.k8s.aws",
        "kind": "EC2NodeClass",
        "name": "default",
    }
    (change,) = first(pool, deployment(1)).changes
    assert change.meant == "AKSNodeClass"
    assert (
        change.text
        == "name AKSNodeClass default of group karpenter.azure.com in place of EC2NodeClass default in NodePool default"
    )


def test_a_disk_that_is_too_small_is_made_larger() -> None:
    pod = testing.pod("web", "1")
    pod["spec"]["containers"][0]["resources"]["requests"]["ephemeral-storage"] = "500Gi"
    change = first(AMD64, pod).changes[0]
    assert change.text == "set spec.osDiskSizeGB: 1024 in AKSNodeClass default"


def test_a_resource_that_is_called_otherwise() -> None:
    pod = testing.pod("web", "1")
    pod["spec"]["containers"][0]["resources"]["limits"] = {"nvidia.com/gpus": "1"}
    change = first(nodepool((CAPACITY, "on-demand")), pod).changes[0]
    assert change.meant == "nvidia.com/gpu"
    assert change.text == "ask for nvidia.com/gpu in place of nvidia.com/gpus in container c"


@pytest.mark.parametrize(("kind", "told"), [("spot", "on spot at 0.1000 USD/h)"), ("on-demand", "at 0.1920 USD/h)")])
def test_a_price_says_when_it_is_one_of_spot(kind: str, told: str) -> None:
    pool = nodepool((CAPACITY, kind), (SIZE, "Standard_D4s_v5"))
    azure = {"prices": {"Standard_D4s_v5": {"spot": 0.1}}} if kind == "spot" else {}
    explained = first(pool, deployment(1, nodeSelector={"team": "blue"}), azure=azure)
    assert f"(then: NodePool default, Standard_D4s_v5 {told}" in as_text([explained])


def test_a_spot_price_that_nobody_knows_is_an_upper_bound() -> None:
    pool = nodepool((CAPACITY, "spot"), (SIZE, "Standard_D4s_v5"))
    azure = {"prices": {"*": "static", "Standard_D4s_v5": {"on-demand": 0.192, "spot": None}}}
    explained = first(pool, deployment(1, nodeSelector={"team": "blue"}), karpenter="1.14.0", azure=azure)
    assert "Standard_D4s_v5 on spot at 0.1920 USD/h at most)" in as_text([explained])
