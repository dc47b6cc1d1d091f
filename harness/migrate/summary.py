"""A migration in words: the first screen, and what follows it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from harness.migrate.agent_pools import AgentPool
from harness.migrate.proposing.proposal import Proposal, ProposedPool
from harness.migrate.proposing.rows import Verdict
from harness.wording import counted

__all__ = ["proposal_lines", "proposal_value"]


def proposal_lines(proposal: Proposal) -> Iterator[str]:
    """Yield which pools move and which stay, how many settings became what, and each that is lost."""
    moved = sum(len(one.pools) for one in proposal.pools)
    yield f"{counted(moved + len(proposal.staying), 'agent pool')}: {moved} move, {len(proposal.staying)} stay"
    for one in proposal.pools:
        yield f"  {', '.join(pool.name for pool in one.pools)}: {_becomes(one)}"
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
            {"pools": [pool.name for pool in one.pools], "nodepool": one.name, "manifests": list(one.manifests)}
            for one in proposal.pools
        ],
        "staying": [{"pool": one.pool.name, "why": one.why} for one in proposal.staying],
        "settings": [row.to_json() for row in proposal.rows],
    }


def _becomes(one: ProposedPool) -> str:
    limits = one.nodepool["spec"].get("limits") or {}
    bound = (
        f", at most {', '.join(f'{value} {name}' for name, value in limits.items())}" if limits else ", without limits"
    )
    static = f", and the static NodePool {one.static['metadata']['name']}" if one.static is not None else ""
    return f"{_counts(one.pools[0])} become NodePool {one.name}{bound}{static}"


def _counts(pool: AgentPool) -> str:
    size = " or ".join(pool.sizes)
    if pool.scales:
        return f"{pool.number('minCount')} to {pool.number('maxCount')} × {size}"
    return f"{pool.number('count')} × {size}" if "count" in pool.properties else size
