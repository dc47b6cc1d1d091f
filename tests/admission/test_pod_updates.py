"""What may change of a pod that is there (pkg/apis/core/validation ValidatePodUpdate), and weights of what pods prefer."""

from __future__ import annotations

from typing import Any

import pytest

from harness.kube.admission.core_validation import pod_update_errors
from harness.kube.admission.pod_validation import pod_spec_errors

GRACE = "terminationGracePeriodSeconds"


def fields(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    return [each.field for each in pod_update_errors({"spec": after}, {"spec": before})]


@pytest.mark.parametrize(
    ("before", "after", "refused"),
    [
        ({GRACE: -1}, {GRACE: 1}, False),
        ({GRACE: -30}, {GRACE: 1}, False),
        ({GRACE: -1}, {GRACE: 2}, True),
        ({GRACE: -1}, {GRACE: 0}, True),
        ({GRACE: -1}, {GRACE: -2}, True),
        ({GRACE: -1}, {}, True),
        ({GRACE: 0}, {GRACE: 1}, True),
        ({GRACE: 30}, {GRACE: 1}, True),
        ({}, {GRACE: 1}, True),
        ({GRACE: -1}, {GRACE: 1, "nodeName": "a"}, True),
    ],
)
def test_only_a_negative_grace_period_becomes_1(before: dict[str, Any], after: dict[str, Any], refused: bool) -> None:
    assert fields(before, after) == (["spec"] if refused else [])


A, B = {"name": "a", "image": "i"}, {"name": "b", "image": "i"}
HERE, SECONDS = {"key": "a", "operator": "Exists"}, {"key": "b", "effect": "NoExecute", "tolerationSeconds": 5}


@pytest.mark.parametrize(
    ("before", "after", "wrong"),
    [
        ({"containers": [A]}, {"containers": [{**A, "image": "j"}]}, []),
        ({"initContainers": [A, B]}, {"initContainers": [A, {**B, "image": "j"}]}, []),
        ({"containers": [A]}, {"containers": [A, B]}, ["spec.containers"]),
        ({"containers": [A]}, {}, ["spec.containers"]),
        ({}, {"initContainers": [A]}, ["spec.initContainers"]),
        ({"containers": [A, B]}, {"containers": [B, A]}, ["spec"]),
        ({"containers": [A, B]}, {"containers": [A, {"name": "b"}]}, ["spec.containers[1].image"]),
        ({"initContainers": [A]}, {"initContainers": [{**A, "image": ""}]}, ["spec.initContainers[0].image"]),
        ({"containers": [{"name": "a"}]}, {"containers": [{"name": "a", "image": ""}]}, []),
        ({"containers": [A]}, {"containers": [{**A, "tty": True}]}, ["spec"]),
        ({"tolerations": [HERE]}, {"tolerations": [HERE, SECONDS]}, []),
        ({}, {"tolerations": [HERE]}, []),
        ({"tolerations": [HERE, SECONDS]}, {"tolerations": [SECONDS, HERE]}, []),
        ({"tolerations": [SECONDS]}, {"tolerations": [{**SECONDS, "tolerationSeconds": 9}]}, []),
        ({"tolerations": [HERE]}, {"tolerations": [{**HERE, "tolerationSeconds": 9}]}, []),
        ({"tolerations": [HERE]}, {}, ["spec.tolerations"]),
        ({"tolerations": [HERE, SECONDS]}, {"tolerations": [HERE]}, ["spec.tolerations"]),
        ({"tolerations": [HERE]}, {"tolerations": [{**HERE, "effect": "NoSchedule"}]}, ["spec.tolerations"]),
        ({"tolerations": [SECONDS]}, {"tolerations": [{"key": "b", "tolerationSeconds": 5}]}, ["spec.tolerations"]),
        ({"schedulingGates": [{"name": "a"}, {"name": "b"}]}, {"schedulingGates": [{"name": "b"}]}, []),
        ({"schedulingGates": [{"name": "a"}]}, {}, []),
        (
            {"schedulingGates": [{"name": "a"}]},
            {"schedulingGates": [{"name": "a"}, {"name": "b"}]},
            ["spec.schedulingGates[1].name"],
        ),
        ({"nodeName": "a"}, {"nodeName": "a"}, []),
        ({"nodeName": "a"}, {"nodeName": "b"}, ["spec"]),
    ],
)
def test_what_an_update_may_change(before: dict[str, Any], after: dict[str, Any], wrong: list[str]) -> None:
    assert fields(before, after) == wrong


DEADLINE = "activeDeadlineSeconds"
MOST = 2**31 - 1


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        (None, None, None),
        (None, 0, None),
        (None, MOST, None),
        (None, MOST + 1, "must be between 0 and 2147483647, inclusive"),
        (None, -1, "must be between 0 and 2147483647, inclusive"),
        (5, 5, None),
        (5, 4, None),
        (5, 6, "must be less than or equal to previous value"),
        (0, 1, "must be less than or equal to previous value"),
        (0, None, "must not update from a positive integer to nil value"),
        (5, None, "must not update from a positive integer to nil value"),
    ],
)
def test_a_deadline_comes_no_later(before: int | None, after: int | None, why: str | None) -> None:
    old, new = ({} if value is None else {DEADLINE: value} for value in (before, after))
    found = pod_update_errors({"spec": {**new, "nodeName": "a"}}, {"spec": old})
    told = [(each.field, each.detail) for each in found]
    # one that is wrong is the end of it, and one that is gone is not
    rest = [("spec", found[-1].detail)] if why is None or after is None else []
    assert told == [*([(f"spec.{DEADLINE}", why)] if why else []), *rest]


