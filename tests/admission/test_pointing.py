"""A rejection points at the keys and values at fault, in the object as the user wrote it."""

import pytest

from harness.karpenter.validation import RejectionLayer, admit, crd_set
from harness.kube.api.field_errors import Pointer
from tests.admission.objects import Object, exists, nodeclaim, nodeclass, nodepool

IN_POOL: Pointer = ("spec", "template", "spec", "requirements")
LABELS: Pointer = ("spec", "template", "metadata", "labels")

# object, layer, key, rule, pointer
POINTED: list[tuple[Object, RejectionLayer, str | None, str, Pointer]] = [
    (
        nodepool(labels={"team": "a", "kubernetes.azure.com/foo": "x"}),
        RejectionLayer.CRD_CEL,
        "kubernetes.azure.com/foo",
        "domain:kubernetes.azure.com",
        (*LABELS, "kubernetes.azure.com/foo"),
    ),
    (
        nodepool(requirements=[exists("team"), exists("karpenter.sh/x")]),
        RejectionLayer.CRD_CEL,
        "karpenter.sh/x",
        "domain:karpenter.sh",
        (*IN_POOL, 1, "key"),
    ),
    (
        nodeclaim(exists("team"), exists("agentpool")),
        RejectionLayer.NODECLAIM_CEL,
        "agentpool",
        "key:agentpool",
        ("spec", "requirements", 1, "key"),
    ),
    (
        nodepool(requirements=[{"key": "team", "operator": "In", "values": []}]),
        RejectionLayer.CRD_CEL,
        "team",
        "values:In",
        (*IN_POOL, 0, "values"),
    ),
    (
        nodepool(requirements=[{"key": "team", "operator": "In"}]),
        RejectionLayer.CRD_CEL,
        "team",
        "values:In",
        (*IN_POOL, 0),
    ),
    (
        nodepool(requirements=[{"key": "team", "operator": "Is"}]),
        RejectionLayer.CRD_SCHEMA,
        "team",
        "",
        (*IN_POOL, 0, "operator"),
    ),
    (nodepool(labels={"team": "a b"}), RejectionLayer.CRD_SCHEMA, "team", "", (*LABELS, "team")),
    (nodeclass(tags={"a%b": "x"}), RejectionLayer.CRD_CEL, None, "keys-without:<>%&?", ("spec", "tags", "a%b")),
    (
        nodepool(of_pool={"replicas": 1, "limits": {"nodes": "2", "cpu": "4"}}),
        RejectionLayer.CRD_CEL,
        None,
        "lone:limits.nodes",
        ("spec", "limits", "cpu"),
    ),
    (nodepool(of_pool={"weight": 101}), RejectionLayer.CRD_SCHEMA, None, "", ("spec", "weight")),
]


@pytest.mark.parametrize(("obj", "layer", "key", "rule", "pointer"), POINTED)
def test_points_at_the_cause(obj: Object, layer: RejectionLayer, key: str | None, rule: str, pointer: Pointer) -> None:
    rejection = admit(obj, crds=crd_set("1.14.0")).rejections[0]
    assert (rejection.layer, rejection.key, rejection.rule, rejection.pointer) == (layer, key, rule, pointer)


def test_one_rejection_for_each_offending_label() -> None:
    admission = admit(
        nodepool(labels={"karpenter.sh/b": "x", "team": "a", "karpenter.sh/a": "x"}), crds=crd_set("1.14.0")
    )
    assert len(admission.errors) == 1
    assert {rejection.key for rejection in admission.rejections} == {"karpenter.sh/a", "karpenter.sh/b"}


def test_the_bare_end_of_a_domain_counts() -> None:
    admission = admit(nodepool(labels={"mykarpenter.sh/x": "x"}), crds=crd_set("1.14.0"))
    assert [rejection.key for rejection in admission.rejections] == ["mykarpenter.sh/x"]


@pytest.mark.parametrize(
    ("kubelet", "accepted"), [({"failSwapOn": False}, True), ({"failSwapOn": True}, False), ({}, False)]
)
def test_a_swap_file_needs_a_kubelet_that_bears_it(kubelet: Object, accepted: bool) -> None:
    """The rule of the CRD: kubelet.failSwapOn must be set to false when linuxOSConfig.swapFileSize is specified."""
    admission = admit(nodeclass(linuxOSConfig={"swapFileSize": "1Gi"}, kubelet=kubelet), crds=crd_set("1.14.0"))
    pointers = [rejection.pointer for rejection in admission.rejections]
    assert pointers == ([] if accepted else [("spec", "linuxOSConfig", "swapFileSize")])


@pytest.mark.parametrize(
    ("ports", "rules"),
    [
        ("1024 65535", []),
        ("1024", ["", "ports-ordered:netIPv4IPLocalPortRange", "port-between:netIPv4IPLocalPortRange[1]"]),
        ("2000 1", ["ports-ordered:netIPv4IPLocalPortRange", "port-between:netIPv4IPLocalPortRange[1]"]),
        ("1023 32768", ["port-between:netIPv4IPLocalPortRange[0]"]),
    ],
)
def test_a_range_of_ports_has_two_numbers_in_order(ports: str, rules: list[str]) -> None:
    """Rules of the CRD, which CEL evaluates for a text that the pattern does not fit, too."""
    sysctls = {"netIPv4IPLocalPortRange": ports}
    rejections = admit(nodeclass(linuxOSConfig={"sysctls": sysctls}), crds=crd_set("1.14.0")).rejections
    assert [rejection.rule for rejection in rejections] == rules


@pytest.mark.parametrize(
    ("key", "value", "rules"),
    [(512, 256, []), (513, 256, ["key-length:512"]), (512, 257, ["value-length:256"])],
)
def test_a_tag_is_as_long_as_azure_takes_it(key: int, value: int, rules: list[str]) -> None:
    """Kaz pkg/apis/v1beta1/aksnodeclass.go: size(k) <= 512, size(self[k]) <= 256."""
    rejections = admit(nodeclass(tags={"k" * key: "v" * value}), crds=crd_set("1.14.0")).rejections
    assert [rejection.rule for rejection in rejections] == rules


def test_names_of_sets_of_crds_with_and_without_v() -> None:
    assert crd_set("v1.14.0") == crd_set("1.14.0")
    assert {crd_set(f"design-2025-11-07{base}").name for base in ("", "@1.14.0")} == {
        "design-2025-11-07",
        "design-2025-11-07@1.14.0",
    }
