"""Requirements: one :class:`Requirement` per label key, and the tests between two such sets.

Core ``pkg/scheduling/requirements.go``. Errors are values that render late; where Go's map order picks the reported key, sorted
order does here.
"""

from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from typing import Any

from harness.karpenter.labels.vocabulary import Vocabulary
from harness.karpenter.requirement import EXISTS, IN, Requirement, requirement_from_api, within_bounds
from harness.kube.go.sort import sort_slice
from harness.kube.go.text import quote
from lazyrecords import dataclass

__all__ = [
    "Conflicts",
    "Incompatible",
    "KeyConflict",
    "Requirement",
    "Requirements",
    "UndefinedKey",
    "label_hint",
    "requirement_from_api",
    "within_bounds",
]


@dataclass(frozen=True, slots=True)
class UndefinedKey:
    """A required key that the other side neither has nor may leave out."""

    key: str
    hint: str | None

    def __str__(self) -> str:
        typo = f" (typo of {quote(self.hint)}?)" if self.hint is not None else ""
        return f"label {quote(self.key)} does not have known values{typo}"


@dataclass(frozen=True, slots=True)
class KeyConflict:
    """Two requirements on one key without a common value."""

    key: str
    incoming: Requirement
    existing: Requirement

    def __str__(self) -> str:
        return f"key {self.key}, {self.incoming} not in {self.existing}"


@dataclass(frozen=True, slots=True)
class Conflicts:
    """All conflicting keys, in sorted order."""

    keys: tuple[KeyConflict, ...]

    def __str__(self) -> str:
        return "; ".join(map(str, self.keys))


Incompatible = UndefinedKey | Conflicts


