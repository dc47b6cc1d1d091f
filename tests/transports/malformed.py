"""Malformed requests, drawn from a seeded generator: bytes of a request line, headers and a body that are often wrong."""

from __future__ import annotations

import json
import random

from fakeazure.beginning import SUBSCRIPTION, TENANT

ROOT = f"/subscriptions/{SUBSCRIPTION}"
GROUP = f"{ROOT}/resourceGroups/MC_rg_c_eastus/providers"
POOL = f"{ROOT}/resourceGroups/rg/providers/Microsoft.ContainerService/managedClusters/c/agentPools/aksmanagedap"
PATHS = (
    f"{ROOT}/providers/Microsoft.Compute/skus?api-version=2021-07-01&$filter=location eq 'eastus'",
    f"{ROOT}/providers/Microsoft.Compute/locations/eastus/usages?api-version=2025-04-01",
    f"{GROUP}/Microsoft.Compute/virtualMachines/v?api-version=2025-04-01",
    f"{GROUP}/Microsoft.Network/networkInterfaces/n?api-version=2022-01-01",
    f"{GROUP}/Microsoft.Network/virtualNetworks/w/subnets/s?api-version=2022-01-01",
    f"{GROUP}/Microsoft.Compute/disks/d?api-version=2025-01-02",
    f"{POOL}/machines/m?api-version=2026-04-02-preview",
    f"{POOL}/deleteMachines?api-version=2026-04-02-preview",
    f"{ROOT}/resourceGroups/new?api-version=2021-04-01",
    "/providers/Microsoft.ResourceGraph/resources?api-version=2024-04-01",
    "/api/retail/prices?$filter=armRegionName eq 'eastus'",
    f"/{TENANT}/oauth2/v2.0/token",
    "/msi/token?resource=x",
    "/metadata/endpoints",
    "/common/discovery/instance?authorization_endpoint=https://[",
    "/",
    "*",
    "http://[::1",
    "/subscriptions/%00/%ff%fe/..%2f..%2f",
)
VERBS = ("GET", "PUT", "PATCH", "POST", "DELETE", "HEAD", "OPTIONS", "TRACE", "CONNECT", "BREW", "get", "G\x01T", "")
JUNK = (
    "''", "(", ")", "not ", "eq", "%27", "\u00fc", "%", "%zz", "[", "]", "{", "9" * 400, "-1", "1e999", "null", "true", "a/b/c",
    "$skiptoken=", "&$top=", "&$filter=", "api-version=", "../", "\\", '"', "|", "where ", "\ud800", "\x7f",
)  # fmt: skip


def nested(rng: random.Random) -> str:
    """Text that is nested deeply, as JSON, as a filter or as a query."""
    deep = rng.choice((10, 70, 900, 5000, 100_000))
    return rng.choice(
        (
            "[" * deep,
            "[" * deep + "]" * deep,
            '{"a":' * deep + "1" + "}" * deep,
            json.dumps({"query": "Resources | where " + "(" * min(deep, 20_000) + "a == 1"}),
            json.dumps(
                {"query": "Resources | where " + "not(" * min(deep, 20_000) + "a == 1" + ")" * min(deep, 20_000)}
            ),
            json.dumps({"query": "Resources | where " + " and ".join(["a == 1"] * min(deep, 20_000))}),
            json.dumps({"query": "Resources" + " | limit 1" * min(deep, 20_000)}),
            json.dumps({"properties": {"ipConfigurations": [{"name": "x" * deep}] * 50}}),
            json.dumps({"location": "eastus", "properties": {"addressPrefix": f"{deep}.0.0.0/0"}}),
        )
    )


SCALARS = (
    None, True, 0, -1, 1e308, 10**30, "", "x", "eastus", "Standard_D2s_v5", "\u0000", "\ud800", "a" * 5000, "0.0.0.0/0",
)  # fmt: skip


def value(rng: random.Random, depth: int = 0) -> object:
    """Some JSON with the names that handlers look for."""
    names = (
        "properties", "location", "zones", "tags", "hardwareProfile", "vmSize", "storageProfile", "osDisk", "diskSizeGB", "sku", "name",
        "networkProfile", "networkInterfaces", "id", "ipConfigurations", "subnet", "addressPrefix", "subnets", "machineNames", "query",
        "options", "$top", "$skip", "subscriptions", "identity", "userAssignedIdentities", "priority", "osProfile", "hardware",
    )  # fmt: skip
    kind = rng.random()
    if depth > 4 or kind < 0.35:
        return rng.choice(SCALARS)
    if kind < 0.5:
        return [value(rng, depth + 1) for _ in range(rng.randrange(4))]
    return {rng.choice(names): value(rng, depth + 1) for _ in range(rng.randrange(1, 6))}


