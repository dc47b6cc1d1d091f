"""Pods that find no place leave their world as it was, so that the next one is tried in it: no key may tell of the keys before it."""

from __future__ import annotations

from random import Random

import pytest

from harness.explain.labels.probes import LabelProbe, PodFact, PodOutcome, known_keys
from harness.karpenter.releases import provider
from harness.world import Caches, World

OUTCOMES = {PodOutcome.BOUND, PodOutcome.IGNORED, PodOutcome.INCOMPATIBLE, PodOutcome.NO_KNOWN_VALUES}


def probe(release: str, caches: Caches, made: list[World]) -> LabelProbe:
    def new_world() -> World:
        made.append(World(karpenter=release, caches=caches))
        return made[-1]

    return LabelProbe(new_world)


@pytest.mark.parametrize("release", ["1.4.0", "1.14.0"])
def test_the_order_of_keys_does_not_matter(release: str) -> None:
    caches, random = Caches(), Random(release)
    keys = list(known_keys(provider(release)))
    first, worlds = probe(release, caches, []), list[World]()
    asked = {key: first.value_of(key) for key in keys} | {"example.com/any": "a", "kubernetes.io/hostname": "node"}
    random.shuffle(keys)
    shared = probe(release, caches, worlds)
    facts: dict[str, PodFact] = {key: shared.pod(key, asked[key]) for key in (*keys[:30], *list(asked)[-2:])}
    assert len(worlds) < len(facts) - 8, "some worlds were used again"
    assert OUTCOMES - {fact.outcome for fact in facts.values()} <= {PodOutcome.IGNORED, PodOutcome.INCOMPATIBLE}
    for key, fact in facts.items():
        assert probe(release, caches, []).pod(key, asked[key]) == fact
    again = probe(release, caches, [])
    for key in random.sample(sorted(facts), len(facts)):
        assert again.pod(key, asked[key]) == facts[key]
