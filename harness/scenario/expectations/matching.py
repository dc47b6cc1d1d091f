"""Comparison of expected with actual values: in part, in any order, and with the reason for every difference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import takewhile
from operator import eq
from typing import Any

from harness.kube.api.quantity import Quantity, QuantityError
from harness.kube.go.patterns import searcher
from harness.scenario.language.models.base import Model
from harness.scenario.language.models.matchers import CONDITIONS
from lazyrecords import dataclass

__all__ = ["ABSENT", "Difference", "as_written", "differences", "nearest_and_last", "show", "text_of"]


class _Absent:
    """A value that is absent, as opposed to null."""

    def __repr__(self) -> str:
        return "absent"


ABSENT = _Absent()

_BEFORE = 60
"""Characters that are shown before the place that decides."""
_MOST_COMPARED = 50
"""The number of texts among which the most similar one is looked for: the last ones."""
_SOUGHT, _SEARCHED = 300, 4_000
"""Characters of a text to look for, and of the text to search; the search takes their product in time."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference: the place in the value, the expected and the actual text."""

    path: str
    expected: str
    actual: str
    note: str = ""

    def __str__(self) -> str:
        place = f"{self.path}: " if self.path else ""
        note = f" ({self.note})" if self.note else ""
        return f"{place}expected {self.expected}, found {self.actual}{note}"


def text_of(value: Any) -> str:
    """A scalar as YAML would write it plainly: `true`, `3`, `null`."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def show(value: Any, limit: int = 400, near: Any = None) -> str:
    """Return a value in YAML's flow style, cut when it is long; ``near`` is the value that it was compared with, and decides which part is
    shown."""
    text = _flow(value)
    if len(text) <= limit:
        return text
    if near is not None and isinstance(value, (list, tuple)):
        text = _flow(sorted(value, key=lambda item: -likeness(_flow(item), _flow(near))))
    elif near is not None and (start := _deciding(text, _flow(near))):
        head = f"… ({start} characters) …"
        rest = text[start:]
        room = limit - len(head)
        return head + (rest if len(rest) <= room else f"{rest[: room - 1]}…")
    return f"{text[: limit - 1]}…"


def likeness(text: str, other: str) -> float:
    """Return the similarity of two texts, from 0 to 1."""
    from difflib import SequenceMatcher  # only failures need it

    return SequenceMatcher(None, text[:_SOUGHT], other[:_SOUGHT], autojunk=False).quick_ratio()


def nearest_and_last(texts: Sequence[str], near: Sequence[str], wanted: str) -> str:
    """Return the text of ``near`` that is most like the ``wanted`` one, then the last five of all ``texts``."""
    last = show(list(texts[-5:]), 900)
    distinct = list(dict.fromkeys(near))[-_MOST_COMPARED:]
    if not distinct or len(texts) < 2:
        return f"the last: {last}"
    return f"the nearest: {show(max(distinct, key=lambda text: likeness(text, wanted)), near=wanted)}; the last: {last}"


def _deciding(text: str, near: str) -> int:
    """Return the place to begin: shortly before the texts come apart, or where ``text`` has the most of ``near``."""
    shared = sum(takewhile(bool, map(eq, text, near)))
    if shared < _BEFORE:
        from difflib import SequenceMatcher

        most = SequenceMatcher(None, near[:_SOUGHT], text[:_SEARCHED], autojunk=False).find_longest_match()
        shared = most.b
    return max(0, int(shared) - _BEFORE)


def _flow(value: Any) -> str:
    if value is ABSENT:
        return "nothing"
    if isinstance(value, Model):
        value = as_written(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple, set, frozenset)):
        return "[" + ", ".join(map(_flow, value)) + "]"
    text = text_of(value)
    return "''" if text == "" else text


def differences(expected: Any, actual: Any, path: str = "", *, quantities: bool = False) -> list[Difference]:
    """Return all differences of `actual` from `expected`; empty when it matches.

    Maps match in part, lists as sets of different items; a map whose keys are all conditions stands for a value. With `quantities`, scalars
    are compared by their value as quantities (`1000m` is `1`).
    """
    if isinstance(expected, Model):
        expected = as_written(expected)
    if isinstance(expected, Mapping):
        if expected and expected.keys() <= CONDITIONS:
            return _conditions(expected, actual, path, quantities)
        return _map(expected, actual, path, quantities)
    if isinstance(expected, (list, tuple)):
        return _list(expected, actual, path, quantities)
    if actual is ABSENT or isinstance(actual, (Mapping, list, tuple)):
        return [Difference(path, show(expected), show(actual, near=expected))]
    same = text_of(expected) == text_of(actual) or (quantities and _same_quantity(expected, actual))
    return [] if same else [Difference(path, show(expected, near=actual), show(actual, near=expected))]


def as_written(model: Model) -> dict[str, Any]:
    """Return a model's map as it is in the file: keys as they are spelled there, without omitted ones."""
    fields = {field.alias or name: getattr(model, name) for name, field in type(model).model_fields.items()}
    return {key: value for key, value in fields.items() if value is not None}


