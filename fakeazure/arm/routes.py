"""Routing: an ordered table of (method, path pattern, handler); the first match wins, as the table reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from fakeazure.arm.messages import Request, Response

State = TypeVar("State")
Handler = Callable[[State, Request], Response]


@dataclass(frozen=True, slots=True)
class Route(Generic[State]):
    """One row: `pattern` has ARM's path with `{name}` for a parameter; literals are matched without case.

    `versioned` is False for the few endpoints outside ARM that take no `api-version`. `resource` is the last literal
    segment: what faults and the journal call the thing (`virtualMachines`, `skus`).
    """

    method: str
    pattern: str
    handler: Handler[State]
    versioned: bool = True

    @property
    def segments(self) -> tuple[str, ...]:
        """The pattern, split, literals lower-cased."""
        return tuple(
            part if part.startswith("{") else part.lower() for part in self.pattern.strip("/").split("/") if part
        )

    @property
    def resource(self) -> str:
        """The last literal segment, in Azure's spelling."""
        literals = [part for part in self.pattern.strip("/").split("/") if part and not part.startswith("{")]
        return literals[-1] if literals else ""


@dataclass(frozen=True, slots=True)
class Match(Generic[State]):
    """A route and the path parameters it found."""

    route: Route[State]
    params: Mapping[str, str]


class Router(Generic[State]):
    """Finds the route of a request in a table, by path length first."""

    def __init__(self, routes: Iterable[Route[State]]) -> None:
        """Index `routes`, keeping their order."""
        self.routes = tuple(routes)
        self._by_length: dict[int, list[tuple[tuple[str, ...], Route[State]]]] = {}
        for route in self.routes:
            segments = route.segments
            self._by_length.setdefault(len(segments), []).append((segments, route))

    def find(self, method: str, path: str) -> Match[State] | None:
        """The first route for this method and path."""
        for segments, route in self._candidates(path):
            if route.method == method and (params := _params(segments, path)) is not None:
                return Match(route, params)
        return None

    def methods(self, path: str) -> tuple[str, ...]:
        """The methods that this path has."""
        return tuple(
            sorted({route.method for segments, route in self._candidates(path) if _params(segments, path) is not None})
        )

    def _candidates(self, path: str) -> list[tuple[tuple[str, ...], Route[State]]]:
        stripped = path.strip("/")
        return self._by_length.get(stripped.count("/") + 1 if stripped else 0, [])


def _params(segments: tuple[str, ...], path: str) -> dict[str, str] | None:
    params: dict[str, str] = {}
    stripped = path.strip("/")
    for pattern, part in zip(segments, stripped.split("/") if stripped else (), strict=True):
        if pattern.startswith("{"):
            params[pattern[1:-1]] = part
        elif pattern != part.lower():
            return None
    return params
