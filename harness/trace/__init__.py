"""The story of a world: everything that happened in it as a stream of facts, to be written, read, shown and compared."""

from harness.trace.files import Trace, TraceError, read_trace, trace_lines, write_trace
from harness.trace.header import Fact, Header
from harness.trace.recorder import Recording, record
from harness.trace.schema import trace_schema

__all__ = [
    "Fact",
    "Header",
    "Recording",
    "Trace",
    "TraceError",
    "read_trace",
    "record",
    "trace_lines",
    "trace_schema",
    "write_trace",
]
