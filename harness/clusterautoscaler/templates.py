"""Template nodes: what a node of a group will be like, from one that runs or from the pool's description.

Sources: autoscaler simulator/node_info_utils.go, processors/nodeinfosprovider/mixed_nodeinfos_processor.go,
utils/taints/taints.go (SanitizeTaints), utils/daemonset/daemonset.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from harness.clusterautoscaler.pods import is_daemon_set_pod, is_mirror_pod
from harness.clusterautoscaler.readiness import readiness_of
from harness.clusterautoscaler.taints import TO_BE_DELETED, has_taint, without_transient
from harness.engine.clock import SECOND
from harness.kube.api.labels import HOSTNAME
from harness.kube.api.objects import (
    Object,
    controller_of,
    is_terminating,
    labels_of,
    metadata_of,
    name_of,
    spec_of,
    uid_of,
    with_metadata,
    with_spec,
)
from harness.kube.scheduling.placement import NodeInfo
from harness.kube.workloads.daemon_sets import daemon_set

__all__ = ["fresh_node", "is_good_example", "template_from_description", "template_from_node"]

_TEMPLATE = "cluster-autoscaler.kubernetes.io/template-node"
_STABLE_SECONDS = 60
_NODE_CRITICAL = "system-node-critical"


def is_good_example(node: Object, now: int) -> bool:
    """Return whether a template may be made from a node: it has been ready for a minute, takes pods and stays
    (isNodeGoodTemplateCandidate)."""
    readiness = readiness_of(node)
    stable = readiness.since + _STABLE_SECONDS * SECOND < now
    leaves = has_taint(node, TO_BE_DELETED)
    return readiness.ready and stable and not spec_of(node).get("unschedulable") and not leaves


def template_from_node(info: NodeInfo, group: str, daemon_sets: Sequence[Object]) -> NodeInfo:
    """Return a template like a node that runs, with its pods of DaemonSets and its static ones.

    Of the DaemonSets that have no pod there, those are added that would push others away (isPreemptingSystemNodeCritical).
    """
    node = _template_node(info.node, group)
    staying = [pod for pod in info.pods if not is_terminating(pod)]
    pods = [pod for pod in staying if is_mirror_pod(pod) or is_daemon_set_pod(pod)]
    controllers = [controller_of(pod) for pod in staying]
    running = {str(owner.get("uid")) for owner in controllers if owner is not None and owner.get("kind") == "DaemonSet"}
    missing = [owner for owner in daemon_sets if uid_of(owner) not in running]
    pods += [pod for pod in _daemons(node, missing) if _pushes_others_away(pod)]
    return NodeInfo(node, [_on_node(pod, node, group) for pod in pods])


def template_from_description(node: Object, group: str, daemon_sets: Sequence[Object]) -> NodeInfo:
    """Return a template for a group of which no node has run, with a pod of each DaemonSet that belongs there
    (SanitizedTemplateNodeInfoFromNodeGroup)."""
    template = _template_node(node, group)
    return NodeInfo(template, [_on_node(pod, template, group) for pod in _daemons(template, daemon_sets)])


def fresh_node(template: NodeInfo, suffix: str) -> NodeInfo:
    """Return a new node like the template, its pods beside it; names end with the suffix (SanitizedNodeInfo)."""
    node = _named(template.node, f"{template.name}-{suffix}")
    return NodeInfo(node, [_on_node(pod, node, suffix) for pod in template.pods])


def _template_node(node: Object, group: str) -> dict[str, Any]:
    """Return a node as the example of a group, without the taints that only say how a node is now (createSanitizedNode)."""
    named = _named(node, f"template-node-for-{group}", {_TEMPLATE: "true"})
    return with_spec(named, taints=without_transient(spec_of(node).get("taints") or ()))


def _named(node: Object, name: str, more: dict[str, str] | None = None) -> dict[str, Any]:
    labels = {**labels_of(node), HOSTNAME: name, **(more or {})}
    return with_metadata(node, name=name, uid=name, labels=labels)


def _on_node(pod: Object, node: Object, suffix: str) -> dict[str, Any]:
    name = f"{metadata_of(pod).get('name') or metadata_of(pod).get('generateName')}-{suffix}"
    return with_spec(with_metadata(pod, name=name, uid=f"{name}/{name_of(node)}"), nodeName=name_of(node))


def _daemons(node: Object, daemon_sets: Iterable[Object]) -> list[Object]:
    """Return the pods that DaemonSets make for a node, one each (GetDaemonSetPodsForNode)."""
    return [pod for owner in daemon_sets for pod in daemon_set(owner, (), (node,)).create]


def _pushes_others_away(pod: Object) -> bool:
    spec = spec_of(pod)
    policy = spec.get("preemptionPolicy")
    return spec.get("priorityClassName") == _NODE_CRITICAL and policy in (None, "PreemptLowerPriority")
