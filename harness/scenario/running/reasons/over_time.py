"""When something held and when it did not; which moments a time was measured between."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fnmatch import fnmatchcase

from harness.explain.traces.why import listed
from harness.kube.api.objects import Key, short_name, spec_of
from harness.scenario.language.models.base import split_reference
from harness.scenario.language.models.moments import Moment
from harness.scenario.running.moments import START, first, told
from harness.scenario.running.reasons.asked import ITEMS, Asked, pod_key
from harness.scenario.running.reasons.pods import waiting
from harness.wording import duration_text

__all__ = ["tell"]

_STRETCHES = 4


def tell(asked: Asked) -> list[str]:
    """The stretches in which it held or did not, then why it came to that."""
    if asked.kind == "elapsed":
        return [*_measured(asked), *_unreached(asked), *listed(_claims(asked), ITEMS, "NodeClaims")]
    from harness.scenario.running.reasons import tell as told_of

    inner = replace(asked, entry=asked.entry.inner)
    return [*listed(list(_stretches(asked)), _STRETCHES, "stretches"), *told_of(inner)]


def _stretches(asked: Asked) -> Iterator[str]:
    watch = asked.run.watches.get(asked.entry.label)
    for seen in watch.seen if watch is not None else ():
        place = f"from {duration_text(seen.start)} to {duration_text(seen.end)}"
        if not seen.failed:
            yield f"{place} it held"
        else:
            worst = seen.failed[0].differences[0]
            yield f"{place} it did not: {worst}"


def _measured(asked: Asked) -> Iterator[str]:
    body = asked.body
    start = START if body.from_ is None else first(body.from_, asked.run)
    yield "from the start of the world" if body.from_ is None else _reached("from", body.from_, start)
    if start is not None:
        yield _reached("to", body.to, first(body.to, asked.run, start))


def _unreached(asked: Asked) -> list[str]:
    """Return why pods that an end waits for have no Node."""
    pods = [pod for pod in asked.run.world.list("Pod") if not spec_of(pod).get("nodeName")]
    wanted = str(asked.body.to.bound or "").partition("/")[2]
    keys = [pod_key(pod) for pod in pods if fnmatchcase(short_name(pod), wanted)]
    return waiting(asked, keys) if keys else []


def _claims(asked: Asked) -> list[str]:
    """The NodeClaims of the objects that the two moments name; all where one of them is a call of Azure."""
    moments = [one for one in (asked.body.from_, asked.body.to) if one is not None]
    if any(moment.call is not None for moment in moments):
        return asked.why.claims()
    meant: dict[str, None] = {}
    for reference in filter(None, (moment.created or moment.bound for moment in moments)):
        kind, namespace, name = split_reference(reference)
        place = Key(kind, namespace, name).short
        meant.update(dict.fromkeys(asked.why.claims_meant(kind, place)))
    return asked.why.named_claims(meant)


def _reached(word: str, what: Moment, when: object) -> str:
    seconds = getattr(when, "seconds", None)
    return f"{word} {told(what)}: {'never' if seconds is None else f'at {duration_text(seconds)}'}"
