"""Traces as files: JSON lines, compressed where the name ends in `.gz`; the first line is the header."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from atomicfiles.inputs import open_input
from harness.outputs import write_bytes
from harness.trace.facts import KINDS, End
from harness.trace.header import VERSION, Fact, Header
from harness.trace.values import Mistake
from harness.wording import did_you_mean
from plainlines import joined

__all__ = ["Trace", "TraceError", "read_trace", "trace_lines", "trace_of_lines", "write_trace"]

_GZIP = b"\x1f\x8b"
_LEVEL = 1
"""The level of compression: a trace is written while somebody waits."""
_LARGEST = 1 << 30
"""Bytes of text that a trace has at most: 2,000 nodes that come and go make 30 MB."""
_TOLD = 10
"""Mistakes that are listed of one file."""

Kind = TypeVar("Kind", bound=Fact)


class TraceError(ValueError):
    """A file that is no trace; `file:line: message` for each mistake."""


@dataclass(frozen=True, slots=True)
class Trace:
    """The facts of one world, in order of time."""

    header: Header
    facts: tuple[Fact, ...]

    def facts_of(self, kind: type[Kind]) -> list[Kind]:
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
    """Write a file, compressed where its name ends in `.gz`. Raises OSError."""
    # half a surrogate pair, which JSON can hold and UTF-8 cannot, stays an escape
    data = "".join(f"{line}\n" for line in trace_lines(trace)).encode("utf-8", "backslashreplace")
    write_bytes(path, gzip.compress(data, _LEVEL, mtime=0) if path.suffix == ".gz" else data)


def read_trace(path: Path) -> Trace:
    """Read a file of this version or an older one. Raises TraceError with its mistakes, OSError."""
    data = _data(path)
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise TraceError(f"{path}:1: not UTF-8: {error}") from None
    lines = text.removesuffix("\n").split("\n") if text else []  # other separators of lines may stand in a text
    trace = trace_of_lines(lines, str(path))
    end = trace.facts[-1] if trace.facts else None
    if not isinstance(end, End):
        raise TraceError(f"{path}:{len(lines)}: cut off: the last line of a trace is its fact 'end'")
    if end.facts != len(lines) - 2:
        raise TraceError(
            f"{path}:{len(lines)}: {end.facts} facts are expected before the end, there are {len(lines) - 2}"
        )
    return trace


def _data(path: Path) -> bytes:
    """The text of a file, decompressed. Raises TraceError, OSError."""
    try:
        with open_input(path) as file:
            start = file.read(len(_GZIP))
            if start == _GZIP:
                file.seek(0)
                with gzip.open(file) as unpacked:
                    data = unpacked.read(_LARGEST + 1)
            else:
                data = start + file.read(_LARGEST + 1 - len(start))
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise TraceError(f"{path}:1: cannot be decompressed: {error}") from None
    if len(data) > _LARGEST:
        raise TraceError(f"{path}:1: more than {_LARGEST >> 20} MiB of text, which no trace has")
    return data


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
            else:
                facts += _fact(value)
        except Mistake as mistake:
            mistakes.append(f"{name}:{number}: {mistake}")
            if header is None or len(mistakes) > _TOLD:
                break  # without its header the rest has no meaning; after so many mistakes it is another kind of file
    if header is None and not mistakes:
        mistakes.append(f"{name}:1: the file is empty; a trace begins with its header")
    if mistakes or header is None:
        more = [f"{name}: and more like these"] if len(mistakes) > _TOLD else []
        raise TraceError(joined([*mistakes[:_TOLD], *more]))
    return Trace(header, tuple(facts))


def _fact(value: Mapping[str, Any]) -> Iterator[Fact]:
    """Yield the fact of a line; none for a kind of a later version. Raises Mistake."""
    if "fact" not in value:
        raise Mistake("fact: missing")
    word = value["fact"]
    if not isinstance(word, str):
        raise Mistake(f"fact: a word is expected, not {word!r:.60}")
    if word in KINDS:
        yield KINDS[word].from_json(value)


def _object(line: str) -> Mapping[str, Any]:
    try:
        value = json.loads(line, parse_constant=_no_number)
    except RecursionError:
        raise Mistake("no JSON: nested too deep") from None
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


def _no_number(text: str) -> Any:
    raise ValueError(f"{text} is no number")


def _plain(value: Any) -> Any:
    """Return any value in a controller's log as text."""
    return dict(value) if isinstance(value, Mapping) else str(value)
