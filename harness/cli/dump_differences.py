"""Differences between a dump and its simulation in who is bound: with any, the simulation is not about the cluster as it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from harness.kube.api.objects import is_terminating, spec_of, status_of
from harness.kube.api.owners import Workload, workload_of
from harness.wording import counted, first_few

if TYPE_CHECKING:
    from harness.scenario.language.dumps import Dump
    from harness.world import World

__all__ = ["binding_differences"]

_FEW = 4
_Waiting = Mapping[Workload, int]


def binding_differences(dump: Dump, world: World) -> list[str]:
    """A line about pods that wait in the dump and are bound here, and one about those of which the opposite is true.

    Pods are those of a running cluster, which have a status. They are made anew by their controllers, so they are counted by workload.
    """
    pods = [manifest.object for manifest in (*dump.manifests, *dump.derived) if manifest.kind == "Pod"]
    there = [pod for pod in pods if status_of(pod).get("phase") and not is_terminating(pod)]
    here = world.view.list("Pod")
    common = {*map(workload_of, there)} & {*map(workload_of, here)}
    before, after = (_waiting(pod for pod in side if workload_of(pod) in common) for side in (there, here))
    return [
        *_line("pending in the dump and bound here", before, after),
        *_line("bound in the dump and pending here", after, before),
    ]


def _waiting(pods: Iterable[Mapping[str, Any]]) -> _Waiting:
    return Counter(workload_of(pod) for pod in pods if not spec_of(pod).get("nodeName"))


def _line(how: str, waiting: _Waiting, others: _Waiting) -> Iterator[str]:
    more = {workload: count - others.get(workload, 0) for workload, count in waiting.items()}
    names = [f"{workload} ({count})" if count > 1 else str(workload) for workload, count in more.items() if count > 0]
    if names:
        total = sum(count for count in more.values() if count > 0)
        verb = "is" if total == 1 else "are"
        yield f"dump and simulation differ: {counted(total, 'pod')} {verb} {how}: {first_few(names, _FEW)}"
