"""One run of one case: the world, what was refused in it, and how it came to rest. Expectations look at this."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, TypeVar

from harness.engine.clock import EPOCH
from harness.karpenter.labels.core import NODEPOOL
from harness.kube.api.objects import controller_of, name_of, uid_of
from harness.reading.manifests import Manifest
from harness.reading.problems import Mark
from harness.scenario.language.cases import Case
from harness.scenario.language.kind_names import kind_mistake
from harness.scenario.language.models.base import WORKLOADS, split_reference
from harness.scenario.running.shared import Shared
from lazyrecords import dataclass

if TYPE_CHECKING:
    from harness.engine.disruptions import Disruption
    from harness.engine.runaway import Runaway
    from harness.explain.pods.scheduling import Explainer
    from harness.karpenter.validation.rejections import Rejection
    from harness.scenario.running.verdicts import Verdict
    from harness.scenario.running.watches import Watch
    from harness.trace import Recording
    from harness.world import World
    from harness.world.recorder import Event, LogLine

__all__ = ["Judged", "Refusal", "Run"]

Object = Mapping[str, Any]
T = TypeVar("T")


@dataclass(slots=True)
class Refusal:
    """A rejection in this run; `manifest` is the object of the file at fault, if it is one; `expected` once a verdict claims it."""

    rejection: Rejection
    manifest: Manifest | None
    expected: bool = False

    def mark(self, otherwise: Mark) -> Mark:
        """Return where the offending field stands in the user's file."""
        if self.manifest is None:
            return otherwise
        return self.manifest.document.position(self.rejection.pointer)

    @property
    def text(self) -> str:
        """The message, and what the file should have where that is clear."""
        if self.manifest is None:
            return self.rejection.text
        mistake = kind_mistake(self.manifest)
        hint = (
            mistake.hint
            if mistake is not None
            else self.manifest.type_hint(self.rejection.pointer, self.rejection.text)
        )
        return f"{self.rejection.text}; {hint}" if hint else self.rejection.text


