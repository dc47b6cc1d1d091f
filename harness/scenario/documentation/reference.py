"""The reference page of the file format: a hand-written introduction, then every key of every model with its description."""

from __future__ import annotations

from importlib import resources
from typing import Any

from harness.scenario.documentation.schema import language_definitions

__all__ = ["render_reference"]

_ORDER = (
    "Header",
    "Case",
    "ExpectedFailure",
    "Seeds",
    "Given",
    "Azure",
    "QuotaState",
    "Restriction",
    "Capacity",
    "Prices",
    "Fault",
    "Where",
    "When",
    "StepMap",
    "Market",
)
_TITLES = {
    "Header": "The header",
    "Case": "`cases`",
    "ExpectedFailure": "`xfail`",
    "Seeds": "`seeds`",
    "Given": "`given`",
    "Azure": "`given.azure`",
    "StepMap": "`when`",
    "ExpectationMap": "`then`",
}


def render_reference() -> str:
    """The page as Markdown; the same models always give the same text."""
    introduction = (
        resources.files("harness.scenario.documentation").joinpath("reference.md").read_text(encoding="utf-8")
    )
    definitions: dict[str, Any] = language_definitions()
    then = definitions["ExpectationMap"]["properties"]
    keys = {_reference(body): key for key, body in then.items()}
    # an anchor is a heading in lower case
    anchors = {name: f"then-{key.lower()}" for name, key in keys.items()}
    names = [name for name in _ORDER if name in definitions]
    names += ["ExpectationMap", *(name for name in keys if name)]
    names += sorted(name for name in definitions if name not in names)
    parts = [introduction.rstrip("\n")]
    for name in names:
        title = _TITLES.get(name) or (f"`then: {keys[name]}`" if name in keys else name)
        parts.append(_section(title, definitions[name]))
    page = "\n\n".join(parts) + "\n"
    for name, anchor in anchors.items():
        page = page.replace(f"(#{_anchor(name)})", f"(#{anchor})")
    return page


def _reference(body: Any) -> str:
    return str(body.get("$ref", "")).rpartition("/")[2]


def _section(title: str, body: Any) -> str:
    lines = [f"### {title}", ""]
    if body.get("description"):
        lines += [body["description"], ""]
    required = set(body.get("required", ()))
    lines += ["| key | value | |", "|---|---|---|"]
    for key, field in body.get("properties", {}).items():
        name = f"**{key}**" if key in required else key
        description = str(field.get("description", "")).replace("|", "\\|")
        default = f" Default: {field['default']}." if field.get("default") not in (None, "") else ""
        lines.append(f"| {name} | {_shape(field)} | {description}{default} |")
    return "\n".join(lines)


def _shape(field: Any) -> str:
    if "$ref" in field:
        return f"[{_reference(field)}](#{_anchor(_reference(field))})"
    if "enum" in field:
        return ", ".join(f"`{choice}`" for choice in field["enum"] if isinstance(choice, str))
    if "const" in field:
        return f"`{field['const']}`"
    if "anyOf" in field:
        shapes = [_shape(option) for option in field["anyOf"]]
        return " or ".join(dict.fromkeys(shapes))
    kind = field.get("type")
    if isinstance(kind, list):
        return "text"
    if kind == "array":
        return f"list of {_shape(field['items'])}"
    if kind == "object":
        values = field.get("additionalProperties")
        return f"map of {_shape(values)}" if isinstance(values, dict) else "map"
    return {"string": "text", "integer": "whole number", "number": "number", "boolean": "`true`, `false`"}.get(
        str(kind), "any"
    )


def _anchor(name: str) -> str:
    title = _TITLES.get(name)
    return (title or name).replace("`", "").lower().replace(" ", "-").replace(".", "")
