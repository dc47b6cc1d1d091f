"""Admission of custom resources: the API server's steps on create and update, in its order.

Prune, default, metadata, schema, list types, then the rules unless an earlier error of a blocking type keeps them from running.

Source: apiextensions-apiserver pkg/registry/customresource/{strategy,validator}.go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from harness.kube.api.field_errors import (
    BLOCKING,
    NO_FIELD,
    ErrorType,
    FieldError,
    Pointer,
    Verbatim,
    go_syntax,
    invalid_message,
)
from harness.kube.api.names import OLD_WORDING, OLDEST_WORDING, WORDING, NameWording
from harness.kube.api.object_meta import validate_custom_meta_update, validate_object_meta
from harness.kube.api.objects import is_mapping, mapping_in
from harness.kube.api.versions import Version
from harness.kube.custom_resources.cel_rules import evaluate
from harness.kube.custom_resources.correlation import Correlation
from harness.kube.custom_resources.list_types import validate_list_types
from harness.kube.custom_resources.scale import Scale, scale_errors
from harness.kube.custom_resources.schema import Schema, prepare
from harness.kube.custom_resources.schema_validation import validate
from lazyrecords import dataclass


@dataclass(frozen=True, slots=True)
class ApiServer:
    """Differences between Kubernetes versions in how an API server validates, mostly in the words of its refusals.

    * ``rules_print_value``: a scalar that a rule refuses is printed and a map or list is not; else the schema type of either.
    * ``go_values``: rejected lists and mappings are printed in Go's syntax, and null as ``"null"``; else as JSON.
    * ``integer_formats``: the formats int32 and int64 of integers count.
    * ``names``: the sentences about names, labels and owners.
    * ``ratchets``: an update is not refused for values that it leaves unchanged (feature gate CRDValidationRatcheting, on by default
      from 1.30 on).
    * ``ratchets_status``: neither is an update of the status alone (registry/customresource/status_strategy.go, from 1.33 on).
    """

    rules_print_value: bool = True
    go_values: bool = False
    integer_formats: bool = False
    names: NameWording = WORDING
    ratchets: bool = True
    ratchets_status: bool = True

    def tolerates(self, subresource: str) -> bool:
        """Return whether an update of the object or of its ``subresource`` is not refused for what it leaves unchanged."""
        return self.ratchets_status if subresource == "status" else self.ratchets


_API_SERVERS: tuple[tuple[tuple[int, int], ApiServer], ...] = (
    ((1, 36), ApiServer(integer_formats=True)),
    ((1, 35), ApiServer()),
    ((1, 34), ApiServer(rules_print_value=False, names=OLD_WORDING)),
    ((1, 33), ApiServer(rules_print_value=False, go_values=True, names=OLDEST_WORDING)),
    ((1, 30), ApiServer(rules_print_value=False, go_values=True, names=OLDEST_WORDING, ratchets_status=False)),
    (
        (0, 0),
        ApiServer(rules_print_value=False, go_values=True, names=OLDEST_WORDING, ratchets=False, ratchets_status=False),
    ),
)


NEWEST = ApiServer()


def api_server(kubernetes: str) -> ApiServer:
    """The API server of a Kubernetes version (``1.34.0``, ``v1.36``). Raises ValueError when it is no version."""
    version = Version.parse(kubernetes)
    return next(server for since, server in _API_SERVERS if version >= since)


@dataclass(frozen=True, slots=True, eq=False)
class CustomResource:
    """One version of a custom resource definition."""

    group: str
    version: str
    kind: str
    schema: Schema
    namespaced: bool = False
    scale: Scale | None = None

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a write: the object as it would be stored, and the reasons of its refusal (none when it is accepted)."""

    object: dict[str, Any]
    errors: tuple[FieldError, ...]
    message: str


def admit(
    resource: CustomResource,
    obj: Mapping[str, Any],
    *,
    old: Mapping[str, Any] | None = None,
    subresource: str = "",
    server: ApiServer = NEWEST,
) -> Outcome:
    """Return the API server's verdict about ``obj``: created, or replacing the stored ``old``. Neither is changed.
    Neither is changed.

    ``subresource`` is ``status`` where only that of ``old`` is replaced: the schema judges the status alone, the rules see the whole
    object (registry/customresource/status_strategy.go).
    """
    schema = resource.schema
    stored = prepare(obj, schema)
    correlation = None
    errors: list[FieldError] = []
    if old is None:
        errors.extend(validate_object_meta(stored, namespaced=resource.namespaced, wording=server.names))
    else:
        errors.extend(validate_custom_meta_update(stored, old, wording=server.names))
        if server.tolerates(subresource):
            correlation = Correlation(stored, old, schema)
    if subresource != "status":
        errors.extend(validate(schema, stored, correlation))
    else:
        errors.extend(_status_errors(schema, stored, correlation))
    errors.extend(scale_errors(resource.scale, stored, subresource=subresource))
    if schema.has_list_types:
        errors.extend(_new_duplicates(schema, stored, old))
    if any(error.type in BLOCKING for error in errors):
        errors.append(_UNCHECKED)
    elif schema.has_rules:
        unread = _misshapen(correlation, ("status",) if subresource == "status" else ())
        errors.extend(evaluate(schema, stored, old, correlation, prints_value=server.rules_print_value, unread=unread))
    return _outcome(resource, stored, errors, server)


