"""ARM's template expressions: `[concat(parameters('a'), '-nic')]`, evaluated in a deployment's scope, within its budget.

An expression is read as a tree first, since `if` evaluates one of its branches only and a lambda's body once for each item.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from fakeazure.arm.tokens import DEEPEST, Tokens
from fakeazure.resources.deployments.template_formats import FORMATS
from fakeazure.resources.deployments.template_functions import FUNCTIONS as PLAIN
from fakeazure.resources.deployments.template_functions import Function, wrong
from fakeazure.resources.deployments.template_lambdas import LAMBDAS
from fakeazure.resources.deployments.template_networks import NETWORKS
from fakeazure.resources.deployments.template_texts import TEXTS
from fakeazure.resources.deployments.template_values import INT64, Budget, Lambda, TemplateError
from fakeazure.short_texts import remember_short
from lazyrecords import dataclass

__all__ = ["FUNCTIONS", "LISTING", "Function", "Functions", "TemplateError", "evaluate"]

_TOKEN = re.compile(
    r"\s*(?:(?P<text>'(?:[^']|'')*+')|(?P<number>-?\d+)|(?P<word>[A-Za-z_]\w*)|(?P<mark>[()\[\],.]))", re.ASCII
)
_LONGEST = 24_576
"""Characters of an expression (learn.microsoft.com, "Template limits")."""
_KEPT = 512
"""Expressions that are remembered as trees, short ones: a tree takes some hundred times their bytes."""
LISTING = "list*"
"""Key of the function that stands for every `list...`, which is given the name that it is called by first."""
Functions = Mapping[str, Function]
FUNCTIONS: Functions = {**PLAIN, **FORMATS, **TEXTS, **NETWORKS, **LAMBDAS}
"""The functions that know nothing of a deployment."""
_LOWERED: Functions = {name.lower(): function for name, function in FUNCTIONS.items()}


@dataclass(frozen=True, slots=True)
class _Value:
    value: Any


@dataclass(frozen=True, slots=True)
class _Call:
    name: str
    arguments: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class _Member:
    holder: Any
    key: Any


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
        return {_text(key, scope, budget): _evaluated(item, scope, budget) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_evaluated(item, scope, budget) for item in value]
    return _of_text(value, scope, budget) if isinstance(value, str) else value


def _text(key: Any, scope: Functions, budget: Budget) -> str:
    """A name of a property, which may be an expression too."""
    value = _of_text(key, scope, budget) if isinstance(key, str) else key
    if not isinstance(value, str):
        raise TemplateError(f"The name of a property must be a string: {key!r}"[:300])
    return value


def _of_text(value: str, scope: Functions, budget: Budget) -> Any:
    if not value.startswith("[") or not value.endswith("]"):
        return value
    if value.startswith("[["):
        return value[1:]
    if len(value) > _LONGEST:
        raise TemplateError(
            f"The language expression length limit exceeded. Limit: '{_LONGEST}' and actual: '{len(value)}'."
        )
    tree, count = _tree(value)
    budget.step(count)
    return _plain(_Evaluation(scope, budget, {}).of(tree))


def _plain(value: Any) -> Any:
    """A value that may leave an expression, or a lambda's body: lambdas are parameters of functions only."""
    if isinstance(value, Lambda):
        raise TemplateError("The template function 'lambda' is not valid here: it is a parameter of other functions")
    return value


@remember_short(_KEPT, len)
def _tree(text: str) -> tuple[Any, int]:
    """An expression as a tree, and how many tokens it has."""
    parser = _Parser(text[1:-1])
    tree = parser.value()
    if parser.peek() is not None:
        raise TemplateError(f"unexpected {parser.peek()!r} in {text[:200]!r}")
    return tree, parser.count


