"""Routing: an ordered table of (method, path pattern, handler); the first match wins, as the table reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from functools import cached_property
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
        parts = [part for part in self.pattern.strip("/").split("/") if part]
        literals = [part for part in parts if not part.startswith("{")]
        object.__setattr__(self, "resource", literals[-1] if literals else "")
        after = parts[len(parts) - parts[::-1].index("providers") :] if "providers" in parts else []
        named = bool(after) and not after[0].startswith("{")
        types = [part for part in after[1:] if not part.startswith("{")] if named else literals
        asked = bool(after) and not named and any(not part.startswith("{") for part in after)
        object.__setattr__(self, "namespace", after[0] if named else "" if asked else RESOURCES)
        object.__setattr__(self, "type", "/".join(types))

    @property
    def segments(self) -> tuple[str, ...]:
        """The pattern, split, literals lower-cased."""
        return tuple(
            part if part.startswith("{") else part.lower() for part in self.pattern.strip("/").split("/") if part
        )


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
        self._by_length: dict[int, list[tuple[Pattern, Route[State]]]] = {}
        for route in self.routes:
            pattern = Pattern.of(route.segments)
            self._by_length.setdefault(len(route.segments), []).append((pattern, route))

    def find(self, method: str, path: str) -> Match[State] | None:
        """The first route for this method and path."""
        parts = _split(path)
        lowered = _split(path.lower())
        for pattern, route in self._by_length.get(len(parts), ()):
            if route.method == method and pattern.fits(lowered):
                return Match(route, {name: parts[index] for index, name in pattern.parameters})
        return None

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
        candidates = self._by_length.get(len(lowered), ())
        return tuple(sorted({route.method for pattern, route in candidates if pattern.fits(lowered)}))


def _split(path: str) -> list[str]:
    stripped = path.strip("/")
    if "//" in stripped:  # az writes such paths, ARM reads them
        return [part for part in stripped.split("/") if part]
    return stripped.split("/") if stripped else []
