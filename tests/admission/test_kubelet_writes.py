"""What kubelets may write, and what the API server makes of label keys in selectors, function by function.

Sources: kubernetes pkg/kubelet/apis/well_known_labels.go, plugin/pkg/admission/noderestriction/admission.go,
plugin/pkg/auth/authorizer/node/node_authorizer.go, pkg/registry/core/pod/strategy.go.
"""

from __future__ import annotations

from typing import Any

import pytest

from harness.kube.admission.match_label_keys import merge_label_keys, merges_spread, without_merged_keys
from harness.kube.admission.node_authorizer import denial
from harness.kube.admission.node_restriction import (
    forbidden_labels,
    is_kubelet_label,
    is_kubernetes_label,
    kubelet_flag_error,
    modified_labels,
    node_write_error,
)
from harness.kube.api.kinds import KINDS
from harness.kube.api.names import label_namespace
from harness.kube.api.versions import Version
from harness.testing import node, pod, requirement

Object = dict[str, Any]


@pytest.mark.parametrize(
    ("key", "namespace", "kubernetes", "kubelet"),
    [
        ("team", "", False, False),
        ("example.com/team", "example.com", False, False),
        ("example.com/a/b", "example.com", False, False),
        ("kubernetes.io/x", "kubernetes.io", True, False),
        ("kubernetes.io/hostname", "kubernetes.io", True, True),
        ("k8s.io/x", "k8s.io", True, False),
        ("app.kubernetes.io/name", "app.kubernetes.io", True, False),
        ("x.k8s.io/name", "x.k8s.io", True, False),
        ("notkubernetes.io/x", "notkubernetes.io", False, False),
        ("node.kubernetes.io/x", "node.kubernetes.io", True, True),
        ("sub.node.kubernetes.io/x", "sub.node.kubernetes.io", True, True),
        ("anode.kubernetes.io/x", "anode.kubernetes.io", True, False),
        ("kubelet.kubernetes.io/x", "kubelet.kubernetes.io", True, True),
        ("topology.kubernetes.io/zone", "topology.kubernetes.io", True, True),
        ("node-restriction.kubernetes.io/x", "node-restriction.kubernetes.io", True, False),
    ],
)
def test_label_keys(key: str, namespace: str, kubernetes: bool, kubelet: bool) -> None:
    assert label_namespace(key) == namespace
    assert (is_kubernetes_label(key), is_kubelet_label(key)) == (kubernetes, kubelet)
    refused = kubernetes and not kubelet
    said = kubelet_flag_error([key, "team"])
    assert (said is not None) is refused
    assert said is None or f"specified with --node-labels: [{key}]\n" in said
    assert forbidden_labels([key, "team"]) == ([key] if refused else [])


def test_keys_below_the_restricted_domain_are_refused_and_told_in_order() -> None:
    keys = ["sub.node-restriction.kubernetes.io/x", "k8s.io/b", "k8s.io/a", "node.kubernetes.io/x"]
    assert forbidden_labels(keys) == ["k8s.io/a", "k8s.io/b", "sub.node-restriction.kubernetes.io/x"]
    assert forbidden_labels(["xnode-restriction.kubernetes.io/a"]) == ["xnode-restriction.kubernetes.io/a"]
    said = kubelet_flag_error(keys[:3])
    assert said is not None
    assert "[k8s.io/a k8s.io/b sub.node-restriction.kubernetes.io/x]" in said


def test_labels_that_a_write_changes() -> None:
    assert modified_labels({"a": "1", "b": "2", "c": "3"}, {"a": "1", "b": "3", "d": "4"}) == {"b", "c", "d"}


OLD = {**node("w1", taints=[{"key": "a", "effect": "NoSchedule"}])}
OLD["metadata"] |= {"labels": {"team": "x", "k8s.io/old": "y"}, "ownerReferences": [{"name": "o"}]}


def changed(**fields: Any) -> Object:
    metadata = {**OLD["metadata"], **fields.pop("metadata", {})}
    return {**OLD, "metadata": metadata, **fields}


@pytest.mark.parametrize(
    ("new", "said"),
    [
        (changed(), None),
        (changed(status={"conditions": []}), None),
        (changed(metadata={"labels": {**OLD["metadata"]["labels"], "team": "z"}}), None),
        (changed(metadata={"labels": {"team": "x"}}), "is not allowed to modify labels: k8s.io/old"),
        (
            changed(metadata={"labels": {**OLD["metadata"]["labels"], "k8s.io/a": "", "k8s.io/old": "z"}}),
            "is not allowed to modify labels: k8s.io/a, k8s.io/old",
        ),
        (changed(spec={}), 'node "w1" is not allowed to modify taints'),
        (changed(spec=None), 'node "w1" is not allowed to modify taints'),
        (changed(spec={"taints": [{"key": "b", "effect": "NoSchedule"}]}), 'node "w1" is not allowed to modify taints'),
        (changed(metadata={"ownerReferences": []}), 'node "w1" is not allowed to modify ownerReferences'),
        (changed(metadata={"ownerReferences": None}), 'node "w1" is not allowed to modify ownerReferences'),
        (changed(metadata={"name": "w2"}), 'node "w1" is not allowed to modify node "w2"'),
        ({}, 'node "w1" is not allowed to modify node "None"'),
    ],
)
def test_what_a_kubelet_changes_of_its_node(new: Object, said: str | None) -> None:
    """admitNode."""
    assert node_write_error("w1", "update", "", new, OLD) == said


