"""`azure`: the calls that the cloud received, its quotas and its virtual machines."""

import base64
import binascii
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from pydantic import Field

from harness.reading.problems import did_you_mean
from harness.scenario.expectations.failure import ITEMS, FailedExpectation
from harness.scenario.expectations.matching import ABSENT, Difference, count_differences, differences, show
from harness.scenario.expectations.verdicts import Verdict
from harness.scenario.language.cases import Entry
from harness.scenario.language.models.base import Body, Integer, Model, Text, no_entries, no_items
from harness.scenario.language.models.matchers import CountMatch, Partial, TextMatch
from harness.wording import listed

if TYPE_CHECKING:
    from harness.scenario.running.run import Run

__all__ = ["NO_MACHINE", "AzureExpectation", "CallMatch", "call_differences", "check", "failure_lines"]


class CallMatch(Model):
    """Calls that Azure received."""

    method: Text | None = Field(None, description="GET, PUT, POST, PATCH or DELETE.")
    path: TextMatch | None = Field(None, description="Path of the call, without the host.")
    resource: Text | None = Field(None, description="Type of the resource, for example virtualMachines.")
    status: Integer | None = Field(None, description="HTTP status of the answer.")
    error: Text | None = Field(None, description="Azure's error code in the answer.")
    size: Text | None = Field(None, description="Size of the VM in the body.")
    zone: Text | None = Field(None, description="Zone in the body.")
    priority: TextMatch | None = Field(None, description="Priority in the body: Regular or Spot.")
    body: Partial | None = Field(None, description="Part of the body sent.")
    custom_data: TextMatch | None = Field(
        None, description="The script in the body that a VM starts with, decoded from base64."
    )
    count: CountMatch | None = Field(None, description="How many such calls; at least one when absent.")


class UsageMatch(Model):
    """A quota as Azure reports it."""

    used: CountMatch | None = Field(None, description="vCPUs in use.")
    limit: CountMatch | None = Field(None, description="vCPUs allowed.")


class AzureExpectation(Body):
    """Calls of Azure, its quotas and its machines."""

    calls: list[CallMatch] = Field(
        default_factory=no_items, description="Calls it received; each entry is counted by itself."
    )
    usage: dict[Text, UsageMatch] = Field(default_factory=no_entries, description="Quotas by usage name.")
    vms: CountMatch | None = Field(None, description="Virtual machines that exist in the end.")


def check(body: AzureExpectation, entry: Entry, run: "Run") -> Iterator[Verdict]:
    """Yield one verdict for each kind of call, for each quota, and for the number of machines."""
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


NO_MACHINE = "Karpenter launched no machine"  # agent pools have theirs without it


def failure_lines(failure: FailedExpectation) -> list[str]:
    """Return the calls that fit, or else those that changed something; of quotas and numbers the machines."""
    part, _, index = failure.part.partition("[")
    if part != "calls":
        refused = failure.why.refusals()
        return [*(listed(failure.why.machines(), ITEMS, "machines") or [NO_MACHINE]), *refused]
    wanted = failure.body.calls[int(index.rstrip("]"))]
    fitting = {call.number for call in failure.run.world.calls() if not call_differences(wanted, call)}
    lines = failure.why.calls(lambda call: call.number in fitting)
    if not lines:
        about = failure.why.calls(lambda call: call.operation == wanted.resource and call.method != "GET")
        lines = about or failure.why.calls(lambda call: call.method in ("PUT", "DELETE"))
    return listed(lines, ITEMS, "calls") or ["Azure was asked to change nothing"]
