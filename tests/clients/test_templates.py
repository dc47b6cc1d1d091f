"""The output of `python -m tests.clients.templates` for a folder of templates."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fakeazure.beginning import SUBSCRIPTION
from tests.clients.templates import DEPLOYS, INVALID, NOT_EMULATED, REFUSED, main, templates, verdict

SCHEMA = "https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#"


def resource(type_: str, **more: Any) -> dict[str, Any]:
    return {"type": type_, "apiVersion": "2022-01-01", "name": "[parameters('n')]", "location": "eastus", **more}


TEMPLATES = {
    DEPLOYS: [resource("Microsoft.Network/routeTables")],
    NOT_EMULATED: [resource("Microsoft.Storage/storageAccounts")],
    REFUSED: [resource("Microsoft.Network/publicIPAddresses")],
    INVALID: [resource("Microsoft.Network/routeTables", dependsOn=["nothing"])],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for number, resources in enumerate(TEMPLATES.values()):
        document = {"$schema": SCHEMA, "parameters": {"n": {"type": "string", "maxLength": 9}}, "resources": resources}
        (tmp_path / f"{number}.json").write_text(json.dumps(document) + " // as people write them")
    (tmp_path / "other.json").write_text("{}")
    (tmp_path / "0.parameters.json").write_text(json.dumps({"parameters": {"n": {"value": "given"}}}))
    return tmp_path


def test_each_template_has_an_outcome(folder: Path) -> None:
    outcomes = [verdict(*found)[0] for found in templates(folder, "*.json")]
    assert outcomes == list(TEMPLATES)


def test_a_template_of_an_extension_is_not_emulated() -> None:
    group = {"import": "graph", "type": "Microsoft.Graph/groups@v1.0", "properties": {"displayName": "g"}}
    template = {"$schema": SCHEMA, "languageVersion": "2.0", "resources": {"group": group}}
    scope = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/templates"
    assert verdict(Path("main.json"), scope, template)[0] == NOT_EMULATED


def test_the_counts_are_told(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.argv", ["templates", str(folder), "--show"])
    assert main() == 0
    *shown, last = capsys.readouterr().out.splitlines()
    assert last == "4 templates: 1 deploys, 1 not emulated, 1 refused, 1 template not understood"
    assert [json.loads(line)[0] for line in shown] == [NOT_EMULATED, REFUSED, INVALID]
