"""Requests in good HTTP, drawn from a seeded generator: every operation that is served, with a body like its own that is changed here
and there; templates of random expressions; random queries and filters, also such as cost much."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import quote

from fakeazure.resources.deployments.template_functions import FUNCTIONS as TEMPLATE_FUNCTIONS
from fakeazure.resources.graph.kql_functions import COMPARISONS, FUNCTIONS, MEASURES
from tests.cloud.exchanges import AREAS, made
from tests.transports.guarded import SECRET
from tests.transports.malformed import GROUP, JUNK, ROOT

VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**31, 2**63 - 1, 2**63, 1.5, 1e308, "", "x", "a" * 3000, "\u0000", "\ud800", "٣", "²", "NaN", "1", "-1",
    "0.0.0.0/0", "::/0", "eastus", "nowhere", "Standard_D2s_v5", "Deleting", "/", "/subscriptions", "//", "[", "[x]", "[[x]", "9" * 400,
    [], {}, [[]], [None], ["x"] * 50, {"": ""}, {"a": {"a": {"a": 1}}}, {"id": []}, {"id": "/x"}, [{}], [{"name": 1}],
    {"id": f"{GROUP}/Microsoft.Compute/disks/d"},
)  # fmt: skip
"""What a place in a body is changed to."""
NAMES = ("a", "b", "c", "aks-a", "A", "d", "v", "s", "x" * 300, "a b", "ü", "..", "'", "0", "default", "a%2Fb")
"""What a name in a path is changed to, some as other resources are called."""


@dataclass(frozen=True)
class Ask:
    """One request as it is meant."""

    method: str
    path: str
    query: Mapping[str, str]
    body: Any

    def sent(self, token: str) -> bytes:
        """As bytes."""
        content = b"" if self.body is None else json.dumps(self.body).encode("utf-8", "surrogatepass")
        query = "&".join(f"{_quoted(key, '$')}={_quoted(value, '')}" for key, value in self.query.items())
        target = _quoted(self.path, "/%$'") + (f"?{query}" if query else "")
        bearer = SECRET if self.path.startswith("/_fakeazure/") else token
        headers = ("Host: 127.0.0.1", f"Authorization: Bearer {bearer}", f"Content-Length: {len(content)}", "", "")
        return "\r\n".join((f"{self.method} {target} HTTP/1.1", *headers)).encode() + content


def _quoted(text: str, safe: str) -> str:
    return quote(text, safe=safe, errors="replace")


@cache
def corpus() -> tuple[Ask, ...]:
    """Every operation that is served, with a body that it takes."""
    calls = [call for area in AREAS for call in made(area).driver.cloud.journal]
    asked = {(call.method, call.path, json.dumps(call.body, default=dict)): call for call in calls}
    return tuple(Ask(call.method, call.path, call.query, json.loads(body)) for (_, _, body), call in asked.items())


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every path into a document."""
    if path:
        yield path
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in entries:
        yield from places(inner, (*path, key))


def changed(rng: random.Random, body: Any) -> Any:
    """A body with another value at a place or two."""
    body = copy.deepcopy(body)
    for _ in range(rng.choice((0, 0, 1, 1, 2, 4))):
        paths = list(places(body))
        if not paths:
            return body
        holder, where = body, rng.choice(paths)
        for key in where[:-1]:
            holder = holder[key]
        if rng.random() < 0.15 and isinstance(holder, dict):
            del holder[where[-1]]
        else:
            holder[where[-1]] = copy.deepcopy(rng.choice(VALUES))
    return body


def operation(rng: random.Random) -> Ask:
    """An operation that is served, often with something else in its path, query or body."""
    ask = rng.choice(corpus())
    if ask.method == "DELETE" and rng.random() < (0.98 if ask.path.count("/") < 9 else 0.6):
        ask = rng.choice(corpus())  # or there would be little left to ask about
    parts = ask.path.split("/")
    if rng.random() < 0.25:
        parts[rng.randrange(len(parts))] = rng.choice(NAMES)
    query = dict(ask.query)
    if rng.random() < 0.1:
        key = rng.choice((*query, "$filter", "$top", "$skiptoken", "$expand", "api-version", "statusOnly", "monitor"))
        query[key] = rng.choice((*JUNK, "instanceView", "true", "2", "eq", "location eq 'eastus'"))
    method = ask.method if rng.random() < 0.95 else rng.choice(("GET", "PUT", "PATCH", "POST", "DELETE", "HEAD"))
    body = changed(rng, ask.body)
    if rng.random() < 0.03:
        body = rng.choice(VALUES)
    return Ask(method, "/".join(parts), query, body)


# --- templates ------------------------------------------------------------------------------------------------------

