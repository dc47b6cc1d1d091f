"""Tags at any scope, and the names that a subscription uses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fakeazure.arm.bodies import body_of, pairs, section, text
from fakeazure.arm.ids import ResourceId
from fakeazure.arm.messages import Request, Response
from fakeazure.arm.routes import Route
from fakeazure.arm.texts import refuse
from fakeazure.resources.groups import GROUP, ONE
from fakeazure.state import State

_TAGS = "Microsoft.Resources/tags"


def _tags_of(state: State, request: Request) -> tuple[str, Mapping[str, str], ResourceId | None]:
    """(scope, tags, id of the resource, None for a subscription or group) of the scope that a request names."""
    scope = request.path[: request.path.lower().rindex("/providers/microsoft.resources/tags")]
    if "group" not in request.params:
        return scope, state.subscription_tags.get(request.params["subscription"].lower(), {}), None
    if "resource" not in request.params:
        group = state.group(request.params["subscription"], request.params["group"])
        return group["id"], group["tags"], None
    try:
        entry = state.found(ResourceId.parse(scope))
    except ValueError:
        raise refuse("InvalidResourceType", namespace="Microsoft.Resources", version=request.api_version) from None
    return str(entry.id), entry.document.get("tags") or {}, entry.id


def _show_tags(scope: str, tags: Mapping[str, str]) -> Response:
    id_ = f"{scope}/providers/{_TAGS}/default"
    return Response(200, body={"id": id_, "name": "default", "type": _TAGS, "properties": {"tags": dict(tags)}})


def _get_tags(state: State, request: Request) -> Response:
    scope, tags, _ = _tags_of(state, request)
    return _show_tags(scope, tags)


def _set_tags(state: State, request: Request) -> Response:
    """PUT replaces, PATCH does what its `operation` says, DELETE clears."""
    scope, old, id_ = _tags_of(state, request)
    if request.method == "DELETE":
        tags: dict[str, str] = {}
    else:
        body = body_of(request)
        changes = pairs(section(body, "properties"), "tags")
        how = text(body, "operation", "Replace") if request.method == "PATCH" else "Replace"
        tags = {
            "merge": {**old, **changes},
            "delete": {key: value for key, value in old.items() if changes.get(key) != value},
        }.get(how.lower(), changes)
    if "group" not in request.params:
        state.subscription_tags[request.params["subscription"].lower()] = tags
    elif id_ is None:
        key = (request.params["subscription"].lower(), request.params["group"].lower())
        state.groups[key] = {**state.groups[key], "tags": tags}
    else:
        state.store.put(id_, {**state.found(id_).document, "tags": tags})
    return _show_tags(scope, tags) if request.method != "DELETE" else Response(200)


def _names(state: State, request: Request) -> Response:
    """The names of tags of groups and resources, with how often each has which value."""
    subscription = request.params["subscription"].lower()
    counts: dict[str, dict[str, int]] = {}
    groups = [group["tags"] for (owner, _), group in state.groups.items() if owner == subscription]
    resources = (entry for entry in state.store.all() if entry.id.subscription.lower() == subscription)
    for tags in (*groups, *(entry.document.get("tags") or {} for entry in resources if len(entry.id.types) == 1)):
        for name, value in tags.items():
            values = counts.setdefault(name, {})
            values[value] = values.get(value, 0) + 1
    head = f"/subscriptions/{request.params['subscription']}/tagNames"
    rows: list[dict[str, Any]] = []
    for name, values in counts.items():
        shown = [
            {"id": f"{head}/{name}/tagValues/{value}", "tagValue": value, "count": {"type": "Total", "value": count}}
            for value, count in values.items()
        ]
        total = {"type": "Total", "value": sum(values.values())}
        rows.append({"id": f"{head}/{name}", "tagName": name, "count": total, "values": shown})
    return Response(200, body={"value": rows})


def routes() -> Iterator[Route[State]]:
    """The rows of the routing table."""
    yield Route("GET", f"{ONE}/tagNames", _names)
    resource = f"{GROUP}/providers/{{namespace}}/{{type}}/{{resource}}"
    for scope in (ONE, GROUP, resource):
        tags = f"{scope}/providers/{_TAGS}/default"
        yield Route("GET", tags, _get_tags)
        for method in ("PUT", "PATCH", "DELETE"):
            yield Route(method, tags, _set_tags)
