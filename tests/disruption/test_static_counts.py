"""How many NodeClaims a static NodePool gets, and which ones go when it has too many.

Core ``pkg/controllers/static/{provisioning,deprovisioning}/controller.go``.
"""

from __future__ import annotations

from typing import Any

import pytest

from harness.karpenter.staticpools.decisions import Growth, growth, surplus
from tests.disruption.fleet import Json, machine, pod, situation
from tests.disruption.test_static_pools import static

STAYS = {"karpenter.sh/do-not-disrupt": "true"}


def limited(replicas: int, most: int | str | None = None, **spec: Any) -> Json:
    return static(replicas, **({} if most is None else {"limits": {"nodes": most}}), **spec)


def claims(names: str) -> list[Any]:
    return [machine(name) for name in names]


@pytest.mark.parametrize(
    ("replicas", "most", "present", "going", "replacing", "count", "again"),
    [
        (3, None, "", "", "", 3, 60.0),
        (3, None, "ab", "", "", 1, 60.0),
        (2, None, "ab", "", "", 0, 60.0),
        (1, None, "ab", "", "", 0, 60.0),
        (0, None, "", "", "", 0, 60.0),
        (3, 2, "a", "", "", 1, 60.0),
        (3, 2, "ab", "", "", 0, 30.0),
        (3, 1, "ab", "", "", 0, 30.0),
        (3, "2500m", "", "", "", 3, 60.0),  # rounded up
        (2, None, "ab", "b", "", 1, 60.0),  # one that goes is made up for
        (2, 2, "ab", "b", "", 0, 30.0),  # and counts for the limit as long as it is there
        (2, None, "ab", "", "b", 0, 60.0),  # one that is replaced counts
        (3, None, "ab", "", "b", 2, 60.0),  # but not for how many are made
        (3, 3, "ab", "", "b", 1, 60.0),
    ],
)
def test_growth(
    replicas: int, most: int | str | None, present: str, going: str, replacing: str, count: int, again: float
) -> None:
    pool = limited(replicas, most)
    deleting = frozenset(f"claim-{name}" for name in going)
    view = situation(claims(present), pools=[pool], deleting=deleting).view
    made = growth(view.simulations, pool, synced=True, replacing=frozenset(f"claim-{name}" for name in replacing))
    assert (made.count, made.again) == (count, again)


def test_nothing_grows_while_nodeclaims_have_no_machine_yet() -> None:
    pool = static(1)
    assert growth(situation([], pools=[pool]).view.simulations, pool, synced=False) == Growth(again=1.0)


@pytest.mark.parametrize(
    "parts",
    [
        {"status": {}},
        {"status": {"conditions": [{"type": "Ready", "status": "False"}]}},
        {"metadata": {"name": "pool", "deletionTimestamp": "2026-01-07T10:00:00Z"}},
        {"spec": {"replicas": 1}},  # of another provider's NodeClass, or none
        {"spec": static(1)["spec"] | {"replicas": None}},
    ],
)
def test_a_nodepool_that_is_not_ready_or_goes_does_not_grow(parts: Json) -> None:
    pool = {**static(1), **parts}
    assert growth(situation([], pools=[static(1)]).view.simulations, pool, synced=True) == Growth()


def names(found: Any) -> str:
    return "".join(each["metadata"]["name"].removeprefix("claim-") for each in found)


@pytest.mark.parametrize(("replicas", "gone"), [(4, ""), (3, ""), (2, "c"), (1, "ca"), (0, "cab")])
def test_first_go_empty_nodes_then_those_whose_pods_cost_least(replicas: int, gone: str) -> None:
    pool = static(replicas)
    pods = [pod("p", "a"), pod("q", "b"), pod("r", "b"), pod("daemon", "c")]
    pods[3]["metadata"]["ownerReferences"][0]["kind"] = "DaemonSet"
    found, made = surplus(situation(claims("abc"), pods, [pool]).view.simulations, pool)
    assert (names(found), made.again) == (gone, 60.0)


@pytest.mark.parametrize(("replicas", "gone"), [(2, "b"), (1, "bc"), (0, "bca")])
def test_those_with_a_pod_that_must_not_be_disrupted_go_last(replicas: int, gone: str) -> None:
    pool = static(replicas)
    daemon = pod("daemon", "c", annotations=STAYS)  # it keeps its node from counting as empty
    daemon["metadata"]["ownerReferences"][0]["kind"] = "DaemonSet"
    pods = [pod("p", "a", annotations=STAYS), pod("s", "a"), pod("q", "b"), pod("r", "b"), daemon]
    found, _ = surplus(situation(claims("abc"), pods, [pool]).view.simulations, pool)
    assert names(found) == gone


@pytest.mark.parametrize(("replicas", "gone"), [(3, "d"), (2, "de"), (1, "dea"), (0, "deab")])
def test_before_all_others_go_nodeclaims_without_a_machine(replicas: int, gone: str) -> None:
    pool = static(replicas)
    made = claims("abde")
    for node, claim in made[2:]:
        claim["status"]["providerID"] = ""
        node["spec"]["providerID"] = "azure:///other"
        node["metadata"]["labels"] = {}
    found, _ = surplus(situation(made, pools=[pool]).view.simulations, pool)
    assert names(found) == gone


@pytest.mark.parametrize(("going", "gone"), [("", "ab"), ("b", "a"), ("ab", "")])
def test_those_that_go_already_are_not_too_many(going: str, gone: str) -> None:
    pool = static(0)
    deleting = frozenset(f"claim-{name}" for name in going)
    found, _ = surplus(situation(claims("ab"), pools=[pool], deleting=deleting).view.simulations, pool)
    assert names(found) == gone


def test_of_nodes_with_equal_pods_the_one_that_expires_sooner_goes_first() -> None:
    """The cost of moving pods counts by the part of its lifetime that a node has left."""
    pool = static(1)
    made = claims("ab")
    for _, claim in made:
        claim["spec"]["expireAfter"] = "4h"
    made[1][1]["metadata"]["creationTimestamp"] = "2026-01-07T07:30:00Z"
    found, _ = surplus(situation(made, [pod("p", "a"), pod("q", "b")], [pool]).view.simulations, pool)
    assert names(found) == "b"


def test_nobody_goes_of_a_nodepool_that_is_not_static_or_goes_itself() -> None:
    pool = static(0)
    view = situation(claims("ab"), pools=[pool]).view
    for parts in (
        {"metadata": {"name": "pool", "deletionTimestamp": "2026-01-07T10:00:00Z"}},
        {"spec": {"replicas": 0}},
        {"spec": pool["spec"] | {"replicas": None}},
    ):
        assert surplus(view.simulations, {**pool, **parts}) == ((), Growth())


@pytest.mark.parametrize(("text", "told"), [("true", 0), ("false", 1), ("24h", 1), ("soon", 1)])
def test_an_event_tells_of_a_pod_until_when_it_is_protected_or_why_nobody_knows(text: str, told: int) -> None:
    pool, said = static(0), []
    protected = pod("p", "a", annotations={"karpenter.sh/do-not-disrupt": text})
    surplus(situation(claims("a"), [protected], [pool]).view.simulations, pool, say=said.append)
    assert [(each.kind, each.object) for each in said] == [("Pod", "default/p")] * told
