"""The file of a snapshot: JSON behind gzip, which says what it is, and of which no more is unpacked than a world can be."""

from __future__ import annotations

import gzip
import json
import math
import re
import zlib
from collections.abc import Mapping
from itertools import accumulate
from typing import Any

from fakeazure.snapshots.values import Json, Unwritable, at

FORMAT, VERSION = "fakeazure snapshot", 4
PACKED, UNPACKED = 64 * 1024 * 1024, 256 * 1024 * 1024
"""Bytes that a file may have, and its JSON; 20,000 machines of AKS with all that is theirs have as many."""
VALUES = 8_000_000
"""The most values in the JSON: each takes memory that its two bytes in a file do not tell."""
NESTING = 200
"""The deepest nesting of arrays and objects; a served cloud takes documents of 64."""
ANEW = "start without it and save again"
_EARLIER = re.compile(rb"fakeazure snapshot (\d+)\n")
_TEXT = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_STEPS = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}
_OTHERS = bytes(byte for byte in range(256) if byte not in _STEPS)


def packed(document: Mapping[str, Any]) -> bytes:
    """Return the file with this content. Unwritable for what is no JSON, or too much."""
    document = {"format": FORMAT, "version": VERSION, **document}
    try:
        text = json.dumps(document, default=_mapping, allow_nan=False, separators=(",", ":")).encode()
    except (TypeError, ValueError) as error:
        raise Unwritable(*(_culprit(document, "$") or ("$", str(error)))) from None
    except RecursionError:
        raise Unwritable("$", "nested too deep for a snapshot") from None
    if len(text) > UNPACKED:
        raise Unwritable("$", f"{len(text):,} bytes of JSON are more than the {UNPACKED:,} that a snapshot may have")
    if excess := _excess(text):
        raise Unwritable("$", excess)
    data = gzip.compress(text, 6, mtime=0)
    if len(data) > PACKED:
        raise Unwritable("$", f"{len(data):,} bytes are more than the {PACKED:,} that a snapshot may have")
    return data


def unpacked(data: bytes) -> Mapping[str, Json]:
    """Return the content of a file. ValueError for one that is no whole snapshot of this version, in one line."""
    if (earlier := _EARLIER.match(data)) is not None:
        version = int(earlier[1][:9])
        raise ValueError(
            f"this is a snapshot of version {version}, a pickle, which could run code and is not read; snapshots are JSON of version "
            f"{VERSION} now: {ANEW}"
        )
    if len(data) > PACKED:
        raise ValueError(f"a snapshot has at most {PACKED:,} bytes, not {len(data):,}")
    if not data.startswith(b"\x1f\x8b"):
        raise ValueError(f"this is no snapshot of fakeazure (JSON of version {VERSION} behind gzip): {ANEW}")
    document = _parsed(_inflated(data))
    if not isinstance(document, Mapping) or document.get("format") != FORMAT:
        raise ValueError(f'this is no snapshot of fakeazure: its "format" is not "{FORMAT}": {ANEW}')
    if document.get("version") != VERSION or type(document["version"]) is not int:
        raise ValueError(f"this snapshot is of version {ascii(document.get('version'))[:20]}, not {VERSION}: {ANEW}")
    return {name: value for name, value in document.items() if name not in ("format", "version")}


def _inflated(data: bytes) -> bytes:
    inflate = zlib.decompressobj(wbits=31)
    try:
        text = inflate.decompress(data, UNPACKED + 1)
    except zlib.error as error:
        raise ValueError(f"the snapshot is damaged ({error}): {ANEW}") from None
    if len(text) > UNPACKED:
        raise ValueError(f"the snapshot unpacks to more than {UNPACKED:,} bytes")
    if not inflate.eof or inflate.unused_data:
        raise ValueError(
            f"the snapshot is {'torn: its end is missing' if not inflate.eof else 'followed by something else'}: {ANEW}"
        )
    return text


def _parsed(text: bytes) -> Json:
    if excess := _excess(text):
        raise ValueError(f"the snapshot is {excess}")
    try:
        return json.loads(text, parse_constant=_refused, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"the snapshot is no JSON ({error}): {ANEW}") from None


def _excess(text: bytes) -> str:
    """Return in which way JSON is more than a snapshot may be, without reading it; nothing if it is not."""
    bare = _TEXT.sub(b"", text)
    if bare.count(b",") + bare.count(b"[") + bare.count(b"{") > VALUES:
        return f"of more than {VALUES:,} values"
    depth = max(accumulate(map(_STEPS.__getitem__, bare.translate(None, _OTHERS))), default=0)
    return f"nested more than {NESTING} deep" if depth > NESTING else ""


def _refused(text: str) -> float:
    raise ValueError(f"{text} is no JSON value")


def _finite(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else _refused(text[:40])


def _mapping(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"a {type(value).__name__} is no JSON")


def _culprit(value: Any, path: str) -> tuple[str, str] | None:
    """Return where in a document something is no JSON, and what."""
    if isinstance(value, Mapping):
        strange = next((key for key in value if not isinstance(key, str)), None)
        if strange is not None:
            return path, f"the key {ascii(strange)[:80]} is no text"
        parts = [(item, at(path, key)) for key, item in value.items()]
    elif isinstance(value, list | tuple):
        parts = [(item, f"{path}[{place}]") for place, item in enumerate(value)]
    elif value is None or isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value)):
        return None
    else:
        return path, f"a {type(value).__name__} is no JSON" if not isinstance(value, float) else f"{value} is no JSON"
    return next((culprit for item, place in parts if (culprit := _culprit(item, place)) is not None), None)
