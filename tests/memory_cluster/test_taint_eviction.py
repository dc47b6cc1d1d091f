"""Pods that tolerate a NoExecute taint for a time stay that long. Source: kubernetes pkg/controller/tainteviction/taint_eviction.go."""

from typing import Any

import pytest

from harness.clusters.memory.writer import MemoryWriter
from harness.engine.clock import SECOND, render
from harness.kube.api.status import ApiError
from tests.memory_cluster.test_pods import apply, node, pod

FOR = {"key": "maintenance", "operator": "Exists", "effect": "NoExecute"}
MAINTENANCE = {"key": "maintenance", "effect": "NoExecute"}
OTHER = {"key": "other", "effect": "NoExecute"}


def taints(cluster: Any, *found: dict[str, Any]) -> None:
    cluster.admin.patch("Node", "n", {"spec": {"taints": list(found) or None}})
    cluster.settle()


def stays(cluster: Any, name: str = "p") -> bool:
    found = cluster.view.get("Pod", name, "default")
    return found is not None and "deletionTimestamp" not in found["metadata"]


def tolerant(*tolerations: dict[str, Any]) -> dict[str, Any]:
    return pod(tolerations=list(tolerations))


@pytest.mark.parametrize(
    ("tolerations", "seconds"),
    [
        ([{**FOR, "tolerationSeconds": 60}], 60),
        ([{**FOR, "tolerationSeconds": 60}, FOR], 60),
        ([FOR, {**FOR, "tolerationSeconds": 60}], None),
    ],
    ids=["a minute", "the first counts", "for ever"],
)
def test_a_pod_stays_as_long_as_it_tolerates_the_taint(cluster, tolerations, seconds):
    apply(cluster, node(), tolerant(*tolerations))
    taints(cluster, MAINTENANCE)
    cluster.advance((seconds or 3600) - 1)
    assert stays(cluster)
    cluster.advance(1)
    assert stays(cluster) == (seconds is None)


def test_the_shortest_time_counts(cluster):
    apply(cluster, node(), tolerant({**FOR, "tolerationSeconds": 60}, {**FOR, "key": "other", "tolerationSeconds": 30}))
    taints(cluster, MAINTENANCE, OTHER)
    cluster.advance(29)
    assert stays(cluster)
    cluster.advance(1)
    assert not stays(cluster)


def test_a_time_that_runs_is_not_cut_short(cluster):
    apply(cluster, node(), tolerant({**FOR, "tolerationSeconds": 60}, {**FOR, "key": "other", "tolerationSeconds": 10}))
    taints(cluster, MAINTENANCE)
    cluster.advance(20)
    taints(cluster, MAINTENANCE, OTHER)
    cluster.advance(39)
    assert stays(cluster)
    cluster.advance(1)
    assert not stays(cluster)


def test_a_taint_that_goes_in_time_drives_nobody_out_and_another_begins_anew(cluster):
    apply(cluster, node(), tolerant({**FOR, "tolerationSeconds": 60}))
    taints(cluster, MAINTENANCE)
    cluster.advance(59)
    taints(cluster)
    cluster.advance(59)
    assert stays(cluster)
    taints(cluster, MAINTENANCE)
    cluster.advance(59)
    assert stays(cluster)
    cluster.advance(1)
    assert not stays(cluster)


def test_another_pod_of_that_name_has_its_own_time(cluster):
    apply(cluster, node(), tolerant({**FOR, "tolerationSeconds": 60}))
    taints(cluster, MAINTENANCE)
    cluster.advance(30)
    cluster.admin.delete("Pod", "p", namespace="default", grace_period_seconds=0)
    apply(cluster, tolerant({**FOR, "tolerationSeconds": 60}))
    cluster.advance(59)
    assert stays(cluster)
    cluster.advance(1)
    assert not stays(cluster)


def test_pods_leave_a_node_that_is_not_ready_after_five_minutes(cluster):
    apply(cluster, node(), pod())
    apply(cluster, node("other"))
    unready = {"status": {"conditions": [{"type": "Ready", "status": "False"}]}}
    cluster.admin.patch("Node", "n", unready, type="strategic", subresource="status")
    cluster.settle()
    cluster.advance(299)
    assert stays(cluster)
    cluster.advance(1)
    assert not stays(cluster)


@pytest.mark.parametrize("code", [404, 409, 422])
def test_a_pod_that_is_gone_or_another_is_driven_out_no_more(cluster, monkeypatch, code):
    def refused(self: MemoryWriter, *told: Any, **named: Any) -> None:
        raise ApiError(code, "", "no")

    apply(cluster, node(), pod())
    monkeypatch.setattr(MemoryWriter, "delete", refused)
    if code == 422:
        with pytest.raises(ApiError, match="no"):
            taints(cluster, MAINTENANCE)
    else:
        taints(cluster, MAINTENANCE)
    assert stays(cluster)


def test_the_taint_of_a_node_that_is_not_ready_says_since_when(cluster):
    """pkg/controller/util/node/controller_utils.go (SwapNodeControllerTaint)."""
    apply(cluster, node(), node("other"))
    cluster.advance(60)
    conditions = [{"type": "Ready", "status": "False"}]
    cluster.admin.patch("Node", "n", {"status": {"conditions": conditions}}, type="strategic", subresource="status")
    cluster.settle()
    found = cluster.view.get("Node", "n")["spec"]["taints"]
    assert {(each["key"], each["effect"]) for each in found} == {
        ("node.kubernetes.io/not-ready", "NoSchedule"),
        ("node.kubernetes.io/not-ready", "NoExecute"),
    }
    assert {each["timeAdded"] for each in found} == {render(60 * SECOND)}


def test_a_pod_that_is_put_on_a_node_with_a_taint_is_driven_out(cluster):
    apply(cluster, node(taints=[MAINTENANCE]))
    apply(cluster, pod("p", nodeName="n"), pod("q", nodeName="n", tolerations=[FOR]))
    assert (stays(cluster, "p"), stays(cluster, "q")) == (False, True)
