"""One turn of the disruption controller: the first method that finds a command has its way.

Core ``pkg/controllers/disruption/controller.go`` (Reconcile), ``pkg/controllers/disruption/queue.go`` (StartCommand).
"""

from collections.abc import Sequence
from dataclasses import field
from typing import Protocol

from harness.karpenter.disruption.commands.command import Command
from harness.karpenter.disruption.events.texts import failed_scheduling, nominated
from harness.karpenter.disruption.methods.method import Method
from harness.karpenter.disruption.methods.order import Memory, attempt
from harness.karpenter.disruption.situation import Situation, TurnGenerator
from harness.karpenter.lifecycle.nodes.disrupted import is_disrupted
from harness.karpenter.releases.core_release import CoreRelease
from harness.karpenter.releases.disruption import DisruptionRules
from harness.karpenter.scheduling import PlannedNodeClaim
from harness.karpenter.scheduling.nodeclaims.planned import pod_key
from harness.karpenter.scheduling.nodes.state import StateNode
from harness.kube.api.objects import condition
from harness.kube.go.text import quote
from lazyrecords import dataclass

__all__ = [
    "AGAIN",
    "DISRUPTION_REASON",
    "POLLING",
    "UNSYNCED",
    "Refusal",
    "Started",
    "Turn",
    "TurnActions",
    "Unmarked",
    "turn",
]

_NO_MEMORY = Memory()

DISRUPTION_REASON = "DisruptionReason"
"""The condition of a NodeClaim that a command is about."""

AGAIN, UNSYNCED, POLLING = 0.0, 1.0, 10.0
"""Seconds to the next turn: after a command, while NodeClaims have no machine yet, when nothing was to do."""


class Refusal(Exception):
    """A NodeClaim could not be created; the message is core's."""


class Unmarked(Exception):
    """A node could not be tainted or its NodeClaim marked.

    The message is core's, empty after a write conflict, which Karpenter does not log.
    """


class TurnActions(Protocol):
    """The changes of a turn in the cluster."""

    def release(self, nodes: Sequence[StateNode]) -> None:
        """Take taint and condition away from nodes that no command is about."""

    def mark_disrupted(self, node: StateNode, reason: str) -> None:
        """Taints the Node, and sets the condition DisruptionReason on its NodeClaim. Raises Unmarked."""

    def create(self, planned: PlannedNodeClaim, reason: str) -> str:
        """Create a replacement and return its name. Raises Refusal."""

    def mark_for_deletion(self, nodes: Sequence[StateNode]) -> None:
        """Marks nodes for deletion: the scheduler no longer counts on their room, and makes room for their pods elsewhere."""

    def nominate(self, node: StateNode) -> None:
        """Nominates a node for pods: for a while it is not disrupted."""


@dataclass(frozen=True, slots=True)
class Started:
    """A command under way, with the names of its replacements."""

    method: Method
    command: Command
    replacements: tuple[str, ...]


@dataclass(slots=True)
class Turn:
    """The outcome of a turn: commands, the seconds to the next turn (None: the back-off of an error decides), the error's text.

    The text is empty after a write conflict: Karpenter then retries without a log line.
    """

    started: list[Started] = field(default_factory=list)
    next_after: float | None = POLLING
    error: str = ""


