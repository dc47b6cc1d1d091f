"""The page of `harness migrate`: what was before, what happens meanwhile, what is after, and the story of the move to look into."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from harness.wording import duration_text

if TYPE_CHECKING:
    from harness.cli.migration_plan import MigrationPlan
    from harness.migrate.walking.walk import Fleet

__all__ = ["move_page"]


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
    """Return what stands first: how many workloads move, what the fleet was, is at its dearest moment and becomes, and what is lost."""
    from harness.migrate.summary import headline

    walk = plan.walk
    moments = (
        [] if walk is None else [("before", walk.before), ("meanwhile, at the most", walk.most), ("after", walk.after)]
    )
    fleets = [{"when": when, "nodes": fleet.nodes, "usd": fleet.usd, "sizes": _sizes(fleet)} for when, fleet in moments]
    return {"lines": list(headline(plan.judged, walk, plan.proposal)), "fleets": fleets}


def _notes(plan: MigrationPlan) -> Iterator[str]:
    from harness.migrate.summary import workload_lines

    walk = plan.walk
    if walk is not None:
        yield f"the move takes {duration_text(walk.seconds)}, in which all machines cost {walk.usd:.2f} USD"
        for ready in walk.ready:
            if ready.least < ready.before:
                yield (
                    f"{ready.workload}: {ready.before} pods ready before, {ready.least} at the least "
                    f"({duration_text(ready.at)} into the move), {ready.after} after"
                )
    yield from (line.strip() for line in workload_lines(plan.judged, None))
    yield from (f"{row.pool}: {row.field} {row.value}: {row.text}" for row in plan.proposal.lost)


def _sizes(fleet: Fleet) -> str:
    return ", ".join(f"{count} × {size}" for size, count in sorted(fleet.sizes.items())) or "none"
