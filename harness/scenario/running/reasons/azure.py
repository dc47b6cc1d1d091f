"""Calls of Azure, its refusals, and the costs of its machines."""

from __future__ import annotations

from harness.explain.traces.why import listed
from harness.scenario.running.checks.azure import call_differences
from harness.scenario.running.reasons.failed_expectation import ITEMS, FailedExpectation

__all__ = ["failure_lines"]

_NO_MACHINE = "Karpenter launched no machine"  # agent pools have theirs without it


def failure_lines(failure: FailedExpectation) -> list[str]:
    """Return the calls that fit, or else those that changed something; of quotas, numbers and costs the machines."""
    if failure.kind == "cost":
        return _cost(failure)
    part, _, index = failure.part.partition("[")
    if part != "calls":
        refused = failure.why.refusals()
        return [*(listed(failure.why.machines(), ITEMS, "machines") or [_NO_MACHINE]), *refused]
    wanted = failure.body.calls[int(index.rstrip("]"))]
    fitting = {call.number for call in failure.run.world.calls() if not call_differences(wanted, call)}
    lines = failure.why.calls(lambda call: call.number in fitting)
    if not lines:
        about = failure.why.calls(lambda call: call.operation == wanted.resource and call.method != "GET")
        lines = about or failure.why.calls(lambda call: call.method in ("PUT", "DELETE"))
    return listed(lines, ITEMS, "calls") or ["Azure was asked to change nothing"]


def _cost(failure: FailedExpectation) -> list[str]:
    """Return the cost after each change, every machine, and cheaper offerings that were refused."""
    machines = failure.why.machines()
    if not machines:
        return [_NO_MACHINE, *failure.why.refusals()]
    return [
        *listed(failure.why.costs(), ITEMS // 2, "changes"),
        *listed(machines, ITEMS, "machines"),
        *failure.why.refusals(),
    ]
