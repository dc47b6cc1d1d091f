"""`harness upgrade-check`: what it finds, where it points, and its exit codes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from harness.cli import main

CLASS_REFERENCE = "nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, name: default}"
ON_DEMAND = "{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}"


def pool(labels: str = "team: blue", requirement: str = "") -> str:
    more = f"\n      - {requirement}" if requirement else ""
    return f"""apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: default}}
spec:
  template:
    metadata:
      labels:
        {labels}
    spec:
      {CLASS_REFERENCE}
      requirements:
      - {ON_DEMAND}{more}
"""


def nodeclass(spec: str) -> str:
    return f"apiVersion: karpenter.azure.com/v1beta1\nkind: AKSNodeClass\nmetadata: {{name: default}}\nspec: {spec}\n"


def pod(selector: str, name: str = "web") -> str:
    return f"""apiVersion: v1
kind: Pod
metadata: {{name: {name}}}
spec:
  nodeSelector:
    {selector}
  containers:
  - {{name: c, image: pause, resources: {{requests: {{cpu: 1}}}}}}
"""


class Check:
    """Runs the command on one file."""

    def __init__(self, directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self._directory = directory
        self._capsys = capsys

    def text(self, before: str, after: str, *documents: str, options: Sequence[str] = ()) -> tuple[int, str]:
        (self._directory / "pools.yaml").write_text("---\n".join(documents))
        code = main(["upgrade-check", "--from", before, "--to", after, "pools.yaml", *options])
        out, err = self._capsys.readouterr()
        return code, out + err

    def json(
        self, before: str, after: str, *documents: str, options: Sequence[str] = ()
    ) -> tuple[int, list[dict[str, Any]]]:
        (self._directory / "pools.yaml").write_text("---\n".join(documents))
        code = main(["upgrade-check", "--from", before, "--to", after, "pools.yaml", "--format", "json", *options])
        found: list[dict[str, Any]] = json.loads(self._capsys.readouterr().out)["findings"]
        return code, found


@pytest.fixture
def check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Check:
    monkeypatch.chdir(tmp_path)
    return Check(tmp_path, capsys)


def test_a_label_that_is_closed(check: Check) -> None:
    code, text = check.text("1.12.2", "1.13.1", pool("kubernetes.azure.com/storageprofile: managed"))
    lines = [line.strip() for line in text.splitlines()]
    assert code == 1
    assert lines[:6] == [
        "provider 1.12.2 → 1.13.1, eastus, Kubernetes 1.34.0",
        "",
        "NodePool/default",
        '! pools.yaml:8:9: kubernetes.azure.com/storageprofile is refused: label domain "kubernetes.azure.com" is restricted',
        "by crd-cel, rule domain:kubernetes.azure.com, since 1.13.0",
        "instead: ask for karpenter.azure.com/sku-storage-ephemeralos-maxsize",
    ]
    assert any(line.startswith("an object that is stored already stays") for line in lines)
    assert any("NodeClaims of the stored NodePool are refused, so it gets no Nodes" in line for line in lines)


def test_an_upgrade_without_consequences(check: Check) -> None:
    code, text = check.text("1.14.0", "1.14.2", nodeclass("{imageFamily: AzureLinux}"), pool())
    assert (code, text.splitlines()[-1]) == (0, "nothing changes")


def test_a_label_of_one_architecture(check: Check) -> None:
    """Artifact streaming is never on for arm64, where the cheapest size is: the other sizes are looked at, too."""
    code, text = check.text("1.10.0", "1.10.2", nodeclass("{imageFamily: Ubuntu2204}"), pool())
    told = "amd64 Nodes no longer have kubernetes.azure.com/artifactstreaming-enabled (was true, written by kubelet from base)"
    assert (code, told in text) == (1, True)
    assert check.text("1.10.1", "1.10.2", nodeclass("{imageFamily: AzureLinux}"), pool())[0] == 0


@pytest.mark.parametrize(
    ("before", "after", "documents", "expected"),
    [
        pytest.param(
            "1.12.0",
            "1.12.1",
            [pool(requirement="{key: kubernetes.azure.com/os-sku, operator: In, values: [Windows]}")],
            {
                "effect": "worse",
                "kind": "refused",
                "layer": "nodepool-runtime",
                "place": "pools.yaml:13:9",
                "since": "1.12.1",
                "instead": ["values that Karpenter knows: AzureLinux, Ubuntu"],
            },
            id="value Karpenter does not know",
        ),
        pytest.param(
            "1.6.5",
            "1.6.6",
            [pool(), pod("kubernetes.azure.com/cluster: other")],
            {"effect": "better", "kind": "pod", "key": "kubernetes.azure.com/cluster", "place": "pools.yaml:19:5"},
            id="Nodes without end are over",
        ),
        pytest.param(
            "1.6.6",
            "1.6.5",
            [pool(), pod("kubernetes.azure.com/cluster: other")],
            {"effect": "worse", "kind": "pod", "key": "kubernetes.azure.com/cluster", "place": "pools.yaml:19:5"},
            id="Nodes without end begin",
        ),
        pytest.param(
            "1.6.6",
            "1.6.7",
            [pool(), pod("kubernetes.azure.com/mode: system")],
            {"effect": "better", "kind": "pod"},
            id="a key becomes well-known",
        ),
        pytest.param(
            "1.6.7",
            "1.6.6",
            [pool(), pod("kubernetes.azure.com/mode: system")],
            {"effect": "worse", "kind": "pod", "key": "kubernetes.azure.com/mode", "place": "pools.yaml:19:5"},
            id="a well-known key is taken back",
        ),
        pytest.param(
            "1.12.0",
            "1.12.1",
            [pod("kubernetes.azure.com/mode: banana")],
            {"effect": "worse", "kind": "refused", "layer": "pod", "place": "pools.yaml:6:5", "object": "Pod/web"},
            id="a pod that Karpenter ignores",
        ),
        pytest.param(
            "1.6.1",
            "1.6.2",
            [nodeclass("{imageFamily: AzureLinux}"), pool()],
            {"effect": "changed", "kind": "hash", "object": "AKSNodeClass/default", "before": "v2", "after": "v3"},
            id="the hash's version",
        ),
        pytest.param(
            "1.13.1",
            "1.12.2",
            [pool("kubernetes.azure.com/agentpool: a")],
            {"effect": "better", "kind": "accepted", "key": "kubernetes.azure.com/agentpool"},
            id="going back opens a label",
        ),
        pytest.param(
            "1.13.1",
            "1.14.0",
            [pool("kubernetes.azure.com/agentpool: a")],
            {"effect": "same", "kind": "refused", "key": "kubernetes.azure.com/agentpool"},
            id="refused by both",
        ),
        pytest.param(
            "1.6.8",
            "1.6.7",
            [pool()],
            {
                "effect": "worse",
                "kind": "label",
                "key": "karpenter.sh/do-not-sync-taints",
                "before": "true",
                "after": None,
            },
            id="a label that is gone",
        ),
    ],
)
def test_findings(check: Check, before: str, after: str, documents: list[str], expected: dict[str, Any]) -> None:
    code, findings = check.json(before, after, *documents)
    assert [one for one in findings if one.items() >= expected.items()], findings
    assert code == int(any(one["effect"] == "worse" for one in findings))


def test_lost_sizes_are_counted_by_reason(check: Check) -> None:
    """Since 1.12 a size needs no SCSI disk controller: going back loses the NVMe-only ones."""
    _, findings = check.json("1.12.2", "1.10.2", pool())
    sizes = next(one for one in findings if one["kind"] == "sizes" and one["before"])
    assert sizes["effect"] == "changed"
    assert sum(int(note.split(" × ")[0]) for note in sizes["notes"]) == len(sizes["before"].split(", "))


def test_a_family_that_is_new_and_a_rule_about_two_fields(check: Check) -> None:
    code, findings = check.json("1.6.2", "1.6.3", nodeclass("{imageFamily: Ubuntu2404, fipsMode: FIPS}"))
    assert code == 1
    assert [(one["effect"], one["text"]) for one in findings] == [
        ("worse", "spec is refused: FIPS is not yet supported for Ubuntu2204 or Ubuntu2404"),
        (
            "better",
            'spec.imageFamily is taken; 1.6.2 refused it: supported values: "Ubuntu", "Ubuntu2204", "AzureLinux"',
        ),
    ]


def test_a_place_that_both_refuse_for_different_reasons(check: Check) -> None:
    _, findings = check.json("1.4.0", "1.14.0", pool("kubernetes.io/hostname: web"))
    both = 'kubernetes.io/hostname is refused by both: label "kubernetes.io/hostname" is restricted'
    assert [one["text"] for one in findings] == [both]
    _, findings = check.json("1.4.0", "1.6.2", nodeclass("{imageFamily: Ubuntu1804}"))
    assert [one["text"] for one in findings] == [
        'spec.imageFamily is refused by both: supported values: "Ubuntu", "Ubuntu2204", "AzureLinux" '
        '(1.4.0: supported values: "Ubuntu2204", "AzureLinux")'
    ]


def test_bad_input(check: Check) -> None:
    code, text = check.text("1.12.2", "1.99.0", pool())
    assert code == 2
    assert text.startswith("harness upgrade-check: --to: unknown release '1.99.0'")
    assert text.count("\n") == 1
    code, text = check.text("1.12.2", "1.13.1", "kind: NodePool\n")
    assert code == 2
    assert "'apiVersion' missing" in text


def test_lines_of_releases(check: Check) -> None:
    assert check.text("1.6", "v1.14", pool())[1].startswith("provider 1.6.8 → 1.14.2, ")


def test_objects_as_kubectl_get_prints_them(check: Check) -> None:
    """Their resourceVersion is the cluster's; with it no pod would be created, and nothing would seem to change."""
    plain = pod("karpenter.azure.com/sku-storage-ultra-ssd: 'true'")
    got = plain.replace("metadata: {name: web}", "metadata: {name: web, resourceVersion: '7', uid: u}")
    assert got != plain
    first, second = (check.text("1.13.1", "1.14.0", pool(), nodeclass("{}"), one) for one in (plain, got))
    assert "Pod/web" in first[1]
    assert first == second


