"""Routing: an ordered table of (method, path pattern, handler); the first match wins, as the table reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from functools import cache, cached_property
from operator import itemgetter
from typing import Generic, TypeVar

from fakeazure.arm.messages import Request, Response
from fakeazure.arm.versions import RESOURCES
from fakeazure.short_texts import remember_short
from lazyrecords import dataclass

_PATHS = 4096
"""Calls whose routes are remembered: a controller asks for the same short paths again and again."""

_ACTIONS: Mapping[str, str] = {"GET": "read", "HEAD": "read", "PUT": "write", "PATCH": "write", "DELETE": "delete"}
"""Method → what a role calls it."""
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
    # Of the paths under `{namespace}`, only those of its operations are its own; `{namespace}/register` is ARM's (Providers_Register).
    collection = len(after) > 2 and not named
    return literals[-1] if literals else "", after[0] if named else "" if collection else RESOURCES, "/".join(types)


@dataclass(frozen=True, slots=True)
class Match(Generic[State]):
    """A route and the path parameters it found."""

    route: Route[State]
    params: Mapping[str, str]


class Rows(Generic[State]):
    """The rows for one method and paths of one length. Those whose literals stand at the same places are one dictionary."""

    def __init__(self, routes: Iterable[Route[State]]) -> None:
        """Index `routes`, keeping their order."""
        self._shapes: dict[tuple[int, ...], dict[tuple[str, ...], tuple[int, Route[State], dict[str, int]]]] = {}
        for row, route in enumerate(routes):
            places = tuple(enumerate(route.segments))
            shape = self._shapes.setdefault(tuple(at for at, part in places if not part.startswith("{")), {})
            literals = tuple(part for _, part in places if not part.startswith("{"))
            shape.setdefault(literals, (row, route, {part[1:-1]: at for at, part in places if part.startswith("{")}))

    def first(self, lowered: Sequence[str]) -> tuple[Route[State], dict[str, int]] | None:
        """The first row whose literals such a path has, lower-cased, and the places of its parameters."""
        matches = [rows.get(tuple([lowered[at] for at in places])) for places, rows in self._shapes.items()]
        best = min((row for row in matches if row is not None), key=itemgetter(0), default=None)
        return None if best is None else best[1:]


class Router(Generic[State]):
    """Finds the route of a request in a table, by path length first."""

    def __init__(self, routes: Iterable[Route[State]]) -> None:
        """Index `routes`, keeping their order."""
        self.routes = tuple(routes)
        self._rows: dict[tuple[str, int], list[Route[State]]] = {}
        self._indexed: dict[tuple[str, int], Rows[State]] = {}
        self._found = remember_short(_PATHS, lambda method, path: len(path))(self._search)
        for route in self.routes:
            self._rows.setdefault((route.method, len(_split(route.pattern))), []).append(route)

    def find(self, method: str, path: str) -> Match[State] | None:
        """The first route for this method and path."""
        return self._found(method, path)

    def _search(self, method: str, path: str) -> Match[State] | None:
        parts = _split(path)
        rows = self._of(method, len(parts))
        match = rows.first(_split(path.lower())) if rows is not None else None
        if match is None:
            return None
        route, parameters = match
        return Match(route, {name: parts[at] for name, at in parameters.items()})

    def _of(self, method: str, length: int) -> Rows[State] | None:
        """The rows for paths of so many segments, read when the first such path is asked for; None where there are none."""
        key = (method, length)
        rows = self._indexed.get(key)
        if rows is None and key in self._rows:
            rows = self._indexed[key] = Rows(self._rows[key])
        return rows

    @cached_property
    def types(self) -> Mapping[str, tuple[str, ...]]:
        """Namespace → the resource types in the table, by name."""
        types_by_namespace: dict[str, set[str]] = {}
        for route in self.routes:
            if route.type:
                types_by_namespace.setdefault(route.namespace, set()).add(route.type)
        return {name: tuple(sorted(types, key=str.lower)) for name, types in types_by_namespace.items()}

    @cached_property
    def actions(self) -> Mapping[str, Mapping[str, tuple[str, ...]]]:
        """Namespace → resource type → what can be done to it in the names of roles: `read`, `write`, `delete`, `start/action`."""
        by_namespace: dict[str, dict[str, set[str]]] = {}
        for route in self.routes:
            if not route.type or route.type.startswith("providers/"):
                continue
            type_, action = route.type, _ACTIONS.get(route.method, "")
            if route.method == "POST":
                type_, _, leaf = type_.rpartition("/")
                action = f"{leaf}/action"
            by_namespace.setdefault(route.namespace, {}).setdefault(type_, set()).add(action)
        return {
            name: {type_: tuple(sorted(actions)) for type_, actions in sorted(types.items())}
            for name, types in by_namespace.items()
        }

    def methods(self, path: str) -> tuple[str, ...]:
        """The methods that this path has."""
        lowered = _split(path.lower())
        methods = (
            (candidate, self._of(candidate, len(lowered))) for candidate in sorted({method for method, _ in self._rows})
        )
        return tuple(method for method, rows in methods if rows is not None and rows.first(lowered) is not None)


def _split(path: str) -> list[str]:
    stripped = path.strip("/")
    if "//" in stripped:  # az writes such paths, ARM reads them
        return [part for part in stripped.split("/") if part]
    return stripped.split("/") if stripped else []
