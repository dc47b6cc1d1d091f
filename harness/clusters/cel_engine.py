"""Rules of CRD files (x-kubernetes-validations) in a real CEL engine, cel-cpp, with failures in the words of the API server's.

Needs the extra ``crds`` (cel-expr-python, google-re2), imported when the first rule is compiled.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from functools import cache, lru_cache, partial
from typing import Any

from harness.clusters.memory_limit import MemoryLimit
from harness.karpenter.validation.predicate_logic import attempt, cel_all
from harness.kube.custom_resources.cel_rules import NOT_AN_INT, CelError, without_marks
from harness.kube.go.patterns import PatternError, searcher

__all__ = ["Check", "EngineMissing", "RuleError", "TooCostly", "compiled"]

Check = Callable[[Any, Any], bool]
"""A check of a value, beside the old one. Raises CelError, TooCostly."""

_KEPT = 1024
"""Rules and patterns that are remembered as programs."""
_LONGEST = 10_000
"""Characters of a rule; the API server takes no more than its budget of cost allows, far less."""


class RuleError(ValueError):
    """A rule that cannot be compiled; the message is one line."""


class EngineMissing(RuleError):
    """The extra ``crds`` is not installed."""


_MEMORY = 64 << 20
"""Bytes that a rule may take.

A byte of text that a rule reads or makes costs 0.1 in the API server, and a rule has 1,000,000 (cel-go common/cost.go
StringTraversalCostFactor, apiserver pkg/apis/cel/config.go PerCallLimit): it would end at 10 MB of text.
"""


class TooCostly(Exception):
    """A rule wants more than its budget: it runs through more than 10,000 elements, or takes more than 64 MiB; the message says which.

    The API server counts cost instead, up to 10,000,000 for an object, and refuses the object (apiserver pkg/apis/cel/config.go
    PerCallLimit, RuntimeCELCostBudget).
    """


def compiled(expression: str, *, optional: bool = False) -> Check:
    """The check of a rule; `optional`: `oldSelf` is an optional value. Raises RuleError, EngineMissing."""
    if len(expression) > _LONGEST:
        raise RuleError(f"has {len(expression):,} characters, and {_LONGEST:,} are the most")
    for pattern in _patterns(expression):
        try:
            searcher(pattern)
        except PatternError as error:
            raise RuleError(f"has a pattern that is none: {error}") from None
    return _optional_check(expression) if optional else _check(expression)


_SEARCH = re.compile(
    r"""\.(?:matches|find|findAll)\(\s*([rR]?)("[^"\\\n]*(?:\\.[^"\\\n]*)*"|'[^'\\\n]*(?:\\.[^'\\\n]*)*')\s*[,)]"""
)


def _patterns(expression: str) -> list[str]:
    """The patterns that stand in a rule as texts, which the API server compiles with it."""
    patterns = []
    for raw, literal in _SEARCH.findall(expression):
        try:
            patterns.append(literal[1:-1] if raw else ast.literal_eval(literal))
        except (SyntaxError, ValueError):
            continue  # the engine reports the mistake in such a text
    return patterns


@cache
def _environment() -> Any:
    """cel-cpp with Kubernetes' ``find`` and the strings extension."""
    try:
        import re2  # noqa: F401  # for `find`
        from cel_expr_python import cel
        from cel_expr_python.ext import ext_strings
    except ImportError:
        raise EngineMissing(
            'evaluating CRD files needs a CEL engine: pip install "karpenter-azure-harness[crds]"'
        ) from None
    kind = cel.Type
    overload = cel.Overload("string_find_string", kind.STRING, [kind.STRING, kind.STRING], True, _find)
    return cel.NewEnv(
        variables={"self": kind.DYN, "oldSelf": kind.DYN},
        extensions=[ext_strings.ExtStrings()],
        functions=[cel.FunctionDecl("find", [overload])],
    )


def _find(text: str, pattern: str) -> str:
    match = _pattern(pattern).search(text)
    return match[0] if match else ""


@lru_cache(maxsize=_KEPT)
def _pattern(pattern: str) -> Any:
    """Return RE2's own pattern: the linear engine of the rest of the project says whether a pattern matches, not where."""
    import re2

    options = re2.Options()
    options.log_errors = False
    return re2.compile(pattern, options)


@cache
def _optional_environment() -> Any:
    """Return the same environment with CEL's optional values, for an old value that may be there or not."""
    _environment()
    from cel_expr_python import cel
    from cel_expr_python.ext import ext_bindings, ext_optional, ext_strings

    return cel.NewEnv(
        variables={"self": cel.Type.DYN, "old": cel.Type.DYN, "updates": cel.Type.BOOL},
        extensions=[ext_optional.ExtOptional(), ext_bindings.ExtBindings(), ext_strings.ExtStrings()],
    )


@lru_cache(maxsize=_KEPT)
def _optional_check(expression: str) -> Check:
    """The check of a rule with `optionalOldSelf`: `oldSelf` is an optional value, none when the object is new."""
    bound = f"cel.bind(oldSelf, updates ? optional.of(old) : optional.none(), ({expression}))"
    try:
        program = _optional_environment().compile(bound)
    except EngineMissing:
        raise
    except Exception as error:
        raise RuleError(f"does not compile: {_one_line(error)}") from None

    def check(value: Any, old: Any) -> bool:
        outcome = _outcome(program, {"self": value, "old": old, "updates": old is not None})
        if isinstance(outcome, bool):
            return outcome
        raise CelError(_as_cel_go(str(outcome)))

    return check


@lru_cache(maxsize=_KEPT)
def _check(expression: str) -> Check:
    environment = _environment()
    try:
        program = environment.compile(expression)
    except Exception as error:
        raise RuleError(f"does not compile: {_one_line(error)}") from None

    def check(value: Any, old: Any) -> bool:
        outcome = _outcome(program, {"self": value, "oldSelf": old})
        if isinstance(outcome, bool):
            return outcome
        # failures come back as a value of type error
        message = str(outcome)
        if _MARKED in message:
            quantified = _EACH.fullmatch(expression)
            if quantified and isinstance(value, list):
                return cel_all(attempt(partial(_element_passes, expression, quantified[1], entry)) for entry in value)
            plain, floats = without_marks(value)
            return _unreadable(expression, "self", floats)(plain, without_marks(old)[0])
        raise CelError(NOT_AN_INT if _ERROR_TEXT in message else _as_cel_go(message))

    return check


@cache
def _memory() -> MemoryLimit:
    return MemoryLimit(_MEMORY)


def _outcome(program: Any, data: dict[str, Any]) -> Any:
    """Return the result of a rule. Raises TooCostly."""
    try:
        with _memory()():
            return program.eval(data=data).value()
    except MemoryError:
        raise TooCostly(
            "makes texts or lists of more than 64 MiB, which the API server's budget of cost does not allow"
        ) from None
    except RuntimeError as error:
        if "budget exceeded" in str(error):
            raise TooCostly("looks at more elements of the object than the CEL engine's budget has (10,000)") from None
        raise CelError(_as_cel_go(_one_line(error))) from None


def _one_line(error: Exception) -> str:
    """An error of the engine without its drawing of the place."""
    text = " ".join(str(error).split("\n |", 1)[0].split())
    return text if len(text) <= 300 else f"{text[:299]}…"


_MARKED = "Non-CEL value type"
"""cel-cpp's words about a map with marks: it takes plain maps only."""
_EACH = re.compile(r"self\.all\((\w+), .*\)", re.DOTALL)
_ERROR = "[][0] == 0"
_ERROR_TEXT = "Index error: index=0 size=0"


def _element_passes(expression: str, name: str, element: Any) -> bool:
    """Return whether a rule about all elements of a list holds for this one, which it calls `name`. Raises CelError."""
    plain, floats = without_marks(element)
    return _unreadable(expression, name, floats)([plain], None)


def _unreadable(expression: str, holder: str, floats: tuple[str, ...]) -> Check:
    """The check of a rule in which reading one of the paths is an error, which `&&` and `||` absorb as any other."""
    for path in floats:
        field = rf"\b{holder}\.{re.escape(path)}\b"
        expression = re.sub(rf"has\({field}\)", f"({_ERROR})", expression)
        expression = re.sub(field, "dyn([][0])", expression)
    return _check(expression)


_MESSAGES = (
    (re.compile(r'NOT_FOUND: Key not found in map : "(.*)"\Z', re.DOTALL), r"no such key: \1"),
    (re.compile(r"INVALID_ARGUMENT: cannot convert (\w+) to (\w+)\Z"), r"type conversion error from '\1' to '\2'"),
    (re.compile(r".*Index error: index=(-?\d+) size=\d+\Z"), r"index out of bounds: \1"),
)


def _as_cel_go(message: str) -> str:
    """cel-cpp's words for a failed evaluation as the API server's engine puts them."""
    for pattern, replacement in _MESSAGES:
        if pattern.match(message):
            return pattern.sub(replacement, message)
    return message
