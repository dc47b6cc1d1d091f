"""Runs a case twice, with the simulated loop and with the real controller, and compares the outcomes.

The simulated run comes first, with the times of a real one: it shows how long a case takes, and the facts that the real one has to match.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from harness.clusters.folders import temporary_folder
from harness.clusters.waiting import Patience, stopwatch
from harness.scenario.comparing.chance import without_chance
from harness.scenario.comparing.comparison import Comparison, Difference, Result
from harness.scenario.comparing.draws import Draws, Outcome
from harness.scenario.comparing.inputs import real_inputs
from harness.scenario.comparing.kept import KeptDifferences
from harness.scenario.comparing.limit import REAL_LIMIT, has_schedule
from harness.scenario.comparing.looks import best_look
from harness.scenario.comparing.outside import outside_verdicts
from harness.scenario.comparing.prices import OWN_PRICES, without_steps_prices
from harness.scenario.comparing.recordings import Recording
from harness.scenario.comparing.runaways import BESIDE_RUNAWAY, beside_runaway
from harness.scenario.expectations import check
from harness.scenario.expectations.labels import LabelTable, answer_elsewhere
from harness.scenario.running.run import Run
from harness.scenario.running.runner import expected_outcome, take_steps
from harness.scenario.running.shared import Shared
from harness.scenario.running.tracing import Tracing, finished, listen
from harness.wording import duration_text

if TYPE_CHECKING:
    from harness.clusters.remote.attaching import Attaching
    from harness.scenario.language.cases import Case
    from harness.world import Caches, World
    from harness.world.facts import Facts
    from harness.world.real.world import RealWorld

__all__ = ["RealRuns"]

_LATE = 25.0
"""Seconds of an idle machine in which a real world that seems to rest may still reach the outcome of the simulated one."""

_MOMENT = re.compile(r"(?<=\bat )(?:\d+[dhm])+\b|\b(?:\d+[dhm])*\d[\d.e+]*s\b")
"""A time as `duration_text` writes it; `10m` is one after `at` only, since it is an amount of CPU elsewhere."""
_QUESTIONS = frozenset({"requirements"})


class RealRuns:
    """Compares one case after the other. `binaries` are the controllers by release. Close it: it has a folder for certificates."""

    def __init__(
        self,
        caches: Caches,
        binaries: Mapping[str, Path],
        kept_differences: KeptDifferences,
        overrides: Mapping[str, Any] | None = None,
        *,
        record: Path | None = None,
        cluster: Attaching | None = None,
        tracing: Tracing | None = None,
        limit: float = REAL_LIMIT,
    ) -> None:
        """`cluster`: where the real one works, `attach(..., live=True)`; without it each case has an API server of its own in memory.

        `tracing`: both runs of each case leave their traces there, in the folders `simulated` and `real`. `limit`: the seconds of virtual
        time that a case may take.
        """
        self._limit = limit
        self._caches = caches
        self._binaries = binaries
        self._kept = kept_differences
        self._overrides = dict(overrides or {})
        self._record = record
        self._cluster = cluster
        self._tracing = tracing
        self._open = ExitStack()
        self._folder = self._open.enter_context(temporary_folder("real"))

    def close(self) -> None:
        """Remove the folder."""
        self._open.close()

    def compare(self, case: Case) -> Comparison:
        """Run a case under the simulated loop and the real controller, and compare them.

        Raises ScenarioError, ControllerDied, PkiError.
        """
        from harness.world.facts import facts_of
        from harness.world.real.process import ControllerDied

        watch = stopwatch()
        shared = Shared(self._caches, self._overrides)
        world = shared.idle_world(case)
        release, mode = world.release.version, str(world.options.provision_mode)
        name = f"{case.file}::{case.name}"
        result, reason = self._passed_over(case, release)
        if result is None and (reason := self._kept.uncompared(name, release)):
            result = Result.NOT_APPLICABLE
        if result is not None:
            return Comparison(name, release, mode, result, reason)
        simulated = self._simulated(case, shared)
        if (without := without_steps_prices(case)) is not None:
            other = self._simulated(without, Shared(self._caches, self._overrides))
            if other.runaways or simulated.runaways or self._come_apart(case, release, simulated, other):
                return Comparison(name, release, mode, Result.NOT_APPLICABLE, OWN_PRICES)
            case, simulated = without, other
        seconds = simulated.world.clock.seconds
        if simulated.runaways and seconds <= BESIDE_RUNAWAY:
            return self._beside_runaway(case, simulated, Comparison(name, release, mode, Result.AGREE))
        if simulated.runaways or simulated.exhausted or seconds > self._limit:
            how = "goes on without end" if seconds < self._limit else f"takes {duration_text(seconds)} of virtual time"
            return Comparison(name, release, mode, Result.VIRTUAL, how)
        capacity = self._simulates_kubelets  # a node container has the host's

        def outcome(run: Run) -> Outcome:
            return facts_of(run.world, capacity=capacity), _verdicts(run)

        draws = Draws(
            outcome(simulated),
            lambda seed: outcome(self._simulated(case, Shared(self._caches, self._overrides), seed)),
        )
        with ExitStack() as open_worlds:
            try:
                real, real_facts = self._real(case, draws, open_worlds, capacity=capacity)
            except ControllerDied:
                if not any(rejection.rule == "crash" for rejection in simulated.world.rejections):
                    raise
                ends = "the controller panics and ends, as the simulated one does"
                return Comparison(name, release, mode, Result.AGREE, ends, facts=1, seconds=watch())
            expected, verdicts = draws.like(real_facts, self._differing(case, release, real, real_facts))
            differences = self._differences(case, release, expected, verdicts, real, real_facts)
        if self._record is not None:
            Recording.of_run(name, release, real, real_facts).write(self._record)
        result = Result.DIFFER if any(not difference.kept for difference in differences) else Result.AGREE
        drawn = {"simulated": expected.drawn, "real": real_facts.drawn}
        count = _count(expected.found) - len(differences)
        rows = _rows_of_nodes(verdicts, real)
        return Comparison(name, release, mode, result, "", tuple(differences), count, drawn, watch(), rows)

    @property
    def _simulates_kubelets(self) -> bool:
        return self._cluster is None or self._cluster.remote.name != "kind"

    def replay(self, case: Case, recording: Recording) -> list[Difference]:
        """The differences between the simulated loop and a recorded run, without those that are allowed."""
        from harness.world.facts import Facts, facts_of

        simulated = self._simulated(case, Shared(self._caches, self._overrides))
        expected, recorded = facts_of(simulated.world), Facts(recording.facts, ())
        verdicts, held = _verdicts(simulated), recording.expectations
        return self._differences(case, recording.release, expected, verdicts, held, recorded, only_new=True)

    def _passed_over(self, case: Case, release: str) -> tuple[Result | None, str]:
        """Return why a case is not run on the real controller; None for one that is."""
        header = case.header
        if header.skip is not None:
            return Result.NOT_APPLICABLE, header.skip
        if case.needs_virtual_time:
            return Result.VIRTUAL, "it says so, or measures times"
        if "simulated-kubelets" in case.needs and not self._simulates_kubelets:
            return Result.NOT_APPLICABLE, "needs simulated kubelets"
        if all(entry.expectation.kind in _QUESTIONS for entry in case.then) and not case.manifests:
            return Result.NOT_APPLICABLE, "asks what is computed, and runs nothing"
        tables = [entry.expectation.body for entry in case.then if isinstance(entry.expectation.body, LabelTable)]
        if len(tables) == len(case.then) and not any(row.written for table in tables for row in table.are.values()):
            return Result.NOT_APPLICABLE, "asks about keys of pods, each of which is a run of its own"
        if case.seeds is not None:
            return Result.NOT_APPLICABLE, "is about several seeds, which do not bind a real Karpenter"
        if any(has_schedule(manifest.object) for manifest in case.manifests):
            return Result.VIRTUAL, "has a budget with a schedule, which goes by the time of day"
        if release not in self._binaries:
            have = ", ".join(self._binaries) or "none"
            return (
                Result.NOT_APPLICABLE,
                f"is about release {release}, and there is no such controller here (there are: {have})",
            )
        return None, ""

    def _come_apart(self, case: Case, release: str, run: Run, other: Run) -> bool:
        """Return whether two simulated runs of a case come to different facts."""
        from harness.world.facts import facts_of

        facts, others = facts_of(run.world), facts_of(other.world)
        return bool(self._differences(case, release, facts, _verdicts(run), _verdicts(other), others))

    def _beside_runaway(self, case: Case, simulated: Run, about: Comparison) -> Comparison:
        """Run the real controller for a bounded time beside a simulated loop that goes on without end."""
        watch, shared = stopwatch(), Shared(self._caches, self._overrides)
        with ExitStack() as open_worlds:
            world = self._new_real(case, shared, open_worlds)
            began = world.clock.seconds
            world.end_after(BESIDE_RUNAWAY)
            run = self._walked(case, world, shared)
            while not world.over:
                world.advance(1.0)
            self._trace(run, "real")
            return beside_runaway(about, str(simulated.runaways[0]), world.journal, began, watch())

    def _simulated(self, case: Case, shared: Shared, seed: int | None = None) -> Run:
        """A run of the case; with another `seed` than its own it leaves no trace."""
        from harness.world import World
        from harness.world.real.world import CLOUD_TIMING

        overrides = self._overrides if seed is None else {**self._overrides, "seed": seed}
        world = World(**real_inputs(case, shared, overrides), cloud_timing=CLOUD_TIMING)
        run = self._walked(case, world, shared)
        if seed is None:
            self._trace(run, "simulated")
        return run

    def _walked(self, case: Case, world: World, shared: Shared) -> Run:
        run = Run(case, world, shared)
        if self._tracing is not None:
            listen(run, explained=False)
        take_steps(run)
        return run

    def _trace(self, run: Run, which: str, simulated: Mapping[str, str] = MappingProxyType({})) -> None:
        """Leave the trace of a run that has ended; a verdict that may differ from the `simulated` one is no failure."""
        if self._tracing is not None:
            verdicts = tuple(verdict for entry in run.case.then for verdict in check(entry, run))
            folder = replace(self._tracing, folder=self._tracing.folder / which)
            excused = self._kept_verdicts(run, simulated)
            counted = tuple(verdict for verdict in verdicts if verdict.holds or verdict.label not in excused)
            outcome = str(expected_outcome(run.case, counted)[0])
            folder.write(run.case, finished(run, verdicts, outcome, excused))

    def _kept_verdicts(self, run: Run, simulated: Mapping[str, str]) -> dict[str, str]:
        """Return why expectations that differ from those of the simulated loop may."""
        name, release = f"{run.case.file}::{run.case.name}", run.world.release.version
        reasons = {
            label: self._kept.reason(name, release, f"expectations[{label}]", simulated[label], verdict)
            for label, verdict in _verdicts(run).items()
            if simulated.get(label, verdict) != verdict
        }
        return {label: reason for label, reason in reasons.items() if reason}

    def _real(
        self, case: Case, draws: Draws, open_worlds: ExitStack, *, capacity: bool
    ) -> tuple[Mapping[str, str], Facts]:
        """Return verdicts and facts of a real run, once it has reached the expected state or will not."""
        from harness.world.facts import facts_of

        shared = Shared(self._caches, self._overrides)
        answer_elsewhere(case, shared, lambda: self._new_real(case, shared, open_worlds))
        world = self._new_real(case, shared, open_worlds)
        release = world.release.version

        def agrees() -> bool:
            facts = facts_of(world, capacity=capacity)
            differs = self._differing(case, release, None, facts)
            return not differs(draws.like(facts, differs))

        world.satisfied = agrees
        run = self._walked(case, world, shared)
        patience = Patience(_LATE)

        def look() -> tuple[list[Difference], tuple[Mapping[str, str], Mapping[str, str], Facts]]:
            facts, held = facts_of(world, capacity=capacity), _verdicts(run)
            expected, verdicts = draws.like(facts, self._differing(case, release, held, facts))
            differences = self._differences(case, release, expected, verdicts, held, facts, only_new=True)
            return differences, (verdicts, held, facts)

        def again() -> bool:
            world.advance(1.0)
            return not patience.passed

        simulated, held, seen = best_look(look, again)
        self._trace(run, "real", simulated)
        return held, seen

    def _new_real(self, case: Case, shared: Shared, open_worlds: ExitStack) -> RealWorld:
        from harness.world.real.world import RealWorld

        open_worlds.close()  # one at a time
        inputs = real_inputs(case, shared, self._overrides)
        if self._cluster is not None:
            inputs["cluster"] = self._cluster
        release = shared.idle_world(case).release.version
        world = RealWorld(self._binaries[release], self._folder, **inputs)
        return open_worlds.enter_context(world)

    def _differing(
        self, case: Case, release: str, held: Mapping[str, str] | None, real_facts: Facts
    ) -> Callable[[Outcome], bool]:
        """Return what tells whether a simulated run differs from a real one; `held` None: from its facts alone."""

        def differs(run: Outcome) -> bool:
            verdicts = {} if held is None else run[1]
            return bool(self._differences(case, release, run[0], verdicts, held or {}, real_facts, only_new=True))

        return differs

    def _differences(
        self,
        case: Case,
        release: str,
        expected: Facts,
        verdicts: Mapping[str, str],
        held: Mapping[str, str],
        real: Facts,
        *,
        only_new: bool = False,
    ) -> list[Difference]:
        from harness.world.snapshot import differences

        name = f"{case.file}::{case.name}"
        ours, theirs = without_chance(case, expected, real)
        left, right = {**ours, "expectations": verdicts}, {**theirs, "expectations": held}
        listed = [
            Difference(
                fact, simulated_value, real_value, self._kept.reason(name, release, fact, simulated_value, real_value)
            )
            for fact, simulated_value, real_value in differences(left, right)
        ]
        return [difference for difference in listed if not difference.kept] if only_new else listed


def _verdicts(run: Run) -> dict[str, str]:
    """Return the expectations of the file: `holds`, or the actual value, without the moment."""
    seen = ((verdict.label, verdict.differences) for verdict in outside_verdicts(run))
    return {
        label: _MOMENT.sub("SECONDS", f"{wrong[0].path}: {wrong[0].actual}") if wrong else "holds"
        for label, wrong in seen
    }


def _rows_of_nodes(verdicts: Mapping[str, str], real: Mapping[str, str]) -> int:
    """Return the number of cells of label tables about a Node (`written`) that agree."""
    return sum(label.endswith(".written") and real.get(label) == verdict for label, verdict in verdicts.items())


def _count(value: Any) -> int:
    """Return the number of facts: texts and numbers, wherever they lie."""
    if isinstance(value, Mapping):
        return sum(map(_count, value.values()))
    if isinstance(value, Sequence) and not isinstance(value, str):
        return sum(map(_count, value))
    return 1
