"""The page of `harness migrate`: what was before, what happens meanwhile, what is after, and the story of the move to look into."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.cli.migration_plan import MigrationPlan
    from harness.migrate.walking.walk import Fleet

__all__ = ["move_page"]

_FIRST = 6
"""Lines about workloads and settings that stand above the fleets; the rest is below."""


def move_page(plan: MigrationPlan) -> str:
    """Return the page; the move is walked once more, with all that a page shows. Raises ScenarioError."""
    from harness.migrate.folder import STORY
    from harness.reports.picture.world import world_page
    from harness.scenario.language.files import load_text
    from harness.scenario.running.runner import Runner, expected_outcome
    from harness.scenario.running.tracing import finished

    (scenario,) = load_text(plan.story, file=STORY)
    case = scenario.cases[0]
    run, verdicts = Runner().examine(case, recorded=True, explained=True)
    trace = finished(run, verdicts, str(expected_outcome(case, verdicts)[0]))
    return world_page(trace.to_json(), "From agent pools to NodePools", list(_notes(plan)), _summary(plan))


def _summary(plan: MigrationPlan) -> dict[str, Any]:
    """Return what stands first: the headline, what is to be done, what is lost, and the fleet before, at its dearest and after."""
    from harness.migrate.summary import headline

    walk = plan.walk
    moments = (
        [] if walk is None else [("before", walk.before), ("meanwhile, at the most", walk.most), ("after", walk.after)]
    )
    fleets = [{"when": when, "nodes": fleet.nodes, "usd": fleet.usd, "sizes": _sizes(fleet)} for when, fleet in moments]
    to_do = [*_to_do(plan)]
    doubled = [plan.doubling.text] if plan.doubling is not None else []
    lines = [*headline(plan.judged, walk, plan.proposal), *doubled, *to_do[:_FIRST]]
    return {"lines": lines, "fleets": fleets}


def _to_do(plan: MigrationPlan) -> Iterator[str]:
    """Yield each workload that does not move as it is, with the command that changes that, and each setting that is lost."""
    from harness.migrate.folder import patch_command
    from harness.migrate.judging.judgement import Move

    for verdict in plan.judged:
        if verdict.move is not Move.AS_IS:
            reasons = "; ".join(filter(None, (*verdict.why, patch_command(verdict))))
            yield f"{verdict.name} {verdict.move}: {reasons}"
    pools = {pool.name for pool in plan.files_read.cluster.pools}
    for row in plan.proposal.lost:
        owner = f"agent pool {row.pool}" if row.pool in pools else f"the {row.pool}"
        yield f"{owner} loses {row.field} {row.value}: {row.text}"


def _notes(plan: MigrationPlan) -> Iterator[str]:
    from harness.migrate.summary import note_lines

    yield from [*_to_do(plan)][_FIRST:]
    yield from note_lines(plan.judged, plan.walk)


def _sizes(fleet: Fleet) -> str:
    return ", ".join(f"{count} × {size}" for size, count in sorted(fleet.sizes.items())) or "none"