class _Parser(Tokens):
    def __init__(self, text: str) -> None:
        super().__init__(text, _TOKEN, TemplateError)

    def value(self) -> Any:
        self._depth += 1
        if self._depth > DEEPEST:
            raise TemplateError(f"expressions are nested more than {DEEPEST} deep")
        token = self.take()
        if token.startswith("'"):
            expression: Any = _Value(token[1:-1].replace("''", "'"))
        elif token.lstrip("-").isdigit():
            number = int(token[:30])
            if number not in INT64:
                raise TemplateError(f"The integer {token[:30]} is too large or too small for an Int64")
            expression = _Value(number)
        else:
            expression = self._call(token)
        while self.peek() in (".", "["):
            if self.take() == ".":
                expression = _Member(expression, _Value(self.take()))
            else:
                expression = _Member(expression, self.value())
                self.take("]")
        self._depth -= 1
        return expression

    def _call(self, name: str) -> _Call:
        if self.peek() == ".":  # a function of one's own: `namespace.name(...)`
            self.take()
            name = f"{name}.{self.take()}"
        self.take("(")
        arguments = []
        if self.peek() != ")":
            arguments.append(self.value())
            while self.peek() == ",":
                self.take()
                arguments.append(self.value())
        self.take(")")
        return _Call(name[:100], tuple(arguments))


@dataclass(frozen=True, slots=True)
class _Evaluation:
    """One expression's evaluation; `bound` are the parameters of the lambdas around."""

    scope: Functions
    budget: Budget
    bound: Mapping[str, Any]

    def of(self, node: Any) -> Any:
        if isinstance(node, _Value):
            return node.value
        if isinstance(node, _Member):
            return self._member(self.of(node.holder), self.of(node.key))
        special = _SPECIAL.get(node.name.lower())
        if special is not None:
            return special(self, node)
        name = node.name.lower()
        function = self.scope.get(name) or _LOWERED.get(name)
        arguments = [self.of(argument) for argument in node.arguments]
        if function is None and name.startswith("list") and LISTING in self.scope:
            function, arguments = self.scope[LISTING], [node.name, *arguments]
        if function is None:
            raise TemplateError(f"The template function '{node.name}' is not valid here")
        return function(node.name, arguments, self.budget)

    def _member(self, holder: Any, key: Any) -> Any:
        if isinstance(holder, Mapping) and isinstance(key, str):
            if key in holder:
                return holder[key]
            self.budget.step(len(holder))
            names = {str(name).lower(): name for name in holder}
            if key.lower() in names:
                return holder[names[key.lower()]]
        elif isinstance(holder, list | tuple) and type(key) is int and -1 < key < len(holder):
            return holder[key]
        shown = str(key)[:100] if isinstance(key, str | int) else "?"
        raise TemplateError(f"The language expression property '{shown}' doesn't exist")

    def choose(self, node: _Call) -> Any:
        """`if(test, yes, no)`: the branch that is not taken may be about what is not there."""
        if len(node.arguments) != 3:
            raise wrong("if", "expects three parameters")
        test = self.of(node.arguments[0])
        if not isinstance(test, bool):
            raise wrong("if", "expects its first parameter to be a boolean")
        self.budget.step()
        return self.of(node.arguments[1 if test else 2])

    def function(self, node: _Call) -> Lambda:
        """`lambda('a', ..., body)`."""
        names, body = node.arguments[:-1], node.arguments[-1:]
        if not names or not all(isinstance(name, _Value) and isinstance(name.value, str) for name in names):
            raise wrong("lambda", "expects names of its variables and a body")
        keys = tuple(str(name.value) for name in names)

        def call(*values: Any) -> Any:
            self.budget.step()
            bound = {**self.bound, **dict(zip(keys, values, strict=False))}
            return _plain(_Evaluation(self.scope, self.budget, bound).of(body[0]))

        return Lambda(len(keys), call)

    def variable(self, node: _Call) -> Any:
        """`lambdaVariables('a')`."""
        name = self.of(node.arguments[0]) if len(node.arguments) == 1 else None
        if not isinstance(name, str) or name not in self.bound:
            raise wrong("lambdaVariables", f"has no variable '{str(name)[:100]}'")
        return self.bound[name]


_SPECIAL: Mapping[str, Callable[[_Evaluation, _Call], Any]] = {
    "if": _Evaluation.choose,
    "lambda": _Evaluation.function,
    "lambdavariables": _Evaluation.variable,
}
