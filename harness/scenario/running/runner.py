"""Runs cases: builds the world of each, takes its steps and checks every expectation.

Unexpected events fail a case as well: an object that is refused, a runaway, a fault that never happened.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Iterator
from time import perf_counter
from typing import TYPE_CHECKING, Any

from harness.reading.problems import ScenarioError, dotted
from harness.scenario.expectations import check
from harness.scenario.expectations.verdicts import CaseReport, Outcome, Verdict
from harness.scenario.language.cases import Case
from harness.scenario.language.dumps import deleted, registered
from harness.scenario.language.models.steps import StepMap
from harness.scenario.running.agent_pools import add_agent_pools
from harness.scenario.running.run import Judged, Refusal, Run
from harness.scenario.running.seeds import under_seeds
from harness.scenario.running.shared import Shared
from harness.scenario.running.steps import apply_manifest, settle, take_step
from harness.scenario.running.tracing import Tracing, finished, listen, step_text
from harness.scenario.running.watching import watched

if TYPE_CHECKING:
    from harness.world import Caches, World

__all__ = ["UNEXPECTED_REJECTION", "Runner", "expected_outcome", "take_steps", "unexpected", "walk"]

UNEXPECTED_REJECTION = "unexpected rejection by"
"""Begins the label of the verdict on a refusal that no `rejected` expects."""
_QUESTIONS = frozenset({"requirements", "labels"})  # they depend on no history of the world


class Runner:
    """Runs cases one after the other; their worlds share the constant parts (catalogue, instance types)."""

    def __init__(self, caches: Caches | None = None, **overrides: Any) -> None:
        """`overrides` replace inputs of the files, by the names of World's arguments (`karpenter`, `region`); None does not."""
        self.shared = Shared(caches, {key: value for key, value in overrides.items() if value is not None})
        self.tracing: Tracing | None = None
        """The folder of traces, if any."""

    def check_inputs(self, cases: Iterable[Case]) -> None:
        """Raise ScenarioError for every release, region, size, option or state of Azure that does not exist."""
        self.shared.check_inputs(cases)

    def run(self, case: Case) -> CaseReport:
        """Run one case, from an empty world to its verdicts. Bad input is a ScenarioError; any other error is in the report."""
        start = perf_counter()
        header = case.header
        if header.skip is not None:
            return self._report(case, Outcome.SKIPPED, (), start, reason=header.skip)
        try:
            judged = self.judge(case)
        except ScenarioError:
            raise
        except Exception as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            text = f"{type(error).__name__}: {error} ({where.filename}:{where.lineno} in {where.name})"
            return self._report(case, Outcome.ERROR, (), start, error=text)
        outcome, reason = expected_outcome(case, judged.verdicts)
        return self._report(case, outcome, judged.verdicts, start, reason=reason, trace=judged.trace)

    def judge(self, case: Case) -> Judged:
        """Return the verdicts of all expectations of a case, and of unexpected events; with several seeds one about the share that held,
        too."""
        if case.seeds is None:
            return self.judge_once(case)
        runs_under_seeds = under_seeds(case, lambda seeded: self.examine(seeded)[1])
        if self.tracing is None and all(verdict.holds for verdict in runs_under_seeds.decides):
            return Judged(runs_under_seeds.verdicts())
        judged = self.judge_once(runs_under_seeds.case)  # once more, to know why and to leave a trace
        return Judged(runs_under_seeds.verdicts(judged.verdicts), judged.trace)

    def judge_once(self, case: Case) -> Judged:
        """Return the verdicts under the case's own seed. Failed ones have reasons: in memory a failed case is run again for them."""
        elsewhere = "cluster" in self.shared.overrides
        tracing = self.tracing
        recorded = elsewhere or (tracing is not None and tracing.all)
        run, verdicts = self.examine(case, recorded=recorded, explained=tracing is not None and tracing.explained)
        outcome, _ = expected_outcome(case, verdicts)
        if outcome is Outcome.FAILED:
            if run.explainer is None:
                run, verdicts = self.examine(case, recorded=True, explained=True)
            from harness.scenario.running.reasons import with_reasons

            verdicts = with_reasons(run, verdicts)
        trace = ""
        if self.tracing is not None and run.recording is not None and (self.tracing.all or outcome is Outcome.FAILED):
            trace = self.tracing.write(case, finished(run, verdicts, str(outcome)))
        return Judged(verdicts, trace, run)

    def verdicts(self, case: Case) -> tuple[Verdict, ...]:
        """Return the verdicts alone."""
        return self.judge(case).verdicts

    def examine(
        self, case: Case, *, recorded: bool = False, explained: bool = False
    ) -> tuple[Run, tuple[Verdict, ...]]:
        """Return a case's run, whose world can still be read, and its verdicts; `recorded` and `explained` for reasons."""
        elsewhere = "cluster" in self.shared.overrides
        if elsewhere:
            self._look(case)
        asks = all(entry.expectation.kind in _QUESTIONS for entry in case.then)
        idle = asks and not case.manifests and not case.header.when and not recorded
        run = Run(case, self.shared.idle_world(case) if idle else self.shared.new_world(case), self.shared)
        if recorded:
            listen(run, explained=explained or elsewhere)
        take_steps(run)
        verdicts = [verdict for entry in case.then for verdict in check(entry, run)]
        # a refused object explains a missing one, not the other way round
        return run, (*unexpected(run), *verdicts)

    def _look(self, case: Case) -> None:
        """Check label tables on a cluster first: it belongs to one world at a time, and then to the case's own."""
        from harness.scenario.expectations.labels import answer_elsewhere

        answer_elsewhere(case, self.shared, lambda: self.shared.new_world(case))

    @staticmethod
    def _report(
        case: Case,
        outcome: Outcome,
        verdicts: tuple[Verdict, ...],
        start: float,
        *,
        reason: str = "",
        error: str = "",
        trace: str = "",
    ) -> CaseReport:
        seconds = perf_counter() - start
        tags = tuple(case.header.tags)
        return CaseReport(case.name, case.file, case.mark, outcome, verdicts, reason, error, seconds, tags, trace)


