"""The service accounts of new pods.

Source: kubernetes plugin/pkg/admission/serviceaccount/admission.go.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from harness.kube.api.objects import Object, annotations_of, spec_of

__all__ = ["account_of", "missing_account"]

_DEFAULT = "default"  # which kube-controller-manager makes in each namespace
_MIRROR = "kubernetes.io/config.mirror"


def account_of(spec: Mapping[str, object]) -> str:
    """Return the name of the service account of a pod with this spec, by its field or the older one."""
    name = spec.get("serviceAccountName") or spec.get("serviceAccount") or _DEFAULT
    return name if isinstance(name, str) else _DEFAULT


def missing_account(pod: Object, namespace: str, exists: Callable[[str], bool]) -> str:
    """Return why a new pod is refused whose service account does not exist, "" where it does."""
    name = account_of(spec_of(pod))
    if name == _DEFAULT or _MIRROR in annotations_of(pod) or exists(name):
        return ""
    return f'error looking up service account {namespace}/{name}: serviceaccount "{name}" not found'
