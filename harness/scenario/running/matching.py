"""Comparing what is expected with what is: in part, in any order, and with the reason for every difference."""

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

__all__ = ["ABSENT", "Difference", "differences", "nearest_and_last", "said", "show", "text_of"]


class _Absent:
    """A value that is absent, as opposed to null."""

    def __repr__(self) -> str:
        return "absent"


ABSENT = _Absent()

_BEFORE = 60
"""Characters that are shown before the place that decides."""
_MOST_COMPARED = 50
"""Texts among which the one is looked for that is most like another, the last ones."""
_SOUGHT, _SEARCHED = 300, 4_000
"""Characters of a text that are looked for, and of another in which; the search takes their product in time."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference: where in the value, what was expected and what is there, as texts."""

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
    """A value in YAML's flow style, cut when it is long; ``near`` is what it was compared with, and decides which part is shown."""
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


def likeness(one: str, other: str) -> float:
    """How alike two texts are, from 0 to 1."""
    from difflib import SequenceMatcher  # only failures need it

    return SequenceMatcher(None, one[:_SOUGHT], other[:_SOUGHT], autojunk=False).quick_ratio()


def nearest_and_last(texts: Sequence[str], near: Sequence[str], wanted: str) -> str:
    """The text of ``near`` that is most like what is ``wanted``, then the last five of all ``texts``."""
    last = show(list(texts[-5:]), 900)
    distinct = list(dict.fromkeys(near))[-_MOST_COMPARED:]
    if not distinct or len(texts) < 2:
        return f"the last: {last}"
    return f"the nearest: {show(max(distinct, key=lambda text: likeness(text, wanted)), near=wanted)}; the last: {last}"


def _deciding(text: str, near: str) -> int:
    """Return where to begin: shortly before the place where the texts come apart, or where ``text`` has the most of ``near``."""
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
        value = said(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple, set, frozenset)):
        return "[" + ", ".join(map(_flow, value)) + "]"
    text = text_of(value)
    return "''" if text == "" else text


def differences(expected: Any, actual: Any, path: str = "", *, quantities: bool = False) -> list[Difference]:
    """Everything in which `actual` is not as `expected`; empty when it matches.

    Maps match in part, lists as sets of different items; a map whose keys are all conditions stands for a value. With
    `quantities`, scalars are compared by what they mean as quantities (`1000m` is `1`).
    """
    if isinstance(expected, Model):
        expected = said(expected)
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


def said(model: Model) -> dict[str, Any]:
    """A model's map as it is in the file: keys as they are spelled there, without those left out."""
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
        return all(_literally(one, other) for one, other in zip(wanted, actual, strict=True))
    return not isinstance(actual, (Mapping, list, tuple)) and text_of(wanted) == text_of(actual)


def _map(expected: Mapping[str, Any], actual: Any, path: str, quantities: bool) -> list[Difference]:
    if not isinstance(actual, Mapping):
        return [Difference(path, show(expected), show(actual))]
    found: list[Difference] = []
    for key, value in expected.items():
        below = f"{path}.{key}" if path else key
        found += differences(value, actual.get(key, ABSENT), below, quantities=quantities)
    return found


def _list(
    expected: Sequence[Any], actual: Any, path: str, quantities: bool, *, exactly: bool = False
) -> list[Difference]:
    if actual is ABSENT and not expected:
        actual = []
    if not isinstance(actual, (list, tuple)):
        return [Difference(path, show(expected), show(actual))]
    if not expected and not exactly and actual:
        return [Difference(path, "[]", show(actual))]
    expected = [said(item) if isinstance(item, Model) else item for item in expected]
    costs = [[differences(item, one, quantities=quantities) for one in actual] for item in expected]
    partner = _assigned([[index for index, cost in enumerate(row) if not cost] for row in costs], len(actual))
    found: list[Difference] = []
    taken = set(partner.values())
    for number, item in enumerate(expected):
        if number in partner:
            continue
        rest = [index for index in range(len(actual)) if index not in taken]
        place = f"{path}[{number}]"
        if not rest:
            found.append(Difference(place, show(item), f"no further item in {show(actual, near=item)}"))
            continue
        nearest = min(rest, key=lambda index: len(costs[number][index]))
        taken.add(nearest)
        if isinstance(item, Mapping) and isinstance(actual[nearest], Mapping):
            note = f"the nearest item is {show(actual[nearest], 160)}"
            found += [
                Difference(f"{place}.{one.path}" if one.path else place, one.expected, one.actual, note)
                for one in costs[number][nearest]
            ]
        else:
            found.append(Difference(place, show(item), show(actual, near=item)))
    if exactly and not found and len(actual) != len(expected):
        extra = [one for index, one in enumerate(actual) if index not in taken]
        found.append(Difference(path, f"exactly {show(list(expected))}", f"also {show(extra)}"))
    return found


def _assigned(fits: Sequence[Sequence[int]], size: int) -> dict[int, int]:
    """A largest assignment of expected items to different actual ones (augmenting paths)."""
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
    found: list[Difference] = []
    for name, wanted in conditions.items():
        if not _holds(name, wanted, actual, quantities):
            expected = f"{_WORDS.get(name, name)} {show(wanted)}" if name != "absent" else "nothing"
            found.append(Difference(path, expected, show(actual, near=wanted)))
        elif name in ("exactly", "inOrder") and isinstance(wanted, (list, tuple)):
            found += (
                _list(wanted, actual, path, quantities, exactly=True)
                if name == "exactly"
                else _in_order(wanted, actual, path, quantities)
            )
    return found


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
        return any(text == text_of(one) or (quantities and _same_quantity(one, actual)) for one in wanted)
    if name == "not":
        return all(text != text_of(one) for one in (wanted if isinstance(wanted, (list, tuple)) else [wanted]))
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
    found: list[Difference] = []
    for index, (item, one) in enumerate(zip(expected, actual, strict=True)):
        found += differences(item, one, f"{path}[{index}]", quantities=quantities)
    return found


def _quantity(value: Any) -> Quantity | None:
    try:
        return Quantity.parse(text_of(value))
    except QuantityError:
        return None


def _same_quantity(one: Any, other: Any) -> bool:
    left, right = _quantity(one), _quantity(other)
    return left is not None and right is not None and left.nano == right.nano
