"""One situation, from manifests to a result: `harness.simulate`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from harness.karpenter.labels.core import CAPACITY_TYPE, NODEPOOL
from harness.kube.api.labels import INSTANCE_TYPE, ZONE
from harness.kube.api.objects import Object, labels_of, name_of, namespace_of, spec_of
from harness.kube.api.owners import workload_of
from harness.limits import with_remedy
from harness.sweep.result import NodeRow, PodRow, RefusalRow, Result
from harness.sweep.situation import Scaled, Situation
from harness.trace.prices import supposed_text
from harness.world import World
from harness.world.costs.bill import Bill
from harness.world.costs.prices import machine_prices
from harness.world.refused import is_mistake

if TYPE_CHECKING:
    from harness.engine.engine import Settled
    from harness.reading.sources import Source
    from harness.world import Caches

__all__ = ["simulate"]

_DAY = 24 * 3600.0


def simulate(*manifests: Object | Source, situation: Situation | None = None, caches: Caches | None = None) -> Result:
    """Run one situation to its end, and return its result.

    `manifests` are what `World.apply` takes: objects, paths of files, or YAML text. Objects that the API server refuses are in the
    result, as are pods that stay pending. `caches` are what worlds share; by default those of the process. Raises what World raises for
    inputs that do not exist, and OSError, ScenarioError for files.
    """
    chosen = situation or Situation()
    world = World(**chosen.arguments(), caches=caches)
    bill = Bill(world)
    for pool in chosen.agent_pools:
        world.add_agent_pool(str(pool["name"]), {key: value for key, value in pool.items() if key != "name"})
    world.apply(*manifests)
    settled = world.settle(allow_rejections=True)
    start = world.clock.seconds
    for scaled in chosen.scaled:
        if scaled.at <= chosen.until:
            settled = _advance(world, settled, start + scaled.at)
            _scale(world, scaled)
    settled = _advance(world, settled, start + chosen.until)
    if chosen.scaled and chosen.scaled[-1].at >= chosen.until and settled.quiescent:
        settled = world.settle(allow_rejections=True)
    return Result(
        pods=tuple(_pods(world)),
        nodes=tuple(_nodes(world)),
        refused=tuple(_refused(world)),
        rejected=tuple(
            f"{rejection.object}: {rejection.text}" for rejection in world.rejections if is_mistake(rejection)
        ),
        usd_per_hour=world.cost(),
        usd=bill.usd(),
        seconds=world.clock.seconds,
        machines=bill.machines,
        disruptions=len(world.disruptions),
        motion=str(settled.runaway or with_remedy(settled.exhausted, settled.limit)),
        unpriced=tuple(sorted(bill.unpriced)),
        guessed=tuple(sorted(bill.guessed)),
        supposed=supposed_text(world.spot_discount) if world.spot_discount else "",
    )


def _advance(world: World, settled: Settled, end: float) -> Settled:
    """Let time pass to `end`, in seconds of the world's clock; not at all where it never comes to rest."""
    while settled.quiescent and world.clock.seconds < end:
        settled = world.advance(min(_DAY, end - world.clock.seconds))
    return settled


def _scale(world: World, scaled: Scaled) -> None:
    """Change `spec.replicas` as kubectl scale does. Raises LookupError where there is no such workload."""
    kind, _, rest = scaled.of.partition("/")
    namespace, _, name = rest.rpartition("/")
    workload = world.get(kind, name, namespace or None)
    if workload is None:
        raise LookupError(f"there is no {scaled.of} to scale")
    metadata = {key: value for key, value in workload["metadata"].items() if key != "resourceVersion"}
    world.apply({**workload, "metadata": metadata, "spec": {**spec_of(workload), "replicas": scaled.replicas}})


def _pods(world: World) -> Iterable[PodRow]:
    reasons = _reasons(world)
    for pod in world.list("Pod"):
        name = f"{namespace_of(pod)}/{name_of(pod)}"
        node = str(spec_of(pod).get("nodeName") or "")
        yield PodRow(name, _owner(pod), node, "" if node else reasons.get(name, ""))


def _reasons(world: World) -> dict[str, str]:
    """Pod → why it waits: Karpenter's last sentence, else what Azure or who read the objects refused, else kube-scheduler's."""
    sentences_by_pod: dict[str, dict[bool, str]] = {}
    for event in world.events:
        if event.reason == "FailedScheduling" and event.object.kind == "Pod":
            name = f"{event.object.namespace}/{event.object.name}"
            sentences_by_pod.setdefault(name, {})[event.source == "karpenter"] = event.message
    refused = world.refused_calls()
    azure = (
        f"Azure refused {refused[-1].summary.get('size') or refused[-1].resource} with {refused[-1].code}"
        if refused
        else ""
    )
    mistakes = (
        f"{rejection.object} was refused: {rejection.text}" for rejection in world.rejections if is_mistake(rejection)
    )
    other = azure or next(mistakes, "")
    return {name: sentences.get(True) or other or sentences[False] for name, sentences in sentences_by_pod.items()}


def _owner(pod: Object) -> str:
    """Return the workload that people know, empty for a pod that nothing made."""
    workload = workload_of(pod)
    return "" if workload.kind == "Pod" else str(workload)


def _nodes(world: World) -> Iterable[NodeRow]:
    prices = machine_prices(world)
    bound = Counter(str(spec_of(pod).get("nodeName") or "") for pod in world.list("Pod"))
    for node in world.list("Node"):
        labels, name = labels_of(node), name_of(node)
        price = prices.get(name)
        yield NodeRow(
            name=name,
            nodepool=labels.get(NODEPOOL, ""),
            size=labels.get(INSTANCE_TYPE, ""),
            zone=labels.get(ZONE, ""),
            capacity_type=labels.get(CAPACITY_TYPE, ""),
            price=price.usd if price is not None else None,
            pods=bound[name],
        )


def _refused(world: World) -> Iterable[RefusalRow]:
    calls = world.refused_calls()
    counts = Counter(
        (call.code or str(call.status), str(call.summary.get("size") or ""), str(call.summary.get("zone") or ""))
        for call in calls
    )
    for (code, size, zone), count in sorted(counts.items()):
        yield RefusalRow(code, size, zone, count)
