"""The functions of template expressions that know nothing of a deployment, each with the types of its parameters.

Names and rules: learn.microsoft.com, "ARM template functions".
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from fakeazure.arm import relaxed_json
from fakeazure.guids import guid_of
from fakeazure.resources.deployments.template_values import INT64, Budget, Lambda, TemplateError, equal, type_name
from lazyrecords import dataclass

NESTING = 64
"""The deepest nesting of `json`, that of a request body."""
_LONGEST_RANGE = 10_000
_KINDS: Mapping[str, tuple[tuple[str, ...], str]] = {
    "s": (("String",), "a string"),
    "i": (("Integer",), "an integer"),
    "b": (("Boolean",), "a boolean"),
    "a": (("Array",), "an array"),
    "o": (("Object",), "an object"),
    "sa": (("String", "Array"), "a string or an array"),
    "si": (("String", "Integer"), "a string or an integer"),
    "sao": (("String", "Array", "Object"), "a string, an array or an object"),
    "saon": (("String", "Array", "Object", "Null"), "a string, an array or an object"),
    "ao": (("Array", "Object"), "an array or an object"),
    "sib": (("String", "Integer", "Boolean"), "a string, an integer or a boolean"),
    "l": (("Lambda",), "a lambda"),
    "?": ((), "a value"),
}
"""Kind of a parameter → the types that it takes, none for all, and how a message names them."""


@dataclass(frozen=True, slots=True)
class Function:
    """A function. `kinds` of its parameters have blanks between them: `i`, optional ones end in `?`, the last one in `*` for any number."""

    kinds: str
    call: Callable[..., Any]
    thrifty: bool = False
    """The function is given the budget first, since its result may be larger than all that it takes."""

    def __call__(self, name: str, arguments: list[Any], budget: Budget) -> Any:
        """Call it within the budget. Raises TemplateError, in ARM's form, for parameters that it does not take."""
        kinds = self.kinds.split()
        many = bool(kinds) and kinds[-1].endswith("*")
        least = sum(not kind.endswith(("?", "*")) or kind == "?" for kind in kinds)
        if len(arguments) < least or (len(arguments) > len(kinds) and not many):
            raise wrong(name, f"was invoked with '{len(arguments)}' parameter(s), which is not what it expects")
        for place, argument in enumerate(arguments):
            kind = kinds[min(place, len(kinds) - 1)]
            types, words = _KINDS[kind if kind == "?" else kind.rstrip("?*") or "?"]
            if type_name(argument) not in types if types else isinstance(argument, Lambda):
                type_given = type_name(argument)
                raise wrong(name, f"expects its parameter to be {words}. The provided value is of type '{type_given}'")
        budget.step()
        result = self.call(*((budget, *arguments) if self.thrifty else arguments))
        if isinstance(result, int) and not isinstance(result, bool) and result not in INT64:
            raise wrong(name, "comes to an integer that is too large or too small for an Int64")
        budget.take(result)
        return result


def wrong(name: str, words: str) -> TemplateError:
    """Return the refusal of a function's parameters, in ARM's form."""
    return TemplateError(
        f"The template language function '{name}' {words}. Please see https://aka.ms/arm-functions#{name.lower()} for usage details."
    )


def text_of(budget: Budget, value: Any) -> str:
    """A value as text: strings as they are, the rest as JSON."""
    if isinstance(value, bool):
        return "True" if value else "False"
    if isinstance(value, str):
        return value
    budget.take(value)
    return json.dumps(value, separators=(",", ":"), default=dict, ensure_ascii=False)


def _concat(budget: Budget, *values: Any) -> Any:
    for value in values:
        budget.take(value)
    if values and all(isinstance(value, list | tuple) for value in values):
        return [item for value in values for item in value]
    if any(isinstance(value, list | tuple) for value in values):
        raise wrong("concat", "expects parameters that are all arrays, or none")
    return "".join(text_of(budget, value) for value in values)


def _replace(budget: Budget, value: str, old: str, new: str) -> str:
    if not old:
        raise wrong("replace", "expects its second parameter to be a string that is not empty")
    budget.spend(len(value) + value.count(old) * len(new))
    return value.replace(old, new)


