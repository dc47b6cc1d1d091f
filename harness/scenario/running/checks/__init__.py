"""The expectations: one module for each key of `then`, with `check(body, entry, run)`, which yields its verdicts.

A module is imported when a scenario first uses its key.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module

from harness.scenario.language.cases import Entry
from harness.scenario.running.run import Run
from harness.scenario.running.verdicts import Verdict

__all__ = ["MODULES", "check"]

MODULES = {
    "requirements": "requirements",
    "rejected": "rejections",
    "accepted": "rejections",
    "node": "nodes",
    "pods": "pods",
    "nodeclaims": "nodeclaims",
    "labels": "label_table",
    "events": "events",
    "log": "log",
    "objects": "objects",
    "azure": "azure",
    "cost": "cost",
    "metric": "metrics",
    "eventually": "over_time",
    "always": "over_time",
    "never": "over_time",
    "elapsed": "elapsed",
    "runaway": "runaways",
    "limits": "limits",
    "disrupted": "disruption",
    "not_disrupted": "disruption",
}


def check(entry: Entry, run: Run) -> list[Verdict]:
    """Return the verdicts of one entry of `then`: one, or one for each row of its tables; never none."""
    module = import_module(f"harness.scenario.running.checks.{MODULES[entry.expectation.kind]}")
    verdicts: Iterable[Verdict] = module.check(entry.expectation.body, entry, run)
    return list(verdicts) or [
        Verdict.failed(entry.label, entry.mark(), "something to look at", "an expectation without any field")
    ]
