"""Costs of two worlds in words: before and after, per hour and month, by NodePool; then nodes, moves and pods that wait."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from harness.trace import Trace
from harness.trace.figures import Figures
from harness.trace.header import Header
from harness.trace.prices import (
    HOURS_OF_A_MONTH,
    UNCOUNTED,
    guessed_text,
    hourly,
    monthly,
    supposed_text,
    unpriced_sizes_text,
)
from harness.wording import duration_text, first_few

__all__ = ["CostPair", "cost_lines", "cost_value", "supposed_lines", "supposed_of"]

CostPair = tuple[str, Figures, Figures]
"""The name of a case, "" of the only one, and both sides."""

_CASES = 5
_NAMED = 5
_LEAST = 0.00005  # USD per hour: less is not seen in four decimals


def cost_lines(pairs: Sequence[CostPair], supposed: Mapping[str, tuple[str, str]] | None = None) -> Iterator[str]:
    """Yield the opening of a comparison. `supposed`: case → the supposition about prices on either side, "" for none."""
    if len(pairs) == 1:
        _, left, right = pairs[0]
        yield from _one(left, right)
    else:
        yield from _many(pairs)
    yield from _notes(pairs, supposed or {})


def _one(left: Figures, right: Figures) -> Iterator[str]:
    yield f"cost: {_change(left.usd_per_hour, right.usd_per_hour)}"
    yield from _pool_lines(left.nodepools, right.nodepools)
    if left.moves or right.moves or max(left.seconds, right.seconds) >= 3600:
        spans = " and ".join(dict.fromkeys(duration_text(side.seconds) for side in (left, right)))
        yield f"  in all: {hourly(left.usd)} → {hourly(right.usd)} USD over {spans} of virtual time"
    yield f"nodes: {left.nodes} → {right.nodes}; moves: {left.moves} → {right.moves}"
    yield from _pod_lines([(left, right)])


def _pool_lines(left: Mapping[str, float], right: Mapping[str, float]) -> Iterator[str]:
    """Yield the change of each NodePool where there are several. Both: NodePool → USD per hour, "" of other machines."""
    pools = dict.fromkeys([*left, *right])
    for pool in pools if len(pools) > 1 else ():
        name = f"NodePool {pool}" if pool else "other machines"
        yield f"  {name}: {_change(left.get(pool, 0.0), right.get(pool, 0.0))}"


def _pod_lines(pairs: Sequence[tuple[Figures, Figures]]) -> Iterator[str]:
    """Yield the pods that wait on one side only, by workload; of several cases added up."""
    others = [(right, left) for left, right in pairs]
    for title, sides in (("pods that become pending", others), ("pods that get a place", pairs)):
        workloads: Counter[str] = Counter()
        for more, less in sides:
            workloads += Counter(more.pending) - Counter(less.pending)
        if workloads:
            texts = first_few([f"{name} {count}" for name, count in workloads.items()], _NAMED)
            yield f"{title}: {workloads.total()} ({texts})"


def _change(left: float, right: float) -> str:
    """`0.1920 → 0.3840 USD per hour, 140.16 → 280.32 USD per month of 730 hours (+140.16)`."""
    if not _differs(left, right):
        return (
            f"{hourly(right)} USD per hour, {monthly(right)} USD per month of {HOURS_OF_A_MONTH} hours, on both sides"
        )
    more = (right - left) * HOURS_OF_A_MONTH
    return (
        f"{hourly(left)} → {hourly(right)} USD per hour, "
        f"{monthly(left)} → {monthly(right)} USD per month of {HOURS_OF_A_MONTH} hours ({more:+,.2f})"
    )


def _differs(left: float, right: float) -> bool:
    return abs(right - left) >= _LEAST


def _many(pairs: Sequence[CostPair]) -> Iterator[str]:
    """Yield the cases that cost otherwise, the greatest differences first, then the sums over all."""
    costs = [(name, left.usd_per_hour, right.usd_per_hour) for name, left, right in pairs]
    other = [cost for cost in costs if _differs(*cost[1:])]
    if not other:
        yield f"cost: the same in all {len(pairs)} cases"
    else:
        yield f"cost: another one in {len(other)} of {len(pairs)} cases"
    other.sort(key=lambda cost: -abs(cost[1] - cost[2]))
    for name, usd_left, usd_right in other[:_CASES]:
        yield f"  {name}: {_change(usd_left, usd_right)}"
    if len(other) > _CASES:
        yield f"  and {len(other) - _CASES} more cases"
    before = [figures for _, figures, _ in pairs]
    after = [figures for _, _, figures in pairs]
    yield f"over all cases: {_change(*(sum(figures.usd_per_hour for figures in side) for side in (before, after)))}"
    yield from _pool_lines(*(_summed(side) for side in (before, after)))
    nodes = " → ".join(str(sum(figures.nodes for figures in side)) for side in (before, after))
    moves = " → ".join(str(sum(figures.moves for figures in side)) for side in (before, after))
    yield f"over all cases: nodes: {nodes}; moves: {moves}"
    yield from _pod_lines([*zip(before, after, strict=True)])


def _summed(side: Sequence[Figures]) -> dict[str, float]:
    """Return NodePool → USD per hour over all cases."""
    total: dict[str, float] = {}
    for figures in side:
        for pool, usd in figures.nodepools.items():
            total[pool] = total.get(pool, 0.0) + usd
    return total


def _notes(pairs: Sequence[CostPair], supposed: Mapping[str, tuple[str, str]]) -> Iterator[str]:
    """Yield the suppositions, guesses and sizes without a price on which the figures rest."""
    yield from supposed_lines(supposed)
    guessed: dict[str, str] = {}
    for _, left, right in pairs:
        guessed |= {**left.guessed, **right.guessed}
    for why in dict.fromkeys(guessed.values()):
        yield guessed_text([size for size in guessed if guessed[size] == why], why)
    unpriced = sorted({size for _, *sides in pairs for side in sides for size in side.unpriced})
    if unpriced:
        yield unpriced_sizes_text(unpriced)
    yield UNCOUNTED


def supposed_of(traces: Sequence[tuple[str, Trace, Trace]]) -> dict[str, tuple[str, str]]:
    """Return by case the supposition about prices on either side, in words."""
    return {name: (_supposition(left.header), _supposition(right.header)) for name, left, right in traces}


def _supposition(header: Header) -> str:
    """Return the supposed discounts of a world in words, those of its steps with the virtual time since which they hold."""
    texts = [supposed_text(header.spot_discount)] if header.spot_discount else []
    for second, discount in header.spot_discount_changes.items():
        text = supposed_text(discount) if discount else "spot costs what the list says"
        texts.append(f"{text}, since {duration_text(float(second))} of virtual time")
    return "; ".join(texts)


def supposed_lines(supposed: Mapping[str, tuple[str, str]]) -> Iterator[str]:
    """Yield a line for each distinct supposition: its side where the sides differ, and its cases where not all have it."""
    cases: dict[tuple[str, str], list[str]] = {}
    for name, (left, right) in supposed.items():
        sides = [("", left)] if left == right else [("A, ", left), ("B, ", right)]
        for side, supposition in sides:
            if supposition:
                cases.setdefault((side, supposition), []).append(name)
    for (side, supposition), names in cases.items():
        where = "" if len(names) == len(supposed) else f", in {first_few(names, _NAMED)}"
        yield f"{side}{supposition}{where}"


def cost_value(pairs: Sequence[CostPair]) -> list[dict[str, Any]]:
    """Return the same as JSON has it."""
    return [{"name": name, "left": _value(left), "right": _value(right)} for name, left, right in pairs]


def _value(side: Figures) -> Mapping[str, Any]:
    return {**asdict(side), "usd_per_month": round(side.usd_per_hour * HOURS_OF_A_MONTH, 2)}
