"""The autoscaler in a world: pools grow for pending pods and shrink when nodes are unneeded, over virtual time and in upstream's words."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from harness import World
from harness.engine.ports import ADMIN
from harness.kube.api.objects import Object, condition_is, labels_of, name_of, spec_of, status_of
from harness.testing import daemonset, deployment, pod
from harness.world.agent_pools import PoolRefused
from harness.world.cluster_autoscaler.controller import ClusterAutoscaler

SIZE = "Standard_D4s_v5"
SETTINGS = {"expander": "least-waste"}


def a_pool(count: int = 1, minimum: int = 1, maximum: int = 5, size: str = SIZE, **properties: Any) -> dict[str, Any]:
    bounds = {"enableAutoScaling": True, "minCount": minimum, "maxCount": maximum}
    return {"count": count, "vmSize": size, **bounds, **properties}


def a_world(settings: dict[str, str] | None = None, **pools: dict[str, Any]) -> World:
    world = World(cluster_autoscaler=SETTINGS if settings is None else settings)
    for name, properties in pools.items():
        world.add_agent_pool(name, properties)
    return world


def counts(world: World) -> dict[str, int]:
    return {pool: len(world.agent_pools.nodes(pool)) for pool in world.agent_pools.pools}


def scale(world: World, name: str, replicas: int) -> None:
    world.ports.writer(ADMIN).scale("Deployment", name, "default", replicas)


def told(world: World, reason: str) -> list[str]:
    return [event.message for event in world.events if event.reason == reason and event.source == "cluster-autoscaler"]


def bound(world: World) -> list[str]:
    return [place for pod_ in world.list("Pod") if (place := spec_of(pod_).get("nodeName"))]


def a_budget(name: str, least: int) -> Object:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name},
        "spec": {"minAvailable": least, "selector": {"matchLabels": {"app": name}}},
    }


def test_a_pool_grows_for_pods_that_find_no_place() -> None:
    world = a_world(apps=a_pool())
    world.apply(deployment("web", 6, "1500m"))

    assert world.settle().quiescent

    assert counts(world) == {"apps": 3}
    assert len(bound(world)) == 6
    scale_set = world.agent_pools.scale_set("apps")
    assert told(world, "TriggeredScaleUp") == [f"pod triggered scale-up: [{{{scale_set} 1->3 (max: 5)}}]"] * 4
    assert told(world, "ScaledUpGroup") == [
        f"Scale-up: setting group {scale_set} size to 3 instead of 1 (max: 5)",
        f"Scale-up: group {scale_set} size set to 3 instead of 1 (max: 5)",
    ]


def test_pods_wait_for_nodes_that_are_on_their_way() -> None:
    world = a_world(apps=a_pool())
    world.change_timing(boot=300)
    world.apply(deployment("web", 4, "1500m"))
    world.advance(200)

    assert counts(world) == {"apps": 2}


def test_an_unneeded_node_goes_after_ten_minutes() -> None:
    world = a_world(apps=a_pool())
    world.apply(deployment("web", 6, "1500m"))
    world.settle()
    scale(world, "web", 1)
    before = world.clock.seconds
    world.advance(600)
    assert counts(world) == {"apps": 3}
    world.advance(30)

    assert counts(world) == {"apps": 1}
    assert world.clock.seconds - before == 630
    assert len([text for text in told(world, "ScaleDown") if text == "nodes removed by cluster autoscaler"]) == 2
    assert world.settle().quiescent
    assert not any(spec_of(node).get("taints") for node in world.list("Node"))


def test_an_unneeded_node_is_marked_and_loses_the_mark_when_it_is_needed() -> None:
    world = a_world(apps=a_pool(count=2))
    world.advance(20)
    marks = [[taint["key"] for taint in spec_of(node).get("taints") or ()] for node in world.list("Node")]
    assert ["DeletionCandidateOfClusterAutoscaler"] in marks
    world.apply(deployment("web", 4, "1500m"))
    world.advance(20)

    assert not any(spec_of(node).get("taints") for node in world.list("Node"))


def test_a_node_is_drained_whose_pods_find_another_place() -> None:
    world = a_world(apps=a_pool(count=2, maximum=2))
    world.apply(deployment("web", 4, "1700m"))
    world.settle()
    scale(world, "web", 2)
    world.settle()

    assert counts(world) == {"apps": 1}
    assert len(set(bound(world))) == 1
    assert any(text.startswith("Scale-down: removing node aks-apps-") for text in told(world, "ScaleDown")) or told(
        world, "ScaleDownEmpty"
    )


def test_a_budget_keeps_a_node() -> None:
    world = a_world(apps=a_pool(count=2, maximum=2))
    world.apply(deployment("web", 2, "1500m"), a_budget("web", 2))
    world.settle()
    places = bound(world)
    if len(set(places)) == 1:
        pytest.fail("the scheduler spreads two pods over two nodes")
    world.advance(3600)

    assert bound(world) == places
    assert counts(world) == {"apps": 2}


def test_pods_that_nothing_helps_are_told_why() -> None:
    world = a_world(small=a_pool(size="Standard_D2s_v5"), full=a_pool(count=2, minimum=2, maximum=2))
    world.apply(pod("large", "6"))
    world.settle()

    assert told(world, "NotTriggerScaleUp") == [
        "pod didn't trigger scale-up: 1 Insufficient cpu, 1 max node group size reached"
    ]
    assert counts(world) == {"small": 1, "full": 2}


def test_a_pool_without_nodes_is_known_by_its_description() -> None:
    world = a_world(
        apps=a_pool(),
        gpu=a_pool(0, 0, 2, "Standard_NC24ads_A100_v4", nodeTaints=["sku=gpu:NoSchedule"], nodeLabels={"team": "ml"}),
    )
    toleration = {"key": "sku", "operator": "Equal", "value": "gpu", "effect": "NoSchedule"}
    resources = {"requests": {"nvidia.com/gpu": "1"}, "limits": {"nvidia.com/gpu": "1"}}
    container = {"name": "train", "image": "train", "resources": resources}
    world.apply(pod("train", nodeSelector={"team": "ml"}, tolerations=[toleration], containers=[container]))
    world.settle()

    assert counts(world) == {"apps": 1, "gpu": 1}
    assert bound(world)
    assert all(place.startswith("aks-gpu-") for place in bound(world))


def test_daemons_take_their_part_of_a_node_that_was_never_seen() -> None:
    world = a_world(apps=a_pool(0, 0))
    world.apply(daemonset("agent", "1500m"), deployment("web", 2, "1500m"))
    world.settle()

    assert counts(world) == {"apps": 2}


def test_azure_may_refuse_and_another_pool_grows() -> None:
    world = a_world({"expander": "priority"}, first=a_pool(size="Standard_E4s_v5"), second=a_pool())
    config = {"priorities": "10:\n- .*second.*\n50:\n- .*first.*\n"}
    metadata = {"name": "cluster-autoscaler-priority-expander", "namespace": "kube-system"}
    world.change_azure({"quota": {"standardESv5Family": 4}})
    world.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": config})
    world.apply(deployment("web", 4, "3"))
    world.settle()

    assert counts(world) == {"first": 1, "second": 3}
    assert len(told(world, "FailedToScaleUpGroup")) == 1
    assert told(world, "FailedToScaleUpGroup")[0].startswith("Scale-up failed for group aks-first-")


def test_a_wrong_configmap_is_warned_of() -> None:
    world = a_world({"expander": "priority"}, apps=a_pool())
    metadata = {"name": "cluster-autoscaler-priority-expander", "namespace": "kube-system"}
    world.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"priorities": "10: [(]"}})
    world.apply(deployment("web", 2, "3"))
    world.settle()

    assert counts(world) == {"apps": 2}
    warnings = told(world, "PriorityConfigMapInvalid")
    assert len(warnings) == 1
    assert warnings[0].startswith(
        "Wrong configuration for priority expander: Can't compile regexp rule for priority 10 and rule (: "
    )


def test_a_pod_that_comes_meanwhile_keeps_an_empty_node() -> None:
    world = a_world(apps=a_pool(count=2))
    world.advance(622)
    going = next(node for node in world.list("Node") if spec_of(node).get("unschedulable"))
    world.apply(pod("late", nodeName=name_of(going), tolerations=[{"operator": "Exists"}]))
    world.advance(10)

    assert counts(world) == {"apps": 2}
    failures = told(world, "ScaleDownFailed")
    assert failures == [
        f'failed to delete empty node: GetPodsToMove for "{name_of(going)}" returned error: default/late is not replicated'
    ]
    assert not spec_of(world.list("Node", fields={"metadata.name": name_of(going)})[0]).get("unschedulable")


def test_a_drain_that_takes_too_long_is_given_up() -> None:
    world = a_world({**SETTINGS, "max-graceful-termination-sec": "10"}, apps=a_pool(count=2, maximum=2))
    world.apply(deployment("web", 2, "1500m"))
    world.advance(20)
    for item in world.list("Pod"):
        stays = {"metadata": {"finalizers": ["example.com/stays"]}}
        world.ports.writer(ADMIN).patch("Pod", name_of(item), stays, namespace="default")
    world.advance(700)

    assert counts(world) == {"apps": 2}
    assert any("pods remaining after timeout" in text for text in told(world, "ScaleDownFailed"))


def test_az_does_not_scale_a_pool_that_autoscales() -> None:
    world = a_world(apps=a_pool())

    with pytest.raises(PoolRefused, match="Cannot scale cluster autoscaler enabled node pool"):
        world.scale_agent_pool("apps", 3)


def test_pools_without_bounds_are_left_alone() -> None:
    world = a_world(fixed={"count": 2, "vmSize": SIZE}, apps=a_pool())
    world.advance(3600)

    assert counts(world) == {"fixed": 2, "apps": 1}


def _history(world: World) -> list[tuple[float, str, str]]:
    return [(event.at, event.reason, event.message) for event in world.events if event.source == "cluster-autoscaler"]


def _busy_day(world: World, seed: int) -> None:
    rng = Random(seed)
    world.apply(deployment("web", 2, "900m", "2Gi"), deployment("api", 3, "1500m"), a_budget("api", 2))
    for _ in range(12):
        world.advance(rng.choice([45.3, 401.1, 1301.7]))  # never at the moment of a look, whose order is by chance
        scale(world, rng.choice(["web", "api"]), rng.randint(1, 12))
    world.advance(4000)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_looks_that_are_left_out_change_nothing(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    pools = {"apps": a_pool(), "more": a_pool(0, 0, 4, "Standard_D8s_v5")}
    world = a_world(**pools)
    _busy_day(world, seed)
    monkeypatch.setattr(ClusterAutoscaler, "_until", lambda self, moment: 10.0)
    every_look = a_world(**pools)
    _busy_day(every_look, seed)

    assert _history(world) == _history(every_look)
    assert _history(world)


@pytest.mark.parametrize("seed", range(12))
def test_whatever_happens_counts_stay_within_bounds_and_budgets_hold(seed: int) -> None:
    rng = Random(seed)
    expander = rng.choice(["random", "least-waste", "most-pods"])
    settings = {"expander": expander, "balance-similar-node-groups": rng.choice(["true", "false"])}
    pools = {
        f"pool{number}": a_pool(
            rng.randint(1, 2),
            rng.randint(0, 1),
            rng.randint(2, 5),
            rng.choice([SIZE, "Standard_D2s_v5", "Standard_D8s_v5"]),
        )
        for number in range(rng.randint(1, 3))
    }
    world = a_world(settings, **pools)
    for name in ("web", "api"):
        world.apply(deployment(name, rng.randint(1, 4), rng.choice(["300m", "900m", "1700m"])), a_budget(name, 1))
    for _ in range(6):
        scale(world, rng.choice(["web", "api"]), rng.randint(1, 14))
        ready = {name: _ready(world, name) for name in ("web", "api")}
        for _ in range(8):
            world.advance(rng.choice([20, 60, 200]))
            for name, properties in pools.items():
                assert properties["minCount"] <= counts(world)[name] <= properties["maxCount"]
            for name, number in ready.items():
                assert not number or _ready(world, name), f"no pod of {name} is left"
    assert world.settle().quiescent
    before = counts(world)
    world.advance(7200)

    assert counts(world) == before
    nodes = {name_of(node): node for node in world.list("Node")}
    for item in world.list("Pod"):
        place = spec_of(item).get("nodeName")
        assert place is None or place in nodes


def _ready(world: World, app: str) -> int:
    pods = [item for item in world.list("Pod") if labels_of(item).get("app") == app]
    return sum(condition_is(item, "Ready") for item in pods if status_of(item).get("phase") == "Running")
