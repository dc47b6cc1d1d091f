"""A Node that was made for one pod may be taken by another of its controller: what Karpenter wanted for that one counts then."""

from contextlib import suppress
from types import SimpleNamespace
from typing import Any, cast

import pytest

from harness import World
from harness.engine.runaway import Runaway
from harness.explain.pods.waiting import nominations
from harness.karpenter.lifecycle.nominations import NOMINATED, nomination
from harness.kube.api.objects import Key, name_of, spec_of
from harness.testing import deployment, nodeclass, nodepool, pod, requirement
from harness.world.recorder import Event


def event(pod: str, reason: str, message: str = "") -> Event:
    return Event(0.0, Key("Pod", "default", pod), "Normal", reason, message, "")


def of_web(name: str, host: str = "") -> dict[str, Any]:
    """Return a pod of the ReplicaSet `web`, bound where there is a `host`."""
    owned = pod(name=name, **{"nodeName": host} if host else {})
    owner = {"kind": "ReplicaSet", "name": "web", "uid": "web", "controller": True}
    return {**owned, "metadata": {**owned["metadata"], "namespace": "default", "ownerReferences": [owner]}}


def targets(pods: list[dict[str, Any]], events: list[Event], nodes: dict[str, str]) -> dict[str, str]:
    """Return the targets by the name of the pod; `nodes` are the Nodes of the NodeClaims that are there."""
    claims = {claim: {"metadata": {"name": claim}, "status": {"nodeName": node}} for claim, node in nodes.items()}
    view = SimpleNamespace(list=lambda kind: pods)
    world = SimpleNamespace(events=events, view=view, get=lambda kind, name: claims.get(name))
    return {name: target for (_, name), target in nominations(cast(World, world)).items()}


WANTED = [
    event("first", NOMINATED, nomination("c1", None)),
    event("second", NOMINATED, nomination("c2", None)),
]


def test_a_pod_whose_node_was_taken_waits_for_what_was_made_for_the_other() -> None:
    events = [*WANTED, event("second", "Scheduled")]
    assert targets([of_web("first"), of_web("second", "n1")], events, {"c1": "n1"})["first"] == "nodeclaim/c2"


def test_a_chain_of_exchanges_is_followed() -> None:
    events = [*WANTED, event("third", NOMINATED, nomination("c3", None))]
    events += [event("second", "Scheduled"), event("third", "Scheduled")]
    pods = [of_web("first"), of_web("second", "n1"), of_web("third", "n2")]
    assert targets(pods, events, {"c1": "n1", "c2": "n2"})["first"] == "nodeclaim/c3"


def test_a_pod_that_was_there_before_the_promise_took_nothing() -> None:
    events = [WANTED[1], event("second", "Scheduled"), event("first", NOMINATED, nomination(None, "n1"))]
    assert targets([of_web("first"), of_web("second", "n1")], events, {})["first"] == "node/n1"


@pytest.mark.parametrize("seed", range(6))
def test_pods_without_a_machine_wait_for_those_that_azure_refused(seed: int) -> None:
    world = World(azure={"quota": {"cores": 4}}, seed=seed)
    size = requirement("node.kubernetes.io/instance-type", "Standard_D4s_v5")
    world.apply(
        nodeclass(), nodepool(size, requirement("karpenter.sh/capacity-type", "on-demand")), deployment("web", 3, "3")
    )
    with suppress(Runaway):
        world.settle()
    wanted = nominations(world)
    waiting = [made for made in world.list("Pod") if not spec_of(made).get("nodeName")]
    assert len(waiting) == 2
    for waiting_pod in waiting:
        kind, _, name = wanted["default", name_of(waiting_pod)].partition("/")
        assert (kind, world.get("NodeClaim", name)) == ("nodeclaim", None)