def body(rng: random.Random) -> bytes:
    """A body, often wrong."""
    kind = rng.random()
    if kind < 0.45:
        return json.dumps(value(rng)).encode("utf-8", "surrogatepass")
    if kind < 0.65:
        return nested(rng).encode()
    if kind < 0.8:
        return rng.randbytes(rng.choice((0, 1, 10, 1000, 100_000)))
    return rng.choice((b"", b"null", b'{"a":NaN}', b"{" * 3, b'{"a":1e400}', b'"' * 999, b"a=b&c=d", b" " * 5000))


def target(rng: random.Random) -> str:
    """A path with a query, often changed."""
    path = rng.choice(PATHS)
    for _ in range(rng.choice((0, 0, 1, 1, 2, 5))):
        place = rng.randrange(len(path) + 1)
        path = path[:place] + rng.choice(JUNK) + path[place + rng.randrange(3) :]
    if rng.random() < 0.05:
        path += "&$filter=" + "(" * rng.choice((50, 500, 5000, 20_000)) + "a eq 'b'"
    return path if rng.random() < 0.15 else path.replace(" ", "%20")


VERSIONS = (*("HTTP/1.1",) * 9, "HTTP/1.0", "HTTP/2.0", "", "X")
HOSTS = ("127.0.0.1", "x", "a b", "", "[::1]:80", "é")
LENGTHS = ("-1", "1e3", "", "99999999999999999999", "1, 1", str(2**40))
CODINGS = (*("chunked",) * 5, "gzip", "chunked, chunked", "identity")


def request(rng: random.Random, token: str) -> list[bytes]:
    """The bytes of one request, in the parts that are sent with a pause between them."""
    content = body(rng)
    if rng.random() < 0.5:  # good HTTP around whatever is in it
        head = f"{rng.choice(VERBS[:6])} {target(rng).replace(' ', '%20')} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n"
        return [f"{head}Content-Length: {len(content)}\r\n\r\n".encode("utf-8", "surrogatepass") + content]
    verb = rng.choice(VERBS[:6] if rng.random() < 0.8 else VERBS)
    lines = [f"{verb} {target(rng)} {rng.choice(VERSIONS)}"]
    if rng.random() < 0.95:
        lines.append(f"Host: {rng.choice(HOSTS)}")
    authorizations = (*(f"Bearer {token}",) * 8, "Bearer x", "Bearer " + "a." * 5000, "", "Basic \x01")
    lines.append(f"Authorization: {rng.choice(authorizations)}")
    for _ in range(rng.choice((1, 3, 150, 400)) if rng.random() < 0.1 else 0):
        large = "X: " + "z" * rng.choice((10, 70_000))
        lines.append(rng.choice(("X: y", "If-Match: *", "BatchPutMachine: {", "no colon", " folded", large)))
    kind = rng.random()
    if kind < 0.55:
        lines.append(f"Content-Length: {len(content)}")
    elif kind < 0.75:
        lines.append(f"Content-Length: {rng.choice((*LENGTHS, str(len(content) + 5)))}")
    elif kind < 0.95:
        lines.append(f"Transfer-Encoding: {rng.choice(CODINGS)}")
        content = chunked(rng, content)
    ends = rng.choice((*("\r\n",) * 9, "\n"))
    raw = ends.join([*lines, "", ""]).encode("utf-8", "surrogatepass") + content
    if rng.random() < 0.03:
        cut = rng.randrange(len(raw))
        return [raw[:cut], raw[cut:]] if rng.random() < 0.7 else [raw[:cut]]
    return [raw]


def chunked(rng: random.Random, content: bytes) -> bytes:
    """A body in chunks, sometimes broken ones."""
    parts = [b"%x\r\n%b\r\n" % (len(content), content)] if content else []
    wrong = rng.choice((b"", b"", b"", b"zz\r\n", b"-5\r\n", b"5\r\nabc", b"\r\n", b"f" * 30, b"7fffffff\r\n"))
    return b"".join([*parts, wrong, b"0\r\n\r\n"])
