"""Verdicts that shrinking can keep: a property of a run, recognised in every smaller scenario."""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from harness.scenario.expectations.pods import sentence
from harness.scenario.expectations.verdicts import Verdict
from harness.scenario.running.run import Run
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
"""The words before a NodePool's mistake in core up to 1.4."""
_KEY = re.compile(
    r'did not tolerate (?:taint \(taint=)?([^=:]+)|label "([^"]+)"|incompatible requirements, key ([^,]+),|, key=([^ ]+) '
)
"""The taint or label that a cause is about (harness.karpenter.scheduling.reasons)."""
_WORDS = re.compile(r'[,(:="]| [\w./-]+[=:]')


class Cause(NamedTuple):
    """A cause in Karpenter's words, and the taint's or label's key that it is about, empty where it is about none."""

    text: str
    key: str


class UnknownVerdict(ValueError):
    """A word that names none of `KEPT`, or a verdict that this scenario does not have; one line."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a run. `refused`: object and rule; `pending`: Karpenter's sentences; `verdicts`: label → whether it holds."""

    refused: frozenset[tuple[str, str]] = frozenset()
    refusals: frozenset[tuple[str, str]] = frozenset()
    pending: frozenset[str] = frozenset()
    unsettled: bool = False
    verdicts: Mapping[str, bool] = field(default_factory=dict)
    error: str = ""


Keeps = Callable[[Outcome], bool]


def outcome_of(examine: Callable[[], tuple[Run, Collection[Verdict]]]) -> Outcome:
    """Return the outcome of a run. Raises ScenarioError as the run does."""
    from harness.reading.problems import ScenarioError

    try:
        run, verdicts = examine()
    except ScenarioError:
        raise
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        return Outcome(error=f"{type(error).__name__} in {where.name}")
    mistakes = [refusal.rejection for refusal in run.refusals if is_mistake(refusal.rejection)]
    waiting = (pod for pod in run.world.list("Pod") if not (pod.get("spec") or {}).get("nodeName"))
    return Outcome(
        frozenset((mistake.object, mistake.text) for mistake in mistakes),
        frozenset((str(mistake.layer), str(mistake.rule or mistake.key or mistake.path)) for mistake in mistakes),
        frozenset(sentence(pod, run) for pod in waiting),
        bool(run.runaways or run.exhausted),
        {verdict.label: verdict.holds for verdict in verdicts},
    )


def check_verdict(word: str) -> None:
    """Raise UnknownVerdict for a word that names no verdict, and for a text where none belongs."""
    name, sign, text = word.partition("=")
    if name not in KEPT:
        raise UnknownVerdict(f"unknown verdict '{name}'; {did_you_mean(name, KEPT)}")
    if sign and (name not in ("pending", "rejected") or not text):
        raise UnknownVerdict(f"{word}: only pending=TEXT and rejected=TEXT have a text")


def kept_by(word: str, first: Outcome) -> Keeps:
    """Return the test whether a smaller scenario keeps a verdict; `first` is the outcome of the whole one. Raises UnknownVerdict."""
    check_verdict(word)
    name, _, text = word.partition("=")
    keeps = _keeps(name, text, first)
    if not keeps(first):
        raise UnknownVerdict(f"the scenario does not come to '{word}': {_told(first)}")
    objects = {refused_object for refused_object, _ in first.refused}

    def both(outcome: Outcome) -> bool:
        """Return whether the verdict stays with nothing new in its way: no other refusal, no error."""
        if name != "error" and outcome.error:
            return False
        return keeps(outcome) and {refused_object for refused_object, _ in outcome.refused} <= objects

    return both


def _keeps(name: str, text: str, first: Outcome) -> Keeps:
    if name == "pending":
        if text:
            return lambda outcome: any(text in sentence for sentence in outcome.pending)
        causes = min(
            map(causes_of, first.pending),
            key=lambda causes_of_pod: (not causes_of_pod, sorted(causes_of_pod)),
            default=None,
        )
        return lambda outcome: causes is not None and causes in map(causes_of, outcome.pending)
    if name == "rejected":
        if text:
            return lambda outcome: any(text in rule for _, rule in outcome.refused)
        rules = sorted(first.refusals)
        return lambda outcome: bool(rules) and rules[0] in outcome.refusals
    if name == "unsettled":
        return lambda outcome: outcome.unsettled
    if name == "error":
        return lambda outcome: bool(first.error) and outcome.error == first.error
    if name == "then":
        return lambda outcome: outcome.verdicts == first.verdicts and not outcome.error
    failing = next((label for label, holds in first.verdicts.items() if not holds), "")
    return lambda outcome: failing != "" and outcome.verdicts.get(failing) is False


def causes_of(sentence: str) -> frozenset[Cause]:
    """The causes that Karpenter's sentence about a pod names, one for each NodePool; equal ones of several NodePools are one.

    Amounts, values and the names of NodePools may differ, the text and the key of a cause may not.
    """
    causes = set()
    for part in filter(None, sentence.split("; ")):
        text = _NODEPOOL.sub("", part)
        key = _KEY.search(text)
        causes.add(Cause(_WORDS.split(text, maxsplit=1)[0].strip(), next(filter(None, key.groups())) if key else ""))
    return frozenset(causes)


def _told(outcome: Outcome) -> str:
    """Return the other outcome, in a few words."""
    facts: list[Any] = [
        outcome.error,
        f"refusals: {len(outcome.refused)}" if outcome.refused else "",
        f"reasons of pending pods: {len(outcome.pending)}" if outcome.pending else "no pod is pending",
        "it does not settle" if outcome.unsettled else "",
    ]
    return ", ".join(filter(None, facts))
