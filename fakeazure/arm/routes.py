"""Routing: an ordered table of (method, path pattern, handler); the first match wins, as the table reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from functools import cache, cached_property
from typing import Generic, TypeVar

from fakeazure.arm.messages import Request, Response
from fakeazure.arm.versions import RESOURCES
from lazyrecords import dataclass

State = TypeVar("State")
Handler = Callable[[State, Request], Response]


@dataclass(frozen=True, slots=True)
class Route(Generic[State]):
    """One row: `pattern` has ARM's path with `{name}` for a parameter; literals are matched without case.

    `versioned` is False for the few endpoints outside ARM that take no `api-version`. `resource` is the last literal
    segment: what faults and the journal call the thing (`virtualMachines`, `skus`). `namespace` and `type` are those of the
    last resource provider in the path (`Microsoft.Compute`, `locations/usages`), ARM's own where it names none, and empty
    where the path parameter `namespace` says it.
    """

    method: str
    pattern: str
    handler: Handler[State]
    versioned: bool = True
    resource: str = field(init=False)
    namespace: str = field(init=False)
    type: str = field(init=False)

    def __post_init__(self) -> None:
        """Every call asks for the resource."""
        for name, value in zip(("resource", "namespace", "type"), _about(self.pattern), strict=True):
            object.__setattr__(self, name, value)

    @property
    def segments(self) -> tuple[str, ...]:
        """The pattern, split, literals lower-cased."""
        return tuple(
            part if part.startswith("{") else part.lower() for part in self.pattern.strip("/").split("/") if part
        )


@cache
def _about(pattern: str) -> tuple[str, str, str]:
    """Resource, namespace and type of a pattern; most stand in several rows."""
    parts = [part for part in pattern.strip("/").split("/") if part]
    literals = [part for part in parts if not part.startswith("{")]
    after = parts[len(parts) - parts[::-1].index("providers") :] if "providers" in parts else []
    named = bool(after) and not after[0].startswith("{")
    types = [part for part in after[1:] if not part.startswith("{")] if named else literals
    asked = bool(after) and not named and any(not part.startswith("{") for part in after)
    return literals[-1] if literals else "", after[0] if named else "" if asked else RESOURCES, "/".join(types)


@dataclass(frozen=True, slots=True)
class Match(Generic[State]):
    """A route and the path parameters it found."""

    route: Route[State]
    params: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Pattern:
    """A route's segments: the literals, lower-cased, and the parameters, each with its place in the path."""

    literals: tuple[tuple[int, str], ...]
    parameters: tuple[tuple[int, str], ...]

    @staticmethod
    def of(segments: tuple[str, ...]) -> Pattern:
        """The pattern of `Route.segments`."""
        places = tuple(enumerate(segments))
        return Pattern(
            tuple((index, part) for index, part in places if not part.startswith("{")),
            tuple((index, part[1:-1]) for index, part in places if part.startswith("{")),
        )

    def fits(self, lowered: list[str]) -> bool:
        """Whether a path of as many segments, lower-cased, has the literals."""
        return all(lowered[index] == part for index, part in self.literals)


class Router(Generic[State]):
    """Finds the route of a request in a table, by path length first."""

    def __init__(self, routes: Iterable[Route[State]]) -> None:
        """Index `routes`, keeping their order."""
        self.routes = tuple(routes)
        self._rows: dict[tuple[str, int], list[Route[State]]] = {}
        self._patterns: dict[tuple[str, int], tuple[tuple[Pattern, Route[State]], ...]] = {}
        for route in self.routes:
            self._rows.setdefault((route.method, len(_split(route.pattern))), []).append(route)

    def find(self, method: str, path: str) -> Match[State] | None:
        """The first route for this method and path."""
        parts = _split(path)
        lowered = _split(path.lower())
        for pattern, route in self._of(method, len(parts)):
            if pattern.fits(lowered):
                return Match(route, {name: parts[index] for index, name in pattern.parameters})
        return None

    def _of(self, method: str, length: int) -> Sequence[tuple[Pattern, Route[State]]]:
        """The rows for paths of so many segments, read when the first such path is asked for."""
        key = (method, length)
        found = self._patterns.get(key)
        if found is None:
            found = tuple((Pattern.of(route.segments), route) for route in self._rows.get(key, ()))
            if found:
                self._patterns[key] = found
        return found

    @cached_property
    def types(self) -> Mapping[str, tuple[str, ...]]:
        """Namespace → the resource types in the table, by name."""
        found: dict[str, set[str]] = {}
        for route in self.routes:
            if route.type:
                found.setdefault(route.namespace, set()).add(route.type)
        return {name: tuple(sorted(types, key=str.lower)) for name, types in found.items()}

    def methods(self, path: str) -> tuple[str, ...]:
        """The methods that this path has."""
        lowered = _split(path.lower())
        known = sorted({method for method, length in self._rows if length == len(lowered)})
        return tuple(one for one in known if any(pattern.fits(lowered) for pattern, _ in self._of(one, len(lowered))))


def _split(path: str) -> list[str]:
    stripped = path.strip("/")
    if "//" in stripped:  # az writes such paths, ARM reads them
        return [part for part in stripped.split("/") if part]
    return stripped.split("/") if stripped else []
