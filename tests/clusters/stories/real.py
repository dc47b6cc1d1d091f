"""Stories on the real control plane: kube-apiserver, kube-controller-manager and kube-scheduler, many side by side in namespaces."""

from __future__ import annotations

import heapq
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field
from datetime import UTC, datetime
from typing import Any

from harness.clusters.apiserver.cluster import ApiServerCluster
from harness.clusters.client.events import EventFeed
from harness.engine.ports import ADMIN, Change, ChangeType, Writer
from harness.kube.api.objects import Object, finalizers_of, name_of, namespace_of, uid_of
from harness.kube.api.status import ApiError
from harness.kube.scheduling.pods import is_terminal
from harness.kube.workloads.job_pods import FINALIZER
from lazyrecords import dataclass
from tests.clusters.stories.acting import first_objects, take
from tests.clusters.stories.facts import WORKLOADS, Watcher, event_text, is_told
from tests.clusters.stories.kubelet import Pace, act, owes
from tests.clusters.stories.metrics import MetricsServer
from tests.clusters.stories.story import Story

__all__ = ["Stage", "stage"]

_QUIET = 4.0
"""Seconds without a change after which a story is at rest: longer than anything takes that a story asks for."""
_QUIET_OF_JOBS = 13.0
"""The same of Jobs, whose pods come again ten seconds after the first failure."""
_PATIENCE = 3
"""How many times as long a story waits in which pods have ended that their Job has not counted: a control plane that a loaded machine
held up for that long is not at rest."""
_LONGEST = 420.0
_PUBLISH_EVERY = 1.0
"""Seconds between two writes of what pods use."""
_EARLY, _LATE = 10, 30
"""Seconds of a minute in which stories of CronJobs may begin, so that as many minutes begin in each of them."""


@dataclass(slots=True)
class _Told:
    """A story that is being told."""

    story: Story
    watcher: Watcher
    facts: list[dict[str, Any]] = field(default_factory=list)
    step: int = -1
    answers: list[str] = field(default_factory=list)
    moved: float = 0.0
    until: float = 0.0
    pace: Pace = field(init=False)

    def __post_init__(self) -> None:
        self.pace = Pace(self.story.kind)

    @property
    def quiet(self) -> float:
        """Seconds without a change after which it is at rest."""
        return _QUIET_OF_JOBS if self.story.kind == "Job" else _QUIET

    @property
    def over(self) -> bool:
        return self.step >= len(self.story.steps)


