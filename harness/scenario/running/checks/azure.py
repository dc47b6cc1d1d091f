"""`azure`: the calls that the cloud received, its quotas, and its virtual machines."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping
from typing import Any

from harness.reading.problems import did_you_mean
from harness.scenario.language.cases import Entry
from harness.scenario.language.models.observed import AzureExpectation, CallMatch
from harness.scenario.running.checks.counts import count_differences
from harness.scenario.running.matching import ABSENT, Difference, differences, show
from harness.scenario.running.run import Run
from harness.scenario.running.verdicts import Verdict

__all__ = ["call_differences", "check"]


def check(body: AzureExpectation, entry: Entry, run: Run) -> Iterator[Verdict]:
    """One verdict for each kind of call, each quota and the number of machines."""
    calls = run.calls()
    for index, wanted in enumerate(body.calls):
        fitting = [call for call in calls if not call_differences(wanted, call)]
        label, mark = f"{entry.label}.calls[{index}]", entry.mark("calls", index)
        if wanted.count is not None:
            yield Verdict.compared(label, mark, count_differences(wanted.count, len(fitting)))
        elif fitting:
            yield Verdict(label, mark)
        elif not calls:
            yield Verdict.failed(label, mark, "such a call", "Azure was not called at all")
        else:
            nearest = min(calls, key=lambda call: len(call_differences(wanted, call)))
            note = f"the nearest of {len(calls)} calls is {nearest}"
            wrong = [
                Difference(difference.path, difference.expected, difference.actual, note)
                for difference in call_differences(wanted, nearest)
            ]
            yield Verdict.compared(label, mark, wrong)
    if body.usage:
        usages = run.world.usages()
        for name, quota in body.usage.items():
            label, mark = f"{entry.label}.usage.{name}", entry.mark("usage", name)
            usage = usages.get(name)
            if usage is None:
                yield Verdict.failed(label, mark, name, f"no such quota; {did_you_mean(name, usages)}")
                continue
            wrong = differences(quota.used, usage.used, "used") if quota.used is not None else []
            wrong += differences(quota.limit, usage.limit, "limit") if quota.limit is not None else []
            yield Verdict.compared(label, mark, wrong)
    if body.vms is not None:
        vms = run.world.vms()
        yield Verdict.compared(f"{entry.label}.vms", entry.mark("vms"), count_differences(body.vms, len(vms)))


def call_differences(wanted: CallMatch, call: Any) -> list[Difference]:
    """Return the facts in which a call differs from the expected one; `count` is none of them."""
    facts: Mapping[str, Any] = {
        "method": call.method,
        "path": call.path,
        "resource": call.resource,
        "status": call.status,
        "error": call.code if call.code is not None else ABSENT,
        "size": call.summary.get("size", ABSENT),
        "zone": show((call.summary.get("zones") or [""])[0]) if "zones" in call.summary else ABSENT,
        "priority": call.summary.get("priority", ABSENT),
        "body": call.body or {},
        "custom_data": _custom_data(call.body or {}),
    }
    wrong: list[Difference] = []
    for key, actual in facts.items():
        expected = getattr(wanted, key)
        if expected is not None:
            wrong += differences(expected, actual, CallMatch.model_fields[key].alias or key)
    return wrong


def _custom_data(body: Mapping[str, Any]) -> Any:
    """Return the script with which a VM starts."""
    text = ((body.get("properties") or {}).get("osProfile") or {}).get("customData")
    if not isinstance(text, str):
        return ABSENT
    try:
        return base64.b64decode(text, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return ABSENT
