"""`eventually`, `always`, `never`: expectations that hold at some, every or no moment of a stretch of virtual time."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Self

from pydantic import Field, model_validator
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from harness.scenario.expectations.failure import FailedExpectation
from harness.scenario.expectations.moments import START, Moment, first, moment_text, named_moments
from harness.scenario.expectations.verdicts import Verdict
from harness.scenario.expectations.watches import Seen
from harness.scenario.language.cases import Entry
from harness.scenario.language.models.base import Body, Duration
from harness.scenario.language.models.expectations import Looks
from harness.wording import duration_text, listed

if TYPE_CHECKING:
    from harness.scenario.running.run import Run

__all__ = ["Always", "Eventually", "Never", "OverTime", "check", "failure_lines"]


class OverTime(Looks, Body):
    """An expectation that is looked at again at every moment at which something has happened.

    Beside `from`, `until` and `within` it has exactly one key, as an entry of `then` has.
    """

    from_: Moment | None = Field(
        None,
        alias="from",
        description="The first moment that counts; the start of the world when absent. Of decisions, events, log lines and "
        "calls, those before it are not counted.",
    )
    until: Moment | None = Field(
        None,
        description="The moment before which it must hold: the first such one from `from` on; the end when absent.",
    )
    within: Duration | None = Field(None, description="How long after `from` the last moment that counts is.")

    @model_validator(mode="after")
    def _looks_at_one(self) -> Self:
        if len(self.model_fields_set & Looks.model_fields.keys()) != 1:
            keys = ", ".join(to_camel(key) for key in Looks.model_fields)
            raise PydanticCustomError("one_of", "exactly one of {keys} is expected", {"keys": keys})
        if self.until is not None and self.within is not None:
            raise PydanticCustomError("one_end", "one of until, within is expected, not both")
        if self.within is not None and self.within <= 0:
            raise PydanticCustomError("no_time", "'within' is longer than 0s")
        if self.until is not None and self.until.at is not None:
            start = 0.0 if self.from_ is None else self.from_.at
            if start is not None and self.until.at <= start:
                raise PydanticCustomError("no_time", "'until' comes after 'from'")
        body: Body = getattr(self, self.looks_at)
        if body.only is not None:
            raise PydanticCustomError(
                "inner_only", "'only' stands beside {key}, not in it", {"key": to_camel(self.looks_at)}
            )
        return self

    @property
    def looks_at(self) -> str:
        """The key of what is looked at."""
        return next(iter(self.model_fields_set & Looks.model_fields.keys()))

    def moments(self) -> Iterator[tuple[str, Moment]]:
        """Yield the beginning and the end."""
        return named_moments({"from": self.from_, "until": self.until})


class Eventually(OverTime):
    """Something that holds at some moment; it may be over again in the end."""


class Always(OverTime):
    """Something that holds at every moment."""


class Never(OverTime):
    """Something that holds at no moment."""


def check(body: OverTime, entry: Entry, run: "Run") -> Iterator[Verdict]:
    """Yield one verdict; a failure names the moment that decides."""
    start = START if body.from_ is None else first(body.from_, run)
    if start is None:
        assert body.from_ is not None
        yield Verdict.failed(entry.label, entry.mark("from"), moment_text(body.from_), "no such moment")
        return
    end, included = math.inf, True
    if body.within is not None:
        end = start.seconds + body.within
    elif body.until is not None:
        ending = first(body.until, run, start)
        if ending is None:
            yield Verdict.failed(
                entry.label, entry.mark("until"), moment_text(body.until), "no such moment from there on"
            )
            return
        end, included = ending.seconds, False
    stretches = run.watches[entry.label].seen
    counted = [
        stretch
        for stretch in stretches
        if (stretch.end > start.seconds or stretch is stretches[-1])
        and (stretch.start <= end if included else stretch.start < end)
    ]
    yield _verdict(body, entry, counted, start.seconds)


def _verdict(body: OverTime, entry: Entry, seen: list[Seen], start: float) -> Verdict:
    if not seen:
        return Verdict.failed(entry.label, entry.mark(), "a moment to look at", "there is none")
    if isinstance(body, Eventually):
        if any(not stretch.failed for stretch in seen):
            return Verdict(entry.label, entry.mark())
        return _failed(seen[-1], f"at no moment; the last, at {duration_text(max(seen[-1].start, start))}")
    if isinstance(body, Always):
        wrong = next((stretch for stretch in seen if stretch.failed), None)
        if wrong is None:
            return Verdict(entry.label, entry.mark())
        return _failed(wrong, f"at {duration_text(max(wrong.start, start))}")
    empty = next((stretch for stretch in seen if any(verdict.is_empty for verdict in stretch.failed)), None)
    if empty is not None:  # fails at every moment, so that it would hold at none
        return _failed(empty, f"at {duration_text(max(empty.start, start))}")
    held = next((stretch for stretch in seen if not stretch.failed), None)
    if held is None:
        return Verdict(entry.label, entry.mark())
    return Verdict.failed(
        entry.label, entry.inner.mark(), "at no moment", f"it held at {duration_text(max(held.start, start))}"
    )


def _failed(seen: Seen, when: str) -> Verdict:
    """Return the verdict about a failed stretch, with the moment."""
    worst = seen.failed[0]
    differences = [
        replace(difference, note=f"{when}; {difference.note}" if difference.note else when)
        for difference in worst.differences
    ]
    return Verdict.compared(worst.label, worst.mark, differences)


_STRETCHES = 4


def failure_lines(failure: FailedExpectation) -> list[str]:
    """Return the stretches in which it held or did not, then the reasons."""
    from harness.scenario.expectations import failure_lines as inner_failure_lines

    inner = replace(failure, entry=failure.entry.inner)
    return [*listed(list(_stretches(failure)), _STRETCHES, "stretches"), *inner_failure_lines(inner)]


def _stretches(failure: FailedExpectation) -> Iterator[str]:
    watch = failure.run.watches.get(failure.entry.label)
    for seen in watch.seen if watch is not None else ():
        place = f"from {duration_text(seen.start)} to {duration_text(seen.end)}"
        if not seen.failed:
            yield f"{place} it held"
        else:
            worst = seen.failed[0].differences[0]
            yield f"{place} it did not: {worst}"
