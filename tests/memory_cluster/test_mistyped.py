"""Objects of the wrong shape given to a World in Python are refused with the place of each mistake, not with an exception."""

from __future__ import annotations

from typing import Any

import pytest

from harness.kube.admission.core_types import shape_errors
from harness.testing import pod
from harness.world import World

POD: dict[str, Any] = pod("a")

MISTYPED: list[tuple[dict[str, Any], list[str]]] = [
    ({**POD, "metadata": "x"}, ["metadata: a map is expected"]),
    ({**POD, "metadata": {"name": 5}}, ["metadata.name: a text is expected"]),
    ({**POD, "metadata": {"name": "a", "labels": ["x"]}}, ["metadata.labels: a map is expected"]),
    ({"metadata": {"name": "a"}}, ["apiVersion: a text is expected", "kind: a text is expected"]),
    ({**POD, "kind": ["Pod"]}, ["kind: a text is expected"]),
    ({**POD, "spec": "x"}, ["spec: a map is expected, not 'x'"]),
    (pod(containers="x"), ["spec.containers: a list is expected, not 'x'"]),
    (pod(containers=["x"]), ["spec.containers[0]: a map is expected, not 'x'"]),
    (pod(nodeSelector=["a"]), ["spec.nodeSelector: a map is expected, not a list"]),
    (
        pod(tolerations={"a": "b"}, affinity={"nodeAffinity": "x"}),
        ["spec.affinity.nodeAffinity: a map is expected, not 'x'", "spec.tolerations: a list is expected, not a map"],
    ),
    (pod(nodeSelectr={}), ["spec.nodeSelectr: unknown field 'nodeSelectr'"]),
    (
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "x"}, "spec": {"replicas": "3"}},
        [
            "spec.replicas: a whole number is expected, not '3'",
            "spec: 'selector' is missing",
            "spec: 'template' is missing",
        ],
    ),
    ({"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": "x"}, ["metadata: a map is expected"]),
]


@pytest.mark.parametrize(("obj", "texts"), MISTYPED)
def test_mistyped_objects(obj: dict[str, Any], texts: list[str]) -> None:
    world = World()
    assert sorted(one.text for one in world.apply(obj)) == sorted(texts)
    assert sorted(one.text for one in world.dry_run(obj)) == sorted(texts)
    assert world.settle(allow_rejections=True).quiescent


@pytest.mark.parametrize("amount", [2**63, -(2**63) - 1, 3**62, True, 1.5])
def test_whole_numbers_have_64_bits(amount: float) -> None:
    """encoding/json of Go: what an int64 does not hold is refused."""
    texts = [each.what for each in shape_errors(pod(terminationGracePeriodSeconds=amount))]
    assert texts == [f"a whole number is expected, not {str(amount).lower()}"]
    for fits in (2**63 - 1, -(2**63)):
        assert list(shape_errors(pod(terminationGracePeriodSeconds=fits))) == []


def test_what_is_no_object_at_all() -> None:
    with pytest.raises(TypeError, match="an object is a mapping, not int"):
        World().apply(7)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("spec", "path", "message"),
    [
        ({"minAvailable": "foo"}, "spec.minAvailable", "a valid percent string must be a numeric string followed by"),
        ({"maxUnavailable": "110%"}, "spec.maxUnavailable", "must not be greater than 100%"),
        ({"minAvailable": -1}, "spec.minAvailable", "must be greater than or equal to 0"),
        ({"minAvailable": 1, "maxUnavailable": 1}, "spec", "minAvailable and maxUnavailable cannot be both set"),
    ],
)
def test_amounts_of_a_disruption_budget(spec: dict[str, Any], path: str, message: str) -> None:
    world = World()
    selector = {"matchLabels": {"app": "x"}}
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "b"},
        "spec": {"selector": selector, **spec},
    }
    (rejection,) = world.apply(budget)
    assert rejection.path == path
    assert rejection.message.startswith(message)
    assert world.settle(allow_rejections=True).quiescent
