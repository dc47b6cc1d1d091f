"""Equal pods are counted onto nodes; the result is that of putting row after row there by what each node has left."""

from random import Random
from types import SimpleNamespace

import pytest

from harness.karpenter.scheduling.likeness.filling import EqualFilling, Filling
from harness.karpenter.scheduling.nodes.room import Room


def node(random, number):
    amounts = {"cpu": random.randrange(-1, 12), "memory": random.randrange(12), "pods": random.randrange(6)}
    refused = random.random() < 0.2 or min(amounts.values()) < 0
    return SimpleNamespace(
        name=f"n{number}",
        amounts=amounts,
        refusal=lambda shape: "no" if refused else None,
        state=SimpleNamespace(initialized=True),
    )


@pytest.mark.parametrize("seed", range(200))
def test_counting_is_filling(seed):
    random = Random(seed)
    room = Room([node(random, number) for number in range(random.randrange(1, 12))])
    shape = SimpleNamespace(fit=7, amounts=tuple((name, random.randrange(3)) for name in ("cpu", "memory", "pods")))
    gone, settling = random.getrandbits(12) & random.getrandbits(12), random.getrandbits(12)
    some, others = (kind(room, {7: shape}, gone, settling) for kind in (Filling, EqualFilling))
    for _ in range(random.randrange(1, 8)):
        exempt, count = random.random() < 0.5, random.randrange(1, 6)
        assert list(some.take(7, exempt, count)) == list(others.take(7, exempt, count))