def turn(
    situation: Situation,
    methods: Sequence[Method],
    actions: TurnActions,
    *,
    unseen: frozenset[str] = frozenset(),
    validates: bool = True,
    memory: Memory = _NO_MEMORY,
) -> TurnGenerator[Turn]:
    """Tries the methods in order; the first with a command ends the turn, and so does an error.

    The taints that are taken away at its beginning still count in this turn: the real controller reads its state of the cluster,
    which hears of the change by a watch some milliseconds later.

    ``memory`` is what turns before have found: a consolidation that found nothing rests until something changes.
    """
    made = Turn()
    if not situation.view.synced:
        made.next_after = UNSYNCED
        return made
    view = situation.view
    blemished, rules = view.simulations.state.fleet.having(_blemished), situation.rules
    staying = [node for _, node in sorted(blemished.items()) if not _is_going(node, rules)]
    actions.release([node for node in staying if not view.is_queued(node)])
    for method in methods:
        tried = yield from attempt(situation, method, unseen=unseen, validates=validates, memory=memory)
        if tried.findings is None:
            continue
        problem: str | None = None
        if tried.findings.error is not None:
            problem = f"computing disruption decision, {tried.findings.error}"
        elif tried.findings.commands:
            problem = _start_all(situation, method, tried.findings.commands, actions, made)
        if problem is not None:
            made.error = _told(method, problem, view.release.core) if problem else ""
            made.next_after = None
            return made
        if tried.findings.commands:
            made.next_after = AGAIN
            return made
    return made


def _told(method: Method, problem: str, core: CoreRelease) -> str:
    reason = method.reason.lower()
    if core.structured_errors:
        return f"disrupting, {problem} ({reason}=reason)"
    return f"disrupting via reason={quote(reason)}, {problem}"


def _is_going(node: StateNode, rules: DisruptionRules) -> bool:
    """Return whether taint and condition stay: the node is being deleted, or counts as such."""
    return node.deleted if rules.marks_first else node.deleting  # where marks come first, they keep nothing


def _blemished(node: StateNode) -> StateNode | None:
    """The node, if it has the taint of a command, or its NodeClaim the condition."""
    tainted = node.node is not None and is_disrupted(node.node)
    return node if tainted or condition(node.nodeclaim or {}, DISRUPTION_REASON) is not None else None


def _start_all(
    situation: Situation, method: Method, commands: Sequence[Command], actions: TurnActions, made: Turn
) -> str | None:
    """The error of commands that could not be started; empty when Karpenter does not log it, None when all were started."""
    problems = []
    silent, (begun, ended) = False, _id_places(situation.view.release.core)
    prefix = "disrupting candidates, " if situation.rules.several_commands else ""
    for command in commands:
        try:
            made.started.append(_start(situation, method, command, actions))
        except Refusal as error:
            problems.append(f"{prefix}launching replacement nodeclaim{begun}, creating node claim, {error}{ended}")
        except Unmarked as error:
            silent = True
            if str(error):
                problems.append(f"{prefix}marking disrupted{begun}, {error}{ended}")
    if problems:
        return f"disrupting candidates, {'; '.join(problems)}"
    return "" if silent else None


def _id_places(core: CoreRelease) -> tuple[str, str]:
    """The command's id where the release has it in a sentence: after what could not be done, and after why."""
    return ("", " (command-id=$ID)") if core.structured_errors else (" (command-id: $ID)", "")


def _start(situation: Situation, method: Method, command: Command, actions: TurnActions) -> Started:
    """Taints the candidates, creates the replacements, and only then marks the candidates for deletion.

    In the other order the provisioner would make room for their pods as well.
    """
    states = [candidate.state for candidate in command.candidates]
    for state in states:
        actions.mark_disrupted(state, method.reason)
    if situation.rules.marks_first:
        actions.mark_for_deletion(states)
    names, problems = [], []
    for planned in command.replacements:
        try:
            names.append(actions.create(planned, method.reason.lower()))
        except Refusal as error:
            problems.append(str(error))
    if problems:
        raise Refusal("; creating node claim, ".join(problems))
    if not situation.rules.marks_first:
        actions.mark_for_deletion(states)
    _record(situation, command, actions)
    return Started(method, command, tuple(names))


def _record(situation: Situation, command: Command, actions: TurnActions) -> None:
    """Publishes the events of the simulation about pods, and nominates the nodes that they are to go to."""
    for pod, reason in (command.outcome.errors or {}).items():
        situation.say(failed_scheduling(pod, reason))
    for name, pods in (command.outcome.existing or {}).items():
        node = command.outcome.nodes[name]
        actions.nominate(node)
        situation.say(*(nominated(pod_key(pod), node) for pod in pods))
