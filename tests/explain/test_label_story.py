"""The story of a key: releases are told apart on a few sizes only, which must not change what is told."""

from functools import partial

import pytest

from harness.explain.labels.comparison import TriedSide
from harness.explain.labels.story import tell
from harness.world import World

RELEASES = ("1.6.5", "1.14.0")
KEYS = [
    "kubernetes.azure.com/cluster",
    "karpenter.azure.com/sku-gpu-name",
    "beta.kubernetes.io/instance-type",
]


@pytest.mark.parametrize("key", KEYS)
def test_eras_are_those_of_all_sizes(key: str) -> None:
    new_world = partial(World, karpenter="1.14.0")
    story = tell(key, new_world, RELEASES)
    told = [
        (era.pod, era.nodepool, era.written)
        for era in story.eras
        for name in RELEASES
        if RELEASES.index(era.first) <= RELEASES.index(name) <= RELEASES.index(era.last)
    ]
    sides = [TriedSide(partial(World, karpenter=name)) for name in RELEASES]
    assert told == [tuple(map(str, side.cells(key, story.value))) for side in sides]


def test_a_release_like_the_one_before_is_not_tried_again() -> None:
    made: list[str] = []

    def new_world(**more: object) -> World:
        made.append(str(more.get("karpenter")))
        return World(**more)  # type: ignore[arg-type]

    story = tell("team", new_world, ("1.14.0", "1.14.1", "1.14.2"))
    assert [(era.first, era.last) for era in story.eras] == [("1.14.0", "1.14.2")]
    assert {name for name in made if name != "None"} == {"1.14.0"}


def test_a_label_without_a_value_is_told_so() -> None:
    story = tell("agentpool", partial(World, karpenter="1.14.0"), RELEASES)
    assert story.modes["bootstrappingclient"].detail == "kubelet: the empty text"
