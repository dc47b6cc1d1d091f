"""Stories in memory, on virtual time."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

from harness.clusters.memory.cluster import MemoryCluster
from harness.engine.clock import SECOND, Clock
from harness.engine.engine import DONE, Engine, Result, Router
from harness.engine.ids import Ids
from harness.engine.ports import ADMIN, Change, ChangeType
from harness.engine.rng import Rng
from harness.karpenter.validation.crds import crd_set
from harness.kube.api.objects import name_of, namespace_of, uid_of
from harness.world.loads import curves
from harness.world.recorder import Recorder
from tests.clusters.stories.acting import first_objects, take
from tests.clusters.stories.facts import Watcher, event_text, is_told
from tests.clusters.stories.kubelet import Pace, act, owes
from tests.clusters.stories.story import Story

__all__ = ["told_in_memory"]

_RESTS: Mapping[str, float] = {"HorizontalPodAutoscaler": 5.0, "NodeLoss": 1.9}
"""Seconds from a step to the rest after it where a controller looks again and again, about as many as on the real one."""
_BEGIN = 20 * SECOND
"""Some seconds after the full minute, as on the real one."""


class _Kubelet:
    name = "kubelet"
    backoff = (1.0, 1.0)

    def __init__(self, engine: Engine, cluster: MemoryCluster, kind: str) -> None:
        self._engine = engine
        self._cluster = cluster
        self._due: dict[tuple[str, str], float] = {}
        self._pace = Pace(kind)

    def watches(self) -> Mapping[str, Router]:
        return {"Pod": self._keys}

    def _keys(self, change: Change) -> Iterable[Hashable]:
        if change.type is not ChangeType.DELETED and owes(change.object):
            yield (namespace_of(change.object), name_of(change.object))

    def reconcile(self, key: Hashable) -> Result:
        assert isinstance(key, tuple)
        pod = self._cluster.view.get("Pod", key[1], key[0])
        deed = "" if pod is None else owes(pod)
        if pod is None or not deed:
            return DONE
        now = self._engine.clock.seconds
        slot = (uid_of(pod), deed)
        due = self._due[slot] if slot in self._due else self._pace.due(now)
        self._due[slot] = due
        if now < due:
            return Result(due - now)
        act(self._cluster.writer(ADMIN), pod, deed, self._engine.clock.timestamp())
        return DONE


def told_in_memory(story: Story, kubernetes: str) -> list[dict[str, Any]]:
    """The facts of each rest."""
    engine, rng = Engine(Clock(_BEGIN)), Rng(0)
    recorder = Recorder(engine.clock)
    cluster = MemoryCluster(engine, rng, Ids(rng), recorder, crds=crd_set("1.14.0"), kubernetes=kubernetes)
    engine.add_controllers(_Kubelet(engine, cluster, story.kind))
    watcher = Watcher(cluster.view, story.name)
    cluster.store.subscribe(watcher.hear)
    writer = cluster.writer(ADMIN)
    for obj in first_objects(story):
        writer.create(obj)
    engine.settle()
    facts = []
    for step in story.steps:
        answers = take(step, story, cluster.view, writer)
        if step.verb == "load":
            for workload, curve in curves(
                {ref.replace("/", f"/{story.name}/", 1): load for ref, load in step.value["of"].items()}
            ):
                cluster.put_load(workload, curve)
        engine.advance(step.seconds)
        if story.kind not in _RESTS or (story.kind == "NodeLoss" and step.verb == "apply"):
            engine.settle()
        else:
            engine.advance(_RESTS[story.kind])
        watcher.events |= {
            event_text(event.object.kind, event.reason, event.message, story.name)
            for event in recorder.events
            if is_told(event.object.kind, event.reason)
        }
        facts.append(watcher.rest(answers))
    return facts
