"""A kubelet that registers its Node, one that finds it there, and machines that lose their power."""

from __future__ import annotations

from typing import Any

import pytest

from harness.clusters.memory.cluster import MemoryCluster
from harness.clusters.memory.writer import MemoryWriter
from harness.engine.clock import Clock
from harness.engine.engine import DONE, Engine, Result
from harness.engine.ids import Ids
from harness.engine.ports import ADMIN, Change, ChangeType
from harness.engine.rng import Rng
from harness.karpenter.validation.crds import crd_set
from harness.kube.api.quantity import Quantity
from harness.kube.api.status import ApiError
from harness.nodes.boot import boot_plan
from harness.nodes.kubelet import Kubelets
from harness.nodes.node_object import allocatable, capacity
from harness.nodes.registry import Machines, Phase
from harness.nodes.timing import NEVER, Timing
from harness.testing import node, pod
from harness.world.recorder import Recorder
from tests.nodes.test_boot import machine

NAME = "aks-default-6vl6h"


def kubelets(timing: Timing | None = None, **made: Any) -> tuple[Kubelets, MemoryCluster, Machines]:
    rng, engine, machines = Rng(0), Engine(Clock()), Machines()
    recorder = Recorder(engine.clock)
    memory = MemoryCluster(engine, rng, Ids(rng), recorder, crds=crd_set("1.14.0"), kubernetes="1.36.3")
    of = Kubelets(
        engine, memory.view, memory.writer, recorder, machines, kubernetes_version="1.36.3", timing=timing, **made
    )
    engine.add_controllers(of)
    return of, memory, machines


@pytest.mark.parametrize(("ready", "then"), [(5.0, Result(5.0)), (NEVER, DONE)])
def test_a_node_is_ready_later_or_never(ready: float, then: Result) -> None:
    of, memory, machines = kubelets(Timing(ready=ready))
    machines.register(machine())
    assert of.reconcile("/vm") == then
    assert memory.view.get("Node", NAME) is not None


def test_a_node_that_is_there_already_only_gets_the_labels_of_every_kubelet() -> None:
    of, memory, machines = kubelets()
    memory.writer(ADMIN).create(node(NAME, labels={"kubernetes.io/arch": "arm64", "mine": "x"}))
    running = machines.register(machine())
    of.reconcile("/vm")
    assert running.phase is Phase.REGISTERED
    found = memory.view.get("Node", NAME)
    assert found is not None
    labels = found["metadata"]["labels"]
    assert (labels["kubernetes.io/arch"], labels["mine"], labels.get("team")) == ("amd64", "x", None)


def test_a_node_that_is_refused_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(self: MemoryWriter, obj: Any, **named: Any) -> Any:
        raise ApiError(403, "Forbidden", "no")

    of, memory, machines = kubelets()
    running = machines.register(machine())
    monkeypatch.setattr(MemoryWriter, "create", refused)
    assert of.reconcile("/vm") is DONE
    assert (running.phase, running.problem) == (Phase.FAILED, "Unable to register node with API server: no")
    assert memory.view.get("Node", NAME) is None


@pytest.mark.parametrize(("real", "halted"), [(True, [NAME]), (False, [])])
def test_a_real_kubelet_is_stopped_with_its_machine(real: bool, halted: list[str]) -> None:
    stopped: list[str] = []
    of, _, machines = kubelets(halt=stopped.append)
    running = machines.register(machine())
    running.phase, running.real = Phase.READY, real
    of.power_off(running.machine.vm_id)
    assert stopped == halted
    assert running.phase is Phase.OFF


@pytest.mark.parametrize(
    ("status", "looks"),
    [({}, True), ({"phase": "Pending"}, True), ({"phase": "Running"}, False), ({"phase": "Succeeded"}, False)],
)
def test_a_kubelet_looks_at_pods_that_do_not_run_yet(status: dict[str, str], looks: bool) -> None:
    of, _, machines = kubelets()
    machines.register(machine())
    bound = {**pod("p", nodeName=NAME), "status": status}
    keys = of.watches()["Pod"](Change(ChangeType.MODIFIED, bound, None, 1))
    assert list(keys) == ([("default", "p")] if looks else [])


@pytest.mark.parametrize("quote", ["'", '"'])
def test_flags_in_either_quotes(quote: str) -> None:
    plan = boot_plan(
        machine(f"KUBELET_NODE_LABELS={quote}a=b{quote}\nKUBELET_FLAGS={quote}--max-pods=30{quote}\n"),
        kubernetes_version="1.30.0",
    )
    assert (plan.labels, plan.max_pods) == ({"a": "b"}, 30)


@pytest.mark.parametrize(("threshold", "share"), [("10%", 0.10000000149011612), ("5%", 0.05000000074505806)])
def test_memory_may_be_kept_back_by_percent(threshold: str, share: float) -> None:
    """The kubelet keeps a share as float32, and what is kept back as whole bytes."""
    text = f"KUBELET_FLAGS='--eviction-hard=memory.available<{threshold}'\nKUBELET_NODE_LABELS='a=b'\n"
    plan = boot_plan(machine(text), kubernetes_version="1.30.0")
    total = capacity(plan, machine())
    whole = int(total["memory"].removesuffix("Ki")) * 1024
    assert Quantity.parse(allocatable(plan, total)["memory"]).value() == whole - int(whole * share)
