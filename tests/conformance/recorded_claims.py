"""Records NodeClaims that are asked for by hand, as scenarios of one release: which keys the API server lets them require, and whose
label the Node gets where the NodeClaim's contradict the provider's.

Nobody but Karpenter makes NodeClaims as a rule; these ask the merge order and the NodeClaim's CRD about every key, whatever the NodePool's
CRD would let through.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from fakeazure.catalog import Catalogue
from harness.karpenter.releases import ProvisionMode, provider
from tests.conformance.recorded_file import write_recording
from tests.conformance.recorded_labels import (
    HARNESS_OPTIONS,
    IDENTITY,
    MODELINE,
    NODECLASS,
    SIZE,
    SIZE_KEY,
    ZONE,
    Recorder,
    plain_pod,
    seed_keys,
)

__all__ = ["write_recorded_claims"]

Json = dict[str, Any]

SCENARIOS = Path(__file__).resolve().parents[2] / "scenarios" / "labels"
AKS = "kubernetes.azure.com"
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

MINE = "mine"
NODEPOOL, CAPACITY_TYPE = "karpenter.sh/nodepool", "karpenter.sh/capacity-type"
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
VALUED = (
    "karpenter.azure.com/placement-scope",
    "karpenter.azure.com/sku-gpu-manufacturer",
    "karpenter.azure.com/sku-networking-accelerated",
    "karpenter.azure.com/sku-storage-premium-capable",
    "karpenter.azure.com/sku-storage-ultra-ssd",
    *(f"{AKS}/{name}" for name in ("fips_enabled", "mode", "os-sku", "priority", "scalesetpriority")),
)
"""Keys of which some release knows all values, but for the capacity type."""

NEAR_CLOSED = (
    "my.karpenter.sh/foo",
    "mykarpenter.sh/foo",
    "mykarpenter.azure.com/foo",
    "mykubernetes.io/foo",
    "my.k8s.io/foo",
    "myk8s.io/foo",
    "my.node.kubernetes.io/foo",
    "mynode.kubernetes.io/foo",
    "kops.k8s.io/foo",
    "mykops.k8s.io/foo",
    "mynode-restriction.kubernetes.io/foo",
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
        *_neighbours(recorder, head),
        *_bounds(recorder, head),
        *_capacity_types(recorder, head),
        *_labels_refused_twice(recorder, head),
        *_unknown_values(recorder, head),
        *_empty_zone(regional, head),
    ]
    return write_recording(
        SCENARIOS / f"claims-{recorder.release}.yaml",
        MODELINE + yaml.dump_all(documents, Dumper=_Lines, sort_keys=False, width=1_000_000),
    )


def _contradiction(recorder: Recorder, head: Json) -> list[Json]:
    claim = _claim(recorder, labels=dict.fromkeys(CONTRADICTED, MINE))
    nodeclass = _streaming_nodeclass(recorder) or _nodeclass()
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
        _manifest(claim),
    ]


def _families(recorder: Recorder, head: Json) -> list[Json]:
    """One case for each image family that the release's AKSNodeClass can name."""
    cases = []
    for family, words in FAMILIES.items():
        nodeclass = _nodeclass(imageFamily=family)
        if _refused(recorder, nodeclass):
            continue
        kubelet, _ = recorder.launched_labels(_claim(recorder), nodeclass)
        are = {key: {"written": _written(kubelet.get(key))} for key in FAMILY_KEYS}
        cases.append({"case": words, "values": {"family": family}, "then": [{"labels": {"are": are}}]})
    scenario = {"scenario": "labels of a Node by its image family", **head, "cases": cases, "then": []}
    return [
        {key: value for key, value in scenario.items() if key != "then"},
        _nodeclass(imageFamily="$(family)"),
        recorder.nodepool_object(pinned=True),
    ]


