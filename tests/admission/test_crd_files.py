"""CRD files of the user's, their rules in a real CEL engine: verdicts like the tables', failures in the API server's words."""

from pathlib import Path

import pytest

from harness.clusters.crd_files import CrdFileError, CrdFiles
from harness.karpenter.validation import admit, crd_set
from tests.admission.objects import Object, nodeclass, nodepool

pytest.importorskip("cel_expr_python")

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
    with pytest.raises(CrdFileError, match=rf"x\.yaml: NodePool: .*{message}"):
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
