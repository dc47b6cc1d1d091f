"""The fields of pods and of workloads that may stay."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.capture.fields import (
    ANNOTATIONS,
    FIELDS,
    FLAG,
    LABELS,
    NOTHING,
    NUMBER,
    QUANTITY,
    REQUIREMENTS,
    RESOURCES,
    SELECTOR,
    TAINTS,
    Rule,
    each,
    fields,
    fixed,
    key,
    name,
    some,
    unless,
    words,
)
from harness.capture.pseudonyms import Pseudonyms
from harness.kube.api.labels import NOT_READY, UNREACHABLE

__all__ = ["CLAIM", "NODE", "NODE_TERM", "POD", "REPLICATION_CONTROLLER", "WORKLOAD"]

NODE = "node"
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
NODE_TERM = fields(matchExpressions=REQUIREMENTS, matchFields=FIELDS)
_NODES = fields(
    requiredDuringSchedulingIgnoredDuringExecution=fields(nodeSelectorTerms=each(NODE_TERM)),
    preferredDuringSchedulingIgnoredDuringExecution=each(fields(weight=NUMBER, preference=NODE_TERM)),
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
    """Reduce a port to one of the host: two pods with the same one cannot share a Node."""
    if not isinstance(value, Mapping) or not value.get("hostPort"):
        return NOTHING
    return fields(containerPort=NUMBER, hostPort=NUMBER, hostIP=_address, protocol=words("TCP", "UDP", "SCTP"))(
        value, names
    )


def _address(value: Any, names: Pseudonyms) -> Any:
    """Return another address of the host for each, of those that are nobody's (RFC 5737); two pods on different ones do not meet."""
    if value in ("", "0.0.0.0", "::", "127.0.0.1"):
        return value
    return names.path("address", value, "192.0.2.{}") if isinstance(value, str) else NOTHING


def _tolerations(value: Any, names: Pseudonyms) -> Any:
    """Reduce tolerations to those that are not added to every pod."""
    if not isinstance(value, list):
        return NOTHING
    added = {NOT_READY, UNREACHABLE}
    own = [
        toleration
        for toleration in value
        if not (toleration.get("key") in added and toleration.get("tolerationSeconds") == _ADDED_SECONDS)
    ]
    return TAINTS(own, names) if own else NOTHING


_ADDED_SECONDS = 300  # kube plugin/pkg/admission/defaulttolerationseconds
_USES = fields(name=name("resourceclaim"), request=name("request"))
_RESOURCES = fields(requests=RESOURCES, limits=RESOURCES, claims=some(_USES))
_TIMES = fields(initialDelaySeconds=NUMBER, periodSeconds=NUMBER, successThreshold=NUMBER)


def _probe(value: Any, names: Pseudonyms) -> Any:
    """Reduce a probe to its times, which decide when a pod is ready; one that succeeds at once decides nothing."""
    if not isinstance(value, Mapping) or not (
        value.get("initialDelaySeconds") or (value.get("successThreshold") or 1) != 1
    ):
        return NOTHING
    times = _TIMES(value, names)
    return NOTHING if times is NOTHING else {"exec": {"command": ["probe"]}, **times}


_CONTAINER = fields(
    name=name("container"),
    image=fixed("image"),
    resources=_RESOURCES,
    ports=some(_port),
    restartPolicy=words("Always"),
    startupProbe=_probe,
    readinessProbe=_probe,
)
CLAIM = fields(
    accessModes=each(words("ReadWriteOnce", "ReadWriteMany", "ReadOnlyMany", "ReadWriteOncePod")),
    resources=fields(requests=RESOURCES),
    storageClassName=name("storageclass"),
    volumeName=name("volume"),
    volumeMode=words("Filesystem", "Block"),
)


def _volume(value: Any, names: Pseudonyms) -> Any:
    """Reduce volumes to those that bind a pod to places: claims, and those made with it. Others hold secrets and have no part in it."""
    if not isinstance(value, Mapping) or not value.keys() & {"persistentVolumeClaim", "ephemeral"}:
        return NOTHING
    template = fields(volumeClaimTemplate=fields(spec=CLAIM))
    return fields(name=name("volume"), persistentVolumeClaim=fields(claimName=name("claim")), ephemeral=template)(
        value, names
    )


POD = fields(
    nodeName=name(NODE),
    nodeSelector=LABELS,
    affinity=fields(nodeAffinity=_NODES, podAffinity=_PODS, podAntiAffinity=_PODS),
    tolerations=_tolerations,
    topologySpreadConstraints=each(_SPREAD),
    priorityClassName=name("priorityclass"),
    runtimeClassName=name("runtimeclass"),
    overhead=RESOURCES,
    resources=_RESOURCES,
    resourceClaims=some(
        fields(
            name=name("resourceclaim"),
            resourceClaimName=name("resourceclaim"),
            resourceClaimTemplateName=name("resourceclaimtemplate"),
        )
    ),
    hostNetwork=FLAG,
    terminationGracePeriodSeconds=unless(30, NUMBER),
    restartPolicy=words("OnFailure", "Never"),
    schedulingGates=each(fields(name=name("gate"))),
    schedulerName=unless("default-scheduler", name("scheduler")),
    initContainers=each(_CONTAINER),
    containers=each(_CONTAINER),
    volumes=some(_volume),
)
_TEMPLATE = fields(metadata=fields(labels=LABELS, annotations=ANNOTATIONS), spec=POD)
_ROLLOUT = fields(
    type=words("RollingUpdate", "Recreate", "OnDelete"),
    rollingUpdate=fields(maxSurge=QUANTITY, maxUnavailable=QUANTITY, partition=NUMBER),
)


def _workload(selector: Rule) -> Rule:
    return fields(
        replicas=NUMBER,
        parallelism=NUMBER,
        completions=NUMBER,
        serviceName=name("service"),
        selector=selector,
        template=_TEMPLATE,
        minReadySeconds=unless(0, NUMBER),
        podManagementPolicy=unless("OrderedReady", words("Parallel")),
        strategy=_ROLLOUT,
        updateStrategy=_ROLLOUT,
        volumeClaimTemplates=each(fields(metadata=fields(name=name("volume")), spec=CLAIM)),
    )


WORKLOAD = _workload(SELECTOR)
REPLICATION_CONTROLLER = _workload(LABELS)
"""A ReplicationController's selector is a map of labels."""
