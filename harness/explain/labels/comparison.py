"""A release, or a design document's decisions, as one side of a comparison of label keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, Protocol

from harness.clusters.provenance import Write
from harness.explain.labels.design_documents import Answer, Difference, decisions, differences_of
from harness.explain.labels.probes import LabelProbe, PodOutcome, default_objects, known_keys
from harness.karpenter.cloudprovider import DroppedSize
from harness.karpenter.labels.azure import AKS_ARTIFACT_STREAMING, AKS_FIPS
from harness.karpenter.releases import SHARED_GALLERY, Policy, ProviderRelease
from harness.karpenter.validation import crd_set
from harness.karpenter.validation.crds import named_keys
from harness.kube.api.labels import INSTANCE_TYPE, ZONE
from harness.kube.api.versions import Version
from harness.world import World

__all__ = [
    "OTHER_VALUE",
    "PROBED_SIZE",
    "Cell",
    "DecidedSide",
    "KeyDifference",
    "Side",
    "TriedSide",
    "common_kubernetes",
    "compare",
    "fingerprint",
    "keys_of",
]

_EMPTY = "the empty text"

Object = Mapping[str, Any]
OTHER_VALUE = "other"
COLUMNS = ("pod", "nodepool", "written")
PROBED_SIZE = "Standard_D2s_v5"
_NODECLASSES: Mapping[str, tuple[str, Object]] = {
    AKS_FIPS: ("with fipsMode FIPS", {"fipsMode": "FIPS", "imageFamily": "AzureLinux"}),
    AKS_ARTIFACT_STREAMING: ("with artifactStreaming", {"artifactStreaming": {"enabled": True}}),
}
"""Labels that an AKSNodeClass asks for."""

_NOT_TOLD_BY_KARPENTER = ("kubelet-default", "aks-rp")
"""The sources of a kubelet's labels that Karpenter did not tell it."""

_UNDERSTOOD = frozenset({PodOutcome.BOUND, PodOutcome.INCOMPATIBLE, PodOutcome.RUNAWAY, PodOutcome.STUCK})


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: yes, no or undecided; ``detail`` is what to compare beyond that (empty: nothing), ``why`` what it rests on.

    For labels on a Node, ``by_karpenter`` says whether Karpenter writes it, itself or by what its provider tells the kubelet, and
    ``elsewhere`` that another Node than the plain one has it.
    """

    answer: Answer
    detail: str
    why: str
    by_karpenter: bool = False
    elsewhere: bool = False

    def __str__(self) -> str:
        return f"{self.answer} ({self.detail})" if self.detail else str(self.answer)


@dataclass(frozen=True, slots=True)
class KeyDifference:
    """A key that two sides see differently: column → (before, after), and the rows of the documents' differences about it."""

    key: str
    cells: Mapping[str, tuple[Cell, Cell]]
    rows: tuple[Difference, ...] = ()


class Side(Protocol):
    """Something that has cells for keys."""

    @property
    def name(self) -> str: ...

    def cells(self, key: str, value: str | None) -> tuple[Cell, Cell, Cell]: ...


@dataclass(frozen=True, slots=True)
class DecidedSide:
    """A document's decisions."""

    policy: Policy

    @property
    def name(self) -> str:
        return self.policy.name

    def cells(self, key: str, value: str | None) -> tuple[Cell, Cell, Cell]:
        """The decisions for pod, NodePool and Node."""
        pod, pool, written = (Cell(decision.answer, "", decision.why) for decision in decisions(self.policy, key))
        return pod, pool, written


class TriedSide:
    """A release, tried out. The Node's labels are those of one fixed size, so that two releases have the same to write."""

    def __init__(self, new_world: Callable[..., World], mode: str = "") -> None:
        """`new_world` makes the worlds; it is given options of the controller where a label depends on them."""
        self._probe = LabelProbe(new_world)
        self._new_world = new_world
        self._world = new_world()
        self.release: ProviderRelease = self._world.release
        self._pinned = self._on(PROBED_SIZE)
        self.name = f"{self.release.version}{f' {mode}' if mode else ''}"

    def value_of(self, key: str) -> str:
        """A value that makes sense here."""
        return self._probe.value_of(key)

    def cells(self, key: str, value: str | None) -> tuple[Cell, Cell, Cell]:
        """Return the results of trying `value` (a fitting one when None)."""
        chosen = self.value_of(key) if value is None else value
        pod, pool = self._probe.pod(key, chosen), self._probe.nodepool(key, chosen)
        if key in self.release.vocabulary.well_known and pod.outcome is PodOutcome.INCOMPATIBLE:
            detail = "understood; no size has it here"
        else:
            detail = str(pod.outcome)
        if key in self.release.vocabulary.well_known:
            other = self._probe.pod(key, OTHER_VALUE)
            detail += f"; another value: {other.outcome}"
        pod_cell = Cell(_yes_no(pod.outcome in _UNDERSTOOD), detail, pod.source)
        layer = "" if pool.settable else str(pool.rejections[0].layer)
        return pod_cell, Cell(_yes_no(pool.settable), layer, pool.source), self.written(key)

    def written(self, key: str) -> Cell:
        """Return the label of a Node for which a NodePool and a pod name a size and a zone only, and who wrote it."""
        labels, writes = self._pinned.node
        if key in labels:
            why = "the writes to a Node that nobody asked anything of"
            return Cell(Answer.YES, _told(writes, key), why, _by_karpenter(writes, key))
        for condition, probe in self._elsewhere(key):
            labels, others = probe.node
            if key in labels:
                detail, why = f"{_told(others, key)}, {condition}", f"the writes to a Node {condition}"
                return Cell(Answer.YES, detail, why, _by_karpenter(others, key), elsewhere=True)
        writers = ", ".join(f"{write.by} {write.kind}" for write in writes.get(key, ()))
        return Cell(Answer.NO, "", writers or "no one writes it")

    def _elsewhere(self, key: str) -> Iterator[tuple[str, LabelProbe]]:
        """Nodes that may have the label where an ordinary one has not: of a size, or an AKSNodeClass, that has a value for it."""
        if key not in self.release.computed_keys | self.release.base_keys:
            return
        if key in _NODECLASSES:
            text, spec = _NODECLASSES[key]
            nodeclass = {**default_objects()[0], "spec": spec}
            if not self._world.dry_run(nodeclass):
                yield text, LabelProbe(lambda: self._new_world(options=SHARED_GALLERY), (nodeclass,))
            return
        for size in self._world.caches.catalogue.region(self._world.region).by_name:
            size_known = self._world.requirements_of(size)
            if isinstance(size_known, DroppedSize) or not any(
                offering.zone.startswith(self._world.region) for offering in size_known.offerings
            ):
                continue
            requirement = size_known.requirements.get(key)
            if not requirement.complement and len(requirement.values) == 1:
                yield f"on {size}", self._on(size)
                return

    def _on(self, size: str) -> LabelProbe:
        """A probe on Nodes of one size; others need not be there."""
        caches = self._world.caches.only(self._world.region, {size})
        return LabelProbe(partial(self._new_world, caches=caches), (_pinned_pool(self._world, size),))