def _literally(wanted: Any, actual: Any) -> bool:
    """Return whether two values are literally equal, without conditions or wildcards."""
    if isinstance(wanted, Mapping):
        if not isinstance(actual, Mapping) or wanted.keys() != actual.keys():
            return False
        return all(_literally(value, actual[key]) for key, value in wanted.items())
    if isinstance(wanted, (list, tuple)):
        if not isinstance(actual, (list, tuple)) or len(wanted) != len(actual):
            return False
        return all(_literally(left, right) for left, right in zip(wanted, actual, strict=True))
    return not isinstance(actual, (Mapping, list, tuple)) and text_of(wanted) == text_of(actual)


def _map(expected: Mapping[str, Any], actual: Any, path: str, quantities: bool) -> list[Difference]:
    if not isinstance(actual, Mapping):
        return [Difference(path, show(expected), show(actual))]
    wrong: list[Difference] = []
    for key, value in expected.items():
        below = f"{path}.{key}" if path else key
        wrong += differences(value, actual.get(key, ABSENT), below, quantities=quantities)
    return wrong


def _list(
    expected: Sequence[Any], actual: Any, path: str, quantities: bool, *, exactly: bool = False
) -> list[Difference]:
    if actual is ABSENT and not expected:
        actual = []
    if not isinstance(actual, (list, tuple)):
        return [Difference(path, show(expected), show(actual))]
    if not expected and not exactly and actual:
        return [Difference(path, "[]", show(actual))]
    expected = [as_written(item) if isinstance(item, Model) else item for item in expected]
    costs = [[differences(item, candidate, quantities=quantities) for candidate in actual] for item in expected]
    partner = _assigned([[index for index, cost in enumerate(row) if not cost] for row in costs], len(actual))
    wrong: list[Difference] = []
    taken = set(partner.values())
    for number, item in enumerate(expected):
        if number in partner:
            continue
        rest = [index for index in range(len(actual)) if index not in taken]
        place = f"{path}[{number}]"
        if not rest:
            wrong.append(Difference(place, show(item), f"no further item in {show(actual, near=item)}"))
            continue
        nearest = min(rest, key=lambda index: len(costs[number][index]))
        taken.add(nearest)
        if isinstance(item, Mapping) and isinstance(actual[nearest], Mapping):
            note = f"the nearest item is {show(actual[nearest], 160)}"
            wrong += [
                Difference(
                    f"{place}.{difference.path}" if difference.path else place,
                    difference.expected,
                    difference.actual,
                    note,
                )
                for difference in costs[number][nearest]
            ]
        else:
            wrong.append(Difference(place, show(item), show(actual, near=item)))
    if exactly and not wrong and len(actual) != len(expected):
        extra = [item_there for index, item_there in enumerate(actual) if index not in taken]
        wrong.append(Difference(path, f"exactly {show(list(expected))}", f"also {show(extra)}"))
    return wrong


