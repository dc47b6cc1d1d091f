"""What two worlds cost, in words: before and after, per hour and month, by NodePool; then nodes, moves and pods that wait."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from harness.trace import Trace
from harness.trace.figures import Figures
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

__all__ = ["CostPair", "cost_lines", "cost_value", "supposed_of"]

CostPair = tuple[str, Figures, Figures]
"""The name of a case, "" of the only one, and both sides."""

_CASES = 5
_NAMED = 5
_CENT = 0.00005  # USD: what is less is not seen in four decimals


def cost_lines(pairs: Sequence[CostPair], supposed: tuple[str, str] = ("", "")) -> Iterator[str]:
    """The opening of a comparison. `supposed`: each side's supposed discount on spot, as `70%`."""
    if len(pairs) == 1:
        _, left, right = pairs[0]
        yield from _one(left, right)
    else:
        yield from _many(pairs)
    yield from _notes(pairs, supposed)


def _one(left: Figures, right: Figures) -> Iterator[str]:
    yield f"cost: {_change(left.usd_per_hour, right.usd_per_hour)}"
    pools = dict.fromkeys([*left.nodepools, *right.nodepools])
    for pool in pools if len(pools) > 1 else ():
        name = f"NodePool {pool}" if pool else "other machines"
        yield f"  {name}: {_change(left.nodepools.get(pool, 0.0), right.nodepools.get(pool, 0.0))}"
    if left.moves or right.moves or max(left.seconds, right.seconds) >= 3600:
        spans = " and ".join(dict.fromkeys(duration_text(side.seconds) for side in (left, right)))
        yield f"  in all: {hourly(left.usd)} → {hourly(right.usd)} USD over {spans} of virtual time"
    yield f"nodes: {left.nodes} → {right.nodes}; moves: {left.moves} → {right.moves}"
    for title, more, less in (("pods that become pending", right, left), ("pods that get a place", left, right)):
        names = {
            name: count - less.pending.get(name, 0)
            for name, count in more.pending.items()
            if count > less.pending.get(name, 0)
        }
        if names:
            workloads = first_few([f"{name} {count}" for name, count in names.items()], _NAMED)
            yield f"{title}: {sum(names.values())} ({workloads})"


def _change(left: float, right: float) -> str:
    """`0.1920 → 0.3840 USD per hour, 140.16 → 280.32 USD per month of 730 hours (+140.16)`."""
    if abs(right - left) < _CENT:
        return (
            f"{hourly(right)} USD per hour, {monthly(right)} USD per month of {HOURS_OF_A_MONTH} hours, on both sides"
        )
    more = (right - left) * HOURS_OF_A_MONTH
    return (
        f"{hourly(left)} → {hourly(right)} USD per hour, "
        f"{monthly(left)} → {monthly(right)} USD per month of {HOURS_OF_A_MONTH} hours ({more:+,.2f})"
    )


def _many(pairs: Sequence[CostPair]) -> Iterator[str]:
    """The cases that cost otherwise, the greatest differences first."""
    other = [pair for pair in pairs if abs(pair[1].usd_per_hour - pair[2].usd_per_hour) >= _CENT]
    if not other:
        yield f"cost: the same in all {len(pairs)} cases"
    else:
        yield f"cost: another one in {len(other)} of {len(pairs)} cases"
    other.sort(key=lambda pair: -abs(pair[1].usd_per_hour - pair[2].usd_per_hour))
    for name, left, right in other[:_CASES]:
        yield f"  {name}: {_change(left.usd_per_hour, right.usd_per_hour)}"
    if len(other) > _CASES:
        yield f"  and {len(other) - _CASES} more cases"
    nodes = [sum(side.nodes for side in sides) for sides in zip(*(pair[1:] for pair in pairs), strict=True)]
    moves = [sum(side.moves for side in sides) for sides in zip(*(pair[1:] for pair in pairs), strict=True)]
    yield f"over all cases: nodes: {nodes[0]} → {nodes[1]}; moves: {moves[0]} → {moves[1]}"
    more = sum(
        max(0, count - left.pending.get(name, 0)) for _, left, right in pairs for name, count in right.pending.items()
    )
    if more:
        yield f"pods that become pending: {more}"


def _notes(pairs: Sequence[CostPair], supposed: tuple[str, str]) -> Iterator[str]:
    """What the figures rest on: suppositions, guesses, sizes without a price."""
    for names, discount in _by_side(supposed):
        yield f"{names}{supposed_text(discount)}"
    guessed: dict[str, str] = {}
    for _, left, right in pairs:
        guessed |= {**left.guessed, **right.guessed}
    for why in dict.fromkeys(guessed.values()):
        yield guessed_text([size for size in guessed if guessed[size] == why], why)
    unpriced = sorted({size for _, *sides in pairs for side in sides for size in side.unpriced})
    if unpriced:
        yield unpriced_sizes_text(unpriced)
    yield UNCOUNTED


def supposed_of(traces: Sequence[tuple[str, Trace, Trace]]) -> tuple[str, str]:
    """What spot is supposed to cost less on either side; of several cases the first one's."""
    return (traces[0][1].header.spot_discount, traces[0][2].header.spot_discount) if traces else ("", "")


def _by_side(supposed: tuple[str, str]) -> Iterator[tuple[str, str]]:
    left, right = supposed
    if left == right:
        yield from [("", left)] if left else ()
        return
    yield from ((f"{side}, ", discount) for side, discount in (("A", left), ("B", right)) if discount)


def cost_value(pairs: Sequence[CostPair]) -> list[dict[str, Any]]:
    """The same as JSON has it."""
    return [{"name": name, "left": _value(left), "right": _value(right)} for name, left, right in pairs]


def _value(side: Figures) -> Mapping[str, Any]:
    return {**asdict(side), "usd_per_month": round(side.usd_per_hour * HOURS_OF_A_MONTH, 2)}
