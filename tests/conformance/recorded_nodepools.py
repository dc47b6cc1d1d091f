"""Records NodePools beyond their keys one by one: domains, bounds, capacity types, values, the zone without a name."""

from __future__ import annotations

from typing import Any

from tests.conformance.recorded_objects import (
    AKS,
    MINE,
    claim_of,
    errors_of,
    launched,
    manifest_of,
    nodeclass_of,
    pool_refused,
)
from tests.conformance.recorder import (
    SIZE,
    SIZE_KEY,
    ZONE,
    Recorder,
    plain_pod,
)

__all__ = ["nodepool_documents", "zone_documents"]

Json = dict[str, Any]

NODEPOOL, CAPACITY_TYPE = "karpenter.sh/nodepool", "karpenter.sh/capacity-type"
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


def nodepool_documents(recorder: Recorder, head: Json) -> list[Json]:
    """The scenarios about NodePools in a region with zones; `head` is what all of them begin with."""
    return [
        *_neighbours(recorder, head),
        *_bounds(recorder, head),
        *_capacity_types(recorder, head),
        *_labels_refused_twice(recorder, head),
        *_unknown_values(recorder, head),
    ]


def _neighbours(recorder: Recorder, head: Json) -> list[Json]:
    """Keys of domains below the closed ones and their exceptions, and of domains that only end like them."""
    return [
        {
            "scenario": "domains that end like closed ones",
            **head,
            "then": [{"labels": {"are": recorder.table(NEAR_CLOSED)}}],
        },
        nodeclass_of(),
        recorder.nodepool_object(),
        *_near_required(recorder, head),
    ]


def _near_required(recorder: Recorder, head: Json) -> list[Json]:
    """Those of these keys that a NodePool may require, all in one, and those that a NodeClaim may."""
    taken = [{"key": key, "operator": "Exists"} for key in NEAR_CLOSED]
    taken = [each for each in taken if not pool_refused(recorder, [each])]
    nodepool = recorder.nodepool_object()
    nodepool["spec"]["template"]["spec"]["requirements"] += taken
    claimed = [{"key": key, "operator": "Exists"} for key in NEAR_CLOSED]
    claim = claim_of(recorder, requirements=[each for each in claimed if not errors_of(recorder, [each])])
    return [
        {
            "scenario": "keys near closed domains that a NodePool may require",
            **head,
            "then": [{"accepted": {"object": "NodePool/default"}}],
        },
        nodeclass_of(),
        nodepool,
        {
            "scenario": "keys near closed domains that a NodeClaim may require",
            **head,
            "then": [launched(recorder, claim, "NodeClaim/mine")],
        },
        nodeclass_of(),
        manifest_of(claim),
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
        nodeclass_of(),
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
        nodeclass_of(),
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
        nodeclass_of(),
        nodepool,
    ]


def _unknown_values(recorder: Recorder, head: Json) -> list[Json]:
    """A NodePool that requires, of each key whose values some release knows, one that none does: those that are taken."""
    taken = []
    for key in VALUED:
        requirement = {"key": key, "operator": "In", "values": [MINE]}
        if not pool_refused(recorder, [requirement]):
            taken.append(requirement)
    if not taken:
        return []
    assert not pool_refused(recorder, taken)
    nodepool = recorder.nodepool_object()
    nodepool["spec"]["template"]["spec"]["requirements"] += taken
    return [
        {
            "scenario": "values that no release knows, and this one takes",
            **head,
            "then": [{"accepted": {"object": "NodePool/default"}}],
        },
        nodeclass_of(),
        nodepool,
    ]


def zone_documents(recorder: Recorder, head: Json) -> list[Json]:
    """A pod that asks for the zone without a name where there are no zones."""
    pod = plain_pod({ZONE: ""})
    try:
        refusal = recorder.refusal(pod, recorder.nodepool_object())
        said: Json = {"pods": {"pending": {pod["metadata"]["name"]: refusal}}}
        needs: Json = {}
    except KeyError:  # whether the pod then runs on the Node is kube-scheduler's business, and when it looks decides about a second one
        said = {"nodeclaims": {"created": {"atLeast": "1"}}}
        needs = {"needs": ["virtual-time"]}
    return [
        {
            "scenario": "the zone without a name",
            **head,
            "given": {**head["given"], "region": recorder.region},
            **needs,
            "then": [said],
        },
        nodeclass_of(),
        recorder.nodepool_object(),
        {"apiVersion": "v1", "kind": "Pod", **pod},
    ]
