"""Records NodeClaims that are asked for by hand, as scenarios of one release: which keys the API server lets them require, and whose
label the Node gets where the NodeClaim's contradict the provider's.

Nobody but Karpenter makes NodeClaims as a rule; these ask the merge order and the NodeClaim's CRD about every key, whatever the NodePool's
CRD would let through.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from fakeazure.catalog import Catalogue
from harness.karpenter.releases import ProvisionMode, provider
from tests.conformance.recorded_file import write_recording
from tests.conformance.recorded_nodepools import nodepool_documents, zone_documents
from tests.conformance.recorded_objects import (
    AKS,
    MINE,
    claim_of,
    errors_of,
    launched,
    manifest_of,
    nodeclass_of,
    refused,
)
from tests.conformance.recorder import (
    HARNESS_OPTIONS,
    IDENTITY,
    MODELINE,
    SIZE,
    Recorder,
    seed_keys,
)

__all__ = ["write_recorded_claims"]

Json = dict[str, Any]

SCENARIOS = Path(__file__).resolve().parents[2] / "scenarios" / "labels"
CONTRADICTED = (
    *(
        f"{AKS}/{name}"
        for name in (
            "role",
            "cluster",
            "kubelet-identity-client-id",
            "mode",
            "scalesetpriority",
            "priority",
            "os-sku",
            "os-sku-requested",
            "os-sku-effective",
            "network-subnet",
            "nodenetwork-vnetguid",
            "azure-cni-overlay",
            "podnetwork-type",
            "network-stateless-cni",
            "ebpf-dataplane",
            "localdns-state",
            "artifactstreaming-enabled",
        )
    ),
    "karpenter.sh/do-not-sync-taints",
    "example.com/team",
)
"""What some release writes on every Node by itself, and a key of which none knows anything."""

NOT_FOR_KUBELETS = ("kubernetes.io/mine", "node-restriction.kubernetes.io/mine")
SENT_OR_NOT = (
    "accelerator",
    "example.com/mine",
    f"{AKS}/mine",
    "node.kubernetes.io/mine",
    "node.kubernetes.io/windows-build",
    *NOT_FOR_KUBELETS,
)
"""Keys of every kind that AKS may be told or not, but for those that AKS writes by itself."""

FAMILIES: Mapping[str, str] = {"Ubuntu2204": "Ubuntu by its version", "AzureLinux": "Azure Linux"}
"""Image families that the provider's own tests have images of."""

SIZE_FAMILIES: Mapping[str, str] = {**FAMILIES, "Ubuntu": "any Ubuntu", "Ubuntu2404": "the next Ubuntu by its version"}
SIZES = (
    "Standard_NC16as_T4_v3",
    "Standard_NC24ads_A100_v4",
    "Standard_NV12ads_A10_v5",
    "Standard_ND96isr_MI300X_v5",
    "Standard_L2aos_v4",
)
"""Sizes with GPUs that some releases have images for, and one whose name older releases cannot read."""

SIZE_REGION = "northcentralus"
"""A region that has all of them."""

SIZE_KEYS = (
    f"{AKS}/os-sku",
    "karpenter.azure.com/sku-family",
    "karpenter.azure.com/sku-gpu-name",
    "karpenter.azure.com/sku-gpu-manufacturer",
    "karpenter.azure.com/sku-gpu-count",
)

FAMILY_KEYS = tuple(f"{AKS}/{name}" for name in ("os-sku", "os-sku-requested", "os-sku-effective"))
STREAMING = f"{AKS}/artifactstreaming-enabled"


def write_recorded_claims(recorder: Recorder, regional: Recorder, date: str) -> Path:
    """Writes the scenario file of one release, from a region with zones and from one without. Returns its path."""
    source = f"recorded on {date} from karpenter-provider-azure v{recorder.release} by `make record-labels`"
    given = {"karpenter": recorder.release, "kubernetes": recorder.kubernetes, "region": recorder.region}
    head = {"source": source, "tags": ["seed"], "given": given}
    documents = [
        *_contradiction(recorder, head),
        *_families(recorder, head),
        *_sizes_by_family(recorder, head),
        *_streaming(recorder, head),
        *_requirements(recorder, head),
        *_machines(recorder, head),
        *nodepool_documents(recorder, head),
        *zone_documents(regional, head),
    ]
    return write_recording(
        SCENARIOS / f"claims-{recorder.release}.yaml",
        MODELINE + yaml.dump_all(documents, Dumper=_Lines, sort_keys=False, width=1_000_000),
    )


