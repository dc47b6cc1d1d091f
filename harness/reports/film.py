"""A trace as a film: what there is at each moment at which something happened."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from harness.explain.traces.story import Happening, story
from harness.trace import Trace
from harness.trace.facts import ClaimState, Cost, NodeState, PodState, Usage
from harness.wording import duration_text

__all__ = ["Bar", "Frame", "bar_text", "first_bars", "frame_title", "frames", "in_letters", "plain_lines"]

_RECENT = 8
_WIDTH = 20


@dataclass(frozen=True, slots=True)
class Bar:
    """A node, or a machine on its way to one: how full it is of each resource, from 0 to 1, and what it costs."""

    name: str
    state: str
    size: str = ""
    zone: str = ""
    capacity_type: str = ""
    price: float | None = None
    pods: int = 0
    filled: Mapping[str, float] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        """Size, zone and capacity type in one text."""
        return " ".join(filter(None, (self.size, self.zone, self.capacity_type)))


@dataclass(frozen=True, slots=True)
class Frame:
    """All that there is at `t`. `bars` are nodes in order of creation, then NodeClaims without one; `recent`: the story's last lines.

    Machines of `unpriced` sizes count as nothing in the price.
    """

    t: float
    bars: Sequence[Bar]
    bound: int
    waiting: int
    price: float
    recent: Sequence[Happening]
    unpriced: Sequence[str] = ()


def frames(trace: Trace) -> Iterator[Frame]:
    """A frame for each moment, in order."""
    lines = list(story(trace))
    nodes: dict[str, Bar] = {}
    claims: dict[str, Bar] = {}
    pods: dict[str, bool] = {}
    price, heard = 0.0, 0
    unpriced: Sequence[str] = ()
    for t, facts in groupby(trace.facts, key=lambda fact: fact.t):
        for fact in facts:
            match fact:
                case NodeState():
                    _node(nodes, claims, fact)
                case ClaimState():
                    _claim(claims, nodes, fact)
                case Usage() if fact.node in nodes:
                    nodes[fact.node] = _filled(nodes[fact.node], fact)
                case PodState():
                    _pod(pods, fact)
                case Cost():
                    price, unpriced = fact.price, fact.unpriced
        while heard < len(lines) and lines[heard].t <= t:
            heard += 1
        bars = (*nodes.values(), *claims.values())
        bound = sum(pods.values())
        yield Frame(t, bars, bound, len(pods) - bound, price, tuple(lines[max(0, heard - _RECENT) : heard]), unpriced)


def _node(nodes: dict[str, Bar], claims: dict[str, Bar], fact: NodeState) -> None:
    if fact.state == "deleted":
        nodes.pop(fact.node, None)
        return
    before = nodes.get(fact.node)
    pods, filled = (before.pods, before.filled) if before is not None else (0, {})
    nodes[fact.node] = Bar(fact.node, fact.state, fact.size, fact.zone, fact.capacity_type, fact.price, pods, filled)
    claims.pop(fact.claim, None)


def _claim(claims: dict[str, Bar], nodes: Mapping[str, Bar], fact: ClaimState) -> None:
    if fact.state == "deleted" or (fact.node or fact.vm) in nodes:
        claims.pop(fact.claim, None)
    else:
        claims[fact.claim] = Bar(fact.claim, fact.state, fact.size, fact.zone, fact.capacity_type)


def _pod(pods: dict[str, bool], fact: PodState) -> None:
    if fact.state in ("deleted", "succeeded", "failed"):
        pods.pop(fact.pod, None)
    elif fact.state == "created":
        pods[fact.pod] = False
    elif fact.node:
        pods[fact.pod] = True


def _filled(bar: Bar, usage: Usage) -> Bar:
    shares = {
        name: min(1.0, usage.requests.get(name, 0) / total) for name, total in usage.allocatable.items() if total > 0
    }
    return Bar(bar.name, bar.state, bar.size, bar.zone, bar.capacity_type, bar.price, len(usage.pods), shares)


def plain_lines(trace: Trace) -> Iterator[str]:
    """The story in plain text, and the nodes of the last frame with their bars."""
    for line in story(trace):
        yield f"{duration_text(line.t):>10}  {'! ' if line.bad else '  '}{line.text}"
    film = list(frames(trace))
    if not film:
        return
    last = film[-1]
    yield ""
    yield frame_title(last)
    for bar in last.bars:
        price = f"{bar.price:.4f} USD/h" if bar.price is not None else ""
        shares = "  ".join(f"{name} {bar_text(bar.filled[name])}" for name in ("cpu", "memory") if name in bar.filled)
        yield "  ".join(filter(None, (f"  {bar.name}", bar.kind, bar.state, shares, f"{bar.pods} pods", price)))


def first_bars(bars: Sequence[Bar], room: int) -> tuple[Sequence[Bar], str]:
    """Return as many bars as there is room for, those on their way first, and one line about the others; all where they fit."""
    if len(bars) <= room:
        return bars, ""
    order = sorted(range(len(bars)), key=lambda number: (bars[number].state == "ready", number))
    shown = max(0, room - 1)
    left = [bars[number] for number in order[shown:]]
    states = Counter(bar.state for bar in left)
    counts = ", ".join(f"{count} {state}" for state, count in states.items())
    shares = [f"{name} {_mean(left, name)}" for name in ("cpu", "memory") if any(name in bar.filled for bar in left)]
    prices = [bar.price for bar in left if bar.price is not None]
    cost = [f"{sum(prices):.4f} USD/h"] if prices else []
    line = "; ".join([f"… and {len(left)} more: {counts}", *([f"{', '.join(shares)} full"] if shares else []), *cost])
    return [bars[number] for number in sorted(order[:shown])], line


def _mean(bars: Sequence[Bar], name: str) -> str:
    shares = [bar.filled[name] for bar in bars if name in bar.filled]
    return f"{100 * sum(shares) / len(shares):.0f} %"


_LETTERS = str.maketrans({"█": "#", "░": ".", "…": "...", "─": "-", "×": "x", "→": "->", "·": "-", "–": "-"})


def in_letters(text: str, encoding: str | None) -> str:
    """The text as an encoding can have it: blocks and dots in ASCII where it knows no others."""
    try:
        text.encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return text.translate(_LETTERS).encode("ascii", "replace").decode()
    return text


def frame_title(frame: Frame) -> str:
    """`at 46.1s: 2 nodes, 3 pods bound, 1 waiting, 0.2480 USD per hour`."""
    nodes = sum(bool(bar.filled) or bar.price is not None for bar in frame.bars)
    return (
        f"at {duration_text(frame.t)}: {nodes} node{'' if nodes == 1 else 's'}, {frame.bound} pods bound, {frame.waiting} waiting, "
        f"{frame.price:.4f} USD per hour" + (f" without {', '.join(frame.unpriced)}" if frame.unpriced else "")
    )


def bar_text(share: float, width: int = _WIDTH) -> str:
    """`███████░░░  70 %`."""
    full = round(share * width)
    return f"{'█' * full}{'░' * (width - full)} {share * 100:3.0f} %"
