"""What is gone and what is new between two lists is what a comparison of all objects finds, and their order is that of the list."""

from random import Random

import pytest

from harness.karpenter.scheduling.nodes.listed import Listed, ordered_changes


def named(number, version=0):
    return {"metadata": {"name": f"pod{number}"}, "version": version}


def changed(random, objects):
    """Some objects replaced, some gone, some new at the end; seldom one in the middle, another order, or a name that stands twice."""
    made = [named(int(each["metadata"]["name"][3:]), 1) if random.random() < 0.02 else each for each in objects]
    made = [each for each in made if random.random() > 0.02]
    made += [named(random.randrange(1_000_000)) for _ in range(random.randrange(4))]
    if random.random() < 0.2:
        made.insert(random.randrange(len(made) + 1), named(random.randrange(1_000_000)))
    if random.random() < 0.1:
        random.shuffle(made)
    if made and random.random() < 0.1:
        made.insert(random.randrange(len(made)), dict(random.choice(made)))
    return made


@pytest.mark.parametrize("seed", range(30))
def test_changes_are_those_of_a_full_comparison(seed):
    random, listed = Random(seed), Listed()
    objects = [named(number) for number in range(random.choice([0, 5, 300]))]
    known: list[object] = []
    listed.update(objects)
    known = list(objects)
    for _ in range(40):
        objects = changed(random, objects)
        before = {id(each) for each in known}
        gone, come = listed.update(objects)
        now = {id(each) for each in objects}
        assert {id(each) for each in gone} - now == before - now
        assert {id(each) for each in come} - before == now - before
        assert {id(each) for each in gone} & now == {id(each) for each in come} & before, "what moved counts as both"
        numbers = [listed.numbers[id(each)] for each in objects]
        assert numbers == sorted(numbers)
        assert len(listed.numbers) == len(now)
        known = objects


def test_only_the_object_that_another_one_replaces_is_gone():
    listed, objects = Listed(), [named(number) for number in range(4)]
    listed.update(objects)
    other = named(1, version=1)
    gone, come = listed.update([objects[0], other, *objects[2:]])
    assert [*map(id, gone)] == [id(objects[1])]
    assert [*map(id, come)] == [id(other)]


@pytest.mark.parametrize("at", [0, 63, 64, 65, 190, 191, 192, 193, 500, 998, 999])
def test_one_change_among_a_thousand_is_the_only_one(at):
    before = [named(number) for number in range(1000)]
    replaced = [*before[:at], other := named(at, version=1), *before[at + 1 :]]
    for after, gone, come in (
        (replaced, [before[at]], [other]),
        ([*before[:at], *before[at + 1 :]], [before[at]], []),
        ([*before, other], [], [other]),
        (before[:at], before[at:], []),
    ):
        listed = Listed()
        listed.update(before)
        found = listed.update(after)
        assert [[*map(id, each)] for each in found] == [[*map(id, gone)], [*map(id, come)]]
        if after[-1:] != [other]:
            places = ordered_changes(before, after, lambda each: int(each["metadata"]["name"][3:]))
            assert [[*map(id, each)] for each in places] == [[*map(id, gone)], [*map(id, come)]]