def test_a_node_without_taints_and_owners_stays_so() -> None:
    bare = {"metadata": {"name": "w1"}}
    for same in ({**bare, "spec": {}}, {**bare, "spec": {"taints": []}}, {**bare, "spec": None}):
        assert node_write_error("w1", "update", "", same, bare) is None
        assert node_write_error("w1", "update", "", bare, same) is None
    assert node_write_error("w1", "update", "", {"metadata": {"name": "w1", "ownerReferences": []}}, bare) is None


def test_labels_of_a_new_node() -> None:
    made = node("w1", labels={"k8s.io/b": "", "k8s.io/a": "", "team": "x"})
    assert node_write_error("w1", "create", "", made, None) == (
        'node "w1" is not allowed to set the following labels: k8s.io/a, k8s.io/b'
    )
    assert node_write_error("w1", "create", "", node("w1"), None) is None


CANNOT = 'User "system:node:a" cannot {} resource "{}" in API group "{}" {}'


@pytest.mark.parametrize(
    ("verb", "kind", "subresource", "said"),
    [
        ("create", "Node", "", None),
        ("patch", "Node", "status", None),
        ("create", "Node", "status", CANNOT.format("create", "nodes/status", "", "at the cluster scope")),
        ("delete", "Node", "", CANNOT.format("delete", "nodes", "", "at the cluster scope")),
        ("delete", "Pod", "", None),
        ("create", "Pod", "eviction", None),
        ("update", "Pod", "", CANNOT.format("update", "pods", "", 'in the namespace "n"')),
        ("update", "Deployment", "", CANNOT.format("update", "deployments", "apps", 'in the namespace "n"')),
        (
            "update",
            "Secret",
            "",
            CANNOT.format("update", "secrets", "", 'in the namespace "n"') + ": can only read resources of this type",
        ),
    ],
)
def test_what_a_kubelet_may_write_at_all(verb: str, kind: str, subresource: str, said: str | None) -> None:
    assert denial("a", verb, KINDS[kind], subresource, "n", "x") == said


APP = {"matchLabels": {"app": "web"}}
IN, NOT_IN = requirement("tier", "gold"), requirement("side", "left", operator="NotIn")
KEYS = {"matchLabelKeys": ["tier", "absent"], "mismatchLabelKeys": ["side"]}
LABELS = {"tier": "gold", "side": "left"}


def spread(**fields: Any) -> Object:
    return pod(labels=LABELS, topologySpreadConstraints=[{"topologyKey": "zone", **fields}])


def near(kind: str = "podAffinity", *, preferred: bool = False, **fields: Any) -> Object:
    term = {"topologyKey": "zone", **fields}
    terms = (
        {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1}, {"weight": 1, "podAffinityTerm": term}]}
        if preferred
        else {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
    )
    return pod(labels=LABELS, affinity={kind: terms, "nodeAffinity": {}})


OWN = {**APP, "matchExpressions": [requirement("app", "x")]}


@pytest.mark.parametrize(
    ("given", "made"),
    [
        ({"labelSelector": APP, "matchLabelKeys": ["tier"]}, {**APP, "matchExpressions": [IN]}),
        (
            {"labelSelector": OWN, "matchLabelKeys": ["tier"]},
            {**APP, "matchExpressions": [requirement("app", "x"), IN]},
        ),
        ({"labelSelector": APP, "matchLabelKeys": ["absent"]}, APP),
        ({"labelSelector": {}, "matchLabelKeys": ["tier"]}, {"matchExpressions": [IN]}),
        ({"labelSelector": APP}, APP),
        ({"matchLabelKeys": ["tier"]}, None),
    ],
)
def test_keys_of_spread_constraints(given: Object, made: Object | None) -> None:
    asked = spread(**given)
    merged = merge_label_keys(asked, Version(1, 34))
    assert merged["spec"]["topologySpreadConstraints"][0].get("labelSelector") == made
    assert merges_spread(Version(1, 34))
    assert not merges_spread(Version(1, 33, 9))
    assert merge_label_keys(asked, Version(1, 33, 9)) == asked
    assert without_merged_keys(merged) == asked


@pytest.mark.parametrize("kind", ["podAffinity", "podAntiAffinity"])
@pytest.mark.parametrize("preferred", [True, False])
def test_keys_of_terms(kind: str, preferred: bool) -> None:
    asked = near(kind, preferred=preferred, labelSelector=APP, **KEYS)
    wanted = near(kind, preferred=preferred, labelSelector={**APP, "matchExpressions": [IN, NOT_IN]}, **KEYS)
    assert merge_label_keys(asked, Version(1, 31)) == wanted
    assert without_merged_keys(wanted) == asked
    assert merge_label_keys(asked, Version(1, 30)) == near(kind, preferred=preferred, labelSelector=APP)


def test_where_nothing_is_added_the_pod_is_the_same() -> None:
    bare = {"metadata": {"name": "p"}}
    for given in (bare, pod(), near(labelSelector=APP), spread(labelSelector=APP), near(**KEYS)):
        assert merge_label_keys(given, Version(1, 34)) is given
        assert without_merged_keys(given) is given
    # what somebody wrote himself stays
    other = spread(labelSelector={**APP, "matchExpressions": [IN, requirement("app", "x")]}, matchLabelKeys=["tier"])
    assert without_merged_keys(other) == other
