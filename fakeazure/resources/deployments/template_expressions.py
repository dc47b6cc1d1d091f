"""ARM's template expressions: `[concat(parameters('a'), '-nic')]`, evaluated in a deployment's scope."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from fakeazure.arm.tokens import DEEPEST, Tokens
from fakeazure.guids import guid_of

_TOKEN = re.compile(r"\s*(?:(?P<text>'(?:[^']|'')*')|(?P<number>-?\d+)|(?P<word>[A-Za-z_]\w*)|(?P<mark>[()\[\],.]))")
Functions = Mapping[str, Callable[..., Any]]


class TemplateError(ValueError):
    """The template is not understood; the text says where."""


def evaluate(value: Any, scope: Functions) -> Any:
    """A part of a template with every expression in it evaluated; `scope` has the functions that know the deployment."""
    if isinstance(value, Mapping):
        return {key: evaluate(item, scope) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [evaluate(item, scope) for item in value]
    if not isinstance(value, str) or not value.startswith("[") or not value.endswith("]"):
        return value
    if value.startswith("[["):
        return value[1:]
    parser = _Parser(value[1:-1], scope)
    found = parser.value()
    if parser.peek() is not None:
        raise TemplateError(f"unexpected {parser.peek()!r} in {value[:200]!r}")
    return found


class _Parser(Tokens):
    def __init__(self, text: str, scope: Functions) -> None:
        super().__init__(text, _TOKEN, TemplateError)
        self._scope = scope

    def value(self) -> Any:
        self._depth += 1
        if self._depth > DEEPEST:
            raise TemplateError(f"expressions are nested more than {DEEPEST} deep")
        token = self.take()
        if token.startswith("'"):
            found: Any = token[1:-1].replace("''", "'")
        elif token.lstrip("-").isdigit():
            found = int(token[:30])
        else:
            found = self._call(token)
        while self.peek() in (".", "["):
            found = self._at(found)
        self._depth -= 1
        return found

    def _at(self, holder: Any) -> Any:
        if self.take() == ".":
            key: Any = self.take()
        else:
            key = self.value()
            self.take("]")
        if isinstance(holder, Mapping):
            names = {str(name).lower(): name for name in holder}
            if str(key).lower() in names:
                return holder[names[str(key).lower()]]
        elif isinstance(holder, list | tuple) and isinstance(key, int) and -1 < key < len(holder):
            return holder[key]
        raise TemplateError(f"The language expression property '{key}' doesn't exist")

    def _call(self, name: str) -> Any:
        self.take("(")
        arguments = []
        if self.peek() != ")":
            arguments.append(self.value())
            while self.peek() == ",":
                self.take()
                arguments.append(self.value())
        self.take(")")
        functions = {**FUNCTIONS, **self._scope}
        found = functions.get(name) or {key.lower(): one for key, one in functions.items()}.get(name.lower())
        if found is None:
            raise TemplateError(f"The template function '{name}' is not valid here")
        try:
            return found(*arguments)
        except TemplateError:
            raise
        except (TypeError, ValueError, IndexError, KeyError, OverflowError) as error:
            raise TemplateError(f"The template function '{name}' cannot take these arguments: {error}") from None


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "True" if value else "False"
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))


def _concat(*values: Any) -> Any:
    if values and all(isinstance(value, list) for value in values):
        return [item for value in values for item in value]
    return "".join(_text(value) for value in values)


def _union(*values: Any) -> Any:
    if all(isinstance(value, Mapping) for value in values):
        return {key: item for value in values for key, item in value.items()}
    return [
        item for index, value in enumerate(values) for item in value if not any(item in one for one in values[:index])
    ]


def _unique(*values: Any) -> str:
    """Thirteen letters and digits that belong to the arguments; not those that Azure makes of them, whose hash is not published."""
    digest = hashlib.sha256("/".join(_text(value) for value in values).encode()).digest()
    return base64.b32encode(digest).decode().lower()[:13]


FUNCTIONS: Functions = {
    "concat": _concat,
    "format": lambda text, *values: re.sub(r"\{(\d+)\}", lambda match: _text(values[int(match[1])]), text),
    "toLower": lambda value: str(value).lower(),
    "toUpper": lambda value: str(value).upper(),
    "replace": lambda value, old, new: str(value).replace(old, new),
    "trim": lambda value: str(value).strip(),
    "split": lambda value, mark: str(value).split(mark),
    "join": lambda values, mark: str(mark).join(map(_text, values)),
    "substring": lambda value, start, length=None: value[start:] if length is None else value[start : start + length],
    "startsWith": lambda value, part: str(value).lower().startswith(str(part).lower()),
    "endsWith": lambda value, part: str(value).lower().endswith(str(part).lower()),
    "contains": lambda holder, item: item in holder,
    "length": len,
    "empty": lambda value: value in (None, "", [], {}),
    "first": lambda value: value[0] if value else "",
    "last": lambda value: value[-1] if value else "",
    "take": lambda value, count: value[:count],
    "skip": lambda value, count: value[count:],
    "createArray": lambda *values: list(values),
    "createObject": lambda *values: dict(zip(values[::2], values[1::2], strict=True)),
    "array": lambda value: value if isinstance(value, list) else [value],
    "union": _union,
    "range": lambda start, count: list(range(start, start + min(count, 10_000))),
    "string": _text,
    "int": int,
    "bool": lambda value: str(value).lower() in ("true", "1"),
    "json": json.loads,
    "null": lambda: None,
    "true": lambda: True,
    "false": lambda: False,
    "if": lambda test, yes, no: yes if test is True else no,
    "equals": lambda left, right: left == right,
    "not": lambda value: value is not True,
    "and": lambda *values: all(value is True for value in values),
    "or": lambda *values: any(value is True for value in values),
    "greater": lambda left, right: left > right,
    "less": lambda left, right: left < right,
    "coalesce": lambda *values: next((value for value in values if value is not None), None),
    "add": lambda left, right: left + right,
    "sub": lambda left, right: left - right,
    "mul": lambda left, right: left * right,
    "div": lambda left, right: int(left / right),
    "mod": lambda left, right: left % right,
    "min": min,
    "max": max,
    "base64": lambda value: base64.b64encode(str(value).encode()).decode(),
    "base64ToString": lambda value: base64.b64decode(value).decode(),
    "uniqueString": _unique,
    "guid": lambda *values: guid_of("/".join(map(_text, values))),
}
"""The functions that know nothing of a deployment."""
