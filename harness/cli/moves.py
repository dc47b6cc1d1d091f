"""`harness simulate --until`: which nodes leave while virtual time passes, what comes in their place, and what it costs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.engine.disruptions import Disruption
    from harness.world import World

__all__ = ["Moves", "moves_until"]

_HOUR = 3600.0
_DAY = 24 * _HOUR
_MANY, _FEW = 40, 10  # moves from which on not all are listed, and how many of the first and of the last are
_LONGEST = 7 * _DAY
"""The longest wait of `settled` for an hour in which nothing changes."""


@dataclass(frozen=True, slots=True)
class Moves:
    """Moves in `seconds`: one row for each decision that nodes go. Prices are in USD per hour.

    The `price` of a row is None where no price is known of a size; in the sums such machines count as nothing, `unpriced` names the sizes.
    """

    seconds: float
    before: float
    after: float
    rows: tuple[dict[str, Any], ...]
    most: float
    """The highest price on the way."""
    extra: float
    """USD above the dearer of before and after, while replacements are there and what they replace is, too."""
    runaway: str = ""
    """The endless repetition of the world meanwhile."""
    stopped: str = ""
    """The reason why less time passed than was asked for."""
    unpriced: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()
    """The errors of kubelets that ended meanwhile, so that their machines got no Node."""

    def value(self) -> dict[str, Any]:
        """The moves as JSON."""
        prices = {"price_before": round(self.before, 6), "price_after": round(self.after, 6)}
        meanwhile = {"price_most": round(self.most, 6), "extra_usd": round(self.extra, 4)}
        value = {"seconds": self.seconds, **prices, **meanwhile, "moves": list(self.rows)}
        notes = {"runaway": self.runaway, "stopped": self.stopped}
        unpriced = {"unpriced": list(self.unpriced)} if self.unpriced else {}
        failures = {"failures": list(self.failures)} if self.failures else {}
        return {**value, **{name: text for name, text in notes.items() if text}, **failures, **unpriced}

    def sentences(self) -> Iterator[str]:
        """The same as sentences, one for each move of the first ones."""
        from harness.wording import duration_text

        first, *rest = (line for line in self.lines() if not line.startswith(" "))
        yield first
        for row in self.rows[:_FEW]:
            comes = f"; {', '.join(row['replacements'])} comes" if row["replacements"] else ""
            problem = f", taken back: {row['problem']}" if row["problem"] else ""
            at = duration_text(row["at"])
            yield f"at {at} {row['reason']}: {', '.join(row['nodes'])} goes{comes}{problem}"
        if len(self.rows) > _FEW:
            yield f"and {len(self.rows) - _FEW} more moves"
        yield from rest

    def lines(self) -> Iterator[str]:
        """The same as a table."""
        from harness.trace.prices import hourly
        from harness.wording import counted, duration_text

        if self.runaway:
            yield self.runaway
        if self.stopped:
            yield f"stopped on the way: {self.stopped}"
        yield from self.failures
        yield f"{duration_text(self.seconds)} later: {counted(len(self.rows), 'move')}"
        cells = [("at", "reason", "goes", "comes", "USD/h")]
        shown = self.rows if len(self.rows) <= _MANY else (*self.rows[:_FEW], *self.rows[-_FEW:])
        for row in shown:
            comes = ", ".join(row["replacements"]) or "-"
            if row["problem"]:
                comes += f" (taken back: {row['problem']})"
            at = duration_text(row["at"])
            price = "not known" if row["price"] is None else f"{row['price']:+.4f}"
            cells.append((at, row["reason"], ", ".join(row["nodes"]), comes, price))
        widths = [max(len(line[column]) for line in cells) for column in range(len(cells[0]) - 1)]
        for number, line in enumerate(cells if self.rows else ()):
            if number == _FEW + 1 and len(shown) < len(self.rows):
                yield f"  … {len(self.rows) - len(shown)} more (--format json has all)"
            padded = (text.ljust(width) for text, width in zip(line, widths, strict=False))
            yield f"  {'  '.join(padded)}  {line[-1]}"
        text = f"USD per hour before {hourly(self.before)}, after {hourly(self.after)}"
        if self.most > max(self.before, self.after) + 1e-9:
            text += f", at most {hourly(self.most)} meanwhile: {hourly(self.extra)} USD for what is there twice"
        yield text
        if self.unpriced:
            yield f"no price is known of {', '.join(self.unpriced)}: counted as nothing in these sums"


def moves_until(world: World, seconds: float | None, *, known_runaway: bool = False) -> Moves:
    """Let so much virtual time pass; without a number until an hour passes in which nothing changes, a week at most.

    `known_runaway`: it is known that the world repeats itself without end.
    """
    from harness.explain.pods.kubelets import kubelet_failures
    from harness.limits import with_remedy

    start, count = world.clock.seconds, len(world.disruptions)
    meter = _Meter(world)
    end = start + (_LONGEST if seconds is None else seconds)
    step = _HOUR if seconds is None else _DAY
    revision, runaway, stopped = -1, "", ""
    while world.clock.seconds < end and not stopped and (seconds is not None or revision != world.revision):
        revision = world.revision
        passed = world.advance(min(step, end - world.clock.seconds))
        runaway = runaway or ("" if known_runaway else str(passed.runaway or ""))
        stopped = with_remedy(passed.exhausted, passed.limit)
    meter.stop()
    disruptions = world.disruptions[count:]
    launched = _launched(world, {name for disruption in disruptions for name in disruption.replacements})
    rows = tuple(_row(world, disruption, launched, start) for disruption in disruptions)
    took = world.clock.seconds - start
    return Moves(
        took,
        meter.before,
        meter.now,
        rows,
        meter.most,
        meter.extra,
        runaway,
        stopped,
        tuple(sorted(meter.unpriced)),
        tuple(kubelet_failures(world, start)),
    )


class _Meter:
    """The cost of the machines, looked at before time moves on.

    `extra` is the price above both the price before and the final price, added up over time: the overlap of machines
    and their replacements.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self.unpriced: set[str] = set()
        self.before = self.now = self.most = self._price()
        self._samples = [(world.clock.seconds, self.before)]
        self._known = world.engine.revision
        world.clock.leaving = self._look

    def _price(self) -> float:
        from harness.world.costs.prices import totals

        sums = totals(self._world)
        self.unpriced.update(sums.unpriced)
        return sums.existing + sums.new

    def _look(self) -> None:
        if self._world.engine.revision == self._known:
            return
        self._known = self._world.engine.revision
        self.now = self._price()
        if self.now != self._samples[-1][1]:
            self._samples.append((self._world.clock.seconds, self.now))
            self.most = max(self.most, self.now)

    def stop(self) -> None:
        """Take the last reading and stop."""
        self._world.clock.leaving = None
        self._look()

    @property
    def extra(self) -> float:
        """USD above the dearer of before and after."""
        level = max(self.before, self.now)
        ends = [at for at, _ in self._samples[1:]] + [self._world.clock.seconds]
        stretches = zip(self._samples, ends, strict=True)
        return sum(max(0.0, price - level) * (end - at) / _HOUR for (at, price), end in stretches)


