"""What may be kept while a scenario becomes smaller: a property of its run, recognised in every smaller one."""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from harness.scenario.running.checks.pods import sentence
from harness.scenario.running.run import Run
from harness.scenario.running.verdicts import Verdict
from harness.wording import did_you_mean
from harness.world.refused import is_mistake

__all__ = ["KEPT", "Cause", "Outcome", "UnknownVerdict", "causes_of", "check_verdict", "kept_by", "outcome_of"]

KEPT: Mapping[str, str] = {
    "pending": "a pod that no Node takes, for the same causes; pending=TEXT: whose reason has this text in it",
    "rejected": "an object that is refused, by the same rule; rejected=TEXT: in words with this text in it",
    "unsettled": "a world that does not come to rest",
    "failed": "the expectation that fails first",
    "then": "every expectation, as it comes out",
    "error": "the error in this program",
}
"""The verdicts that `--keep` knows."""

_NODEPOOL = re.compile(r'^incompatible with nodepool "[^"]*", daemonset overhead=\{[^}]*\}, ')
"""How core up to 1.4 introduces what is wrong with a NodePool."""
_KEY = re.compile(
    r'did not tolerate (?:taint \(taint=)?([^=:]+)|label "([^"]+)"|incompatible requirements, key ([^,]+),|, key=([^ ]+) '
)
"""The taint or label that a cause is about (harness.karpenter.scheduling.reasons)."""
_WORDS = re.compile(r'[,(:="]| [\w./-]+[=:]')


class Cause(NamedTuple):
    """What is wrong, in Karpenter's words, and the taint's or label's key that it is about, empty where it is about none."""

    what: str
    key: str


class UnknownVerdict(ValueError):
    """A word that names none of `KEPT`, or one that this scenario does not come to; one line."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run came to. `refused`: object and rule; `pending`: Karpenter's sentences; `verdicts`: label → whether it holds."""

    refused: frozenset[tuple[str, str]] = frozenset()
    refusals: frozenset[tuple[str, str]] = frozenset()
    pending: frozenset[str] = frozenset()
    unsettled: bool = False
    verdicts: Mapping[str, bool] = field(default_factory=dict)
    error: str = ""


Keeps = Callable[[Outcome], bool]


def outcome_of(examine: Callable[[], tuple[Run, Collection[Verdict]]]) -> Outcome:
    """What a run comes to. Raises ScenarioError as the run does."""
    from harness.reading.problems import ScenarioError

    try:
        run, verdicts = examine()
    except ScenarioError:
        raise
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        return Outcome(error=f"{type(error).__name__} in {where.name}")
    mistakes = [one.rejection for one in run.refusals if is_mistake(one.rejection)]
    waiting = (pod for pod in run.world.list("Pod") if not (pod.get("spec") or {}).get("nodeName"))
    return Outcome(
        frozenset((one.object, one.text) for one in mistakes),
        frozenset((str(one.layer), str(one.rule or one.key or one.path)) for one in mistakes),
        frozenset(sentence(pod, run) for pod in waiting),
        bool(run.runaways or run.exhausted),
        {one.label: one.holds for one in verdicts},
    )


def check_verdict(word: str) -> None:
    """Raises UnknownVerdict for a word that names no verdict, and for a text where none belongs."""
    name, sign, text = word.partition("=")
    if name not in KEPT:
        raise UnknownVerdict(f"unknown verdict '{name}'; {did_you_mean(name, KEPT)}")
    if sign and (name not in ("pending", "rejected") or not text):
        raise UnknownVerdict(f"{word}: only pending=TEXT and rejected=TEXT have a text")


def kept_by(word: str, first: Outcome) -> Keeps:
    """Whether a smaller scenario still comes to it; `first` is what the whole one comes to. Raises UnknownVerdict."""
    check_verdict(word)
    name, _, text = word.partition("=")
    keeps = _keeps(name, text, first)
    if not keeps(first):
        raise UnknownVerdict(f"the scenario does not come to '{word}': {_told(first)}")
    objects = {one for one, _ in first.refused}

    def both(found: Outcome) -> bool:
        """The verdict, and nothing new in its way: no other refusal, no error."""
        if name != "error" and found.error:
            return False
        return keeps(found) and {one for one, _ in found.refused} <= objects

    return both


def _keeps(name: str, text: str, first: Outcome) -> Keeps:
    if name == "pending":
        if text:
            return lambda found: any(text in one for one in found.pending)
        causes = min(map(causes_of, first.pending), key=lambda one: (not one, sorted(one)), default=None)
        return lambda found: causes is not None and causes in map(causes_of, found.pending)
    if name == "rejected":
        if text:
            return lambda found: any(text in said for _, said in found.refused)
        rules = sorted(first.refusals)
        return lambda found: bool(rules) and rules[0] in found.refusals
    if name == "unsettled":
        return lambda found: found.unsettled
    if name == "error":
        return lambda found: bool(first.error) and found.error == first.error
    if name == "then":
        return lambda found: found.verdicts == first.verdicts and not found.error
    failing = next((label for label, holds in first.verdicts.items() if not holds), "")
    return lambda found: failing != "" and found.verdicts.get(failing) is False


def causes_of(sentence: str) -> frozenset[Cause]:
    """The causes that Karpenter's sentence about a pod names, one for each NodePool; equal ones of several NodePools are one.

    Amounts, values and the names of NodePools may differ, what is wrong and the key that it is about may not.
    """
    causes = set()
    for part in filter(None, sentence.split("; ")):
        text = _NODEPOOL.sub("", part)
        key = _KEY.search(text)
        causes.add(Cause(_WORDS.split(text, maxsplit=1)[0].strip(), next(filter(None, key.groups())) if key else ""))
    return frozenset(causes)


def _told(outcome: Outcome) -> str:
    """What it comes to instead, in a few words."""
    facts: list[Any] = [
        outcome.error,
        f"refusals: {len(outcome.refused)}" if outcome.refused else "",
        f"reasons of pending pods: {len(outcome.pending)}" if outcome.pending else "no pod is pending",
        "it does not settle" if outcome.unsettled else "",
    ]
    return ", ".join(filter(None, facts))
