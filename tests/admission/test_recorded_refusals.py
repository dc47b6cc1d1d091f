"""What a real API server (Kubernetes 1.36.3, CRDs of 1.14.0) said to these NodePools, as kubectl printed it."""

import pytest

from harness.karpenter.validation import RejectionLayer, admit, crd_set
from tests.admission.objects import Object, exists, nodepool

ZONE = exists("topology.kubernetes.io/zone")
LABELS = "spec.template.metadata.labels: Invalid value: "
KEY = 'spec.template.spec.requirements[1].key: Invalid value: "{0}": '

REFUSED: list[tuple[Object, str]] = [
    (nodepool(labels={"kubernetes.azure.com/foo": "x"}), LABELS + 'label domain "kubernetes.azure.com" is restricted'),
    (
        nodepool(requirements=[ZONE, exists("kubernetes.azure.com/foo")]),
        KEY.format("kubernetes.azure.com/foo") + 'label domain "kubernetes.azure.com" is restricted',
    ),
    (nodepool(labels={"karpenter.azure.com/foo": "x"}), LABELS + 'label domain "karpenter.azure.com" is restricted'),
    (
        nodepool(requirements=[ZONE, exists("karpenter.azure.com/foo")]),
        KEY.format("karpenter.azure.com/foo") + 'label domain "karpenter.azure.com" is restricted',
    ),
    (nodepool(labels={"kubernetes.io/hostname": "x"}), LABELS + 'label "kubernetes.io/hostname" is restricted'),
    (nodepool(labels={"karpenter.sh/foo": "x"}), LABELS + 'label domain "karpenter.sh" is restricted'),
    (nodepool(labels={"agentpool": "x"}), LABELS + 'label "agentpool" is restricted'),
    (
        nodepool(requirements=[{"key": "karpenter.azure.com/sku-cpu", "operator": "Gt", "values": ["many"]}]),
        "spec.template.spec.requirements: Invalid value: \"array\": type conversion error from 'string' to 'int' "
        "evaluating rule: requirements operator 'Gt', 'Lt', 'Gte', or 'Lte' must have a single positive integer value",
    ),
]
ACCEPTED: list[Object] = [
    nodepool(labels={"kubernetes.azure.com/mode": "user"}),
    nodepool(requirements=[ZONE, exists("kubernetes.azure.com/mode")]),
    nodepool(labels={"kubernetes.io/foo": "x"}),
    nodepool(labels={"node.kubernetes.io/foo": "x"}),
    nodepool(requirements=[{"key": "node.kubernetes.io/instance-type", "operator": "In", "values": ["nope"]}]),
]


@pytest.mark.parametrize(("obj", "text"), REFUSED)
def test_refused(obj: Object, text: str) -> None:
    admission = admit(obj, crds=crd_set("1.14.0"), kubernetes="1.36.3")
    assert admission.message == f'NodePool.karpenter.sh "neg" is invalid: {text}'
    (rejection,) = admission.rejections
    assert (rejection.layer, rejection.object, rejection.text) == (RejectionLayer.CRD_CEL, "NodePool/neg", text)


@pytest.mark.parametrize("obj", ACCEPTED)
def test_accepted(obj: Object) -> None:
    assert admit(obj, crds=crd_set("v1.14.0"), kubernetes="1.36.3").accepted
