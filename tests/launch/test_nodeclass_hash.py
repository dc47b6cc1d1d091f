"""What counts in the hash of an AKSNodeClass: Go's zero values do not, what stands behind a pointer does (hashstructure)."""

from __future__ import annotations

from typing import Any

import pytest

from harness.karpenter.launch.nodeclass_hash import nodeclass_hash
from harness.karpenter.releases import provider

FIELDS = provider("1.4.0").nodeclass_hash_fields | provider("1.14.0").nodeclass_hash_fields


def hashed(**spec: Any) -> str:
    return nodeclass_hash({"spec": spec}, FIELDS)


def dns(**override: Any) -> dict[str, Any]:
    return {"localDNS": {"mode": "Required", "vnetDNSOverrides": [{"zone": ".", **override}]}}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (dns(cacheDuration="Never"), dns()),
        (dns(serveStaleDuration="Never"), dns()),
        (dns(queryLogging=""), dns()),
        (dns(zone=""), {"localDNS": {"mode": "Required", "vnetDNSOverrides": [{}]}}),
        ({"localDNS": {"mode": ""}}, {"localDNS": {}}),
        (dns(cacheDuration="1h"), dns(cacheDuration="60m")),
        ({"kubelet": {"cpuCFSQuotaPeriod": "0s"}}, {"kubelet": {}}),
    ],
)
def test_what_makes_no_difference(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert hashed(**one) == hashed(**other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (dns(cacheDuration="1h"), dns()),
        (dns(cacheDuration="1h"), dns(cacheDuration="2h")),
        (dns(cacheDuration="0s"), dns(cacheDuration="Never")),  # a pointer to no time
        (dns(queryLogging="Log"), dns()),
        ({"localDNS": {"mode": "Required"}}, {"localDNS": {}}),
        ({"imageFamily": ""}, {}),  # a pointer to an empty text
        ({"kubelet": {}}, {}),
        ({"tags": {"a": ""}}, {}),
        ({"tags": {}}, {}),  # a map that is there
        ({"kubelet": {"allowedUnsafeSysctls": []}}, {"kubelet": {}}),
        ({"localDNS": {"vnetDNSOverrides": []}}, {"localDNS": {}}),
        ({"kubelet": {"cpuCFSQuotaPeriod": "1ms"}}, {"kubelet": {}}),
    ],
)
def test_what_makes_a_difference(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert hashed(**one) != hashed(**other)


def test_the_hash_of_an_empty_list_is_the_one_that_go_calculates() -> None:
    """Kaz ``pkg/apis/v1beta1/aksnodeclass.go`` Hash of 1.14.0, of objects as its decoder reads them."""
    spec = {"imageFamily": "Ubuntu2204", "osDiskSizeGB": 128}
    hashes = [
        nodeclass_hash({"spec": {**spec, "kubelet": kubelet}}, provider("1.14.0").nodeclass_hash_fields)
        for kubelet in ({}, {"allowedUnsafeSysctls": []})
    ]
    assert hashes == ["13086400575342956906", "448501667507582437"]


@pytest.mark.parametrize(
    ("part", "field", "later", "other"),
    [
        ("kubelet", "Kubelet.FailSwapOn", {"failSwapOn": False}, {"podPidsLimit": 5}),
        ("security", "Security.TrustedLaunch", {"trustedLaunch": {"vtpm": True}}, {"encryptionAtHost": True}),
    ],
)
def test_a_field_of_a_struct_counts_from_the_release_on_that_has_it(
    part: str, field: str, later: dict[str, Any], other: dict[str, Any]
) -> None:
    """Before, the struct of Go has no such field, and the API server drops it."""

    def of(fields: frozenset[str], **value: Any) -> str:
        return nodeclass_hash({"spec": {part: value}}, fields)

    before, since = FIELDS - {field}, FIELDS | {field}
    assert of(before, **other, **later) == of(before, **other) == of(since, **other)
    assert of(since, **other, **later) != of(since, **other)
    assert of(before, **later) != of(before, **other)
    assert nodeclass_hash({"spec": {}}, before) != of(before, **later)
