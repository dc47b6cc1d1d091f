"""Which pods ask for more than amounts, and what is shared by all sizes of a NodePool."""

from types import SimpleNamespace
from typing import Any

import pytest

from harness.karpenter.scheduling.algebra import Algebra
from harness.karpenter.scheduling.nodeclaims.pod_fitter import PodFitter
from harness.karpenter.scheduling.nodeclaims.templates import Template, newest_daemon_pods
from harness.karpenter.scheduling.pods.preferences import Preferences
from harness.karpenter.scheduling.pods.shapes import _chooses
from harness.karpenter.scheduling.reasons.pods import VolumeLimitExceeded
from harness.testing import pod
from tests.scheduling.workload import HOST, VOCABULARY, ZONE, need, run, spread
from tests.scheduling.workload import pod as waiting


@pytest.mark.parametrize(("terms", "chooses"), [(0, False), (1, False), (2, True)])
def test_a_pod_with_two_terms_has_a_choice(terms: int, chooses: bool) -> None:
    wishes = SimpleNamespace(
        preferred_nodes=[], preferred_pods=[], preferred_anti=[], spread=[], required_nodes=[{}] * terms
    )
    shape: Any = SimpleNamespace(required_pods=[], required_anti=[], preferences=wishes)
    assert _chooses(shape) is chooses


@pytest.mark.parametrize("kind", ["nodes", "pods"])
def test_the_terms_that_are_left_are_a_list_without_the_first(kind: str) -> None:
    if kind == "nodes":
        terms = [{"matchExpressions": [need(ZONE, "In", name)]} for name in "abcd"]
        required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
        preferences = Preferences.of(pod(affinity={"nodeAffinity": required}), ignored=False)
    else:
        terms = [{"weight": 4 - at, "podAffinityTerm": {"topologyKey": name}} for at, name in enumerate("abcd")]
        preferred = {"preferredDuringSchedulingIgnoredDuringExecution": terms}
        preferences = Preferences.of(pod(affinity={"podAffinity": preferred}), ignored=False)
    for dropped in (1, 2):
        step = preferences.relaxed(tolerate_preferences=False)
        assert step is not None
        preferences, expected = step.preferences, terms[dropped:]
        left = preferences.required_nodes if kind == "nodes" else preferences.preferred_pods
        assert [*left] == [*left[:]] == expected
        assert len(left) == len(expected)
        for at in range(-len(expected), len(expected)):
            assert left[at] == expected[at]


def test_a_preferred_term_without_weight_is_dropped_after_one_of_weight_1() -> None:
    """Core ``scheduling/preferences.go`` sorts by weight, which is 0 where it is missing, and drops the heaviest."""
    terms = [{"podAffinityTerm": {"topologyKey": "a"}}, {"weight": 1, "podAffinityTerm": {"topologyKey": "b"}}]
    preferred = {"preferredDuringSchedulingIgnoredDuringExecution": terms}
    step = Preferences.of(pod(affinity={"podAffinity": preferred}), ignored=False).relaxed(tolerate_preferences=False)
    assert step is not None
    assert [*step.preferences.preferred_pods] == terms[:1]


def test_spread_constraints_are_dropped_one_by_one_the_last_taking_the_place_of_the_first() -> None:
    """Core ``scheduling/preferences.go`` removeTopologySpreadScheduleAnyway."""
    first, second, third = (spread(name, "x", when="ScheduleAnyway") for name in "abc")
    preferences = Preferences.of(pod(topologySpreadConstraints=[first, second, third]), ignored=False)
    for expected in ([third, second], [second], []):
        step = preferences.relaxed(tolerate_preferences=False)
        assert step is not None
        preferences = step.preferences
        left = preferences.spread
        assert [*left] == [*left[:]] == [left[at] for at in range(len(left))] == expected
    assert preferences.relaxed(tolerate_preferences=False) is None


