"""CRD files of the user's, their rules in a real CEL engine: verdicts like the tables', failures in the API server's words."""

import sys
from pathlib import Path

import pytest

from harness.clusters.crd_files import CelEngineMissing, CrdFileError, CrdFiles
from harness.karpenter.validation import admit, crd_set
from harness.reading.problems import ScenarioError
from tests.admission.objects import Object, nodeclass, nodepool

pytest.importorskip("cel_expr_python")
pytest.importorskip("re2")  # both come with the extra `crds`

HEAD = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: nodepools.karpenter.sh}
spec:
  group: karpenter.sh
  scope: Cluster
  names: {kind: NodePool, plural: nodepools}
  versions:
  - name: v1
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            x-kubernetes-validations:
            - {rule: "!has(self.replicas) || !has(self.weight)", message: "'weight' is not supported on static NodePools"}
            - {rule: "!has(oldSelf.weight) || has(self.weight)", message: weight may not go}
            properties:
              replicas: {type: integer}
              weight: {type: integer, maximum: 100}
              limit:
                type: integer
                x-kubernetes-validations:
                - {rule: "oldSelf.hasValue() ? self >= oldSelf.value() : self > 0", optionalOldSelf: true, message: limits grow}
              ports: {type: string, x-kubernetes-validations: [{rule: "int(self.split(' ')[1]) > 5", message: second port}]}
              template:
                type: object
                properties:
                  metadata:
                    type: object
                    properties:
                      labels:
                        type: object
                        additionalProperties: {type: string}
                        x-kubernetes-validations:
                        - rule: self.all(x, x in ["karpenter.sh/nodepool",] || !x.find("^([^/]+)").endsWith("karpenter.sh"))
                          message: label domain "karpenter.sh" is restricted
                  spec:
                    type: object
                    properties:
                      requirements:
                        type: array
                        items: {type: object, x-kubernetes-preserve-unknown-fields: true}
                        x-kubernetes-validations:
                        - {rule: "self.all(x, x.operator == 'In' ? x.values.size() != 0 : true)", message: needs values}