def _contradiction(recorder: Recorder, head: Json) -> list[Json]:
    claim = claim_of(recorder, labels=dict.fromkeys(CONTRADICTED, MINE))
    nodeclass = _streaming_nodeclass(recorder) or nodeclass_of()
    kubelet, synced = recorder.launched_labels(claim, nodeclass)
    rows: Json = {}
    for key in CONTRADICTED:
        first = kubelet.get(key)
        if key == IDENTITY and first not in (None, MINE):
            first = HARNESS_OPTIONS["kubeletIdentityClientID"]  # older fixtures have an identity of their own
        writes = [{"by": "kubelet", "value": first}] if first is not None else []
        if synced[key] != first:
            writes.append({"by": "karpenter", "value": synced[key]})
        rows[key] = {"value": synced[key], "writes": writes}
    return [
        {
            "scenario": "a NodeClaim's labels against those that the provider writes by itself",
            "description": "What the kubelet is given decides the first write; registration then writes the NodeClaim's own.",
            **head,
            "then": [{"node": {"of": "NodeClaim/mine", "labels": rows}}],
        },
        nodeclass,
        recorder.nodepool_object(),
        manifest_of(claim),
    ]


def _families(recorder: Recorder, head: Json) -> list[Json]:
    """One case for each image family that the release's AKSNodeClass can name."""
    cases = []
    for family, words in FAMILIES.items():
        nodeclass = nodeclass_of(imageFamily=family)
        if refused(recorder, nodeclass):
            continue
        kubelet, _ = recorder.launched_labels(claim_of(recorder), nodeclass)
        are = {key: {"written": _written(kubelet.get(key))} for key in FAMILY_KEYS}
        cases.append({"case": words, "values": {"family": family}, "then": [{"labels": {"are": are}}]})
    scenario = {"scenario": "labels of a Node by its image family", **head, "cases": cases, "then": []}
    return [
        {key: value for key, value in scenario.items() if key != "then"},
        nodeclass_of(imageFamily="$(family)"),
        recorder.nodepool_object(pinned=True),
    ]


def _sizes_by_family(recorder: Recorder, head: Json) -> list[Json]:
    """Which image families a size of our catalogue is an instance type for, what it then requires."""
    records = Catalogue.load().region(SIZE_REGION).by_name
    cases: list[Json] = []
    for family, words in SIZE_FAMILIES.items():
        nodeclass = nodeclass_of(imageFamily=family)
        if refused(recorder, nodeclass):
            continue
        for size in SIZES:
            request = {"op": "instance_types", "location": SIZE_REGION, "nodeclass": nodeclass}
            skus = [records[size], records[SIZE]]  # of two sizes, since to have none is an error
            types = recorder.answer({**request, "options": recorder.options, "sku_json": skus})
            found = [item for item in types if item["name"] == size]
            expected: Json = {"of": size, "nodeclass": "default"}
            if found:
                values = {each["key"]: each["values"] for each in found[0]["requirements"] if each["operator"] == "In"}
                expected["are"] = {key: values[key][0] for key in SIZE_KEYS if key in values}
                expected["absent"] = [key for key in SIZE_KEYS if key not in values]
            else:
                expected["dropped"] = {"matches": "."}  # by what, the provider does not say
            case = {"case": f"{size}, {words}", "values": {"family": family}}
            cases.append({**case, "then": [{"requirements": expected}]})
    return [
        {
            "scenario": "sizes by image family",
            **head,
            "given": {**head["given"], "region": SIZE_REGION},
            "cases": cases,
        },
        nodeclass_of(imageFamily="$(family)"),
    ]


def _streaming_nodeclass(recorder: Recorder) -> Json | None:
    """An AKSNodeClass with artifact streaming on, None where there is no such field."""
    nodeclass = nodeclass_of(artifactStreaming={"enabled": True})
    defaulted = recorder.answer({"op": "validate_nodepool", "object": nodeclass})["defaulted"]
    return nodeclass if "artifactStreaming" in defaulted["spec"] else None


