"""Where what a pod may say begins and ends: kubernetes pkg/apis/core/validation/validation.go (ValidatePodSpec and what it calls)."""

from __future__ import annotations

from typing import Any

import pytest

from harness.kube.admission.container_resources import resources_errors
from harness.kube.admission.places import Place
from harness.kube.admission.pod_validation import pod_spec_errors
from harness.kube.admission.tolerations import toleration_errors
from harness.kube.admission.workload_validation import workload_errors
from harness.testing import requirement

SELECTOR = {"matchLabels": {"app": "web"}}


def wrong(spec: dict[str, Any], *, merged: bool = True) -> list[str]:
    """The fields at fault, without `spec.`"""
    return [each.field.removeprefix("spec.") for each in pod_spec_errors(spec, merged=merged)]


@pytest.mark.parametrize("field", ["containers", "initContainers"])
@pytest.mark.parametrize(
    ("port", "fields"),
    [
        ({"containerPort": 1}, []),
        ({"containerPort": 65535, "hostPort": 65535}, []),
        ({"containerPort": 80, "hostPort": 1}, []),
        ({"containerPort": 80, "hostPort": 0}, []),
        ({"containerPort": 65536}, ["containerPort"]),
        ({"containerPort": -1}, ["containerPort"]),
        ({"containerPort": 0}, ["containerPort"]),
        ({}, ["containerPort"]),
        ({"hostPort": 80}, ["containerPort"]),
        ({"containerPort": 80, "hostPort": 65536}, ["hostPort"]),
        ({"containerPort": 80, "protocol": "UDP"}, []),
        ({"containerPort": 80, "protocol": "udp"}, ["protocol"]),
    ],
)
def test_ports(field: str, port: dict[str, Any], fields: list[str]) -> None:
    spec = {field: [{"name": "a"}, {"name": "b", "ports": [{"containerPort": 80}, port]}]}
    assert wrong(spec) == [f"{field}[1].ports[1].{each}" for each in fields]


CARD, HUGE, NATIVE = "example.com/card", "hugepages-2Mi", "kubernetes.io/batch"


@pytest.mark.parametrize(
    ("limits", "requests", "fields"),
    [
        ({}, {"cpu": "0", "memory": "1", "ephemeral-storage": "1"}, []),
        ({"cpu": "1"}, {"cpu": "1"}, []),
        ({"cpu": "1"}, {"cpu": "999m"}, []),
        ({"cpu": "1"}, {"cpu": "1001m"}, ["requests"]),
        ({"cpu": "1"}, {"memory": "1"}, []),
        ({"cpu": "-1"}, {}, ["limits[cpu]"]),
        ({}, {"cpu": "-1"}, ["requests[cpu]"]),
        ({"cpu": "1500u"}, {}, []),
        ({CARD: "1"}, {CARD: "1"}, []),
        ({CARD: "1"}, {}, []),
        ({CARD: "2"}, {CARD: "1"}, ["requests"]),
        ({CARD: "1"}, {CARD: "2"}, ["requests"]),
        ({}, {CARD: "1"}, ["limits"]),
        ({CARD: "1500m"}, {}, [f"limits[{CARD}]"]),
        ({CARD: "2000m"}, {}, []),
        ({HUGE: "2Mi", "cpu": "1"}, {HUGE: "2Mi"}, []),
        ({HUGE: "4Mi", "cpu": "1"}, {HUGE: "2Mi"}, ["requests"]),
        ({"memory": "1Gi"}, {HUGE: "2Mi"}, ["limits"]),
        ({HUGE: "4Mi"}, {"memory": "1Gi"}, []),
        ({HUGE: "0"}, {"memory": "1Gi"}, []),
        ({HUGE: "3Mi"}, {"memory": "1Gi"}, [f"limits[{HUGE}]"]),
        ({HUGE: "1500m"}, {"memory": "1Gi"}, [f"limits[{HUGE}]"]),
        ({HUGE: "3Mi"}, {"memory": "1Gi", HUGE: "3Mi"}, [f"limits[{HUGE}]", f"requests[{HUGE}]"]),
        ({"hugepages-0": "1", "cpu": "1"}, {}, ["limits[hugepages-0]"]),
        ({"hugepages--2Mi": "2Mi", "cpu": "1"}, {}, ["limits[hugepages--2Mi]"]),
        ({"hugepages-500m": "1", "cpu": "1"}, {}, ["limits[hugepages-500m]"]),
        ({"hugepages-large": "1", "cpu": "1"}, {}, ["limits[hugepages-large]"]),
        ({HUGE: "2Mi"}, {}, [""]),  # they require CPU or memory
        ({HUGE: "2Mi"}, {HUGE: "2Mi"}, [""]),
        ({HUGE: "2Mi", "ephemeral-storage": "1Gi"}, {}, [""]),
        ({}, {NATIVE: "1"}, []),
        ({NATIVE: "2"}, {NATIVE: "1"}, []),
        ({NATIVE: "1"}, {NATIVE: "2"}, ["requests"]),
        ({NATIVE: "1500m"}, {}, []),
        ({"gpu": "1"}, {}, ["limits[gpu]"] * 2),
        ({"pods": "1"}, {}, ["limits[pods]"]),  # a standard resource, but none of containers
        ({}, {"storage": "1"}, ["requests[storage]"]),
    ],
)
def test_requests_and_limits(limits: dict[str, str], requests: dict[str, str], fields: list[str]) -> None:
    """ValidateContainerResourceRequirements; helper.IsOvercommitAllowed, IsNativeResource."""
    found = resources_errors({"limits": limits, "requests": requests}, Place("at", ("at",)))
    assert [each.field.removeprefix("at").removeprefix(".") for each in found] == fields


