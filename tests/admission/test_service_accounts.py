"""Service accounts: a pod needs its own (kubernetes plugin/pkg/admission/serviceaccount); files for a cluster need not have them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.kube.admission.service_account import account_of, missing_account
from harness.reading.manifests import read_manifests
from harness.scenario.language.dumps import sorted_dump
from harness.testing import pod
from harness.world import World


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ({}, "default"),
        ({"serviceAccountName": "a"}, "a"),
        ({"serviceAccount": "b"}, "b"),
        ({"serviceAccountName": ""}, "default"),
    ],
)
def test_the_account_of_a_pod(spec: dict[str, Any], name: str) -> None:
    assert account_of(spec) == name


def test_a_missing_account_is_named() -> None:
    needs = pod("a", serviceAccountName="agent")
    text = 'error looking up service account shop/agent: serviceaccount "agent" not found'
    assert missing_account(needs, "shop", lambda name: False) == text
    assert missing_account(needs, "shop", lambda name: name == "agent") == ""
    static = {**needs, "metadata": {**needs["metadata"], "annotations": {"kubernetes.io/config.mirror": "x"}}}
    assert missing_account(static, "shop", lambda name: False) == ""


def test_a_world_refuses_the_pod_until_the_account_is_there() -> None:
    world = World()
    needs = pod("a", serviceAccountName="agent")
    (refused,) = world.apply(needs)
    assert (
        refused.text
        == 'pods "a" is forbidden: error looking up service account default/agent: serviceaccount "agent" not found'
    )
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "agent"}}
    assert world.apply(account, needs) == []


FILES = """\
apiVersion: v1
kind: ServiceAccount
metadata: {name: known, namespace: shop}
---
apiVersion: v1
kind: Pod
metadata: {name: a, namespace: shop}
spec: {serviceAccountName: known, containers: [{name: c, image: c}]}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: b}
spec: {jobTemplate: {spec: {template: {spec: {serviceAccountName: other, containers: []}}}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: c}
spec: {template: {spec: {serviceAccountName: other, containers: []}}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: d}
data: {serviceAccountName: no}
"""


def test_files_for_a_cluster_need_not_have_its_accounts(tmp_path: Path) -> None:
    file = tmp_path / "all.yaml"
    file.write_text(FILES)
    accounts = [
        manifest.reference
        for manifest in sorted_dump(read_manifests(file)).manifests
        if manifest.kind == "ServiceAccount"
    ]
    assert accounts == ["ServiceAccount/other", "ServiceAccount/shop/known"]
