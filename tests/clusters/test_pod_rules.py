"""What the API server refuses in a new pod, with its own words: the same on every cluster."""

from __future__ import annotations

from typing import Any

import pytest

from harness.kube.api.status import ApiError
from tests.clusters.subject import Subject
from tests.clusters.test_core_rules import causes
from tests.clusters.test_objects import refusal

ZONE = "topology.kubernetes.io/zone"
SELECTED = {"matchLabels": {"app": "p"}}
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def resources(**lists: dict[str, Any]) -> dict[str, Any]:
    return {"containers": [{"name": "main", "image": "i", "resources": lists}]}


def port(**fields: Any) -> dict[str, Any]:
    return {"containers": [{"name": "main", "image": "i", "ports": [fields]}]}


def needs(*expressions: dict[str, Any]) -> dict[str, Any]:
    return {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": list(expressions)}]}}}}


def spread(**fields: Any) -> dict[str, Any]:
    base = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": SELECTED}
    return {"topologySpreadConstraints": [{**base, **fields}]}


NEAR = {"key": ZONE, "operator": "Near", "values": ["a"]}
BY_NEAR = {"matchExpressions": [NEAR]}
TERM = f"spec.affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms[0].matchExpressions[0]"
SPREAD = "spec.topologySpreadConstraints[0]"
REQUESTS = "spec.containers[0].resources.requests"

REFUSED: list[tuple[str, dict[str, Any], list[str]]] = [
    ("negative", resources(requests={"cpu": "-1"}), [f'{REQUESTS}[cpu]: Invalid value: "-1": must be greater than or equal to 0']),
    (
        "more than the limit",
        resources(requests={"memory": "2Gi"}, limits={"memory": "1Gi"}),
        [f'{REQUESTS}: Invalid value: "2Gi": must be less than or equal to memory limit of 1Gi'],
    ),
    (
        "no limit of what is not overcommitted",
        resources(requests={"example.com/card": "1"}),
        ["spec.containers[0].resources.limits: Required value: Limit must be set for non overcommitable resources"],
    ),
    (
        "another limit of what is not overcommitted",
        resources(requests={"example.com/card": "1"}, limits={"example.com/card": "2"}),
        [f'{REQUESTS}: Invalid value: "1": must be equal to example.com/card limit of 2'],
    ),
    (
        "half a card",
        resources(requests={"example.com/card": "500m"}, limits={"example.com/card": "500m"}),
        [
            'spec.containers[0].resources.limits[example.com/card]: Invalid value: "500m": must be an integer',
            f'{REQUESTS}[example.com/card]: Invalid value: "500m": must be an integer',
        ],
    ),
    (
        "a resource without a domain",
        resources(limits={"gpu": "1"}),
        [
            f'spec.containers[0].resources.{field}[gpu]: Invalid value: "gpu": must be a standard resource {what}'
            for field in ("limits", "requests")
            for what in ("type or fully qualified", "for containers")
        ],
    ),
    (
        "host port",
        port(containerPort=1, hostPort=-1),
        ["spec.containers[0].ports[0].hostPort: Invalid value: -1: must be between 1 and 65535, inclusive"],
    ),
    (
        "protocol",
        port(containerPort=1, protocol="ICMP"),
        ['spec.containers[0].ports[0].protocol: Unsupported value: "ICMP": supported values: "SCTP", "TCP", "UDP"'],
    ),
    (
        "operator",
        needs(NEAR),
        [f'{TERM}.operator: Invalid value: "Near": not a valid selector operator'],
    ),
    (
        "no value",
        needs({"key": ZONE, "operator": "In"}),
        [f"{TERM}.values: Required value: must be specified when `operator` is 'In' or 'NotIn'"],
    ),
    (
        "a value too many",
        needs({"key": ZONE, "operator": "Exists", "values": ["a"]}),
        [f"{TERM}.values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'"],
    ),
    (
        "value",
        needs({"key": ZONE, "operator": "In", "values": ["x y"]}),
        [
            f'{TERM}.values[0]: Invalid value: "x y": a valid label must be an empty string or consist of alphanumeric characters, '
            "'-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', "
            "regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
        ],
    ),
    (
        "two bounds",
        needs({"key": ZONE, "operator": "Gt", "values": ["1", "2"]}),
        [f"{TERM}.values: Required value: must be specified single value when `operator` is 'Lt' or 'Gt'"],
    ),
    (
        "no term",
        {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": []}}}},
        [
            f"spec.affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms: Required value: "
            "must have at least one node selector term"
        ],
    ),
    (
        "weight",
        {"affinity": {"nodeAffinity": {PREFERRED: [{"weight": 101, "preference": {}}]}}},
        [f"spec.affinity.nodeAffinity.{PREFERRED}[0].weight: Invalid value: 101: must be in the range 1-100"],
    ),
    (
        "operator of a preference",
        {"affinity": {"nodeAffinity": {PREFERRED: [{"weight": 1, "preference": {"matchExpressions": [NEAR]}}]}}},
        [
            f"spec.affinity.nodeAffinity.{PREFERRED}[0].preference.matchExpressions[0].operator: "
            'Invalid value: "Near": not a valid selector operator'
        ],
    ),
    (
        "selector of a preference",
        {"affinity": {"podAntiAffinity": {PREFERRED: [{"weight": 1, "podAffinityTerm": {"topologyKey": ZONE, "labelSelector": BY_NEAR}}]}}},
        [
            f"spec.affinity.podAntiAffinity.{PREFERRED}[0].podAffinityTerm.labelSelector.matchExpressions[0].operator: "
            'Invalid value: "Near": not a valid selector operator'
        ],
    ),
    (
        "selector",
        {
            "affinity": {
                "podAffinity": {
                    REQUIRED: [
                        {"topologyKey": ZONE, "labelSelector": {"matchExpressions": [{"key": "a", "operator": "Gt"}]}}
                    ]
                }
            }
        },
        [
            f"spec.affinity.podAffinity.{REQUIRED}[0].labelSelector.matchExpressions[0].operator: "
            'Invalid value: "Gt": not a valid selector operator'
        ],
    ),
    ("skew", spread(maxSkew=0), [f"{SPREAD}.maxSkew: Invalid value: 0: must be greater than zero"]),
    ("domains", spread(minDomains=-1), [f"{SPREAD}.minDomains: Invalid value: -1: must be greater than zero"]),
    (
        "domains that do not matter",
        spread(minDomains=2, whenUnsatisfiable="ScheduleAnyway"),
        [
            f"{SPREAD}.minDomains: Invalid value: 2: can only use minDomains if "
            "whenUnsatisfiable=DoNotSchedule, not ScheduleAnyway"
        ],
    ),
    (
        "action",
        spread(whenUnsatisfiable="Sometimes"),
        [
            f'{SPREAD}.whenUnsatisfiable: Unsupported value: "Sometimes": '
            'supported values: "DoNotSchedule", "ScheduleAnyway"'
        ],
    ),
    (
        "policy",
        spread(nodeTaintsPolicy="Maybe"),
        [f'{SPREAD}.nodeTaintsPolicy: Unsupported value: "Maybe": supported values: "Honor", "Ignore"'],
    ),
    (
        "twice",
        {"topologySpreadConstraints": [*spread()["topologySpreadConstraints"], *spread(maxSkew=2)["topologySpreadConstraints"]]},
        [f'{SPREAD}.{{topologyKey, whenUnsatisfiable}}: Duplicate value: "{{{ZONE}, DoNotSchedule}}"'],
    ),
    (
        "toleration's operator",
        {"tolerations": [{"key": "a", "operator": "Maybe"}]},
        ['spec.tolerations[0].operator: Unsupported value: "Maybe": supported values: "Equal", "Exists"'],
    ),
    (
        "toleration's comparison",
        {"tolerations": [{"key": "a", "operator": "Gt", "value": "3"}]},
        [
            'spec.tolerations[0].operator: Unsupported value: "Gt": '
            'supported values: "Equal", "Exists", "Lt", "Gt"'
        ],
    ),
    (
        "toleration's effect",
        {"tolerations": [{"operator": "Exists", "effect": "Never"}]},
        [
            'spec.tolerations[0].effect: Unsupported value: "Never": '
            'supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"'
        ],
    ),
    (
        "toleration's value",
        {"tolerations": [{"key": "a", "operator": "Exists", "value": "b"}]},
        ["spec.tolerations[0].operator: Invalid value: \"b\": value must be empty when `operator` is 'Exists'"],
    ),
    (
        "toleration's seconds",
        {"tolerations": [{"key": "a", "operator": "Exists", "tolerationSeconds": 5}]},
        ["spec.tolerations[0].effect: Invalid value: \"\": effect must be 'NoExecute' when `tolerationSeconds` is set"],
    ),
    (
        "toleration without key",
        {"tolerations": [{"operator": "Equal"}]},
        [
            'spec.tolerations[0].operator: Invalid value: "Equal": operator must be Exists when `key` is empty, '
            'which means "match all values and all keys"'
        ],
    ),
    (
        "selector's value",
        {"nodeSelector": {"a": "x y"}},
        [
            "spec.nodeSelector: Invalid value: \"x y\": a valid label must be an empty string or consist of alphanumeric characters, "
            "'-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', "
            "regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
        ],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("fields", "lines"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_a_pod_that_cannot_be(cluster: Subject, fields: dict[str, Any], lines: list[str]) -> None:
    error: ApiError = refusal(cluster.admin.create, cluster.pod("p", **fields))
    assert error.code == 422
    assert sorted(f"{field}: {message}" for _, field, message in causes(error)) == sorted(lines)


def test_a_preference_may_name_values_that_no_label_has(cluster: Subject) -> None:
    preference = {"matchExpressions": [{"key": ZONE, "operator": "In", "values": ["x y"]}]}
    preferred = {"affinity": {"nodeAffinity": {PREFERRED: [{"weight": 1, "preference": preference}]}}}
    made = cluster.admin.create(cluster.pod("p", **preferred))
    assert made["spec"]["affinity"] == preferred["affinity"]


def test_a_limit_that_several_containers_miss_is_named_once(cluster: Subject) -> None:
    limits = [{"type": "Container", "min": {"cpu": "1"}, "defaultRequest": {"cpu": "2"}, "default": {"cpu": "2"}}]
    meta = {"name": "l", "namespace": cluster.namespace}
    cluster.admin.create({"apiVersion": "v1", "kind": "LimitRange", "metadata": meta, "spec": {"limits": limits}})
    small = {"requests": {"cpu": "500m"}, "limits": {"cpu": "4"}}
    containers = [{"name": name, "image": "i", "resources": small} for name in ("a", "b")]
    pod = {**cluster.pod("p"), "spec": {"containers": containers}}
    error = refusal(cluster.admin.create, pod)
    why = "minimum cpu usage per Container is 1, but request is 500m"
    assert (error.code, error.message) == (403, f'pods "p" is forbidden: {why}')


def test_the_template_of_a_workload_that_cannot_be(cluster: Subject) -> None:
    template = {"metadata": {"labels": {"app": "p"}}, "spec": cluster.pod("p", **spread(maxSkew=0))["spec"]}
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "d", "namespace": cluster.namespace},
        "spec": {"selector": SELECTED, "template": template},
    }
    ((_, field, message),) = causes(refusal(cluster.admin.create, deployment))
    assert field == "spec.template.spec.topologySpreadConstraints[0].maxSkew"
    assert message == "Invalid value: 0: must be greater than zero"
