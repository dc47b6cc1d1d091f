"""The stretches in which something held and did not, and the moments between which a time was measured."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fnmatch import fnmatchcase

from harness.explain.traces.why import listed
from harness.kube.api.objects import Key, short_name, spec_of
from harness.scenario.language.models.base import split_reference
from harness.scenario.language.models.moments import Moment
from harness.scenario.running.moments import START, first, moment_text
from harness.scenario.running.reasons.failed_expectation import ITEMS, FailedExpectation, pod_key
from harness.scenario.running.reasons.pods import waiting
from harness.wording import duration_text

__all__ = ["failure_lines"]

_STRETCHES = 4


def failure_lines(failure: FailedExpectation) -> list[str]:
    """Return the stretches in which it held or did not, then the reasons."""
    if failure.kind == "elapsed":
        return [*_measured(failure), *_unreached(failure), *listed(_claims(failure), ITEMS, "NodeClaims")]
    from harness.scenario.running.reasons import failure_lines as inner_failure_lines

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
    return waiting(failure, keys) if keys else []


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
