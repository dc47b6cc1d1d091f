"""Which nodes hard spread constraints and terms of pod affinity leave, counted by hand.

Sources: kubernetes pkg/scheduler/framework/plugins/podtopologyspread/{filtering,common}.go, interpodaffinity/{filtering,scoring}.go.
"""

from __future__ import annotations

from typing import Any

import pytest

from harness.kube.api.labels import HOSTNAME, ZONE
from harness.kube.scheduling.filters import Failure, Filters
from harness.kube.scheduling.placement import NodeInfo
from harness.kube.scheduling.spreading import RunningTerms, TopologySpread, constraint_selector, takes_part
from harness.testing import node, pod

Object = dict[str, Any]
SELECTOR = {"matchLabels": {"app": "web"}}
CONSTRAINT = {"topologyKey": ZONE, "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": SELECTOR}
SKEW, MISSING = (
    "node(s) didn't match pod topology spread constraints",
    "node(s) didn't match pod topology spread constraints (missing required label)",
)


def web(name: str = "asking", **fields: Any) -> Object:
    return pod(name, "", "", **{"labels": {"app": "web"}, **fields})


def info(name: str, zone: str | None, count: int = 0, *pods: Object, **spec: Any) -> NodeInfo:
    labels = {} if zone is None else {ZONE: zone}
    return NodeInfo(node(name, labels=labels, **spec), [*(web(f"{name}-{number}") for number in range(count)), *pods])


def refused(asking: Object, nodes: list[NodeInfo]) -> dict[str, Failure]:
    filters = Filters.for_pod(asking, nodes)
    return {each.name: failure for each in nodes if (failure := filters.failure(each)) is not None}


@pytest.mark.parametrize(
    ("fields", "counts", "full"),
    [
        ({}, (0, 0), ""),
        ({}, (1, 0), "a"),
        ({}, (1, 1), ""),
        ({"maxSkew": 2}, (1, 0), ""),
        ({"maxSkew": 2}, (2, 0), "a"),
        ({"maxSkew": 2}, (3, 1), "a"),
        ({"minDomains": 2}, (1, 1), ""),
        ({"minDomains": 3}, (0, 0), ""),
        ({"minDomains": 3}, (1, 1), "ab"),  # with too few domains the least is none
        ({"minDomains": None}, (1, 1), ""),
        ({"labelSelector": {"matchLabels": {"app": "other"}}}, (9, 0), ""),
    ],
)
def test_how_far_a_domain_is_ahead(fields: Object, counts: tuple[int, int], full: str) -> None:
    nodes = [info(name, name, count) for name, count in zip("ab", counts, strict=True)]
    found = refused(web(topologySpreadConstraints=[{**CONSTRAINT, **fields}]), nodes)
    assert found == {name: Failure(name, (SKEW,), False) for name in full}


def test_a_pod_that_its_selector_does_not_take_makes_no_domain_larger() -> None:
    asking = pod("asking", "", "", topologySpreadConstraints=[CONSTRAINT])
    assert refused(asking, [info("a", "1", 1), info("b", "2")]) == {}
    assert [*refused(asking, [info("a", "1", 2), info("b", "2")])] == ["a"]


def test_domains_are_those_of_nodes_with_all_keys() -> None:
    rack = {**CONSTRAINT, "topologyKey": "rack"}
    asking = web(topologySpreadConstraints=[CONSTRAINT, rack])
    racked = NodeInfo(node("a", labels={ZONE: "1", "rack": "x"}), [web("there")])
    found = refused(asking, [racked, info("b", "2"), info("c", None)])
    assert found == {"b": Failure("b", (MISSING,), True), "c": Failure("c", (MISSING,), True)}
    soft = web(topologySpreadConstraints=[{**rack, "whenUnsatisfiable": "ScheduleAnyway"}])
    assert TopologySpread.for_pod(soft, []) is None
    assert refused(soft, [racked, info("b", "2")]) == {}


GOING = {"deletionTimestamp": "2026-01-01T00:00:00Z"}


