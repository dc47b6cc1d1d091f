"""Fleets from tools/fleet.py: as asked for, repeatable, and of use."""

import pytest

from harness.world import World
from tools.fleet import PROFILES, fleet, main


def pods_of(manifests: list[dict]) -> int:
    return sum(one["spec"]["replicas"] for one in manifests if one["kind"] == "Deployment")


@pytest.mark.parametrize("pods", [0, 1, 4, 100, 2500])
def test_as_many_pods_as_asked_for(pods: int) -> None:
    assert pods_of(fleet(pods, 1)) == pods


def test_the_seed_decides() -> None:
    assert fleet(100, 1) == fleet(100, 1)
    assert fleet(100, 1) != fleet(100, 2)


def test_large_fleets_have_every_kind_of_workload() -> None:
    names = [one["metadata"]["name"] for one in fleet(2500, 1) if one["kind"] == "Deployment"]
    assert {name.rpartition("-")[2] for name in names} == {profile.name for profile in PROFILES}


@pytest.mark.parametrize("seed", range(3))
def test_every_pod_gets_a_place(seed: int) -> None:
    world = World()
    assert world.apply(*fleet(150, seed)) == []
    assert world.settle().quiescent
    pods = world.list("Pod")
    assert len(pods) > 150  # with those of DaemonSets
    assert [pod["metadata"]["name"] for pod in pods if not pod["spec"].get("nodeName")] == []


def test_mistakes(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--pods", "-1"])
    assert "--pods: a number from 0 is expected" in capsys.readouterr().err
