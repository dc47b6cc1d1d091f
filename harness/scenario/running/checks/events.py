"""`events`: the Kubernetes Events for users."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from harness.scenario.language.cases import Entry
from harness.scenario.language.models.base import split_reference
from harness.scenario.language.models.observed import Events
from harness.scenario.running.checks.counts import count_differences
from harness.scenario.running.matching import Difference, differences, nearest_and_last, show
from harness.scenario.running.run import Run
from harness.scenario.running.verdicts import Verdict

if TYPE_CHECKING:
    from harness.world.recorder import Event

__all__ = ["check"]


def check(body: Events, entry: Entry, run: Run) -> Iterator[Verdict]:
    """Yield one verdict: that such an event was recorded, or as many as expected."""
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


def _about(event: Event, reference: str) -> bool:
    kind, namespace, name = split_reference(reference)
    same = event.object.kind == kind and event.object.name == name
    return same and (not namespace or event.object.namespace == namespace)


def _differences(body: Events, event: Event) -> list[Difference]:
    wanted = {"reason": body.reason, "type": body.type, "message": body.message}
    return [
        difference
        for key, value in wanted.items()
        if value is not None
        for difference in differences(value, getattr(event, key), key)
    ]
