"""matchLabelKeys and mismatchLabelKeys: what is written into selectors, and refused, the same on every cluster."""

from __future__ import annotations

from typing import Any

import pytest

from harness.kube.admission.match_label_keys import merge_label_keys, without_merged_keys
from harness.kube.api.status import ApiError
from harness.kube.api.versions import Version
from tests.clusters.subject import Subject
from tests.clusters.test_core_rules import causes
from tests.clusters.test_objects import refusal
from tests.clusters.test_pod_rules import PREFERRED, REQUIRED, SELECTED, SPREAD, ZONE, spread

OTHERS = {"matchLabels": {"side": "left"}}
KEYS = {"matchLabelKeys": ["app", "absent"], "mismatchLabelKeys": ["tier"]}
ADDED = [
    {"key": "app", "operator": "In", "values": ["p"]},
    {"key": "tier", "operator": "NotIn", "values": ["front"]},
]
TERM = f"spec.affinity.podAffinity.{REQUIRED}[0]"
APP_TWICE = {"matchExpressions": [{"key": "app", "operator": "Exists"}]}


def near(**fields: Any) -> dict[str, Any]:
    return {"affinity": {"podAffinity": {REQUIRED: [{"topologyKey": ZONE, "labelSelector": OTHERS, **fields}]}}}


def labelled(pod: dict[str, Any]) -> dict[str, Any]:
    pod["metadata"]["labels"] = {"app": "p", "tier": "front"}
    return pod


def in_all_terms(selector: dict[str, Any] | None, **keys: list[str]) -> dict[str, Any]:
    term = {"topologyKey": ZONE, **({} if selector is None else {"labelSelector": selector}), **keys}
    terms = {REQUIRED: [term], PREFERRED: [{"weight": 1, "podAffinityTerm": term}]}
    return {"podAffinity": terms, "podAntiAffinity": terms}


def test_keys_of_a_new_pod_are_written_into_its_selectors(cluster: Subject) -> None:
    spec = {**spread(matchLabelKeys=["app", "absent"], labelSelector=OTHERS), "affinity": in_all_terms(OTHERS, **KEYS)}
    made = cluster.admin.create(labelled(cluster.pod("p", **spec)))
    assert made["spec"]["topologySpreadConstraints"][0]["labelSelector"] == {**OTHERS, "matchExpressions": ADDED[:1]}
    assert made["spec"]["affinity"] == in_all_terms({**OTHERS, "matchExpressions": ADDED}, **KEYS)


def test_expressions_that_were_there_come_first(cluster: Subject) -> None:
    given = {"key": "side", "operator": "Exists"}
    made = cluster.admin.create(
        cluster.pod("p", **spread(labelSelector={"matchExpressions": [given]}, matchLabelKeys=["app"]))
    )
    assert made["spec"]["topologySpreadConstraints"][0]["labelSelector"] == {"matchExpressions": [given, ADDED[0]]}


def test_a_template_keeps_its_selectors(cluster: Subject) -> None:
    template = {
        "metadata": {"labels": {"app": "p"}},
        "spec": cluster.pod("p", **spread(matchLabelKeys=["app"]))["spec"],
    }
    template["spec"]["topologySpreadConstraints"][0]["labelSelector"] = APP_TWICE
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "d", "namespace": cluster.namespace},
        "spec": {"replicas": 0, "selector": SELECTED, "template": template},
    }
    made = cluster.admin.create(deployment)
    assert made["spec"]["template"]["spec"]["topologySpreadConstraints"][0]["labelSelector"] == APP_TWICE


BOTH = 'Invalid value: "app": exists in both matchLabelKeys and'
ABSENT = "Forbidden: must not be specified when labelSelector is not set"
NAMELESS = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
    "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
