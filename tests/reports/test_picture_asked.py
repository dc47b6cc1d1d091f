"""For whom sizes were looked at: every pod or workload that waited, and the decision that a page opens on."""

from __future__ import annotations

from typing import Any

import pytest

from harness.reports.picture.world import world_value
from tests.reports.test_picture_world import HEADER, fact

SIZES = fact(0, "sizes", number=1, nodepool="default", sold=1, dropped={}, offered=["a"])


def pods(owner: str, *names: str) -> list[dict[str, Any]]:
    return [fact(0, "pod", pod=f"default/{name}", state="created", owner=owner) for name in names]


def decided(t: float, number: int | None, *names: str, why: str = "no", claim: str = "") -> list[dict[str, Any]]:
    """A decision on pods for which NodePool default was tried."""
    tried = {"nodepool": "default", "why": why} | ({} if number is None else {"funnel": number})
    result = {"result": "nodeclaim", "target": f"NodeClaim/{claim}"} if claim else {"result": "refused", "why": why}
    every = [f"default/{name}" for name in names]
    found = [fact(t, "decision", pods=every, simulation=1, tried=[{**tried, "why": ""} if claim else tried], **result)]
    return (
        found if number is None else [fact(t, "funnel", number=number, nodepool="default", sizes=1, steps=[]), *found]
    )


def value(*facts: dict[str, Any] | list[dict[str, Any]]) -> dict[str, Any]:
    every = [one for some in facts for one in (some if isinstance(some, list) else [some])]
    return world_value([HEADER, SIZES, *every])


def opened(found: dict[str, Any]) -> tuple[str, Any]:
    group, number = found["opens"]
    return found["asked"][group]["name"], found["asked"][group]["tries"][number]


def test_it_opens_on_the_last_decision_of_the_first_pod_that_waits() -> None:
    """The first pod of the page's first box, whatever was decided on others later."""
    found = value(
        pods("", "gpu", "red"),
        decided(1, 1, "gpu", "red"),
        decided(11, 2, "gpu"),
        decided(11, 3, "red"),
        decided(20, 4, "red"),
    )
    assert found["pending"][0]["pods"][0] == "default/gpu"
    name, tried = opened(found)
    assert (name, tried["funnel"], tried["last"]) == ("gpu", 2, 11)


def test_of_a_workload_too_of_which_some_run() -> None:
    found = value(
        pods("Deployment/web", "web-1", "web-2"),
        decided(1, 1, "web-1", "web-2"),
        decided(2, 2, "web-1", claim="one"),
        fact(2, "claim", claim="one", state="created", nodepool="default", sizes=["a"]),
        fact(3, "pod", pod="default/web-1", state="bound", node="n"),
        decided(9, 3, "web-2"),
    )
    (web,) = found["asked"]
    assert (web["name"], web["count"], web["waits"]) == ("Deployment/web", 2, True)
    assert [(one["funnel"], one["claim"]) for one in web["tries"]] == [(1, ""), (2, "one"), (3, "")]
    assert opened(found)[1]["funnel"] == 3


def test_a_pod_for_which_no_size_was_looked_at_says_why() -> None:
    found = value(pods("", "red"), decided(1, None, "red", why="incompatible requirements"))
    name, tried = opened(found)
    assert (name, tried["funnel"], tried["nodepool"], tried["why"]) == (
        "red",
        None,
        "default",
        "incompatible requirements",
    )


def test_with_nobody_waiting_it_opens_on_the_last_that_looked_at_sizes() -> None:
    found = value(
        pods("", "one", "two"),
        decided(1, 1, "two", claim="b"),
        decided(5, 2, "one", claim="a"),
        fact(5, "claim", claim="a", state="created", nodepool="default", sizes=["a"]),
        fact(5, "claim", claim="b", state="created", nodepool="default", sizes=["a"]),
        fact(6, "pod", pod="default/one", state="bound", node="n"),
        fact(6, "pod", pod="default/two", state="bound", node="n"),
        decided(7, None, "two", why="no"),
    )
    assert [one["waits"] for one in found["asked"]] == [False, False]
    assert opened(found) == ("one", {"nodepool": "default", "funnel": 2, "claim": "a", "why": "", "t": 5, "last": 5})


def test_every_workload_that_waited_is_listed_and_those_that_wait_come_first() -> None:
    names = [f"pod-{number}" for number in range(12)]
    found = value(
        pods("", *names),
        *(decided(1, number + 1, name, claim=f"c{number}") for number, name in enumerate(names)),
        *(fact(2, "pod", pod=f"default/{name}", state="bound", node="n") for name in names[:-2]),
    )
    assert [one["name"] for one in found["asked"]] == [*names[-2:], *names[:-2]]


def test_a_try_that_comes_again_is_one_with_its_last_reason() -> None:
    found = value(pods("", "big"), decided(1, 1, "big", why="first"), decided(9, None, "big", why="second"))
    again = value(pods("", "big"), decided(1, 1, "big", why="first"), decided(30, 1, "big", why="later")[1:])
    assert [(one["t"], one["last"], one["why"]) for one in found["asked"][0]["tries"]] == [
        (1, 1, "first"),
        (9, 9, "second"),
    ]
    assert [(one["t"], one["last"], one["why"]) for one in again["asked"][0]["tries"]] == [(1, 30, "later")]


def test_of_many_tries_the_first_and_the_last_ones_are_on_the_page() -> None:
    found = value(pods("", "big"), *(decided(number, number, "big") for number in range(1, 70)))
    numbers = [*range(1, 11), *range(60, 70)]
    assert [one["funnel"] for one in found["asked"][0]["tries"]] == numbers
    assert list(found["funnels"]) == [str(number) for number in numbers]
    assert opened(found)[1]["funnel"] == 69


@pytest.mark.parametrize(
    ("left", "why", "unlooked"),
    [
        (156, "incompatible requirements, key team, team In [red] not in team In [blue]", True),
        (0, "incompatible requirements, key team, team In [red] not in team In [blue]", False),
        (156, "minValues requirement is not met for label(s) (label(s)=[a])", False),
        (156, "no instance type has enough resources", False),
        (156, "", False),
    ],
)
def test_a_nodepool_that_is_refused_before_its_sizes_says_so(left: int, why: str, unlooked: bool) -> None:
    """Each filter leaves sizes, and Karpenter says no: then no filter is the reason."""
    funnel, tried = decided(1, 1, "red", why=why)
    steps = [{"filter": "pod", "left": left, "removed": ""}]
    found = value(pods("", "red"), {**funnel, "steps": steps}, tried)
    assert opened(found)[1].get("unlooked", False) is unlooked
