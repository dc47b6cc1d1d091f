"""Load and faults: what happens to a Karpenter, and what came of it, for the simulated loop and the real controller alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from harness.clusters.waiting import Patience
from harness.kube.api.objects import name_of, spec_of
from harness.world import World
from harness.world.real.world import RealWorld

__all__ = [
    "NODECLASS",
    "POOL",
    "SITUATIONS",
    "Figures",
    "Situation",
    "bound",
    "measured",
    "pods",
    "settled",
    "wait_until",
]

NODECLASS = {
    "apiVersion": "karpenter.azure.com/v1beta1",
    "kind": "AKSNodeClass",
    "metadata": {"name": "default"},
    "spec": {},
}
POOL = {
    "apiVersion": "karpenter.sh/v1",
    "kind": "NodePool",
    "metadata": {"name": "default"},
    "spec": {
        "disruption": {"consolidationPolicy": "WhenEmpty", "consolidateAfter": "Never"},
        "template": {
            "spec": {
                "nodeClassRef": {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"},
                "requirements": [
                    {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": ["Standard_D2s_v5"]},
                    {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand"]},
                ],
            }
        },
    },
}


def pods(count: int) -> dict[str, Any]:
    """A Deployment whose pods each need a Node of their own."""
    apart = {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": "kubernetes.io/hostname"}
        ]
    }
    container = {"name": "main", "image": "web", "resources": {"requests": {"cpu": "100m"}}}
    template = {
        "metadata": {"labels": {"app": "web"}},
        "spec": {"affinity": {"podAntiAffinity": apart}, "containers": [container]},
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"replicas": count, "selector": {"matchLabels": {"app": "web"}}, "template": template},
    }


def bound(world: World) -> list[str]:
    """The names of pods that have Nodes."""
    return [name_of(pod) for pod in world.list("Pod") if spec_of(pod).get("nodeName")]


def settled(world: World, count: int) -> None:
    """Waits until so many pods have Nodes, or for as long as anybody would. Raises AssertionError with the end of the log."""
    if isinstance(world, RealWorld):
        world.satisfied = lambda: len(bound(world)) == count
    for _ in range(6 + count // 30):
        world.settle(allow_rejections=True)
        if len(bound(world)) == count:
            return
    log = world.controller.tail() if isinstance(world, RealWorld) else ""
    raise AssertionError(f"{len(bound(world))} of {count} pods are bound; the end of the controller's log:\n{log}")


def wait_until(world: World, come: Callable[[], bool]) -> None:
    """Lets time pass until something has come. Raises AssertionError."""
    patience = Patience(60.0)
    while not come():
        assert not patience.passed, f"nothing came in {patience.waited}"
        world.advance(0.05)


def _nothing(world: World) -> None:
    """Pods come, and that is all."""


def _killed(world: World) -> None:
    """Karpenter dies when Azure has taken the first machine, before its NodeClaim says so."""
    wait_until(
        world, lambda: any(each.method == "PUT" and each.resource == "virtualMachines" for each in world.cloud.journal)
    )
    world.restart_karpenter()


def _api_restarted(world: World) -> None:
    """The API server ends, with all watches, while machines come up."""
    if isinstance(world, RealWorld):
        wait_until(world, lambda: bool(world.list("NodeClaim")))
        world.restart_api_server()


def _tokens_expire(world: World) -> None:
    """Tokens live 20 s; machines are asked for when the first is over."""
    if isinstance(world, RealWorld):
        world.front.tokens.lifetime = 20
        world.restart_karpenter()
        world.advance(25.0)
        world.apply(pods(3))


@dataclass(frozen=True, slots=True)
class Situation:
    """`count` pods, each of which needs a Node of its own, and what happens meanwhile.

    `refusal` is Azure's answer to the first six requests.
    """

    name: str
    count: int
    happens: Callable[[World], None] = _nothing
    refusal: str = ""
    first: int | None = None
    """How many pods come before that; all of them when absent."""
    smoke: bool = False
    simulated: bool = True
    """Whether it can happen to the simulated loop, which has neither API server nor tokens."""

    def __str__(self) -> str:
        return self.name

    @property
    def inputs(self) -> Mapping[str, Any]:
        """The world's."""
        if not self.refusal:
            return {}
        resources = ("networkInterfaces", "virtualMachines")
        return {
            "azure": {"faults": [{"what": self.refusal, "where": {"resource": each}, "times": 3} for each in resources]}
        }


SITUATIONS = (
    Situation("1 pod", 1),
    Situation("30 pods with anti-affinity", 30),
    Situation("killed between PUT and status", 3, _killed, smoke=True),
    Situation("the API server restarts", 3, _api_restarted, simulated=False),
    Situation("six answers of 429", 2, refusal="TooManyRequests"),
    Situation("six answers of 500", 2, refusal="InternalServerError"),
    Situation("tokens expire", 3, _tokens_expire, first=0, simulated=False),
    Situation("300 pods with anti-affinity", 300),
)


@dataclass(frozen=True, slots=True)
class Figures:
    """What came of a situation.

    `puts` are requests for machines, `seconds` those until all pods were bound, `slowest` those of Azure's slowest answer.
    """

    bound: int
    nodeclaims: int
    nodes: int
    machines: int
    interfaces: int
    puts: int
    seconds: float
    slowest: float
    left_over: int
    """NodeClaims, machines and network interfaces, once pods and NodePool were deleted."""


def measured(world: World, situation: Situation) -> Figures:
    """Lets it happen, then takes everything away again. Raises AssertionError for pods that get no Node."""
    began = world.clock.seconds
    world.apply(NODECLASS, POOL, pods(situation.count if situation.first is None else situation.first))
    situation.happens(world)
    settled(world, situation.count)
    seconds = max(each.at for each in world.events if each.reason == "Scheduled") - began
    puts = sum(call.method == "PUT" and call.resource == "virtualMachines" for call in world.cloud.journal)
    counts = len(bound(world)), *_counts(world)
    slowest = world.front.slowest if isinstance(world, RealWorld) else 0.0
    return Figures(*counts, puts, seconds, slowest, _left_over(world))


def _counts(world: World) -> tuple[int, int, int, int]:
    """NodeClaims, Nodes, machines and network interfaces of machines."""
    interfaces = world.cloud.state.store.list("Microsoft.Network/networkInterfaces")
    nics = sum("aks-" in each.id.name for each in interfaces)
    return len(world.list("NodeClaim")), len(world.list("Node")), len(world.cloud.vms()), nics


def _left_over(world: World) -> int:
    """Takes pods and NodePool away, and counts what is there after as long as anybody would wait."""
    if isinstance(world, RealWorld):
        world.satisfied = lambda: not any(_counts(world))
    world.delete("Deployment", "web", "default")
    world.delete("NodePool", "default")
    patience = Patience(120.0)
    while any(_counts(world)) and not patience.passed:
        world.settle(allow_rejections=True)
        if not isinstance(world, RealWorld):
            break
    return sum(_counts(world))
