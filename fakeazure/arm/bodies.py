"""Reading request bodies: every accessor returns the wanted shape or refuses the request, so no handler trips over a caller's mistake."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fakeazure.arm.forms import FLAG, NUMBER, OBJECT, OBJECTS, PAIRS, TEXT, TEXTS, WHOLE, Form, misfit
from fakeazure.arm.messages import Request
from fakeazure.arm.texts import refuse


def body_of(request: Request) -> Mapping[str, Any]:
    """The body of a request that must have one."""
    if not isinstance(request.body, Mapping):
        raise refuse("InvalidRequestContent", reason="The request body must be a JSON object.")
    return request.body


def section(holder: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """A nested object, empty if absent or null."""
    value: Mapping[str, Any] | None = holder.get(name)
    if value is None:
        return {}
    if not OBJECT.fits(value):
        raise _refused(name, OBJECT)
    return value


def items(holder: Mapping[str, Any], name: str) -> tuple[Mapping[str, Any], ...]:
    """A list of objects, empty if absent or null."""
    values = holder.get(name)
    if values is None:
        return ()
    if not OBJECTS.fits(values):
        raise _refused(name, OBJECTS)
    return tuple(values)


def texts(holder: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """A list of text, empty if absent or null."""
    values = holder.get(name)
    if values is None:
        return ()
    if not TEXTS.fits(values):
        raise _refused(name, TEXTS)
    return tuple(values)


def pairs(holder: Mapping[str, Any], name: str) -> dict[str, str]:
    """An object of text, as tags and labels are; empty if absent or null."""
    values = section(holder, name)
    if not PAIRS.fits(values):
        raise _refused(name, PAIRS)
    return dict(values)


def merged(old: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object after a JSON merge patch (RFC 7386): objects are merged, null takes away, all else is replaced."""
    result = dict(old)
    for key, value in patch.items():
        if isinstance(value, Mapping):
            before = old.get(key)
            result[key] = merged(before if isinstance(before, Mapping) else {}, value)
        elif value is None:
            result.pop(key, None)
        else:
            result[key] = value
    return result


def tags_after(old: Mapping[str, Any], body: Mapping[str, Any]) -> dict[str, str]:
    """Return the tags of a resource after a PATCH, which replaces all of them or none."""
    return pairs(old if body.get("tags") is None else body, "tags")


def text(holder: Mapping[str, Any], name: str, default: str = "") -> str:
    """Text; `default` if absent, null or empty."""
    value = holder.get(name)
    if value is None or value == "":
        return default
    if not TEXT.fits(value):
        raise _refused(name, TEXT)
    return str(value)


def number(holder: Mapping[str, Any], name: str, default: float = 0) -> float:
    """A number, also written as text; `default` if absent or null."""
    value = holder.get(name)
    if value is None:
        return default
    if not NUMBER.fits(value):
        raise _refused(name, NUMBER)
    return float(value)


def whole(holder: Mapping[str, Any], name: str, default: int = 0) -> int:
    """A whole number, also written as text; `default` if absent or null."""
    value = number(holder, name, default)
    if not value.is_integer():
        raise _refused(name, WHOLE)
    return int(value)


def flag(holder: Mapping[str, Any], name: str) -> bool | None:
    """A boolean, also written as text, as templates do; None if absent or null."""
    value = holder.get(name)
    if value is None:
        return None
    if not FLAG.fits(value):
        raise _refused(name, FLAG)
    return str(value).lower() == "true"


def check_forms(body: Mapping[str, Any]) -> None:
    """Refuse a resource of which a part has another form, the envelope first. ArmError."""
    if (part := misfit(body)) is not None:
        place, form, _ = part
        raise _refused(str(place[-1]), form)


def _refused(name: str, form: Form) -> Exception:
    return refuse("InvalidRequestContent", target=name, reason=f"'{name}' must be {form.words}.")
