"""Structural schemas of custom resources: the tree of fields, pruning and defaulting.

Source: apiextensions-apiserver pkg/apiserver/schema/{structural,pruning,defaulting}.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any, TypeAlias

from harness.kube.api.field_errors import Pointer
from harness.kube.go.patterns import PatternError, searcher
from lazyrecords import dataclass

META_FIELDS = frozenset({"apiVersion", "kind", "metadata"})
"""Fields of a resource's root that its schema does not describe."""


class SchemaError(ValueError):
    """A schema that is not structural, or that uses keywords unknown to the API server."""


def _no_culprits(value: Any) -> tuple[Pointer, ...]:
    return ()


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """A rule of one node of a schema.

    ``check(self, old)`` returns whether a value passes, or raises CelError. ``transition`` rules compare with the old value and run
    on updates only. ``culprits(self)`` returns the failing places inside the value, relative to it.
    """

    id: str
    message: str
    check: Callable[[Any, Any], bool]
    transition: bool = False
    culprits: Callable[[Any], tuple[Pointer, ...]] = _no_culprits
    optional_old: bool = False
    """Whether a transition rule runs without an old value too (`optionalOldSelf`); it gets None then."""
    expression: str = ""
    """The text of the rule, for listings; not evaluated."""


@dataclass(frozen=True, slots=True, eq=False)
class Schema:
    """One node of a structural schema. Limits are inclusive unless ``exclusive_…`` says otherwise; None is "no limit".

    ``rules`` are the CEL rules of this very node; ``has_rules`` and ``has_list_types`` say whether this node or one below it has
    any, so that walks can skip what they need not visit.
    """

    type: tuple[str, ...] = ()
    nullable: bool = False
    has_default: bool = False
    default: Any = None
    properties: Mapping[str, Schema] = field(default_factory=dict)
    additional: Schema | None = None
    items: Schema | None = None
    required: tuple[str, ...] = ()
    enum: tuple[Any, ...] = ()
    pattern: str = ""
    matches: Callable[[str], bool] | None = None
    format: str = ""
    minimum: float | None = None
    maximum: float | None = None
    exclusive_minimum: bool = False
    exclusive_maximum: bool = False
    multiple_of: float | None = None
    min_length: int | None = None
    max_length: int | None = None
    min_items: int | None = None
    max_items: int | None = None
    unique_items: bool = False
    min_properties: int | None = None
    max_properties: int | None = None
    all_of: tuple[Schema, ...] = ()
    any_of: tuple[Schema, ...] = ()
    one_of: tuple[Schema, ...] = ()
    not_: Schema | None = None
    preserve_unknown: bool = False
    list_type: str = ""
    list_map_keys: tuple[str, ...] = ()
    rules: tuple[Rule, ...] = ()
    has_rules: bool = False
    has_list_types: bool = False
    combined: bool = False
    """Whether any of ``all_of``, ``any_of``, ``one_of`` and ``not_`` is there."""
    ruled: tuple[tuple[str, Schema], ...] = ()
    """Properties with rules, their own or below."""
    listed: tuple[tuple[str, Schema], ...] = ()
    """Properties with lists of type set or map, themselves or below."""
    checks_range: bool = False
    """Whether integers are held to the range of their format (Kubernetes 1.36 and later)."""
    defaulted: tuple[tuple[str, Any], ...] = ()
    """Properties with a default, and the default."""

    @property
    def cel_type(self) -> str:
        """Return the type that the API server prints of a value that a rule refused."""
        return "" if len(self.type) != 1 else self.type[0]

    def child(self, key: str) -> Schema | None:
        """The schema of a key of an object, None when it has none."""
        schema = self.properties.get(key)
        return self.additional if schema is None else schema


_PLAIN = {
    "nullable": "nullable",
    "pattern": "pattern",
    "format": "format",
    "minimum": "minimum",
    "maximum": "maximum",
    "exclusiveMinimum": "exclusive_minimum",
    "exclusiveMaximum": "exclusive_maximum",
    "multipleOf": "multiple_of",
    "minLength": "min_length",
    "maxLength": "max_length",
    "minItems": "min_items",
    "maxItems": "max_items",
    "uniqueItems": "unique_items",
    "minProperties": "min_properties",
    "maxProperties": "max_properties",
    "x-kubernetes-preserve-unknown-fields": "preserve_unknown",
    "x-kubernetes-list-type": "list_type",
}
_TUPLES = {"required": "required", "enum": "enum", "x-kubernetes-list-map-keys": "list_map_keys"}
_VARIANTS = {"allOf": "all_of", "anyOf": "any_of", "oneOf": "one_of"}
_READ_ELSEWHERE = frozenset(
    {
        "type",
        "default",
        "properties",
        "additionalProperties",
        "items",
        "not",
        "description",
        "title",
        "example",
        "externalDocs",
        "x-kubernetes-int-or-string",
        "x-kubernetes-map-type",
        "x-kubernetes-validations",
    }
)

# The formats that the API server checks and that our resources use; it ignores others.
_FORMATS = frozenset({"date-time"})
_INTEGER_FORMATS = frozenset({"int32", "int64"})
RulesByPath: TypeAlias = Callable[[str], tuple["Rule", ...]]
"""The rules of a path of a schema (``spec.list[].map{}``)."""


def _no_rules(path: str) -> tuple[Rule, ...]:
    return ()


