"""NodePools, NodeClaims and AKSNodeClasses drawn from the schema of their own CRD, for the op `validate_nodepool`.

Every field of the schema comes up. Most values are good; the others sit on or beside a bound, outside an enumeration, beside a pattern,
of another type, null, missing or unknown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tests.conformance.cases.draw import Draw

__all__ = ["OTHER_TYPES", "Schemas", "object_case", "schemas_of", "spec_of", "status_of"]

Json = dict[str, Any]
Schemas = Mapping[tuple[str, str], Json]

# strings for fields with a pattern or a format of their own, by the field's name: (good ones, bad ones)
STRINGS: Mapping[str, tuple[Sequence[str], Sequence[str]]] = {
    "cacheDuration": (("1h", "30s", "1h30m"), ("", "1d", "-1s", "5")),
    "serveStaleDuration": (("1h", "3600s"), ("", "x")),
    "consolidateAfter": (("0s", "5m", "Never", "1h5m"), ("-1s", "x", "5", "")),
    "expireAfter": (("720h", "Never", "30m"), ("5x", "-1h", "", "0")),
    "terminationGracePeriod": (("30s", "1h"), ("-1s", "x", "Never")),
    "containerLogMaxSize": (("50Mi", "1Gi", "10M"), ("50", "Mi", "1.5Gi", "")),
    "swapFileSize": (("1Gi", "512Mi"), ("1", "1GB", "")),
    "cpuCFSQuotaPeriod": (("100ms", "1s", "0s"), ("x", "-1ms", "")),
    "duration": (("10m", "1h", "1h30m"), ("30s", "x", "1h30m10s")),
    "schedule": (("* * * * *", "@daily", "0 9 * * 1-5"), ("bad", "* * * *", "")),
    "nodes": (("10%", "5", "0", "100%"), ("101%", "-1", "abc", "1.5%", "")),
    "netIPv4IPLocalPortRange": (
        ("1024 65535", "32768 60999", "2000 40000"),
        ("1024", "10 20", "60000 32768", "1024-65535", "a b", "99999 99999", "1024 65536", ""),
    ),
    "zone": (
        (".", "cluster.local", "example.com", "sub.cluster.local", "a_b.example.com."),
        ("", "-x", "a..b", "x" * 255, "é.com"),
    ),
    "vnetSubnetID": (
        ("/subscriptions/s/resourceGroups/rg/providers/Microsoft.Network/virtualNetworks/v/subnets/n",),
        (
            "subnet",
            "/\u017fubscriptions/s/resourceGroups/rg/providers/Microsoft.Networ\u212a/virtualNetworks/v/subnets/n",
            "/subscriptions/s/resourceGroups/rg./providers/Microsoft.Network/virtualNetworks/v/subnets/n",
            "",
        ),
    ),
    "key": (
        (
            "team", "example.com/x", "karpenter.sh/capacity-type", "topology.kubernetes.io/zone", "kubernetes.azure.com/mode",
            "kubernetes.io/arch", "karpenter.azure.com/sku-cpu", "node-restriction.kubernetes.io/x",
        ),
        ("", "bad key", "a/b/c", "-x", "x" * 64, "x" * 254 + "/y", "tëam", "karpenter.sh/custom", "kubernetes.azure.com/foo", "agentpool"),
    ),
    "value": (("x", "true", ""), ("a b", "-", "x" * 64, "é")),
    "effect": (("NoSchedule", "NoExecute", "PreferNoSchedule"), ("", "Bad", "noschedule")),
    "group": (("karpenter.azure.com",), ("", "karpenter.azure.com/v1")),
    "kind": (("AKSNodeClass",), ("",)),
    "name": (("default",), ("", "x" * 64)),
    "operator": (("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Gte", "Lte"), ("Foo", "in", "")),
}  # fmt: skip
MAP_KEYS = (
    "team", "example.com/x", "karpenter.sh/custom", "karpenter.sh/nodepool", "kubernetes.io/hostname", "kubernetes.azure.com/foo",
    "kubernetes.azure.com/mode", "a b", "", "x" * 64, "k<", "k\\", "k%", "x" * 513, "tëam", "cpu", "memory", "nodes",
)  # fmt: skip
TEXTS = ("x", "a", "4", "true", "", "x" * 64, "x" * 257, "a b", "é", "-1", "100m", "1Gi", "1e3", "abc")
#: a text that is no time is another type to the API server
TIMES = (
    ("2026-01-01T00:00:00Z", "2025-06-01T12:00:00+02:00", "2026-01-01T00:00:00.5Z"),
    ("x", "2026-01-01", "2026-01-01T25:00:00Z", "4", ""),
)
OTHER_TYPES: Sequence[Any] = ("x", 1, -1, 1.5, True, None, [], {}, ["x"], {"a": "b"}, 2**63 - 1)
RARE, SOME = 0.02, 0.08


def schemas_of(crds: Sequence[Json]) -> dict[tuple[str, str], Json]:
    """(apiVersion, kind) → OpenAPI schema, of every served version of `crds`."""
    found = {}
    for crd in crds:
        spec = crd["spec"]
        for version in spec["versions"]:
            found[f"{spec['group']}/{version['name']}", spec["names"]["kind"]] = version["schema"]["openAPIV3Schema"]
    return found


def object_case(draw: Draw, schemas: Schemas, *, other_types: bool = True) -> Json:
    """One object of a kind that `schemas` has; `other_types`: values of wrong types may come up."""
    kinds = sorted(key for key in schemas if key[1] in ("NodePool", "NodeClaim", "AKSNodeClass"))
    api_version, kind = draw.choice(kinds)
    wild = draw.choice((0.0, 0.0, 0.3, 1.0))  # how much goes wrong
    made = _Maker(draw, wild, other_types=other_types)
    spec = made.value("spec", schemas[api_version, kind]["properties"]["spec"])
    return {"object": {"apiVersion": api_version, "kind": kind, "metadata": made.metadata(), "spec": spec}}


def spec_of(draw: Draw, kind: tuple[str, str], schemas: Schemas) -> Json:
    """A spec of which the schema of a kind (apiVersion, kind) has nothing to say, empty lists and maps among its values."""
    made: Json = _Maker(draw, 0.0).value("spec", schemas[kind]["properties"]["spec"])
    return made


def status_of(draw: Draw, obj: Json, schemas: Schemas, *, other_types: bool = True) -> Any:
    """A status for an object, drawn from its schema; a wrong one as seldom as a wrong object."""
    schema = schemas[obj["apiVersion"], obj["kind"]]["properties"].get("status", {"type": "object"})
    return _Maker(draw, draw.choice((0.0, 0.0, 0.3, 1.0)), other_types=other_types).value("status", schema)


class _Maker:
    def __init__(self, draw: Draw, wild: float, *, other_types: bool = True) -> None:
        self.draw, self.wild, self.other_types = draw, wild, other_types

    def wrong(self, probability: float) -> bool:
        return self.draw.chance(self.wild * probability)

    def metadata(self) -> Json:
        name = self.draw.choice(("Bad_Name", "x" * 70, "x" * 254, "-x", "")) if self.wrong(SOME) else "default"
        metadata: Json = {"name": name}
        if self.draw.chance(0.1):
            metadata["labels"] = {self.draw.choice(MAP_KEYS): self.draw.choice(TEXTS)}
        if self.draw.chance(0.1):
            metadata["annotations"] = {self.draw.choice(MAP_KEYS): self.draw.choice(TEXTS)}
        if self.draw.chance(0.05):
            metadata["ownerReferences"] = [self.owner() for _ in range(self.draw.choice((1, 1, 2)))]
        if self.wrong(RARE):
            metadata["managedFields"] = [{}]
        return metadata

    def owner(self) -> Json:
        made = {"apiVersion": "v1", "kind": "Event", "name": "n", "uid": "u"}
        made["apiVersion"] = self.draw.choice(("v1", "apps/v1", "v1/", "a/b/c", "/", ""))
        made["kind"] = self.draw.choice(("Event", "Event", "Pod", ""))
        for field in self.draw.some(sorted(made), 0, 1):
            del made[field]
        return made

    def value(self, name: str, schema: Mapping[str, Any]) -> Any:
        if self.wrong(RARE) and self.other_types:
            return self.draw.choice(OTHER_TYPES)
        if schema.get("x-kubernetes-int-or-string"):
            return self.draw.choice((3, "5", "10%", "100m", "1Gi", -1, "abc"))
        kind = schema.get("type")
        if kind == "object":
            return self.object(name, schema)
        if kind == "array":
            return self.array(name, schema)
        if kind == "string":
            return self.string(name, schema)
        if kind == "boolean":
            return self.draw.chance(0.5)
        if kind in ("integer", "number"):
            return self.number(schema)
        return self.draw.choice(OTHER_TYPES)

    def object(self, name: str, schema: Mapping[str, Any]) -> Json:
        made: Json = {}
        properties = schema.get("properties") or {}
        required = schema.get("required") or ()
        wanted = self.draw.choice((0.05, 0.2, 0.5)) if len(properties) > 6 else 0.5
        for key, inner in properties.items():
            missing = self.wrong(SOME) if key in required else not self.draw.chance(wanted)
            if not missing:
                made[key] = self.value(key, inner)
        inner = schema.get("additionalProperties")
        if isinstance(inner, dict):
            good = MAP_KEYS[:2] if self.wild < 1 and self.draw.chance(0.7) else MAP_KEYS
            for _ in range(self.draw.choice((0, 1, 1, 2, 3))):
                made[self.draw.choice(good)] = self.value("", inner)
        if self.wrong(SOME) and (self.other_types or not isinstance(schema.get("additionalProperties"), dict)):
            made["unknownField"] = self.draw.choice(OTHER_TYPES)
        return made

    def array(self, name: str, schema: Mapping[str, Any]) -> list[Any]:
        length = self.draw.choice((0, 1, 1, 2, 3))
        if self.wrong(RARE):
            length = min(int(schema.get("maxItems", 3)) + 1, 120)
        items = [self.value("", schema["items"]) for _ in range(length)]
        if items and self.wrong(SOME):
            items.append(items[0])
        if self.wrong(RARE) and self.other_types:
            items.append(None)
        return items

    def string(self, name: str, schema: Mapping[str, Any]) -> str:
        if "enum" in schema:
            bad = ("", "Bad", str(schema["enum"][0]).lower())
            return str(self.draw.choice(bad if self.wrong(SOME) else schema["enum"]))
        good, bad = TIMES if schema.get("format") == "date-time" else STRINGS.get(name, (TEXTS[:4], TEXTS))
        if good is TIMES[0] and not self.other_types:
            return str(self.draw.choice(good))
        return str(self.draw.choice(bad if self.wrong(2 * SOME) else good))

    def number(self, schema: Mapping[str, Any]) -> int | float:
        least = int(schema.get("minimum", 0))
        most = int(schema.get("maximum", max(least, 1000)))
        if self.wrong(SOME):
            beyond = (least - 1, most + 1, 2**31, 2**63 - 1, -(2**31), float(least), float(most), 1e6, 2.5e7)
            no_integers = (least + 0.5, 2**63, 1e20) if self.other_types else ()
            return self.draw.choice((*beyond, *no_integers))
        return self.draw.choice((least, most, self.draw.randint(least, most)))
