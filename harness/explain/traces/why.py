"""The course of events up to a result: sentences from a trace, each with its time and place."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from functools import cached_property

from harness.explain.traces.history import History, cut
from harness.karpenter.disruption.events.texts import STAYS
from harness.karpenter.labels.azure import capacity_type_of, priority_of
from harness.kube.api.objects import shorter
from harness.trace.facts import (
    ArmCall,
    Blocked,
    Boot,
    ClaimState,
    Condition,
    Cost,
    Decision,
    Disruption,
    EventTold,
    LogTold,
    NodeState,
    PodState,
    PriceOf,
)
from harness.wording import duration_text, first_few

__all__ = ["MOST", "Why"]

MOST = 15
"""Lines that are told under one expectation."""

_FEW = 3


class Why(History):
    """Explains what a trace tells. Each method returns lines, in order of time."""

    @cached_property
    def _claims(self) -> dict[str, list[ClaimState]]:
        states: dict[str, list[ClaimState]] = {}
        for fact in self._trace.facts_of(ClaimState):
            states.setdefault(fact.claim, []).append(fact)
        return states

    @cached_property
    def _pods_of(self) -> dict[str, Sequence[str]]:
        """For whom each NodeClaim was made."""
        made: dict[str, Sequence[str]] = {}
        for fact in self._trace.facts_of(Decision):
            if fact.result == "nodeclaim" and fact.target:
                made[fact.target.partition("/")[2]] = fact.pods
        return made

    def refusals(self, claims: Iterable[str] | None = None) -> list[str]:
        """Return Azure's refusals of machines, and for how long Karpenter leaves them alone; of some NodeClaims, or of all."""
        wanted = None if claims is None else set(claims)
        groups: dict[tuple[str, str, str, str], list[tuple[float, str]]] = {}
        for call in self._trace.facts_of(ArmCall):
            if call.method == "PUT" and call.error and call.size and (wanted is None or call.claim in wanted):
                kind = (call.error, call.size, call.priority, call.zone)
                groups.setdefault(kind, []).append((call.t, call.message))
        for boot in self._trace.facts_of(Boot):
            if boot.state == "failed" and (wanted is None or boot.claim in wanted or self._claim_of(boot.vm) in wanted):
                kind = (boot.error, boot.size, priority_of(boot.capacity_type), boot.zone)
                groups.setdefault(kind, []).append((boot.t, boot.message))
        return [
            self._refusal(*kind, refusals) for kind, refusals in sorted(groups.items(), key=lambda entry: entry[1][0])
        ]

    def _claim_of(self, vm: str) -> str:
        return next((claim for claim in self._claims if claim in vm), "")

    def _refusal(self, error: str, size: str, priority: str, zone: str, refusals: Sequence[tuple[float, str]]) -> str:
        first, message = refusals[0]
        times = f", {len(refusals)} times until {duration_text(refusals[-1][0])}" if len(refusals) > 1 else ""
        subject = f"{size}{' on spot' if priority == 'Spot' else ''}{f' in {zone}' if zone else ''}"
        capacity_type = capacity_type_of(priority)
        marks = [
            mark.until
            for mark in self._trace.facts_of(Blocked)
            if mark.t >= first
            and mark.capacity_type == capacity_type
            and mark.size in (size, "")
            and not mark.family
            and mark.zone in (zone, "")
        ]
        alone = f"; Karpenter leaves it alone until {duration_text(max(marks))}" if marks else ""
        return cut(
            f"at {duration_text(first)} Azure refused {subject}{times}: {error}: {' '.join(message.split())}", alone
        )

    def claims(self, chosen: Callable[[ClaimState], bool] = lambda fact: True) -> list[str]:
        """NodeClaims: when and for whom each was made, what became of it."""
        return [self._claim(states) for states in self._claims.values() if chosen(states[-1])]

    def named_claims(self, names: Iterable[str]) -> list[str]:
        """The same of NodeClaims that are named."""
        wanted = set(names)
        return self.claims(lambda fact: fact.claim in wanted)

    def claims_meant(self, kind: str, name: str) -> list[str]:
        """The names of the NodeClaims that an object leads to: itself, or those of a NodePool, behind a Node or made for a pod.

        `*` stands for any text; a pod is named as texts name it, `shop/web` outside of namespace default.
        """
        if kind == "Node":
            behind = (fact.claim for fact in self._trace.facts_of(NodeState) if fnmatchcase(fact.node, name))
            return [claim for claim in dict.fromkeys(behind) if claim]
        if kind == "Pod":
            return [
                claim for claim, pods in self._pods_of.items() if any(fnmatchcase(shorter(pod), name) for pod in pods)
            ]
        own = {claim: states[-1].nodepool if kind == "NodePool" else claim for claim, states in self._claims.items()}
        return [claim for claim, text in own.items() if kind in ("NodeClaim", "NodePool") and fnmatchcase(text, name)]

    def _claim(self, states: Sequence[ClaimState]) -> str:
        first, by = states[0], {fact.state: fact for fact in states}
        pods = self._pods_of.get(first.claim, ())
        text = f"NodeClaim {first.claim} of NodePool {first.nodepool}, made at {duration_text(first.t)}"
        text += f" for {_names(pods)}" if pods else ""
        launched = by.get("launched")
        if launched is not None:
            text += f": {_machine(launched)}, launched at {duration_text(launched.t)}"
        for state in ("registered", "initialized"):
            if state in by:
                text += f", {state} at {duration_text(by[state].t)}"
        if "deleted" in by:
            text += f"; gone at {duration_text(by['deleted'].t)}" + ("" if launched is not None else ", never launched")
        elif "initialized" not in by:
            text += f"; {self._stuck(first.claim)}"
        return cut(text)

    def _stuck(self, claim: str) -> str:
        """The condition that the NodeClaim waits for."""
        last = {fact.type: fact for fact in self._trace.facts_of(Condition) if fact.object == f"NodeClaim/{claim}"}
        for stage in ("Launched", "Registered", "Initialized"):
            condition = last.get(stage)
            if condition is None or condition.status != "True":
                detail = f": {condition.message or condition.reason}" if condition is not None else ""
                return f"not {stage}{detail}{self._kubelet_error(claim)}"
        return "initialized"

    def _kubelet_error(self, claim: str) -> str:
        """Return the error with which the kubelet of a NodeClaim's machine ended, empty without one."""
        machines = {fact.vm for fact in self._trace.facts_of(Boot) if fact.claim == claim}
        errors = [
            fact.message
            for fact in self._trace.facts_of(LogTold)
            if fact.controller == "kubelet" and fact.level == "error" and fact.values.get("node") in machines
        ]
        return f"; its kubelet ended: {errors[-1]}" if errors else ""

    def waits(self, pod: str) -> list[str]:
        """Return the reasons of a pod without a Node: Karpenter's last words about it, or the NodeClaim that was made
        for it and Azure's refusals.
        """
        decisions = [fact for fact in self._trace.facts_of(Decision) if pod in fact.pods]
        targets = dict.fromkeys(
            fact.target.partition("/")[2] for fact in decisions if fact.target.startswith("NodeClaim/")
        )
        lines: list[str] = []
        if decisions and decisions[-1].result in ("refused", "ignored"):
            last = decisions[-1]
            lines.append(cut(f"{_reference(pod)}, at {duration_text(last.t)} Karpenter said: {last.why}"))
        elif not decisions:
            lines += self._unseen(pod)
        lines += self.claims(lambda fact: fact.claim in targets)[-_FEW:]
        return [*lines, *self.refusals(targets)]

    def _unseen(self, pod: str) -> Iterator[str]:
        """Yield the last words about a pod that no simulation saw."""
        name = _reference(pod)
        events = [
            fact
            for fact in self._trace.facts_of(EventTold)
            if fact.object == name and fact.reason == "FailedScheduling"
        ]
        states = [fact for fact in self._trace.facts_of(PodState) if fact.pod == pod]
        if events:
            yield cut(
                f"{_reference(pod)}, at {duration_text(events[-1].t)} {events[-1].source} said: {events[-1].message}"
            )
        elif states:
            yield f"{_reference(pod)} is {states[-1].state} since {duration_text(states[-1].t)}, and nobody said why it waits"

    def runs(self, pod: str) -> list[str]:
        """Return the Node of a pod, since when, and the decision that led there."""
        states = [fact for fact in self._trace.facts_of(PodState) if fact.pod == pod and fact.state == "bound"]
        if not states:
            return []
        node = states[-1].node
        made = [fact for fact in self._trace.facts_of(NodeState) if fact.node == node]
        lines = [f"{_reference(pod)} is on Node {node} since {duration_text(states[-1].t)}"]
        if made and made[-1].claim:
            return [*lines, *self.claims(lambda fact: fact.claim == made[-1].claim)]
        return lines

    def nodes(self, names: Iterable[str]) -> list[str]:
        """Return the origin of Nodes, and Azure's refusals before: why they are of that size, zone and capacity type."""
        wanted = set(names)
        made = {fact.node: fact for fact in self._trace.facts_of(NodeState) if fact.node in wanted}
        claims = {fact.claim for fact in made.values() if fact.claim}
        lines = self.claims(lambda fact: fact.claim in claims)
        pods = {pod for claim in claims for pod in self._pods_of.get(claim, ())}
        earlier = {claim for claim, pods_of_claim in self._pods_of.items() if pods & set(pods_of_claim)}
        return [*self.refusals(claims | earlier), *lines]

    def machines(self) -> list[str]:
        """Every machine with its times and its price."""
        prices = {(fact.size, fact.capacity_type): fact.price for fact in self._trace.facts_of(PriceOf)}
        boots_by_vm: dict[str, list[Boot]] = {}
        for boot in self._trace.facts_of(Boot):
            boots_by_vm.setdefault(boot.vm, []).append(boot)
        lines = []
        for vm, boots in boots_by_vm.items():
            price = prices.get((boots[0].size, boots[0].capacity_type))
            cost = f", {price:.4f} USD/h" if price is not None else ", without a price"
            states = ", ".join(f"{boot.state} at {duration_text(boot.t)}" for boot in boots)
            place = f" in {boots[0].zone}" if boots[0].zone else ""
            lines.append(f"VM {vm}: {boots[0].size} {boots[0].capacity_type}{place}{cost}: {states}")
        return lines

    def calls(self, chosen: Callable[[ArmCall], bool]) -> list[str]:
        """Calls of Azure, each with its answer."""
        return [
            cut(
                f"at {duration_text(call.t)} {call.method} {call.operation}/{call.name}"
                f"{f' {call.size}' if call.size else ''}{f' {call.priority}' if call.priority else ''}"
                f"{f' {call.zone}' if call.zone else ''}: {call.status}{f' {call.error}' if call.error else ''}"
            )
            for call in self._trace.facts_of(ArmCall)
            if chosen(call)
        ]

    def departures(self, claims: Collection[str] | None = None) -> list[str]:
        """Every decision that nodes go, and the last word about those that stay; of the Nodes of some NodeClaims, or of all."""
        own = {fact.node for fact in self._trace.facts_of(NodeState) if claims is None or fact.claim in claims}
        lines = []
        for disruption in self._trace.facts_of(Disruption):
            if claims is not None and not any(
                item.get("claim") in claims or item.get("node") in own for item in disruption.nodes
            ):
                continue
            nodes = ", ".join(str(item.get("node") or item.get("claim")) for item in disruption.nodes)
            end = f", taken back: {disruption.problem}" if disruption.problem else ""
            replaced = f", replaced by {', '.join(disruption.replacements)}" if disruption.replacements else ""
            drift = f" ({disruption.drift})" if disruption.drift else ""
            lines.append(
                cut(
                    f"at {duration_text(disruption.t)} {disruption.decision} {nodes}: {disruption.reason}{drift}{replaced}{end}"
                )
            )
        last: dict[str, EventTold] = {}
        for event in self._trace.facts_of(EventTold):
            kind, _, name = event.object.partition("/")
            if event.reason in STAYS and kind == "Node" and (claims is None or name in own):
                last[event.object] = event
        return [
            *lines,
            *(
                cut(f"at {duration_text(event.t)} {event.reason} of {event.object}: {event.message}")
                for event in last.values()
            ),
        ]

    def gone(self, pod: str) -> list[str]:
        """When a pod was deleted or ended; nothing about one that nobody saw."""
        states = [fact for fact in self._trace.facts_of(PodState) if fact.pod == pod]
        return [f"{_reference(pod)} is {states[-1].state} since {duration_text(states[-1].t)}"] if states else []

    def claims_of(self, nodes: Iterable[str]) -> list[str]:
        """The NodeClaims of Nodes."""
        wanted = set(nodes)
        made = {fact.claim for fact in self._trace.facts_of(NodeState) if fact.node in wanted and fact.claim}
        return self.named_claims(made)

    def costs(self) -> list[str]:
        """Return the cost of all machines together, whenever it changed."""
        return [
            f"from {duration_text(cost.t)} {cost.price:.4f} USD/h for {cost.machines} machine{'' if cost.machines == 1 else 's'}"
            + (f", without {', '.join(cost.unpriced)}: no price is known" if cost.unpriced else "")
            for cost in self._trace.facts_of(Cost)
        ]

    def last_words(self) -> list[str]:
        """Return Karpenter's last words about each pod that got no place."""
        last = {pod: decision for decision in self._trace.facts_of(Decision) for pod in decision.pods}
        return [
            cut(f"{_reference(pod)}, at {duration_text(decision.t)} Karpenter said: {decision.why}")
            for pod, decision in last.items()
            if decision.result in ("refused", "ignored")
        ]


def _machine(claim: ClaimState) -> str:
    place = f" in {claim.zone}" if claim.zone else ""
    return f"{claim.size} {claim.capacity_type}{place}"


def _names(pods: Sequence[str]) -> str:
    return first_few([_reference(pod) for pod in pods], _FEW)


def _reference(pod: str) -> str:
    """`Pod/web`, `Pod/other/web`."""
    return f"Pod/{shorter(pod)}"