def admit_unruled(
    resource: CustomResource,
    obj: Mapping[str, Any],
    *,
    old: Mapping[str, Any],
    subresource: str = "",
    server: ApiServer = NEWEST,
) -> Outcome:
    """Return ``admit`` for an update of metadata and status alone, whose other parts the same definition has accepted
    before.

    Neither the schema of the rest nor any rule can complain then: Karpenter's rules read neither of the two.
    """
    schema, stored = resource.schema, dict(obj)
    errors: list[FieldError] = []
    if subresource == "status":
        below, status = schema.properties.get("status"), obj.get("status")
        if below is None or not is_mapping(status):
            return admit(resource, obj, old=old, subresource=subresource, server=server)
        before = mapping_in(old.get("status"))
        changed = {key: value for key, value in status.items() if key not in before or before[key] != value}
        prepared = prepare(changed, below)  # unchanged parts were prepared before
        stored["status"] = prepared | {key: value for key, value in status.items() if key not in changed}
        if _found_quickly(below, prepared, before):
            correlation = Correlation(stored, old, schema) if server.tolerates(subresource) else None
            errors.extend(_status_errors(schema, stored, correlation))
        if validate_list_types(below, prepared):
            errors.extend(_new_duplicates(schema, {"status": stored["status"]}, {"status": before}))
    errors.extend(validate_custom_meta_update(stored, old, wording=server.names))
    errors.extend(scale_errors(resource.scale, stored, subresource=subresource))
    if any(error.type in BLOCKING for error in errors):
        errors.append(_UNCHECKED)
    return _outcome(resource, stored, errors, server)


def _new_duplicates(schema: Schema, stored: Mapping[str, Any], old: Mapping[str, Any] | None) -> list[FieldError]:
    """The duplicates in lists of type set and map, which count where there were none before."""
    errors = validate_list_types(schema, stored)
    return [] if errors and validate_list_types(schema, old) else errors


def _found_quickly(schema: Schema, changed: Mapping[str, Any], old: Mapping[str, Any]) -> bool:
    """Return whether the schema has errors in the fields that changed; of lists, in the items that are new."""
    new = {}
    for key, value in changed.items():
        before = old.get(key)
        if isinstance(value, list) and isinstance(before, list):
            new[key] = [item for item in value if item not in before]
        else:
            new[key] = value
    return bool(validate(schema, new))


def _status_errors(schema: Schema, stored: Mapping[str, Any], correlation: Correlation | None) -> list[FieldError]:
    """Return the errors by the schema of the status. The texts name places inside the status, the fields those in the object."""
    below = schema.properties.get("status")
    if below is None or "status" not in stored:
        return []
    return [
        replace(
            error,
            field="status" if error.field == NO_FIELD else f"status.{error.field}",
            pointer=("status", *error.pointer),
        )
        for error in validate(below, stored["status"], correlation.key("status") if correlation is not None else None)
    ]


def _outcome(
    resource: CustomResource, stored: dict[str, Any], errors: Sequence[FieldError], server: ApiServer
) -> Outcome:
    if not errors:
        return Outcome(stored, (), "")
    if server.go_values:
        errors = [replace(error, value=_go_value(error.value)) for error in errors]
    metadata = stored.get("metadata")
    name = metadata.get("name") if isinstance(metadata, Mapping) else ""
    message = invalid_message(resource.group, resource.kind, name if isinstance(name, str) else "", errors)
    return Outcome(stored, tuple(errors), message)


def _misshapen(correlation: Correlation | None, root: Pointer) -> frozenset[Pointer]:
    """Return the places where an update keeps values of wrong types, which are tolerated then, and all places above,
    whose rules might read them."""
    if correlation is None:
        return frozenset()
    wrong = [(*root, *error.pointer) for error in correlation.tolerated if error.type is ErrorType.TYPE_INVALID]
    return frozenset(place[:depth] for place in wrong for depth in range(len(place) + 1))


UNCHECKED = (
    "some validation rules were not checked because the object was invalid; "
    "correct the existing errors to complete validation"
)
"""Messages about an object with mistakes that keep the API server from looking for others."""
_UNCHECKED = FieldError(ErrorType.INVALID, NO_FIELD, UNCHECKED, value=None)


def _go_value(value: Any) -> Any:
    if value is None:
        return "null"
    if isinstance(value, Verbatim):
        return Verbatim(value.syntax or value.text)
    return Verbatim(go_syntax(value)) if isinstance(value, list | dict) else value