def _sizes_by_family(recorder: Recorder, head: Json) -> list[Json]:
    """Which image families a size of our catalogue is an instance type for, what it then requires."""
    records = Catalogue.load().region(SIZE_REGION).by_name
    cases: list[Json] = []
    for family, words in SIZE_FAMILIES.items():
        nodeclass = _nodeclass(imageFamily=family)
        if _refused(recorder, nodeclass):
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
        _nodeclass(imageFamily="$(family)"),
    ]


def _streaming_nodeclass(recorder: Recorder) -> Json | None:
    """An AKSNodeClass with artifact streaming on, None where there is no such field."""
    nodeclass = _nodeclass(artifactStreaming={"enabled": True})
    defaulted = recorder.answer({"op": "validate_nodepool", "object": nodeclass})["defaulted"]
    return nodeclass if "artifactStreaming" in defaulted["spec"] else None


def _streaming(recorder: Recorder, head: Json) -> list[Json]:
    """Artifact streaming on, where there is such a field."""
    nodeclass = _streaming_nodeclass(recorder)
    if nodeclass is None:
        return []
    kubelet, _ = recorder.launched_labels(_claim(recorder), nodeclass)
    return [
        {
            "scenario": "the label of artifact streaming",
            **head,
            "then": [{"labels": {"are": {STREAMING: {"written": _written(kubelet.get(STREAMING))}}}}],
        },
        nodeclass,
        recorder.nodepool_object(pinned=True),
    ]


def _refused(recorder: Recorder, obj: Json) -> bool:
    return bool((recorder.answer({"op": "validate_nodepool", "object": obj}).get("crd") or {}).get("errors"))


def _requirements(recorder: Recorder, head: Json) -> list[Json]:
    """The seed's keys as requirements of a NodeClaim: those that its CRD refuses, and one claim with all the others."""
    refused: Json = {}
    for keys in seed_keys().values():
        for key in keys:
            errors = _errors(recorder, [{"key": key, "operator": "Exists"}])
            refused[key] = [error["detail"] for error in errors]
    taken = [{"key": key, "operator": "Exists"} for key, details in refused.items() if not details]
    assert not _errors(recorder, taken)
    closed = {key: details for key, details in refused.items() if details}
    all_closed = [{"key": key, "operator": "Exists"} for key in closed]
    said = [error["detail"] for error in _errors(recorder, all_closed)]
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
        _manifest(_claim(recorder, requirements=all_closed)),
        {
            "scenario": "keys that a NodeClaim may require",
            "description": "The API server takes them all; whether a size has them is the launch's business.",
            **head,
            "then": [_launched(recorder, _claim(recorder, requirements=taken), reference)],
        },
        _nodeclass(),
        _manifest(_claim(recorder, requirements=taken)),
    ]


def _neighbours(recorder: Recorder, head: Json) -> list[Json]:
    """Keys of domains below the closed ones and their exceptions, and of domains that only end like them."""
    return [
        {
            "scenario": "domains that end like closed ones",
            **head,
            "then": [{"labels": {"are": recorder.table(NEAR_CLOSED)}}],
        },
        _nodeclass(),
        recorder.nodepool_object(),
        *_near_required(recorder, head),
    ]


def _near_required(recorder: Recorder, head: Json) -> list[Json]:
    """Those of these keys that a NodePool may require, all in one, and those that a NodeClaim may."""
    taken = [{"key": key, "operator": "Exists"} for key in NEAR_CLOSED]
    taken = [each for each in taken if not _pool_refused(recorder, [each])]
    nodepool = recorder.nodepool_object()
    nodepool["spec"]["template"]["spec"]["requirements"] += taken
    claimed = [{"key": key, "operator": "Exists"} for key in NEAR_CLOSED]
    claim = _claim(recorder, requirements=[each for each in claimed if not _errors(recorder, [each])])
    return [
        {
            "scenario": "keys near closed domains that a NodePool may require",
            **head,
            "then": [{"accepted": {"object": "NodePool/default"}}],
        },
        _nodeclass(),
        nodepool,
        {
            "scenario": "keys near closed domains that a NodeClaim may require",
            **head,
            "then": [_launched(recorder, claim, "NodeClaim/mine")],
        },
        _nodeclass(),
        _manifest(claim),
    ]


