"""The writer of a label, and the source of its value: two facts, joined here and nowhere else.

`by` is the identity that the API server saw. `from_` is the source inside the sender, as the senders told the sink:
the layers of Karpenter's launch, and the assertions of each sender. Without these (a foreign controller) `from_` is None.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from enum import StrEnum
from typing import Protocol

from harness.engine.label_layers import LabelLayer, winners
from harness.engine.ports import Identity
from harness.karpenter.labels.core import INITIALIZED, REGISTERED
from harness.kube.admission.node_restriction import forbidden_labels
from harness.kube.api.objects import Object, labels_of
from harness.kube.api.status import ApiError
from lazyrecords import dataclass


class WriteKind(StrEnum):
    """The outcome of one sender's value for one key.

    SAME: the key already had this value; the first writer keeps it. WITHHELD: never sent, because the sender's channel may
    not set the key. REFUSED: sent, and not accepted.
    """

    SET = "set"
    SAME = "same"
    OVERWROTE = "overwrote"
    REMOVED = "removed"
    REFUSED = "refused"
    WITHHELD = "withheld"


@dataclass(frozen=True, slots=True)
class Write:
    """One sender's write of one key. `value` is None for a removal; `at` is the store's revision."""

    kind: WriteKind
    by: str
    from_: str | None
    value: str | None
    at: int = field(default=0, compare=False)


class Evidence(Protocol):
    """One request to the API server about the Node, from a journal or an audit log."""

    @property
    def revision(self) -> int: ...

    @property
    def identity(self) -> Identity: ...

    @property
    def before(self) -> Object | None: ...

    @property
    def after(self) -> Object | None: ...

    @property
    def object(self) -> Object | None: ...

    @property
    def error(self) -> ApiError | None: ...


@dataclass(frozen=True, slots=True)
class Assertion:
    """The labels that a sender announced for a Node (key → (value, from)) before its write; `refused` if it never wrote."""

    revision: int
    node: str
    by: str
    labels: Mapping[str, tuple[str, str]]
    refused: bool = False


@dataclass(frozen=True, slots=True)
class Launch:
    """The labels that Karpenter gave a machine (path `kubelet`) or its NodeClaim (path `nodeclaim`)."""

    revision: int
    vm: str
    path: str
    layers: Sequence[LabelLayer]
    withheld: Sequence[LabelLayer]


_KARPENTER_MARKS = {REGISTERED: "registration", INITIALIZED: "initialization"}


def label_writes(
    node: str, evidence: Iterable[Evidence], assertions: Iterable[Assertion], launches: Iterable[Launch]
) -> dict[str, tuple[Write, ...]]:
    """Return the writes of each key, in order."""
    story = _Story(
        {launch.path: launch for launch in launches if launch.vm.lower() == node},
        deque(assertion for assertion in assertions if assertion.node == node),
    )
    for entry in evidence:
        story.read(entry)
    story.hear(1 << 62)
    return {key: tuple(writes) for key, writes in sorted(story.found.items())}


class _Story:
    """Reads the requests about one Node in order; the assertions of senders come between them, at their revision."""

    def __init__(self, paths: Mapping[str, Launch], assertions: deque[Assertion]) -> None:
        self._paths, self._said = paths, assertions
        # the source of a value: the first layer with the value of the last one
        self._sources = {path: winners(launch.layers) for path, launch in paths.items()}
        self._wanted: dict[str, Mapping[str, tuple[str, str]]] = {}
        self._labels: Mapping[str, str] = {}
        self.found: dict[str, list[Write]] = {}

    def read(self, entry: Evidence) -> None:
        """Read one request, and the assertions before it."""
        if entry.error is not None and entry.error.reason == "Conflict":
            return  # nobody judged the labels: the sender was behind, and tries again
        by, at, labels = entry.identity.by, entry.revision, self._labels
        if entry.error is not None:
            self.hear(at + 1)
            sent = labels_of(entry.object) if entry.object is not None else {}
            for key in forbidden_labels(key for key in sent if sent.get(key) != labels.get(key)):
                self._add(WriteKind.REFUSED, by, key, sent[key], at)
            return
        self.hear(at)
        after: Mapping[str, str] = labels_of(entry.after) if entry.after is not None else {}
        if entry.after is not None and after is not labels:
            for key, value in after.items():
                if key not in labels:
                    self._add(WriteKind.SET, by, key, value, at)
                elif labels[key] != value:
                    self._add(WriteKind.OVERWROTE, by, key, value, at)
            for key in labels:
                if key not in after:
                    self._add(WriteKind.REMOVED, by, key, None, at)
        self._labels = after

    def hear(self, until: int) -> None:
        """Read the assertions before a revision."""
        while self._said and self._said[0].revision < until:
            assertion = self._said.popleft()
            first = assertion.by not in self._wanted  # a driver that registers lets the kubelet assert more later
            self._wanted[assertion.by] = assertion.labels
            if first and assertion.by == "kubelet" and "kubelet" in self._paths:
                for layer in winners(self._paths["kubelet"].withheld).values():
                    write = Write(WriteKind.WITHHELD, "kubelet", layer.source, layer.value, assertion.revision)
                    self.found.setdefault(layer.key, []).append(write)
            for key, (value, _) in assertion.labels.items():
                if assertion.refused:
                    if key in forbidden_labels((key,)):
                        self._add(WriteKind.REFUSED, assertion.by, key, value, assertion.revision)
                elif self._labels.get(key) == value and not _said_before(self.found.get(key, ()), assertion.by, value):
                    self._add(WriteKind.SAME, assertion.by, key, value, assertion.revision)

    def _add(self, kind: WriteKind, by: str, key: str, value: str | None, at: int) -> None:
        self.found.setdefault(key, []).append(Write(kind, by, self._source(by, key, value), value, at))

    def _source(self, by: str, key: str, value: str | None) -> str | None:
        asserted = self._wanted.get(by, {}).get(key)
        if asserted is not None and asserted[0] == value and asserted[1]:
            return asserted[1]
        if by == "karpenter" and key in _KARPENTER_MARKS:
            return _KARPENTER_MARKS[key]
        path = self._sources.get("kubelet" if by == "kubelet" else "nodeclaim" if by == "karpenter" else "", {})
        winner = path.get(key)
        return winner.source if winner is not None and winner.value == value else None


def _said_before(writes: Sequence[Write], by: str, value: str) -> bool:
    """Return whether this value is the sender's own, or an earlier one of its (a write that was retried after a conflict)."""
    return any(write.by == by and write.value == value and write.kind is WriteKind.SAME for write in writes[-1:])
