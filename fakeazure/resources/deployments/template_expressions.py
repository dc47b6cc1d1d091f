"""ARM's template expressions: `[concat(parameters('a'), '-nic')]`, evaluated in a deployment's scope, within its budget."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from fakeazure.arm.tokens import DEEPEST, Tokens
from fakeazure.resources.deployments.template_functions import FUNCTIONS, Function
from fakeazure.resources.deployments.template_values import INT64, Budget, TemplateError

__all__ = ["FUNCTIONS", "Function", "Functions", "TemplateError", "evaluate"]

_TOKEN = re.compile(
    r"\s*(?:(?P<text>'(?:[^']|'')*+')|(?P<number>-?\d+)|(?P<word>[A-Za-z_]\w*)|(?P<mark>[()\[\],.]))", re.ASCII
)
_LONGEST = 24_576
"""Characters of an expression (learn.microsoft.com, "Template limits")."""
Functions = Mapping[str, Function]
_LOWERED: Mapping[str, Function] = {name.lower(): function for name, function in FUNCTIONS.items()}


def evaluate(value: Any, scope: Functions, budget: Budget | None = None) -> Any:
    """A part of a template with every expression in it evaluated. TemplateError for one that is not understood, or costs too much.

    `scope` has the functions that know the deployment, named in small letters.
    """
    try:
        return _evaluated(value, scope, budget or Budget())
    except RecursionError:
        raise TemplateError("The template's expressions are nested too deep") from None


def _evaluated(value: Any, scope: Functions, budget: Budget) -> Any:
    budget.step()
    if isinstance(value, Mapping):
        return {key: _evaluated(item, scope, budget) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_evaluated(item, scope, budget) for item in value]
    if not isinstance(value, str) or not value.startswith("[") or not value.endswith("]"):
        return value
    if value.startswith("[["):
        return value[1:]
    if len(value) > _LONGEST:
        raise TemplateError(
            f"The language expression length limit exceeded. Limit: '{_LONGEST}' and actual: '{len(value)}'."
        )
    parser = _Parser(value[1:-1], scope, budget)
    found = parser.value()
    if parser.peek() is not None:
        raise TemplateError(f"unexpected {parser.peek()!r} in {value[:200]!r}")
    return found


class _Parser(Tokens):
    def __init__(self, text: str, scope: Functions, budget: Budget) -> None:
        super().__init__(text, _TOKEN, TemplateError)
        self._scope = scope
        self._budget = budget
        budget.step(self.count)

    def value(self) -> Any:
        self._depth += 1
        if self._depth > DEEPEST:
            raise TemplateError(f"expressions are nested more than {DEEPEST} deep")
        token = self.take()
        if token.startswith("'"):
            found: Any = token[1:-1].replace("''", "'")
        elif token.lstrip("-").isdigit():
            found = int(token[:30])
            if found not in INT64:
                raise TemplateError(f"The integer {token[:30]} is too large or too small for an Int64")
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
        if isinstance(holder, Mapping) and isinstance(key, str):
            if key in holder:
                return holder[key]
            self._budget.step(len(holder))
            names = {str(name).lower(): name for name in holder}
            if key.lower() in names:
                return holder[names[key.lower()]]
        elif isinstance(holder, list | tuple) and type(key) is int and -1 < key < len(holder):
            return holder[key]
        shown = str(key)[:100] if isinstance(key, str | int) else "?"
        raise TemplateError(f"The language expression property '{shown}' doesn't exist")

    def _call(self, name: str) -> Any:
        self.take("(")
        arguments = []
        if self.peek() != ")":
            arguments.append(self.value())
            while self.peek() == ",":
                self.take()
                arguments.append(self.value())
        self.take(")")
        function = self._scope.get(name.lower()) or _LOWERED.get(name.lower())
        if function is None:
            raise TemplateError(f"The template function '{name[:100]}' is not valid here")
        return function(name[:100], arguments, self._budget)
