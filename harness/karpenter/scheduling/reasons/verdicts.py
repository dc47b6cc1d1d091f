"""Reasons against sizes, a verdict for each size and offering, and their judges."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from harness.karpenter.cloudprovider import InstanceType, Offering
from harness.karpenter.requirements import Conflicts, Incompatible, Requirements
from harness.karpenter.scheduling.reasons.pods import HostPortConflict
from harness.kube.api.quantity import Quantity
from harness.latest import LatestOf


@dataclass(frozen=True, slots=True)
class NodePoolExcludes:
    """The NodePool's own requirements contradict the size."""

    conflicts: Conflicts


@dataclass(frozen=True, slots=True)
class PodExcludes:
    """The requirements of NodePool, pod, volumes and topology together contradict the size."""

    conflicts: Conflicts


@dataclass(frozen=True, slots=True)
class BeyondLimit:
    """A node of the size would exceed what the NodePool's limits leave."""

    resource: str
    capacity: Quantity
    remaining: Quantity


@dataclass(frozen=True, slots=True)
class TooSmall:
    """``requested`` (pod and DaemonSets) is more than the size's allocatable amount; of it ``daemons`` take so much, by name."""

    resource: str
    requested: Quantity
    allocatable: Quantity
    daemons: tuple[tuple[str, Quantity], ...] = ()


@dataclass(frozen=True, slots=True)
class NotOffered:
    """No available offering of the size is accepted."""


@dataclass(frozen=True, slots=True)
class PortTaken:
    """A DaemonSet that runs on the size binds a host port of the pod."""

    conflict: HostPortConflict


@dataclass(frozen=True, slots=True)
class Overcommitted:
    """Kubernetes and the system reserve more than the size has: its allocatable amount is negative."""

    resource: str


TypeReason = NodePoolExcludes | PodExcludes | BeyondLimit | TooSmall | NotOffered | PortTaken | Overcommitted


@dataclass(frozen=True, slots=True)
class OfferingVerdict:
    """One offering: ``available`` as the cloud says, ``conflict`` with the requirements, or neither wrong."""

    offering: Offering
    available: bool
    conflict: Incompatible | None

    @property
    def usable(self) -> bool:
        return self.available and self.conflict is None


@dataclass(frozen=True, slots=True)
class TypeVerdict:
    """One size: all reasons against it, in the order of the filter, and its offerings."""

    instance_type: InstanceType
    reasons: tuple[TypeReason, ...]
    offerings: tuple[OfferingVerdict, ...]

    @property
    def kept(self) -> bool:
        return not self.reasons


class Offerings:
    """Judges offerings by the same requirements, each size once: most pods ask for what the pod before them asked for."""

    def __init__(self, requirements: Requirements) -> None:
        self._requirements = requirements
        self._judged: dict[int, tuple[InstanceType, tuple[OfferingVerdict, ...]]] = {}

    def of(self, instance_type: InstanceType) -> tuple[OfferingVerdict, ...]:
        key = id(instance_type)  # held below, so that the number stays its own
        if key not in self._judged:
            verdicts = tuple(
                OfferingVerdict(offering, offering.available, self._conflict(offering))
                for offering in instance_type.offerings
            )
            self._judged[key] = (instance_type, verdicts)
        return self._judged[key][1]

    def _conflict(self, offering: Offering) -> Incompatible | None:
        well_known = self._requirements.vocabulary.well_known
        return self._requirements.compatible(offering.requirements, well_known)


_JUDGES = 16
"""Number of judges that are kept; the verdicts on a region's sizes take a megabyte."""


class SizeJudges:
    """Keeps the judges of offerings and the verdicts that were asked for last: advice asks one entry again and again."""

    def __init__(self) -> None:
        self.of_offerings: Callable[[Requirements], Offerings] = lru_cache(maxsize=_JUDGES)(Offerings)
        self._verdicts: LatestOf[object, tuple[TypeVerdict, ...]] = LatestOf(_JUDGES)

    def verdicts(self, entry: object, judged: Callable[[], Iterable[TypeVerdict]]) -> Sequence[TypeVerdict]:
        """Return the verdicts of an entry, judged where they are not kept."""
        return self._verdicts.of(entry, lambda: tuple(judged()))
