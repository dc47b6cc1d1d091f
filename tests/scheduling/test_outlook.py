"""Whether a pod goes to a node that is not initialized, as counting tells it: that of putting row after row on the nodes."""

from collections import Counter
from random import Random
from types import SimpleNamespace

import pytest

from harness.karpenter.scheduling.likeness.asking import KEY, Asking
from harness.karpenter.scheduling.likeness.courses import course_of
from harness.karpenter.scheduling.likeness.crowd import Crowd
from harness.karpenter.scheduling.likeness.line import Line
from harness.karpenter.scheduling.likeness.outcomes import Foretold
from harness.karpenter.scheduling.likeness.outlook import Outlook
from harness.karpenter.scheduling.nodes.room import Room

FIT, CORE = 7, 2
SHAPE = SimpleNamespace(fit=FIT, amounts=(("cpu", CORE),), requirements=SimpleNamespace(items={}), plain=True)


def node(number, cores, initialized):
    state = SimpleNamespace(initialized=initialized, name=f"n{number}")
    return SimpleNamespace(
        name=f"n{number}", amounts={"cpu": cores * CORE + 1}, refusal=lambda shape: None, state=state
    )


def queued(pod):
    return SimpleNamespace(pod=pod, shape=SHAPE, place=((0, 0), pod["name"], FIT, pod["name"]))


def pods(random, count, on):
    return [
        {"name": f"p{random.randrange(10**9)}", "spec": {"nodeName": on}, "status": {"phase": "Running"}}
        for _ in range(count)
    ]


def foretold(room, others, exempt, joining, settling):
    """What the rows of the line come to."""
    own = Asking.together(joining)
    line = Line(others, {place[KEY] for place in others} if exempt else ())
    course = course_of(room, line.runs(own, alike=True), (own,), 0, settling)
    return Foretold(course, others, own, None, None)


def check_crowd(outlook, joining):
    """Of all nodes at once the same is told as of each; how many of them have a pod that goes to a young one."""
    crowd = Crowd()
    crowd.add("gone", joining[0].places)
    for each in joining:
        crowd.add(each, each.places)
    crowd.keep(lambda owner: owner != "gone")
    hurrying = outlook.hurrying(crowd)
    for each in joining:
        assert outlook.told(each.count, each in hurrying) is outlook.counted_of("elsewhere", each)
    return len(hurrying)


@pytest.mark.parametrize("settles", [False, True])
@pytest.mark.parametrize("exempt", [False, True])
@pytest.mark.parametrize("several", [False, True])
def test_counting_is_filling(settles, exempt, several):
    told = Counter()
    for seed in range(600):
        random = Random(seed)
        ready, young = random.randrange(5), random.randrange(4)
        room = Room([node(at, random.randrange(4), at < ready) for at in range(ready + young)])
        settling = random.getrandbits(ready + young) & random.getrandbits(ready + young) if settles else 0
        if seed % 3:
            settling &= (1 << ready) - 1
        others = Asking.of(queued, pods(random, random.randrange(12), "away")).places
        joining = [
            Asking.of(queued, pods(random, random.randrange(1, 6), f"c{number}"))
            for number in range(random.randrange(2, 5) if several else 1)
        ]
        outlook = Outlook.of(room, SHAPE, others, settling, exempt)
        hurry = one = None
        if outlook and several:
            hurry = outlook.hurry([f"c{number}" for number in range(len(joining))], joining)
        elif outlook:
            one = outlook.counted_of("c0", joining[0])
            hurry = one if one is not None and one.hurries else None
        true = foretold(room, others, exempt, joining, settling)
        assert true.hurries == bool(true.hurried), seed
        if one is not None:
            assert (one.key, one.overflow, one.tried) == (true.key, true.overflow, true.tried), seed
            assert one.hurries == true.hurries, seed
            told["one", one.hurries] += 1
        if outlook:
            told["crowd"] += check_crowd(outlook, joining)
        told[hurry is not None, true.hurries] += 1
        if hurry is not None:
            assert true.hurries, seed
            assert (hurry.key, hurry.overflow, hurry.tried) == (true.key, true.overflow, true.tried), seed
            if not several:
                assert outlook.hurried(joining[0]) in ((true.hurried, None) if exempt else (true.hurried,))
                told["named"] += outlook.hurried(joining[0]) is not None
    assert several or told["named"] > 50
    assert several or told["one", True] > 100
    assert several or (exempt and settles) or told["one", False] > 100
    assert told["crowd"] > 100
    assert told[True, True] > 100
    assert told[False, False] > 50


def test_a_node_with_places_of_its_own_is_not_counted():
    random = Random(1)
    room = Room([node(0, 2, False)])
    outlook = Outlook.of(room, SHAPE, [], 0, exempt=False)
    own, another = (Asking.of(queued, pods(random, 1, on)) for on in ("n0", "c1"))
    assert outlook.counted_of("elsewhere", own) is not None
    assert outlook.counted_of("n0", own) is None
    assert outlook.hurry(["elsewhere", "c1"], [own, another]) is not None
    assert outlook.hurry(["n0", "c1"], [own, another]) is None


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("second", [True, False])
def test_pods_together_are_plain_where_all_of_them_are(first: bool, second: bool) -> None:
    parts = [Asking({}, 0, None, plain=each, fillers=not each) for each in (first, second)]
    both = Asking.together(parts)
    assert (both.plain, both.fillers) == (first and second, not first and not second)
    assert Asking.together(parts[:1]) is parts[0]


@pytest.mark.parametrize("pending", [False, True])
@pytest.mark.parametrize("on", ["", "stays", "goes"])
def test_pods_are_exempt_that_are_pending_or_on_a_node_that_goes_away(on: str, pending: bool) -> None:
    parts = [Asking.of(queued, [{"name": "p", "spec": {"nodeName": on}, "status": {"phase": "Running"}}])]
    parts += [Asking.of(queued, [{"name": "q", "spec": {}, "status": {"phase": "Pending"}}])] * pending
    both = Asking.together(parts)
    if pending:
        both = Asking.of(queued, [{"name": "p", "spec": {"nodeName": on}, "status": {"phase": "Running"}},
                                  {"name": "q", "spec": {}, "status": {"phase": "Pending"}}])  # fmt: skip
        assert Asking.together(parts).exempt({"goes"}) == both.exempt({"goes"})
    assert both.may_be_exempt({"goes"}) is (pending or on == "goes")
    assert both.exempt({"goes"}) == {name for name, there in (("p", on == "goes"), ("q", pending)) if there}
