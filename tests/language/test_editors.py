"""The schemas for editors: every mistake that one can see in a document alone is marked, and nothing that the API server takes."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness import testing
from harness.karpenter.validation.crds import crd_set, crd_sets
from harness.scenario.documentation.core_kinds import core_kinds
from harness.scenario.documentation.kinds import kind_schema, kinds_of, version_schema
from harness.scenario.documentation.schema import json_schema, schema_files
from tests.cli.command import call
from tests.project.tree import ROOT

jsonschema = pytest.importorskip("jsonschema", reason="needs jsonschema: pip install 'karpenter-azure-harness[crds]'")
referencing = pytest.importorskip("referencing", reason="needs jsonschema: pip install 'karpenter-azure-harness[crds]'")

RECORDED = ROOT / "tests" / "conformance" / "golden" / "v1.14.0" / "validate_nodepool.jsonl.gz"
DOCUMENTS = """\
apiVersion: karpenter.azure.com/v1beta1
kind: AKSNodeClass
metadata: {name: general}
spec: {imageFamily: Ubuntu2204, osDiskSizeGB: 128}
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: spot}
spec:
  weight: 50
  limits: {cpu: "400"}
  disruption:
    consolidationPolicy: WhenEmptyOrUnderutilized
    consolidateAfter: 5m
    budgets:
    - nodes: 20%
    - {nodes: "0", schedule: "0 8 * * mon-fri", duration: 10h}
  template:
    metadata:
      labels: {acme.io/tier: stateless}
    spec:
      nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, name: general}
      taints:
      - {key: acme.io/spot, value: spot, effect: NoSchedule}
      requirements:
      - {key: karpenter.sh/capacity-type, operator: In, values: [spot]}
      - {key: karpenter.azure.com/sku-cpu, operator: Lt, values: ["33"]}
      - {key: karpenter.azure.com/sku-family, operator: In, values: [D, E, F]}
"""
NESTED = "template:\n    metadata:\n      labels: {acme.io/tier: stateless}\n    spec:"
MISTAKES = {
    "a duration in words": ("consolidateAfter: 5m", "consolidateAfter: 5min", "consolidateAfter"),
    "a number that is none in YAML": ('values: ["33"]', "values: [33]", "values"),
    "an operator in lower case": ("operator: In, values: [spot]", "operator: in, values: [spot]", "operator"),
    "a policy of older releases": ("WhenEmptyOrUnderutilized", "WhenUnderutilized", "consolidationPolicy"),
    "an image family in lower case": ("Ubuntu2204", "ubuntu2204", "imageFamily"),
    "a kind in another case": ("kind: AKSNodeClass, name: general}", "kind: AKSNodeclass, name: general}", "kind"),
    "a field one level too deep": (NESTED, NESTED.replace("    spec:", "      spec:"), "template"),
    "a version that is not served": ("karpenter.sh/v1\n", "karpenter.sh/v1beta1\n", "apiVersion"),
    "a size with a unit": ("osDiskSizeGB: 128", "osDiskSizeGB: 128Gi", "osDiskSizeGB"),
    "a key that Karpenter has not": ("azure.com/sku-family", "azure.com/sku-famly", "key"),
    "a day that cron has not": ("mon-fri", "mon-fr", "schedule"),
    "a series in place of a family": ("[D, E, F]", "[Dsv5]", "values"),
    "an effect that is none": ("effect: NoSchedule}", "effect: NoSchedul}", "effect"),
    "a number of nodes without quotes": ("nodes: 20%", "nodes: 20", "nodes"),
    "a schedule without a duration": (", duration: 10h", "", "budgets"),
    "a label in a closed domain": ("acme.io/tier:", "kubernetes.azure.com/tier:", "labels"),
    "two values where one is compared": ('values: ["33"]', 'values: ["33", "5"]', "values"),
    "a node class without its name": (", name: general}", "}", "nodeClassRef"),
}
"""What is wrong → the right text, the wrong one, and the field that is marked."""
CORE = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, creationTimestamp: null}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  strategy: {}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: web, image: web, resources: {requests: {cpu: 0.5, memory: 2Gi}}}
      nodeSelector: {kubernetes.io/arch: amd64}
      tolerations:
      - {key: acme.io/spot, operator: Exists, effect: NoSchedule}
      topologySpreadConstraints:
      - {maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: ScheduleAnyway}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web}
spec: {maxUnavailable: 1, selector: {matchLabels: {app: web}}}
status: {}
"""
CORE_MISTAKES = {
    "a number in quotes": ("replicas: 3", 'replicas: "3"', "replicas"),
    "a field of another kind": ("nodeSelector:", "nodeSelectors:", "spec"),
    "an amount with a blank": ("memory: 2Gi", "memory: 2 Gi", "memory"),
    "an amount of no unit": ("memory: 2Gi", "memory: 2GB", "memory"),
    "an effect in lower case": ("effect: NoSchedule", "effect: noschedule", "effect"),
    "a yes of YAML where a text is": ("kubernetes.io/arch: amd64", "kubernetes.io/arch: true", "nodeSelector"),
    "a choice that is none": ("ScheduleAnyway", "Schedule", "whenUnsatisfiable"),
    "no pods to choose": ("  selector: {matchLabels: {app: web}}\n  strategy", "  strategy", "spec"),
    "an older group": ("policy/v1", "policy/v1beta1", "apiVersion"),
}
"""The same of Kubernetes' own kinds."""
MEANINGLESS = (
    "on Azure a node class is of this group",
    "on Azure a node class is of this kind",
    "no cron expression: nothing would be disrupted",
    "a family is letters alone, such as D or NC",
)


