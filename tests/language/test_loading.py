"""What a file means once it is read: scalars, positions, cases."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.reading import yaml_tree as nodes
from harness.reading.documents import documents
from harness.reading.manifests import manifests_of_text
from harness.reading.problems import ScenarioError
from harness.scenario.documentation.core_kinds import core_kinds
from harness.scenario.documentation.reference import render_reference
from harness.scenario.documentation.schema import render
from harness.scenario.expectations.verdicts import Outcome
from harness.scenario.language.files import load_text
from harness.scenario.running.runner import Runner

ROOT = Path(__file__).parents[2]


def only_value(text: str) -> Any:
    found, problems = documents(text, "f.yaml")
    assert not problems
    return found[0].value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        # go-yaml v2 resolve.go, which kubectl uses
        ("yes", True),
        ("y", True),
        ("On", True),
        ("off", False),
        ("nO", "nO"),
        ("~", None),
        ("012", 10),  # octal
        ("0o17", 15),
        ("0x1F", 31),
        ("0b101", 5),
        ("1_000", 1000),
        ("-5", -5),
        ("1e3", 1000),  # kubectl sends JSON, which has no other
        (".5", 0.5),
        ("1.30", 1.3),
        ("1.5.5", "1.5.5"),
        ("12:30", "12:30"),  # base 60 is not read
        ("2026-01-01", "2026-01-01"),  # a date stays text
        ("08", 8),  # no octal, so a float, which is whole
        ("500m", "500m"),
        ("'yes'", "yes"),
        ("!!str yes", "yes"),
        ("18446744073709551615", 18446744073709551615),
    ],
)
def test_manifests_are_read_as_kubectl_does(text: str, value: Any) -> None:
    got = only_value(f"value: {text}")["value"]
    assert got == value
    assert type(got) is type(value)


def test_headers_hold_text() -> None:
    header = only_value("scenario: x\ngiven: {kubernetes: 1.30, karpenter: 012, region: no}\n")
    assert header["given"] == {"kubernetes": "1.30", "karpenter": "012", "region": "no"}


def test_merge_keys_and_aliases() -> None:
    value = only_value("kind: x\nbase: &b {a: 1, c: 2}\nother: &o {a: 3}\none: {<<: *b, c: 9}\ntwo: {<<: [*o, *b]}\n")
    assert value["one"] == {"a": 1, "c": 9}
    assert value["two"] == {"a": 3, "c": 2}


def test_without_libyaml_the_same_values_and_places(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "scenario: x\ngiven: {kubernetes: 1.30}\n---\nkind: Pod\nspec:\n  a: [1, 'x', {b: yes}]\n"
    fast, _ = documents(text, "f")
    monkeypatch.setattr(nodes, "_Loader", yaml.SafeLoader)
    slow, problems = documents(text, "f")
    assert not problems
    assert [document.value for document in slow] == [document.value for document in fast]
    path = ("spec", "a", 2, "b")
    assert slow[1].position(path) == fast[1].position(path)
    assert str(fast[1].position(path)) == "f:6:16"


def test_positions() -> None:
    text = "scenario: x\nthen: []\n---\n# comment\nkind: List\nitems:\n- kind: Pod\n  metadata:\n    labels:\n      team: a\n"
    (_, manifest), _ = documents(text, "f.yaml")
    (pod,) = manifest.items()
    assert str(pod.position(("metadata", "labels", "team"))) == "f.yaml:10:7"
    assert str(pod.position(("metadata", "absent"))) == "f.yaml:8:3"  # the nearest parent


@pytest.mark.parametrize("items", ["", "items: null\n", "items: {a: b}\n"])
def test_a_list_without_items_is_told_as_such(items: str) -> None:
    with pytest.raises(ScenarioError) as raised:
        manifests_of_text(f"apiVersion: v1\nkind: List\n{items}", "f.yaml")
    line = 3 if items else 1
    assert str(raised.value) == f"f.yaml:{line}:1: items: a list is expected"


POOL = """
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: $(pool)}
spec: {weight: $(weight), template: {metadata: {labels: {"$(label)": "$(weight)"}}}}
"""


def test_matrix_and_cases() -> None:
    text = (
        "scenario: x\nmatrix: {karpenter: [1.13.0, 1.14.0], label: [a, b]}\n"
        "cases:\n- {case: one, values: {pool: p, weight: 1}}\n"
        "- {case: two, values: {pool: q, weight: 2}, given: {region: westus}, then: [{pods: {pending: $(weight)}}]}\n"
        "given: {region: eastus, seed: 7}\n"
        "then: [{rejected: {object: NodePool/$(pool), key: $(label), only: {karpenter: [1.14.0]}}}, {pods: {bound: 0}}]\n"
    ) + POOL
    (scenario,) = load_text(text, file="f.yaml")
    assert [case.id for case in scenario.cases] == [
        f"{case}-{karpenter}-{label}" for case in ("one", "two") for karpenter in ("1.13.0", "1.14.0") for label in "ab"
    ]
    first, last = scenario.cases[0], scenario.cases[-1]
    assert (first.given.karpenter, first.given.region, first.given.seed) == ("1.13.0", "eastus", 7)
    assert (last.given.karpenter, last.given.region, last.given.seed) == ("1.14.0", "westus", 7)
    assert [entry.label for entry in first.then] == ["then[1].pods"]
    assert [entry.label for entry in last.then] == ["then[0].rejected", "then[1].pods", "cases[1].then[0].pods"]
    spec = last.manifests[0].object["spec"]
    assert spec["weight"] == 2  # not quoted in the file: read anew
    assert spec["template"]["metadata"]["labels"] == {"b": "2"}  # quoted: text
    labels = ("spec", "template", "metadata", "labels", "b")
    assert last.manifests[0].document.position(labels).line == 13


def test_editors_take_a_value_of_the_matrix_wherever_one_may_stand() -> None:
    """A number, a choice, a yes or no may be `$(NAME)`: the loader puts the value in before it looks."""
    jsonschema = pytest.importorskip("jsonschema")
    check = jsonschema.Draft7Validator(json.loads(render()))
    kind: dict[str, Any] = {"scenario": "s", "then": [{"nodeclaims": {"are": [{"capacityType": "$(kind)"}]}}]}
    number: dict[str, Any] = {"scenario": "s", "then": [{"pods": {"bound": "$(n)"}}], "given": {"seed": "$(n)"}}
    assert not [*check.iter_errors(kind), *check.iter_errors(number)]
    kind["then"][0]["nodeclaims"]["are"][0]["capacityType"] = "sport"
    number["given"]["seed"] = "many"
    assert len([*check.iter_errors(kind)]) == len([*check.iter_errors(number)]) == 1


def test_editors_take_a_quoted_number_as_the_loader_does() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    check = jsonschema.Draft7Validator(json.loads(render()))

    def errors(bound: str, available: str, atmost: str) -> int:
        expected: list[dict[str, Any]] = [
            {"pods": {"bound": bound}},
            {"requirements": {"of": "Standard_D4s_v5", "offerings": [{"zone": "eastus-1", "available": available}]}},
            {"cost": {"perHour": {"atMost": atmost}}},
        ]
        return sum(not check.is_valid({"scenario": "s", "then": [each]}) for each in expected)

    assert errors("1", "true", "0.5") == 0
    assert errors("1x", "yes", "-1") == 3


def test_reference_page_is_current() -> None:
    assert (ROOT / "docs" / "reference" / "scenario.md").read_text(encoding="utf-8") == render_reference()


def test_every_key_has_a_description() -> None:
    definitions = json.loads(render())["definitions"]
    bare = [
        f"{name}.{key}"
        for name, body in definitions.items()
        if name not in ("Manifest", "NodePool", "NodeClaim", "NodeOverlay", "AKSNodeClass")  # whose CRDs describe them
        and "." not in name  # types of Kubernetes, and its kinds: client-go's table of them has no descriptions
        and name not in core_kinds()
        for key, field in body.get("properties", {}).items()
        if not (
            field.get("description") or definitions.get(field.get("$ref", "").rpartition("/")[2], {}).get("description")
        )
    ]
    assert bare == []


def test_examples_of_the_reference_are_valid_for_loader_and_schema() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    import json

    validator = jsonschema.Draft7Validator(json.loads(render()))
    blocks = re.findall(r"```yaml\n(.*?)```", render_reference(), re.DOTALL)
    assert len(blocks) >= 6
    for block in blocks:
        load_text(block, file="docs/reference/scenario.md")
        for document in yaml.safe_load_all(block):
            errors = [error.message for error in validator.iter_errors(document)]
            assert errors == [] or "rejected:" in block, errors


def test_examples_of_the_reference_hold() -> None:
    runner = Runner()
    for block in re.findall(r"```yaml\n(.*?)```", render_reference(), re.DOTALL):
        for scenario in load_text(block, file="docs/reference/scenario.md"):
            runner.check_inputs(scenario.cases)
            for case in scenario.cases:
                report = runner.run(case)
                assert (report.outcome, report.failures, report.error) == (Outcome.PASSED, (), ""), case.name