def test_what_is_said_of_huge_pages() -> None:
    found = resources_errors({"limits": {HUGE: "3Mi"}}, Place("at", ("at",)))
    assert [str(each) for each in found] == [
        f'at.limits[{HUGE}]: Invalid value: "3Mi": 3Mi is not positive integer multiple of {HUGE}',
        "at: Forbidden: HugePages require cpu or memory",
    ]


@pytest.mark.parametrize(
    ("toleration", "details"),
    [
        ({"key": "a"}, []),
        ({"operator": "Exists"}, []),
        ({}, ["operator must be Exists when `key` is empty"]),
        ({"key": "a b"}, ["name part must consist of"]),
        ({"key": "a", "value": "b"}, []),
        ({"key": "a", "value": "b c"}, ["a valid label must be"]),
        ({"key": "a", "operator": "Equal", "value": "b c"}, ["a valid label must be"]),
        ({"key": "a", "operator": "Exists", "value": ""}, []),
        ({"key": "a", "operator": "Exists", "value": "b"}, ["value must be empty"]),
        ({"key": "a", "operator": "Lt", "value": "b c"}, ['supported values: "Equal", "Exists", "Lt", "Gt"']),
        ({"key": "a", "operator": "Like", "value": "b c"}, ['supported values: "Equal", "Exists"']),
        ({"key": "a", "tolerationSeconds": 0}, ["effect must be 'NoExecute'"]),
        ({"key": "a", "effect": "NoSchedule", "tolerationSeconds": 5}, ["effect must be 'NoExecute'"]),
        ({"key": "a", "effect": "NoExecute", "tolerationSeconds": -5}, []),
        ({"key": "a", "effect": "NoExecute"}, []),
        ({"key": "a", "effect": "PreferNoSchedule"}, []),
        ({"key": "a", "effect": "Never"}, ["supported values"]),
    ],
)
def test_tolerations(toleration: dict[str, Any], details: list[str]) -> None:
    """ValidateTolerations."""
    found = list(toleration_errors(toleration, Place("at", ("at",))))
    assert len(found) == len(details)
    assert all(each.detail.startswith(detail) for each, detail in zip(found, details, strict=True))
    assert wrong({"tolerations": [{"operator": "Exists"}, toleration]}) == [
        f"tolerations[1]{each.field.removeprefix('at')}" for each in found
    ]


