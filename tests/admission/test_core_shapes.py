"""What the API server's decoder and its required fields refuse in core objects: types of fields, unknown and missing ones."""

from __future__ import annotations

from typing import Any

import pytest

from harness.kube.admission.core_types import places_of, shape_errors
from harness.testing import daemonset, deployment, node, pod, requirement

Object = dict[str, Any]


def wrong(obj: Object) -> list[tuple[str, str]]:
    return [(".".join(map(str, each.pointer)), each.what) for each in shape_errors(obj)]


@pytest.mark.parametrize("obj", [pod(), deployment(), daemonset(), node(taints=[{"key": "a", "effect": "NoSchedule"}])])
def test_what_is_right(obj: Object) -> None:
    assert wrong(obj) == []


@pytest.mark.parametrize(
    ("spec", "errors"),
    [
        ({"priority": "5"}, [("spec.priority", "a whole number is expected, not '5'")]),
        ({"priority": 1.5}, [("spec.priority", "a whole number is expected, not 1.5")]),
        ({"priority": True}, [("spec.priority", "a whole number is expected, not true")]),
        ({"priority": None}, []),
        ({"hostNetwork": "true"}, [("spec.hostNetwork", "true or false is expected, not 'true'")]),
        ({"hostNetwork": 1}, [("spec.hostNetwork", "true or false is expected, not 1")]),
        ({"hostNetwork": False}, []),
        ({"nodeName": 5}, [("spec.nodeName", "a text is expected, not 5")]),
        ({"nodeName": False}, [("spec.nodeName", "a text is expected, not false")]),
        ({"nodeSelector": {"a": 5}}, [("spec.nodeSelector.a", "a text is expected, not 5")]),
        ({"nodeSelector": {"a": None}}, [("spec.nodeSelector.a", "a value is missing")]),
        ({"nodeSelector": "a"}, [("spec.nodeSelector", "a map is expected, not 'a'")]),
        ({"tolerations": {"key": "a"}}, [("spec.tolerations", "a list is expected, not a map")]),
        ({"tolerations": [None]}, [("spec.tolerations.0", "a value is missing")]),
        ({"tolerations": [[]]}, [("spec.tolerations.0", "a map is expected, not a list")]),
        ({"tolerations": [{"kye": "a"}]}, [("spec.tolerations.0.kye", "unknown field 'kye'")]),
        ({"overhead": {"cpu": "1", "memory": 5, "x": 1.5}}, []),
        ({"overhead": {"cpu": "much"}}, [("spec.overhead.cpu", "'much' is not a quantity")]),
        ({"overhead": {"cpu": True}}, [("spec.overhead.cpu", "true is not a quantity")]),
        ({"overhead": {"cpu": ["1"]}}, [("spec.overhead.cpu", "a list is not a quantity")]),
        ({"containers": []}, [("spec", "'containers' is missing")]),
        ({"containers": None}, [("spec", "'containers' is missing")]),
        ({"containers": [{"image": "i"}]}, [("spec.containers.0", "'name' is missing")]),
        ({"containers": [{"name": ""}]}, [("spec.containers.0", "'name' is missing")]),
        (
            {
                "affinity": {
                    "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": []}}
                }
            },
            [
                (
                    "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution",
                    "'nodeSelectorTerms' is missing",
                )
            ],
        ),
    ],
)
def test_fields_of_a_pod(spec: Object, errors: list[tuple[str, str]]) -> None:
    assert wrong(pod(**spec)) == errors


@pytest.mark.parametrize(
    ("value", "right"), [(1, True), ("50%", True), (True, False), (1.5, False), ([], False), (2**63, False)]
)
def test_a_number_or_a_text(value: Any, right: bool) -> None:
    budget = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {}, "spec": {"minAvailable": value}}
    found = wrong(budget)
    assert not found if right else found[0][1].startswith("a whole number or a text is expected, not ")
    assert len(found) == (0 if right else 1)


def test_the_fields_that_there_are_go_with_an_unknown_one() -> None:
    (error,) = shape_errors(pod(nodeSelectr={}))
    assert error.pointer == ("spec", "nodeSelectr")
    assert "nodeSelector" in error.known


@pytest.mark.parametrize(
    ("metadata", "errors"),
    [
        ({"labels": {"a": "b"}, "odd": 5}, [("metadata.odd", "unknown field 'odd'")]),
        ({"labels": {"a": 5}}, [("metadata.labels.a", "a text is expected, not 5")]),
        ({"annotations": ["a"]}, [("metadata.annotations", "a map is expected, not a list")]),
        ({"labels": None}, []),
        ("text", [("metadata", "a map is expected, not 'text'")]),
        (None, []),
    ],
)
def test_of_other_kinds_labels_and_annotations(metadata: Any, errors: list[tuple[str, str]]) -> None:
    assert wrong({"apiVersion": "example.com/v1", "kind": "Pod", "metadata": metadata, "spec": 5}) == errors


@pytest.mark.parametrize(
    ("api_version", "kind", "field", "places"),
    [
        ("v1", "Pod", "nodeSelector", ("spec",)),
        ("v1", "Pod", "hostPort", ("spec.containers[].ports[]", "spec.ephemeralContainers[].ports[]", "spec.initContainers[].ports[]")),
        ("apps/v1", "Deployment", "nodeSelector", ("spec.template.spec",)),
        ("v1", "Pod", "nothing", ()),
        ("v1", "Nothing", "nodeSelector", ()),
        ("v1", "Pod", "spec", ("spec.volumes[].ephemeral.volumeClaimTemplate",)),  # the pod itself is no place to name
    ],
)  # fmt: skip
def test_where_a_field_can_be(api_version: str, kind: str, field: str, places: tuple[str, ...]) -> None:
    found = places_of(api_version, kind, field)
    assert found[: len(places)] == places
    assert bool(found) is bool(places)


def test_expressions_have_a_key_and_an_operator() -> None:
    expressions = [requirement("", "b"), {"key": "a", "values": ["b"]}]
    terms = {"nodeSelectorTerms": [{"matchExpressions": expressions}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    assert [what for _, what in wrong(pod(affinity=affinity))] == ["'key' is missing", "'operator' is missing"]