@dataclass(slots=True)
class Run:
    """A finished run."""

    case: Case
    world: World
    shared: Shared
    refusals: list[Refusal] = field(default_factory=list)
    runaways: list[Runaway] = field(default_factory=list)
    runaway_expected: bool = False
    exhausted: list[str] = field(default_factory=list)
    recording: Recording | None = None
    explainer: Explainer | None = None
    """They listen to the world where somebody wants to know why."""
    cost_before: float | None = None
    """USD per hour before the first `advance`; None without one."""
    taken: list[float] = field(default_factory=list)
    """When each step was taken, in seconds since the start of the world."""
    watches: dict[str, Watch] = field(default_factory=dict)
    """What was seen of each entry over virtual time, by its label."""
    history_start: float = 0.0
    """Seconds since the start of the world before which nothing counts of what has happened."""

    @contextmanager
    def history_from(self, seconds: float) -> Iterator[None]:
        """Let expectations count only what happens from this moment on: an entry over virtual time may begin late."""
        self.history_start = seconds
        try:
            yield
        finally:
            self.history_start = 0.0

    def disruptions(self) -> Sequence[Disruption]:
        """Return the decisions that nodes go, of the history that counts, oldest first."""
        return self._counted(self.world.disruptions, lambda decision: decision.at)

    def events(self) -> Sequence[Event]:
        """Return the Kubernetes events of the history that counts, oldest first."""
        return self._counted(self.world.events, lambda event: event.at)

    def log(self) -> Sequence[LogLine]:
        """Return the log lines of the history that counts, oldest first."""
        return self._counted(self.world.log, lambda line: line.at)

    def calls(self) -> Sequence[Any]:
        """Return the calls that Azure got in the history that counts, oldest first."""
        began = EPOCH.timestamp()
        return self._counted(self.world.calls(), lambda call: call.time - began)

    def _counted(self, history: Sequence[T], moment: Callable[[T], float]) -> Sequence[T]:
        if not self.history_start:
            return history
        return [happening for happening in history if moment(happening) >= self.history_start]

    def manifest(self, reference: str) -> Manifest | None:
        """The object of the file with this reference; None when there is none."""
        return next((manifest for manifest in self.case.manifests if manifest.is_named(reference)), None)

    def refused(self, rejections: Iterable[Rejection], reference: str) -> None:
        """Note what was refused when a step changed the object that it names."""
        manifest = self.manifest(reference)
        self.refusals += [Refusal(rejection, manifest) for rejection in rejections]

    def find(self, reference: str) -> Object | None:
        """The object of the cluster that is called so; namespace `default` where none is given; `Node/*` has to fit one only."""
        kind, namespace, name = split_reference(reference)
        if "*" in name:
            matching = self.matching(reference)
            return matching[0] if len(matching) == 1 else None
        found: Object | None = self.world.get(kind, name, namespace)
        if found is None and not namespace:
            found = self.world.get(kind, name, "default")
        return found

    def matching(self, reference: str) -> Sequence[Object]:
        """The objects of the cluster whose name fits, where `*` stands for any text; in the namespace that is given, or in `default`."""
        kind, namespace, name = split_reference(reference)
        places = ("", namespace or "default")
        return [
            each
            for each in self.world.list(kind)
            if fnmatchcase(name_of(each), name) and (each["metadata"].get("namespace") or "") in places
        ]

    def nodes_of(self, reference: str) -> tuple[Sequence[Object], str]:
        """The Nodes that a reference leads to, and why there are none: of a Pod, a workload, a NodeClaim, a NodePool, or itself."""
        kind, _, name = split_reference(reference)
        if kind == "Node" and "*" in name:
            return self.matching(reference), f"there is no {reference}"
        if kind == "NodePool":
            nodes = [node for node in self.world.list("Node") if _label(node, NODEPOOL) == name]
            return nodes, f"{reference} has no Node"
        found = self.find(reference)
        if found is None:
            return [], f"there is no {reference}"
        if kind == "Node":
            return [found], ""
        if kind in WORKLOADS:
            names = {pod["spec"].get("nodeName") for pod in self.pods_of(reference)}
            nodes = [node for node in self.world.list("Node") if name_of(node) in names]
            return nodes, f"no pod of {reference} runs on a Node"
        if kind == "Pod":
            node_name, missing = found.get("spec", {}).get("nodeName"), f"{reference} runs on no Node"
        elif kind == "NodeClaim":
            node_name, missing = found.get("status", {}).get("nodeName"), f"{reference} has no Node"
        else:
            return [], f"{kind} has no Node; Pod, a workload, Node, NodeClaim or NodePool is expected"
        node = self.world.get("Node", node_name, "") if node_name else None
        return ([node], "") if node is not None else ([], missing)

    def pods_of(self, reference: str) -> Sequence[Object]:
        """The pods of a workload, those of a Deployment through its ReplicaSets; in the order of the cluster."""
        owner = self.find(reference)
        if owner is None:
            return ()
        owners = {uid_of(owner)}
        owners |= {uid_of(each) for each in self.world.list("ReplicaSet") if _owner(each) in owners}
        return [pod for pod in self.world.list("Pod") if _owner(pod) in owners]


def _owner(obj: Object) -> str | None:
    reference = controller_of(obj)
    return None if reference is None else str(reference["uid"])


def _label(obj: Object, key: str) -> str | None:
    value: str | None = (obj.get("metadata", {}).get("labels") or {}).get(key)
    return value


@dataclass(frozen=True, slots=True)
class Judged:
    """The verdicts of a case, and the path of its trace where one was written; `of` is the run where there was one alone."""

    verdicts: tuple[Verdict, ...]
    trace: str = ""
    of: Run | None = None

    @property
    def run(self) -> Run:
        """That run. Raises LookupError for a case of several seeds."""
        if self.of is None:
            raise LookupError("a case under several seeds has no run of its own")
        return self.of
