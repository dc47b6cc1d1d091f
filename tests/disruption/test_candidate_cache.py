"""Candidates that are kept from one look to the next are those that a look from nothing finds, whatever came, went or came back."""

from random import Random
from types import SimpleNamespace

import pytest

from harness.karpenter.disruption.candidate_cache import CandidateCache, MethodFilterCache
from harness.karpenter.disruption.methods.consolidation import sort_candidates
from harness.karpenter.scheduling.nodes.listed import ordered_changes


class Cluster:
    """Nodes by provider id, of which some are no candidates, some are marked, and any may be in_queue_or_nominated for a moment."""

    def __init__(self, random: Random) -> None:
        self.random, self.nodes = random, {}
        self.asked = 0

    def change(self) -> None:
        random, number = self.random, self.random.randrange(12)
        if random.random() < 0.3:
            self.nodes.pop(number, None)
        else:  # also one of the same name again, on the same machine or on another one
            machine, name = f"azure:///{number:02}", f"node-{random.choice([number, number, number + 100])}"
            self.nodes[number] = SimpleNamespace(
                provider_id=machine, name=name, fit=random.random() < 0.7, marked=random.random() < 0.3
            )

    def look(self, kept, in_queue_or_nominated, freed):
        def judge(node):
            self.asked += 1
            if node.name in in_queue_or_nominated or not (node.fit or (freed and node.marked)):
                said.append(node.name)
                return None
            return made.setdefault(id(node), SimpleNamespace(state=node, marked=node.marked, name=node.name))

        said: list[str] = []
        made = self.__dict__.setdefault("made", {})
        return [
            each.state
            for each in kept.look([self.nodes[each] for each in sorted(self.nodes)], in_queue_or_nominated, judge)
        ], said


@pytest.mark.parametrize("seed", range(20))
def test_what_is_kept_is_what_a_look_from_nothing_finds(seed):
    random = Random(seed)
    cluster, kept = Cluster(random), CandidateCache("offers")
    asked = anew = 0
    for _ in range(200):
        for _ in range(random.choice([0, 0, 1, 2])):
            cluster.change()
        names = [node.name for node in cluster.nodes.values()]
        in_queue_or_nominated = set(random.sample(names, min(len(names), random.choice([0, 0, 1, 3])))) | {"elsewhere"}
        freed = random.random() < 0.5
        cluster.asked = 0
        found = cluster.look(kept, in_queue_or_nominated, freed)
        asked += cluster.asked
        cluster.asked = 0
        assert found == cluster.look(CandidateCache("offers"), in_queue_or_nominated, freed)
        anew += cluster.asked
    assert asked < anew * 0.9, "some are known"


@pytest.mark.parametrize("seed", range(20))
def test_methods_judge_new_candidates_only(seed):
    random = Random(seed)
    kept, candidates, judged = MethodFilterCache(), {}, []

    def judge(candidate):
        judged.append(candidate)
        return candidate.takes, candidate.said

    for number in range(200):
        for _ in range(random.choice([0, 1, 1, 3])):
            place = f"azure:///{random.randrange(10)}"
            if random.random() < 0.4:
                candidates.pop(place, None)
            else:
                state = SimpleNamespace(provider_id=place)
                said = random.choice([(), (), (f"said-{number}", "more")])
                candidates[place] = SimpleNamespace(state=state, takes=random.random() < 0.6, said=said)
        given = [candidates[place] for place in sorted(candidates)]
        judged.clear()
        taken, said = kept.look(given, judge)
        assert taken == [each for each in given if each.takes]
        assert said == [text for each in given for text in each.said]
        kept.look(given, judge)
        assert len(judged) <= 3


def test_changes_of_a_sorted_list():
    random = Random(4)
    before: list[tuple[str, int]] = []
    for number in range(300):
        after = sorted({place: (place, each) for place, each in before}.items())
        after = [each for _, each in after if random.random() < 0.9]
        there = {place for place, _ in after}
        new = [(place, number) for place in map(str, range(150)) if place not in there and random.random() < 0.1]
        after = sorted([*after, *new])
        gone, come = ordered_changes(before, after, lambda each: each[0])
        assert list(map(id, gone)) == [id(each) for each in before if not any(each is other for other in after)]
        assert list(map(id, come)) == [id(each) for each in after if not any(each is other for other in before)]
        before = after


def test_candidates_that_were_in_order_before_come_into_the_order_of_a_sort():
    def looking(lasting):
        return SimpleNamespace(view=SimpleNamespace(now=0, lasting=lasting), rules=SimpleNamespace(by_savings=True))

    random, lasting = Random(3), {}
    candidates = [SimpleNamespace(savings_ratio=random.randrange(9)) for _ in range(80)]
    for _ in range(60):
        if random.random() < 0.5:
            at = random.randrange(len(candidates))
            candidates[at : at + 1] = [
                SimpleNamespace(savings_ratio=random.randrange(9)) for _ in range(random.randrange(3))
            ]
        kept, anew = candidates.copy(), candidates.copy()
        sort_candidates(looking(lasting), kept)
        sort_candidates(looking({}), anew)
        assert list(map(id, kept)) == list(map(id, anew))
