"""Why the NodeClaim before did not take the pods for which one is made after the other."""

from __future__ import annotations

from typing import Any

import pytest

from harness.karpenter.provisioning.runaway import PodRunaways
from harness.karpenter.releases import provider
from harness.testing import node, nodeclaim, pod
from tests.corridor.still import Still

DAEMON = [{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "agent", "uid": "d"}]
READINESS = {"key": "readiness.k8s.io/network", "effect": "NoSchedule"}
TEAM = {"key": "team", "effect": "NoSchedule"}


def launched(**labels: str) -> Any:
    """A NodeClaim whose machine is Node `n`."""
    made = nodeclaim(name="c1")
    made["metadata"]["labels"] = labels
    made["status"] = {"providerID": "azure:///n"}
    return made


def machine(registered: bool = True, labels: dict[str, str] | None = None, **spec: Any) -> Any:
    own = {"karpenter.sh/registered": "true"} if registered else {}
    return node("n", providerID="azure:///n", labels={**own, **(labels or {})}, **spec)


def agent(on: str, cpu: str = "3500m", phase: str = "Running") -> Any:
    """A pod of a DaemonSet on this Node."""
    made = pod(f"agent-{on}", cpu, nodeName=on)
    made["metadata"]["ownerReferences"] = DAEMON
    made["status"] = {"phase": phase}
    return made


def running(on: str) -> Any:
    """Somebody's pod on this Node."""
    made = pod("big", "3500m", nodeName=on)
    made["status"] = {"phase": "Running"}
    return made


def reason(*objects: Any, failures: dict[str, str] | None = None, **spec: Any) -> tuple[str | None, str]:
    """The key at fault and the reason, once a second NodeClaim was made for the pod."""
    web = pod("web", **spec)
    web["metadata"]["uid"] = "web"
    runaways = PodRunaways(Still(*objects), provider("1.14.0"), failures or {}, bound=2)
    assert runaways.created([web], {"metadata": {"name": "c1"}}, "any", 1.0) is None
    found = runaways.created([web], {"metadata": {"name": "c2"}}, "any", 2.0)
    assert found is not None
    assert found.subject == "Pod/web"
    return found.loops[-1].fault, found.loops[-1].why


DID_NOT = "NodeClaim/c1 did not take the pod"
SELECTS: dict[str, Any] = {"nodeSelector": {"team": "a"}}


@pytest.mark.parametrize(
    ("objects", "spec", "why"),
    [
        ([launched()], {}, DID_NOT),
        ([launched(), machine()], {}, DID_NOT),
        ([launched(), machine(), agent("n")], {}, f"{DID_NOT}: Insufficient cpu beside the pods of DaemonSet agent"),
        ([launched(), machine(), agent("other")], {}, DID_NOT),
        ([launched(), machine(), running("n")], {}, f"{DID_NOT}: Insufficient cpu"),
        ([launched(), machine(), running("other")], {}, DID_NOT),
        ([launched(), machine(), agent("n", phase="Succeeded")], {}, DID_NOT),
        ([launched(), machine(taints=[READINESS])], {}, DID_NOT),  # that goes by itself
        (
            [launched(team="a"), machine(registered=False)],
            SELECTS,
            f"{DID_NOT}: node(s) didn't match Pod's node affinity/selector",
        ),
    ],
)
def test_why_a_node_did_not_take_the_pod(objects: list[Any], spec: dict[str, Any], why: str) -> None:
    assert reason(*objects, **spec) == (None, why)


def test_a_taint_that_stays_is_named() -> None:
    fault, why = reason(launched(), machine(taints=[TEAM, READINESS]), agent("n"))
    assert fault is None
    assert "DaemonSet" not in why  # without its pods it would be the same
    assert why.startswith(f"{DID_NOT}: node(s) had untolerated taint")


@pytest.mark.parametrize(
    "objects",
    [
        [launched(team="b")],
        [launched(team="a"), machine(labels={"team": "b"})],  # a registered Node speaks for itself
        [launched(team="b"), machine(registered=False, labels={"team": "a"})],
    ],
)
def test_a_label_that_contradicts_the_pod_is_at_fault(objects: list[Any]) -> None:
    fault, why = reason(*objects, **SELECTS)
    assert fault == "team"
    assert why.startswith("NodeClaim/c1 does not take the pod: ")


def test_a_label_that_is_not_there_is_at_fault() -> None:
    fault, why = reason(launched(), **SELECTS)
    assert fault == "team"
    assert 'label "team" does not have known values' in why


@pytest.mark.parametrize(
    ("failures", "why"), [({}, "NodeClaim/c1 is gone: deleted"), ({"c1": "no room"}, "NodeClaim/c1 is gone: no room")]
)
def test_a_nodeclaim_that_is_gone_says_why(failures: dict[str, str], why: str) -> None:
    assert reason(failures=failures) == (None, why)
