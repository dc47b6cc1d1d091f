"""A test's expectations of the calls that a cloud got: `AssertionError` with a line for each call that is otherwise.

```
calls = azure.calls
calls.where(method="PUT", resource="virtualMachines").each(zone="2")      # no VM outside zone 2
calls.where(method="PUT", resource="networkInterfaces").all_gone()        # every NIC was deleted
calls.where(code="TooManyRequests").never()
calls.where(method="PUT", resource="virtualMachines", size="Standard_D*", accepted=True).times(3)
```
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase
from typing import TypeAlias

from fakeazure.journal import Call

_SHOWN = 10

Fact: TypeAlias = str | int | bool | None
_READ: dict[str, Callable[[Call], object]] = {
    "method": lambda call: call.method,
    "resource": lambda call: call.resource,
    "name": lambda call: call.name,
    "path": lambda call: call.path,
    "status": lambda call: call.status,
    "code": lambda call: call.code or "",
    "fault": lambda call: call.fault or "",
    "accepted": lambda call: call.status < 400,
    "size": lambda call: call.summary.get("size", ""),
    "zone": lambda call: ",".join(call.summary.get("zones", ())),
    "priority": lambda call: call.summary.get("priority", ""),
}


class Calls:
    """Calls of a journal, oldest first, selected by their facts, with assertions about them."""

    def __init__(self, calls: Sequence[Call], there: Callable[[str], bool], subject: str = "calls") -> None:
        """`there` tells whether the resource at a path is there now; `subject` is how they were chosen, for a report."""
        self._calls = tuple(calls)
        self._there = there
        self._said = subject

    def where(self, **facts: Fact) -> Calls:
        """Return the calls with all of these facts.

        `method`, `resource` (the last type in the path), `name`, `path`, `code` and `fault` are compared without case and may have
        `*` and `?`, as may `size`, `zone` (empty: regional) and `priority` of a VM or machine; `status` is a number,
        `accepted` says whether it was below 400. TypeError for a fact that there is not.
        """
        chosen = [call for call in self._calls if _has(call, facts)]
        return Calls(chosen, self._there, f"{self._said} with {_text(facts)}")

    def never(self) -> None:
        """Assert that there is no such call."""
        self.times(0)

    def times(self, count: int) -> None:
        """Assert that there are exactly so many such calls."""
        if len(self._calls) != count:
            raise AssertionError(f"{count} {self._said} expected, {len(self._calls)} found{_lines(self._calls)}")

    def each(self, **facts: Fact) -> None:
        """Assert that each of them has these facts, too, and that there is one at least."""
        if not self._calls:
            raise AssertionError(f"there are no {self._said}")
        others = [call for call in self._calls if not _has(call, facts)]
        if others:
            raise AssertionError(
                f"{len(others)} of {len(self._calls)} {self._said} are without {_text(facts)}{_lines(others)}"
            )

    def all_gone(self) -> None:
        """Assert that no resource which they created or changed exists any more, and that there is one call at least."""
        if not self._calls:
            raise AssertionError(f"there are no {self._said}")
        left = [call for call in self._calls if call.status < 400 and self._there(call.path)]
        if left:
            raise AssertionError(
                f"of {len(self._calls)} {self._said} there still is what {len(left)} made{_lines(left)}"
            )

    def __iter__(self) -> Iterator[Call]:
        """Oldest first."""
        return iter(self._calls)

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._calls)


def _has(call: Call, facts: dict[str, Fact]) -> bool:
    for name, wanted in facts.items():
        if name not in _READ:
            raise TypeError(f"a call has no fact {name!r}; it has {', '.join(_READ)}")
        fact = _READ[name](call)
        if isinstance(wanted, str):
            if not fnmatchcase(str(fact).lower(), wanted.lower()):
                return False
        elif fact != wanted:
            return False
    return True


def _text(facts: dict[str, Fact]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in facts.items())


def _lines(calls: Sequence[Call]) -> str:
    more = f"\n  and {len(calls) - _SHOWN} more" if len(calls) > _SHOWN else ""
    return "".join(f"\n  {call.number}: {call}" for call in calls[:_SHOWN]) + more