def _streaming(recorder: Recorder, head: Json) -> list[Json]:
    """Artifact streaming on, where there is such a field."""
    nodeclass = _streaming_nodeclass(recorder)
    if nodeclass is None:
        return []
    kubelet, _ = recorder.launched_labels(claim_of(recorder), nodeclass)
    return [
        {
            "scenario": "the label of artifact streaming",
            **head,
            "then": [{"labels": {"are": {STREAMING: {"written": _written(kubelet.get(STREAMING))}}}}],
        },
        nodeclass,
        recorder.nodepool_object(pinned=True),
    ]


def _requirements(recorder: Recorder, head: Json) -> list[Json]:
    """The seed's keys as requirements of a NodeClaim: those that its CRD refuses, and one claim with all the others."""
    refused: Json = {}
    for keys in seed_keys().values():
        for key in keys:
            errors = errors_of(recorder, [{"key": key, "operator": "Exists"}])
            refused[key] = [error["detail"] for error in errors]
    taken = [{"key": key, "operator": "Exists"} for key, details in refused.items() if not details]
    assert not errors_of(recorder, taken)
    closed = {key: details for key, details in refused.items() if details}
    all_closed = [{"key": key, "operator": "Exists"} for key in closed]
    said = [error["detail"] for error in errors_of(recorder, all_closed)]
    assert sorted(said) == sorted(detail for details in closed.values() for detail in details)
    reference = "NodeClaim/mine"
    return [
        {
            "scenario": "keys that a NodeClaim may not require",
            "description": "The API server refuses the NodeClaim for each of them.",
            **head,
            "then": [
                {"rejected": {"object": reference, "layer": "nodeclaim-cel", "key": key, "message": detail}}
                for key, details in closed.items()
                for detail in details
            ],
        },
        manifest_of(claim_of(recorder, requirements=all_closed)),
        {
            "scenario": "keys that a NodeClaim may require",
            "description": "The API server takes them all; whether a size has them is the launch's business.",
            **head,
            "then": [launched(recorder, claim_of(recorder, requirements=taken), reference)],
        },
        nodeclass_of(),
        manifest_of(claim_of(recorder, requirements=taken)),
    ]


def _machines(recorder: Recorder, head: Json) -> list[Json]:
    """Which labels of a NodeClaim are sent to AKS with a machine, where there are such machines."""
    if ProvisionMode.AKS_MACHINE_API not in provider(recorder.release).provision_modes:
        return []
    machines = Recorder(
        recorder.oracle, recorder.release, recorder.region, recorder.kubernetes, ProvisionMode.AKS_MACHINE_API.value
    )
    claim = claim_of(machines, labels=dict.fromkeys(SENT_OR_NOT, MINE))
    sent, synced = machines.launched_labels(claim)
    # a kubelet that is told to set such a label does not start
    fatal = [key for key in NOT_FOR_KUBELETS if key in sent]
    claim = claim_of(machines, labels={key: MINE for key in SENT_OR_NOT if key not in fatal})
    rows = {
        key: {"value": synced[key], "by": "kubelet" if key in sent else "karpenter"}
        for key in SENT_OR_NOT
        if key not in fatal
    }
    return [
        {
            "scenario": "labels of a NodeClaim that AKS is told when it makes the machine",
            "description": "Karpenter writes the others itself when it registers the Node.",
            **head,
            "given": {**head["given"], "provisionMode": machines.mode},
            "then": [{"node": {"of": "NodeClaim/mine", "labels": rows}}],
        },
        nodeclass_of(),
        recorder.nodepool_object(),
        manifest_of(claim),
    ]


def _written(value: str | None) -> Any:
    return "no" if value is None else {"value": value, "by": "kubelet"}


class _Lines(yaml.SafeDumper):
    """One line for each row, case and requirement."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def represent_mapping(self, tag: str, mapping: Any, flow_style: bool | None = None) -> yaml.MappingNode:
        line = bool({"case", "operator", "key", "by", "writes", "written", "rejected"} & set(mapping))
        return super().represent_mapping(tag, mapping, True if line else flow_style)