def _join(budget: Budget, values: Any, mark: str) -> str:
    budget.spend(len(mark) * len(values))
    return mark.join(text_of(budget, value) for value in values)


def _split(value: str, marks: Any) -> list[str]:
    parts = [value]
    for mark in [marks] if isinstance(marks, str) else marks:
        if not isinstance(mark, str) or not mark:
            raise wrong("split", "expects its second parameter to be a delimiter that is not empty")
        parts = [inner for part in parts for inner in part.split(mark)]
    return parts


def _substring(value: str, start: int, length: int | None = None) -> str:
    end = len(value) if length is None else start + length
    if not 0 <= start <= end <= len(value):
        raise wrong("substring", "has parameters that are out of range of the string")
    return value[start:end]


def _contains(holder: Any, item: Any) -> bool:
    if isinstance(holder, str):
        return isinstance(item, str | int) and str(item) in holder
    if isinstance(holder, Mapping):
        return isinstance(item, str) and item.lower() in {str(key).lower() for key in holder}
    return any(equal(item, inner) for inner in holder)


def _bool(value: Any) -> bool:
    """Text is true if it is `true` in any case, a number if it is not 0 (learn.microsoft.com, "Logical functions for Bicep")."""
    return value.lower() == "true" if isinstance(value, str) else bool(value)


def _end(value: Any, place: int) -> Any:
    """The first or last item, null where there is none (Bicep's type of `first` and `last`)."""
    if value:
        return value[place]
    return "" if isinstance(value, str) else None


def _object(*values: Any) -> dict[str, Any]:
    if len(values) % 2 or not all(isinstance(key, str) for key in values[::2]):
        raise wrong("createObject", "expects pairs of a string and a value")
    return dict(zip(values[::2], values[1::2], strict=True))


def _union(budget: Budget, *values: Any) -> Any:
    if all(isinstance(value, Mapping) for value in values):
        merged: dict[str, Any] = {}
        for value in values:
            merged = _merged(budget, merged, value)
        return merged
    if any(isinstance(value, Mapping) for value in values):
        raise wrong("union", "expects parameters that are all arrays, or all objects")
    seen, items_ = set[str](), []
    for value in values:
        before = frozenset(seen)
        for item in value:
            key = type_name(item) + text_of(budget, item)
            if key not in before:
                items_.append(item)
            seen.add(key)
    return items_


def _merged(budget: Budget, left: Mapping[str, Any], right: Mapping[str, Any]) -> dict[str, Any]:
    """Objects within objects are merged too, arrays are replaced (learn.microsoft.com, "union")."""
    budget.step(len(left) + len(right))
    result = dict(left)
    for key, value in right.items():
        old = result.get(key)
        both = isinstance(old, Mapping) and isinstance(value, Mapping)
        result[key] = _merged(budget, old, value) if both else value  # type: ignore[arg-type]
    return result


def _range(start: int, count: int) -> list[int]:
    if not 0 <= count <= _LONGEST_RANGE or start + count not in INT64:
        raise wrong("range", f"expects its second parameter to be from 0 to {_LONGEST_RANGE}")
    return list(range(start, start + count))


def _int(value: Any) -> int:
    if isinstance(value, int):
        return value
    if re.fullmatch(r"\s*[+-]?\d{1,20}\s*", value, re.ASCII) is None:
        raise wrong("int", "expects a string that is an integer")
    return int(value)


def _json(value: str) -> Any:
    try:
        return relaxed_json.value(value.encode("utf-8", "surrogatepass"), NESTING)
    except (ValueError, RecursionError):
        raise wrong("json", "expects its parameter to be JSON") from None


def _divided(name: str, left: int, right: int) -> tuple[int, int]:
    """Quotient and rest of integers, as .NET divides: towards zero, the rest with the sign of the dividend. `name` is the function's."""
    if right == 0:
        raise TemplateError(f"The template language function '{name}' was invoked with a divisor of zero")
    quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
    return quotient, left - quotient * right


def _decoded(value: str) -> str:
    try:
        return base64.b64decode(value, validate=True).decode()
    except (binascii.Error, ValueError):
        raise wrong("base64ToString", "expects its parameter to be base64 of UTF-8") from None


