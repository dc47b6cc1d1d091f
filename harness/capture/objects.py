"""What may stay of an object, kind by kind: the fields from which Karpenter and kube-scheduler decide. Other kinds are left out."""

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
    VERSION,
    Rule,
    each,
    fields,
    fixed,
    key,
    name,
    path,
    some,
    unless,
    words,
)
from harness.capture.pseudonyms import Pseudonyms
from harness.kube.api.labels import NOT_READY, UNREACHABLE

__all__ = ["NODE", "WORKLOADS", "kept"]

NODE = "node"
WORKLOADS = ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job")

_GROUP = "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/group/providers"
_PROVIDER = path("machine", f"azure://{_GROUP}/Microsoft.Compute/virtualMachines/machine-{{}}")

_DISK = path("disk", f"{_GROUP}/Microsoft.Compute/disks/disk-{{}}")

_TERM = fields(
    labelSelector=SELECTOR,
    namespaceSelector=SELECTOR,
    namespaces=each(name("namespace")),
    topologyKey=key,
    matchLabelKeys=each(key),
    mismatchLabelKeys=each(key),
)
_PODS = fields(
    requiredDuringSchedulingIgnoredDuringExecution=each(_TERM),
    preferredDuringSchedulingIgnoredDuringExecution=each(fields(weight=NUMBER, podAffinityTerm=_TERM)),
)
_NODE_TERM = fields(matchExpressions=REQUIREMENTS, matchFields=REQUIREMENTS)
_NODES = fields(
    requiredDuringSchedulingIgnoredDuringExecution=fields(nodeSelectorTerms=each(_NODE_TERM)),
    preferredDuringSchedulingIgnoredDuringExecution=each(fields(weight=NUMBER, preference=_NODE_TERM)),
)
_SPREAD = fields(
    maxSkew=NUMBER,
    minDomains=NUMBER,
    topologyKey=key,
    whenUnsatisfiable=words("DoNotSchedule", "ScheduleAnyway"),
    labelSelector=SELECTOR,
    matchLabelKeys=each(key),
    nodeAffinityPolicy=words("Honor", "Ignore"),
    nodeTaintsPolicy=words("Honor", "Ignore"),
)


def _port(value: Any, names: Pseudonyms) -> Any:
    """Only ports of the host: two pods with the same one cannot share a Node."""
    if not isinstance(value, Mapping) or not value.get("hostPort"):
        return NOTHING
    return fields(containerPort=NUMBER, hostPort=NUMBER, protocol=words("TCP", "UDP", "SCTP"))(value, names)


def _tolerations(value: Any, names: Pseudonyms) -> Any:
    """Without those that every pod is given."""
    if not isinstance(value, list):
        return NOTHING
    added = {NOT_READY, UNREACHABLE}
    own = [one for one in value if not (one.get("key") in added and one.get("tolerationSeconds") == _ADDED_SECONDS)]
    return TAINTS(own, names) if own else NOTHING


_ADDED_SECONDS = 300  # kube plugin/pkg/admission/defaulttolerationseconds
_CONTAINER = fields(
    name=name("container"),
    image=fixed("image"),
    resources=fields(requests=RESOURCES, limits=RESOURCES),
    ports=some(_port),
    restartPolicy=words("Always"),
)
_CLAIM = fields(
    accessModes=each(words("ReadWriteOnce", "ReadWriteMany", "ReadOnlyMany", "ReadWriteOncePod")),
    resources=fields(requests=RESOURCES),
    storageClassName=name("storageclass"),
    volumeName=name("volume"),
    volumeMode=words("Filesystem", "Block"),
)


def _volume(value: Any, names: Pseudonyms) -> Any:
    """Only volumes that bind a pod to places: claims, and those made with it. Others hold secrets and have no part in it."""
    if not isinstance(value, Mapping) or not value.keys() & {"persistentVolumeClaim", "ephemeral"}:
        return NOTHING
    template = fields(volumeClaimTemplate=fields(spec=_CLAIM))
    return fields(name=name("volume"), persistentVolumeClaim=fields(claimName=name("claim")), ephemeral=template)(
        value, names
    )