REFUSED: list[tuple[str, dict[str, Any], list[str]]] = [
    (
        "label in selector",
        spread(matchLabelKeys=["app"], labelSelector=SELECTED),
        [f"{SPREAD}[0]: {BOTH} labelSelector"],
    ),
    (
        "expression in selector",
        spread(matchLabelKeys=["tier", "app"], labelSelector=APP_TWICE),
        [f"{SPREAD}[1]: {BOTH} labelSelector"],
    ),
    ("no selector", spread(matchLabelKeys=["app"], labelSelector=None), [f"{SPREAD}.matchLabelKeys: {ABSENT}"]),
    (
        "no key",
        spread(matchLabelKeys=["a b"]),
        [f'{SPREAD}.matchLabelKeys[0]: Invalid value: "a b": {NAMELESS}'],
    ),
    ("label in term", near(matchLabelKeys=["app"], labelSelector=SELECTED), [f"{TERM}[0]: {BOTH} labelSelector"]),
    (
        "with and without",
        near(matchLabelKeys=["app"], mismatchLabelKeys=["app"]),
        [f"{TERM}[0]: {BOTH} labelSelector", f"{TERM}.matchLabelKeys[0]: {BOTH} mismatchLabelKeys"],
    ),
    (
        "no selector in term",
        near(matchLabelKeys=["app"], mismatchLabelKeys=["tier"], labelSelector=None),
        [f"{TERM}.matchLabelKeys: {ABSENT}", f"{TERM}.mismatchLabelKeys: {ABSENT}"],
    ),
    (
        "no key in term",
        near(mismatchLabelKeys=["a b"]),
        [f'{TERM}.mismatchLabelKeys[0]: Invalid value: "a b": {NAMELESS}'],
    ),
]


@pytest.mark.parametrize(("fields", "lines"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_keys_that_cannot_be(cluster: Subject, fields: dict[str, Any], lines: list[str]) -> None:
    error: ApiError = refusal(cluster.admin.create, cluster.pod("p", **fields))
    assert error.code == 422
    assert sorted(f"{field}: {message}" for _, field, message in causes(error)) == sorted(lines)


ACCEPTED: list[tuple[str, dict[str, Any]]] = [
    ("in the selector, not on the pod", spread(matchLabelKeys=["side"], labelSelector=OTHERS)),
    ("in the selector, kept away", near(mismatchLabelKeys=["app"], labelSelector=SELECTED)),
]


@pytest.mark.parametrize("fields", [row[1] for row in ACCEPTED], ids=[row[0] for row in ACCEPTED])
def test_keys_that_can_be(cluster: Subject, fields: dict[str, Any]) -> None:
    assert cluster.admin.create(cluster.pod("p", **fields))["spec"]["containers"]


# The versions before the server's, which only memory is: pkg/features/kube_features.go, 1.34 for spread, 1.31 for affinity.


def old_and_new(version: Version) -> dict[str, Any]:
    pod = {
        "metadata": {"labels": {"app": "p", "tier": "front"}},
        "spec": {**spread(matchLabelKeys=["app"], labelSelector=OTHERS), "affinity": in_all_terms(OTHERS, **KEYS)},
    }
    found: dict[str, Any] = merge_label_keys(pod, version)["spec"]
    return found


@pytest.mark.parametrize("version", [Version(1, 33), Version(1, 34)])
def test_spread_constraints_are_merged_from_1_34_on(version: Version) -> None:
    (constraint,) = old_and_new(version)["topologySpreadConstraints"]
    assert constraint["matchLabelKeys"] == ["app"]
    assert constraint["labelSelector"].get("matchExpressions", []) == (ADDED[:1] if version >= Version(1, 34) else [])


@pytest.mark.parametrize("version", [Version(1, 30), Version(1, 31)])
def test_terms_know_the_keys_from_1_31_on(version: Version) -> None:
    expected = (
        {"selector": {**OTHERS, "matchExpressions": ADDED}, **KEYS}
        if version >= Version(1, 31)
        else {"selector": OTHERS}
    )
    assert old_and_new(version)["affinity"] == in_all_terms(**expected)


def test_a_pod_as_the_server_prints_it_can_be_made_again() -> None:
    pod = {
        "metadata": {"labels": {"app": "p", "tier": "front"}},
        "spec": {**spread(matchLabelKeys=["app"], labelSelector=OTHERS), "affinity": in_all_terms(OTHERS, **KEYS)},
    }
    printed = merge_label_keys(pod, (1, 36))
    assert printed != pod
    assert without_merged_keys(printed) == pod
    assert without_merged_keys(pod) == pod