def _told(writes: Mapping[str, tuple[Write, ...]], key: str) -> str:
    return " → ".join(_write_text(write) for write in writes.get(key, ()) if str(write.kind) in ("set", "overwrote"))


def _by_karpenter(writes: Mapping[str, tuple[Write, ...]], key: str) -> bool:
    """Return whether Karpenter wrote the label on one of its two ways (kubelet options of the provider, core's registration)."""
    return any(
        str(write.kind) in ("set", "same", "overwrote")
        and (write.by == "karpenter" or (write.by == "kubelet" and write.from_ not in _NOT_TOLD_BY_KARPENTER))
        for write in writes.get(key, ())
    )


def _write_text(write: Write) -> str:
    source = f" ({write.from_})" if write.from_ else ""
    return f"{write.by}{source}: {write.value or _EMPTY}"


def _yes_no(value: bool) -> Answer:
    return Answer.YES if value else Answer.NO


def _pinned_pool(world: World, name: str) -> Object:
    """A NodePool of one size and one zone of it: equally cheap ones are drawn by lot. Raises LookupError without that size."""
    size = world.requirements_of(name)
    if isinstance(size, DroppedSize):
        raise LookupError(f"{name} is dropped by the filter {size.filter}")
    zone = min((offering.zone for offering in size.offerings if offering.zone.startswith(world.region)), default="")
    _, pool = default_objects()
    spec = pool["spec"]["template"]["spec"]
    pins = [{"key": INSTANCE_TYPE, "operator": "In", "values": [name]}]
    if zone:
        pins.append({"key": ZONE, "operator": "In", "values": [zone]})
    template = {"spec": {**spec, "requirements": [*spec["requirements"], *pins]}}
    return {**pool, "spec": {**pool["spec"], "template": template}}


def keys_of(releases: Sequence[ProviderRelease]) -> tuple[str, ...]:
    """Every key that the documents or one of the releases know by name, those of the CRDs' lists included."""
    keys: dict[str, None] = {}
    for release in releases:
        keys |= dict.fromkeys(known_keys(release))
        keys |= dict.fromkeys(sorted(release.base_keys | release.computed_keys))
        keys |= dict.fromkeys(sorted(named_keys(crd_set(release.crds), "NodePool")))
    return tuple(keys)


def common_kubernetes(releases: Sequence[ProviderRelease]) -> str:
    """The Kubernetes version to compare releases on: the oldest of their defaults, so that they differ by themselves only."""
    versions = (release.defaults.kubernetes for release in releases)
    return min(versions, key=Version.parse)


def fingerprint(release: ProviderRelease) -> object:
    """Return the content of a release's record and its CRDs' rules, without its name: equal for releases that cannot
    differ about labels.
    """
    record = [
        getattr(release, field.name) for field in fields(release) if field.name not in ("version", "crds", "defaults")
    ]
    rules = [
        (row.id, row.rule.expression) for kind in ("NodePool", "NodeClaim") for row in crd_set(release.crds).rules(kind)
    ]
    return record, sorted(rules)


def compare(before: Side, after: Side, keys: Sequence[str]) -> list[KeyDifference]:
    """The keys whose cells differ. Against a document only yes and no are compared, and rows of the differences are cited."""
    decided = isinstance(before, DecidedSide) or isinstance(after, DecidedSide)
    differences: list[KeyDifference] = []
    for key in keys:
        value = next((side.value_of(key) for side in (after, before) if isinstance(side, TriedSide)), None)
        pairs = dict(zip(COLUMNS, zip(before.cells(key, value), after.cells(key, value), strict=True), strict=True))
        changed = {name: pair for name, pair in pairs.items() if _differ(*pair, decided=decided)}
        if changed:
            differences.append(KeyDifference(key, changed, differences_of(key) if decided else ()))
    return differences


def _differ(before: Cell, after: Cell, *, decided: bool) -> bool:
    if before.answer is not after.answer:
        return True
    return not decided and before.detail != after.detail
