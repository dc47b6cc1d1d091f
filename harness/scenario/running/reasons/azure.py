"""What Azure was asked, what it refused, and what its machines cost."""

from __future__ import annotations

from harness.explain.traces.why import listed
from harness.scenario.running.checks.azure import call_differences
from harness.scenario.running.reasons.asked import ITEMS, Asked

__all__ = ["tell"]


def tell(asked: Asked) -> list[str]:
    """The calls that fit, or else those that changed something; of quotas, numbers and costs the machines."""
    if asked.kind == "cost":
        return _cost(asked)
    part, _, index = asked.part.partition("[")
    if part != "calls":
        refused = asked.why.refusals()
        return [*(listed(asked.why.machines(), ITEMS, "machines") or ["no machine was ever there"]), *refused]
    wanted = asked.body.calls[int(index.rstrip("]"))]
    fitting = {call.number for call in asked.run.world.calls() if not call_differences(wanted, call)}
    found = asked.why.calls(lambda call: call.number in fitting)
    if not found:
        about = asked.why.calls(lambda call: call.operation == wanted.resource and call.method != "GET")
        found = about or asked.why.calls(lambda call: call.method in ("PUT", "DELETE"))
    return listed(found, ITEMS, "calls") or ["Azure was asked to change nothing"]


def _cost(asked: Asked) -> list[str]:
    """What it cost after each change, every machine, and what was cheaper and refused."""
    machines = asked.why.machines()
    if not machines:
        return ["no machine was ever there", *asked.why.refusals()]
    return [
        *listed(asked.why.costs(), ITEMS // 2, "changes"),
        *listed(machines, ITEMS, "machines"),
        *asked.why.refusals(),
    ]