def _assigned(fits: Sequence[Sequence[int]], size: int) -> dict[int, int]:
    """Return a largest assignment of expected items to different actual ones (augmenting paths)."""
    owner: dict[int, int] = {}

    def place(number: int, seen: set[int]) -> bool:
        for index in fits[number]:
            if index not in seen:
                seen.add(index)
                if index not in owner or place(owner[index], seen):
                    owner[index] = number
                    return True
        return False

    for number in range(len(fits)):
        if len(owner) < size:
            place(number, set())
    return {number: index for index, number in owner.items()}


def _conditions(conditions: Mapping[str, Any], actual: Any, path: str, quantities: bool) -> list[Difference]:
    wrong: list[Difference] = []
    for name, wanted in conditions.items():
        if not _holds(name, wanted, actual, quantities):
            expected = f"{_WORDS.get(name, name)} {show(wanted)}" if name != "absent" else "nothing"
            wrong.append(Difference(path, expected, show(actual, near=wanted)))
        elif name in ("exactly", "inOrder") and isinstance(wanted, (list, tuple)):
            wrong += (
                _list(wanted, actual, path, quantities, exactly=True)
                if name == "exactly"
                else _in_order(wanted, actual, path, quantities)
            )
    return wrong


_WORDS = {
    "in": "one of",
    "not": "none of",
    "contains": "a text with",
    "matches": "a text that matches",
    "atLeast": "at least",
    "atMost": "at most",
    "above": "more than",
    "below": "less than",
    "count": "the number of items",
}


def _holds(name: str, wanted: Any, actual: Any, quantities: bool) -> bool:
    if name == "absent":
        return (actual is ABSENT) == (text_of(wanted) == "true")
    if name == "exactly" or name == "inOrder":
        return isinstance(wanted, (list, tuple)) or _literally(wanted, actual)
    if name == "count":
        number = len(actual) if isinstance(actual, (Mapping, list, tuple, set, frozenset)) else 0
        if isinstance(wanted, Mapping):
            return not _conditions(wanted, number, "", False)
        return text_of(wanted) == str(number)
    if actual is ABSENT:
        return name == "not"
    if name == "contains" and isinstance(actual, (list, tuple)):
        return any(not differences(wanted, item) for item in actual)
    if isinstance(actual, (Mapping, list, tuple)):
        return False
    text = text_of(actual)
    if name == "in":
        return any(text == text_of(choice) or (quantities and _same_quantity(choice, actual)) for choice in wanted)
    if name == "not":
        return all(text != text_of(choice) for choice in (wanted if isinstance(wanted, (list, tuple)) else [wanted]))
    if name == "contains":
        return text_of(wanted) in text
    if name == "matches":
        return searcher(text_of(wanted))(text)
    left, right = _quantity(actual), _quantity(wanted)
    if left is None or right is None:
        return False
    return {"atLeast": left >= right, "atMost": left <= right, "above": left > right, "below": left < right}[name]


def _in_order(expected: Sequence[Any], actual: Any, path: str, quantities: bool) -> list[Difference]:
    if not isinstance(actual, (list, tuple)) or len(actual) != len(expected):
        return [Difference(path, f"in this order {show(list(expected))}", show(actual))]
    wrong: list[Difference] = []
    for index, (item, actual_item) in enumerate(zip(expected, actual, strict=True)):
        wrong += differences(item, actual_item, f"{path}[{index}]", quantities=quantities)
    return wrong


def _quantity(value: Any) -> Quantity | None:
    try:
        return Quantity.parse(text_of(value))
    except QuantityError:
        return None


def _same_quantity(left_value: Any, right_value: Any) -> bool:
    left, right = _quantity(left_value), _quantity(right_value)
    return left is not None and right is not None and left.nano == right.nano


def count_differences(wanted: int | float | Model, actual: float, path: str = "") -> list[Difference]:
    """Return the differences of a number from the expected one."""
    return differences(wanted, actual, path)


def wants_none(wanted: int | float | Model | None) -> bool:
    """Return whether a count says that there must be none."""
    return wanted == 0 and not isinstance(wanted, Model)