@pytest.mark.parametrize(
    ("there", "counts"),
    [
        (web("w"), True),
        (web("w", namespace="other"), False),
        (web("w", labels={"app": "other"}), False),
        (web("w", labels={}), False),
        ({**web("w"), "metadata": {**web("w")["metadata"], **GOING}}, False),
        ({**web("w"), "status": {"phase": "Succeeded"}}, False),
    ],
)
def test_pods_that_count(there: Object, counts: bool) -> None:
    found = refused(web(topologySpreadConstraints=[CONSTRAINT]), [info("a", "1", 0, there), info("b", "2")])
    assert [*found] == (["a"] if counts else [])


TAINTS = [{"key": "k", "value": "v", "effect": "NoSchedule"}]
TOLERATED = [{"key": "k", "operator": "Exists"}]


@pytest.mark.parametrize(
    ("fields", "of_pod", "of_node", "part"),
    [
        ({}, {}, {}, True),
        ({}, {"nodeSelector": {HOSTNAME: "a"}}, {}, True),
        ({}, {"nodeSelector": {HOSTNAME: "b"}}, {}, False),
        ({"nodeAffinityPolicy": "Honor"}, {"nodeSelector": {HOSTNAME: "b"}}, {}, False),
        ({"nodeAffinityPolicy": "Ignore"}, {"nodeSelector": {HOSTNAME: "b"}}, {}, True),
        ({}, {}, {"taints": TAINTS}, True),
        ({"nodeTaintsPolicy": "Ignore"}, {}, {"taints": TAINTS}, True),
        ({"nodeTaintsPolicy": "Honor"}, {}, {"taints": TAINTS}, False),
        ({"nodeTaintsPolicy": "Honor"}, {}, {"taints": [{**TAINTS[0], "effect": "NoExecute"}]}, False),
        ({"nodeTaintsPolicy": "Honor"}, {}, {"taints": [{**TAINTS[0], "effect": "PreferNoSchedule"}]}, True),
        ({"nodeTaintsPolicy": "Honor"}, {"tolerations": TOLERATED}, {"taints": TAINTS}, True),
        ({"nodeTaintsPolicy": "Honor"}, {"tolerations": TOLERATED}, {"taints": [*TAINTS, {**TAINTS[0], "key": "l"}]}, False),
        ({"nodeTaintsPolicy": "Honor"}, {}, {}, True),
    ],
)  # fmt: skip
def test_nodes_that_count(fields: Object, of_pod: Object, of_node: Object, part: bool) -> None:
    """matchNodeInclusionPolicies."""
    asking = web(topologySpreadConstraints=[{**CONSTRAINT, **fields}], **of_pod)
    assert takes_part({**CONSTRAINT, **fields}, asking, info("a", "1", **of_node)) is part


@pytest.mark.parametrize(
    ("fields", "labels", "said"),
    [
        ({}, {"app": "web"}, "app=web"),
        ({"matchLabelKeys": ["tier"]}, {"tier": "x"}, "app=web,tier=x"),
        ({"matchLabelKeys": ["tier", "side"]}, {"side": "y"}, "app=web,side=y"),
        ({"matchLabelKeys": []}, {"tier": "x"}, "app=web"),
        ({"matchLabelKeys": ["tier"], "labelSelector": {}}, {"tier": "x"}, "tier=x"),
        ({"matchLabelKeys": ["tier"], "labelSelector": {"matchLabels": None}}, {"tier": "x"}, "tier=x"),
    ],
)
def test_keys_by_which_pods_are_told_apart(fields: Object, labels: dict[str, str], said: str) -> None:
    assert str(constraint_selector({**CONSTRAINT, **fields}, web(labels=labels))) == said
    nothing = constraint_selector(
        {**CONSTRAINT, "labelSelector": None, "matchLabelKeys": ["tier"]}, web(labels={"tier": "x"})
    )
    assert not nothing.conditions


