"""The rights of kubelets (identities `system:node:…`) on the memory cluster: the Node authorizer, then NodeRestriction.

Source: kubernetes plugin/pkg/admission/noderestriction/admission.go.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.clusters.memory.request import Admission, Request
from harness.clusters.memory.store import Store
from harness.engine.ports import Identity
from harness.kube.admission.node_authorizer import denial
from harness.kube.admission.node_restriction import node_write_error
from harness.kube.api.kinds import Kind
from harness.kube.api.objects import Key, Object, annotations_of, owners_of, spec_of, uid_of
from harness.kube.api.status import forbidden

__all__ = ["authorize", "may_evict", "node_restriction"]

_PREFIX = "system:node:"
_MIRROR = "kubernetes.io/config.mirror"


def authorize(identity: Identity, verb: str, kind: Kind, subresource: str, key: Key) -> None:
    """Authorize a request as the Node authorizer does. Identities that are no kubelets may do everything here."""
    if identity.user.startswith(_PREFIX):
        why = denial(identity.user.removeprefix(_PREFIX), verb, kind, subresource, key.namespace, key.name)
        if why is not None:
            raise forbidden(kind, key.name, why)


def may_evict(identity: Identity, kind: Kind, pod: Object) -> None:
    """Judge an eviction by a kubelet. Raises ApiError 403."""
    node = identity.user.removeprefix(_PREFIX)
    if node != identity.user and spec_of(pod).get("nodeName") != node:
        name = pod["metadata"]["name"]
        raise forbidden(kind, name, f"node {node} can only evict pods with spec.nodeName set to itself")


def node_restriction(store: Callable[[], Store]) -> Admission:
    """Return the NodeRestriction admission plugin."""

    def judge(request: Request) -> dict[str, Any]:
        user = request.identity.user
        if not user.startswith(_PREFIX):
            return request.object
        node = user.removeprefix(_PREFIX)
        why: str | None = None
        if request.kind.kind == "Node":
            why = node_write_error(node, request.verb, request.subresource, request.object, request.old)
        elif request.kind.kind == "Pod":
            why = _pod_error(node, request, store)
        elif request.kind.kind == "Lease" and request.verb == "create" and request.key.name != node:
            why = "can only access node lease with the same name as the requesting node"
        elif request.kind.kind == "CSINode" and request.verb == "create" and request.key.name != node:
            why = "can only access CSINode with the same name as the requesting node"
        if why is not None:
            raise forbidden(request.kind, request.key.name, why)
        return request.object

    return judge


def _pod_error(node: str, request: Request, store: Callable[[], Store]) -> str | None:
    if request.verb == "create":
        return _mirror_error(node, request.object, store().get("Node", node))
    if request.old is None or spec_of(request.old).get("nodeName") == node:
        return None
    if request.verb == "delete":
        return f'node "{node}" can only delete pods with spec.nodeName set to itself'
    return f'node "{node}" can only update pod status for pods with spec.nodeName set to itself'


def _mirror_error(node: str, pod: Object, own: Object | None) -> str | None:
    """Return the error about a pod of a kubelet, which may create mirrors of its static pods, owned by its Node, and nothing else."""
    if _MIRROR not in annotations_of(pod):
        return f'pod does not have "{_MIRROR}" annotation, node "{node}" can only create mirror pods'
    if spec_of(pod).get("nodeName") != node:
        return f'node "{node}" can only create pods with spec.nodeName set to itself'
    owners = owners_of(pod)
    if len(owners) > 1:
        return f'node "{node}" can only create pods with a single owner reference set to itself'
    owner = owners[0] if owners else {}
    if (owner.get("apiVersion"), owner.get("kind"), owner.get("name")) != ("v1", "Node", node):
        return f'node "{node}" can only create pods with an owner reference set to itself'
    if not owner.get("controller"):
        return f'node "{node}" can only create pods with a controller owner reference set to itself'
    if owner.get("blockOwnerDeletion"):
        return f'node "{node}" must not set blockOwnerDeletion on an owner reference'
    if own is not None and owner.get("uid") != uid_of(own):
        return f"node {node} UID mismatch: expected {owner.get('uid')} got {uid_of(own)}"
    return None
