"""The fields of objects that may stay, kind by kind: those from which Karpenter and kube-scheduler decide. Other kinds are left out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.capture.fields import (
    ANNOTATIONS,
    FLAG,
    LABELS,
    NOTHING,
    NUMBER,
    QUANTITY,
    REQUIREMENTS,
    RESOURCES,
    SELECTOR,
    SPAN,
    TAINTS,
    TIME,
    TOPOLOGIES,
    VERSION,
    Rule,
    each,
    fields,
    key,
    name,
    parameters,
    path,
    whole,
    words,
)
from harness.capture.pods import CLAIM, NODE, NODE_TERM, POD, REPLICATION_CONTROLLER, WORKLOAD
from harness.capture.pseudonyms import Pseudonyms
from harness.kube.api.objects import spec_of

__all__ = ["WORKLOADS", "kept"]

WORKLOADS = ("Deployment", "ReplicaSet", "ReplicationController", "StatefulSet", "DaemonSet", "Job")

_GROUP = "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/group/providers"
_PROVIDER = path("machine", f"azure://{_GROUP}/Microsoft.Compute/virtualMachines/machine-{{}}")

_DISK = path("disk", f"{_GROUP}/Microsoft.Compute/disks/disk-{{}}")

_CONDITIONS = each(
    whole(
        fields(
            type=words(
                "Ready",
                "MemoryPressure",
                "DiskPressure",
                "PIDPressure",
                "NetworkUnavailable",
                "Launched",
                "Registered",
                "Initialized",
                "Drifted",
                "Consolidatable",
                "Drained",
                "DisruptionReason",
                "InstanceTerminating",
                "VolumesDetached",
                "Disrupted",
                "ConsistentStateFound",
                "DisruptionTarget",
                "PodScheduled",
            ),
            status=words("True", "False", "Unknown"),
            lastTransitionTime=TIME,
            lastHeartbeatTime=TIME,
        ),
        "type",
        "status",
    )
)
_CLASS_REF = fields(group=words("karpenter.azure.com"), kind=words("AKSNodeClass"), name=name("nodeclass"))
_CLAIMED = {
    "taints": TAINTS,
    "startupTaints": TAINTS,
    "requirements": REQUIREMENTS,
    "expireAfter": SPAN,
    "terminationGracePeriod": SPAN,
    "nodeClassRef": _CLASS_REF,
}
_BUDGET = fields(
    nodes=QUANTITY,
    schedule=SPAN,
    duration=SPAN,
    reasons=each(words("Underutilized", "Empty", "Drifted", "Expired", "Unhealthy")),
)
_OVERRIDE = fields(
    zone=name("zone"),
    queryLogging=words("Error", "Log"),
    protocol=words("PreferUDP", "ForceTCP"),
    forwardDestination=words("ClusterCoreDNS", "VnetDNS"),
    forwardPolicy=words("Sequential", "RoundRobin", "Random"),
    maxConcurrent=NUMBER,
    cacheDuration=SPAN,
    serveStaleDuration=SPAN,
    serveStale=words("Verify", "Immediate", "Disable"),
)
_NODE_CLASS = fields(
    osDiskSizeGB=NUMBER,
    imageFamily=words("Ubuntu", "Ubuntu2204", "Ubuntu2404", "AzureLinux"),
    fipsMode=words("FIPS", "Disabled"),
    maxPods=NUMBER,
    artifactStreaming=fields(enabled=FLAG),
    gpu=fields(mode=words("Driver", "None", "Install", "Disabled")),
    localDNS=fields(
        mode=words("Preferred", "Required", "Disabled"),
        vnetDNSOverrides=each(_OVERRIDE),
        kubeDNSOverrides=each(_OVERRIDE),
    ),
    security=fields(encryptionAtHost=FLAG, trustedLaunch=fields(secureBoot=FLAG, vtpm=FLAG)),
    kubelet=fields(
        cpuCFSQuota=FLAG,
        cpuManagerPolicy=words("none", "static"),
        failSwapOn=FLAG,
        podPidsLimit=NUMBER,
        imageGCHighThresholdPercent=NUMBER,
        imageGCLowThresholdPercent=NUMBER,
        containerLogMaxFiles=NUMBER,
        containerLogMaxSize=QUANTITY,
        cpuCFSQuotaPeriod=SPAN,
        topologyManagerPolicy=words("none", "best-effort", "restricted", "single-numa-node"),
    ),
)
_DRIVER = fields(name=name("driver"), nodeID=name(NODE), allocatable=fields(count=NUMBER), topologyKeys=each(key))
_SKUS = words(
    *(
        f"{tier}_{copies}"
        for tier in ("Standard", "StandardSSD", "Premium", "UltraSSD", "PremiumV2")
        for copies in ("LRS", "ZRS")
    )
)
_PARAMETERS = parameters({"skuname": _SKUS, "storageaccounttype": _SKUS})  # whether its disks are in one zone

_BELOW: Mapping[str, tuple[str, Mapping[str, Rule]]] = {
    "Namespace": ("namespace", {}),
    "Pod": ("pod", {"spec": POD}),
    **{kind: (kind.lower(), {"spec": WORKLOAD}) for kind in WORKLOADS},
    "ReplicationController": ("replicationcontroller", {"spec": REPLICATION_CONTROLLER}),
    "Node": (
        NODE,
        {
            "spec": fields(taints=TAINTS, unschedulable=FLAG, providerID=_PROVIDER),
            "status": fields(
                capacity=RESOURCES,
                allocatable=RESOURCES,
                conditions=_CONDITIONS,
                nodeInfo=fields(kubeletVersion=VERSION),
            ),
        },
    ),
    "NodePool": (
        "nodepool",
        {
            "spec": fields(
                weight=NUMBER,
                replicas=NUMBER,
                limits=RESOURCES,
                template=fields(metadata=fields(labels=LABELS, annotations=ANNOTATIONS), spec=fields(**_CLAIMED)),
                disruption=fields(
                    consolidationPolicy=words("WhenEmpty", "WhenEmptyOrUnderutilized", "WhenUnderutilized", "Balanced"),
                    consolidateAfter=SPAN,
                    budgets=each(_BUDGET),
                ),
            ),
        },
    ),
    "AKSNodeClass": ("nodeclass", {"spec": _NODE_CLASS}),
    "NodeClaim": (
        "nodeclaim",
        {
            "spec": fields(**_CLAIMED, resources=fields(requests=RESOURCES)),
            "status": fields(
                nodeName=name(NODE),
                providerID=_PROVIDER,
                capacity=RESOURCES,
                allocatable=RESOURCES,
                conditions=_CONDITIONS,
                lastPodEventTime=TIME,
            ),
        },
    ),
    "NodeOverlay": (
        "overlay",
        {
            "spec": fields(
                weight=NUMBER, price=QUANTITY, priceAdjustment=QUANTITY, capacity=RESOURCES, requirements=REQUIREMENTS
            )
        },
    ),
    "PodDisruptionBudget": (
        "budget",
        {
            "spec": fields(
                selector=SELECTOR,
                minAvailable=QUANTITY,
                maxUnavailable=QUANTITY,
                unhealthyPodEvictionPolicy=words("IfHealthyBudget", "AlwaysAllow"),
            ),
            "status": fields(
                disruptionsAllowed=NUMBER, currentHealthy=NUMBER, desiredHealthy=NUMBER, expectedPods=NUMBER
            ),
        },
    ),
    "PriorityClass": (
        "priorityclass",
        {"value": NUMBER, "globalDefault": FLAG, "preemptionPolicy": words("Never", "PreemptLowerPriority")},
    ),
    "RuntimeClass": (
        "runtimeclass",
        {
            "handler": name("handler"),
            "overhead": fields(podFixed=RESOURCES),
            "scheduling": fields(nodeSelector=LABELS, tolerations=TAINTS),
        },
    ),
    "StorageClass": (
        "storageclass",
        {
            "provisioner": name("driver"),
            "volumeBindingMode": words("Immediate", "WaitForFirstConsumer"),
            "allowVolumeExpansion": FLAG,
            "allowedTopologies": TOPOLOGIES,
            "parameters": _PARAMETERS,
        },
    ),
    "PersistentVolumeClaim": ("claim", {"spec": CLAIM, "status": fields(phase=words("Pending", "Bound", "Lost"))}),
    "PersistentVolume": (
        "volume",
        {
            "spec": fields(
                capacity=RESOURCES,
                accessModes=each(words("ReadWriteOnce", "ReadWriteMany", "ReadOnlyMany", "ReadWriteOncePod")),
                storageClassName=name("storageclass"),
                volumeMode=words("Filesystem", "Block"),
                persistentVolumeReclaimPolicy=words("Delete", "Retain"),
                claimRef=fields(namespace=name("namespace"), name=name("claim")),
                csi=fields(driver=name("driver"), volumeHandle=_DISK),
                nodeAffinity=fields(required=fields(nodeSelectorTerms=each(NODE_TERM))),
            ),
        },
    ),
    "CSINode": (
        NODE,
        {"spec": fields(drivers=each(_DRIVER))},
    ),
}


def kept(obj: Mapping[str, Any], names: Pseudonyms) -> dict[str, Any] | None:
    """Return the fields of an object that may stay; None where its kind has no part in it."""
    row = _BELOW.get(str(obj.get("kind")))
    if row is None:
        return None
    category, rules = row
    extra_fields = {"creationTimestamp": TIME} if obj["kind"] == "NodeClaim" else {}  # a NodeClaim's age decides
    metadata = fields(
        name=name(category), namespace=name("namespace"), labels=LABELS, annotations=ANNOTATIONS, **extra_fields
    )(obj.get("metadata"), names)
    left = {"apiVersion": obj["apiVersion"], "kind": obj["kind"], "metadata": metadata}
    below = fields(**rules)(obj, names)
    return {**left, **(below if below is not NOTHING else {})}


def unbound(pod: Mapping[str, Any]) -> dict[str, Any]:
    """Return a pod without its Node, as whoever made it would make it anew."""
    return {**pod, "spec": {key: value for key, value in spec_of(pod).items() if key != "nodeName"}}
