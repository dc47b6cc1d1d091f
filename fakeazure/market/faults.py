"""Declared faults: what goes wrong, where, when and how often. Each is counted, and one that never fired can be asked for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field

from fakeazure.arm.errors import Failure
from fakeazure.arm.texts import TEXTS, failure
from fakeazure.guids import guid_of
from fakeazure.market.match import Subject, Where
from lazyrecords import dataclass

STUCK = "Stuck"
"""Not an error code: the long-running operation never ends."""
DROPPED, SLOW, TRUNCATED = "Dropped", "Slow", "Truncated"
ON_THE_WIRE = (DROPPED, SLOW, TRUNCATED)
"""Not error codes: what was asked for happens, its answer is lost, late, or breaks off. Only a transport can show them."""
ALWAYS = 0

_CONSTRAINTS = (
    ("Availability Zone", lambda subject: bool(subject.zone)),
    ("Differencing (Ephemeral) Disks", lambda subject: subject.ephemeral),
    ("Low Priority VMs", lambda subject: subject.priority == "Spot"),
    ("Networking Constraints (such as Accelerated Networking or IPv6)", lambda subject: subject.networking),
    (
        "Preemptible VMs (VM might be preempted by another VM with a higher priority)",
        lambda subject: subject.priority == "Spot",
    ),
    ("VM Size", lambda subject: True),
)


@dataclass(slots=True)
class Fault:
    """One declared fault.

    `what` is an Azure error code, `Stuck`, or what happens to the answer on its way: `Dropped`, `Slow` (by `seconds`),
    `Truncated`. `where` names the requests. `at_end` lets the request be accepted and its
    operation fail. `skip` requests pass first; it fires `times` times (0: always), not before `not_before` (seconds since
    the epoch) and not after `not_after`. Of the requests that it
    could hit it hits those that `probability` draws, the same under the same `seed`. `message`, `status` and `retry_after` replace
    what Azure would say.
    """

    what: str
    where: Where = field(default_factory=Where)
    at_end: bool = False
    skip: int = 0
    times: int = 1
    not_before: float | None = None
    not_after: float | None = None
    message: str | None = None
    status: int | None = None
    retry_after: int | None = None
    probability: float = 1.0
    seed: int = 0
    seconds: float = 5.0
    seen: int = field(default=0)
    fired: int = field(default=0)

    @property
    def hits_the_end(self) -> bool:
        """Return whether it lets the request be accepted."""
        return self.at_end or self.what == STUCK

    @property
    def on_the_wire(self) -> bool:
        """Return whether it hits the answer, not the request."""
        return self.what in ON_THE_WIRE

    def drawn(self) -> bool:
        """Return whether chance lets it hit what it saw last."""
        return (
            self.probability >= 1
            or int(guid_of(f"{self.seed}/{self.what}/{self.seen}")[:8], 16) < self.probability * 2**32
        )

    @property
    def spent(self) -> bool:
        """Return whether it has fired as often as it may."""
        return self.times != ALWAYS and self.fired >= self.times

    def failure(self, subject: Subject, **facts: object) -> Failure:
        """The error that it answers."""
        base = (
            failure(self.what, facts={**_facts(subject), **facts})
            if self.what in TEXTS
            else Failure(self.what, f"{self.what}.", self.status or 400)
        )
        retry_after = self.retry_after if self.retry_after is not None else (5 if base.status == 429 else None)
        return Failure(
            base.code,
            self.message or base.message,
            self.status or base.status,
            base.target,
            headers={} if retry_after is None else {"Retry-After": str(retry_after)},
        )

    def __str__(self) -> str:
        """Return its line in a report."""
        return f"{self.what} at {self.where} (seen {self.seen}, fired {self.fired} of {self.times or 'any'})"


class Faults:
    """All faults of a world, in order of declaration."""

    def __init__(self, faults: Iterable[Fault] = ()) -> None:
        """Start with `faults`."""
        self.all = list(faults)
        self._last: Fault | None = None

    def declare(self, fault: Fault) -> Fault:
        """Add a fault."""
        self.all.append(fault)
        return fault

    def take(self, subject: Subject, now: float, *, at_end: bool, on_the_wire: bool = False) -> Fault | None:
        """The fault that hits this request now, counted as fired; None if the request passes.

        Every fault that is about the request counts it as seen, so that `skip` of several faults runs in step.
        """
        hit: Fault | None = None
        for fault in self.all:
            if fault.hits_the_end != at_end or fault.on_the_wire != on_the_wire or fault.spent:
                continue
            if not fault.where.matches(subject):
                continue
            if fault.not_before is not None and now < fault.not_before:
                continue
            if fault.not_after is not None and now > fault.not_after:
                continue
            fault.seen += 1
            if hit is None and fault.seen > fault.skip and fault.drawn():
                fault.fired += 1
                hit = self._last = fault
        return hit

    def forget(self) -> None:
        """Begin a new request: none has fired in it yet."""
        self._last = None

    def last_fired(self) -> str | None:
        """Return the code of the fault that fired since `forget`."""
        return None if self._last is None else self._last.what

    def unfired(self) -> list[Fault]:
        """The faults that never fired: a scenario that declared them has not shown what it says."""
        return [fault for fault in self.all if fault.fired == 0]


def constraints_of(subject: Subject) -> str:
    """The bullet list in the text of an Overconstrained error."""
    return "".join(f"  - {text}\n" for text, applies in _CONSTRAINTS if applies(subject))


def _facts(subject: Subject) -> dict[str, object]:
    return {
        "size": subject.size,
        "zone": subject.zone,
        "location": subject.location,
        "name": subject.name,
        "priority": subject.priority,
        "type": subject.resource,
        "constraints": constraints_of(subject),
        "operation": subject.method,
    }