@pytest.mark.parametrize(
    ("selector", "fields"),
    [
        ({}, []),
        ({"a": "b", "example.com/c": ""}, []),
        ({"a": "b c"}, ["nodeSelector"]),
        ({"a b": "c"}, ["nodeSelector"]),
        ({"a b": "c d", "e": "f g"}, ["nodeSelector"] * 3),
    ],
)
def test_node_selectors(selector: dict[str, str], fields: list[str]) -> None:
    assert wrong({"nodeSelector": selector}) == fields


EXPRESSIONS = [
    (requirement("a", "1"), []),
    (requirement("a", "1", "2", operator="NotIn"), []),
    (requirement("a"), ["values"]),
    (requirement("a", operator="NotIn"), ["values"]),
    (requirement("a", operator="Exists"), []),
    (requirement("a", "1", operator="DoesNotExist"), ["values"]),
    (requirement("a", "1", operator="Like"), ["operator"]),
    (requirement("a b", "1"), ["key"]),
    (requirement("", "1"), ["key", "key"]),
]
OF_NODES = [
    (requirement("a", "1", operator="Gt"), []),
    (requirement("a", operator="Lt"), ["values"]),
    (requirement("a", "1", "2", operator="Lt"), ["values"]),
]
REQUIRED, PREFERRED = (f"{how}DuringSchedulingIgnoredDuringExecution" for how in ("required", "preferred"))


@pytest.mark.parametrize(("expression", "fields"), [*EXPRESSIONS, *OF_NODES, (requirement("a", "b c"), ["values[0]"])])
def test_expressions_about_nodes(expression: dict[str, Any], fields: list[str]) -> None:
    term = {"matchExpressions": [requirement("a", "1"), expression]}
    required = {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{}, term]}}}
    at = f"affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms[1].matchExpressions[1]"
    assert wrong({"affinity": required}) == [f"{at}.{each}" for each in fields]
    preferred = {"nodeAffinity": {PREFERRED: [{"weight": 1, "preference": term}]}}
    at = f"affinity.nodeAffinity.{PREFERRED}[0].preference.matchExpressions[1]"
    assert wrong({"affinity": preferred}) == [f"{at}.{each}" for each in fields if each != "values[0]"]


@pytest.mark.parametrize(
    ("required", "fields"),
    [
        ({"nodeSelectorTerms": [{}]}, []),
        ({"nodeSelectorTerms": []}, ["nodeSelectorTerms"]),
        ({}, ["nodeSelectorTerms"]),
    ],
)
def test_a_required_node_affinity_has_a_term(required: dict[str, Any], fields: list[str]) -> None:
    found = wrong({"affinity": {"nodeAffinity": {REQUIRED: required}}})
    assert found == [f"affinity.nodeAffinity.{REQUIRED}.{each}" for each in fields]
    assert wrong({"affinity": {"nodeAffinity": {REQUIRED: None}}}) == []
    assert wrong({"affinity": {"nodeAffinity": {}, "podAffinity": None}}) == []


@pytest.mark.parametrize("kind", ["podAffinity", "podAntiAffinity"])
@pytest.mark.parametrize("place", ["labelSelector", "namespaceSelector"])
@pytest.mark.parametrize(
    ("selector", "fields"),
    [
        (SELECTOR, []),
        ({"matchLabels": {"a": "b c"}}, ["matchLabels"]),
        ({"matchLabels": {"a b": "c"}}, ["matchLabels"]),
        *(
            (
                {"matchExpressions": [requirement("a", "1"), expression]},
                [f"matchExpressions[1].{each}" for each in fields],
            )
            for expression, fields in [*EXPRESSIONS, (requirement("a", "b c"), ["values[0]"])]
        ),
        ({"matchExpressions": [requirement("a", "1", operator="Gt")]}, ["matchExpressions[0].operator"]),
    ],
)
def test_selectors_of_pods(kind: str, place: str, selector: dict[str, Any], fields: list[str]) -> None:
    term = {"topologyKey": "zone", place: selector}
    at = f"affinity.{kind}.{REQUIRED}[1]"
    found = wrong({"affinity": {kind: {REQUIRED: [{"topologyKey": "zone"}, term]}}})
    assert found == [f"{at}.{place}.{each}" for each in fields]
    found = wrong({"affinity": {kind: {PREFERRED: [{"weight": 1, "podAffinityTerm": term}]}}})
    assert found == [f"affinity.{kind}.{PREFERRED}[0].podAffinityTerm.{place}.{each}" for each in fields]


