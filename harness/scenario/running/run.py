"""One run of one case: the world, the refusals in it, and its end. Expectations are checked on it."""

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
    from harness.scenario.expectations.verdicts import Verdict
    from harness.scenario.expectations.watches import Watch
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
        """Return the place of the offending field in the user's file."""
        if self.manifest is None:
            return otherwise
        return self.manifest.document.position(self.rejection.pointer)

    @property
    def text(self) -> str:
        """Return the message, and the right value in the file where that is clear."""
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
    """The explainer, which listens to the world where somebody wants reasons."""
    cost_before: float | None = None
    """USD per hour before the first `advance`; None without one."""
    taken: list[float] = field(default_factory=list)
    """The time of each step, in seconds since the start of the world."""
    watches: dict[str, Watch] = field(default_factory=dict)
    """The observations of each entry over virtual time, by its label."""
    history_start: float = 0.0
    """Seconds since the start of the world before which no event counts."""

    @contextmanager
    def history_from(self, seconds: float) -> Iterator[None]:
        """Let expectations count only events from this moment on: an entry over virtual time may begin late."""
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
        """Note the refusals when a step changed the object that it names."""
        manifest = self.manifest(reference)
        self.refusals += [Refusal(rejection, manifest) for rejection in rejections]

    def find(self, reference: str) -> Object | None:
        """Return the object of this name; namespace `default` where none is given; `Node/*` has to fit one only."""
        kind, namespace, name = split_reference(reference)
        if "*" in name:
            matching = self.matching(reference)
            return matching[0] if len(matching) == 1 else None
        obj: Object | None = self.world.get(kind, name, namespace)
        if obj is None and not namespace:
            obj = self.world.get(kind, name, "default")
        return obj

    def matching(self, reference: str) -> Sequence[Object]:
        """Return the objects whose name fits, where `*` stands for any text; in the given namespace, or in `default`."""
        kind, namespace, name = split_reference(reference)
        places = ("", namespace or "default")
        return [
            obj
            for obj in self.world.list(kind)
            if fnmatchcase(name_of(obj), name) and (obj["metadata"].get("namespace") or "") in places
        ]

    def nodes_of(self, reference: str) -> tuple[Sequence[Object], str]:
        """Return the Nodes that a reference leads to, or why there are none: of a Pod, a workload, a NodeClaim, a NodePool, or itself."""
        kind, _, name = split_reference(reference)
        if kind == "Node" and "*" in name:
            return self.matching(reference), f"there is no {reference}"
        if kind == "NodePool":
            nodes = [node for node in self.world.list("Node") if _label(node, NODEPOOL) == name]
            return nodes, f"{reference} has no Node"
        obj = self.find(reference)
        if obj is None:
            return [], f"there is no {reference}"
        if kind == "Node":
            return [obj], ""
        if kind in WORKLOADS:
            names = {pod["spec"].get("nodeName") for pod in self.pods_of(reference)}
            nodes = [node for node in self.world.list("Node") if name_of(node) in names]
            return nodes, f"no pod of {reference} runs on a Node"
        if kind == "Pod":
            node_name, missing = obj.get("spec", {}).get("nodeName"), f"{reference} runs on no Node"
        elif kind == "NodeClaim":
            node_name, missing = obj.get("status", {}).get("nodeName"), f"{reference} has no Node"
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
        owners |= {
            uid_of(replica_set) for replica_set in self.world.list("ReplicaSet") if _owner(replica_set) in owners
        }
        return [pod for pod in self.world.list("Pod") if _owner(pod) in owners]


def _owner(obj: Object) -> str | None:
    reference = controller_of(obj)
    return None if reference is None else str(reference["uid"])


def _label(obj: Object, key: str) -> str | None:
    value: str | None = (obj.get("metadata", {}).get("labels") or {}).get(key)
    return value


@dataclass(frozen=True, slots=True)
class Judged:
    """The verdicts of a case, and the path of its trace where one was written; `of` is the run where there was only one."""

    verdicts: tuple[Verdict, ...]
    trace: str = ""
    of: Run | None = None

    @property
    def run(self) -> Run:
        """Return that run. Raises LookupError for a case of several seeds."""
        if self.of is None:
            raise LookupError("a case under several seeds has no run of its own")
        return self.of
