"""NodeClaims in the making stay in the order that Go's unstable sort would leave them in, without sorting each time."""

from __future__ import annotations

import json
import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.karpenter.scheduling.nodeclaims.order import InflightOrder
from harness.kube.go.sort import sort_slice


def nodeclaim(number: int) -> Any:
    return SimpleNamespace(id=number, bit=1 << number, pods=1)


@pytest.mark.parametrize("stable", [False, True])
@pytest.mark.parametrize(("seed", "growth"), [(1, 0.5), (2, 0.8), (3, 0.95), (4, 0.2), (5, 0.6), (6, 0.85)])
def test_like_sorting_before_every_pod(seed: int, growth: float, stable: bool) -> None:
    rng = random.Random(seed)
    order, plain = InflightOrder(stable), list[Any]()
    for _ in range(700):
        order.sort()
        if stable:
            plain.sort(key=lambda each: each.pods)
        else:
            sort_slice(plain, lambda each: each.pods)
        assert [each.id for each in order.items] == [each.id for each in plain]
        if plain and rng.random() < growth:
            anywhere = rng.randrange(len(plain))
            grown = plain[anywhere if seed > 4 else min(int(rng.expovariate(0.3)), len(plain) - 1)]
            grown.pods += 1
            order.grew(grown)
        else:
            made = nodeclaim(len(plain))
            plain.append(made)
            order.append(made)


def test_equal_elements_stay_where_go_leaves_them() -> None:
    """Where Go's sort.Slice leaves the elements of lists of many shapes, whose keys are often equal (go_sort.go)."""
    lines = Path(__file__).with_name("go_sort.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 872
    for keys, order in map(json.loads, lines):
        found = list(range(len(keys)))
        sort_slice(found, keys.__getitem__)
        assert found == order, (len(keys), keys)


@pytest.mark.parametrize("share", [0.02, 0.5, 1.0])
@pytest.mark.parametrize("count", [5, 12, 13, 50, 120])
def test_candidates_come_in_order(count: int, share: float) -> None:
    rng = random.Random(7)
    order = InflightOrder(False)
    for number in range(count):
        order.sort()
        order.append(nodeclaim(number))
        order.sort()
        if number % 3:
            grown = rng.choice(order.by_id)
            grown.pods += 1
            order.grew(grown)
        order.sort()
        wanted = {each.id for each in order.items if rng.random() < share}
        mask = sum(1 << number for number in wanted)
        assert [each.id for each in order.candidates(mask)] == [each.id for each in order.items if each.id in wanted]


def test_only_nodeclaims_with_as_many_pods_are_looked_at() -> None:
    """A pass of 100,000 pods asks for candidates 100,000 times among 12,500 NodeClaims."""
    order = InflightOrder(False)
    for number in range(600):
        order.append(nodeclaim(number))
        order.sort()
    for grown in order.by_id[:100]:
        order.grew(grown)
        order.sort()
    looked = _Counting(order.items)
    order.items = looked
    assert [each.id for each in order.candidates((1 << 100) - 1)] == list(range(99, -1, -1))
    assert looked.at == 100


class _Counting(list[Any]):
    at = 0

    def __getitem__(self, position: Any) -> Any:
        self.at += 1
        return super().__getitem__(position)