@pytest.mark.parametrize(("key", "count"), [("zone", 0), ("", 3), (None, 3), ("a b", 1)])
def test_a_term_has_a_topology_key(key: str | None, count: int) -> None:
    found = wrong({"affinity": {"podAffinity": {REQUIRED: [{} if key is None else {"topologyKey": key}]}}})
    assert found == [f"affinity.podAffinity.{REQUIRED}[0].topologyKey"] * count


SPREAD = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": SELECTOR}
SOFT = "ScheduleAnyway"


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        ({}, []),
        ({"maxSkew": 0}, ["maxSkew"]),
        ({"maxSkew": None}, ["maxSkew"]),
        ({"maxSkew": -1}, ["maxSkew"]),
        ({"topologyKey": ""}, ["topologyKey"]),
        ({"whenUnsatisfiable": "Never"}, ["whenUnsatisfiable"]),
        ({"whenUnsatisfiable": None}, ["whenUnsatisfiable"]),
        ({"minDomains": None}, []),
        ({"minDomains": 1}, []),
        ({"minDomains": 0}, ["minDomains"]),
        ({"minDomains": 1, "whenUnsatisfiable": SOFT}, ["minDomains"]),
        ({"minDomains": 0, "whenUnsatisfiable": SOFT}, ["minDomains", "minDomains"]),
        ({"nodeAffinityPolicy": "Ignore", "nodeTaintsPolicy": "Honor"}, []),
        ({"nodeAffinityPolicy": "Never", "nodeTaintsPolicy": "Always"}, ["nodeAffinityPolicy", "nodeTaintsPolicy"]),
        ({"labelSelector": {"matchLabels": {"a": "b c"}}}, ["labelSelector.matchLabels"]),
        ({"labelSelector": None}, []),
    ],
)
@pytest.mark.parametrize("merged", [True, False])
def test_spread_constraints(fields: dict[str, Any], found: list[str], merged: bool) -> None:
    first = {**SPREAD, "topologyKey": "first"}
    spec = {"topologySpreadConstraints": [first, {**SPREAD, **fields}]}
    assert wrong(spec, merged=merged) == [f"topologySpreadConstraints[1].{each}" for each in found]


def test_two_constraints_about_the_same_are_one_too_many() -> None:
    at = "topologySpreadConstraints[{}].{{topologyKey, whenUnsatisfiable}}"
    other, soft = {**SPREAD, "topologyKey": "rack"}, {**SPREAD, "whenUnsatisfiable": SOFT}
    assert wrong({"topologySpreadConstraints": [SPREAD, other, soft]}) == []
    assert wrong({"topologySpreadConstraints": [SPREAD, other, SPREAD]}) == [at.format(0)]


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        ({"matchLabelKeys": ["side"]}, []),
        ({"matchLabelKeys": ["app"]}, [".matchLabelKeys[0]"]),
        ({"matchLabelKeys": ["side", "tier"], "labelSelector": {"matchExpressions": [requirement("tier", "a")]}}, [".matchLabelKeys[1]"]),
        ({"matchLabelKeys": ["a b"]}, [".matchLabelKeys[0]"]),
        ({"matchLabelKeys": ["app"], "labelSelector": None}, [".matchLabelKeys"]),
        ({"matchLabelKeys": [], "labelSelector": None}, []),
        ({"matchLabelKeys": None}, []),
        ({"matchLabelKeys": ["app"], "labelSelector": {}}, []),
    ],
)  # fmt: skip
def test_label_keys_of_constraints_before_1_34(fields: dict[str, Any], found: list[str]) -> None:
    """validateMatchLabelKeysInTopologySpread: the selector is the one that was given."""
    spec = {"topologySpreadConstraints": [{**SPREAD, **fields}]}
    assert wrong(spec, merged=False) == [f"topologySpreadConstraints[0]{each}" for each in found]


