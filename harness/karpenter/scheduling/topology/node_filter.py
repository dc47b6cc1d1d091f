"""The nodes that count for a spread constraint.

Core ``pkg/controllers/provisioning/scheduling/topologynodefilter.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, overload

from harness.karpenter.requirement import Requirement
from harness.karpenter.scheduling.algebra import Algebra, RequirementSet
from harness.kube.api.labels import HOSTNAME
from harness.kube.scheduling.taints import Taint, Toleration, untolerated
from lazyrecords import dataclass

HONOR, IGNORE = "Honor", "Ignore"


class Alternatives(Sequence[RequirementSet]):
    """Requirement sets of which a node has to meet one. Those that are left without the first share what was found out.

    ``keys`` is what upstream's hash sees of them: the keys only, a bit for each set of keys, and sets of which there is an even
    number cancel out.
    """

    __slots__ = ("_admitting", "_all", "_empty", "_number", "_parities", "_start")

    def __init__(self, algebra: Algebra, sets: Sequence[RequirementSet]) -> None:
        self._all, self._start = tuple(sets), 0
        self._number = algebra.number_of(tuple([requirements.id for requirements in self._all]))
        self._parities = [0]
        for requirements in reversed(self._all):
            self._parities.append(self._parities[-1] ^ algebra.keys_bit(requirements))
        self._empty = max((place for place, requirements in enumerate(self._all) if not requirements.items), default=-1)
        self._admitting: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._all) - self._start

    @overload
    def __getitem__(self, index: int) -> RequirementSet: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[RequirementSet]: ...
    def __getitem__(self, index: int | slice) -> RequirementSet | Sequence[RequirementSet]:
        return self._all[self._start :][index]

    def __iter__(self) -> Iterator[RequirementSet]:
        return islice(self._all, self._start, None)

    @property
    def keys(self) -> int:
        return self._parities[len(self)]

    @property
    def number(self) -> tuple[int, int]:
        """Equal for equal alternatives of one algebra."""
        return self._number, self._start

    @property
    def all_ask(self) -> bool:
        """Return whether none of them admits every node."""
        return self._empty < self._start

    def rest(self) -> Alternatives:
        """All but the first."""
        made = object.__new__(Alternatives)
        made._all, made._start = self._all, self._start + 1
        made._parities, made._empty, made._admitting = self._parities, self._empty, self._admitting
        made._number = self._number
        return made

    def admit(self, algebra: Algebra, items: Mapping[str, Requirement], known_as: int | None) -> bool:
        """Return whether a node with these requirements meets one; ``known_as`` is the id of the set they are."""
        last = None if known_as is None else self._admitting.get(known_as)
        if last is None:
            last = len(self._all) - 1
            while last >= self._start and algebra.conflict(items, self._all[last].items, strict=True) is not None:
                last -= 1
            if known_as is not None:
                self._admitting[known_as] = last
        return last >= self._start


@dataclass(frozen=True, slots=True)
class NodeFilter:
    """Nodes that the pod's node selector and required node affinity, and its tolerations, admit.

    ``alternatives`` are the node selector together with each required term. Affinity groups have the filter that admits all.
    """

    alternatives: Alternatives | None = None
    taint_policy: str = ""
    affinity_policy: str = ""
    tolerations: tuple[Toleration, ...] = ()

    @property
    def admits_all(self) -> bool:
        honored = self.affinity_policy == HONOR and self.alternatives
        return self.taint_policy != HONOR and not (honored and honored.all_ask)

    def admits(
        self,
        algebra: Algebra,
        taints: Sequence[Taint],
        items: Mapping[str, Requirement],
        known_as: int | None = None,
    ) -> bool:
        """Return whether a node with these taints and requirements counts; ``known_as`` is the id of the set they are."""
        if (
            self.affinity_policy == HONOR
            and self.alternatives
            and not self.alternatives.admit(algebra, items, known_as)
        ):
            return False
        return self.taint_policy != HONOR or not untolerated(taints, self.tolerations)

    def identity(self) -> object:
        """Return the parts of the filter that upstream hashes."""
        tolerations = odd(
            (
                *(toleration.get(field) or "" for field in ("key", "operator", "value", "effect")),
                toleration.get("tolerationSeconds") or 0,
            )
            for toleration in self.tolerations
        )
        keys = self.alternatives.keys if self.alternatives else 0
        return keys, self.taint_policy, self.affinity_policy, tolerations

    @property
    def policies(self) -> str:
        """The text without the alternatives."""
        return f"{self.taint_policy} {self.affinity_policy} {list(self.tolerations)}}}"

    def __str__(self) -> str:
        sets = " ".join(
            ", ".join(sorted(str(r) for k, r in requirements.items.items() if k != HOSTNAME))
            for requirements in self.alternatives or ()
        )
        return f"{{[{sets}] {self.policies}"


ADMITS_ALL = NodeFilter()


def odd(elements: Iterable[Any]) -> frozenset[Any]:
    """The elements that occur an odd number of times: two equal ones cancel out in upstream's hash."""
    unpaired: set[Any] = set()
    for element in elements:
        unpaired ^= {element}
    return frozenset(unpaired)
