"""Who is told of a launch that found no capacity, and in how many words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from harness.engine.clock import Clock
from harness.karpenter.lifecycle.nodeclaims.launch_failures import LaunchFailures
from harness.karpenter.releases.core import CORE_RELEASES
from harness.testing import pod
from harness.world.recorder import Recorder

CLAIM: Mapping[str, Any] = {"kind": "NodeClaim", "metadata": {"name": "default-abcde"}}


class Pods:
    """The pods of a cluster, as a View gets them."""

    def __init__(self, *pods: Mapping[str, Any]) -> None:
        self._pods = {each["metadata"]["name"]: each for each in pods}

    def get(self, kind: str, name: str, namespace: str = "") -> Mapping[str, Any] | None:
        assert (kind, namespace) == ("Pod", "default")
        return self._pods.get(name)


def told(core: str, error: str, *pods: Mapping[str, Any], meant: tuple[str, ...] = ()) -> list[tuple[str, str]]:
    """The Events: name of the object, message."""
    recorder = Recorder(Clock())
    names = [f"default/{name}" for name in meant]
    failures = LaunchFailures(Pods(*pods), recorder, CORE_RELEASES[core], lambda claim: names)  # type: ignore[arg-type]
    failures.tell(CLAIM, error)
    return [(event.object.name, event.message) for event in recorder.events]


def test_pods_that_wait_are_told_from_core_1_15_on() -> None:
    bound, ended = pod("bound", nodeName="n"), {**pod("ended"), "status": {"phase": "Failed"}}
    going = pod("going")
    going["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    pods = (pod("web"), bound, ended, going, pod("other"))
    meant = ("web", "bound", "ended", "going", "gone")
    claim = ("default-abcde", "NodeClaim default-abcde event: no room")
    assert told("1.14.3", "no room", *pods, meant=meant) == [claim]
    assert told("1.15.0", "no room", *pods, meant=meant) == [
        claim,
        ("web", "NodeClaim default-abcde nominated for this pod failed to launch: no room"),
    ]


@pytest.mark.parametrize(
    ("core", "letters", "expected"),
    [
        ("1.14.3", 299, "NodeClaim default-abcde event: " + "x" * 299),
        ("1.14.3", 300, "NodeClaim default-abcde event: " + "x" * 300 + "..."),
        ("1.15.0", 993, "NodeClaim default-abcde event: " + "x" * 993),
        ("1.15.0", 994, "NodeClaim default-abcde event: " + "x" * 990 + "..."),
    ],
)
def test_how_much_of_the_error_an_event_has(core: str, letters: int, expected: str) -> None:
    assert told(core, "x" * letters) == [("default-abcde", expected)]
    assert len(expected) <= 1024
