"""The choice among equally good domains, where upstream takes the order of a Go map (docs/reference/chance.md)."""

from collections.abc import Callable, Sequence

Draw = Callable[[str, Sequence[str]], str]
"""Draws one of several values; the same name and the same values always give the same one."""


class Ties:
    """Decides ties: by ``draw``, or without one by name, the first.

    Every attempt to place a pod has draws of its own, named by the pass and by how often the pod was tried in it, so that
    whoever repeats a pass, with whatever it remembers, sees the same ones. ``count`` counts all draws. While ``wide`` is set,
    nothing is decided: all of the domains count, which tells whether any other draw could help.
    """

    __slots__ = ("_attempts", "_draw", "_drawn", "_name", "_number", "count", "wide")

    def __init__(self, draw: Draw | None = None, number: int = 0) -> None:
        self._draw, self._number = draw, number
        self._attempts: dict[str, int] = {}
        self._name, self._drawn = "", 0
        self.count, self.wide = 0, False

    def begin(self, pod: str) -> None:
        """Begin an attempt to place this pod."""
        if self._draw is not None:
            attempt = self._attempts[pod] = self._attempts.get(pod, 0) + 1
            self._name, self._drawn = f"{self._number}/{pod}/{attempt}", 0

    def among(self, domains: Sequence[str]) -> Sequence[str]:
        """The domain chosen among several, as the only item; all of them while ``wide`` is set."""
        if self._draw is None:
            return (min(domains),)
        if self.wide:
            return domains
        self.count += 1
        self._drawn += 1
        return (self._draw(f"{self._name}/{self._drawn}", sorted(domains)),)
