"""JSON as ARM reads it in deployments, whose bodies `az` sends with the template's file as it stands in them.

Newtonsoft.Json, with which ARM reads, takes names without quotes, single quotes, comments, commas behind the last item, and strings that
go over lines (learn.microsoft.com, "Understand the structure and syntax of ARM templates"): JSON5 that also has line breaks in strings.
"""

from __future__ import annotations

import json
import re
from typing import Any

from fakeazure.arm import json_text

_PART = re.compile(
    r"""(?P<text>"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|'(?:[^'\\]|\\.)*+(?:'|\\?\Z))|//[^\r\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/|\Z)""",
    re.DOTALL,
)
"""A string or a comment; one that is not closed goes to the end, so that none is looked at twice."""
_BREAKS = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_BROKEN = re.compile(r"\\.|[\r\n\t]", re.DOTALL)


def value(raw: bytes, nesting: int) -> Any:
    """Return the value in a text. ValueError says what is wrong with it."""
    try:
        return json_text.value(raw, nesting)
    except json.JSONDecodeError:
        return _relaxed(raw, nesting)


def _relaxed(raw: bytes, nesting: int) -> Any:
    import pyjson5  # for who sends such a body

    text = _PART.sub(_with_escapes, raw.decode(json.detect_encoding(raw)))
    try:
        document = pyjson5.decode(text, nesting)
        # what strict JSON bounds, numbers and halves of surrogate pairs, is bounded here too
        return json_text.value(json.dumps(document).encode(), nesting)
    except pyjson5.Json5NestingTooDeep:
        raise ValueError(json_text.too_deep(nesting)) from None
    except pyjson5.Json5DecoderException as error:
        raise ValueError(str(error.args[0]).replace("b'", "'")) from None


def _with_escapes(match: re.Match[str]) -> str:
    """A string with escapes for its line breaks; a comment as it is."""
    text = match["text"]
    if text is None:
        return match[0]
    return _BROKEN.sub(lambda part: _BREAKS.get(part[0], part[0]), text)