LITERALS = (
    "'a'", "''", "'[{0}]'", "0", "-1", "9223372036854775807", "99999999999999999999", "parameters('p')", "variables('v')", "variables('w')",
    "variables('big')", "resourceGroup()", "resourceGroup().location", "subscription().id", "deployment().name", "reference('a')",
    "resourceId('Microsoft.Compute/disks', 'a')", "range(0, 10000)", "json('[1.5, null]')", "createObject('a', createArray(1))",
)  # fmt: skip


def expression(rng: random.Random, depth: int = 0) -> str:
    """An expression of a template, without its brackets."""
    if depth > 3 or rng.random() < 0.3:
        return rng.choice(LITERALS)
    name = rng.choice((*TEMPLATE_FUNCTIONS, "resourceId", "reference", "subscriptionResourceId", "frob"))
    arguments = [expression(rng, depth + 1) for _ in range(rng.randrange(4))]
    return f"{name}({', '.join(arguments)}){rng.choice(('', '', '', '.a', '[0]', '[-1]', '.name'))}"


def _maybe(rng: random.Random, usual: Any) -> Any:
    """A part of a template: mostly as usual, else an expression or something else."""
    kind = rng.random()
    return usual if kind < 0.7 else f"[{expression(rng)}]" if kind < 0.9 else copy.deepcopy(rng.choice(VALUES))


def bomb(rng: random.Random) -> dict[str, Any]:
    """Variables whose values or evaluation grow."""
    grown = rng.choice(
        (
            "[concat(variables('v{n}'), variables('v{n}'))]",
            "[createArray(variables('v{n}'), variables('v{n}'))]",
            "[replace(variables('v{n}'), 'a', variables('v{n}'))]",
            "[format('{{0}}{{0}}{{0}}', variables('v{n}'))]",
            "[variables('v{n}')]",
            "[string(createArray(variables('v{n}'), variables('v{n}')))]",
            "[union(range(0, 9999), createArray(variables('v{n}')))]",
        )
    )
    count = rng.choice((10, 30, 200, 600))
    first = rng.choice(("a", "a" * 20_000, "[variables('v1')]"))
    return {
        "v0": first,
        **{f"v{n + 1}": grown.replace("{n}", str(n)) for n in range(count)},
        "big": f"[variables('v{count}')]",
    }


def deployment(rng: random.Random) -> Ask:
    """A deployment of a template, in random order and with random expressions."""
    names = [f"t{n}" for n in range(rng.choice((0, 1, 2, 5, 40)))]
    resources = [
        {
            "type": _maybe(rng, "Microsoft.Compute/disks"),
            "name": _maybe(rng, name),
            "apiVersion": _maybe(rng, "2025-01-02"),
            "location": "eastus",
            "condition": _maybe(rng, True),
            "dependsOn": _maybe(rng, rng.sample(names, rng.randrange(min(4, len(names) + 1)))),
            "properties": _maybe(rng, {"creationData": {"createOption": "Empty"}, "diskSizeGB": _maybe(rng, 4)}),
        }
        for name in names
    ]
    variables = bomb(rng) if rng.random() < 0.3 else {"big": "a" * 100}
    type_ = rng.choice(("string", "int", "array", "object", "secureString", "x"))
    symbolic = dict(zip(names, resources, strict=True))
    template = {
        "parameters": {"p": {"type": type_, "defaultValue": _maybe(rng, "a")}},
        "variables": _maybe(rng, {"v": _maybe(rng, "a"), "w": f"[{expression(rng)}]", **variables}),
        "resources": resources if rng.random() < 0.9 else _maybe(rng, symbolic),
        "outputs": _maybe(rng, {"o": {"type": "object", "value": f"[{expression(rng)}]"}}),
    }
    path = f"{GROUP}/Microsoft.Resources/deployments/{rng.choice(('d', 'e', 'f'))}"
    leaf, method = ("", "PUT") if rng.random() < 0.8 else ("/validate", "POST")
    given = {"p": {"value": _maybe(rng, "a")}} if rng.random() < 0.2 else {}
    properties = {"mode": "Incremental", "template": template, "parameters": given}
    return Ask(method, path + leaf, {"api-version": "2021-04-01"}, {"properties": properties})


# --- queries --------------------------------------------------------------------------------------------------------

_SCALARS = (
    "name", "type", "properties", "tags", "zones", "x", "y", "properties.hardwareProfile.vmSize", "tags['a']", "zones[0]", "1", "-1.5",
    "''", "'a'", "todouble('nan')", "todouble('1e999')", "9223372036854775807", "99999999999999999999", "tolong('" + "9" * 500 + "')",
    "'" + "a" * 5000 + "'", "²", "true",
)  # fmt: skip


