"""Since which release a rule holds: accepted by the last release without it, refused by the first with it."""

import pytest

from harness.karpenter.releases import ALL_PROVIDER_RELEASES, provider
from harness.karpenter.validation import UnknownCrdSet, admit, crd_set, crd_sets
from tests.admission.objects import Object, exists, nodeclass, nodepool

# object, last release that accepts, first that refuses, sentence; from the CRD files of both releases
BEGINS: list[tuple[Object, str, str, str]] = [
    (
        nodepool(labels={"kubernetes.azure.com/storageprofile": "managed"}),
        "1.12.2",
        "1.13.0",
        'label domain "kubernetes.azure.com" is restricted',
    ),
    (nodepool(requirements=[exists("agentpool")]), "1.12.2", "1.13.0", 'label "agentpool" is restricted'),
    (
        nodeclass(fipsMode="FIPS", imageFamily="Ubuntu2204"),
        "1.6.1",
        "1.6.2",
        "FIPS is not yet supported for Ubuntu2204",
    ),
    (
        nodeclass(tags={"a<b": "x"}),
        "1.6.1",
        "1.6.2",
        "tags keys must not contain '<', '>', '%', '&', or '?'",
    ),
    (
        nodeclass(linuxOSConfig={"swapFileSize": "1G"}),
        "1.7.2",
        "1.10.0",
        "kubelet.failSwapOn must be set to false when linuxOSConfig.swapFileSize is specified",
    ),
]
# object, last release that refuses, first that accepts
ENDS: list[tuple[Object, str, str]] = [
    (nodepool(labels={"kubernetes.io/foo": "x"}), "1.7.2", "1.10.0"),
    (nodepool(requirements=[exists("foo.k8s.io/x")]), "1.7.2", "1.10.0"),
    (nodepool(labels={"karpenter.azure.com/sku-series": "x"}), "1.6.5", "1.6.6"),
    (nodepool(labels={"karpenter.azure.com/placement-scope": "zonal"}), "1.10.2", "1.12.0"),
    (nodepool(labels={"kubernetes.azure.com/network-policy": "x"}), "1.13.0", "1.13.1"),
    (nodepool(labels={"karpenter.azure.com/sku-storage-ultra-ssd": "true"}), "1.13.1", "1.14.0"),
    (nodepool(requirements=[{"key": "x", "operator": "Gte", "values": ["1"]}]), "1.7.2", "1.10.0"),
]


@pytest.mark.parametrize(("obj", "before", "since", "sentence"), BEGINS)
def test_a_rule_begins(obj: Object, before: str, since: str, sentence: str) -> None:
    assert admit(obj, crds=crd_set(before)).accepted
    assert [rejection.message for rejection in admit(obj, crds=crd_set(since)).rejections][:1] == [sentence]


@pytest.mark.parametrize(("obj", "last", "first"), ENDS)
def test_a_refusal_ends(obj: Object, last: str, first: str) -> None:
    assert not admit(obj, crds=crd_set(last)).accepted
    assert admit(obj, crds=crd_set(first)).accepted


def test_every_release_has_its_definitions() -> None:
    assert set(ALL_PROVIDER_RELEASES) <= set(crd_sets())
    for name in ALL_PROVIDER_RELEASES:
        crds = crd_set(provider(name).crds)
        kinds = {kind.rpartition("/")[2] for kind in crds.kinds}
        assert (
            {"NodePool", "NodeClaim", "AKSNodeClass"}
            <= kinds
            <= {"NodePool", "NodeClaim", "AKSNodeClass", "NodeOverlay"}
        )
        assert admit(nodepool(), crds=crds).accepted


def test_an_unknown_release_names_the_known_ones() -> None:
    with pytest.raises(UnknownCrdSet, match=r"'1\.9\.9'.*1\.4\.0.*1\.14\.2"):
        crd_set("1.9.9")


def test_rules_can_be_listed() -> None:
    rows = crd_set("1.14.0").rules("NodePool")
    assert len(rows) == len({row.id for row in rows})
    by_id = {row.id: row for row in rows}
    row = by_id["NodePool/spec.template.metadata.labels/domain:kubernetes.azure.com"]
    assert (row.since, row.until) == ("1.13.1", "next"), "1.13.0 had a shorter list of allowed keys"
    assert "kubernetes.azure.com/hostedvm" in row.rule.expression
    every = [row for name in crd_sets() for row in crd_set(name).rules("NodePool")]
    assert {row.since for row in every if row.rule.id == "domain:kubernetes.azure.com"} == {"1.13.0", "1.13.1"}