def errors(schema: Mapping[str, Any], text: str) -> list[str]:
    """The places that a schema marks in the documents of a text."""
    judge = jsonschema.Draft7Validator(schema)
    return [
        ".".join(map(str, error.absolute_path))
        for document in yaml.safe_load_all(text)
        for error in judge.iter_errors(document)
    ]


def test_what_is_right_is_not_marked() -> None:
    assert errors(json_schema(), DOCUMENTS) == []


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_marked_where_it_is(mistake: str) -> None:
    right, wrong, field = MISTAKES[mistake]
    assert right in DOCUMENTS
    marked = errors(
        json_schema(),
        DOCUMENTS.replace(right, wrong, 1) if mistake != "a kind in another case" else DOCUMENTS.replace(right, wrong),
    )
    assert marked
    assert all(field in place for place in marked)


@pytest.mark.parametrize("mistake", CORE_MISTAKES)
def test_a_mistake_in_a_kind_of_kubernetes_is_marked_where_it_is(mistake: str) -> None:
    right, wrong, field = CORE_MISTAKES[mistake]
    assert right in CORE
    assert errors(json_schema(), CORE) == []
    marked = errors(json_schema(), CORE.replace(right, wrong, 1))
    assert marked
    assert all(field in place for place in marked)


def test_a_kind_of_kubernetes_has_a_schema_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = call(capsys, "schema", "--kind", "Deployment")
    assert code == 0
    schema = json.loads(out)
    jsonschema.Draft7Validator.check_schema(schema)
    deployment = CORE.partition("---\n")[0]
    assert errors(schema, deployment) == []
    assert errors(schema, deployment.replace("replicas: 3", 'replicas: "3"')) == ["spec.replicas"]
    assert errors(schema, deployment.replace("replicas: 3", "replicas: $(n)")) == ["spec.replicas"]
    assert errors(json_schema(), deployment.replace("replicas: 3", "replicas: $(n)")) == []


def test_manifests_of_the_corpus_are_not_marked() -> None:
    judge = jsonschema.Draft7Validator(json_schema())
    kinds = set(core_kinds())
    documents = [
        (path.name, document)
        for path in sorted((ROOT / "scenarios").rglob("*.yaml"))[::5]
        for document in yaml.safe_load_all(path.read_text(encoding="utf-8"))
        if isinstance(document, dict) and document.get("kind") in kinds
    ]
    assert len(documents) > 50
    marked = [(name, error.message) for name, document in documents for error in judge.iter_errors(document)]
    assert not marked


GO_ONLY = re.compile(r"\(\?(?![:=!<])|\\[^dDsSwWbB^$\\.*+?()\[\]{}|/tnr-]")
"""Parts of an expression that Go has and ECMA-262 lacks: flags, and escapes of characters that mean nothing."""


def patterns(value: Any) -> Iterator[str]:
    """Yield the patterns of a schema."""
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    if isinstance(value, dict) and isinstance(value.get("pattern"), str):
        yield value["pattern"]
    for child in children:
        yield from patterns(child)


def test_patterns_are_such_as_json_schema_has() -> None:
    """One that is not makes strict tools refuse the whole schema (draft 7, 6.3.3: ECMA 262)."""
    found = set(patterns(json_schema()))
    assert len(found) > 20
    assert not [pattern for pattern in found if GO_ONLY.search(pattern)]
    assert any("[Ss][Uu][Bb][Nn][Ee][Tt][Ss]" in pattern for pattern in found)


def test_a_name_that_another_document_has_not_is_no_matter_for_a_schema() -> None:
    """An editor looks at each document by itself; `harness validate` warns of it (nodeclass-missing)."""
    assert errors(json_schema(), DOCUMENTS.replace("name: general}\n      taints", "name: genral}\n      taints")) == []


