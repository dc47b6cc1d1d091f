"""One call between its beginning and its end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from fakeazure.arm.messages import Request, Response
from lazyrecords import dataclass


@dataclass(frozen=True, slots=True)
class Exchange:
    """A call that the cloud has dealt with, and the answer to it, which may be left to read.

    `time`: seconds since the epoch. `extra`: headers of the answer. `fault`: the declared fault that befell it. `shown`: whether the
    answer has its body; without, a success is 204.
    """

    asked: Request
    resource: str
    time: float
    answer: Response
    extra: Mapping[str, str]
    fault: str | None
    shown: bool

    @property
    def waits(self) -> bool:
        """Tell whether the answer is left to read."""
        return self.answer.later is not None

    def read(self) -> Exchange:
        """The same with its answer read."""
        return replace(self, answer=self.answer.read()) if self.waits else self
