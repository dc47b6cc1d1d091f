"""A migration in words: the first screen, and what follows it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from harness.migrate.agent_pools import AgentPool
from harness.migrate.judging.judgement import Judged, Move
from harness.migrate.proposing.proposal import Proposal, ProposedPool
from harness.migrate.proposing.rows import Verdict
from harness.migrate.walking.walk import Walk
from harness.wording import counted, duration_text, first_few

__all__ = ["headline", "note_lines", "proposal_lines", "proposal_value", "walk_value", "workload_lines"]

_FEW = 5
_MINUTE = 60


def headline(judged: Sequence[Judged], walk: Walk | None, proposal: Proposal) -> Iterator[str]:
    """Yield what stands first: how many workloads move, what the cluster comes to, whether a budget is undercut, what is lost."""
    counts = Counter(verdict.move for verdict in judged)
    as_is, total = counts[Move.AS_IS], len(judged)
    parts = [
        f"{as_is} of {counted(total, 'workload')} {'moves as it is' if 1 in (as_is, total) else 'move as they are'}"
    ]
    others = (
        (Move.PATCHED, "needs one line", "need one line each"),
        (Move.STAYS, "stays on its agent pool", "stay on their agent pools"),
        (Move.BLOCKED, "has no place yet", "have no place yet"),
    )
    parts += [
        f"{counts[move]} {single if counts[move] == 1 else many}" for move, single, many in others if counts[move]
    ]
    yield ", ".join(parts)
    if walk is not None:
        before, after = walk.before, walk.after
        time = duration_text(round(walk.seconds / _MINUTE) * _MINUTE)
        yield (
            f"{counted(before.nodes, 'node')} at {before.usd:.2f} USD/h become {after.nodes} at {after.usd:.2f} USD/h; "
            f"on the way {walk.most.nodes} at {walk.most.usd:.2f} USD/h, {walk.usd:.2f} USD in {time}"
        )
        unpriced = sorted({*before.unpriced, *walk.most.unpriced, *after.unpriced})
        if unpriced:
            yield f"no price is known for {first_few(unpriced, _FEW)}, whose machines count as 0 USD here"
        yield _budgets_line(walk)
    lost = len(proposal.lost)
    yield f"{counted(lost, 'setting')} {'has' if lost == 1 else 'have'} no equivalent"


def _budgets_line(walk: Walk) -> str:
    if walk.undercut:
        return f"below its PodDisruptionBudget at some moment: {first_few(walk.undercut, _FEW)}"
    if not walk.healthy:
        return "there is no PodDisruptionBudget: nothing limits how many pods go at once"
    if walk.short:
        return f"no lower below its PodDisruptionBudget than before: {first_few(walk.short, _FEW)}"
    return "nothing is ever below its PodDisruptionBudget"


def workload_lines(judged: Sequence[Judged], walk: Walk | None) -> Iterator[str]:
    """Yield each workload that does not move as it is, what else is worth to be known, and how few pods were ready."""
    for verdict in judged:
        if verdict.move is not Move.AS_IS:
            yield f"  {verdict.name} {verdict.move}: {'; '.join(verdict.why) or 'its patch is in patches.sh'}"
    yield from (f"  {line}" for line in note_lines(judged, walk))


def note_lines(judged: Sequence[Judged], walk: Walk | None) -> Iterator[str]:
    """Yield what else is worth to be known of workloads, how few of their pods were ready, and what was refused on the way."""
    notes = Counter(note for verdict in judged for note in verdict.notes)
    for note, times in notes.most_common(_FEW):
        names = [verdict.name for verdict in judged if note in verdict.notes]
        yield f"{first_few(names, 3)}: {note}" if times > 1 else f"{names[0]}: {note}"
    if walk is None:
        return
    for ready in sorted(walk.ready, key=lambda ready: ready.least - ready.before)[:_FEW]:
        if ready.least < ready.before and ready.least < ready.after:
            least = (
                f"{ready.least} of {counted(ready.before, 'pod')} ready at the least, after {duration_text(ready.at)}"
            )
            yield f"{ready.workload}: {least}"
    if walk.waited_before:
        yield f"{counted(walk.waited_before, 'pod')} had no Node before the move"
    for refused in walk.refused:
        yield f"on the way {refused.object} is refused: {refused.text}"
    if not walk.passed:
        yield f"the story does not hold: {walk.problem}"


def walk_value(judged: Sequence[Judged], walk: Walk | None) -> dict[str, Any]:
    """Return workloads and walk for JSON."""
    workloads = [
        {
            "workload": verdict.name,
            "verdict": str(verdict.move),
            "why": list(verdict.why),
            "notes": list(verdict.notes),
            "nodepool": verdict.pool or None,
            "patch": verdict.patch,
        }
        for verdict in judged
    ]
    if walk is None:
        return {"workloads": workloads}
    fleets = {
        name: {"nodes": fleet.nodes, "usd_per_hour": round(fleet.usd, 6), "sizes": dict(fleet.sizes)}
        for name, fleet in (("before", walk.before), ("most", walk.most), ("after", walk.after))
    }
    ready = [asdict(count) for count in walk.ready]
    left = [asdict(pod) for pod in walk.left]
    refused = [asdict(refusal) for refusal in walk.refused]
    return {
        "workloads": workloads,
        "move": {
            **fleets,
            "seconds": walk.seconds,
            "usd": round(walk.usd, 6),
            "ready": ready,
            "undercut": list(walk.undercut),
            "left": left,
            "refused": refused,
            "holds": walk.passed,
        },
    }


def proposal_lines(proposal: Proposal) -> Iterator[str]:
    """Yield which pools move and which stay, how many settings became what, and each that is lost."""
    moved = sum(len(proposed.pools) for proposed in proposal.pools)
    yield f"{counted(moved + len(proposal.staying), 'agent pool')}: {moved} move, {len(proposal.staying)} stay"
    for proposed in proposal.pools:
        yield f"  {', '.join(pool.name for pool in proposed.pools)}: {_becomes(proposed)}"
    for stays in proposal.staying:
        yield f"  {stays.pool.name} stays: {stays.why}"
    counts = Counter(row.verdict for row in proposal.rows)
    parts = (
        f"{counts[Verdict.MAPPED]} carried over",
        f"{counts[Verdict.NO_EFFECT]} without effect",
        f"{counts[Verdict.NO_EQUIVALENT]} without equivalent",
        *([f"{counts[Verdict.UNKNOWN]} unknown"] if counts[Verdict.UNKNOWN] else ()),
    )
    yield f"{counted(len(proposal.rows), 'setting')}: {', '.join(parts)}"
    for row in proposal.lost:
        yield f"  {row.pool}: {row.field} {row.value}: {row.text}"


def proposal_value(proposal: Proposal) -> dict[str, Any]:
    """Return the same for JSON, with every row and every object."""
    return {
        "moved": [
            {
                "pools": [pool.name for pool in proposed.pools],
                "nodepool": proposed.name,
                "manifests": list(proposed.manifests),
                **({"widening": proposed.widening.to_json()} if proposed.widening is not None else {}),
            }
            for proposed in proposal.pools
        ],
        "staying": [{"pool": proposed.pool.name, "why": proposed.why} for proposed in proposal.staying],
        "settings": [row.to_json() for row in proposal.rows],
    }


def _becomes(proposed: ProposedPool) -> str:
    spec = proposed.nodepool["spec"]
    counts = ", ".join(map(_counts, proposed.pools))
    become = "become" if len(proposed.pools) > 1 or not counts.startswith("1 ×") else "becomes"
    if "replicas" in spec:
        return f"{counts} {become} the static NodePool {proposed.name} of {counted(spec['replicas'], 'machine')}"
    limits = spec.get("limits") or {}
    listed = ", ".join(f"{value} {name}" for name, value in limits.items())
    bound = f", at most {listed}" if limits else ", without limits"
    static = f", and the static NodePool {proposed.static['metadata']['name']}" if proposed.static is not None else ""
    wider = f"; {proposed.widening.text}" if proposed.widening is not None else ""
    return f"{counts} {become} NodePool {proposed.name}{bound}{static}{wider}"


def _counts(pool: AgentPool) -> str:
    size = " or ".join(pool.sizes)
    if pool.scales:
        return f"{pool.number('minCount')} to {pool.number('maxCount')} × {size}"
    return f"{pool.number('count')} × {size}" if "count" in pool.properties else size