def test_files_that_refer_to_each_other_say_the_same() -> None:
    files = schema_files()
    registry = referencing.Registry().with_resources(
        (f"http://here/{name}", referencing.Resource.from_contents(json.loads(text))) for name, text in files.items()
    )
    judge = jsonschema.Draft7Validator({"$ref": "http://here/scenario.schema.json"}, registry=registry)
    whole = jsonschema.Draft7Validator(json_schema())
    mistakes = [(DOCUMENTS, *mistake) for mistake in MISTAKES.values()]
    mistakes += [(CORE, *mistake) for mistake in CORE_MISTAKES.values()]
    for all_right, right, wrong, _ in mistakes:
        for text in (all_right, all_right.replace(right, wrong, 1)):
            documents = list(yaml.safe_load_all(text))
            assert [judge.is_valid(document) for document in documents] == [
                whole.is_valid(document) for document in documents
            ]


def test_the_committed_files_are_current() -> None:
    for name, text in schema_files().items():
        assert (ROOT / "harness" / "scenario" / name).read_text(encoding="utf-8") == text, "run: make schema"


@pytest.mark.parametrize("value", ["$(n)", "a-$(n)"])
def test_a_variable_of_the_matrix_stands_for_any_value_of_a_scenario(value: str) -> None:
    for text in (DOCUMENTS.replace("weight: 50", f"weight: {value}"), DOCUMENTS.replace("5m", value)):
        assert errors(json_schema(), text) == []
        assert errors(kind_schema(crd_set("1.14.0"), "NodePool"), text.partition("---\n")[2]) != []


def test_fields_are_those_of_the_release() -> None:
    text = DOCUMENTS.replace("osDiskSizeGB: 128", "osDiskSizeGB: 128, fipsMode: FIPS")
    assert errors(json_schema(crd_set("1.4.0")), text)
    assert not errors(json_schema(crd_set("1.14.0")), text.replace("Ubuntu2204", "AzureLinux"))


def recorded() -> Iterator[tuple[dict[str, Any], bool]]:
    """Objects, and whether the API server's own code takes them by the CRDs of 1.14.0, as recorded."""
    with gzip.open(RECORDED, "rt", encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            yield record["input"]["object"], not record["answer"]["crd"]["errors"]


def test_nothing_is_marked_that_the_real_code_takes() -> None:
    """But for unknown fields and keys without a value, which an API server drops, and what means nothing although it is taken."""
    crds = crd_set("1.14.0")
    judges = {kind: jsonschema.Draft7Validator(kind_schema(crds, kind)) for kind in kinds_of(crds)}
    taken = refused = seen = 0
    for obj, accepted in recorded():
        marked = [
            error.message
            for error in judges[obj["kind"]].iter_errors(obj)
            if error.validator != "additionalProperties"
            and error.instance is not None
            and error.schema.get("errorMessage") not in MEANINGLESS
        ]
        if accepted:
            taken += 1
            assert not marked, obj
        else:
            refused += 1
            seen += bool(marked)
    assert min(taken, refused) > 50
    assert seen > refused * 0.8  # the rest compares values with each other, or lists


def test_the_command_prints_a_kind_writes_a_folder_and_names_mistakes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = call(capsys, "schema", "--kind", "NodePool", "--release", "1.10.2")
    assert code == 0
    assert json.loads(out)["title"] == "NodePool (1.10.2)"
    assert call(capsys, "schema", "--into", str(tmp_path / "schemas"))[0] == 0
    assert (tmp_path / "schemas" / "crds" / "NodePool.schema.json").is_file()
    code, _, err = call(capsys, "schema", "--kind", "Nodepool")
    assert (code, err) == (
        2,
        "harness schema: --kind: release 1.14.0 has no kind 'Nodepool'; did you mean 'NodePool' or 'Node' or 'NodeOverlay'?\n",
    )
    code, _, err = call(capsys, "schema", "--release", "9.9.9")
    assert code == 2
    assert "no CRDs of release '9.9.9'" in err


@pytest.mark.parametrize("release", crd_sets())
def test_every_release_has_schemas_of_its_kinds(release: str) -> None:
    crds = crd_set(release)
    for kind, versions in kinds_of(crds).items():
        jsonschema.Draft7Validator.check_schema(kind_schema(crds, kind))
        newest = version_schema(crds, versions[-1], kind)
        assert all(version_schema(crds, version, kind) == newest for version in versions)
    made = testing.nodepool(name="web")
    assert jsonschema.Draft7Validator(kind_schema(crds, "NodePool")).is_valid(made)