class Stage:
    """A control plane on which stories are told."""

    def __init__(self, cluster: ApiServerCluster) -> None:
        self._cluster = cluster
        self._writer: Writer = cluster.writer(ADMIN)
        self._told: dict[str, _Told] = {}
        self._due: list[tuple[float, str, str, str]] = []
        self._known: set[tuple[str, str]] = set()
        self._feed = EventFeed(cluster.connection(ADMIN))
        self._feed.start()
        cluster.view.subscribe(self._hear)
        self._metrics = MetricsServer(cluster.connection(ADMIN), cluster.view, cluster.version())
        self._published = 0.0
        cluster.view.subscribe(self._metrics.hear)

    def version(self) -> str:
        """The version of Kubernetes."""
        return self._cluster.version()

    def tell(self, stories: Sequence[Story]) -> list[list[dict[str, Any]]]:
        """Tells stories side by side, each in its namespace; returns the facts of each."""
        self._told = {story.name: _Told(story, Watcher(self._cluster.view, story.name)) for story in stories}
        for told in self._told.values():
            for obj in first_objects(told.story):
                self._writer.create(obj)
        self._wait_for_accounts()
        if any(story.kind == "CronJob" for story in stories):
            while not _EARLY <= datetime.now(UTC).second <= _LATE:
                self._cluster.view.pump(0.2)
        for told in self._told.values():
            told.moved = time.monotonic()
        began = time.monotonic()
        while not all(told.over for told in self._told.values()):
            self._cluster.view.pump(0.02)
            self._serve()
            self._take_events()
            for told in self._told.values():
                if not told.over and self._rests(told):
                    self._go_on(told)
            if time.monotonic() - began > _LONGEST:
                late = [told.story.name for told in self._told.values() if not told.over]
                raise TimeoutError(f"never at rest: {', '.join(late)}")
        facts = [told.facts for told in self._told.values()]
        self._tidy()
        return facts

    def _wait_for_accounts(self) -> None:
        for name in self._told:
            for _ in range(600):
                if self._cluster.admin.raw("GET", f"/api/v1/namespaces/{name}/serviceaccounts/default")[0] == 200:
                    break
                time.sleep(0.05)

    def _rests(self, told: _Told) -> bool:
        now = time.monotonic()
        if now < told.until or now - told.moved < told.quiet:
            return False
        pods = self._cluster.view.list("Pod", namespace=told.story.name)
        uncounted = any(is_terminal(pod) and FINALIZER in finalizers_of(pod) for pod in pods)
        return not uncounted or now - told.moved >= _PATIENCE * told.quiet

    def _go_on(self, told: _Told) -> None:
        if told.step >= 0:
            told.facts.append(told.watcher.rest(told.answers))
        told.step += 1
        if told.over:
            return
        step = told.story.steps[told.step]
        told.moved = time.monotonic()
        told.answers = take(step, told.story, self._cluster.view, self._writer)
        if step.verb == "load":
            self._metrics.load(told.story.name, step.value["of"])
        told.until = told.moved + step.seconds

    def _hear(self, change: Change) -> None:
        obj = change.object
        place = namespace_of(obj) or name_of(obj).rpartition("-")[0]
        told = self._told.get(place)
        if told is None:
            return
        told.moved = time.monotonic()
        told.watcher.hear(change)
        if obj["kind"] == "Pod" and change.type is not ChangeType.DELETED:
            deed = owes(obj)
            if deed and (uid_of(obj), deed) not in self._known:
                self._known.add((uid_of(obj), deed))
                heapq.heappush(self._due, (told.pace.due(told.moved), place, name_of(obj), deed))

    def _serve(self) -> None:
        if time.monotonic() - self._published > _PUBLISH_EVERY:
            self._metrics.publish()
            self._published = time.monotonic()
        while self._due and self._due[0][0] <= time.monotonic():
            _, place, name, deed = heapq.heappop(self._due)
            pod = self._cluster.view.get("Pod", name, place)
            if pod is not None and owes(pod) == deed:
                act(self._writer, pod, deed, datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"))

    def _take_events(self) -> None:
        for event in self._feed.take():
            told = self._told.get(namespace_of(event.object))
            if told is not None and is_told(event.object["kind"], event.reason):
                told.watcher.events.add(event_text(event.object["kind"], event.reason, event.message, told.story.name))

    def _tidy(self) -> None:
        """Removes what the stories have left, without waiting for it."""
        names = list(self._told)
        self._told = {}
        self._metrics.forget()
        for name in names:
            for obj in (*_all(self._cluster, name),):
                _delete(self._writer, obj)


def _all(cluster: ApiServerCluster, name: str) -> Iterator[Object]:
    for kind in WORKLOADS:
        yield from cluster.view.list(kind, namespace=name)
    yield from (node for node in cluster.view.list("Node") if name_of(node).rpartition("-")[0] == name)
    yield from cluster.view.list("Pod", namespace=name)
    yield {"kind": "Namespace", "metadata": {"name": name}}


def _delete(writer: Writer, obj: Object) -> None:
    try:
        grace = 0 if obj["kind"] == "Pod" else None
        writer.delete(obj["kind"], name_of(obj), namespace=namespace_of(obj), grace_period_seconds=grace)
    except ApiError:
        return  # it went with something else


@contextmanager
def stage() -> Iterator[Stage]:
    """A control plane of its own. Raises MissingTool without KUBEBUILDER_ASSETS."""
    with ApiServerCluster() as cluster:
        yield Stage(cluster)