def _compared(name: str, compare: Callable[[Any, Any], bool]) -> Function:
    def judge(left: Any, right: Any) -> bool:
        if type_name(left) != type_name(right):
            raise wrong(name, "expects two parameters of one type")
        return compare(left, right)

    return Function("si si", judge)


def _best(name: str, best: Callable[[Any], Any]) -> Function:
    def pick(*values: Any) -> Any:
        [only, *rest] = values
        numbers = only if isinstance(only, list | tuple) and not rest else values
        if not numbers or not all(type_name(number) == "Integer" for number in numbers):
            raise wrong(name, "expects integers")
        return best(numbers)

    return Function("? ?*", pick)


def _unique(budget: Budget, *values: str) -> str:
    """Thirteen letters and digits that belong to the arguments; not those that Azure makes of them, whose hash is not published."""
    digest = hashlib.sha256("/".join(values).encode("utf-8", "surrogatepass")).digest()
    return base64.b32encode(digest).decode().lower()[:13]


def _utf8(value: str) -> str:
    return base64.b64encode(value.encode("utf-8", "surrogatepass")).decode()


FUNCTIONS: Mapping[str, Function] = {
    "concat": Function("? ?*", _concat, thrifty=True),
    "toLower": Function("s", lambda value: value.lower()),
    "toUpper": Function("s", lambda value: value.upper()),
    "replace": Function("s s s", _replace, thrifty=True),
    "trim": Function("s", lambda value: value.strip()),
    "split": Function("s sa", _split),
    "join": Function("a s", _join, thrifty=True),
    "substring": Function("s i i?", _substring),
    "startsWith": Function("s s", lambda value, part: value.lower().startswith(part.lower())),
    "endsWith": Function("s s", lambda value, part: value.lower().endswith(part.lower())),
    "contains": Function("sao ?", _contains),
    "length": Function("sao", len),
    "empty": Function("saon", lambda value: not value),
    "first": Function("sa", lambda value: _end(value, 0)),
    "last": Function("sa", lambda value: _end(value, -1)),
    "take": Function("sa i", lambda value, count: value[: max(0, count)]),
    "skip": Function("sa i", lambda value, count: value[max(0, count) :]),
    "createArray": Function("?*", lambda *values: list(values)),
    "createObject": Function("?*", _object),
    "array": Function("?", lambda value: value if isinstance(value, list) else [value]),
    "union": Function("ao ao*", _union, thrifty=True),
    "range": Function("i i", _range),
    "string": Function("?", text_of, thrifty=True),
    "int": Function("si", _int),
    "bool": Function("sib", _bool),
    "json": Function("s", _json),
    "null": Function("", lambda: None),
    "true": Function("", lambda: True),
    "false": Function("", lambda: False),
    "equals": Function("? ?", equal),
    "not": Function("b", lambda value: not value),
    "and": Function("b b*", lambda *values: all(values)),
    "or": Function("b b*", lambda *values: any(values)),
    "greater": _compared("greater", lambda left, right: bool(left > right)),
    "less": _compared("less", lambda left, right: bool(left < right)),
    "greaterOrEquals": _compared("greaterOrEquals", lambda left, right: bool(left >= right)),
    "lessOrEquals": _compared("lessOrEquals", lambda left, right: bool(left <= right)),
    "coalesce": Function("? ?*", lambda *values: next((value for value in values if value is not None), None)),
    "add": Function("i i", lambda left, right: left + right),
    "sub": Function("i i", lambda left, right: left - right),
    "mul": Function("i i", lambda left, right: left * right),
    "div": Function("i i", lambda left, right: _divided("div", left, right)[0]),
    "mod": Function("i i", lambda left, right: _divided("mod", left, right)[1]),
    "min": _best("min", min),
    "max": _best("max", max),
    "base64": Function("s", _utf8),
    "base64ToString": Function("s", _decoded),
    "uniqueString": Function("s s*", _unique, thrifty=True),
    "guid": Function("s s*", lambda *values: guid_of("/".join(values))),
}
"""The functions on values of all types; those that name more of them lie beside."""