def test_nodes_are_replaced_where_the_new_release_takes_another_image(check: Check) -> None:
    """Until 1.4 AzureLinux is version 2, from then on 3 with Kubernetes 1.32 (kaz pkg/providers/imagefamily/resolver.go)."""
    size = "{key: node.kubernetes.io/instance-type, operator: In, values: [Standard_D4s_v5]}"
    documents = (nodeclass("{imageFamily: AzureLinux}"), pool(requirement=size))
    for after in ("1.5.0", "1.6.5"):
        code, found = check.json("1.4.0", after, *documents, options=("--kubernetes", "1.32.4"))
        (drift,) = [one for one in found if one["kind"] == "drift"]
        told = "its Nodes have drifted (ImageDrift) and are replaced: they run V2gen2, V3gen2, V3"
        assert (code, drift["object"], drift["place"]) == (1, "AKSNodeClass/default", "pools.yaml:4:8")
        assert drift["text"].startswith(told)
    code, found = check.json("1.4.0", "1.5.0", *documents, options=("--kubernetes", "1.31.0"))
    assert (code, [one for one in found if one["kind"] == "drift"]) == (0, [])


OWN_SUBNET = "/subscriptions/00000000-1111-2222-3333-444444444444/resourceGroups/net"
OWN_SUBNET += "/providers/Microsoft.Network/virtualNetworks/own/subnets/nodes"


