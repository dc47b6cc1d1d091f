"""Decisions in a real controller's log to remove nodes, as the simulated loop records its own.

Core ``pkg/controllers/disruption/{queue,types}.go``, ``nodeclaim/expiration``, ``node/health``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, MutableSequence
from itertools import islice
from typing import Any

from harness.engine.disruptions import DELETE, EXPIRED, UNHEALTHY, Disrupted, Disruption
from harness.engine.names import NodeClaimName, NodeName
from harness.engine.ports import View
from harness.karpenter.disruption.conditions import DRIFTED
from harness.karpenter.instancetypes import MISSING_PRICE
from harness.karpenter.labels.core import CAPACITY_TYPE, NODEPOOL
from harness.karpenter.lifecycle.names import claim_of, nodes_of
from harness.kube.api.labels import INSTANCE_TYPE
from harness.kube.api.objects import condition, labels_of, name_of
from harness.world.recorder import LogLine

__all__ = ["LoggedDecisions", "log_line", "named"]

_OF_LOGGER = ("level", "time", "logger", "message", "commit", "controller")
_OF_CALLS = "msg"
"""The key of the message in the provider's log of its own calls of Azure."""

_DISRUPTING, _CREATED = "disrupting node(s)", "created nodeclaim"
_SUCCEEDED, _FAILED = "command succeeded", "failed terminating nodes while executing a disruption command"
_DISRUPTION, _NOT_BEGUN = "disruption", ("launching replacement nodeclaim", "marking disrupted")
_FORCED = {"deleting expired nodeclaim": EXPIRED, "deleting unhealthy node": UNHEALTHY}
_COMMAND = re.compile(r"(?P<reason>\w+)/[^:]*: .*\(savings: \$(?P<savings>-?[0-9.]+)\)")
"""The form of a command from core 1.10 on; before, its reason is a value of its own, in lower case."""


def log_line(at: float, line: Mapping[str, Any]) -> LogLine:
    """Return a line of JSON as the log of a world has it."""
    message_key = "message" if "message" in line else _OF_CALLS
    values = {key: value for key, value in line.items() if key not in (*_OF_LOGGER, message_key)}
    return LogLine(
        at,
        str(line.get("level") or "").lower(),
        str(line.get("controller") or ""),
        str(line.get(message_key) or ""),
        values,
    )


