"""Candidates that stay, where numbers tell it without a simulation.

Most candidates of a busy hour stay for the same few reasons, in turn after turn. Those that are alike are asked once; which of them have
a pod that goes to a node which is not initialized, the order of all their pods tells. All are told in one row.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from itertools import accumulate

from harness.karpenter.disruption.candidates import Candidate
from harness.karpenter.disruption.costs import lowest_price
from harness.karpenter.disruption.events.nodes import NodeRow, RowText
from harness.karpenter.disruption.events.texts import sentence
from harness.karpenter.disruption.simulating import hurried_text, tell_judged
from harness.karpenter.disruption.situation import Situation, View
from harness.karpenter.releases.disruption import DisruptionRules
from harness.karpenter.scheduling import PlannedNodeClaim
from harness.karpenter.scheduling.likeness.asking import Asking
from harness.karpenter.scheduling.likeness.crowd import Crowd
from harness.karpenter.scheduling.likeness.outlook import Counted, Outlook, Outlooks
from harness.karpenter.scheduling.nodes.state import StateNode
from harness.kube.api.objects import Object

__all__ = ["Counting", "Refuses"]

Refuses = Callable[[Candidate, Sequence[PlannedNodeClaim]], str | None]
"""Why the new nodes of a simulation do not replace a candidate; None when they might, or there is no such node."""

_SPARE = 256


class _Kind:
    """Candidates of which nothing is told apart but where their pods stand: ``one`` of them, and what its pods ask for."""

    __slots__ = ("one", "own")

    def __init__(self, one: Candidate, own: Asking) -> None:
        self.one, self.own = one, own


class _Kinds:
    """The kinds of candidates, from one turn to the next; what they rest on is the same at all of them."""

    def __init__(self, rests_on: tuple[object, DisruptionRules]) -> None:
        self.rests_on = rests_on
        self._kinds: dict[Hashable, _Kind] = {}
        self._kind_of: dict[Candidate, _Kind] = {}
        self._crowds: dict[int, Crowd[Candidate]] = {}
        """Candidates with their pods, by the fit of these."""
        self._most = 0

    @classmethod
    def of(cls, situation: Situation, outlooks: Outlooks) -> _Kinds:
        """Those of the turn before, or new ones."""
        rests_on = outlooks.shapes, situation.rules
        known: _Kinds | None = situation.view.lasting.get(_Kinds)
        if known is None or known.rests_on != rests_on:
            known = situation.view.lasting[_Kinds] = cls(rests_on)
        return known

    def of_all(
        self, situation: Situation, candidates: Sequence[Candidate], asked: Callable[[tuple[Object, ...]], Asking]
    ) -> list[_Kind]:
        """The kind of each candidate."""
        self._most = max(self._most, len(candidates))
        if len(self._kind_of) > self._most + self._most // 2 + _SPARE:
            self._forget(frozenset(candidates))
        known = self._kind_of
        found: list[_Kind] = []
        for each in candidates:
            kind = known.get(each)
            if kind is None:
                kind = known[each] = self._kind(situation, each, asked(each.pods))
            found.append(kind)
        return found

    def crowd(self, kind: _Kind) -> Crowd[Candidate]:
        """The candidates whose pods are of the same fit as those of a kind, and some that were candidates before."""
        assert kind.own.only is not None
        return self._crowds[kind.own.only]

    def _forget(self, stays: frozenset[Candidate]) -> None:
        self._most = len(stays)
        self._kind_of = {each: kind for each, kind in self._kind_of.items() if each in stays}
        there = set(self._kind_of.values())
        self._kinds = {about: kind for about, kind in self._kinds.items() if kind in there}
        for crowd in self._crowds.values():
            crowd.keep(stays.__contains__)

    def _kind(self, situation: Situation, candidate: Candidate, own: Asking) -> _Kind:
        size = candidate.instance_type
        lowest: float | None = None
        if size is not None and not situation.rules.priced_by_labels:
            lowest = lowest_price(candidate.state, size, situation.view.release.vocabulary)
        about = (
            *(own.only, own.count, own.fillers, own.is_bound_to(candidate.name)),
            *(candidate.marked, candidate.pool, candidate.policy, candidate.capacity_type),
            *(candidate.price, size is None, lowest, candidate.moving_cost),
        )
        if own.only is not None:
            self._crowds.setdefault(own.only, Crowd()).add(candidate, own.places)
        return self._kinds.setdefault(about, _Kind(candidate, own))


class _Verdict:
    """What becomes of some candidates: they stay, and so much time passes with each, or (``stays``) they have to be asked in another way.

    ``text`` is None where nothing is said of them.
    """

    __slots__ = ("counted", "kind", "stays", "text", "took")

    def __init__(self, kind: _Kind | None = None, counted: Counted | None = None, *, stays: bool = False) -> None:
        self.kind, self.counted, self.stays = kind, counted, stays
        self.text: RowText | None = None
        self.took = 0.0


_PASSED_OVER, _ASKED = _Verdict(stays=True), _Verdict()


_Among = tuple[Collection[Candidate], Collection[str]]
"""Of which candidates a pod has a young place, and the names of the nodes of which counting does not tell."""

_Told = tuple[_Verdict, _Verdict, Collection[Candidate], Collection[str]]
"""What is told of a kind at the moment: if no pod of a candidate has a young place, and if one has; and, of all kinds, which have."""


class _Words:
    """Words why a candidate stays of which a pod would go to a node that is not initialized.

    It knows nothing of the row that it words, which would keep both alive until Python looks for circles.
    """

    def __init__(self, view: View, candidates: Sequence[Candidate], *, settled: bool) -> None:
        self._view, self._candidates, self._settled = view, candidates, settled

    def of(self, node: StateNode) -> str:
        """The text about one of the candidates."""
        one: Candidate | None = node.remembered.get(Candidate)
        if one is None:  # a wait in between has made its machine anew
            one = next(each for each in self._candidates if each.state is node)
        pods = self._view.simulations.hurried_of(node.name, one.pods, settled=self._settled)
        return sentence(hurried_text(self._view, pods))


class Counting:
    """Goes through the candidates of one view in order and publishes why they stay; the events stand in a row, which `begin` makes.

    ``settled``: as for consolidation, nodes within their NodePool's consolidateAfter take no pods of candidates. ``passes_over``: whether
    the method says nothing of candidates of this kind: by NodePool, costs and prices, and whether there are pods.
    """

    def __init__(
        self,
        situation: Situation,
        candidates: Sequence[Candidate],
        begin: Callable[[], NodeRow],
        passes_over: Callable[[Candidate], bool],
        *,
        settled: bool,
        refuses: Refuses | None = None,
    ) -> None:
        self._situation, self._candidates = situation, candidates
        self._begin, self._passes_over = begin, passes_over
        self.settled, self._refuses, self._simulations = settled, refuses, situation.view.simulations
        self._word = _Words(situation.view, candidates, settled=settled).of
        self._row: NodeRow | None = None
        self._verdicts: list[_Verdict] = []
        self._distinct: list[_Verdict] = []

    def left(self, late: Callable[[float], bool] | None = None) -> Iterator[int]:
        """The places of the candidates that do not stay for all that counting tells: a simulation tells more.

        Of those in between it is said why they stay, and the time passes that their simulations would have taken. ``late`` tells by the
        virtual time that simulations have taken whether it is up: then the next place is yielded, whatever stands there.
        """
        at, end = 0, len(self._candidates)
        if end and self._begins():  # often the first goes: then nobody has to look at the others
            yield at
            at += 1
        if at < end:
            self._count()
        while at < end:
            if late is None or not late(self._situation.seconds):
                at = self._pass_by(at, late)
                if at == end:
                    return
            self._row = None  # whoever is asked instead may say something, or simulate, on which other answers may rest
            yield at
            at += 1

    def _begins(self) -> bool:
        """Whether nothing was counted in this cluster yet, and the method asks for the first candidate."""
        return _Kinds not in self._situation.view.lasting and not self._passes_over(self._candidates[0])

    def _count(self) -> None:
        """Finds the verdict about each candidate."""
        candidates = self._candidates
        knows = self._simulations.displaced.knows_budgets
        outlooks = None if knows else self._simulations.counting(settled=self.settled)
        if outlooks is None:
            self._verdicts = [_PASSED_OVER if self._passes_over(each) else _ASKED for each in candidates]
        else:
            kept = _Kinds.of(self._situation, outlooks)
            self._verdicts = self._told(kept, kept.of_all(self._situation, candidates, outlooks.asked), outlooks)
        self._distinct = [each for each in dict.fromkeys(self._verdicts) if not each.stays]

    def _told(self, kept: _Kinds, kinds: Sequence[_Kind], outlooks: Outlooks) -> list[_Verdict]:
        """The verdict about each candidate."""
        told: dict[_Kind, _Told] = {}
        asked: dict[Outlook, _Among] = {}
        barred: set[str] = set()
        for kind in dict.fromkeys(kinds):
            told[kind] = self._told_of(kept, kind, outlooks, asked)
        for _, nodes in asked.values():
            barred.update(nodes)
        found = [
            hurried if each in among else calm
            for each, (calm, hurried, among, _) in zip(self._candidates, map(told.__getitem__, kinds), strict=True)
        ]
        names = [each.state.name for each in self._candidates]
        if not barred.isdisjoint(names):
            for at, name in enumerate(names):
                if name in barred and name in told[kinds[at]][3]:
                    found[at] = _ASKED
        return found

    def _told_of(self, kept: _Kinds, kind: _Kind, outlooks: Outlooks, asked: dict[Outlook, _Among]) -> _Told:
        one, own = kind.one, kind.own
        if self._passes_over(one):
            return _PASSED_OVER, _PASSED_OVER, (), ()
        outlook = None if one.marked or not own.fillers else outlooks.of(own)
        if outlook is None or (outlook.strict and not own.is_bound_to(one.name)):
            return _ASKED, _ASKED, (), ()
        if outlook not in asked:
            asked[outlook] = outlook.hurrying(kept.crowd(kind)), outlook.roomy.union(outlooks.going)
        calm, hurried = (
            _Verdict(kind, counted) if (counted := outlook.told(own.count, hurries)) is not None else _ASKED
            for hurries in (False, True)
        )
        return calm, hurried, *asked[outlook]

    def _pass_by(self, at: int, late: Callable[[float], bool] | None) -> int:
        """Publishes why candidates stay, from this place on. Returns the place of the first that does not, or where time was up."""
        if not self._stays(self._verdicts[at]):
            return at
        end = len(self._candidates)
        for each in self._distinct:
            if not self._stays(each):
                end = _index(self._verdicts, each, at, end)
        verdicts = self._verdicts[at:end]
        moments = list(accumulate([each.took for each in verdicts], initial=self._situation.seconds))
        if late is not None and late(moments[-2]):
            end = at + bisect_left(moments, True, key=late)
            verdicts = verdicts[: end - at]
        self._say(at, verdicts)
        self._situation.seconds = moments[end - at]
        return end

    def _say(self, at: int, verdicts: Sequence[_Verdict]) -> None:
        nodes = [each.state for each in self._candidates[at : at + len(verdicts)]]
        texts = [each.text for each in verdicts]
        if None in texts:
            nodes = [node for node, text in zip(nodes, texts, strict=True) if text is not None]
        if not nodes:
            return
        if self._row is None:
            self._row = self._begun()
        self._row.extend(nodes, [text for text in texts if text is not None])

    def _stays(self, verdict: _Verdict) -> bool:
        """Whether candidates with this verdict stay, as far as it is known at the moment which new nodes their pods need."""
        kind, counted = verdict.kind, verdict.counted
        if kind is None or counted is None:
            return verdict.stays
        nodeclaims = self._simulations.nodeclaims_of(counted)
        text: RowText | None = None
        if nodeclaims is not None:
            if counted.hurries:
                text = self._word
            elif self._refuses is not None:
                text = self._refuses(kind.one, nodeclaims)
        verdict.text, verdict.stays = text, text is not None
        verdict.took = self._simulations.seconds(counted.tried)
        return verdict.stays

    def _begun(self) -> NodeRow:
        tell_judged(self._situation)
        if self._simulations.events:
            self._situation.say_once(self._simulations.events)
        row = self._begin()
        self._situation.say_all(row)
        return row


def _index(verdicts: list[_Verdict], verdict: _Verdict, at: int, end: int) -> int:
    try:
        return verdicts.index(verdict, at, end)
    except ValueError:
        return end
