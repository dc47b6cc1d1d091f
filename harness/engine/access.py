"""The tools of a controller in one piece: the loop, and the ports of the identity for which it works."""

from __future__ import annotations

from harness.engine.clock import Clock
from harness.engine.engine import Engine
from harness.engine.ports import Sink, View, Writer
from lazyrecords import dataclass

__all__ = ["Access"]


@dataclass(frozen=True, slots=True)
class Access:
    """The tools of a controller, as controller-runtime's manager provides them: view, writer, sink and the engine with its clock."""

    engine: Engine
    view: View
    writer: Writer
    sink: Sink

    @property
    def clock(self) -> Clock:
        """The engine's time."""
        return self.engine.clock