@pytest.mark.parametrize(
    ("expressions", "found"),
    [
        ([requirement("tier", "gold")], []),  # the server's own
        ([requirement("tier", "gold"), requirement("tier", "gold")], ["[1]"]),
        ([requirement("app", "web"), requirement("tier", "gold")], ["[0]"]),
        ([requirement("other", "x"), requirement("tier", "gold")], []),
    ],
)
def test_label_keys_of_constraints_that_were_merged(expressions: list[dict[str, Any]], found: list[str]) -> None:
    """What is in the selector twice was there before the server wrote it."""
    constraint = {**SPREAD, "matchLabelKeys": ["app", "tier"]}
    constraint["labelSelector"] = {**SELECTOR, "matchExpressions": expressions}
    assert wrong({"topologySpreadConstraints": [constraint]}) == [
        f"topologySpreadConstraints[0]{each}" for each in found
    ]


TEMPLATE = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": []}}


@pytest.mark.parametrize(
    ("kind", "fields", "found"),
    [
        ("Deployment", {}, []),
        ("Deployment", {"replicas": 0}, []),
        ("Deployment", {"replicas": 1}, []),
        ("Deployment", {"replicas": -1}, ["replicas"]),
        ("Deployment", {"replicas": None}, []),
        ("Deployment", {"selector": {}}, ["selector"]),
        ("Deployment", {"selector": {"matchLabels": {"app": "other"}}}, ["template.metadata.labels"]),
        ("Deployment", {"selector": {"matchExpressions": [requirement("app", "web")]}}, []),
        ("Deployment", {"selector": {**SELECTOR, "matchExpressions": [requirement("app", "x")]}}, ["template.metadata.labels"]),
        ("Deployment", {"selector": None}, []),
        ("Deployment", {"selector": {"matchLabels": {"a b": "web"}}}, ["selector.matchLabels", "selector"]),
        ("ReplicaSet", {"selector": {"matchLabels": {"app": "a b"}}}, ["selector.matchLabels", "selector"]),
        ("StatefulSet", {"selector": {"matchExpressions": [requirement("app")]}}, ["selector.matchExpressions[0].values", "selector"]),
        ("DaemonSet", {"selector": {"matchLabels": {"a b": "web"}}}, ["selector.matchLabels"]),
        ("Deployment", {"template": {"spec": {}}}, ["template.metadata.labels"]),
        ("Deployment", {"template": {"metadata": {}, "spec": {}}}, ["template.metadata.labels"]),
        ("DaemonSet", {"template": {"metadata": TEMPLATE["metadata"]}}, ["template.spec.containers"]),
        ("ReplicaSet", {"template": None, "selector": None}, ["template.spec.containers"]),
        ("Job", {"parallelism": -1, "completions": -1}, ["parallelism", "completions", "template.spec.restartPolicy"]),
        ("Job", {"selector": {"matchLabels": {"app": "other"}}, "template": {"spec": {"restartPolicy": "Never"}}}, []),
        ("Job", {"template": {"spec": {"restartPolicy": "OnFailure"}}}, []),
        ("Job", {"template": {"spec": {"restartPolicy": "Always"}}}, ["template.spec.restartPolicy"]),
        ("Job", {"template": {"spec": {"restartPolicy": "Sometimes"}}}, ["template.spec.restartPolicy"]),
        ("Job", {"template": {}}, ["template.spec.restartPolicy"]),
    ],
)  # fmt: skip
def test_workloads(kind: str, fields: dict[str, Any], found: list[str]) -> None:
    spec = {"selector": SELECTOR, "template": TEMPLATE, **fields}
    assert [each.field for each in workload_errors(kind, spec)] == [f"spec.{each}" for each in found]
