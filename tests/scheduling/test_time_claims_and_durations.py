"""The time limit of a simulation, dynamic resource allocation by release, and how durations are printed."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from harness.explain.labels.probes import default_objects
from harness.karpenter.releases import provider
from harness.karpenter.scheduling import ClusterSnapshot, SchedulingOptions, solve
from harness.karpenter.scheduling.nodeclaims.pod_fitter import PodFitter
from harness.karpenter.scheduling.reasons.ledger import Ledger
from harness.world import World
from tests.scheduling.workload import SIZES, error, groups, need, nodepool, pod, run

UNSUPPORTED = "pod has Dynamic Resource Allocation requirements that are not yet supported by Karpenter"


@pytest.mark.parametrize(
    ("seconds", "placed", "failed"),
    [
        (0.0, ["a", "b", "d"], ["c"]),  # Go is quick: the limit is never reached
        (
            15.0,
            ["a", "b", "d"],
            ["c"],
        ),  # the fifth attempt, c's second, would begin at 60 s, too late: c keeps its reason
        (20.0, ["a", "b"], ["c"]),
        (30.0, ["a", "b"], []),
        (60.0, ["a"], []),
        (61.0, ["a"], []),  # the attempt that crosses the limit is finished
    ],
)
def test_time_limit(seconds: float, placed: list[str], failed: list[str]) -> None:
    """Pods after the limit are neither placed nor given a reason; the next simulation tries them again."""
    options = SchedulingOptions(attempt_seconds=seconds)
    results = run(
        [pod("a", "1"), pod("b", "900m"), pod("c", "800m", nodeSelector={"no": "where"}), pod("d")], options=options
    )
    assert [each["metadata"]["name"] for claim in results.nodeclaims for each in claim.pods] == placed
    assert list(results.errors) == [f"default/{name}" for name in failed]
    assert results.timed_out is (seconds > 0)


def test_relaxation_takes_time_too() -> None:
    preferred = [{"weight": 1, "preference": {"matchExpressions": [need("no", "Exists")]}}]
    wish = pod("a", affinity={"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}})
    assert groups(run([wish], options=SchedulingOptions(attempt_seconds=30))) == [["a"]]
    late = run([wish], options=SchedulingOptions(attempt_seconds=60))
    assert (late.nodeclaims, late.errors, late.timed_out) == ((), {}, True)


@pytest.mark.parametrize("seconds", [0.0, 0.0008, 7.0, 9.0, 20.0, 60.0])
def test_equal_pods_that_fail_are_looked_at_once_and_cost_the_time_of_all(
    seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Remembering a failure saves the work, not the time: with the ledger each pod is tried anew, and the same comes of it."""
    preferred = [{"weight": 1, "preference": {"matchExpressions": [need("no", "Exists")]}}]
    wish = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}
    pods = [pod(f"p{number}", "1", nodeSelector={"no": "where"}, affinity=wish) for number in range(4)]
    pods += [pod("last", "500m")]
    options = SchedulingOptions(attempt_seconds=seconds)
    starts: list[str] = []
    start = PodFitter.start

    def counted(self: PodFitter, *arguments: Any) -> Any:
        starts.append("")
        return start(self, *arguments)

    monkeypatch.setattr(PodFitter, "start", counted)
    short = run(pods, options=options)
    looked = len(starts)
    full = run(pods, options=options, ledger=Ledger())
    assert (short.errors.keys(), short.timed_out, short.seconds) == (full.errors.keys(), full.timed_out, full.seconds)
    assert groups(short) == groups(full)
    assert looked <= 5  # two steps of the first pod, again after another was placed, and the last


CONTAINER = {"name": "c", "resources": {"claims": [{"name": "gpu"}]}}
CLAIMING: dict[str, dict[str, Any]] = {
    "of the pod": {"resourceClaims": [{"name": "gpu"}]},
    "of a container": {"containers": [CONTAINER]},
    "of an init container": {"initContainers": [CONTAINER]},
}
REFUSED: dict[str, set[str]] = {
    "1.14.0": {"of the pod", "of a container", "of an init container"},
    "1.13.1": {"of a container", "of an init container"},
    "1.7.2": {"of a container", "of an init container"},
    "1.6.6": set(),
    "1.4.0": set(),
}


@pytest.mark.parametrize("release", REFUSED)
@pytest.mark.parametrize("claims", CLAIMING)
def test_should_handle_dra_pods_correctly(release: str, claims: str) -> None:
    """Recorded from the real code: what counts as a resource claim, and that such pods wait, grew with the releases."""
    pods = [pod("claims", **CLAIMING[claims]), pod("plain")]
    results = solve(ClusterSnapshot([nodepool()], pods), {"default": SIZES}, release=provider(release))
    refused = claims in REFUSED[release]
    assert error(results, "claims") == (UNSUPPORTED if refused else None)
    assert groups(results) == ([["plain"]] if refused else [["claims", "plain"]])