def _bounds(recorder: Recorder, head: Json) -> list[Json]:
    """How Karpenter prints requirements with bounds."""
    nodepool = recorder.nodepool_object()
    requirements = nodepool["spec"]["template"]["spec"]["requirements"]
    requirements += [
        {"key": "karpenter.azure.com/sku-cpu", "operator": "Gt", "values": ["4"]},
        {"key": "karpenter.azure.com/sku-memory", "operator": "Lt", "values": ["100000"]},
    ]
    pod = plain_pod({})
    pod["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "5000"
    said = recorder.refusal(pod, nodepool)
    return [
        {
            "scenario": "bounds in Karpenter's sentence",
            **head,
            "then": [{"pods": {"pending": {pod["metadata"]["name"]: said}}}],
        },
        _nodeclass(),
        nodepool,
        {"apiVersion": "v1", "kind": "Pod", **pod},
    ]


def _capacity_types(recorder: Recorder, head: Json) -> list[Json]:
    """What a NodeClaim says of capacity types when neither its NodePool nor its pod does."""
    nodepool = recorder.nodepool_object()
    nodepool["spec"]["template"]["spec"]["requirements"] = [{"key": SIZE_KEY, "operator": "In", "values": [SIZE]}]
    made = recorder.planned(plain_pod({}), nodepool)["nodeclaim"]["requirements"]
    found = [each["values"] for each in made if each["key"] == CAPACITY_TYPE]
    claim: Json = {"requirements": {CAPACITY_TYPE: {"in": sorted(found[0])}}} if found else {"absent": [CAPACITY_TYPE]}
    return [
        {
            "scenario": "capacity types that a NodeClaim names",
            **head,
            "then": [{"nodeclaims": {"created": "1", "are": [claim]}}],
        },
        _nodeclass(),
        nodepool,
        {"apiVersion": "v1", "kind": "Pod", **plain_pod({})},
    ]


def _labels_refused_twice(recorder: Recorder, head: Json) -> list[Json]:
    """A label of a NodePool that several rules could refuse: all that the API server says."""
    nodepool = recorder.nodepool_object()
    nodepool["spec"]["template"]["metadata"] = {"labels": {NODEPOOL: MINE}}
    answer = recorder.answer({"op": "validate_nodepool", "object": nodepool})
    said = [error["detail"] for error in answer["crd"]["errors"]]
    reference = "NodePool/default"
    return [
        {
            "scenario": "a NodePool that names itself in a label",
            **head,
            "then": [
                {"rejected": {"object": reference, "layer": "crd-cel", "key": NODEPOOL, "message": each}}
                for each in said
            ],
        },
        _nodeclass(),
        nodepool,
    ]


def _unknown_values(recorder: Recorder, head: Json) -> list[Json]:
    """A NodePool that requires, of each key whose values some release knows, one that none does: those that are taken."""
    taken = []
    for key in VALUED:
        requirement = {"key": key, "operator": "In", "values": [MINE]}
        if not _pool_refused(recorder, [requirement]):
            taken.append(requirement)
    if not taken:
        return []
    assert not _pool_refused(recorder, taken)
    nodepool = recorder.nodepool_object()
    nodepool["spec"]["template"]["spec"]["requirements"] += taken
    return [
        {
            "scenario": "values that no release knows, and this one takes",
            **head,
            "then": [{"accepted": {"object": "NodePool/default"}}],
        },
        _nodeclass(),
        nodepool,
    ]


def _pool_refused(recorder: Recorder, requirements: Sequence[Json]) -> bool:
    nodepool = recorder.nodepool_object()
    nodepool["spec"]["template"]["spec"]["requirements"] += requirements
    answer = recorder.answer({"op": "validate_nodepool", "object": nodepool})
    return bool((answer.get("crd") or {}).get("errors") or (answer.get("runtime") or {}).get("error"))


def _empty_zone(recorder: Recorder, head: Json) -> list[Json]:
    """A pod that asks for the zone without a name where there are no zones."""
    pod = plain_pod({ZONE: ""})
    try:
        refusal = recorder.refusal(pod, recorder.nodepool_object())
        said: Json = {"pods": {"pending": {pod["metadata"]["name"]: refusal}}}
    except KeyError:  # whether the pod then runs on the Node is kube-scheduler's business
        said = {"nodeclaims": {"created": {"atLeast": "1"}}}
    return [
        {
            "scenario": "the zone without a name",
            **head,
            "given": {**head["given"], "region": recorder.region},
            "then": [said],
        },
        _nodeclass(),
        recorder.nodepool_object(),
        {"apiVersion": "v1", "kind": "Pod", **pod},
    ]


def _machines(recorder: Recorder, head: Json) -> list[Json]:
    """Which labels of a NodeClaim are sent to AKS with a machine, where there are such machines."""
    if ProvisionMode.AKS_MACHINE_API not in provider(recorder.release).provision_modes:
        return []
    machines = Recorder(
        recorder.oracle, recorder.release, recorder.region, recorder.kubernetes, ProvisionMode.AKS_MACHINE_API.value
    )
    claim = _claim(machines, labels=dict.fromkeys(SENT_OR_NOT, MINE))
    sent, synced = machines.launched_labels(claim)
    # a kubelet that is told to set such a label does not start
    fatal = [key for key in NOT_FOR_KUBELETS if key in sent]
    claim = _claim(machines, labels={key: MINE for key in SENT_OR_NOT if key not in fatal})
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
        _nodeclass(),
        recorder.nodepool_object(),
        _manifest(claim),
    ]