def _conditions(rng: random.Random) -> str:
    terms = [f"{_scalar(rng)} {rng.choice([*COMPARISONS])} {_scalar(rng)}" for _ in range(rng.choice((1, 2, 20, 500)))]
    return "where " + rng.choice((" and ", " or ")).join(terms)


def _nested(rng: random.Random) -> str:
    deep = rng.choice((1, 30, 500))
    return f"where {'not(' * deep}true{')' * deep}"


_ONES = "'a', 'aaaaaaaaaa'"
_STAGES: Sequence[Callable[[random.Random], str]] = (
    _conditions,
    _nested,
    lambda rng: f"where {_scalar(rng)} in ({_scalar(rng)}, {_scalar(rng)})",
    lambda rng: f"extend x = {_scalar(rng)}",
    lambda rng: "extend x = name " + "| extend x = strcat(x, x) " * rng.choice((1, 10, 40)) + "| project x",
    lambda rng: "extend x = name " + f"| extend x = replace_string(x, {_ONES}) " * rng.choice((1, 9)),
    lambda rng: f"extend x = name{' + 1' * rng.choice((1, 3000))}",
    lambda rng: f"project x = properties{'.a' * rng.choice((1, 3000))}",
    lambda rng: "project " + ", ".join(_scalar(rng) for _ in range(rng.choice((1, 3, 300)))),
    lambda rng: f"summarize {rng.choice([*MEASURES])}({_scalar(rng)}) by {_scalar(rng)}",
    lambda rng: "summarize a = make_list(properties) | extend b = a, c = a | mv-expand a | mv-expand b | mv-expand c",
    lambda rng: f"order by {_scalar(rng)} asc, {_scalar(rng)} desc nulls first",
    lambda rng: "extend k = 1 " + "| join kind=inner (Resources | extend k = 1) on k " * rng.choice((1, 2, 6)),
    lambda rng: "union (Resources) " + "| union (Resources) " * rng.choice((1, 50)),
    lambda rng: f"distinct {_scalar(rng)}",
    lambda rng: f"top {rng.choice(('1', '0', '²', '999999999', '-1'))} by {_scalar(rng)}",
    lambda rng: "//" + "/" * rng.choice((1, 30_000)) + "\n | count",
)


def _scalar(rng: random.Random, depth: int = 0) -> str:
    if depth > 2 or rng.random() < 0.5:
        return rng.choice(_SCALARS)
    arguments = ", ".join(_scalar(rng, depth + 1) for _ in range(rng.randrange(4)))
    return f"{rng.choice([*FUNCTIONS])}({arguments})"


def graph(rng: random.Random) -> Ask:
    """A query of Resource Graph."""
    table = rng.choice(("Resources", "Resources", "Resources", "ResourceContainers", "Other", ""))
    query = f"{table} | " + " | ".join(rng.choice(_STAGES)(rng) for _ in range(rng.choice((1, 1, 2, 3))))
    if rng.random() < 0.2:
        place = rng.randrange(len(query))
        query = query[:place] + rng.choice(JUNK) + query[place:]
    options = {rng.choice(("$top", "$skip", "$skipToken")): rng.choice(VALUES)} if rng.random() < 0.2 else {}
    body = {"query": query, "options": options}
    return Ask("POST", "/providers/Microsoft.ResourceGraph/resources", {"api-version": "2024-04-01"}, body)


_LISTS = (
    f"{ROOT}/resources",
    f"{ROOT}/resourceGroups",
    f"{ROOT}/providers/Microsoft.Compute/skus",
    "/api/retail/prices",
)
_FIELDS = ("location", "armRegionName", "armSkuName", "resourceType", "tagName", "name", "a/b")
_TERMS = ("{} eq 'eastus'", "{} ne 1", "contains({}, 'a')", "not startswith({}, 'x')", "({} gt 1.5)", "{} eq 'West US'")


def filtered(rng: random.Random) -> Ask:
    """A list under a filter."""
    terms = [rng.choice(_TERMS).format(rng.choice(_FIELDS)) for _ in range(rng.choice((1, 2, 20, 99, 400)))]
    text = rng.choice((" and ", " or ")).join(terms)[: rng.choice((20, 12_000, 12_000))]
    return Ask("GET", rng.choice(_LISTS), {"api-version": "2021-07-01", "$filter": text}, None)


def reset(rng: random.Random) -> Ask:
    """A new beginning: what was deleted is there again."""
    return Ask("POST", "/_fakeazure/reset", {}, None)


def request(rng: random.Random, token: str) -> list[bytes]:
    """The bytes of one request."""
    if rng.random() < 0.002:
        return [reset(rng).sent(token)]
    kind = rng.random()
    draw = operation if kind < 0.7 else deployment if kind < 0.82 else graph if kind < 0.95 else filtered
    return [draw(rng).sent(token)]
