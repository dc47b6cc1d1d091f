"""`elapsed`: the virtual time between two moments."""

from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from pydantic import Field

from harness.kube.api.objects import Key, short_name, spec_of
from harness.scenario.expectations.failure import ITEMS, FailedExpectation, pod_key
from harness.scenario.expectations.matching import differences
from harness.scenario.expectations.moments import START, Moment, first, moment_text, named_moments
from harness.scenario.expectations.pods import lines_of_waiting
from harness.scenario.expectations.verdicts import Verdict
from harness.scenario.language.cases import Entry
from harness.scenario.language.models.base import Body, split_reference
from harness.scenario.language.models.matchers import DurationMatch
from harness.wording import duration_text, listed

if TYPE_CHECKING:
    from harness.scenario.running.run import Run

__all__ = ["Elapsed", "check", "failure_lines"]


class Elapsed(Body):
    """The virtual time between two moments. Skipped on clusters of real time."""

    from_: Moment | None = Field(None, alias="from", description="Where it begins; the start of the world when absent.")
    to: Moment = Field(description="Where it ends: the first such moment from there on.")
    takes: DurationMatch = Field(description="How long: 1s, or {atLeast: 500ms, below: 2s}.")

    def moments(self) -> Iterator[tuple[str, Moment]]:
        """Yield the beginning and the end."""
        return named_moments({"from": self.from_, "to": self.to})


def check(body: Elapsed, entry: Entry, run: "Run") -> Iterator[Verdict]:
    """Yield one verdict: the time between both moments."""
    start = START if body.from_ is None else first(body.from_, run)
    if start is None:
        assert body.from_ is not None
        yield Verdict.failed(entry.label, entry.mark("from"), moment_text(body.from_), "no such moment")
        return
    end = first(body.to, run, start)
    if end is None:
        yield Verdict.failed(entry.label, entry.mark("to"), moment_text(body.to), "no such moment from there on")
        return
    seconds = round(end.seconds - start.seconds, 6)
    yield Verdict.compared(entry.label, entry.mark("takes"), differences(body.takes, seconds, "seconds"))


def failure_lines(failure: FailedExpectation) -> list[str]:
    """Return the two moments, why pods wait that the end waits for, and the NodeClaims that the moments are about."""
    return [*_measured(failure), *_unreached(failure), *listed(_claims(failure), ITEMS, "NodeClaims")]


def _measured(failure: FailedExpectation) -> Iterator[str]:
    body = failure.body
    start = START if body.from_ is None else first(body.from_, failure.run)
    yield "from the start of the world" if body.from_ is None else _reached("from", body.from_, start)
    if start is not None:
        yield _reached("to", body.to, first(body.to, failure.run, start))


def _unreached(failure: FailedExpectation) -> list[str]:
    """Return why pods that an end waits for have no Node."""
    pods = [pod for pod in failure.run.world.list("Pod") if not spec_of(pod).get("nodeName")]
    wanted = str(failure.body.to.bound or "").partition("/")[2]
    keys = [pod_key(pod) for pod in pods if fnmatchcase(short_name(pod), wanted)]
    return lines_of_waiting(failure, keys) if keys else []


def _claims(failure: FailedExpectation) -> list[str]:
    """Return the NodeClaims of the objects that the two moments name; all where one of them is a call of Azure."""
    moments = [moment for moment in (failure.body.from_, failure.body.to) if moment is not None]
    if any(moment.call is not None for moment in moments):
        return failure.why.claims()
    meant: dict[str, None] = {}
    for reference in filter(None, (moment.created or moment.bound for moment in moments)):
        kind, namespace, name = split_reference(reference)
        place = Key(kind, namespace, name).short
        meant.update(dict.fromkeys(failure.why.claims_meant(kind, place)))
    return failure.why.named_claims(meant)


def _reached(word: str, moment: Moment, when: object) -> str:
    seconds = getattr(when, "seconds", None)
    return f"{word} {moment_text(moment)}: {'never' if seconds is None else f'at {duration_text(seconds)}'}"
