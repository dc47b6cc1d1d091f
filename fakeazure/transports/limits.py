"""Limits of a client's requests to a served cloud, and the time that they may take."""

from __future__ import annotations

from dataclasses import dataclass

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """Sizes in bytes, times in seconds of the wall clock.

    `body_bytes` is ARM's own limit. `first_byte` is how long a new connection may say nothing, `idle` one that was used
    before; `head` and `body` are how long either part of a request may take, `write` how long a client may take to read
    an answer. `nesting` is how deep JSON may be nested.
    """

    url_bytes: int = 16 * 1024
    head_bytes: int = 128 * 1024
    headers: int = 200
    body_bytes: int = 4 * MIB
    nesting: int = 64
    connections: int = 512
    first_byte: float = 20.0
    idle: float = 120.0
    head: float = 10.0
    body: float = 60.0
    write: float = 60.0
