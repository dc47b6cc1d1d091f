"""A request as the bytes that a client sends, and its answer as the bytes that it reads: no socket lies between them.

The served cloud's own reader of HTTP is used, so a client in process is understood exactly as one on a socket.
"""

from __future__ import annotations

from dataclasses import dataclass

from fakeazure.market.faults import DROPPED, TRUNCATED
from fakeazure.transports.http1 import Closed, Conversation, Refused
from fakeazure.transports.interception.active import World
from fakeazure.transports.wire import Reply


@dataclass(frozen=True, slots=True)
class Answer:
    """The bytes of an answer; `lost` says that nothing comes after them, where the client waits for more."""

    content: bytes
    lost: str = ""


class _Script:
    """A connection on which everything that will come has come."""

    def __init__(self, received: bytes) -> None:
        self._received = received
        self.sent = bytearray()

    def settimeout(self, seconds: float) -> None:
        """Nothing is waited for."""

    def recv(self, size: int) -> bytes:
        """All that came. `Unfinished` the second time."""
        received, self._received = self._received, b""
        if not received:
            raise Unfinished
        return received

    def sendall(self, data: bytes) -> None:
        """Keep what is sent."""
        self.sent += data


class Unfinished(Exception):
    """More of the request is to come."""


def answer(world: World, scheme: str, received: bytes) -> Answer:
    """Answer the request in `received`. Raises `Unfinished` if that is not all of it."""
    script = _Script(received)
    conversation = Conversation(script, world.limits)
    try:
        incoming = conversation.next()
    except Closed:
        raise Unfinished from None
    except Refused as refused:
        reply = world.refusal(refused.row, refused.facts)
    else:
        origin = f"{scheme}://{incoming.headers.get('host', '')}"
        reply = world.handle(incoming.method, incoming.target, incoming.headers, incoming.body, origin)
    lost = lost_text(reply)
    if reply.fault[0] == DROPPED:
        return Answer(b"", lost)
    conversation.answer(reply.status, reply.headers, reply.body, close=True)
    content = bytes(script.sent)
    if lost:
        content = content[: len(content) - (len(reply.body) + 1) // 2]
    return Answer(content, lost)


def lost_text(reply: Reply) -> str:
    """Return what happened to an answer on its way, by a declared fault; "" if it arrives. One that is slow is in time in process."""
    fault, _ = reply.fault
    return f"declared fault: the answer is {fault.lower()}" if fault in (DROPPED, TRUNCATED) else ""
