"""The requests that the API server's Node authorizer allows a kubelet at all; NodeRestriction then judges which
objects.

Source: kubernetes plugin/pkg/auth/authorizer/node/node_authorizer.go, plugin/pkg/auth/authorizer/rbac/bootstrappolicy/policy.go
(NodeRules), apiserver pkg/endpoints/handlers/responsewriters/errors.go.
"""

from __future__ import annotations

from collections.abc import Mapping

from harness.kube.api.kinds import Kind

__all__ = ["denial"]

_LEASES = "kube-node-lease"
_CHANGES = ("create", "update", "patch", "delete")
_ALLOWED: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("Node", ""): ("create", "update", "patch"),
    ("Node", "status"): ("update", "patch"),
    ("Pod", ""): ("create", "delete"),
    ("Pod", "status"): ("update", "patch"),
    ("Pod", "eviction"): ("create",),
    ("Lease", ""): _CHANGES,
    ("CSINode", ""): _CHANGES,
}
_READ_ONLY: Mapping[str, str] = {
    "Secret": "can only read resources of this type",
    "ConfigMap": "can only read resources of this type",
    "PersistentVolume": "can only get individual resources of this type",
    "PersistentVolumeClaim": "can only get individual resources of this type",
    "VolumeAttachment": "can only get individual resources of this type",
    "ServiceAccount": "can only create tokens for individual service accounts",
}


def denial(node: str, verb: str, kind: Kind, subresource: str, namespace: str, name: str) -> str | None:
    """Return why the Node authorizer forbids a request to the kubelet of `node`; None where it allows it.

    The reason is the end of the message, with the user in it.
    """
    reason = _reason(node, verb, kind, subresource, namespace, name)
    if reason is None:
        return None
    resource = f"{kind.plural}/{subresource}" if subresource else kind.plural
    scope = f'in the namespace "{namespace}"' if kind.namespaced else "at the cluster scope"
    text = f'User "system:node:{node}" cannot {verb} resource "{resource}" in API group "{kind.group}" {scope}'
    return f"{text}: {reason}" if reason else text


def _reason(node: str, verb: str, kind: Kind, subresource: str, namespace: str, name: str) -> str | None:
    """Return the authorizer's own words, "" where it has none; None where it allows the request."""
    if verb not in _ALLOWED.get((kind.kind, subresource), ()):
        return _READ_ONLY.get(kind.kind, "")
    if kind.kind == "Lease":
        if namespace != _LEASES:
            return f'can only access leases in the "{_LEASES}" system namespace'
        if verb != "create" and name != node:
            return "can only access node lease with the same name as the requesting node"
    if kind.kind == "CSINode" and verb != "create" and name != node:
        return "can only access CSINode with the same name as the requesting node"
    return None