def _launched(world: World, names: Collection[str]) -> Mapping[str, Mapping[str, str]]:
    """Return the last labels of the NodeClaims of these names, also of those that are gone."""
    from harness.kube.api.objects import labels_of

    writes = (write for write in world.journal if write.key.kind == "NodeClaim" and write.after)
    return {write.key.name: labels_of(write.after or {}) for write in writes if write.key.name in names}


def _row(
    world: World, disruption: Disruption, launched: Mapping[str, Mapping[str, str]], start: float
) -> dict[str, Any]:
    """Return a decision as a row; `launched` are the labels of all replacements by name, without those that never came."""
    from harness.karpenter.labels.core import CAPACITY_TYPE
    from harness.kube.api.labels import INSTANCE_TYPE

    replacements = [launched.get(name, {}) for name in disruption.replacements]
    sizes = [(labels.get(INSTANCE_TYPE, ""), labels.get(CAPACITY_TYPE, "")) for labels in replacements]
    gone = [(node.labels.get(INSTANCE_TYPE, ""), node.labels.get(CAPACITY_TYPE, "")) for node in disruption.nodes]

    prices = {kind: world.price(*kind).usd for kind in (*sizes, *gone) if kind[0]}

    def price(kinds: list[tuple[str, str]]) -> float:
        return sum(prices[kind] or 0.0 for kind in kinds if kind[0])

    return {
        "at": disruption.at - start,
        "reason": f"{disruption.reason} ({disruption.drift})" if disruption.drift else disruption.reason,
        "decision": disruption.decision,
        "nodes": [
            f"{node.node or node.nodeclaim} ({node.labels.get(INSTANCE_TYPE, '?')})" for node in disruption.nodes
        ],
        "replacements": [f"{size or '?'}" for size, _ in sizes],
        "problem": disruption.problem,
        "price": 0.0
        if disruption.problem
        else None
        if None in prices.values()
        else round(price(sizes) - price(gone), 6),
    }
