"""One requirement on one label key: a set of allowed values, possibly the complement of one, possibly bounded.

Core ``pkg/scheduling/requirement.go``. Where Go's answer depends on map order, the smallest or sorted one is taken.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from harness.karpenter.labels.vocabulary import Vocabulary
from harness.kube.go.text import MAX_INT, bracketed, parse_int, parse_int_lenient, wrap_int
from lazyrecords import dataclass

IN, NOT_IN, EXISTS, DOES_NOT_EXIST = "In", "NotIn", "Exists", "DoesNotExist"
GT, LT, GTE, LTE = "Gt", "Lt", "Gte", "Lte"

_NO_VALUES: frozenset[str] = frozenset()
_SHOWN_VALUES = 5


class EmptyRange(ValueError):
    """No integer can be drawn between the bounds, where Go panics; the message is Go's."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """Allowed values of ``key``.

    ``values`` are the allowed ones, or, with ``complement``, the excluded ones. ``gte`` and ``lte`` are inclusive bounds that only
    complements keep; while one is set, values that are not integers are not allowed. ``min_values`` is how many distinct values
    the instance types of a NodeClaim have to offer. ``exclusive`` requirements print and compare their bounds as Gt and Lt
    (see :class:`Vocabulary`).
    """

    key: str
    complement: bool
    values: frozenset[str]
    gte: int | None = None
    lte: int | None = None
    min_values: int | None = None
    exclusive: bool = False

    @classmethod
    def of(
        cls,
        key: str,
        operator: str,
        values: Iterable[str] = (),
        min_values: int | None = None,
        *,
        vocabulary: Vocabulary,
    ) -> "Requirement":
        """The requirement for an operator as users write it; key and values are normalised.

        Bound operators read their first value as Go's Atoi does with its error ignored. Raises ValueError when they have none,
        where Go panics: validation comes first. An unknown operator means Exists.
        """
        key = vocabulary.normalized_keys.get(key, key)
        renamed = vocabulary.normalized_values.get(key)
        if renamed:
            values = [renamed.get(value, value) for value in values]
        if operator == IN:
            return cls(key, False, frozenset(values), min_values=min_values)
        if operator == NOT_IN:
            return cls(key, True, frozenset(values), min_values=min_values)
        if operator == DOES_NOT_EXIST:
            return cls(key, False, _NO_VALUES, min_values=min_values)
        if operator in (GT, LT, GTE, LTE):
            operand = next(iter(values), None)
            if operand is None:
                raise ValueError(f"{operator} on {key} has no value")
            return cls._bounded(key, operator, parse_int_lenient(operand), min_values, vocabulary.exclusive_bounds)
        return cls(key, True, _NO_VALUES, min_values=min_values)

    @classmethod
    def _bounded(cls, key: str, operator: str, bound: int, min_values: int | None, exclusive: bool) -> "Requirement":
        if exclusive:
            if operator == GT:
                return cls(key, True, _NO_VALUES, bound + 1, None, min_values, True)
            if operator == LT:
                return cls(key, True, _NO_VALUES, None, bound - 1, min_values, True)
            return cls(key, True, _NO_VALUES, min_values=min_values)
        if operator == GT:
            if bound == MAX_INT:
                return cls(key, False, _NO_VALUES)
            return cls(key, True, _NO_VALUES, bound + 1, None, min_values)
        if operator == LT:
            return cls(key, True, _NO_VALUES, None, wrap_int(bound - 1), min_values)
        if operator == GTE:
            return cls(key, True, _NO_VALUES, bound, None, min_values)
        return cls(key, True, _NO_VALUES, None, bound, min_values)

    @property
    def operator(self) -> str:
        """In, NotIn, Exists (also with bounds) or DoesNotExist."""
        if self.complement:
            return NOT_IN if self.values else EXISTS
        return IN if self.values else DOES_NOT_EXIST

    def len(self) -> int:
        """Return how many values are allowed; complements count from the largest 64-bit integer and ignore bounds."""
        return MAX_INT - len(self.values) if self.complement else len(self.values)

    def has(self, value: str) -> bool:
        """Return whether ``value`` is allowed."""
        return (value in self.values) != self.complement and within_bounds(value, self.gte, self.lte)

    def any(self, choose: Callable[[int, int], int]) -> str:
        """One allowed value, drawn by ``choose(low, high)``, an integer in [low, high); nothing for DoesNotExist.

        Of In it is one of the sorted values, where Go takes the first of a map; of complements an integer between the bounds, excluded
        ones not excepted. Raises EmptyRange.
        """
        if not self.complement:
            values = sorted(self.values)
            return values[choose(0, len(values)) if len(values) > 1 else 0] if values else ""
        low = self.gte if self.gte is not None else 0
        high = wrap_int(self.lte + 1) if self.lte is not None else MAX_INT
        width = wrap_int(high - low)  # as Go's int: too wide a range overflows
        if width <= 0:
            raise EmptyRange("invalid argument to Intn")
        return str(wrap_int(choose(low, low + width)))

    def intersection(self, other: "Requirement") -> "Requirement":
        """Return the values that both allow; the larger ``min_values`` stays."""
        gte, lte, exclusive = _tightest(self, other)
        min_values = _largest(self.min_values, other.min_values)
        if gte is not None and lte is not None and _crossed(gte, lte, exclusive):
            return Requirement(self.key, False, _NO_VALUES, min_values=min_values)
        complement = self.complement and other.complement
        if complement:
            values = self.values | other.values
        elif self.complement:
            values = other.values - self.values
        elif other.complement:
            values = self.values - other.values
        else:
            values = self.values & other.values
        if gte is None and lte is None:
            return Requirement(self.key, complement, values, min_values=min_values)
        values = frozenset(value for value in values if within_bounds(value, gte, lte))
        if not complement:
            return Requirement(self.key, False, values, min_values=min_values)
        return Requirement(self.key, True, values, gte, lte, min_values, exclusive)

    def has_intersection(self, other: "Requirement") -> bool:
        """Return whether both allow a common value; two complements do unless their bounds cross."""
        gte, lte, exclusive = _tightest(self, other)
        if gte is not None and lte is not None and _crossed(gte, lte, exclusive):
            return False
        if self.complement and other.complement:
            return True
        if self.complement:
            common = other.values - self.values
        elif other.complement:
            common = self.values - other.values
        else:
            common = self.values & other.values
        if gte is None and lte is None:
            return bool(common)
        return any(within_bounds(value, gte, lte) for value in common)

    @property
    def tolerates_absence(self) -> bool:
        """NotIn and DoesNotExist: met by a node without the label."""
        return bool(self.values) if self.complement else not self.values

    def node_selector_requirements(self) -> list[dict[str, Any]]:
        """The requirement as API objects: two for a pair of inclusive bounds, else one. Exclusions beside bounds are lost."""
        if self.gte is not None and self.lte is not None and not self.exclusive:
            return [self._api(GTE, [str(self.gte)]), self._api(LTE, [str(self.lte)])]
        if self.gte is not None:
            return [self._api(GT, [str(self.gte - 1)]) if self.exclusive else self._api(GTE, [str(self.gte)])]
        if self.lte is not None:
            return [self._api(LT, [str(self.lte + 1)]) if self.exclusive else self._api(LTE, [str(self.lte)])]
        return [self._api(self.operator, sorted(self.values))]

    def _api(self, operator: str, values: list[str]) -> dict[str, Any]:
        rendered: dict[str, Any] = {"key": self.key, "operator": operator}
        if values:
            rendered["values"] = values
        if self.min_values is not None:
            rendered["minValues"] = self.min_values
        return rendered

    def __str__(self) -> str:
        text = f"{self.key} {self.operator}"
        if self.values:
            shown = sorted(self.values)
            if len(shown) > _SHOWN_VALUES:
                shown[_SHOWN_VALUES:] = [f"and {len(shown) - _SHOWN_VALUES} others"]
            text += " " + bracketed(shown)
        if self.gte is not None:
            text += f" >{self.gte - 1}" if self.exclusive else f" >={self.gte}"
        if self.lte is not None:
            text += f" <{self.lte + 1}" if self.exclusive else f" <={self.lte}"
        if self.min_values is not None:
            text += f" minValues {self.min_values}"
        return text


def within_bounds(value: str, gte: int | None, lte: int | None) -> bool:
    """Return whether ``value`` is an integer between the bounds; true without bounds."""
    if gte is None and lte is None:
        return True
    number = parse_int(value)
    return number is not None and (gte is None or number >= gte) and (lte is None or number <= lte)


def requirement_from_api(item: Mapping[str, Any], *, vocabulary: Vocabulary) -> Requirement:
    """The requirement of a NodeSelectorRequirement or a NodePool requirement ``{key, operator, values, minValues}``."""
    return Requirement.of(
        item["key"], item.get("operator") or "", item.get("values") or (), item.get("minValues"), vocabulary=vocabulary
    )


def _tightest(a: Requirement, b: Requirement) -> tuple[int | None, int | None, bool]:
    gte = _largest(a.gte, b.gte)
    lte = b.lte if a.lte is None else a.lte if b.lte is None else min(a.lte, b.lte)
    return gte, lte, a.exclusive or b.exclusive


def _largest(a: int | None, b: int | None) -> int | None:
    return b if a is None else a if b is None else max(a, b)


def _crossed(gte: int, lte: int, exclusive: bool) -> bool:
    # Exclusive bounds are compared as written: ``> 4`` with ``< 5`` holds no integer, and still counts as a range.
    return gte - 1 >= lte + 1 if exclusive else gte > lte
