"""`events`: the Kubernetes Events for users."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from harness.scenario.expectations.failure import ITEMS, FailedExpectation, fits, same_object, texts_by_count
from harness.scenario.expectations.matching import Difference, count_differences, differences, nearest_and_last, show
from harness.scenario.expectations.verdicts import Verdict
from harness.scenario.language.cases import Entry
from harness.scenario.language.models.base import Body, Reference, split_reference
from harness.scenario.language.models.matchers import CountMatch, TextMatch
from harness.wording import listed

if TYPE_CHECKING:
    from harness.scenario.running.run import Run
    from harness.trace.facts import EventTold
    from harness.world.recorder import Event

__all__ = ["Events", "check", "failure_lines"]


class Events(Body):
    """Events that were recorded."""

    of: Reference | None = Field(None, description="The object they are about.")
    reason: TextMatch | None = Field(None, description="Reason.")
    type: Literal["Normal", "Warning"] | None = Field(None, description="Type.")
    message: TextMatch | None = Field(None, description="Message.")
    count: CountMatch | None = Field(None, description="How many different ones; at least one when absent.")


def check(body: Events, entry: Entry, run: "Run") -> Iterator[Verdict]:
    """Yield one verdict: that such an event was recorded, or as many as expected. None where nothing is expected."""
    if body.is_empty:
        return
    about = [event for event in run.events() if body.of is None or _about(event, body.of)]
    fitting = [event for event in about if not _differences(body, event)]
    if body.count is not None:
        wrong = count_differences(body.count, len(fitting))
        yield Verdict.compared(entry.label, entry.mark("count"), wrong)
    elif fitting:
        yield Verdict(entry.label, entry.mark())
    else:
        texts = {f"{event.object} {event.reason}: {event.message}": event for event in about}
        fewest = min((len(_differences(body, event)) for event in texts.values()), default=0)
        near = [text for text, event in texts.items() if len(_differences(body, event)) == fewest]
        note = nearest_and_last(
            list(texts),
            near,
            " ".join(show(wanted_text) for wanted_text in (body.reason, body.message) if wanted_text is not None),
        )
        yield Verdict.failed(entry.label, entry.mark(), "such an event", f"none among {len(about)}", note)


def _about(event: "Event", reference: str) -> bool:
    kind, namespace, name = split_reference(reference)
    same = event.object.kind == kind and event.object.name == name
    return same and (not namespace or event.object.namespace == namespace)


def _differences(body: Events, event: "Event") -> list[Difference]:
    wanted = {"reason": body.reason, "type": body.type, "message": body.message}
    return [
        difference
        for key, value in wanted.items()
        if value is not None
        for difference in differences(value, getattr(event, key), key)
    ]


def failure_lines(failure: FailedExpectation) -> list[str]:
    """Return Events that fit in part, nearest first; where none does, all reasons of Events, counted."""
    body = failure.body

    def about(event: "EventTold") -> bool:
        return body.of is None or same_object(event.object, body.of)

    conditions = {"reason": body.reason, "type": body.type, "message": body.message}
    for wanted in (conditions, {"reason": body.reason}, {"message": body.message}):
        if any(value is not None for value in wanted.values()) or wanted is conditions:

            def suits(event: "EventTold", wanted: Mapping[str, object] = wanted) -> bool:
                return about(event) and fits(wanted, event)

            lines = failure.why.events(suits)
            if lines:
                return listed(lines, ITEMS, "events")
    of = [] if body.of is None else listed(failure.why.events(about), ITEMS, "events")
    return of or texts_by_count("Events", failure.why.event_reasons()) or ["there were no Events at all"]
