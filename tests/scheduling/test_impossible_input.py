"""Input that cannot be satisfied, or makes no sense, ends with Karpenter's own sentence or a clear refusal."""

from __future__ import annotations

from typing import Any

import pytest

from tests.scheduling.workload import HOST, ZONE, error, groups, need, node, pod, run, spread


def required(*terms: list[dict[str, Any]]) -> dict[str, Any]:
    selector = {"nodeSelectorTerms": [{"matchExpressions": each} for each in terms]}
    return {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": selector}}}


def both(app: str, key: str) -> dict[str, Any]:
    """Together with, and apart from, the same pods."""
    term = {"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}}
    rule = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
    return {"affinity": {"podAffinity": rule, "podAntiAffinity": rule}}


MANY = [f"v{i}" for i in range(10_000)]


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        (
            required([need("team", "In", "a"), need("team", "In", "b")]),
            None,
        ),  # nothing is left of team, which may then be absent
        (required([need(ZONE, "In", "z1"), need(ZONE, "NotIn", "z1")]), "no instance type met"),
        ({**required([need(ZONE, "In", "z1")]), "nodeSelector": {ZONE: "z2"}}, "no instance type met"),
        (
            required([need("karpenter.sh/nodepool", "In", "other")]),
            "incompatible requirements, key karpenter.sh/nodepool",
        ),
        (
            {"topologySpreadConstraints": [spread("no.such/key", "x")]},
            "unsatisfiable topology constraint for topology spread",
        ),
        ({"topologySpreadConstraints": [spread(ZONE, "x", minDomains=99)], "labels": {"app": "x"}}, None),
        (
            required(*[[need("nowhere", "In", str(i))] for i in range(10_000)]),
            'incompatible requirements, label "nowhere"',
        ),
        (required([need(ZONE, "In", *MANY)]), "no instance type met"),
        (required([need(ZONE, "In", *MANY, "z2")]), None),
        (required([need("x", "NotIn", *MANY)]), None),
        ({"cpu": "-1"}, None),
        ({"cpu": "1E"}, "no instance type has enough resources"),
        ({"cpu": "0"}, None),
        ({"requests": {"example.com/unheard-of": "1"}}, "no instance type has enough resources"),
    ],
)
def test_the_answer_is_karpenters(fields: dict[str, Any], sentence: str | None) -> None:
    results = run([pod("a", **fields)])
    text = error(results, "a")
    if sentence is None:
        assert (text, groups(results)) == (None, [["a"]])
    else:
        assert text is not None
        assert text.startswith(sentence)


def test_a_thousand_terms_are_dropped_until_one_fits() -> None:
    terms = [[need(ZONE, "In", f"nowhere-{i}")] for i in range(999)]
    assert groups(run([pod("a", **required(*terms, [need(ZONE, "In", "z3")]))])) == [["a"]]


@pytest.mark.parametrize("cpu", ["much", "1.2.3", "", "1 Gi"])
def test_a_quantity_that_is_none_is_refused(cpu: str) -> None:
    """No API server admits it, so that it never reaches Karpenter."""
    with pytest.raises(ValueError, match="quantit"):
        run([pod("a", cpu)])


def test_pods_that_must_be_both_together_and_apart() -> None:
    """The first is nobody's neighbour yet; recorded from the real code."""
    results = run([pod(name, labels={"app": "x"}, **both("x", HOST)) for name in "ab"])
    assert groups(results) == [["a"]]
    assert (error(results, "b") or "").startswith(f"unsatisfiable topology constraint for pod affinity, key={HOST}")


def test_a_node_with_less_than_nothing_left_takes_no_pod() -> None:
    full = pod("old", "9", on="n1")
    results = run([full, pod("a", "0")], nodes=[node("n1", "4")])
    assert results.existing == {}
    assert groups(results) == [["a"]]


def test_pods_that_wait_for_each_other_end() -> None:
    """Each of a hundred pods wants to be beside the next, in a circle nobody begins."""

    def beside(app: str) -> dict[str, Any]:
        term = {"topologyKey": ZONE, "labelSelector": {"matchLabels": {"app": app}}}
        return {"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}

    pods = [pod(f"p{i}", labels={"app": f"a{i}"}, **beside(f"a{(i + 1) % 100}")) for i in range(100)]
    results = run(pods)
    assert len(results.errors) == 100
    assert all(
        str(reason).startswith("unsatisfiable topology constraint for pod affinity")
        for reason in results.errors.values()
    )
