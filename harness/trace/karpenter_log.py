"""The log of a Karpenter that is not simulated here, as facts: nodes that it removes, and launches that failed.

Core ``pkg/controllers/disruption/{queue,types}.go``, ``pkg/controllers/nodeclaim/lifecycle/launch.go``, ``pkg/controllers/provisioning``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from harness.karpenter.disruption.conditions import DRIFTED
from harness.karpenter.instancetypes import MISSING_PRICE
from harness.karpenter.validation.rejections import RejectionLayer
from harness.trace.facts import ClaimState, Condition, Disruption, NodeState, Refused
from harness.trace.nested_facts import Leaving
from harness.world.recorder import LogLine

__all__ = ["logged_disruptions", "logged_refusals"]

_DISRUPTING, _CREATED = "disrupting node(s)", "created nodeclaim"
_SUCCEEDED, _FAILED = "command succeeded", "failed terminating nodes while executing a disruption command"
_FILTERED = "skipping, nodepool requirements filtered out all instance types"
_LAUNCHING = "launching nodeclaim, "
_COMMAND = re.compile(r"(?P<reason>\w+)/[^:]*: .*\(savings: \$(?P<savings>-?[0-9.]+)\)")
"""How a command is printed from core 1.10 on; before, its reason is a value of its own, in lower case."""


def logged_disruptions(
    lines: Sequence[LogLine],
    nodes: Iterable[NodeState],
    claims: Iterable[ClaimState],
    conditions: Iterable[Condition] = (),
) -> Iterator[Disruption]:
    """Each decision that nodes go, and what became of it where the log is at debug. `savings` have two decimals.

    `drift` is the reason of the NodeClaim's condition then; the log does not have it, nor the `method`.
    """
    drifted = [one for one in conditions if one.type == DRIFTED and one.status == "True"]
    made = {fact.node: fact for fact in nodes if fact.size}
    pools = {fact.claim: fact.nodepool for fact in claims}
    for line in lines:
        if line.message != _DISRUPTING:
            continue
        said = _COMMAND.match(str(line.values.get("command") or ""))
        reason = said["reason"] if said else str(line.values.get("reason") or "").capitalize()
        ended, problem = _ended(lines, line)
        going: list[Leaving] = []
        unpriced: dict[str, float] = {}
        gone: Any = line.values.get("disrupted-nodes") or ()
        for each in gone:
            node, claim = _name(each, "Node"), _name(each, "NodeClaim")
            known = made[node].price if node in made else None
            if known is None and node in made:
                unpriced[made[node].size] = MISSING_PRICE
            price = known or 0.0
            going.append({"node": node, "claim": claim, "nodepool": pools.get(claim, ""), "price": price})
        yield Disruption(
            round(line.at, 6),
            tuple(going),
            str(line.values.get("decision") or ""),
            reason,
            tuple(_made(lines, line)),
            float(said["savings"]) if said else 0.0,
            drift=_drift(drifted, going, line.at) if reason == DRIFTED else "",
            ended=ended,
            problem=problem,
            unpriced=unpriced,
        )


def _ended(lines: Sequence[LogLine], decision: LogLine) -> tuple[float | None, str]:
    """When the queue was done with a command, which it calls by its nodes, and why it was taken back."""
    own = decision.values.get("disrupted-nodes")
    for line in lines:
        if (
            line.at >= decision.at
            and line.message in (_SUCCEEDED, _FAILED)
            and line.values.get("disrupted-nodes") == own
        ):
            return round(line.at, 6), str(line.values.get("error") or "") if line.message == _FAILED else ""
    return None, ""


def _drift(conditions: Iterable[Condition], going: Sequence[Leaving], at: float) -> str:
    """Why the first of the nodes had drifted at that time."""
    of = f"NodeClaim/{going[0]['claim']}" if going else ""
    return next((one.reason for one in reversed([*conditions]) if one.object == of and one.t <= at), "")


def _made(lines: Iterable[LogLine], decision: LogLine) -> Iterator[str]:
    """The NodeClaims that were made in the same go."""
    go = decision.values.get("reconcileID")
    for line in lines:
        if go and line.message == _CREATED and line.values.get("reconcileID") == go:
            yield _name(line.values, "NodeClaim")


def logged_refusals(lines: Iterable[LogLine]) -> Iterator[Refused]:
    """NodeClaims whose launch failed, and NodePools that nothing fits."""
    for line in lines:
        error = str(line.values.get("error") or "")
        if line.controller == "nodeclaim.lifecycle" and error.startswith(_LAUNCHING):
            name = f"NodeClaim/{_name(line.values, 'NodeClaim')}"
            yield Refused(round(line.at, 6), name, RejectionLayer.LAUNCH.value, error.removeprefix(_LAUNCHING))
        elif line.message == _FILTERED:
            name = f"NodePool/{_name(line.values, 'NodePool')}"
            yield Refused(
                round(line.at, 6), name, RejectionLayer.NODEPOOL_FILTER.value, line.message.partition(", ")[2]
            )


def _name(values: Mapping[str, Any], kind: str) -> str:
    found = values.get(kind)
    return str(found.get("name") or "") if isinstance(found, Mapping) else str(found or "")
