"""The labels that a kubelet may set: its own rule at start, and the NodeRestriction admission plugin of the API server.

Sources: kubernetes pkg/kubelet/apis/well_known_labels.go, cmd/kubelet/app/options/options.go,
plugin/pkg/admission/noderestriction/admission.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from harness.kube.api.labels import (
    ARCH,
    BETA_ARCH,
    BETA_INSTANCE_TYPE,
    BETA_OS,
    BETA_REGION,
    BETA_ZONE,
    HOSTNAME,
    INSTANCE_TYPE,
    OS,
    REGION,
    ZONE,
)
from harness.kube.api.names import label_namespace
from harness.kube.api.objects import Object, labels_of

KUBELET_LABELS = frozenset(
    {
        HOSTNAME,
        OS,
        ARCH,
        BETA_OS,
        BETA_ARCH,
        INSTANCE_TYPE,
        BETA_INSTANCE_TYPE,
        ZONE,
        REGION,
        BETA_ZONE,
        BETA_REGION,
    }
)
"""The keys in Kubernetes' own domains that a kubelet may set by name."""

KUBELET_LABEL_NAMESPACES = ("kubelet.kubernetes.io", "node.kubernetes.io")
"""The domains, subdomains included, in which a kubelet may set any key."""


def is_kubernetes_label(key: str) -> bool:
    """Return whether the key is in a domain that belongs to Kubernetes (`kubernetes.io`, `k8s.io` and below)."""
    namespace = label_namespace(key)
    return namespace in ("kubernetes.io", "k8s.io") or namespace.endswith((".kubernetes.io", ".k8s.io"))


def is_kubelet_label(key: str) -> bool:
    """Return whether a kubelet may set this key of Kubernetes' domains."""
    if key in KUBELET_LABELS:
        return True
    namespace = label_namespace(key)
    return any(namespace == own or namespace.endswith("." + own) for own in KUBELET_LABEL_NAMESPACES)


def kubelet_flag_error(labels: Iterable[str]) -> str | None:
    """Return the sentence with which a kubelet refuses to start over its `--node-labels`, or None."""
    unknown = forbidden_labels(labels)
    if not unknown:
        return None
    prefixes = ", ".join(sorted(KUBELET_LABEL_NAMESPACES))
    allowed = ", ".join(sorted(KUBELET_LABELS))
    return (
        f"unknown 'kubernetes.io' or 'k8s.io' labels specified with --node-labels: [{' '.join(unknown)}]\n"
        f"--node-labels in the 'kubernetes.io' namespace must begin with an allowed prefix ({prefixes}) "
        f"or be in the specifically allowed set ({allowed})"
    )


def forbidden_labels(keys: Iterable[str]) -> list[str]:
    """Return the keys, sorted, that NodeRestriction does not let a kubelet set or change.

    Keys of `node-restriction.kubernetes.io`, which upstream names, are among them: no kubelet may set any.
    """
    return sorted({key for key in keys if is_kubernetes_label(key) and not is_kubelet_label(key)})


def modified_labels(new: Mapping[str, str], old: Mapping[str, str]) -> set[str]:
    """Return the keys whose value differs, is added or removed."""
    return {key for key in {*new, *old} if new.get(key) != old.get(key)}


def node_write_error(node_name: str, verb: str, subresource: str, new: Object, old: Object | None) -> str | None:
    """Return why NodeRestriction forbids the kubelet of `node_name` this write of a Node; None when it is allowed."""
    target = (new.get("metadata") or {}).get("name")
    if target != node_name:
        return f'node "{node_name}" is not allowed to modify node "{target}"'
    if verb == "create":
        forbidden = forbidden_labels(labels_of(new))
        if forbidden:
            return f'node "{node_name}" is not allowed to set the following labels: {", ".join(forbidden)}'
        return None
    if verb == "delete" or old is None:
        return None
    if ((new.get("spec") or {}).get("taints") or []) != ((old.get("spec") or {}).get("taints") or []):
        return f'node "{node_name}" is not allowed to modify taints'
    forbidden = forbidden_labels(modified_labels(labels_of(new), labels_of(old)))
    if forbidden:
        return f"is not allowed to modify labels: {', '.join(forbidden)}"
    if (new["metadata"].get("ownerReferences") or []) != (old["metadata"].get("ownerReferences") or []):
        return f'node "{node_name}" is not allowed to modify ownerReferences'
    return None