def expected_outcome(case: Case, verdicts: Iterable[Verdict]) -> tuple[Outcome, str]:
    """Return passed or failed, in the light of `xfail`, and its reason."""
    holds = all(verdict.holds for verdict in verdicts)
    expected = case.header.xfail
    if expected is None:
        return (Outcome.PASSED if holds else Outcome.FAILED), ""
    reason = f"{expected.reason} ({expected.issue})" if expected.issue else expected.reason
    return (Outcome.UNEXPECTED_PASS if holds else Outcome.EXPECTED_FAILURE), reason


def walk(case: Case, world: World, shared: Shared) -> Run:
    """Apply the manifests, take the steps, and let the world settle."""
    run = Run(case, world, shared)
    take_steps(run)
    return run


def take_steps(run: Run) -> None:
    """Take the steps of a run that exists already."""
    with watched(run):
        _walk(run)


def _walk(run: Run) -> None:
    case, world = run.case, run.world
    add_agent_pools(run)
    steps = case.header.when
    held_back = {
        manifest.reference
        for step in steps
        if isinstance(step, StepMap)
        for name in step.apply or ()
        for manifest in case.manifests
        if manifest.is_named(name)
    }
    held_back |= {manifest.reference for manifest in registered(case.manifests)}
    for manifest in case.manifests:
        if manifest.reference not in held_back:
            apply_manifest(run, manifest)
    for manifest in deleted(case.manifests):
        world.delete(manifest.kind, manifest.name)
    rests = False
    for index, (step, mark) in enumerate(zip(steps, case.when_marks, strict=True)):
        if run.recording is not None:
            run.recording.step(step_text(case, index), mark.file, mark.line)
        rests = take_step(run, step, mark)
        run.taken.append(world.clock.seconds)
    if not rests and _has_work(run):
        if run.recording is not None:
            run.recording.step("settle")
        settle(run)
    for rejection in world.rejections:
        if not any(refusal.rejection is rejection for refusal in run.refusals):
            run.refusals.append(Refusal(rejection, run.manifest(rejection.object)))


def _has_work(run: Run) -> bool:
    return bool(run.case.manifests or run.case.header.when or run.case.given.agent_pools)


def unexpected(run: Run) -> Iterator[Verdict]:
    """Yield refusals, runaways and silent faults without an expectation."""
    from harness.world.refused import class_hint, is_mistake

    case = run.case
    for refusal in run.refusals:
        rejection = refusal.rejection
        if not refusal.expected and is_mistake(rejection):
            label = f"{UNEXPECTED_REJECTION} {rejection.layer}"
            refusal_text = "; ".join(filter(None, (refusal.text, class_hint(rejection.text, run.world.view))))
            expectation = f"- rejected: {{object: {rejection.object}, layer: {rejection.layer}}}"
            note = f"where that is right: `{expectation}`"
            yield Verdict.failed(label, refusal.mark(case.mark), f"{rejection.object} taken", refusal_text, note)
    if run.runaways and not run.runaway_expected:
        yield Verdict.failed("unexpected runaway", case.mark, "a world that comes to rest", str(run.runaways[0]))
    for exhausted in run.exhausted:
        yield Verdict.failed("unexpected motion", case.mark, "a world that comes to rest", exhausted)
    faults = run.world.faults()
    for fault in run.world.unfired_faults():
        path = ("given", "azure", "faults", faults.index(fault))
        yield Verdict.failed(
            dotted(path), case.given_document.position(path), "a fault that happens", f"never: {fault}"
        )