ZONE = {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["1"]}]}
THERE = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [ZONE]}}}
APART = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "zone"}]}}


@pytest.mark.parametrize(
    ("gated", "after", "refused"),
    [
        (True, {"affinity": THERE}, False),
        (True, {"nodeSelector": {"zone": "1"}}, False),
        (True, {"affinity": APART}, True),
        (True, {"affinity": {**THERE, **APART}}, True),
        (True, {"nodeName": "a"}, True),
        (False, {"affinity": THERE}, True),
        (False, {"nodeSelector": {"zone": "1"}}, True),
    ],
)
def test_a_pod_at_a_gate_may_be_told_of_nodes_but_not_of_pods(
    gated: bool, after: dict[str, Any], refused: bool
) -> None:
    before = {"schedulingGates": [{"name": "wait"}]} if gated else {}
    assert fields(before, {**before, **after}) == (["spec"] if refused else [])


def terms(*asked: dict[str, Any]) -> dict[str, Any]:
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": list(asked)}}
    return {"affinity": {"nodeAffinity": required}}


def asks(*values: str, key: str = "zone") -> dict[str, Any]:
    return {"key": key, "operator": "In", "values": list(values)}


SIZE = asks("a", key="size")
TERMS = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
NO_MORE_TERMS = "no additions/deletions to non-empty NodeSelectorTerms list are allowed"
ONLY_MORE = "only additions are allowed (no mutations or deletions)"
ONLY_MORE_LABELS = "only additions to spec.nodeSelector are allowed (no mutations or deletions)"
ZONE_SHOWN = '{"Key":"zone","Operator":"In","Values":["1"]}'


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ({"nodeSelector": {"a": "1"}}, {"nodeSelector": {"a": "1", "b": "2"}}, []),
        (
            {"nodeSelector": {"a": "1"}},
            {"nodeSelector": {"a": "2", "b": "2"}},
            [f'spec.nodeSelector: Invalid value: {{"a":"2","b":"2"}}: {ONLY_MORE_LABELS}'],
        ),
        ({"nodeSelector": {"a": "1"}}, {}, [f"spec.nodeSelector: Invalid value: null: {ONLY_MORE_LABELS}"]),
        (terms(), terms({"matchExpressions": [asks("1")]}), []),
        (terms({"matchExpressions": [asks("1")]}), terms({"matchExpressions": [asks("1"), SIZE]}), []),
        (terms({"matchExpressions": [asks("1")]}), terms({"matchExpressions": [asks("1")], "matchFields": [SIZE]}), []),
        (
            terms({"matchExpressions": [asks("1")]}),
            terms({"matchExpressions": [SIZE, asks("1")]}),
            [
                f'{TERMS}[0]: Invalid value: {{"MatchExpressions":[{{"Key":"size","Operator":"In","Values":["a"]}},'
                f'{ZONE_SHOWN}],"MatchFields":null}}: {ONLY_MORE}'
            ],
        ),
        (
            terms({"matchFields": [asks("1")]}, {"matchFields": [asks("1", "2")]}),
            terms({"matchFields": [asks("1")]}, {"matchExpressions": [asks("1")]}),
            [f'{TERMS}[1]: Invalid value: {{"MatchExpressions":[{ZONE_SHOWN}],"MatchFields":null}}: {ONLY_MORE}'],
        ),
        (
            terms({"matchExpressions": [asks("1"), SIZE]}),
            terms({"matchExpressions": [asks("1")]}),
            [f'{TERMS}[0]: Invalid value: {{"MatchExpressions":[{ZONE_SHOWN}],"MatchFields":null}}: {ONLY_MORE}'],
        ),
        (
            terms({}),
            terms({"matchExpressions": [asks("1")]}),
            [f'{TERMS}[0]: Invalid value: {{"MatchExpressions":[{ZONE_SHOWN}],"MatchFields":null}}: {ONLY_MORE}'],
        ),
        (
            terms({"matchExpressions": [asks("1")]}),
            terms({"matchExpressions": [asks("1")]}, {"matchExpressions": [SIZE]}),
            [
                f'{TERMS}: Invalid value: [{{"MatchExpressions":[{ZONE_SHOWN}],"MatchFields":null}},'
                f'{{"MatchExpressions":[{{"Key":"size","Operator":"In","Values":["a"]}}],"MatchFields":null}}]: {NO_MORE_TERMS}'
            ],
        ),
        (terms({"matchExpressions": [asks("1")]}), {}, [f"{TERMS}: Invalid value: null: {NO_MORE_TERMS}"]),
    ],
)
def test_what_a_pod_at_a_gate_asks_of_nodes_only_grows(
    before: dict[str, Any], after: dict[str, Any], told: list[str]
) -> None:
    """validation.go: validateNodeSelectorMutation, validateNodeAffinityMutation."""
    gated = {"schedulingGates": [{"name": "wait"}]}
    assert [
        str(error) for error in pod_update_errors({"spec": {**gated, **after}}, {"spec": {**gated, **before}})
    ] == told


@pytest.mark.parametrize("kind", ["nodeAffinity", "podAffinity", "podAntiAffinity"])
@pytest.mark.parametrize(
    ("weight", "shown"), [({}, 0), ({"weight": 0}, 0), ({"weight": -1}, -1), ({"weight": 101}, 101)]
)
def test_weights_are_from_1_to_100(kind: str, weight: dict[str, int], shown: int) -> None:
    (error,) = pod_spec_errors({"affinity": preferred(kind, **weight)})
    at = f"spec.affinity.{kind}.preferredDuringSchedulingIgnoredDuringExecution[0].weight"
    assert (error.field, error.value, error.detail) == (at, shown, "must be in the range 1-100")
    assert pod_spec_errors({"affinity": preferred(kind, weight=1)}) == []
    assert pod_spec_errors({"affinity": preferred(kind, weight=100)}) == []


def preferred(kind: str, **weight: int) -> dict[str, Any]:
    said = {"preference": ZONE} if kind == "nodeAffinity" else {"podAffinityTerm": {"topologyKey": "zone"}}
    return {kind: {"preferredDuringSchedulingIgnoredDuringExecution": [{**said, **weight}]}}
