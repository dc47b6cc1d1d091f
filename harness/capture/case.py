"""A runnable scenario from a dump: the objects that decide, under other names if wanted, with today's verdict as its expectation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.capture.objects import kept
from harness.capture.pseudonyms import Pseudonyms
from harness.capture.selection import Question, selected
from harness.kube.api.objects import short_name
from harness.reading.problems import ScenarioError
from harness.scenario.expectations.verdicts import Outcome
from harness.scenario.language.dumps import Dump
from harness.scenario.language.files import load_text
from harness.scenario.language.writing import scenario_text
from harness.scenario.running.runner import Runner
from harness.scenario.running.stating import stated

__all__ = ["NotRepeated", "NothingLeft", "captured"]

_FILE = "captured.yaml"
_ANYTHING = [{"pods": {"bound": 0}}]


class NotRepeated(Exception):
    """The case that was made does not run, or has another outcome each time: a fault of this project; one line."""


class NothingLeft(LookupError):
    """A dump without an object that decides something and may be written; one line."""


def captured(dump: Dump, keys: Mapping[str, Any], question: Question, *, anonymise: bool) -> str:
    """The text of a scenario. The same dump, inputs and question give the same bytes.

    `keys` are those of a scenario's `given`. Raises NothingNamed for a question about an absent object, NothingLeft, NotRepeated.
    """
    names = Pseudonyms(anonymise=anonymise)
    objects, focus = selected(dump, question)
    left = [(obj, reduced) for obj in objects if (reduced := kept(obj, names)) is not None]
    manifests = [reduced for _, reduced in left]
    if not manifests:
        raise NothingLeft("there is nothing to capture: no object that decides where pods go")
    named = [
        _reference(reduced)
        for original, reduced in left
        if any(original is asked_pod for asked_pod in focus) and original["kind"] == "Pod"
    ]
    header: dict[str, Any] = {"scenario": _title(question, names), "given": dict(keys)}
    try:
        (scenario,) = load_text(scenario_text({**header, "then": _ANYTHING}, manifests), file=_FILE)
        (case,) = scenario.cases
        run, _ = Runner().examine(case)
        text = scenario_text({**header, "then": stated(run, named)}, manifests)
        (scenario,) = load_text(text, file=_FILE)
        report = Runner().run(scenario.cases[0])
    except ScenarioError as error:
        raise NotRepeated(str(error)) from None
    if report.outcome is not Outcome.PASSED:
        wrong = report.error or next(str(verdict.differences[0]) for verdict in report.verdicts if not verdict.holds)
        raise NotRepeated(f"the captured case does not repeat itself: {wrong}")
    return text


def _title(question: Question, names: Pseudonyms) -> str:
    if question.pod:
        return "a pod of a cluster" if names.anonymise else f"{question.pod} of a cluster"
    if question.node:
        return f"Node {names.name('node', question.node)} of a cluster"
    return "a cluster"


def _reference(pod: Mapping[str, Any]) -> str:
    return short_name(pod)
