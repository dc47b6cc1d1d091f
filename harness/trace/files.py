"""Traces as files: JSON lines, compressed where the name ends in `.gz`; the first line is the header."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from harness.trace.facts import KINDS
from harness.trace.header import VERSION, Fact, Header
from harness.trace.values import Mistake
from harness.wording import did_you_mean

__all__ = ["Trace", "TraceError", "read_trace", "trace_lines", "trace_of_lines", "write_trace"]

_GZIP = b"\x1f\x8b"
_LEVEL = 1
"""Of compression: a trace is written while somebody waits."""

Kind = TypeVar("Kind", bound=Fact)


class TraceError(ValueError):
    """A file that is no trace; `file:line: what` for each mistake."""


@dataclass(frozen=True, slots=True)
class Trace:
    """What happened in one world, in order of time."""

    header: Header
    facts: tuple[Fact, ...]

    def of(self, kind: type[Kind]) -> list[Kind]:
        """The facts of one class, in order."""
        return [fact for fact in self.facts if isinstance(fact, kind)]

    def to_json(self) -> Iterator[dict[str, Any]]:
        """Header and facts as JSON has them."""
        yield self.header.to_json()
        for fact in self.facts:
            yield fact.to_json()


def trace_lines(trace: Trace) -> Iterator[str]:
    """The lines of its file, without their ends."""
    encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=_plain).encode
    for value in trace.to_json():
        yield encode(value)


def write_trace(trace: Trace, path: Path) -> None:
    """Writes a file, compressed where its name ends in `.gz`. Raises OSError."""
    data = "".join(f"{line}\n" for line in trace_lines(trace)).encode()
    path.write_bytes(gzip.compress(data, _LEVEL, mtime=0) if path.suffix == ".gz" else data)


def read_trace(path: Path) -> Trace:
    """Reads a file of this version or an older one. Raises TraceError with everything that is wrong, OSError."""
    data = path.read_bytes()
    if data.startswith(_GZIP):
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as error:
            raise TraceError(f"{path}:1: cannot be decompressed: {error}") from None
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise TraceError(f"{path}:1: not UTF-8: {error}") from None
    return trace_of_lines(text.splitlines(), str(path))


def trace_of_lines(lines: Iterable[str], name: str = "trace") -> Trace:
    """The trace of its lines; `name` stands in mistakes. Raises TraceError."""
    mistakes: list[str] = []
    header: Header | None = None
    facts: list[Fact] = []
    for number, line in enumerate(lines, 1):
        try:
            value = _object(line)
            if number == 1:
                header = _header(value)
            elif value.get("fact") in KINDS:
                facts.append(KINDS[value["fact"]].from_json(value))
            elif "fact" not in value:
                raise Mistake("fact: missing")
        except Mistake as mistake:
            mistakes.append(f"{name}:{number}: {mistake}")
            if header is None:
                break  # without its header nobody knows what the rest is
    if header is None and not mistakes:
        mistakes.append(f"{name}:1: the file is empty; a trace begins with its header")
    if mistakes or header is None:
        raise TraceError("\n".join(mistakes))
    return Trace(header, tuple(facts))


def _object(line: str) -> Mapping[str, Any]:
    try:
        value = json.loads(line)
    except ValueError as error:
        raise Mistake(f"no JSON: {error}") from None
    if not isinstance(value, Mapping):
        raise Mistake("an object is expected on each line")
    return value


def _header(value: Mapping[str, Any]) -> Header:
    version = value.get("trace")
    if not isinstance(version, int) or version < 1:
        hint = did_you_mean("trace", value, limit=0)
        raise Mistake(f"no header of a trace: 'trace' (the format's version) is missing{'; ' + hint if hint else ''}")
    if version > VERSION:
        raise Mistake(f"a trace of version {version}; this harness reads versions up to {VERSION}")
    return Header.from_json(value)


def _plain(value: Any) -> Any:
    """Whatever a controller put into a log, as text."""
    return dict(value) if isinstance(value, Mapping) else str(value)