_POD = fields(
    nodeName=name(NODE),
    nodeSelector=LABELS,
    affinity=fields(nodeAffinity=_NODES, podAffinity=_PODS, podAntiAffinity=_PODS),
    tolerations=_tolerations,
    topologySpreadConstraints=each(_SPREAD),
    priorityClassName=name("priorityclass"),
    hostNetwork=FLAG,
    terminationGracePeriodSeconds=unless(30, NUMBER),
    restartPolicy=words("OnFailure", "Never"),
    schedulingGates=each(fields(name=name("gate"))),
    schedulerName=unless("default-scheduler", name("scheduler")),
    initContainers=each(_CONTAINER),
    containers=each(_CONTAINER),
    volumes=some(_volume),
)
_TEMPLATE = fields(metadata=fields(labels=LABELS, annotations=ANNOTATIONS), spec=_POD)
_WORKLOAD = fields(
    replicas=NUMBER,
    parallelism=NUMBER,
    completions=NUMBER,
    serviceName=name("service"),
    selector=SELECTOR,
    template=_TEMPLATE,
    volumeClaimTemplates=each(fields(metadata=fields(name=name("volume")), spec=_CLAIM)),
)
_CONDITIONS = each(
    fields(
        type=words(
            "Ready",
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
    nodes=QUANTITY, schedule=SPAN, duration=SPAN, reasons=each(words("Underutilized", "Empty", "Drifted", "Expired"))
)
_NODE_CLASS = fields(
    osDiskSizeGB=NUMBER,
    imageFamily=words("Ubuntu", "Ubuntu2204", "Ubuntu2404", "AzureLinux"),
    fipsMode=words("FIPS", "Disabled"),
    maxPods=NUMBER,
    artifactStreaming=fields(enabled=FLAG),
    gpu=fields(mode=words("Driver", "None", "Install", "Disabled")),
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
_PUBLIC_ZONES = each(fields(matchLabelExpressions=REQUIREMENTS))

_BELOW: Mapping[str, tuple[str, Mapping[str, Rule]]] = {
    "Namespace": ("namespace", {}),
    "Pod": ("pod", {"spec": _POD}),
    **{kind: (kind.lower(), {"spec": _WORKLOAD}) for kind in WORKLOADS},
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
                template=fields(metadata=fields(labels=LABELS), spec=fields(**_CLAIMED)),
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
    "StorageClass": (
        "storageclass",
        {
            "provisioner": name("driver"),
            "volumeBindingMode": words("Immediate", "WaitForFirstConsumer"),
            "allowVolumeExpansion": FLAG,
            "allowedTopologies": _PUBLIC_ZONES,
        },
    ),
    "PersistentVolumeClaim": ("claim", {"spec": _CLAIM, "status": fields(phase=words("Pending", "Bound", "Lost"))}),
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
                nodeAffinity=fields(required=fields(nodeSelectorTerms=each(_NODE_TERM))),
            ),
        },
    ),
    "CSINode": (
        NODE,
        {"spec": fields(drivers=each(_DRIVER))},
    ),
}


def kept(obj: Mapping[str, Any], names: Pseudonyms) -> dict[str, Any] | None:
    """What may stay of an object; None where its kind has no part in it."""
    found = _BELOW.get(str(obj.get("kind")))
    if found is None:
        return None
    category, rules = found
    metadata = fields(name=name(category), namespace=name("namespace"), labels=LABELS, annotations=ANNOTATIONS)(
        obj.get("metadata"), names
    )
    left = {"apiVersion": obj["apiVersion"], "kind": obj["kind"], "metadata": metadata}
    below = fields(**rules)(obj, names)
    return {**left, **(below if below is not NOTHING else {})}
