"""`python -m tests.clients.templates FOLDER`: which of the ARM templates in a folder deploy, and what stops the others.

Parameters without a default get a value of the file beside the template (`*.parameters.json`), else one of their type. A template is
counted by what it has: all of its resources are of types that are emulated, or some are not, whose refusal is `NotEmulated`.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from fakeazure.arm import relaxed_json
from fakeazure.beginning import SUBSCRIPTION
from fakeazure.cloud import FakeAzure
from fakeazure.timing import INSTANT

DEPLOYS, NOT_EMULATED, REFUSED, INVALID = "deploys", "not emulated", "refused", "template not understood"
_GROUP = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/templates"
_VERSION = {"api-version": "2022-09-01"}
_SCHEMAS = {"deploymenttemplate.json": _GROUP, "subscriptiondeploymenttemplate.json": f"/subscriptions/{SUBSCRIPTION}"}
_BY_NAME = (
    ("location", "eastus"),
    ("region", "eastus"),
    ("resourcegroup", "templates"),
    ("key", "ssh-rsa AAAA"),
    ("vmsize", "Standard_D2s_v3"),
    ("subnetprefix", "10.0.0.0/24"),
    ("addressprefix", "10.0.0.0/16"),
    ("vnetprefix", "10.0.0.0/16"),
    ("password", "Passw0rd!Passw0rd"),
    ("secret", "Passw0rd!Passw0rd"),
)
"""Part of a parameter's name → the value that it gets."""


def _read(path: Path) -> Any:
    return relaxed_json.value(path.read_text(encoding="utf-8-sig").encode(), 100)


def templates(folder: Path, names: str) -> Iterator[tuple[Path, str, dict[str, Any]]]:
    """(file, scope that it deploys at, template) of those in a folder."""
    for path in sorted(folder.rglob(names)):
        try:
            document = _read(path)
        except ValueError:
            continue
        schema = document.get("$schema") if isinstance(document, dict) else None
        scope = _SCHEMAS.get(str(schema).rstrip("#").rpartition("/")[2].lower())
        if scope is not None and "resources" in document:
            yield path, scope, document


def _made_up(name: str, declared: Mapping[str, Any]) -> Any:
    """A value for a parameter that has none."""
    if declared.get("allowedValues"):
        return declared["allowedValues"][0]
    kind = str(declared.get("type", "object")).lower()
    if kind == "int":
        return declared.get("minValue", 1)
    if kind in ("bool", "array", "object", "secureobject"):
        return {"bool": True, "array": []}.get(kind, {})
    plain = "".join(letter for letter in name.lower() if letter.isalnum())
    text = next((value for part, value in _BY_NAME if part in plain), plain[:20])
    return (text + "x" * int(declared.get("minLength", 0)))[: int(declared.get("maxLength", 1000))]


def parameters_of(path: Path, template: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters that a template is deployed with, as a request has them."""
    beside = path.with_suffix(".parameters.json")
    given: dict[str, Any] = {}
    if beside.exists():
        given = _read(beside).get("parameters") or {}
    found: dict[str, Any] = {}
    for name, declared in (template.get("parameters") or {}).items():
        value = given.get(name)
        if isinstance(value, dict) and "value" in value:
            found[name] = {"value": value["value"]}
        elif isinstance(declared, dict) and "defaultValue" not in declared and declared.get("nullable") is not True:
            found[name] = {"value": _made_up(name, declared)}
    return found


def _codes(error: Any) -> Iterator[tuple[str, str]]:
    if isinstance(error, dict):
        inner = error.get("details") or ()
        if not inner:
            yield str(error.get("code")), str(error.get("message"))
        for one in inner:
            yield from _codes(one)


def verdict(path: Path, scope: str, template: Mapping[str, Any]) -> tuple[str, str]:
    """Deploy a template into an empty world: return the outcome, and the words of the refusal."""
    cloud = FakeAzure(region="eastus", timing=INSTANT, azure={"quota": {"cores": 10_000}})
    cloud.request("PUT", _GROUP, query=_VERSION, body={"location": "eastus"})
    where = f"{scope}/providers/Microsoft.Resources/deployments/one"
    properties = {"mode": "Incremental", "template": template, "parameters": parameters_of(path, template)}
    body = {"properties": properties, **({} if scope == _GROUP else {"location": "eastus"})}
    answer = cloud.request("PUT", where, query=_VERSION, body=body)
    if answer.status >= 400:
        error = (answer.body or {})["error"]
        outcome = NOT_EMULATED if error["code"] == "NotEmulated" else INVALID
        return outcome, f"{error['code']}: {error['message']}"
    cloud.advance(7200)
    shown = (cloud.request("GET", where, query=_VERSION).body or {})["properties"]
    if shown["provisioningState"] == "Succeeded":
        return DEPLOYS, ""
    told = list(_codes(shown.get("error")))
    refusals = [text for text in told if text[0] != "NotEmulated"]
    code, message = (refusals or told or [("", shown["provisioningState"])])[0]
    return REFUSED if refusals or not told else NOT_EMULATED, f"{code}: {message}"


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--names", default="*.json", help="a pattern of the files' names")
    parser.add_argument("--show", action="store_true", help="name each template that does not deploy, with the reason")
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    for path, scope, template in templates(options.folder, options.names):
        outcome, words = verdict(path, scope, template)
        counts[outcome] += 1
        if options.show and outcome != DEPLOYS:
            print(json.dumps([outcome, str(path.relative_to(options.folder)), words[:400]]), flush=True)
    total = sum(counts.values())
    told = ", ".join(f"{counts[one]} {one}" for one in (DEPLOYS, NOT_EMULATED, REFUSED, INVALID))
    print(f"{total} templates: {told}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