class LoggedDecisions:
    """Reads one log line after the other. `view` is the cluster as it is then, `price` the USD per hour of a size and capacity type.

    The log has no `method`, and no savings before core 1.10. It has the outcome of a decision at level debug only.
    """

    def __init__(
        self, view: View, price: Callable[[str, str], float | None], decisions: MutableSequence[Disruption]
    ) -> None:
        """`decisions` gets each decision; its outcome is added to it later."""
        self._view = view
        self._price = price
        self._found = decisions
        self._open: list[tuple[Any, Disruption]] = []
        """Commands in the queue, each with its nodes as the log lists them."""
        self._made: dict[str, list[str]] = {}
        """NodeClaims by the reconcile in which they were made."""
        self._begun: dict[str, list[tuple[Disruption, int]]] = {}
        """Commands by the reconcile in which they were decided, several of static NodePools, each with the number of its replacements."""

    def read(self, line: LogLine) -> None:
        """Read a line."""
        if line.message == _DISRUPTING:
            self._decided(line)
        elif line.message == _CREATED:
            self._replaced(line)
        elif line.message in (_SUCCEEDED, _FAILED):
            self._ended(line)
        elif line.message in _FORCED:
            self._forced(line)
        elif line.level == "error" and line.controller == _DISRUPTION:
            self._not_begun(line)

    def _decided(self, line: LogLine) -> None:
        command = _COMMAND.match(str(line.values.get("command") or ""))
        reason = command["reason"] if command else str(line.values.get("reason") or "").capitalize()
        nodes = tuple(self._nodes(line))
        turn = str(line.values.get("reconcileID") or "")
        disruption = Disruption(
            round(line.at, 6),
            reason,
            str(line.values.get("decision") or ""),
            nodes,
            savings=float(command["savings"]) if command else 0.0,
            drift=self._drift(nodes) if reason == DRIFTED else "",
            unpriced={
                size: MISSING_PRICE for node in nodes if (size := node.labels.get(INSTANCE_TYPE)) and not node.price
            },
        )
        self._open.append((line.values.get("disrupted-nodes"), disruption))
        self._found.append(disruption)
        self._begun.setdefault(turn, []).append((disruption, int(str(line.values.get("replacement-node-count") or 0))))
        self._share(turn)

    def _replaced(self, line: LogLine) -> None:
        """Note a new NodeClaim: it is a command's if the same reconcile decides on one, before or after."""
        turn = str(line.values.get("reconcileID") or "")
        self._made.setdefault(turn, []).append(named(line.values, "NodeClaim"))
        self._share(turn)

    def _share(self, turn: str) -> None:
        """Share the new NodeClaims among the commands of one reconcile: the log has only the number of each, not whose is which."""
        made = iter(self._made.get(turn, ()) if turn else ())
        for disruption, count in self._begun.get(turn, ()):
            disruption.replacements = tuple(islice(made, count))

    def _ended(self, line: LogLine) -> None:
        """Note that the queue is done with a command, which it names by its nodes, or takes it back."""
        for own, disruption in self._open:
            if own == line.values.get("disrupted-nodes"):
                disruption.ended = round(line.at, 6)
                disruption.problem = str(line.values.get("error") or "") if line.message == _FAILED else ""
                self._open.remove((own, disruption))
                return

    def _not_begun(self, line: LogLine) -> None:
        """Drop commands that never got to the queue: a node could not be marked, or a replacement not made, after the
        command was logged."""
        turn = str(line.values.get("reconcileID") or "")
        if any(sentence in str(line.values.get("error") or "") for sentence in _NOT_BEGUN):
            begun = self._begun.pop(turn, [])
            lacking = [id(disruption) for disruption, count in begun if len(disruption.replacements) < count]
            never = {*(lacking or (id(disruption) for disruption, _ in begun))}
            self._open = [(own, other) for own, other in self._open if id(other) not in never]
            self._found[:] = [other for other in self._found if id(other) not in never]

    def _forced(self, line: LogLine) -> None:
        name = named(line.values, "NodeClaim")
        node = self._view.get("Node", named(line.values, "Node") or str(line.values.get("name") or ""))
        claim = self._view.get("NodeClaim", name) if name else claim_of(self._view, node) if node else None
        if node is None and claim is not None:
            node = next(iter(nodes_of(self._view, claim)), None)
        gone = self._disrupted(name_of(node) if node else "", name_of(claim) if claim else name)
        at = round(line.at, 6)
        self._found.append(Disruption(at, _FORCED[line.message], DELETE, (gone,), ended=at))

    def _nodes(self, line: LogLine) -> Iterator[Disrupted]:
        going: Any = line.values.get("disrupted-nodes") or ()
        for entry in going:
            yield self._disrupted(named(entry, "Node"), named(entry, "NodeClaim"))

    def _disrupted(self, node: str, claim: str) -> Disrupted:
        obj = self._view.get("Node", node) or self._view.get("NodeClaim", claim)
        labels = dict(labels_of(obj)) if obj else {}
        size = labels.get(INSTANCE_TYPE, "")
        price = self._price(size, labels.get(CAPACITY_TYPE, "")) if size else None
        return Disrupted(NodeClaimName(claim), NodeName(node), labels.get(NODEPOOL, ""), labels, price or 0.0)

    def _drift(self, nodes: tuple[Disrupted, ...]) -> str:
        """Return why the first of the nodes has drifted."""
        claim = self._view.get("NodeClaim", nodes[0].nodeclaim) if nodes else None
        drifted = condition(claim, DRIFTED) if claim else None
        return str(drifted.get("reason") or "") if drifted and drifted.get("status") == "True" else ""


def named(values: Mapping[str, Any], kind: str) -> str:
    """Return the name of the object of this kind that a line is about, empty when it is about none."""
    value = values.get(kind)
    return str(value.get("name") or "") if isinstance(value, Mapping) else str(value or "")
