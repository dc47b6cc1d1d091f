"""What the API server asks of how workloads go from one template to the next, in its order: the same on every cluster.

The answers are those of kube-apiserver 1.36.3, which `--run-clusters` asks again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from harness.kube.api.status import ApiError
from tests.clusters.subject import Subject
from tests.clusters.test_core_rules import causes
from tests.clusters.test_workload_rules import OTHER_LABELS, workload

NONNEGATIVE = "must be greater than or equal to 0"
PERCENT = (
    "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', "
    "regex used for validation is '[0-9]+%')"
)
HIGHEST = "must not be greater than 100%"
DEADLINE = "must be greater than minReadySeconds"
BOTH_ZERO = "may not be 0 when `maxSurge` is 0"
NEITHER = ("maxUnavailable", "Required value: cannot be 0 when maxSurge is 0")
ENORMOUS = f"{'9' * 5000}%"
_ALWAYS = 'supported values: "Always"'
_ROLLING = "updateStrategy.rollingUpdate"

Cause = tuple[str, str]
Table = Mapping[str, tuple[Mapping[str, Any], list[Cause]]]
_REASONS = {
    "Invalid": "FieldValueInvalid",
    "Required": "FieldValueRequired",
    "Unsupported": "FieldValueNotSupported",
    "Forbidden:": "FieldValueForbidden",
}
"""The reason of a cause by the word with which its message begins."""


def invalid(field: str, value: str, why: str) -> Cause:
    return field, f"Invalid value: {value}: {why}"


def amounts(strategy: str, cases: Mapping[str, tuple[Mapping[str, Any], list[Cause]]]) -> Table:
    """Cases of rolling updates, whose causes lie in them."""
    return {
        name: (
            {strategy: {"type": "RollingUpdate", "rollingUpdate": update}},
            [(f"{strategy}.rollingUpdate.{field}", message) for field, message in expected],
        )
        for name, (update, expected) in cases.items()
    }


DEPLOYMENTS: Table = {
    **amounts(
        "strategy",
        {
            "no percentage": ({"maxSurge": "abc"}, [invalid("maxSurge", '"abc"', PERCENT)]),
            "a fraction": ({"maxSurge": "10.5%"}, [invalid("maxSurge", '"10.5%"', PERCENT)]),
            "a number as text": ({"maxSurge": "5"}, [invalid("maxSurge", '"5"', PERCENT)]),
            "an empty text": ({"maxSurge": ""}, [invalid("maxSurge", '""', PERCENT)]),
            "both negative": (
                {"maxSurge": -1, "maxUnavailable": "-50%"},
                [invalid("maxUnavailable", '"-50%"', PERCENT), invalid("maxSurge", "-1", NONNEGATIVE)],
            ),
            "both zero": ({"maxSurge": 0, "maxUnavailable": 0}, [invalid("maxUnavailable", "0", BOTH_ZERO)]),
            "zero percent": (
                {"maxSurge": "0%", "maxUnavailable": "00%"},
                [invalid("maxUnavailable", '"00%"', BOTH_ZERO)],
            ),
            "zero as text and none": (
                {"maxSurge": "0", "maxUnavailable": "abc"},
                [
                    invalid("maxUnavailable", '"abc"', PERCENT),
                    invalid("maxSurge", '"0"', PERCENT),
                    invalid("maxUnavailable", '"abc"', BOTH_ZERO),
                ],
            ),
            "no surge, the rest by default": ({"maxSurge": 0}, []),
            "more than all unavailable": (
                {"maxUnavailable": "101%"},
                [invalid("maxUnavailable", '"101%"', HIGHEST)],
            ),
            "more than as many again": ({"maxSurge": "101%"}, []),
            "enormous": ({"maxUnavailable": ENORMOUS}, [invalid("maxUnavailable", f'"{ENORMOUS}"', HIGHEST)]),
        },
    ),
    "type by default": (
        {"strategy": {"rollingUpdate": {"maxSurge": "abc"}}},
        [invalid("strategy.rollingUpdate.maxSurge", '"abc"', PERCENT)],
    ),
    "recreated in steps": (
        {"strategy": {"type": "Recreate", "rollingUpdate": {}}},
        [("strategy.rollingUpdate", "Forbidden: may not be specified when strategy `type` is 'Recreate'")],
    ),
    "recreated": ({"strategy": {"type": "Recreate", "rollingUpdate": None}}, []),
    "unknown type": (
        {"strategy": {"type": "Foo"}},
        [
            (
                "strategy",
                'Unsupported value: {"Type":"Foo","RollingUpdate":null}: supported values: "Recreate", "RollingUpdate"',
            )
        ],
    ),
    "unknown type with amounts": (
        {"strategy": {"type": "recreate", "rollingUpdate": {"maxSurge": "25%"}}},
        [
            (
                "strategy",
                'Unsupported value: {"Type":"recreate","RollingUpdate":{"MaxUnavailable":0,"MaxSurge":"25%"}}: '
                'supported values: "Recreate", "RollingUpdate"',
            )
        ],
    ),
    "deadline before the start": (
        {"progressDeadlineSeconds": -1},
        [
            invalid("progressDeadlineSeconds", "-1", NONNEGATIVE),
            invalid("progressDeadlineSeconds", "-1", DEADLINE),
        ],
    ),
    "deadline at once": ({"progressDeadlineSeconds": 0}, [invalid("progressDeadlineSeconds", "0", DEADLINE)]),
    "deadline before pods are available": (
        {"minReadySeconds": 10, "progressDeadlineSeconds": 10},
        [invalid("progressDeadlineSeconds", "10", DEADLINE)],
    ),
    "deadline just after": ({"minReadySeconds": 10, "progressDeadlineSeconds": 11}, []),
    "deadline by default": ({"minReadySeconds": 600}, [invalid("progressDeadlineSeconds", "600", DEADLINE)]),
    "all at once": (
        {
            "replicas": -1,
            "strategy": {"rollingUpdate": {"maxSurge": "abc"}},
            "minReadySeconds": -1,
            "revisionHistoryLimit": -1,
            "progressDeadlineSeconds": -1,
        },
        [
            invalid("replicas", "-1", NONNEGATIVE),
            invalid("strategy.rollingUpdate.maxSurge", '"abc"', PERCENT),
            invalid("minReadySeconds", "-1", NONNEGATIVE),
            invalid("revisionHistoryLimit", "-1", NONNEGATIVE),
            invalid("progressDeadlineSeconds", "-1", NONNEGATIVE),
            invalid("progressDeadlineSeconds", "-1", DEADLINE),
        ],
    ),
    "the template's first": (
        {
            "label": "b",
            "policy": "Never",
            "strategy": {"rollingUpdate": {"maxSurge": "abc"}},
        },
        [
            ("template.metadata.labels", OTHER_LABELS),
            ("template.spec.restartPolicy", f'Unsupported value: "Never": {_ALWAYS}'),
            invalid("strategy.rollingUpdate.maxSurge", '"abc"', PERCENT),
        ],
    ),
}
REPLICA_SETS: Table = {
    "counts": (
        {"replicas": -1, "minReadySeconds": -1},
        [invalid("replicas", "-1", NONNEGATIVE), invalid("minReadySeconds", "-1", NONNEGATIVE)],
    ),
    "pods that end": (
        {"policy": "OnFailure"},
        [("template.spec.restartPolicy", f'Unsupported value: "OnFailure": {_ALWAYS}')],
    ),
}
STATEFUL_SETS: Table = {
    "unknown type": (
        {"updateStrategy": {"type": "Foo"}},
        [invalid("updateStrategy", '{"Type":"Foo","RollingUpdate":null}', "must be 'RollingUpdate' or 'OnDelete'")],
    ),
    "unknown type with amounts": (
        {"updateStrategy": {"type": "Foo", "rollingUpdate": {"partition": 1, "maxUnavailable": "20%"}}},
        [
            invalid(
                "updateStrategy",
                '{"Type":"Foo","RollingUpdate":{"Partition":1,"MaxUnavailable":null}}',
                "must be 'RollingUpdate' or 'OnDelete'",
            )
        ],
    ),
    "by hand with a partition": (
        {"updateStrategy": {"type": "OnDelete", "rollingUpdate": {}}},
        [invalid(_ROLLING, '{"Partition":0,"MaxUnavailable":null}', "only allowed for updateStrategy 'RollingUpdate'")],
    ),
    "by hand": ({"updateStrategy": {"type": "OnDelete"}}, []),
    "partition": (
        {"updateStrategy": {"rollingUpdate": {"partition": -1}}},
        [invalid(f"{_ROLLING}.partition", "-1", NONNEGATIVE)],
    ),
    "a field behind a feature gate": ({"updateStrategy": {"rollingUpdate": {"maxUnavailable": "abc"}}}, []),
    "unknown management": (
        {"podManagementPolicy": "Foo"},
        [invalid("podManagementPolicy", '"Foo"', "must be 'OrderedReady' or 'Parallel'")],
    ),
    "parallel": ({"podManagementPolicy": "Parallel"}, []),
    "management by default": ({"podManagementPolicy": ""}, []),
    "history": ({"revisionHistoryLimit": -3}, []),
    "a service with dots": ({"serviceName": "a.b"}, [invalid("serviceName", '"a.b"', "must not contain dots")]),
    "no service": ({"serviceName": ""}, []),
    "retention": (
        {"persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Foo", "whenScaled": "Bar"}},
        [
            (
                f"persistentVolumeClaimRetentionPolicy.{field}",
                f'Unsupported value: "{value}": supported values: "Retain", "Delete"',
            )
            for field, value in (("whenDeleted", "Foo"), ("whenScaled", "Bar"))
        ],
    ),
    "retention by default": ({"persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Delete"}}, []),
    "all at once": (
        {
            "replicas": -1,
            "minReadySeconds": -1,
            "podManagementPolicy": "Foo",
            "updateStrategy": {"type": "Foo"},
            "selector": {},
            "ordinals": {"start": -1},
            "policy": "Never",
        },
        [
            invalid("podManagementPolicy", '"Foo"', "must be 'OrderedReady' or 'Parallel'"),
            invalid("updateStrategy", '{"Type":"Foo","RollingUpdate":null}', "must be 'RollingUpdate' or 'OnDelete'"),
            invalid("replicas", "-1", NONNEGATIVE),
            invalid("minReadySeconds", "-1", NONNEGATIVE),
            invalid("ordinals.start", "-1", NONNEGATIVE),
            invalid("selector", "{}", "empty selector is invalid for statefulset"),
            ("template.spec.restartPolicy", f'Unsupported value: "Never": {_ALWAYS}'),
        ],
    ),
}
DAEMON_SETS: Table = {
    **amounts(
        "updateStrategy",
        {
            "no percentage": (
                {"maxUnavailable": "abc"},
                [invalid("maxUnavailable", '"abc"', PERCENT), NEITHER],
            ),
            "a fraction": (
                {"maxUnavailable": "10.5%"},
                [invalid("maxUnavailable", '"10.5%"', PERCENT), NEITHER],
            ),
            "a number as text": ({"maxUnavailable": "5"}, [invalid("maxUnavailable", '"5"', PERCENT)]),
            "both zero": ({"maxUnavailable": "0%"}, [NEITHER]),
            "negative": ({"maxUnavailable": -1}, [invalid("maxUnavailable", "-1", NONNEGATIVE)]),
            "surge beside the default": (
                {"maxSurge": 1},
                [invalid("maxSurge", "1", "may not be set when maxUnavailable is non-zero")],
            ),
            "both": (
                {"maxSurge": "10%", "maxUnavailable": "10%"},
                [invalid("maxSurge", '"10%"', "may not be set when maxUnavailable is non-zero")],
            ),
            "surge": ({"maxSurge": "100%", "maxUnavailable": 0}, []),
            "more than one on each node": (
                {"maxSurge": "101%", "maxUnavailable": 0},
                [invalid("maxSurge", '"101%"', HIGHEST)],
            ),
            "no percentages": (
                {"maxSurge": "abc", "maxUnavailable": "abc"},
                [
                    invalid("maxUnavailable", '"abc"', PERCENT),
                    invalid("maxSurge", '"abc"', PERCENT),
                    NEITHER,
                ],
            ),
        },
    ),
    "by hand": ({"updateStrategy": {"type": "OnDelete", "rollingUpdate": {"maxUnavailable": "abc"}}}, []),
    "unknown type": (
        {"updateStrategy": {"type": "Foo", "rollingUpdate": {"maxUnavailable": 1}}},
        [
            (
                "updateStrategy",
                'Unsupported value: {"Type":"Foo","RollingUpdate":{"MaxUnavailable":1,"MaxSurge":0}}: '
                'supported values: "RollingUpdate", "OnDelete"',
            )
        ],
    ),
    "counts, the template's first": (
        {"label": "b", "policy": "Never", "minReadySeconds": -1, "revisionHistoryLimit": -1},
        [
            ("template.metadata.labels", OTHER_LABELS),
            ("template.spec.restartPolicy", f'Unsupported value: "Never": {_ALWAYS}'),
            invalid("minReadySeconds", "-1", NONNEGATIVE),
            invalid("revisionHistoryLimit", "-1", NONNEGATIVE),
        ],
    ),
}
JOBS: Table = {
    "counts": (
        {
            "policy": "Never",
            "parallelism": -1,
            "completions": -1,
            "activeDeadlineSeconds": -1,
            "backoffLimit": -1,
            "ttlSecondsAfterFinished": -1,
        },
        [
            invalid(field, "-1", NONNEGATIVE)
            for field in (
                *("parallelism", "completions", "activeDeadlineSeconds"),
                *("backoffLimit", "ttlSecondsAfterFinished"),
            )
        ],
    ),
}
TABLES: Mapping[str, Table] = {
    "Deployment": DEPLOYMENTS,
    "ReplicaSet": REPLICA_SETS,
    "StatefulSet": STATEFUL_SETS,
    "DaemonSet": DAEMON_SETS,
    "Job": JOBS,
}


@pytest.mark.parametrize("kind", TABLES)
def test_rollouts(cluster: Subject, kind: str) -> None:
    answers: dict[str, list[tuple[str, str, str]]] = {}
    for number, (name, (fields, _)) in enumerate(TABLES[kind].items()):
        obj = workload(cluster, kind, **fields)
        obj["metadata"]["name"] = f"w{number}"
        try:
            cluster.admin.create(obj)
        except ApiError as error:
            answers[name] = causes(error)
        else:
            answers[name] = []
    expected = {
        name: [(_REASONS[message.partition(" ")[0]], f"spec.{field}", message) for field, message in found]
        for name, (_, found) in TABLES[kind].items()
    }
    assert answers == expected


def test_a_change_of_strategy_is_judged(cluster: Subject) -> None:
    cluster.admin.create(workload(cluster, "Deployment"))
    with pytest.raises(ApiError) as caught:
        cluster.admin.patch(
            "Deployment", "w", {"spec": {"strategy": {"rollingUpdate": {"maxSurge": "a"}}}}, namespace=cluster.namespace
        )
    place = "spec.strategy.rollingUpdate.maxSurge"
    assert causes(caught.value) == [("FieldValueInvalid", place, f'Invalid value: "a": {PERCENT}')]


@pytest.mark.parametrize("field", ["minAvailable", "maxUnavailable"])
def test_an_enormous_share_of_a_budget(cluster: Subject, field: str) -> None:
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "b", "namespace": cluster.namespace},
        "spec": {field: ENORMOUS, "selector": {}},
    }
    with pytest.raises(ApiError) as caught:
        cluster.admin.create(budget)
    assert causes(caught.value) == [("FieldValueInvalid", f"spec.{field}", f'Invalid value: "{ENORMOUS}": {HIGHEST}')]
