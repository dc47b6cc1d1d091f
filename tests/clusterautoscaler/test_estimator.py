"""The number of nodes for pods: the cases of the autoscaler's own test (estimator/binpacking_estimator_test.go), and others."""

from typing import Any

import pytest

from harness.clusterautoscaler.scaleup.equivalence import pod_groups
from harness.clusterautoscaler.scaleup.estimator import estimate, node_limit
from harness.clusterautoscaler.snapshot import Snapshot, Surroundings
from harness.kube.api.versions import NEWEST
from harness.kube.scheduling.placement import NodeInfo
from tests.clusterautoscaler.builders import ZONE, a_group, a_node, a_pod, alike

APP = {"app": "web"}
MEBI = 1024 * 1024


def spread(skew: int, key: str, domains: int = 1) -> list[dict[str, Any]]:
    constraint: dict[str, Any] = {"maxSkew": skew, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule"}
    return [{**constraint, "minDomains": domains, "labelSelector": {"matchLabels": APP}}]


def with_port(port: int) -> list[dict[str, Any]]:
    resources = {"requests": {"cpu": "200m", "memory": "1000"}}
    return [{"name": "main", "image": "image", "resources": resources, "ports": [{"hostPort": port}]}]


def pods(count: int, cpu: int, memory: int, **spec: Any) -> list[dict[str, Any]]:
    return alike(count, "pod", cpu, memory, labels=APP, **spec)


@pytest.mark.parametrize(
    ("node", "groups", "limit", "nodes", "scheduled"),
    [
        pytest.param((1000, 2000), [pods(10, 350, 1000)], 0, 5, 10, id="by cpu and memory"),
        pytest.param((10000, 20000), [pods(20, 10, 100)], 0, 2, 20, id="by the number of pods"),
        pytest.param((1000, 5000), [pods(8, 0, 0, containers=with_port(5555))], 0, 8, 8, id="one host port a node"),
        pytest.param((1000, 5000), [pods(20, 500, 1000)], 5, 5, 10, id="up to a limit"),
        pytest.param((1000, 5000), [pods(10, 50, 1000), pods(10, 500, 1000)], 5, 5, 10, id="large pods first"),
        pytest.param(
            (1000, 5000),
            [pods(8, 200, 200, topologySpreadConstraints=spread(2, "kubernetes.io/hostname"))],
            0,
            4,
            8,
            id="two a host",
        ),
        pytest.param(
            (1000, 5000), [pods(8, 20, 100, topologySpreadConstraints=spread(2, ZONE))], 0, 1, 2, id="skew of a zone"
        ),
        pytest.param(
            (1000, 5000),
            [pods(12, 20, 100, topologySpreadConstraints=spread(1, "kubernetes.io/hostname", 3))],
            0,
            3,
            12,
            id="back to hosts that took pods before",
        ),
    ],
)
def test_as_upstream_counts(
    node: tuple[int, int], groups: list[list[Any]], limit: int, nodes: int, scheduled: int
) -> None:
    cpu, mebibytes = node
    old = NodeInfo(a_node("oldnode", 100, 100 * MEBI, pods=10, zone="zone-jupiter"))
    template = NodeInfo(a_node("template", cpu, mebibytes * MEBI, pods=10, zone="zone-mars"))

    count, packed = estimate(groups, template, Snapshot([old], Surroundings((), NEWEST)), limit or 1000)

    assert (count, len(packed)) == (nodes, scheduled)


def test_large_pods_are_taken_first() -> None:
    small, large = pods(10, 50, 1000), alike(10, "large", 500, 1000)
    template = NodeInfo(a_node("template", 1000, 5000, pods=10))

    _, packed = estimate([small, large], template, Snapshot((), Surroundings()), 5)

    assert packed == large


def test_pods_of_the_template_take_their_part() -> None:
    agent = a_pod("agent", 300, 0, owner=("DaemonSet", "agent", "apps/v1"))
    template = NodeInfo(a_node("template", 1000, 5000), [agent])

    count, _ = estimate([alike(4, "pod", 350, 100)], template, Snapshot((), Surroundings()), 1000)

    assert count == 2


def test_an_estimate_changes_nothing() -> None:
    snapshot = Snapshot([NodeInfo(a_node("old", 1000, 5000))], Surroundings())

    estimate([alike(3, "pod", 600, 100)], NodeInfo(a_node("template", 1000, 5000)), snapshot, 1000)

    assert list(snapshot.nodes) == ["old"]
    assert not snapshot.nodes["old"].pods


def test_similar_groups_lend_their_room() -> None:
    group, other = a_group("a", target=8), a_group("b", target=3)

    assert node_limit(group, [], 1000) == 2
    assert node_limit(group, [other], 1000) == 9
    assert node_limit(group, [other], 4) == 4


def test_pods_of_one_controller_stand_for_each_other() -> None:
    alone = a_pod("alone", 100, 100, owner=None)
    others = [*alike(3, "web", 100, 100), *alike(2, "big", 200, 100), a_pod("labelled", 100, 100, labels=APP)]
    projected = [{"name": "kube-api-access-x", "projected": {"sources": []}}]
    same = a_pod("web-x", 100, 100, volumes=projected, hostname="web-x")

    groups = pod_groups([alone, *others, same])

    assert [len(group) for group in groups] == [1, 4, 2, 1]


def test_a_controller_has_no_more_than_ten_groups_that_others_join() -> None:
    groups = pod_groups([a_pod(f"web-{cpu}-{turn}", cpu, 1) for turn in range(2) for cpu in range(1, 13)])

    assert [len(group) for group in groups] == [2] * 10 + [1] * 4
