"""Whose Lease and CSINode a kubelet may write (plugin/pkg/auth/authorizer/node/node_authorizer.go, authorizeLease, authorizeCSINode)."""

from __future__ import annotations

import pytest

from harness.kube.admission.node_authorizer import denial
from harness.kube.api.kinds import KINDS

LEASE = "can only access node lease with the same name as the requesting node"
CSI = "can only access CSINode with the same name as the requesting node"
SYSTEM = 'can only access leases in the "kube-node-lease" system namespace'


@pytest.mark.parametrize(
    ("verb", "kind", "namespace", "name", "why"),
    [
        ("create", "Lease", "kube-node-lease", "a", None),
        ("create", "Lease", "kube-node-lease", "", None),  # a request to create does not say the name
        ("update", "Lease", "kube-node-lease", "a", None),
        ("patch", "Lease", "kube-node-lease", "a", None),
        ("delete", "Lease", "kube-node-lease", "a", None),
        ("update", "Lease", "kube-node-lease", "b", LEASE),
        ("patch", "Lease", "kube-node-lease", "b", LEASE),
        ("delete", "Lease", "kube-node-lease", "b", LEASE),
        ("update", "Lease", "default", "a", SYSTEM),
        ("create", "Lease", "default", "", SYSTEM),
        ("create", "CSINode", "", "", None),
        ("update", "CSINode", "", "a", None),
        ("update", "CSINode", "", "b", CSI),
    ],
)
def test_a_kubelet_writes_its_own(verb: str, kind: str, namespace: str, name: str, why: str | None) -> None:
    said = denial("a", verb, KINDS[kind], "", namespace, name)
    assert said is None if why is None else said is not None and said.endswith(f": {why}")