def parse_schema(
    definition: Mapping[str, Any], rules: RulesByPath = _no_rules, path: str = "", *, integer_formats: bool = False
) -> Schema:
    """The schema of an OpenAPI v3 definition. ``integer_formats``: int32 and int64 count, as from Kubernetes 1.36 on.

    Raises SchemaError for keywords that this engine does not implement.
    """

    def parse(entry: Mapping[str, Any], below: str) -> Schema:
        return parse_schema(entry, rules, below, integer_formats=integer_formats)

    def parse_value(entry: Mapping[str, Any]) -> Schema:
        return parse_schema(entry, integer_formats=integer_formats)

    values = _keywords(definition, path, integer_formats=integer_formats)
    dot = f"{path}." if path else ""
    properties = {name: parse(entry, f"{dot}{name}") for name, entry in definition.get("properties", {}).items()}
    additional = definition.get("additionalProperties")
    children = list(properties.values())
    if isinstance(additional, Mapping):
        values["additional"] = parse(additional, f"{path}{{}}")
        children.append(values["additional"])
    if isinstance(definition.get("items"), Mapping):
        values["items"] = parse(definition["items"], f"{path}[]")
        children.append(values["items"])
    if "not" in definition:
        values["not_"] = parse_value(definition["not"])
    own = rules(path)
    list_type = values.get("list_type", "")
    return Schema(
        **values,
        properties=properties,
        rules=own,
        has_rules=bool(own) or any(child.has_rules for child in children),
        has_list_types=list_type in ("set", "map") or any(child.has_list_types for child in children),
        combined=bool(_VARIANTS.keys() & definition.keys()) or "not" in definition,
        ruled=tuple((name, entry) for name, entry in properties.items() if entry.has_rules),
        listed=tuple((name, entry) for name, entry in properties.items() if entry.has_list_types),
        checks_range=integer_formats,
        defaulted=tuple((name, entry.default) for name, entry in properties.items() if entry.has_default),
    )


def _keywords(definition: Mapping[str, Any], path: str, *, integer_formats: bool) -> dict[str, Any]:
    """Return the keywords of a definition about a value itself, by field of Schema. Raises SchemaError."""
    values: dict[str, Any] = {}
    for key, value in definition.items():
        if key in _PLAIN:
            values[_PLAIN[key]] = value
        elif key in _TUPLES:
            values[_TUPLES[key]] = tuple(value)
        elif key in _VARIANTS:
            values[_VARIANTS[key]] = tuple(parse_schema(entry, integer_formats=integer_formats) for entry in value)
        elif key not in _READ_ELSEWHERE:
            raise SchemaError(f"{path or 'schema'}: keyword {key} is not supported")
    formats = _INTEGER_FORMATS if definition.get("type") == "integer" and integer_formats else _FORMATS
    if values.get("format") not in formats:
        values.pop("format", None)
    if "type" in definition:
        values["type"] = (definition["type"],)
    if definition.get("x-kubernetes-int-or-string"):
        values["type"] = ("integer", "string")
    if definition.get("default") is not None:
        values.update(has_default=True, default=definition["default"])
    if "pattern" in values:
        try:
            values["matches"] = searcher(values["pattern"])
        except PatternError as error:
            raise SchemaError(f"{path or 'schema'}: pattern: {error}") from None
    return values


def prepare(value: Any, schema: Schema) -> dict[str, Any]:
    """A resource as the API server keeps it: a copy without unknown fields and needless nulls, with defaults."""
    prepared = _prepare(value, schema, root=True)
    if not isinstance(prepared, dict):
        raise TypeError("a resource is a mapping")
    return prepared


_SCALARS = frozenset({str, int, bool, float, type(None)})


def _prepare(value: Any, schema: Schema | None, root: bool = False) -> Any:
    kind = value.__class__
    if kind in _SCALARS:
        return value
    if kind is dict or isinstance(value, Mapping):
        if schema is None:
            return {}
        if schema.preserve_unknown:
            return _preserve(value, schema)
        prepared: dict[str, Any] = {}
        properties = schema.properties
        for key, entry in value.items():
            child = properties.get(key) or schema.additional
            if root and key in META_FIELDS and (entry is not None or child is None):
                prepared[key] = entry if isinstance(entry, str) else _plain(entry)
                continue
            if child is None:
                continue
            if entry is None:
                if child.nullable:
                    prepared[key] = None
                elif child.has_default:
                    prepared[key] = _prepare(child.default, child)
            else:
                prepared[key] = entry if entry.__class__ in _SCALARS else _prepare(entry, child)
        for key, default in schema.defaulted:
            if key not in prepared:
                prepared[key] = _prepare(default, properties[key])
        return prepared
    if isinstance(value, list | tuple):
        items = schema.items if schema is not None else None
        if items is None:
            return [_prepare(entry, None) for entry in value]
        replace_null = items.has_default and not items.nullable
        return [
            entry
            if entry.__class__ in _SCALARS and entry is not None
            else _prepare(items.default if entry is None and replace_null else entry, items)
            for entry in value
        ]
    return value


def _plain(value: Any) -> Any:
    """A copy in plain dicts and lists."""
    if isinstance(value, Mapping):
        return {key: _plain(entry) for key, entry in value.items()}
    return [_plain(entry) for entry in value] if isinstance(value, list | tuple) else value


def _preserve(value: Mapping[str, Any], schema: Schema) -> dict[str, Any]:
    preserved = {
        key: _plain(entry) if (child := schema.child(key)) is None else _prepare(entry, child)
        for key, entry in value.items()
    }
    for key, default in schema.defaulted:
        if preserved.get(key) is None:
            preserved[key] = _prepare(default, schema.properties[key])
    return preserved