def term(app: str, key: str = ZONE) -> Object:
    return {"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}}


def required(kind: str, *terms: Object) -> Object:
    return {"affinity": {kind: {"requiredDuringSchedulingIgnoredDuringExecution": list(terms)}}}


def preferred(kind: str, weight: int, app: str, key: str = ZONE) -> Object:
    wish = {"weight": weight, "podAffinityTerm": term(app, key)}
    return {"affinity": {kind: {"preferredDuringSchedulingIgnoredDuringExecution": [wish]}}}


NEAR = "node(s) didn't match pod affinity rules"
AWAY = "node(s) didn't match pod anti-affinity rules"
KEPT_AWAY = "node(s) didn't satisfy existing pods anti-affinity rules"
ZONES = [("a", "1"), ("b", "1"), ("c", "2"), ("d", None)]


@pytest.mark.parametrize(
    ("asking", "there", "failures"),
    [
        (required("podAffinity", term("db")), {}, {"c": (NEAR, True), "d": (NEAR, True)}),
        (required("podAffinity", term("db", HOSTNAME)), {}, dict.fromkeys("bcd", (NEAR, True))),
        (required("podAffinity", term("none")), {}, dict.fromkeys("abcd", (NEAR, True))),
        (required("podAffinity", term("web")), {}, {"d": (NEAR, True)}),  # the first of its kind, but with the label
        (required("podAffinity", term("db"), term("db", HOSTNAME)), {}, dict.fromkeys("bcd", (NEAR, True))),
        (required("podAntiAffinity", term("db")), {}, {"a": (AWAY, False), "b": (AWAY, False)}),
        (required("podAntiAffinity", term("db", HOSTNAME)), {}, {"a": (AWAY, False)}),
        (required("podAntiAffinity", term("none")), {}, {}),
        ({}, required("podAntiAffinity", term("web")), {"a": (KEPT_AWAY, False), "b": (KEPT_AWAY, False)}),
        ({}, required("podAntiAffinity", term("web", HOSTNAME)), {"a": (KEPT_AWAY, False)}),
        ({}, required("podAntiAffinity", term("none")), {}),
        ({}, required("podAffinity", term("web")), {}),
    ],
)
def test_terms_of_the_pod_and_of_those_that_run(
    asking: Object, there: Object, failures: dict[str, tuple[str, bool]]
) -> None:
    db = pod("db", "", "", labels={"app": "db"}, **there)
    nodes = [info(name, zone, 0, *([db] if name == "a" else [])) for name, zone in ZONES]
    found = refused(web(**asking), nodes)
    assert {name: (each.reasons[0], each.helpless) for name, each in found.items()} == failures


@pytest.mark.parametrize(
    ("asking", "there", "weights"),
    [
        (preferred("podAffinity", 7, "db"), {}, (7, 7, 0, 0)),
        (preferred("podAntiAffinity", 7, "db"), {}, (-7, -7, 0, 0)),
        (preferred("podAffinity", 7, "db", HOSTNAME), {}, (7, 0, 0, 0)),
        ({}, preferred("podAffinity", 5, "web"), (5, 5, 0, 0)),
        ({}, preferred("podAntiAffinity", 5, "web"), (-5, -5, 0, 0)),
        ({}, required("podAffinity", term("web")), (1, 1, 0, 0)),
        (preferred("podAffinity", 7, "db"), preferred("podAntiAffinity", 5, "web", HOSTNAME), (2, 7, 0, 0)),
        (preferred("podAffinity", 7, "none"), {}, None),
        ({}, preferred("podAffinity", 5, "none"), None),
        ({}, {}, None),
    ],
)
def test_wishes_add_up(asking: Object, there: Object, weights: tuple[int, ...] | None) -> None:
    db = pod("db", "", "", labels={"app": "db"}, **there)
    nodes = [info(name, zone, 0, *([db] if name == "a" else [])) for name, zone in ZONES]
    affinity = Filters.for_pod(web(**asking), nodes).affinity
    assert (affinity and tuple(affinity.preference(each) for each in nodes)) == weights


@pytest.mark.parametrize(
    "running",
    [
        required("podAffinity", term("web")),
        required("podAntiAffinity", term("web")),
        preferred("podAffinity", 1, "web"),
        preferred("podAntiAffinity", 1, "web"),
    ],
)
def test_a_pod_that_runs_has_a_say_about_those_that_it_selects(running: Object) -> None:
    terms = RunningTerms.for_pod(pod("db", "", "", **running), [])
    assert [terms.take(each) for each in (web(), web(namespace="other"), web(labels={}))] == [True, False, False]
    assert RunningTerms.for_pod(pod("db", "", ""), []).terms == ()