def test_the_subnet_that_an_aksnodeclass_names_is_there(check: Check) -> None:
    """As for `harness simulate`, which binds the pod: nothing becomes better by an upgrade, and the nodes roll with Kubernetes."""
    own = (nodeclass(f"{{vnetSubnetID: {OWN_SUBNET}}}"), pool(), pod("kubernetes.io/arch: amd64"))
    _, found = check.json("1.5.5", "1.6.8", *own)
    assert [one for one in found if one["effect"] != "changed"] == []
    code, text = check.text("1.14.0", "1.14.0", *own, options=("--to-kubernetes", "1.35.2"))
    assert (code, "assumed: the cluster's network is own, as of AKSNodeClass default" in text) == (0, True)
    assert "Drifted (K8sVersionDrift)" in text


def test_machines_whose_kubelets_do_not_know_a_flag_are_named(check: Check) -> None:
    """Up to 1.7.2 the provider passes a flag that kubelet 1.35 lost: all replacements fail, which is for the worse."""
    own = (nodeclass(f"{{vnetSubnetID: {OWN_SUBNET}}}"), pool(), pod("kubernetes.io/arch: amd64"))
    later = ("--to-kubernetes", "1.35.2", "--until", "30m")
    code, text = check.text("1.5.5", "1.6.8", *own, options=(*later, "--kubernetes", "1.33.0"))
    flag = "failed to parse kubelet flag: unknown flag: --pod-infra-container-image"
    cure = "which provider 1.6.8 passes and Kubernetes 1.35.2 does not know; provider 1.10.0 leaves it out"
    assert code == 1
    assert f" ended: {flag}, {cure}\n" in text
    code, text = check.text("1.5.5", "1.6.8", *own, options=("--to-kubernetes", "1.33.4", "--until", "30m"))
    assert (code, " ended: " in text) == (0, False)


def test_a_nodepool_whose_nodeclaims_old_crds_refuse_is_tried_under_the_new_ones(check: Check) -> None:
    """Karpenter 1.10 writes Gt into NodeClaims as Gte, which the CRDs of 1.7.2 do not have; the upgrade installs those of 1.10."""
    newer = "{key: karpenter.azure.com/sku-version, operator: Gt, values: ['3']}"
    code, found = check.json("1.7.2", "1.10.0", nodeclass("{}"), pool(requirement=newer))
    assert (code, {one["kind"] for one in found}) == (0, {"label"})


def test_zones_that_are_drawn_are_no_difference(check: Check) -> None:
    requirement = '{key: karpenter.azure.com/sku-version, operator: Gt, values: ["3"]}'
    any_kind = pool(requirement=requirement).replace(f"      - {ON_DEMAND}\n", "")
    code, text = check.text("1.7.2", "1.10.0", nodeclass("{}"), any_kind)
    assert "eastus-" not in text
    assert code == 0
