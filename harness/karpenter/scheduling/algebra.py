"""Interned requirement sets: the requirement algebra with every result cached.

A simulation compares few distinct sets many times. Each set exists once, so that answers can be kept by identity.
"""

from collections.abc import Hashable, Iterable, Mapping

from harness.karpenter.labels.vocabulary import Vocabulary
from harness.karpenter.requirement import EXISTS, IN, Requirement
from harness.karpenter.requirements import Conflicts, Incompatible, KeyConflict, Requirements, UndefinedKey, label_hint


class RequirementSet:
    """One requirement per key; two sets of one algebra are equal only when they are the same object."""

    __slots__ = ("has_min_values", "id", "items")

    def __init__(self, identity: int, items: dict[str, Requirement]) -> None:
        self.id = identity
        self.items = items
        self.has_min_values = any(requirement.min_values is not None for requirement in items.values())


class Algebra:
    """Makes requirement sets and remembers how they combine. ``well_known`` keys may be undefined on new nodes."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self.well_known = vocabulary.well_known
        self._requirements: dict[Requirement, Requirement] = {}
        self._sets: dict[frozenset[tuple[str, int]], RequirementSet] = {}
        self._intersections: dict[tuple[int, int], Requirement] = {}
        self._met: dict[tuple[int, int, bool], RequirementSet | None] = {}
        self._exists: dict[str, Requirement] = {}
        self._labels: dict[tuple[tuple[str, str], ...], RequirementSet] = {}
        self._of_label: dict[tuple[str, str], Requirement] = {}
        self._keys: dict[frozenset[str], int] = {}
        self._contents: dict[Hashable, int] = {}
        self.empty = self.set_of(())

    @property
    def size(self) -> int:
        """Return the number of sets, and of other numbered things."""
        return len(self._sets) + len(self._contents)

    def canonical(self, requirement: Requirement) -> Requirement:
        """The one object that stands for all equal requirements."""
        return self._requirements.setdefault(requirement, requirement)

    def exists(self, key: str) -> Requirement:
        """The requirement that allows every value of ``key``, which may be another name of it."""
        requirement = self._exists.get(key)
        if requirement is None:
            normal = self.vocabulary.normalize_key(key)
            requirement = self._exists[key] = self.canonical(Requirement(normal, True, frozenset()))
        return requirement

    def only(self, key: str, value: str) -> Requirement:
        """``In [value]``, of a key that is already normalised."""
        return self.canonical(Requirement(key, False, frozenset((value,))))

    def set_of(self, requirements: Iterable[Requirement]) -> RequirementSet:
        """The set of all the given requirements; those on one key intersect."""
        items: dict[str, Requirement] = {}
        for requirement in requirements:
            existing = items.get(requirement.key)
            items[requirement.key] = self.canonical(
                requirement if existing is None else requirement.intersection(existing)
            )
        return self._intern(items)

    def _intern(self, items: dict[str, Requirement]) -> RequirementSet:
        identity = frozenset((key, id(requirement)) for key, requirement in items.items())
        requirements = self._sets.get(identity)
        if requirements is None:
            requirements = self._sets[identity] = RequirementSet(len(self._sets), items)
        return requirements

    def intersect(self, a: Requirement, b: Requirement) -> Requirement:
        """The intersection of two canonical requirements, canonical."""
        if a is b:
            return a
        pair = (id(a), id(b))
        intersection = self._intersections.get(pair)
        if intersection is None:
            intersection = self._intersections[pair] = self.canonical(a.intersection(b))
        return intersection

    def met(self, here: RequirementSet, incoming: RequirementSet, strict: bool = False) -> RequirementSet | None:
        """Both sets together, or None when ``here`` cannot meet ``incoming``; ``strict`` allows no undefined key."""
        if not incoming.items:
            return here
        pair = (here.id, incoming.id, strict)
        if pair not in self._met:
            conflict = self.conflict(here.items, incoming.items, strict)
            self._met[pair] = None if conflict is not None else self.together(here, incoming.items)
        return self._met[pair]

    def together(self, here: RequirementSet, incoming: Mapping[str, Requirement]) -> RequirementSet:
        """The set with each incoming requirement added."""
        items = dict(here.items)
        for key, requirement in incoming.items():
            existing = items.get(key)
            added = self.canonical(requirement)
            items[key] = added if existing is None else self.intersect(added, existing)
        return self._intern(items)

    def conflict(
        self,
        here: Mapping[str, Requirement],
        incoming: Mapping[str, Requirement],
        strict: bool = False,
        more_keys: tuple[str, ...] = (),
    ) -> Incompatible | None:
        """Return why ``here`` cannot meet ``incoming``; ``more_keys`` are defined here too, but only hints need them."""
        allowed: frozenset[str] = frozenset() if strict else self.well_known
        keys = sorted(incoming)
        for key in keys:
            if key not in allowed and key not in here and not incoming[key].tolerates_absence:
                return UndefinedKey(key, label_hint((*here, *more_keys), key, allowed))
        conflicts = []
        for key in keys:
            existing = here.get(key)
            if existing is None:
                continue
            wanted = incoming[key]
            if not existing.has_intersection(wanted) and not (existing.tolerates_absence and wanted.tolerates_absence):
                conflicts.append(KeyConflict(key, wanted, existing))
        return Conflicts(tuple(conflicts)) if conflicts else None

    def from_labels(self, labels: Mapping[str, str]) -> RequirementSet:
        """``In [value]`` of each label, normalised."""
        pairs = tuple(labels.items())
        requirements = self._labels.get(pairs)
        if requirements is None:
            items: dict[str, Requirement] = {}
            for label in pairs:
                added = self._labelled(label)
                existing = items.get(added.key)
                items[added.key] = added if existing is None else self.intersect(added, existing)
            requirements = self._labels[pairs] = self._intern(items)
        return requirements

    def _labelled(self, label: tuple[str, str]) -> Requirement:
        requirement = self._of_label.get(label)
        if requirement is None:
            key, value = label
            made = Requirement.of(key, IN, (value,), vocabulary=self.vocabulary)
            requirement = self._of_label[label] = self.canonical(made)
        return requirement

    def from_node_selector(self, items: Iterable[Mapping[str, object]] | None) -> RequirementSet:
        """The set of NodeSelectorRequirements as users write them."""
        return self.set_of(Requirements.from_node_selector(items, vocabulary=self.vocabulary).values())

    def keys_bit(self, requirements: RequirementSet) -> int:
        """A power of two for the set of keys, whatever their values."""
        return 1 << self._keys.setdefault(frozenset(requirements.items), len(self._keys))

    def number_of(self, content: Hashable) -> int:
        """A number for something that may contain ids of sets, equal for what is equal."""
        return self._contents.setdefault(content, len(self._contents))

    def public(self, items: Mapping[str, Requirement]) -> Requirements:
        """The same as Requirements, which the rest of the project uses."""
        return Requirements(items.values(), vocabulary=self.vocabulary)


__all__ = ["EXISTS", "Algebra", "RequirementSet"]