@pytest.mark.parametrize(
    ("requests", "first"),
    [
        (({"memory": "1Gi"}, {"cpu": "0", "memory": "2Gi"}), "b"),
        (({"cpu": "0", "memory": "1Gi"}, {"memory": "2Gi"}), "b"),
        (({"memory": "2Gi"}, {"cpu": "1n", "memory": "1Gi"}), "b"),
        (({"cpu": "1", "memory": "0"}, {"cpu": "1"}), "a"),
        (({"cpu": "1"}, {"cpu": "1", "memory": "0"}), "a"),
        (({"cpu": "1"}, {"cpu": "1", "memory": "1n"}), "b"),
    ],
)
def test_a_pod_that_asks_for_no_cpu_or_memory_stands_where_one_stands_that_asks_for_zero(
    requests: tuple[dict[str, str], dict[str, str]], first: str
) -> None:
    """Core ``scheduling/queue.go`` byCPUAndMemoryDescending: a resource that is missing in the map is zero."""
    pods = [
        waiting(name, containers=[{"name": "c", "resources": {"requests": asked}}])
        for name, asked in zip("ab", requests, strict=True)
    ]
    (claim,) = run(pods).nodeclaims
    assert claim.pods[0]["metadata"]["name"] == first


def test_of_pods_of_one_size_the_oldest_is_tried_first_and_of_equally_old_ones_the_first_by_uid() -> None:
    """Core ``scheduling/queue.go`` byCPUAndMemoryDescending."""
    ages = {"a": "2026-01-01T00:00:02Z", "b": "2026-01-01T00:00:01Z", "d": "2026-01-01T00:00:01Z"}
    pods = [waiting(name) for name in "dba"]
    for each in pods:
        each["metadata"]["creationTimestamp"] = ages[each["metadata"]["name"]]
    (claim,) = run(pods).nodeclaims
    assert [each["metadata"]["name"] for each in claim.pods] == ["b", "d", "a"]


def test_a_nodeclaim_may_still_get_a_key_that_is_nobodys_own() -> None:
    algebra = Algebra(VOCABULARY)
    fitter = PodFitter(algebra, *[None] * 3)  # type: ignore[arg-type]
    nodeclaim: Any = SimpleNamespace(requirements=algebra.from_labels({"known": "x"}))

    def lacks(*asked: dict[str, Any]) -> bool:
        shape: Any = SimpleNamespace(requirements=algebra.empty, volumes=[algebra.from_node_selector(asked)])
        return fitter.lacks_key(nodeclaim, shape)

    assert lacks(need("team", "In", "red"))
    assert lacks(need("known", "In", "y"), need("team", "Exists"))
    assert not lacks(need("known", "In", "y"), need(ZONE, "In", "z1"), need(HOST, "In", "n"), need("a", "NotIn", "b"))


@pytest.mark.parametrize("turned", [False, True])
def test_of_two_pods_of_a_daemonset_that_are_as_old_the_first_by_name_speaks_for_it(turned: bool) -> None:
    owner = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "d", "uid": "u"}
    pods = [waiting(name, on="n", owner=owner) for name in "ab"]
    assert newest_daemon_pods(pods[::-1] if turned else pods) == {("default", "u"): pods[0]}
    pods[1]["metadata"]["creationTimestamp"] = "2026-01-01T00:00:00Z"
    assert newest_daemon_pods(pods[::-1] if turned else pods) == {("default", "u"): pods[1]}


def test_daemons_of_all_sizes_are_those_of_every_group() -> None:
    shared, lone = pod("shared", cpu="1"), pod("lone", cpu="2")
    groups = [SimpleNamespace(pods=(shared, lone)), SimpleNamespace(pods=(shared,))]
    template: Any = SimpleNamespace(groups=groups, index=SimpleNamespace(full=3))
    everywhere = vars(Template)["everywhere"].func(template)
    assert everywhere.pods == (shared,)
    assert everywhere.overhead["cpu"].nano == 10**9


def test_volumes_of_two_drivers_that_no_size_takes_both_of() -> None:
    index = SimpleNamespace(attaching=lambda driver, count: {"disk": 1, "file": 2}[driver])
    nodeclaim: Any = SimpleNamespace(template=SimpleNamespace(index=index), mask=3)
    shape: Any = SimpleNamespace(volume_claims={"disk": {"a"}, "file": {"b"}})
    fitter: Any = None
    assert PodFitter._not_attachable(fitter, nodeclaim, shape) == VolumeLimitExceeded("", 0, 0, new=True)
