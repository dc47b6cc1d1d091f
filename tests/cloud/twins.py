"""A world beside which another one lives that is saved and loaded again and again, and must say the same."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from fakeazure.arm.messages import Response
from fakeazure.cloud import FakeAzure
from fakeazure.events import Event


def said(answer: Response) -> object:
    content = answer.body if answer.array is None else answer.array
    return answer.status, dict(answer.headers), json.loads(json.dumps(content, default=dict)), answer.content


class Twins(FakeAzure):
    """A cloud whose twin gets each request too, and is replaced by what its snapshot comes to before each."""

    def __init__(self, **inputs: Any) -> None:
        super().__init__(**inputs)
        self._inputs = {**inputs, "clock": self.clock, "journal": None}
        self.twin = FakeAzure(**self._inputs)
        self.saved = self.compared = self._depth = 0
        self._mine: list[Event] = []
        self._others: list[Event] = []
        self.subscribe(self._mine.append)
        self.twin.subscribe(self._others.append)

    def replace_twin(self) -> None:
        """Save the twin, and go on with another world in which that is restored."""
        taken = self.twin.snapshot()
        self.twin = FakeAzure(**self._inputs)
        self.twin.restore(taken)
        self.twin.subscribe(self._others.append)
        assert self.twin.snapshot() == taken
        self.saved += 1

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        wire: bool = False,
    ) -> Response:
        self._depth += 1
        try:
            answer = super().request(method, path, query=query, body=body, headers=headers, wire=wire)
        finally:
            self._depth -= 1
        if self._depth:  # what a template sends is within a request, or within what is due; so it is for the twin
            return answer
        self.replace_twin()
        same = self.twin.request(method, path, query=query, body=body, headers=headers, wire=wire)
        assert said(same) == said(answer), (method, path)
        assert self.twin.state.now() == self.state.now()
        assert self._others == self._mine
        assert self.twin.next_due() == self.next_due()
        self.compared += 1
        return answer

    def run_until(self, moment: float | None = None) -> int:
        self._depth += 1
        try:
            return super().run_until(moment)
        finally:
            self._depth -= 1