class Requirements:
    """An immutable mapping of normalised keys to requirements, with the vocabulary that it was built with.

    Reads like a mapping, but for :meth:`get`: a key without a requirement allows everything.
    """

    __slots__ = ("_items", "vocabulary")

    def __init__(self, items: Iterable[Requirement] = (), *, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self._items: dict[str, Requirement] = {}
        _add(self._items, items)

    @classmethod
    def from_labels(cls, labels: Mapping[str, str] | None, *, vocabulary: Vocabulary) -> "Requirements":
        """``In [value]`` for each label; aliases of one key intersect."""
        return cls(
            (Requirement.of(key, IN, (value,), vocabulary=vocabulary) for key, value in (labels or {}).items()),
            vocabulary=vocabulary,
        )

    @classmethod
    def from_node_selector(cls, items: Iterable[Mapping[str, Any]] | None, *, vocabulary: Vocabulary) -> "Requirements":
        """Return requirements made of NodeSelectorRequirements, with or without ``minValues``."""
        return cls((requirement_from_api(item, vocabulary=vocabulary) for item in items or ()), vocabulary=vocabulary)

    @classmethod
    def from_pod(cls, pod: Mapping[str, Any], *, vocabulary: Vocabulary, strict: bool = False) -> "Requirements":
        """The node selector, the heaviest preferred node affinity term (not when ``strict``) and the first required one.

        A pod's further required terms are alternatives that the scheduler's relaxation tries in turn. ``matchFields`` do not count.
        """
        spec = pod.get("spec") or {}
        requirements = cls.from_labels(spec.get("nodeSelector"), vocabulary=vocabulary)
        affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
        preferred = list(affinity.get("preferredDuringSchedulingIgnoredDuringExecution") or ())
        if preferred and not strict:
            sort_slice(preferred, lambda term: -(term.get("weight") or 0))
            terms = (preferred[0].get("preference") or {}).get("matchExpressions")
            requirements = requirements.add(*cls.from_node_selector(terms, vocabulary=vocabulary).values())
        required = (affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or {}).get("nodeSelectorTerms")
        if required:
            terms = required[0].get("matchExpressions")
            requirements = requirements.add(*cls.from_node_selector(terms, vocabulary=vocabulary).values())
        return requirements

    def __getitem__(self, key: str) -> Requirement:
        return self._items[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __contains__(self, key: object) -> bool:
        return key in self._items

    def find(self, key: str) -> Requirement | None:
        """The requirement on a key, None without one."""
        return self._items.get(key)

    def first(self, key: str) -> str:
        """The smallest value that the requirement on a key names; empty where it names none."""
        requirement = self._items.get(key)
        if requirement is None or requirement.complement or not requirement.values:
            return ""
        return min(requirement.values)

    def keys(self) -> KeysView[str]:
        return self._items.keys()

    def values(self) -> ValuesView[Requirement]:
        return self._items.values()

    def items(self) -> ItemsView[str, Requirement]:
        return self._items.items()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Requirements) and self._items == other._items

    def __hash__(self) -> int:
        return hash(frozenset(self._items.values()))

    def __repr__(self) -> str:
        return f"Requirements({', '.join(map(str, self._items.values()))})"

    def get(self, key: str) -> Requirement:
        """The requirement on ``key``; a key without one allows everything (Exists)."""
        return self._items.get(key) or Requirement.of(key, EXISTS, vocabulary=self.vocabulary)

    def add(self, *requirements: Requirement) -> "Requirements":
        """Return these requirements and the given ones; those on the same key intersect."""
        if not requirements:
            return self
        result = Requirements(vocabulary=self.vocabulary)
        result._items.update(self._items)
        _add(result._items, requirements)
        return result

    def without(self, *keys: str) -> "Requirements":
        """Return these requirements but those on ``keys``."""
        return Requirements((r for k, r in self._items.items() if k not in keys), vocabulary=self.vocabulary)

    def compatible(
        self, incoming: "Requirements", allow_undefined: frozenset[str] = frozenset()
    ) -> Incompatible | None:
        """Return the reason why something with these requirements cannot meet ``incoming``, or None.

        Keys of ``incoming`` have to be defined here unless they are in ``allow_undefined`` or tolerate absence; then the
        shared keys have to intersect. The strict form has no ``allow_undefined``; new nodes allow the well-known labels.
        """
        for key in sorted(incoming):
            if key not in allow_undefined and key not in self._items and not incoming[key].tolerates_absence:
                return UndefinedKey(key, label_hint(self, key, allow_undefined))
        return self.intersects(incoming)

    def intersects(self, incoming: "Requirements") -> Conflicts | None:
        """The shared keys without a common value, or None; two requirements that tolerate absence never conflict."""
        conflicts = []
        for key in sorted(self._items.keys() & incoming.keys()):
            here, there = self._items[key], incoming[key]
            if not here.has_intersection(there) and not (here.tolerates_absence and there.tolerates_absence):
                conflicts.append(KeyConflict(key, there, here))
        return Conflicts(tuple(conflicts)) if conflicts else None

    @property
    def has_min_values(self) -> bool:
        return any(requirement.min_values is not None for requirement in self._items.values())

    def node_selector_requirements(self) -> list[dict[str, Any]]:
        """All requirements as API objects, sorted by key."""
        return [item for key in sorted(self._items) for item in self._items[key].node_selector_requirements()]

    def __str__(self) -> str:
        restricted = self.vocabulary.restricted_labels
        return ", ".join(sorted(str(requirement) for key, requirement in self._items.items() if key not in restricted))


def label_hint(existing: Iterable[str], key: str, allow_undefined: Iterable[str]) -> str | None:
    """The known key that ``key`` looks like a typo of: it contains ``key``, or ends like it after the ``/``."""
    _, slash, name = key.partition("/")
    suffix = name if slash else key
    for candidates in (allow_undefined, existing):
        for candidate in sorted(candidates):
            if key in candidate or candidate.endswith(suffix):
                return candidate
    return None


def _add(items: dict[str, Requirement], requirements: Iterable[Requirement]) -> None:
    for requirement in requirements:
        existing = items.get(requirement.key)
        items[requirement.key] = requirement if existing is None else requirement.intersection(existing)
