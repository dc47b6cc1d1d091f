"""Edits of objects, as advice proposes them: each changes a copy in place."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

__all__ = [
    "Edit",
    "in_spec",
    "of_requirement",
    "preferring",
    "renaming",
    "renaming_resource",
    "replacing",
    "requesting",
    "setting",
    "tolerating",
    "without",
    "without_term",
]

Edit = Callable[[dict[str, Any]], None]
"""Changes a pod (or the template of a workload's pods), a NodePool, an AKSNodeClass or a claim in place."""


def without(path: Sequence[str | int], last: str | int) -> Edit:
    """Take the part `last` away from what is at `path`."""

    def edit(obj: dict[str, Any]) -> None:
        holder: Any = obj
        for part in path:
            holder = holder[part]
        del holder[last]

    return edit


def without_term(path: Sequence[str | int], index: int) -> Edit:
    """Take an expression away from the list at `path` in a pod's required node affinity.

    A term without expressions matches no Node (kubernetes pkg/apis/core/types.go, NodeSelectorTerm). One whose last expression goes
    would match every Node instead, and with it all terms together do, so the whole requirement goes.
    """

    def edit(pod: dict[str, Any]) -> None:
        without(path, index)(pod)
        term: Any = pod
        for part in path[:-1]:
            term = term[part]
        if not term.get("matchExpressions") and not term.get("matchFields"):
            del pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]

    return edit


def setting(path: Sequence[str | int], last: str | int, value: Any) -> Edit:
    """Set the part `last` of what is at `path`; maps on the way are made."""

    def edit(obj: dict[str, Any]) -> None:
        holder: Any = obj
        for part in path:
            if isinstance(part, str) and isinstance(holder, dict) and holder.get(part) is None:
                holder[part] = {}
            holder = holder[part]
        holder[last] = value

    return edit


def in_spec(path: Sequence[str], value: Any) -> Edit:
    """Set a field below `spec`; None takes it away."""

    def edit(obj: dict[str, Any]) -> None:
        holder = obj["spec"] = obj.get("spec") or {}
        for part in path[:-1]:
            holder[part] = holder.get(part) or {}
            holder = holder[part]
        if value is None:
            holder.pop(path[-1], None)
        else:
            holder[path[-1]] = value

    return edit


def renaming(path: Sequence[str | int], key: str, other: str) -> Edit:
    """Give an entry of the map at `path` another key, unless it has that already."""

    def edit(obj: dict[str, Any]) -> None:
        holder: Any = obj
        for part in path:
            holder = holder[part]
        if key in holder:
            holder[other] = holder.pop(key)

    return edit


def replacing(path: Sequence[str | int], key: str, other: str, value: str) -> Edit:
    """Put another entry in the place of one of the map at `path`."""

    def edit(obj: dict[str, Any]) -> None:
        holder: Any = obj
        for part in path:
            holder = holder[part]
        del holder[key]
        holder[other] = value

    return edit


def tolerating(toleration: Mapping[str, Any]) -> Edit:
    """Add a toleration to a pod."""

    def edit(pod: dict[str, Any]) -> None:
        pod["spec"]["tolerations"] = [*(pod["spec"].get("tolerations") or ()), toleration]

    return edit


def requesting(container: int, resource: str, amount: str) -> Edit:
    """Set the request of a container of a pod, and the limit of an extended resource with it, for the two have to be equal."""

    def edit(pod: dict[str, Any]) -> None:
        resources = pod["spec"]["containers"][container].setdefault("resources", {})
        resources["requests"] = {**(resources.get("requests") or {}), resource: amount}
        if resource in (resources.get("limits") or ()) and "/" in resource:
            resources["limits"] = {**resources["limits"], resource: amount}

    return edit


def preferring(kind: str, index: int) -> Edit:
    """Make a required term of a pod's `podAffinity` or `podAntiAffinity` a preferred one."""

    def edit(pod: dict[str, Any]) -> None:
        rules = pod["spec"]["affinity"][kind]
        term = rules["requiredDuringSchedulingIgnoredDuringExecution"].pop(index)
        preferred = rules.get("preferredDuringSchedulingIgnoredDuringExecution") or ()
        rules["preferredDuringSchedulingIgnoredDuringExecution"] = [
            *preferred,
            {"weight": 100, "podAffinityTerm": term},
        ]

    return edit


def renaming_resource(container: int, name: str, other: str) -> Edit:
    """Rename a resource that a container of a pod requests, or is limited to."""

    def edit(pod: dict[str, Any]) -> None:
        resources = pod["spec"]["containers"][container].get("resources") or {}
        for amounts in (resources.get("requests"), resources.get("limits")):
            if amounts and name in amounts:
                amounts[other] = amounts.pop(name)

    return edit


def of_requirement(wanted: Mapping[str, Any], change: Callable[[list[dict[str, Any]], int], None]) -> Edit:
    """Change the requirement of a NodePool that reads like `wanted`, where it still has it."""

    def edit(pool: dict[str, Any]) -> None:
        requirements = pool["spec"]["template"]["spec"]["requirements"]
        alike = (wanted["key"], wanted["operator"], wanted.get("values"))
        for index, requirement in enumerate(requirements):
            if (requirement["key"], requirement["operator"], requirement.get("values")) == alike:
                change(requirements, index)
                return

    return edit