def _launched(recorder: Recorder, claim: Json, reference: str) -> Json:
    """What becomes of a NodeClaim that the API server takes."""
    try:
        recorder.launched_labels(claim)
    except RuntimeError:
        return {"rejected": {"object": reference, "layer": "launch"}}
    return {"accepted": {"object": reference}}


def _errors(recorder: Recorder, requirements: Sequence[Json]) -> list[Json]:
    made = _manifest(_claim(recorder, requirements=requirements))
    errors: list[Json] = (recorder.answer({"op": "validate_nodepool", "object": made}).get("crd") or {}).get("errors")
    return errors or []


def _written(value: str | None) -> Any:
    return "no" if value is None else {"value": value, "by": "kubelet"}


def _claim(recorder: Recorder, labels: Mapping[str, str] | None = None, requirements: Sequence[Json] = ()) -> Json:
    """The claim of a plain pod as :meth:`Recorder.launched_labels` takes it, with more labels or with other requirements."""
    claim = copy.deepcopy(recorder.pinned_claim)
    made = claim["nodeclaim"]
    made["metadata"]["labels"] |= labels or {}
    if requirements:
        made["requirements"] = list(requirements)
    return claim


def _nodeclass(**spec: Any) -> Json:
    made = copy.deepcopy(NODECLASS)
    made["spec"] |= spec
    return {"apiVersion": "karpenter.azure.com/v1beta1", "kind": "AKSNodeClass", **made}


def _manifest(claim: Json) -> Json:
    """The claim as somebody would write it."""
    made = claim["nodeclaim"]
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodeClaim",
        "metadata": {"name": "mine", "labels": made["metadata"]["labels"]},
        "spec": {
            "nodeClassRef": {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"},
            "requirements": made["requirements"],
        },
    }


class _Lines(yaml.SafeDumper):
    """One line for each row, case and requirement."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def represent_mapping(self, tag: str, mapping: Any, flow_style: bool | None = None) -> yaml.MappingNode:
        line = bool({"case", "operator", "key", "by", "writes", "written", "rejected"} & set(mapping))
        return super().represent_mapping(tag, mapping, True if line else flow_style)
