"""Regular expressions of users and of CRDs: Go's, searched in linear time whatever the pattern and the text.

The engine is the Rust crate ``regex``, RE2's descendant, which comes compiled inside pydantic's core: so there is one wherever
pydantic runs, in a browser too.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from harness.kube.go.pattern_syntax import PatternError, cut, rust_pattern

__all__ = ["PatternError", "searcher", "whole"]

_MOST = "10 MiB compiled"
_SMALLER = "Go may take it: write a smaller class than one of Unicode's, or repeat it less often"
"""Go's own limits (regexp/syntax/parse.go: 3.3 million instructions, 33 million runes in classes) let `\\pL{1000}` in, whose machine for
UTF-8 is beyond the limit of the crate `regex`, which pydantic's core gives no way to raise."""


@lru_cache(maxsize=1024)
def searcher(pattern: str) -> Callable[[str], bool]:
    """Return whether a pattern is found in a text, as a function of the text. Raises PatternError."""
    from pydantic_core import SchemaError, SchemaValidator

    written = rust_pattern(pattern)
    try:
        checker = SchemaValidator({"type": "str", "pattern": written, "regex_engine": "rust-regex", "strict": True})
    except SchemaError as error:
        if "Unicode property not found" in str(error):
            raise PatternError(f"error parsing regexp: invalid character class range: `{pattern}`") from None
        raise PatternError(f"larger than the engine here takes, {_MOST}: `{cut(pattern)}`", _SMALLER) from None
    return checker.isinstance_python


def whole(pattern: str) -> str:
    """A pattern that is found only where `pattern` takes the whole text, of several lines too. Raises PatternError."""
    rust_pattern(pattern)
    return rf"(?s)\A(?:{pattern})\z"
