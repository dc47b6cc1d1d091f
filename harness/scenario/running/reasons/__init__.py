"""Why an expectation does not hold: which part of the run's story belongs under which kind of expectation.

A module for each of them, with `tell(asked)` giving lines; it is imported when such an expectation fails.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from importlib import import_module
from shlex import quote

from harness.explain.traces.why import MOST, Why, listed
from harness.scenario.language.cases import Case
from harness.scenario.running.reasons.asked import ITEMS, Asked
from harness.scenario.running.run import Run
from harness.scenario.running.verdicts import Verdict

__all__ = ["MODULES", "lines_under", "story_command", "tell", "with_reasons"]

MODULES: Mapping[str, str] = {
    "requirements": "sizes",
    "rejected": "refusals",
    "accepted": "refusals",
    "node": "nodes",
    "pods": "pods",
    "nodeclaims": "nodeclaims",
    "labels": "label_cells",
    "events": "messages",
    "log": "messages",
    "metric": "messages",
    "objects": "objects",
    "azure": "azure",
    "cost": "azure",
    "eventually": "over_time",
    "always": "over_time",
    "never": "over_time",
    "elapsed": "over_time",
    "runaway": "nodeclaims",
    "limits": "limits",
    "disrupted": "departures",
    "not_disrupted": "departures",
}


def story_command(case: Case) -> str:
    """The command that prints all that happened in a case."""
    seed = "" if case.header.seeds is None else f" --seed {case.given.seed or 0}"
    return f"harness watch {quote(case.file)} -k {quote(case.name)}{seed}"


def with_reasons(run: Run, verdicts: Iterable[Verdict]) -> tuple[Verdict, ...]:
    """The verdicts; those that do not hold say how it came to that, each thing once, and the last of them where there is more."""
    assert run.recording is not None
    why = Why(run.recording.trace())
    told: dict[tuple[str, ...], str] = {}
    found: list[Verdict] = []
    for verdict in verdicts:
        lines = () if verdict.holds else tuple(lines_under(run, why, verdict))
        if lines in told:
            lines = (f"as for {told[lines]}",)
        elif lines:
            told[lines] = verdict.label
        found.append(replace(verdict, why=lines))
    last = max((number for number, one in enumerate(found) if not one.holds), default=None)
    if last is not None:
        more = f"all that happened: {story_command(run.case)}"
        found[last] = replace(found[last], why=(*found[last].why, more))
    return tuple(found)


def lines_under(run: Run, why: Why, verdict: Verdict) -> list[str]:
    """Return why one verdict does not hold: at most as many lines as anybody reads, the command for the rest among them."""
    entry = next((one for one in run.case.then if _is_of(verdict.label, one.label)), None)
    if entry is None:
        return _unexpected(run, why, verdict)
    asked = Asked(run, why, entry, verdict)
    return listed(list(dict.fromkeys(tell(asked))), MOST - 1, "lines")


def tell(asked: Asked) -> list[str]:
    """The lines under one expectation, all of them."""
    module = import_module(f"harness.scenario.running.reasons.{MODULES[asked.kind]}")
    lines: list[str] = module.tell(asked)
    return lines


def _is_of(label: str, entry: str) -> bool:
    return label == entry or label.startswith((f"{entry}.", f"{entry} "))


def _unexpected(run: Run, why: Why, verdict: Verdict) -> list[str]:
    """The lines under an unexpected refusal, runaway or silent fault; a refusal's verdict has them all."""
    if verdict.label in ("unexpected runaway", "unexpected motion"):
        from harness.scenario.running.reasons.nodeclaims import made_in_loops

        own = made_in_loops(run)
        return listed(why.claims() if own is None else why.named_claims(own), ITEMS, "NodeClaims")
    if ".azure.faults" in verdict.label:
        calls = why.calls(lambda call: call.method != "GET")
        return listed(calls, ITEMS, "calls") or ["Azure was asked to change nothing"]
    return []
