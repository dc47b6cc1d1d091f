"""Paths of the API: those of kinds, and the target that a path names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.kube.api.kinds import KINDS, Kind

SUBRESOURCES: Mapping[str, frozenset[str]] = {
    "Pod": frozenset({"status", "binding", "eviction"}),
    "Deployment": frozenset({"status", "scale"}),
    "ReplicaSet": frozenset({"status", "scale"}),
    "ReplicationController": frozenset({"status", "scale"}),
    "StatefulSet": frozenset({"status", "scale"}),
}
"""Subresources of the objects of a kind. Kinds that are not listed have `status`, if any."""


def subresources(kind: Kind) -> frozenset[str]:
    """The subresources of a kind."""
    return SUBRESOURCES.get(kind.kind, frozenset({"status"} if kind.status_subresource else ()))


def root(api_version: str) -> str:
    """`/api/v1`, or `/apis/GROUP/VERSION`."""
    return f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"


def path_of(kind: Kind, namespace: str = "", name: str = "", subresource: str = "", *, api_version: str = "") -> str:
    """The path of a collection (no name; no namespace: in all namespaces), an object, or a subresource."""
    parts = [root(api_version or kind.api_version)]
    if kind.namespaced and namespace:
        parts += ["namespaces", namespace]
    parts.append(kind.plural)
    parts += [part for part in (name, subresource) if part]
    return "/".join(parts)


@dataclass(frozen=True, slots=True)
class Target:
    """The target of a path. `api_version` is the one in the path (a kind may be served in several)."""

    kind: Kind
    api_version: str
    namespace: str = ""
    name: str = ""
    subresource: str = ""


def parse(path: str, kinds: Mapping[tuple[str, str], Kind]) -> Target | None:
    """Return the target of a path below `/api` or `/apis`, or None; `kinds` maps (apiVersion, plural) to the served kinds."""
    parts = [part for part in path.split("/") if part]
    if len(parts) >= 3 and parts[0] == "api":
        api_version, rest = parts[1], parts[2:]
    elif len(parts) >= 4 and parts[0] == "apis":
        api_version, rest = f"{parts[1]}/{parts[2]}", parts[3:]
    else:
        return None
    return _target(api_version, rest, kinds)


def _target(api_version: str, rest: Sequence[str], kinds: Mapping[tuple[str, str], Kind]) -> Target | None:
    namespace = ""
    # /namespaces/NAME[/status] is the Namespace itself; anything longer lies in it
    if rest[0] == "namespaces" and len(rest) > 2 and (api_version, rest[2]) in kinds:
        namespace, rest = rest[1], rest[2:]
    kind = kinds.get((api_version, rest[0]))
    if kind is None or len(rest) > 3 or (namespace and not kind.namespaced):
        return None
    name = rest[1] if len(rest) > 1 else ""
    subresource = rest[2] if len(rest) > 2 else ""
    return Target(kind, api_version, namespace, name, subresource)


def served_kinds() -> dict[tuple[str, str], Kind]:
    """(apiVersion, plural) → kind, for everything that the memory store keeps."""
    return {(kind.api_version, kind.plural): kind for kind in KINDS.values()}