"""


@pytest.fixture
def crds(tmp_path: Path) -> CrdFiles:
    (tmp_path / "nodepools.yaml").write_text(HEAD)
    (tmp_path / "kustomization.yaml").write_text("kind: Kustomization\n")
    return CrdFiles(tmp_path)


@pytest.mark.parametrize(
    ("obj", "text"),
    [
        (nodepool(of_pool={"replicas": 1}), ""),
        (
            nodepool(of_pool={"replicas": 1, "weight": 1}),
            "spec: Invalid value: 'weight' is not supported on static NodePools",
        ),
        # a float where the schema says integer: a rule may not read it, and || absorbs that
        (nodepool(of_pool={"replicas": 1.0}), ""),
        (
            nodepool(of_pool={"replicas": 1.0, "weight": 1}),
            'spec: Invalid value: "object": invalid data, expected int, got float64 evaluating rule: '
            "'weight' is not supported on static NodePools",
        ),
        (
            nodepool(labels={"karpenter.sh/x": "x"}),
            'spec.template.metadata.labels: Invalid value: label domain "karpenter.sh" is restricted',
        ),
        (nodepool(labels={"karpenter.sh/nodepool": "x"}), ""),
        (
            nodepool(requirements=[{"operator": "In"}]),
            'spec.template.spec.requirements: Invalid value: "array": no such key: values evaluating rule: needs values',
        ),
        (
            nodepool(of_pool={"ports": "1"}),
            'spec.ports: Invalid value: "string": index out of bounds: 1 evaluating rule: second port',
        ),
        (
            nodepool(of_pool={"ports": "1 x"}),
            "spec.ports: Invalid value: \"string\": type conversion error from 'string' to 'int' evaluating rule: second port",
        ),
        (nodepool(of_pool={"ports": "1 5"}), 'spec.ports: Invalid value: "1 5": second port'),
    ],
)
def test_rules(crds: CrdFiles, obj: Object, text: str) -> None:
    assert [str(error) for error in admit(obj, crds=crds).errors] == ([text] if text else [])


def test_a_rule_with_an_optional_old_value_runs_on_create_too(crds: CrdFiles) -> None:
    """And is never tolerated: it compares with the old value, as every transition rule (apiextensions-apiserver schema/cel)."""

    def limited(limit: int) -> Object:
        return nodepool(of_pool={"limit": limit})

    refused = ["spec.limit: Invalid value: 0: limits grow"]
    assert admit(limited(1), crds=crds).accepted
    assert [str(error) for error in admit(limited(0), crds=crds).errors] == refused
    assert admit(limited(3), old=limited(3), crds=crds).accepted
    assert admit(limited(3), old=nodepool(), crds=crds).accepted
    assert [str(error) for error in admit(limited(0), old=nodepool(), crds=crds).errors] == refused
    (error,) = admit(limited(2), old=limited(3), crds=crds).errors
    assert error.detail == "limits grow"


def test_rules_that_compare(crds: CrdFiles) -> None:
    old, new = nodepool(of_pool={"weight": 1}), nodepool()
    assert [str(error) for error in admit(new, old=old, crds=crds).errors] == ["spec: Invalid value: weight may not go"]
    assert admit(new, crds=crds).accepted


@pytest.mark.parametrize(
    "obj", [nodepool(labels={"karpenter.sh/x": "x"}), nodepool(of_pool={"replicas": 1, "weight": 5})]
)
def test_agree_with_the_tables(crds: CrdFiles, obj: Object) -> None:
    ours = admit(obj, crds=crd_set("1.14.0"))
    assert [str(error) for error in admit(obj, crds=crds).errors] == [str(error) for error in ours.errors]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("has(self.replicas)", "has(self.replicas", "does not compile"),
        ("message: second port", "messageExpression: x", "messageExpression is not supported"),
        ("maximum: 100", "patternProperties: {}", "keyword patternProperties is not supported"),
    ],
)
def test_what_cannot_be_used_is_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    (tmp_path / "x.yaml").write_text(HEAD.replace(old, new))
    with pytest.raises(CrdFileError, match=rf"x\.yaml:\d+:\d+: NodePool: .*{message}"):
        admit(nodepool(), crds=CrdFiles(tmp_path))


def test_directories_without_definitions(tmp_path: Path) -> None:
    with pytest.raises(CrdFileError, match="no CustomResourceDefinition"):
        CrdFiles(tmp_path)
    (tmp_path / "bad.yaml").write_text("a: [")
    with pytest.raises(CrdFileError, match=r"bad\.yaml"):
        CrdFiles(tmp_path)


def test_a_kind_that_the_files_lack(crds: CrdFiles) -> None:
    assert crds.resource("karpenter.azure.com/v1beta1", "AKSNodeClass") is None
    assert nodeclass()["kind"] not in {kind.rpartition("/")[2] for kind in crds.kinds}


LOOKAROUND = (
    "invalid or unsupported Perl syntax: `(?=`; "
    "RE2 has no lookaround: write what may stand there, as in [^x], or a second condition"
)


@pytest.mark.parametrize(
    ("old", "new", "at", "text"),
    [
        (
            "{type: string, x-k",
            "{pattern: '((', x-k",
            "pattern: '(('",
            "NodePool: pattern: error parsing regexp: missing closing ): `((`",
        ),
        (
            'find("^([^/]+)")',
            "find('a(?=b)')",
            "rule: self.all(x, x in",
            f"has a pattern that is none: error parsing regexp: {LOOKAROUND}",
        ),
        ("weight: {", "weight: &p {properties: *p, ", "*p", "alias *p lies inside the value that it names"),
        (
            "limit:\n",
            "limit: &l\n                not: {properties: {l: *l}}\n",
            "*l",
            "alias *l lies inside the value that it names",
        ),
        ('"!has(self.replicas) ||', '"' + "(" * 3000 + "!has(self.replicas) ||", "rule: ", "does not compile: "),
        (
            "rule: self.all(x, x in",
            "rule2: self.all(x, x in",
            "rule2: ",
            "NodePool: a rule is a map with `rule`, a text",
        ),
        (
            "items: {",
            "items: {allOf: [{pattern: '['}], ",
            "pattern: '['",
            "pattern: error parsing regexp: missing closing ]: `[`",
        ),
        ("limit:\n", "other: 5\n              limit:\n", "other: 5", "NodePool: a schema is a map"),
    ],
)
def test_a_mistake_in_a_crd_file_is_told_with_its_place(tmp_path: Path, old: str, new: str, at: str, text: str) -> None:
    """Cyclic aliases, patterns that RE2 refuses in schemas and in rules, rules that are none."""
    assert old in HEAD
    (tmp_path / "x.yaml").write_text(HEAD.replace(old, new))
    with pytest.raises(CrdFileError) as found:
        CrdFiles(tmp_path, "mine").compile()
    (problem,) = found.value.problems
    assert problem.mark.file == "mine/x.yaml"
    line = HEAD.replace(old, new).splitlines()[problem.mark.line - 1]
    place = line[problem.mark.column - 1 :]
    assert place.startswith(at) or at in place
    assert text in problem.what
    assert len(str(found.value).splitlines()) == 1
    assert len(str(found.value)) < 800


def test_all_mistakes_of_crd_files_are_told(tmp_path: Path) -> None:
    wrong = HEAD.replace("int(self.split", "int((self.split").replace("limits grow}", "limits grow, reason: x}")
    (tmp_path / "x.yaml").write_text(wrong)
    with pytest.raises(CrdFileError) as found:
        CrdFiles(tmp_path).compile()
    limits, port = (wrong.splitlines()[problem.mark.line - 1] for problem in found.value.problems)
    assert "limits grow" in limits
    assert "second port" in port


def test_a_pattern_of_a_schema_is_searched_in_linear_time(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text(HEAD.replace("{type: string, x-k", "{pattern: '(a+)+$', type: string, x-k"))
    refused = admit(nodepool(of_pool={"ports": "a" * 5000 + "!"}), crds=CrdFiles(tmp_path)).errors
    assert "should match '(a+)+$'" in str(refused[0])


def test_a_rule_that_does_not_end_is_a_mistake_of_its_file(tmp_path: Path) -> None:
    """The engine's own budget ends it, and not the machine's patience."""
    rule = "self.all(x, self.all(y, self.all(z, x.operator != y.operator + z.operator)))"
    (tmp_path / "x.yaml").write_text(HEAD.replace(ALL_ELEMENTS, rule))
    many = nodepool(requirements=[{"operator": "In", "values": ["x"]}] * 30)
    with pytest.raises(ScenarioError, match=r"x\.yaml:\d+:\d+: NodePool: this rule looks at more elements"):
        admit(many, crds=CrdFiles(tmp_path))


ALL_ELEMENTS = "self.all(x, x.operator == 'In' ? x.values.size() != 0 : true)"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells and bounds the address space of a process")
@pytest.mark.parametrize(
    "rule",
    [
        "'a'" + ".replace('a', 'aaaaaaaaaa')" * 14 + " == self[0].operator",
        "self.map(x, 'a'" + ".replace('a', 'aaaaaaaaaa')" * 6 + ").map(x, self.map(y, x + x + x)).size() == 0",
        "['a']" + ".map(x, x + x + x + x + x + x + x + x + x + x + x)" * 12 + ".size() == 0",
    ],
)
def test_a_rule_that_fills_the_memory_is_a_mistake_of_its_file(tmp_path: Path, rule: str) -> None:
    """And the next rule has as much as before."""
    (tmp_path / "x.yaml").write_text(HEAD.replace(ALL_ELEMENTS, rule))
    many = nodepool(requirements=[{"operator": "In", "values": ["x"]}] * 30)
    crds = CrdFiles(tmp_path)
    for _ in range(2):
        with pytest.raises(
            ScenarioError, match=r"x\.yaml:\d+:\d+: NodePool: this rule makes texts or lists of more than 64 MiB"
        ):
            admit(many, crds=crds)
    (tmp_path / "x.yaml").write_text(HEAD)
    assert bytearray(128 << 20)
    admit(many, crds=CrdFiles(tmp_path))


def test_the_extra_is_named_where_it_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from harness.clusters import cel_engine

    monkeypatch.setitem(sys.modules, "re2", None)
    for cached in (cel_engine._environment, cel_engine._check, cel_engine._optional_check):
        cached.cache_clear()
    (tmp_path / "x.yaml").write_text(HEAD)
    with pytest.raises(CelEngineMissing, match=r"karpenter-azure-harness\[crds\]"):
        CrdFiles(tmp_path).compile()