def test_dra_pods_are_scheduled_when_requests_for_it_are_not_ignored() -> None:
    claiming = pod("claims", containers=[CONTAINER])
    assert groups(run([claiming], options=SchedulingOptions(ignore_resource_claims=False))) == [["claims"]]


@pytest.mark.parametrize(("release", "cpu"), [("1.14.0", "600m"), ("1.13.1", "1100m"), ("1.6.6", "1600m")])
def test_should_handle_dra_daemonsets_correctly(release: str, cpu: str) -> None:
    """DaemonSets with claims are no overhead, where the release looks for claims; recorded from the real code."""

    def daemonset(name: str, amount: str, **more: Any) -> dict[str, Any]:
        claims = more.pop("claims", [])
        container = {"name": "c", "resources": {"requests": {"cpu": amount}, "claims": claims}}
        return {
            "metadata": {"name": name, "namespace": "kube-system"},
            "spec": {"template": {"spec": {"containers": [container], **more}}},
        }

    daemonsets = [
        daemonset("whole", "500m", resourceClaims=[{"name": "gpu"}]),
        daemonset("part", "500m", claims=[{"name": "gpu"}]),
        daemonset("none", "500m"),
    ]
    snapshot = ClusterSnapshot([nodepool()], [pod("a")], daemonsets=daemonsets)
    results = solve(snapshot, {"default": SIZES}, release=provider(release))
    assert str(results.nodeclaims[0].requests["cpu"]) == cpu


@pytest.mark.parametrize(
    ("given", "printed"),
    [("5m", "5m0s"), ("0s", "0s"), ("1h", "1h0m0s"), ("1.5h", "1h30m0s"), ("90s", "1m30s"), ("48h", "48h0m0s")],
)
def test_durations_of_a_nodeclaim(given: str, printed: str) -> None:
    """terminationGracePeriod is printed anew, expireAfter is copied; recorded from the real code."""
    pool = nodepool()
    pool["spec"]["template"]["spec"].update(terminationGracePeriod=given, expireAfter=given)
    spec = run([pod("a")], [pool]).nodeclaims[0].to_nodeclaim()["spec"]
    assert (spec["terminationGracePeriod"], spec["expireAfter"]) == (printed, given)


def test_a_nodeclaim_without_durations() -> None:
    spec = run([pod("a")]).nodeclaims[0].to_nodeclaim()["spec"]
    assert ("terminationGracePeriod" in spec, spec["expireAfter"]) == (False, "Never")


@pytest.mark.parametrize("wrong", [{"preference_policy": "ignore"}, {"min_values_policy": "Lenient"}])
def test_policies_that_karpenter_does_not_have(wrong: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=f"not {next(iter(wrong.values()))!r}"):
        SchedulingOptions(**wrong)  # type: ignore[arg-type]


def test_a_world_has_the_time_limit_and_tells_when_it_ran_out() -> None:
    spec = pod("a", "1")["spec"]
    pods = [{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec} for name in ("a", "b", "c")]
    world = World(attempt_seconds=4, time_limit=5)
    world.apply(*default_objects(), *pods)
    world.settle()
    told = [line for line in world.log if line.message == "scheduling simulation timed out"]
    assert {(line.level, line.controller, line.values["duration"]) for line in told} == {("debug", "provisioner", "8s")}
    assert all(one["spec"].get("nodeName") for one in world.list("Pod"))
    world = World(time_limit=0)
    world.apply(*default_objects(), *pods)
    world.advance(15)
    assert world.list("NodeClaim") == []
    with pytest.raises(ValueError, match="attempt_seconds must be finite seconds from 0, not -1"):
        World(attempt_seconds=-1)


def test_the_next_simulation_begins_when_the_one_before_is_over() -> None:
    """Karpenter waits for triggers again only then: after a minute that was not enough comes another, not one ten seconds later."""
    world = World(attempt_seconds=20)
    impossible = {"nodeSelector": {"no-such": "label"}, **pod("a", "1")["spec"]}
    smaller = pod("a", "500m")["spec"]  # so it comes last
    pods = [
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"p{i}"}, "spec": smaller if i == 3 else impossible}
        for i in range(4)
    ]
    world.apply(*default_objects(), *pods)
    world.advance(59)
    assert world.list("NodeClaim") == []
    world.advance(200)
    told = [line for line in world.log if line.message == "scheduling simulation timed out"]
    assert {line.values["duration"] for line in told} == {"1m0s"}
    assert [round(later.at - before.at) for before, later in pairwise(told)] == [61, 61, 61]
